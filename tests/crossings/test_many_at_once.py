"""Timelines by hand in which many mechanisms meet: between them all pairs of the mechanisms of nodes do.

Page faults: a task that gets 0.35 of them a ms of its CPU has earned its k-th at k/0.35 ms: 2.857143, 5.714286,
8.571429, 11.428572, rounded up to whole ns. Every fault takes 5 ms at the disk.
"""

from __future__ import annotations

from crossings.table import crosses
from crossings.timelines import CHECKPOINTS, CONTENDED, ONE_FILE, counts, fails, life, ns, send_all_to, timeline

# A node of 15 MB, 5 of them buffer, that has 10 for programs. Two programs of 10 MB fault at 0.175 x 20/10 a ms. The
# buffer has whatever is accessed, since nearly all of it is accessed again.
PAGES = {
    "cluster__memory_mb": 15.0, "cluster__buffer_mb": 5.0, "cluster__page_fault_rate_per_ms": 0.175,
    "cluster__disk_channels": 2, "workload__reaccess_rate": 1e9, "workload__tasks__barrier_ms": 5.5,
    "negotiation__remote_execution_ms": 0.0, "policy__name": "jsq",
}  # fmt: skip


def beside(node, cpu_share):
    """A background program of 10 MB."""
    return {"node": node, "cpu_share": cpu_share, "memory_mb": 10.0}


@crosses("kill", "paging", "channels", "background", "buffer", "programs", "barriers", "drain", "staging", "links")
def test_a_job_whose_task_outgrows_its_node(tmp_path):
    """A job of two tasks is submitted at node 2, which drains, at 1 ms: node 0 takes it in, and sends task 1 to node 1.

    Both fetch 5 MB from node 2, whose link has 1 MB a ms: task 1 from 1.000001 on, 1 ns after the message that says
    so, in which task 0 gets 1e-6 MB more. So task 0 has the file at 10.999999, and task 1 1 ns later.

    Node 0. A background program has computed since 0, for 500 ms in all if it could; from 10.999999 on there are
    20 MB, and it faults at 13.857142. Task 0 runs, and faults at 16.714285, in the other channel: until 21.714285. The
    program is back at 18.857142 and faults at 21.714285. Task 0 comes to its barrier (5.5 ms of CPU) at
    21.714285 + 5.5 - 2.857143 = 24.357142; it opens at 30. The program has its third fault from 29.571428 to 34.571428,
    task 0 its second from 30.214286 (5.714286 of CPU) to 35.214286, waits until the program faults again at
    37.428571, and has 7 ms of CPU at 38.714285. There it grows to 15 MB: 25 MB are more than 10 and 12 of swap (but
    not more than 15 and 12), and it is killed, the newest task, since a background program never is. Its accesses at
    3 ms and, in the second phase, never, were hits. That node 0 drains from 20 on changes nothing.

    Node 1. Task 1 computes from 11 to 16.5, waits for 30, and grows at 31.5. With 15 MB it faults at 0.2625 a ms,
    after 3.809524 ms, at 35.309524, until 40.309524. At 40 its job ends, and it with its request.
    """
    model = timeline(
        tmp_path, [{"arrival_ms": 1, "home": 2, "tasks": 2}],
        [{"cpu_ms": 7, "memory_mb": 10, "accesses": 1}, {"cpu_ms": 4, "memory_mb": 15}],
        cluster__nodes=3, cluster__swap_mb=12.0, workload__background=[beside(0, 0.5)],
        **PAGES, **CONTENDED, **ONE_FILE,
    )  # fmt: skip
    send_all_to(model, 0, 1)
    model.node_agents[2].drain()
    model.run(until_ms=20.0)
    model.node_agents[0].drain()
    model.run()
    assert life(model, 0) == {
        "finish": 38_714_285, "cpu": 7_000_000, "paging": 10_000_000, "migration": 9_999_999,
        "cpu_queue": (13_857_142 - 10_999_999) + (37_428_571 - 35_214_286), "barrier": 30_000_000 - 24_357_142,
    }  # fmt: skip
    assert life(model, 1) == {
        "finish": 40_309_524, "cpu": 10_809_524, "paging": 5_000_000, "migration": 10_000_000, "barrier": 13_500_000,
    }  # fmt: skip
    assert counts(model, 0) == {"hits": 1, "faults": 2, "moves": 1}
    assert counts(model, 1) == {"hits": 1, "faults": 1, "moves": 1}
    assert model.jobs_frame()["outcome"].tolist() == ["killed", "killed"]
    assert model.engine.nodes["faults"].tolist() == [2 + 4, 1, 0]
    assert model.summary()["metrics"]["fetched_mb"] == 10.0


@crosses("checkpoint", "failure", "priorities", "paging", "channels", "background", "buffer", "programs", "barriers")
def test_a_task_that_pages_goes_on_from_its_checkpoint_before_an_arriving_one_is_placed(tmp_path):
    """A job of two tasks at 1 ms, one on node 0 and one on node 1; background programs are on all three nodes.

    Node 0 is as above, 10 ms earlier and without what the network rounded: task 0 comes to its barrier at 14.357143.
    At 20, when it opens, a checkpoint is taken: 5.5 ms of CPU, 0.925 of a fault, one access made. It faults at
    20.214286, has the CPU again at 27.428572 with 5.714286 received, and at 30, when the node fails, 8.285714.
    On nodes 1 and 2 a program has computed its 1 ms of the second, and keeps its memory. Node 2 has no task, so task 0
    goes there, for 20 ms and 10 MB: it enters at 60. It faults at 60.214286, when the fault is whole, and, at
    5.714286 + 2.857143 of CPU, at 68.071429; and ends, with 11 ms, at 60 + 5.5 + 10. The access at 6 + 1.25 ms is made
    on both nodes, those at 3 and at 6 + 3.75 on one.

    A job of 20 ms comes at 30, after task 0 has been placed: nodes 1 and 2 have a task each, and it stays on node 1,
    which stands in for node 0. There task 1, which faults at its 2.857143, 5.714286 and 8.571429 ms, waits for its
    third fault from 28.071429 to 33.071429 and ends at 35.5. The new task has its first fault from 32.857143 on, and
    at 37.857143 the memory suffices.
    """
    jobs = [{"arrival_ms": 1, "tasks": 2, "name": "it"}, {"arrival_ms": 30, "name": "other"}]
    phases = [
        {"cpu_ms": 6, "memory_mb": 10, "accesses": 1}, {"cpu_ms": 5, "memory_mb": 10, "accesses": 2},
        {"program": "other", "cpu_ms": 20, "memory_mb": 0},
    ]  # fmt: skip
    model = timeline(
        tmp_path, jobs, phases, cluster__nodes=3, failures__checkpoint_period_ms=20.0,
        workload__background=[beside(0, 0.5), beside(1, 0.001), beside(2, 0.001)],
        **PAGES, **CHECKPOINTS, **fails((0, 30)),
    )  # fmt: skip
    send_all_to(model, 0, 1)
    model.run()
    assert life(model, 0) == {
        "finish": 75_500_000, "cpu": 8_285_714 + 5_500_000, "paging": 20_000_000, "migration": 30_000_000,
        "barrier": 20_000_000 - 14_357_143, "cpu_queue": 2_857_143 + (27_428_572 - 25_214_286),
    }  # fmt: skip
    assert counts(model, 0) == {"hits": 4, "faults": 4, "restarts": 1, "lost_cpu_ns": 2_785_714}
    assert life(model, 1) == {"finish": 35_500_000, "cpu": 11_000_000, "paging": 15_000_000, "barrier": 8_500_000}
    assert life(model, 2) == {"finish": 55_000_000, "cpu": 20_000_000, "paging": 5_000_000}
    assert model.jobs_frame().set_index("task")["node"].sort_index().tolist() == [2, 1, 1]


@crosses("checkpoint", "failure", "priorities", "drain", "staging", "links", "kill")
def test_a_task_from_a_checkpoint_has_a_newer_one_killed(tmp_path):
    """Four nodes of 2.2 MB; node 3, which has the file, drains. Tasks 0 (node 0), 1 and 2 (node 1) come at 0 and fetch
    5 MB at a third of 1 MB a ms each, until 15; task 3 (node 2) at 20, until 25.

    Task 0 is saved at 40 with 25 ms, and fails at 50 with 35. Node 2 has one task, node 1 two: it goes there, without
    a fixed cost, with an image of 1.5 MB until 51.5 and its file from 51.500001 on. Task 4 comes at 50, after that:
    two tasks each, so it stays on node 1, which stands in for node 0. It has 1.500001 MB of its file by 51.500001, and
    3.499999 at half the speed at 58.499999; then task 0 gets its last 1.500001, until 60. Node 2 has 3 MB then: task 3
    is killed, which is newer, and task 0 ends at 60 + 25. On node 1 there are 40 and 20 ms to compute before task 4.
    """
    jobs = [
        {"home": 0, "cpu_ms": 50, "memory_mb": 1.5}, {"home": 1, "cpu_ms": 40, "memory_mb": 0.5},
        {"home": 1, "cpu_ms": 20, "memory_mb": 0.5}, {"home": 2, "cpu_ms": 50, "memory_mb": 1.5, "arrival_ms": 20},
        {"home": 0, "cpu_ms": 10, "memory_mb": 0.5, "arrival_ms": 50},
    ]  # fmt: skip
    model = timeline(
        tmp_path, jobs, cluster__nodes=4, cluster__memory_mb=2.2, cluster__swap_mb=0.0, policy__name="jsq",
        negotiation__migration_ms=0.0, failures__checkpoint_period_ms=40.0,
        **CHECKPOINTS, **CONTENDED, **ONE_FILE, **fails((0, 50)),
    )  # fmt: skip
    send_all_to(model, 0, 1, 1, 2)
    model.node_agents[3].drain()
    model.run()
    assert life(model, 0) == {"finish": ns(85), "cpu": ns(60), "migration": ns(25)}
    assert counts(model, 0) == {"restarts": 1, "lost_cpu_ns": ns(10)}
    assert life(model, 3) == {"finish": ns(60), "cpu": ns(35), "migration": ns(5)}
    assert life(model, 4) == {"finish": ns(85), "cpu": ns(10), "migration": 8_499_999, "cpu_queue": 16_500_001}
    assert model.jobs_frame().set_index("task")["outcome"].sort_index().tolist()[3:] == ["killed", "finished"]
