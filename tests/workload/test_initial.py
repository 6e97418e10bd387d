"""The rows of `workload.initial` in the job table: what they say, what is drawn for the rest, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from support import scenario

from cluster_abm.errors import InputError
from cluster_abm.study.lower_bound import lower_bound
from cluster_abm.workload import job_table, offered_load, work_of

OLD = {"node": 1, "cpu_ms": 50.0, "age_ms": 20.0, "memory_mb": 3.0}
WIDE = {"node": 2, "cpu_ms": 10.0, "tasks": 3, "io_per_ms": 0.5, "request_kb": 64.0, "initial_data_mb": 7.0}
JOBS = [OLD, WIDE]
OTHERS = [
    {"workload__jobs": 5, "workload__duration_s": 1.0},
    {
        "workload__utilisation": None,
        "workload__arrivals": {"kind": "closed", "users_per_node": 2, "jobs_per_user": 3},
    },
]  # fmt: skip


def test_columns_are_those_of_a_trace():
    work = work_of(scenario(workload__kind="none", workload__initial=JOBS, cluster__nodes=3), 1)
    jobs = work.jobs
    assert work.initial == len(jobs) == 2
    assert not len(work.arriving)
    assert jobs["home"].tolist() == [1, 2]
    assert jobs["tasks"].tolist() == [1, 3]
    assert jobs["cpu_ms"].tolist() == [50.0, 10.0]
    assert jobs["received_ms"].tolist() == [20.0, 0.0]
    assert jobs["memory_mb"][0] == 3.0
    assert jobs["io_per_ms"][1] == 0.5
    assert jobs["request_kb"][1] == 64.0
    assert jobs["initial_data_mb"][1] == 7.0
    assert (jobs["arrival_ns"] == 0).all()
    assert jobs["first_task"].tolist() == [0, 1]


@pytest.mark.parametrize("others", OTHERS)
def test_other_jobs_are_the_same_with_and_without_them(others):
    """Common random numbers: also the numbers of tasks, from which service times are drawn, are the same."""
    plain = job_table(scenario(cluster__nodes=3, **others), 7)
    work = work_of(scenario(cluster__nodes=3, workload__initial=JOBS, **others), 7)
    assert len(plain)
    assert work.arriving.tobytes() == plain.tobytes()
    assert work.jobs["first_task"][:2].tolist() == [plain["tasks"].sum(), plain["tasks"].sum() + 1]
    assert offered_load(scenario(cluster__nodes=3, **others), work) == offered_load(
        scenario(cluster__nodes=3, **others), work_of(scenario(cluster__nodes=3, **others), 7)
    )


def test_what_is_not_said_is_drawn_once_a_seed():
    given = scenario(workload__kind="none", workload__initial=[{"node": 0, "cpu_ms": 5.0}] * 4)
    one, same, other = (job_table(given, seed)["memory_mb"] for seed in (1, 1, 2))
    assert np.unique(one).size == 4
    assert (one == same).all()
    assert (one != other).all()


def test_the_lower_bound_counts_what_is_left():
    """One job of which 30 of 50 ms are left, alone: no policy ends it before 30 ms."""
    bound = lower_bound(scenario(workload__kind="none", workload__initial=[OLD], cluster__nodes=2), 1)
    assert bound is not None
    assert bound.jobs == 1
    assert bound.mean_response_ms == pytest.approx(30.0, abs=1e-5)


@pytest.mark.parametrize(
    ("job", "words"),
    [
        ({**OLD, "node": 3}, "workload.initial.0.node 3: must be below cluster.nodes 3"),
        ({**OLD, "age_ms": 50.0}, "age_ms 50: must be below cpu_ms 50"),
        ({**OLD, "age_ms": -1.0}, "workload.initial.0.age_ms"),
        ({"node": 0}, "workload.initial.0.cpu_ms"),
        ({**OLD, "cpu_ms": 0.0}, "workload.initial.0.cpu_ms"),
        ({**OLD, "home": 1}, "workload.initial.0.home"),
        ({**OLD, "tasks": 0}, "workload.initial.0.tasks"),
    ],
)
def test_what_cannot_be_is_refused(job, words):
    with pytest.raises(InputError) as problem:
        scenario(workload__kind="none", workload__initial=[job], cluster__nodes=3)
    assert words in str(problem.value)


def test_without_any_job_nothing_can_run():
    with pytest.raises(InputError, match=r"there would be no job: list jobs in \[\[workload.initial\]\]"):
        scenario(workload__kind="none")
