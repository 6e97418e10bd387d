"""The numbers of a summary for runs small enough to be worked out by hand.

Two nodes, quantum 10 ms, no switch cost, slices of 10 ms. A run that drains ends with the slice in which its last task
did, and utilisations are over the time until then.
"""

import pytest
from support import scenario

from cluster_abm import ClusterModel

TRACE_COLUMNS = "arrival_ms,home,cpu_ms,io_per_ms,memory_mb,tasks,request_kb\n"


@pytest.fixture
def summary_of(tmp_path):
    """The summary of a run of these rows of a trace."""

    def run(rows, **overrides):
        file = tmp_path / "jobs.csv"
        file.write_text(TRACE_COLUMNS + "".join(",".join(map(str, row)) + "\n" for row in rows))
        settings = {
            "cluster__nodes": 2,
            "cluster__context_switch_ms": 0.0,
            "workload__kind": "trace",
            "workload__trace__file": str(file),
            "workload__request_kb__per": "job",  # each access of the size in the file, exactly
            "policy__name": "none",
        }
        model = ClusterModel(scenario(**(settings | overrides)), seed=1)
        model.run()
        return model.summary()

    return run


# Node 0: A (35 ms, from 0) and B (20 ms, from 5) share the CPU:
#   A 0-10, B 10-20, A 20-30, B 30-40 ends, A 40-55 ends.       A: 55 ms for 35; B: 40 - 5 = 35 ms for 20.
# Node 1: job C (two tasks of 8 ms, from 12): C0 12-20 ends, C1 20-28 ends.   C0: 8 ms for 8; C1: 16 ms for 8.
CPU_ONLY = [(0, 0, 35, 0, 1, 1, 100), (5, 0, 20, 0, 1, 1, 100), (12, 1, 8, 0, 1, 2, 100)]


def test_cpu_jobs_and_a_parallel_one(summary_of):
    summary = summary_of(CPU_ONLY)
    metrics = summary["metrics"]
    assert summary["jobs"] == {"submitted": 3, "finished": 3, "killed": 0, "lost": 0, "blocked": 0, "running": 0}
    # Slowdowns by job: A 55/35 = 11/7, B 35/20 = 7/4, C the mean of 1 and 2 = 3/2. Their mean:
    # (44 + 49 + 42)/(3 x 28) = 135/84. Without I/O and paging the other two denominators are the same CPU time.
    assert metrics["mean_slowdown"] == pytest.approx(135 / 84)
    assert metrics["mean_slowdown_cpu_io"] == pytest.approx(135 / 84)
    assert metrics["mean_slowdown_cpu"] == pytest.approx(135 / 84)
    # C as a whole takes 28 - 12 = 16 ms, its longer task alone 8: 2. (44 + 49 + 56)/84.
    assert metrics["mean_slowdown_job"] == pytest.approx(149 / 84)
    # In order 3/2, 11/7, 7/4 at the places 0, 1/2 and 1: 0.95 is nine tenths of the way from 11/7 to 7/4.
    assert metrics["p95_slowdown"] == pytest.approx(11 / 7 + 0.9 * (7 / 4 - 11 / 7))
    # By job, C as a whole: (55 + 35 + 16)/3.
    assert metrics["mean_response_ms"] == pytest.approx(106 / 3)
    assert metrics["makespan_ms"] == 55
    # 35 + 20 + 16 = 71 ms of CPU; two nodes until 60.
    assert (summary["simulated_ms"], summary["slices"]) == (60, 6)
    assert metrics["cpu_utilisation"] == pytest.approx(71 / 120)
    assert metrics["disk_utilisation"] == 0
    # Over four tasks: CPU 71/4; waits 20 (A) + 15 (B) + 0 + 8 (C1) = 43.
    parts = {"cpu": 71 / 4, "cpu_queue": 43 / 4}
    assert metrics["breakdown_ms"] == pytest.approx(dict.fromkeys(metrics["breakdown_ms"], 0.0) | parts)


def test_what_has_not_finished_counts_in_no_mean(summary_of):
    """Cut at 30 ms: only C is through, at 28. Node 0 has given 30 ms of CPU, node 1 16."""
    summary = summary_of(CPU_ONLY, run__until=30.0)
    metrics = summary["metrics"]
    assert (summary["jobs"]["finished"], summary["jobs"]["running"], summary["simulated_ms"]) == (1, 2, 30)
    assert metrics["mean_slowdown"] == metrics["p95_slowdown"] == 1.5
    assert metrics["mean_slowdown_job"] == 2
    assert metrics["mean_response_ms"] == 16
    assert metrics["makespan_ms"] == 28
    assert metrics["cpu_utilisation"] == pytest.approx(46 / 60)
    parts = {"cpu": 8.0, "cpu_queue": 4.0}
    assert metrics["breakdown_ms"] == pytest.approx(dict.fromkeys(metrics["breakdown_ms"], 0.0) | parts)


def test_a_job_of_which_a_task_still_runs_has_not_finished(summary_of):
    """Two tasks of 12 ms: C0 12-22, C1 22-32, C0 32-34 ends, C1 34-36; cut at 35."""
    rows = [(12, 1, 12, 0, 1, 2, 100)]
    summary = summary_of(rows, run__until=35.0, cluster__slice_ms=5.0)
    metrics = summary["metrics"]
    assert (summary["jobs"]["finished"], summary["jobs"]["running"]) == (0, 1)
    assert metrics["mean_slowdown"] is None
    assert metrics["mean_response_ms"] is None
    # C0: 34 - 12 = 22 ms, 12 of CPU and 10 of waiting.
    assert metrics["breakdown_ms"]["cpu"] == 12
    assert metrics["breakdown_ms"]["cpu_queue"] == 10
    # 23 ms of CPU given in 2 x 35.
    assert metrics["cpu_utilisation"] == pytest.approx(23 / 70)


def test_paging_and_io_count_in_the_denominators_that_name_them(summary_of):
    """Each job alone on its node, so that nothing waits and `slowdown` is 1.

    P (node 0): 35 ms of CPU, 20 MB on 10 MB: 0.05 x 20/10 = 0.1 faults per ms, so faults after 10, 20 and 30 ms of
    CPU, each of 5 ms: 35 + 15 = 50 ms. Slowdown over CPU + I/O, and over CPU: 50/35 = 10/7.
    Q (node 1): 1000 ms of CPU and n accesses (about 20; they are drawn), each 8 + 80/40 = 10 ms: 1000 + 10 n ms.
    Over CPU + I/O it is 1, over CPU 1 + n/100.
    """
    summary = summary_of(
        [(0, 0, 35, 0, 20, 1, 80), (0, 1, 1000, 0.02, 1, 1, 80)],
        cluster__memory_mb=10.0, cluster__buffer_mb=0.0, cluster__page_fault_rate_per_ms=0.05,
        cluster__fault_service_ms=5.0,
    )  # fmt: skip
    metrics = summary["metrics"]
    n = metrics["disk_requests"]
    assert 2 <= n <= 60
    assert metrics["page_faults"] == 3
    assert metrics["mean_slowdown"] == pytest.approx(1)
    assert metrics["mean_slowdown_job"] == pytest.approx(1)
    assert metrics["mean_slowdown_cpu_io"] == pytest.approx((10 / 7 + 1) / 2)
    assert metrics["mean_slowdown_cpu"] == pytest.approx((10 / 7 + 1 + n / 100) / 2)
    assert metrics["mean_response_ms"] == pytest.approx((50 + 1000 + 10 * n) / 2)
    assert metrics["makespan_ms"] == pytest.approx(1000 + 10 * n)
    # All those are whole slices, so Q ends on a border, and the run with the slice after it.
    assert summary["simulated_ms"] == 1010 + 10 * n
    given_ms = 2 * summary["simulated_ms"]
    assert metrics["cpu_utilisation"] == pytest.approx(1035 / given_ms)
    assert metrics["disk_utilisation"] == pytest.approx((15 + 10 * n) / given_ms)
    parts = {"cpu": 1035 / 2, "io": 10 * n / 2, "paging": 15 / 2}
    assert metrics["breakdown_ms"] == pytest.approx(dict.fromkeys(metrics["breakdown_ms"], 0.0) | parts)


def test_a_remote_start_counts_as_migration_and_in_the_slowdown(summary_of):
    """A (100 ms from 0) stays at node 0: a tie. B (20 ms from 25, e = 7 ms) finds it busy and enters node 1 at 32.

    B: 52 - 25 = 27 ms. Slowdowns 1 and 27/20; the run ends with the slice after 100, at 110.
    """
    summary = summary_of(
        [(0, 0, 100, 0, 1, 1, 100), (25, 0, 20, 0, 1, 1, 100)],
        policy__name="jsq", negotiation__mode="papers", negotiation__remote_execution_ms=7.0,
    )  # fmt: skip
    metrics = summary["metrics"]
    assert metrics["remote_executions"] == 1
    assert metrics["migrations"] == 0
    assert metrics["refused_offers"] == 0
    assert metrics["mean_slowdown"] == pytest.approx((1 + 27 / 20) / 2)
    assert metrics["mean_response_ms"] == pytest.approx(127 / 2)
    assert metrics["makespan_ms"] == 100
    assert metrics["cpu_utilisation"] == pytest.approx(120 / 220)
    parts = {"cpu": 60.0, "migration": 3.5}
    assert metrics["breakdown_ms"] == pytest.approx(dict.fromkeys(metrics["breakdown_ms"], 0.0) | parts)


def test_the_disk_queue_and_a_request_in_service(summary_of):
    """Two tasks of one job that compute 1 ms between accesses of 80 KB (10 ms each): the disk is hardly ever idle.

    Whatever the draws: the disk gave 10 ms for each request that has ended, and what both tasks got in CPU, disk and
    waits is their wall time.
    """
    summary = summary_of([(0, 0, 100, 1.0, 1, 2, 80)])
    metrics = summary["metrics"]
    n, parts = metrics["disk_requests"], metrics["breakdown_ms"]
    assert metrics["disk_utilisation"] == pytest.approx(10 * n / (2 * summary["simulated_ms"]))
    assert parts["io"] == pytest.approx(10 * n / 2)
    # Dedicated, each has its own disk: 100 + 10 x its accesses; their sum over the two is 200 + 10 n.
    wall = sum(parts.values())
    assert parts["io_queue"] == pytest.approx(wall - 100 - parts["io"] - parts["cpu_queue"])
    assert parts["io_queue"] > 0.5 * parts["io"]
    assert 1 < metrics["mean_slowdown"] < 2.5
    assert metrics["mean_slowdown"] == pytest.approx(metrics["mean_slowdown_cpu_io"])


def test_cpu_that_a_failure_destroyed_is_in_no_slowdown(tmp_path):
    # 1 s of CPU; the node is out from 0.5 s to 1 s: begun again elsewhere at 0.6 s, it ends at 1.6 s.
    profiles = tmp_path / "profiles.csv"
    profiles.write_text("program,cpu_ms,memory_mb,accesses\nlong,1000,1,0\n")
    model = ClusterModel(
        scenario(
            workload={"jobs": 1, "duration_s": 0.001, "programs": {"mix": {"long": 1.0}, "file": str(profiles)}},
            workload__home={"kind": "weights", "weights": [1.0]},
            failures__event=[{"node": 0, "at_s": 0.5, "for_s": 0.5}],
        ),
        seed=1,
    )  # fmt: skip
    model.run()
    summary = model.summary()
    assert summary["metrics"]["lost_cpu_ms"] > 490
    assert summary["metrics"]["mean_slowdown_cpu"] == pytest.approx(1.6, rel=0.01)
    assert summary["programs"]["long"]["mean_slowdown_cpu"] == summary["metrics"]["mean_slowdown_cpu"]
