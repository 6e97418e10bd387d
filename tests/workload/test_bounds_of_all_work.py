"""The jobs of a run as a whole: dependencies, the arrival rate, and the largest work."""

from __future__ import annotations

import numpy as np
import pytest
from support import scenario
from trace_files import scenario_of

from cluster_abm.engine.tables import NEVER
from cluster_abm.errors import InputError
from cluster_abm.workload import work_of
from cluster_abm.workload.jobs import jobs_per_second
from cluster_abm.workload.parents import Parents, among, children_of, from_pairs

PLAIN = {"cluster__disk_seek_rotation_ms": 8.0, "cluster__disk_mb_per_s": 40.0}


def test_a_job_that_waits_for_others_has_no_arrival_yet(tmp_path):
    rows = "arrival_ms,cpu_ms,job,after\n0,1,a,\n1,1,b,a\n2,1,c,a b\n3,1,d,\n"
    work = work_of(scenario_of(tmp_path, rows), 1)
    assert work.jobs["arrival_ns"].tolist() == [0, NEVER, NEVER, 3_000_000]
    assert work.earliest_ns == [0, 1_000_000, 2_000_000, 3_000_000]
    assert work.parents is not None
    assert work.parents.counts.tolist() == [0, 1, 2, 0]
    # No table of parents is kept if no job waits.
    alone = work_of(scenario_of(tmp_path, "arrival_ms,cpu_ms,job,after\n0,1,a,\n1,1,b,\n"), 1)
    assert (alone.parents, alone.earliest_ns) == (None, None)


GRAPH = from_pairs(4, np.array([2, 0, 0, 1]), np.array([3, 2, 1, 3]))


def test_parents_and_children_of_jobs():
    """Jobs 1 and 2 wait for job 0, and job 3 waits for both."""
    assert GRAPH.first.tolist() == [0, 0, 1, 2, 4]
    assert GRAPH.parent.tolist() == [0, 0, 2, 1]
    assert GRAPH.waiting.tolist() == [1, 2, 3, 3]
    children = children_of(GRAPH)
    assert children.first.tolist() == [0, 2, 3, 4, 4]
    assert children.parent.tolist() == [1, 2, 3, 3]


@pytest.mark.parametrize(("kept", "first", "parent"), [
    ([1, 1, 1, 1], [0, 0, 1, 2, 4], [0, 0, 2, 1]),
    # Without job 1, jobs 0, 2 and 3 become 0, 1 and 2.
    ([1, 0, 1, 1], [0, 0, 1, 2], [0, 1]),
    # Without job 0, jobs 1 and 2 have no parent. Without job 3, they have no child.
    ([0, 1, 1, 1], [0, 0, 0, 2], [1, 0]), ([1, 1, 1, 0], [0, 0, 1, 2], [0, 0]),
])  # fmt: skip
def test_kept_jobs_are_numbered_anew(kept, first, parent):
    found = among(GRAPH, np.array(kept, bool))
    assert isinstance(found, Parents)
    assert (found.first.tolist(), found.parent.tolist()) == (first, parent)


@pytest.mark.parametrize("kept", [[0, 0, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]])
def test_without_dependencies_there_is_no_table_of_parents(kept):
    assert among(GRAPH, np.array(kept, bool)) is None


@pytest.mark.parametrize(("keys", "rate"), [
    ({"utilisation": 0.5}, 5.0), ({"utilisation": None, "jobs_per_s": 3.5}, 3.5),
    # 30 jobs in the window of 20 s.
    ({"utilisation": None, "jobs": 30}, 1.5),
    # A job has 1 + 0.5 x 2 = 2 tasks on average, so the rate is half.
    ({"tasks": {"parallel_share": 0.5, "minimum": 3, "maximum": 3}}, 2.5),
])  # fmt: skip
def test_the_arrival_rate_of_a_utilisation_a_rate_or_a_number_of_jobs(keys, rate):
    """Utilisation 0.5 of four cores is 2 s of CPU a second. A task takes 0.4 s: 5 tasks a second."""
    given = {f"workload__{key}": value for key, value in keys.items()}
    setup = scenario(workload__cpu_ms={"kind": "fixed", "mean": 400.0}, **given)
    assert jobs_per_second(setup) == pytest.approx(rate)


@pytest.mark.parametrize(("groups", "rate"), [
    # Two of four nodes have 3 cores of speed 2: 2 x 6 + 2 x 1 = 14 s of CPU a second, and 0.5 x 14 / 0.4 = 17.5.
    ([{"count": 2, "cpu_speed": 2.0, "cores": 3}], 17.5), ([{"count": 4, "cpu_speed": 2.0}], 10.0),
])  # fmt: skip
def test_the_rate_counts_every_kind_of_node(groups, rate):
    setup = scenario(workload__cpu_ms={"kind": "fixed", "mean": 400.0}, cluster__group=groups)
    assert jobs_per_second(setup) == pytest.approx(rate)


def test_closed_users_have_no_rate():
    with pytest.raises(InputError, match="at no given rate"):
        jobs_per_second(scenario(workload__arrivals__kind="closed"))


HEAD = "arrival_ms,home,cpu_ms,tasks,memory_mb,io_per_ms,request_kb,initial_data_mb\n"


@pytest.mark.parametrize(("rows", "said"), [
    # The bound is allowed, and slightly more is not. The memory of a job is that of all its tasks.
    (["0,0,1,2,5e11,0,1,0"], ""), (["0,0,1,2,5.1e11,0,1,0"], "memory_mb of the jobs reaches 1.02e+12 MB"),
    (["0,0,1,1,1,0,1,1e12"], ""), (["0,0,1,1,1,0,1,1.01e12"], "initial_data_mb of the jobs reaches 1.01e+12 MB"),
    (["0,0,1,1,1,1e6,1,0"], ""), (["0,0,1,1,1,1.01e6,1,0"], "io_per_ms of the jobs reaches 1.01e+06 accesses"),
    (["0,0,1,1,1,0,1e12,0"], ""), (["0,0,1,1,1,0,1.01e12,0"], "request_kb of the jobs reaches 1.01e+12 KB"),
    # The bound of 4.6e12 ms for one node, reached by tasks, by accesses of 8 + 2 ms, and with the last arrival.
    # Work on two nodes counts for each node.
    (["0,0,0.9e12,5,1,0,1,0"], ""), (["0,0,0.93e12,5,1,0,1,0"], "all work together of the jobs reaches 4.65e+12"),
    (["0,0,0.4e12,1,1,1,80,0"], ""), (["0,0,0.42e12,1,1,1,80,0"], "all work together of the jobs reaches 4.62e+12"),
    (["0,0,0.9e12,4,1,0,1,0", "0.9e12,0,1,1,1,0,1,0"], ""),
    (["0,0,0.95e12,4,1,0,1,0", "0.9e12,0,1,1,1,0,1,0"], "all work together of the jobs reaches 4.7e+12"),
    (["0,0,0.9e12,4,1,0,1,0", "0,1,0.9e12,4,1,0,1,0"], ""),
    (["0,1,0.9e12,4,1,0,1,0", "0,1,0.9e12,4,1,0,1,0"], "all work together of the jobs reaches 7.2e+12"),
])  # fmt: skip
def test_sums_over_jobs_fit_into_64_bits(tmp_path, rows, said):
    setup = scenario_of(tmp_path, HEAD + "\n".join(rows) + "\n", **PLAIN)
    if not said:
        assert len(work_of(setup, 1).jobs) == len(rows)
        return
    with pytest.raises(InputError) as caught:
        work_of(setup, 1)
    assert caught.value.problems[0].startswith(f"workload: {said}")


def test_the_largest_number_of_tasks(tmp_path):
    at_most = "arrival_ms,cpu_ms,tasks\n0,1e-6,50000000\n0,1e-6,"
    assert len(work_of(scenario_of(tmp_path, at_most + "50000000\n"), 1).jobs) == 2
    with pytest.raises(InputError, match="100,000,001 tasks: allowed are 100,000,000"):
        work_of(scenario_of(tmp_path, at_most + "50000001\n"), 1)
