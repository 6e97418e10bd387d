"""Jobs that are submitted once others have ended, as the tasks of a workflow are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import PLAIN, finished, mostly_slow, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.policies import available

SLICE_MS = 10.0
POLICIES = sorted(available())


def following(tmp_path, rows, header="job,after,arrival_ms,home,cpu_ms", **more):
    """A scenario whose jobs come from these rows of a trace, on nodes without any cost of their own."""
    path = tmp_path / "workflow.csv"
    path.write_text(header + "\n" + "\n".join(rows) + "\n")
    given_keys = {"workload__kind": "trace", "workload__trace__file": str(path), "policy__name": "none"}
    return PLAIN | given_keys | more


def by_job(model, column="arrival_ms"):
    """A column of each job's last task to end, in the order of the trace."""
    return model.jobs_frame().groupby("job")[column].max().tolist()


def test_a_diamond_by_hand(tmp_path):
    """a ends at 100 ms, known at the boundary of its slice, 110; d waits for b, the later of the two: 310, so 320."""
    rows = ["a,,0,0,100", "b,a,0,1,200", "c,a,0,2,50", "d,b c,0,3,95"]
    model = finished(1, **following(tmp_path, rows))
    assert by_job(model) == [0, 110, 110, 320]
    assert by_job(model, "finish_ms") == [100, 310, 160, 415]
    assert model.summary()["metrics"]["makespan_ms"] == 415


def test_an_arrival_time_is_the_earliest_submission(tmp_path):
    model = finished(1, **following(tmp_path, ["a,,0,0,100", "b,a,50,1,10", "c,a,250,1,10"]))
    assert by_job(model) == [0, 110, 250]


def test_a_job_has_ended_when_all_its_tasks_have(tmp_path):
    """Three tasks of 100 ms on the one core of node 0 end at 300 ms by turns of whole runs."""
    rows = ["a,,0,0,100,3", "b,a,0,1,10,1"]
    model = finished(1, **following(tmp_path, rows, "job,after,arrival_ms,home,cpu_ms,tasks"))
    assert by_job(model)[1] == 310


def test_a_killed_job_has_ended(tmp_path):
    """a asks for more than memory and swap and is killed as it enters; b is submitted all the same."""
    rows = ["a,,0,0,100,50", "b,a,0,1,10,1"]
    given_keys = following(
        tmp_path, rows, "job,after,arrival_ms,home,cpu_ms,memory_mb", cluster__memory_mb=10.0, cluster__swap_mb=1.0,
        cluster__buffer_in_memory=False,
    )  # fmt: skip
    jobs = finished(1, **given_keys).summary()["jobs"]
    assert (jobs["submitted"], jobs["killed"], jobs["finished"]) == (2, 1, 1)


def test_a_part_of_a_log_waits_for_what_is_in_it(tmp_path):
    """a and b are before the chosen part: c, which waited for a, arrives at its own time, d still waits for c."""
    rows = ["a,,0,0,100", "b,,0,1,100", "c,a,1000,0,100", "d,c b,1000,1,100"]
    model = finished(1, **following(tmp_path, rows, workload__trace__start_s=1.0))
    assert by_job(model) == [0, 110]


def test_the_bound_waits_too(tmp_path):
    """Pooled nodes serve tasks that start when they may: a chain of three takes its sum, and the ends of its slices."""
    rows = ["a,,0,0,100", "b,a,0,0,100", "c,b,0,0,100"]
    model = finished(1, **following(tmp_path, rows, policy__name="pooled"))
    assert by_job(model) == [0, 110, 220]


def test_no_window_is_known_in_which_such_jobs_come(tmp_path):
    rows = ["a,,0,0,100", "b,a,500,1,200"]
    assert ClusterModel(scenario(**following(tmp_path, rows))).summary()["offered_load"] is None


@st.composite
def graphs(draw):
    """Rows of a trace in which each job may wait for some of those before it."""
    count = draw(st.integers(2, 14))
    rows = []
    for job in range(count):
        parents = draw(st.lists(st.integers(0, job - 1), unique=True, max_size=3)) if job else []
        arrival_ms = draw(st.sampled_from([0, 0, 35, 400]))
        # All different: policies that sort tasks by size need that.
        cpu_ms = draw(st.sampled_from([1, 9.5, 10, 73, 200])) + job / 8
        tasks = draw(st.sampled_from([1, 1, 2]))
        rows.append((job, parents, arrival_ms, draw(st.integers(0, 3)), cpu_ms, tasks))
    return sorted(rows, key=lambda row: row[2])


@pytest.mark.slow
@pytest.mark.parametrize("policy", mostly_slow(POLICIES, ("none", "jsq", "iolb", "central-queue")))
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=graphs())
def test_every_job_waits_for_its_parents_and_no_longer(tmp_path, policy, rows):
    """Submitted at the last parent's end, or its own arrival, or at the boundary at which that end is known; stepped
    slice by slice it is the same to the byte."""
    lines = [
        f"j{job},{' '.join(f'j{parent}' for parent in parents)},{arrival_ms},{home},{cpu_ms},{tasks},5"
        for job, parents, arrival_ms, home, cpu_ms, tasks in rows
    ]
    header = "job,after,arrival_ms,home,cpu_ms,tasks,memory_mb"
    setup = scenario(**following(
        tmp_path, lines, header, policy__name=policy, cluster__quantum_ms=10.0, negotiation__remote_execution_ms=1.0,
        workload__requested_over_actual={"kind": "fixed", "mean": 2.0},
    ))  # fmt: skip
    model = ClusterModel(setup, seed=1)
    model.run()
    stepped = ClusterModel(setup, seed=1)
    while stepped.running:
        stepped.step()
    assert same_records(model, stepped)
    submitted, ended = by_job(model), by_job(model, "finish_ms")
    assert len(submitted) == len(rows)
    place = {row[0]: at for at, row in enumerate(rows)}
    for at, (_, parents, arrival_ms, *_) in enumerate(rows):
        known_ms = max([(math.floor(ended[place[one]] / SLICE_MS) + 1) * SLICE_MS for one in parents], default=0.0)
        last_ms = max([ended[place[one]] for one in parents], default=0.0)
        assert submitted[at] >= max(last_ms, arrival_ms) - 1e-9
        assert submitted[at] <= max(known_ms, arrival_ms) + 1e-9
    assert np.isfinite(model.summary()["metrics"]["mean_slowdown"])
