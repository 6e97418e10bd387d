"""Policies that look at no load, worked by hand on four nodes.

A task stays at home (`none`, `no-ls`), or its node is drawn (`random`), the next in turn (`round-robin`), or that of
its size (`sita-e`). Where all processors are one there is nothing to decide (`pooled`).
"""

from __future__ import annotations

from functools import partial

import pytest
from by_hand import Worked, full, on
from four_nodes import Case, Job, decided
from test_scores_of_nodes import NODE, task_of, view_of

from cluster_abm.policies import create
from cluster_abm.policy.capacities import capacities_of
from cluster_abm.scenario.schema import PolicyChoice


def stays(policy: str) -> tuple[list[int], float]:
    """Four tasks of 10 ms of one home, the others empty: where they ran, one after another, and when all had ended."""
    model = decided(policy, on(0, 0, 3, 0, cpu_ms=10.0), [Job(2, 10.0)], until_ms=100.0).model
    frame = model.jobs_frame()
    assert model.decisions_frame().empty
    return frame["node"].tolist(), float(frame["finish_ms"].max())


AT_HOME = [Worked(name, "every task at home", partial(stays, name), ([2] * 4, 40.0)) for name in ("none", "no-ls")]


def in_turn(turns: int) -> list[int]:
    """Nodes of speed 1, 1, 2 and 4, from node 1."""
    hardware = tuple(NODE._replace(cores=1, speed=speed) for speed in (1.0, 1.0, 2.0, 4.0))
    policy, notes = create(PolicyChoice(name="round-robin", heterogeneous=True)), {}
    found = []
    for number in range(turns):
        view = view_of(hardware, me=1, notes=notes)
        view.capacities = capacities_of(hardware)
        found.append(policy.place(task_of(number), view).target)
    return found


IN_TURN = [
    Case("round-robin", "home first, blind to load", on(0, 0, 9, 9), [Job(2)] * 6, [2, 3, 0, 1, 2, 3]),
    Case("round-robin", "each home by itself", (), [Job(2), Job(0), Job(2), Job(0)], [2, 0, 3, 1]),
    # A turn earns 0.5, 0.5, 1 and 2, and costs 4. The richest before they pay: 2 on node 3; 2 on 2; 2 on 3; 2 on 0 and
    # on 1, which is home; 2.5 on 0; 4 on 3; 3 on 2; 4 on 3. Then all is paid, and it begins anew.
    Worked("round-robin", "by speed, home if equally rich", partial(in_turn, 16), [3, 2, 3, 1, 0, 3, 2, 3] * 2, True),
]  # fmt: skip

# The sizes are 4 x 11, 2 x 21, 41 and 42 ms: of 169 ms a quarter is 42.25, and the classes end at 11, 21 and 41.
SIZES = [11.0, 42.0, 21.0, 11.0, 41.0, 21.0, 11.0, 11.0]
SITA_E = [
    Case("sita-e", "classes of equal work", (), [Job(3, size) for size in SIZES], [0, 3, 1, 0, 2, 1, 0, 0]),
    # Node 0 is as fast as the others together: half of the work, 84.5 ms of 169, is in 4 x 11 and 2 x 21. The others
    # have a sixth each: 112.7 ms are reached by the task of 41, 140.8 by that of 42, and nothing is left for node 3.
    Case(
        "sita-e", "unlike nodes", (), [Job(3, size) for size in SIZES], [0, 2, 0, 0, 1, 0, 0, 0],
        nodes=[{"cpu_speed": 3.0}],
    ),
    Case(
        "sita-e", "a size at which a class ends", (), [Job(3, size) for size in (100.0, 100.1, 200.0, 300.0, 300.1)],
        [0, 1, 1, 2, 3], is_tie=True, given={"policy__cutoffs_ms": [100.0, 200.0, 300.0]},
    ),
]  # fmt: skip


def test_a_pool_of_four_processors_is_shared_by_all_tasks_alike():
    """Five tasks of 100 ms that come at 1 ms get 4/5 of a processor each: they end 125 ms later. Nothing is decided."""
    seen = decided("pooled", (), [Job(0)] * 5, until_ms=200)
    assert seen.decisions == []
    assert seen.model.jobs_frame()["finish_ms"].tolist() == pytest.approx([126.0] * 5)


@pytest.mark.slow
def test_random_draws_a_tasks_node_whatever_the_loads_are():
    """120 tasks: each node gets 30, with a standard deviation of 4.7; half of them is 3.2 of these away."""
    comes = [Job(0, at_ms=1.0 + place / 100) for place in range(120)]
    targets = decided("random", full(0, 1, 2, 3), comes).targets
    assert targets == decided("random", full(2, 2, 2, 2), comes).targets
    assert min(targets.count(node) for node in range(4)) >= 15


CASES = [*AT_HOME, *IN_TURN, *SITA_E]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_choice_worked_by_hand(case):
    case.check()
