"""Rigid jobs of logs and draws: loads, machines, parts, orders; and the weeks of a log in two halves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_abm.clock import WEEK_S
from cluster_abm.errors import InputError
from cluster_abm.scenario import load_scenario
from cluster_abm.study.fitting.log import JobHoldings, JobLog, Jobs, read_log
from cluster_abm.study.fitting.rigid import RigidJobs, judged_window_s, processors_for, rigid_jobs, unit_of
from cluster_abm.study.fitting.weeks import every_other_week, halves


def rigid(times_s, run_ms, tasks, window_s=100.0, requested_ms=None):
    run = np.array(run_ms, float)
    return RigidJobs(
        np.array(times_s, float), window_s, run, np.array(tasks, float),
        run if requested_ms is None else np.array(requested_ms, float),
    )  # fmt: skip


JOBS = st.lists(st.tuples(st.floats(0.0, 99.0), st.floats(1.0, 1e6), st.integers(1, 64)), min_size=1, max_size=30).map(
    lambda rows: rigid(*zip(*sorted(rows), strict=True))
)


@pytest.mark.slow
@given(JOBS, st.floats(0.05, 0.95), st.integers(1, 500))
def test_the_load_is_exact_and_the_order_kept(jobs, load, processors):
    found = jobs.at_load(load, processors)
    assert found.work_s / (processors * found.window_s) == pytest.approx(load, rel=1e-12)
    assert found.times_s * jobs.window_s == pytest.approx(jobs.times_s * found.window_s)
    assert found.run_ms is jobs.run_ms


@pytest.mark.slow
@given(JOBS, st.integers(0, 5))
def test_shuffled_jobs_are_the_same_jobs_at_the_same_times(jobs, number):
    def rows(one):
        return sorted(zip(one.run_ms, one.tasks, one.requested_ms, strict=True))

    found = jobs.shuffled(3, number)
    assert rows(found) == rows(jobs)
    assert found.times_s is jobs.times_s
    assert found.run_ms.tolist() == jobs.shuffled(3, number).run_ms.tolist()


def test_orders_differ_by_seed_and_number():
    jobs = rigid(range(50), range(1, 51), [1] * 50)
    assert len({tuple(jobs.shuffled(seed, number).run_ms) for seed in (1, 2) for number in (0, 1)}) == 4


def test_machines_by_hand():
    """400 processor-seconds in 100 s keep 4 processors busy: 5.71 of them to 0.7, 8 to 0.5."""
    jobs = rigid([0, 50], [100_000, 150_000], [1, 2])
    assert (jobs.work_s, processors_for(jobs, 0.7, 2), processors_for(jobs, 0.5, 2)) == (400.0, 6, 8)
    # No fewer than the widest job has; and in whole units of 3: 240 processor-seconds are 2.4 / 0.5 = 4.8, that is 6.
    assert processors_for(rigid([0], [1000], [9]), 0.9, 9) == 9
    assert processors_for(rigid([0, 1], [40_000, 40_000], [3, 3]), 0.5, 3) == 6
    with pytest.raises(InputError, match=r"keeps 1e\+06 processors busy: allowed up to 100,000"):
        processors_for(rigid([0, 0], [1e5, 1e5], [999_999, 1]), 0.5, 999_999)


def test_units():
    assert unit_of([rigid([0, 1], [1, 1], [32, 96]), rigid([0], [1], [64])]) == 32
    assert unit_of([rigid([0, 1], [1, 1], [32, 96]), rigid([0], [1], [65])]) == 1
    assert unit_of([rigid([], [], [])]) == 1
    assert rigid([0], [1], [64]).by(32).tasks.tolist() == [2.0]


def test_of_many_tasks_the_first_part_is_judged():
    jobs = rigid([0, 10, 20, 30], [1, 2, 3, 4], [2, 3, 5, 1])
    assert judged_window_s(jobs, most=5) == 20.0
    assert judged_window_s(jobs, most=11) == 100.0
    part = jobs.first(20.0)
    assert (part.run_ms.tolist(), part.window_s) == ([1.0, 2.0], 20.0)
    assert jobs.first(100.0) is jobs
    # Where the first job alone has more, all is judged.
    assert judged_window_s(jobs, most=1) == 100.0


def jobs_at(times_s, window_s):
    numbers = np.arange(len(times_s), dtype=float)
    return Jobs(np.array(times_s, float), window_s, {"cpu_ms": numbers}, None, JobHoldings(numbers, numbers, None))


def test_weeks_by_hand():
    """Weeks 0, 1, 2 and half of 3; jobs an hour after the begin of each."""
    hour = 3600.0
    jobs = jobs_at([hour + week * WEEK_S for week in range(4)], 3.5 * WEEK_S)
    even, odd = every_other_week(jobs, 0), every_other_week(jobs, 1)
    assert (even.times_s.tolist(), even.window_s) == ([hour, WEEK_S + hour], 2 * WEEK_S)
    assert (odd.times_s.tolist(), odd.window_s) == ([hour, WEEK_S + hour], 1.5 * WEEK_S)
    assert even.columns["cpu_ms"].tolist() == even.held.alone_ms.tolist() == [0.0, 2.0]
    assert odd.columns["cpu_ms"].tolist() == [1.0, 3.0]


@pytest.mark.slow
@given(st.floats(2.0, 9.0), st.lists(st.floats(0.0, 1.0), min_size=1, max_size=40))
def test_halves_are_a_partition_that_keeps_weekdays_and_hours(weeks, shares):
    window_s = weeks * WEEK_S
    jobs = jobs_at(np.sort(shares) * window_s * (1 - 1e-9), window_s)
    parts = [every_other_week(jobs, first) for first in (0, 1)]
    assert sum(one.window_s for one in parts) == pytest.approx(window_s)
    assert sorted(number for one in parts for number in one.columns["cpu_ms"]) == jobs.columns["cpu_ms"].tolist()
    for one in parts:
        before = jobs.times_s[one.columns["cpu_ms"].astype(int)]
        turns = (before - one.times_s) / WEEK_S
        assert turns == pytest.approx(np.round(turns), abs=1e-6)
        assert (np.diff(one.times_s) >= 0).all()
        assert (one.times_s <= one.window_s * (1 + 1e-12)).all()


def test_short_logs_have_no_halves():
    def log(times_s, weeks):
        return JobLog("log.swf", jobs_at(times_s, weeks * WEEK_S), {}, 7.0, 1.0)

    with pytest.raises(InputError, match=r"log.swf: lasts 1.5 weeks: .* at least 2"):
        halves(log(np.arange(500.0), 1.5))
    with pytest.raises(InputError, match=r"log.swf: 3 jobs in its second, fourth, ... week: a fit needs at least 50"):
        halves(log([*np.arange(60.0), *(WEEK_S + np.arange(3.0))], 2.0))
    fitted, held_back = halves(log([*np.arange(60.0), *(WEEK_S + np.arange(50.0))], 2.0))
    assert (len(fitted.jobs), len(held_back.jobs), held_back.begin_s) == (60, 50, 7.0 + WEEK_S)


def test_what_jobs_hold_is_what_they_take_alone_in_the_scenario(tmp_path):
    """10 ms of CPU at speed 2, a context switch of 1 ms: 6 ms; requests are the log's where they are longer."""
    rows = "".join(f"{place * 100},10,3,{4 if place % 2 else 50}\n" for place in range(60))
    (tmp_path / "log.csv").write_text(f"arrival_ms,cpu_ms,tasks,requested_ms\n{rows}")
    keys = {"cluster.nodes": 4, "cluster.cpu_speed": 2.0, "cluster.context_switch_ms": 1.0}
    base = load_scenario("replay", keys | {"workload.trace.file": str(tmp_path / "log.csv")})
    jobs = read_log(base).jobs
    found = rigid_jobs(jobs)
    assert set(found.run_ms) == {6.0}
    assert set(found.tasks) == {3.0}
    assert found.requested_ms[:2].tolist() == [50.0, 6.0]
