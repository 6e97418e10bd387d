"""Work stealing: what an idle node gets, and that none idles while another has tasks waiting."""

from __future__ import annotations

from support import scenario, traced

from cluster_abm import ClusterModel

SETTINGS = {
    "policy__name": "work-stealing", "cluster__nodes": 6, "cluster__quantum_ms": "inf", "workload__duration_s": 20.0,
    "cluster__context_switch_ms": 0.0, "interconnect__latency_ms": 0.0, "negotiation__remote_execution_ms": 0.0,
    "workload__utilisation": 0.9, "workload__cpu_ms__mean": 100.0, "workload__io_per_ms__mean": 0.0,
    "workload__home__kind": "weights", "workload__home__weights": [20.0, 1.0, 1.0, 1.0, 1.0, 1.0],
}  # fmt: skip


def idle_while_another_has_two(**more) -> int:
    """Slices that a node has been idle through, while the same two tasks have waited elsewhere all the time."""
    model = ClusterModel(scenario(**(SETTINGS | more)), seed=2)
    found, idle_before, waited, served_ns = 0, set(), [set()] * 6, model.busy_ns()[0]
    while model.running:
        model.step()
        waiting = [{task.task for task in post.waiting} for post in model.conversation._posts]
        before_ns, served_ns = served_ns, model.busy_ns()[0]
        idle = {node for node in range(6) if served_ns[node] == before_ns[node]}
        both = max(len(now & before) for now, before in zip(waiting, waited, strict=True))
        found += bool(idle & idle_before) and both >= 2
        idle_before, waited = idle, waiting
    assert model.summary()["jobs"]["finished"] == model.summary()["jobs"]["submitted"]
    return found


def test_where_all_are_asked_no_node_idles_while_another_has_two_waiting():
    assert idle_while_another_has_two(policy__victims="all", policy__retry_slices=1) == 0


def test_where_none_is_asked_again_they_do():
    assert idle_while_another_has_two(policy__victims=1, policy__retry_slices=0) > 0


def test_half_of_what_waits_or_one_task_is_handed_over(tmp_path):
    """Node 0 has one task running and four waiting when node 1 asks: it gets the newest two, or the newest."""
    for amount, stolen in (("half", 2), ("one", 1)):
        rows = ["0,0,1000,1"] * 5 + ["0,1,5,1"]
        model = traced(tmp_path, "work-stealing", rows, cluster__nodes=2, policy__amount=amount, policy__retry_slices=0)
        # The first decision about a task that node 1 took from node 0 is of 10 ms, when the end of its own is known.
        decided = model.decisions_frame()
        taken = decided[(decided["time_ms"] == 10.0) & (decided["target"] == 1)]
        assert taken["task"].tolist() == [5 - stolen]
        frame = model.jobs_frame()
        assert set(range(5 - stolen, 5)) <= set(frame.loc[frame["node"] == 1, "job"])
