"""What the asked node holds against an offer of a policy of one's own: the numbers that it gives, and no others."""

from __future__ import annotations

import pytest

import cluster_abm as ca

NOW = {
    "workload__kind": "trace", "cluster__nodes": 2, "cluster__exchange_period_ms": 100.0,
    "negotiation__remote_execution_ms": 10.0,
}  # fmt: skip


class Shorter(ca.Policy):
    """To the other node, if that had fewer tasks when it last reported."""

    name = "shorter"
    source = "these tests"
    summary = "the node of fewer tasks"

    def place(self, task, view):
        other = 1 - view.me
        here, there = view.load("tasks", view.me), view.load("tasks", other)
        if here <= there or other in view.refused:
            return ca.Decision(view.me, "fewer", "tasks", reason="fewer here")
        return ca.Decision(other, "fewer", "tasks", load_here=here, load_there=there)


@pytest.mark.slow
@pytest.mark.parametrize("compiles", [False, True])
def test_an_offer_without_the_tasks_own_load_is_held_against_the_loads(tmp_path, compiles):
    """Both nodes reported no task. Then one comes to each, which stays, and two more come to node 0.

    Both of these are offered to node 1, which has one task by then. The first one is offered by a node of one task:
    node 1 refuses. The second one is offered by a node of two: node 1 accepts.
    """
    path = tmp_path / "jobs.csv"
    path.write_text(
        "arrival_ms,home,cpu_ms,io_per_ms,memory_mb\n" + "".join(f"0.0,{home},5000,0,16\n" for home in (0, 1, 0, 0))
    )
    model = ca.ClusterModel(
        "cpu-bound", policy=Shorter(), seed=1, compile_decisions=compiles, workload__trace__file=str(path), **NOW
    )
    assert bool(model.decides_in_python) is not compiles
    model.run(until_ms=10.0)
    columns = ["task", "target", "accepted", "reason"]
    assert model.decisions_frame()[columns].to_numpy().tolist() == [
        [0, 0, True, "fewer here"],
        [1, 1, True, "fewer here"],
        [2, 1, False, "not the lighter node any more"],
        [2, 0, True, "fewer here"],
        [3, 1, True, ""],
    ]
