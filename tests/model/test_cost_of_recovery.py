"""Cost of starting a task that has lost its node, on another node and on its manager's own."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from cluster_abm.model.failing.recovery import recovery_ms

TASKS = [SimpleNamespace(running=False), SimpleNamespace(running=True)]


def view(*mb_per_s: float):
    """The view of manager 1 of four: to node k a move costs 100 k ms; node 2 is the nearest, then nodes 3 and 0."""
    return SimpleNamespace(
        me=1, nodes=4, mb_per_s=lambda node: mb_per_s[node], paths=SimpleNamespace(latency_ms=np.array([8, 0, 1, 3])),
        cost_ms=lambda task, node: 100.0 * node, migration_ms=20.0, remote_execution_ms=10.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("mb_per_s", "target", "costs_ms"),
    [
        # Another node: the cost of a move to it.
        ((5, np.inf, 5, 5), 3, [300, 300]),
        # The own node: the cost of a move to the nearest other one, node 2.
        ((5, np.inf, 5, 5), 1, [200, 200]),
        # No route leads to node 2: the cost of a move to the next nearest, node 3.
        ((5, np.inf, 0, 5), 1, [300, 300]),
        # No route leads to any node: the fixed cost alone.
        ((0, np.inf, 0, 0), 1, [10, 20]),
    ],
)
def test_a_start_on_the_managers_own_node_costs_as_much_as_on_the_nearest_one(mb_per_s, target, costs_ms):
    """Costs of a task that begins anew, and of one that goes on from a checkpoint."""
    assert [recovery_ms(task, view(*mb_per_s), target) for task in TASKS] == costs_ms
