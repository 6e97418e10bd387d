"""A fitted scenario judged by queueing: the runs, against a second implementation and by hand.

The seeds are arbitrary: set CLUSTER_ABM_TEST_SEED to draw others.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from batch_systems_by_hand import waits

from cluster_abm.errors import InputError
from cluster_abm.study.fitting import judging
from cluster_abm.study.fitting.judging import POLICIES, judge, slice_for, waits_under
from cluster_abm.study.fitting.log import REQUEST, Jobs
from cluster_abm.study.fitting.rigid import RigidJobs, rigid_jobs
from cluster_abm.study.fitting.verdicts import MEASURES
from cluster_abm.study.runner.counted_runs import counted_runs

SEED = int(os.environ.get("CLUSTER_ABM_TEST_SEED", "20261130"))


def rng(number):
    return np.random.default_rng([SEED, number])


def rigid(times_s, run_s, tasks, requested_s, window_s=1.0):
    columns = [1000.0 * np.array(run_s, float), np.array(tasks, float), 1000.0 * np.array(requested_s, float)]
    return RigidJobs(np.array(times_s, float), window_s, *columns)


def simulated(sides, processors, slice_ms):
    """By policy and measure the waits of each side [s]."""
    with counted_runs("tests", 1, {}, "", workers=1, quiet=True, where=None, folder=None) as runs:
        found = dict(waits_under(POLICIES, sides, processors, slice_ms, runs))
    return {policy: {name: np.array(values) / 1000.0 for name, values in of.items()} for policy, of in found.items()}


HAND = rigid([0, 1, 2, 3], [10, 10, 5, 20], [1, 2, 1, 1], [10, 10, 5, 20])
# First come first served: the second job, of both processors, waits from 1 to 10; the third and the fourth start when
# it ends, at 20. EASY: the third fits beside the first and ends before 10; the fourth does not, and waits until 20.
BY_HAND = {"batch-system": [0, 9, 18, 17], "easy": [0, 9, 0, 17]}


@pytest.mark.parametrize("policy", POLICIES)
def test_the_second_implementation_by_hand(policy):
    columns = HAND.times_s, HAND.run_ms / 1000.0, HAND.tasks, HAND.requested_ms / 1000.0
    assert waits(*(column.tolist() for column in columns), 2, policy == "easy") == BY_HAND[policy]


@pytest.mark.slow
def test_four_jobs_on_two_processors():
    """The 95th percentile of four numbers is 0.85 of the way from the third to the fourth."""
    found = simulated([HAND], 2, 1.0)
    for policy, each in BY_HAND.items():
        third, fourth = sorted(each)[2:]
        assert found[policy]["mean_wait_ms"] == pytest.approx([sum(each) / 4], abs=0.01)
        assert found[policy]["p95_wait_ms"] == pytest.approx([third + 0.85 * (fourth - third)], abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(4))
def test_random_jobs_wait_as_in_a_second_implementation(number):
    """Slices of a microsecond: times are real numbers, and one that falls between two others seldom changes sides."""
    random = rng(number)
    jobs, processors = 300, int(random.integers(4, 30))
    run_s = random.lognormal(2, 1.2, jobs)
    tasks = np.minimum(2 ** random.integers(0, 5, jobs), processors)
    times_s = np.sort(random.random(jobs)) * float((run_s * tasks).sum()) / processors / 0.9
    requested_s = run_s * random.choice([1.0, 1.5, 10.0], jobs)
    found = simulated([rigid(times_s, run_s, tasks, requested_s)], processors, 1e-3)
    means = {}
    for policy in POLICIES:
        columns = times_s, run_s, tasks, requested_s
        each = waits(*(column.tolist() for column in columns), processors, policy == "easy")
        means[policy] = np.mean(each)
        assert means[policy] > 0.05 * run_s.mean(), "nothing waits: the case says nothing"
        assert found[policy]["mean_wait_ms"] == pytest.approx([np.mean(each)], rel=1e-4, abs=1e-3)
        assert found[policy]["p95_wait_ms"] == pytest.approx([np.quantile(each, 0.95)], rel=1e-4, abs=1e-3)
    assert means["easy"] != pytest.approx(means["batch-system"], rel=1e-3)


@pytest.mark.slow
def test_partitions_of_eight_wait_as_single_processors():
    random = rng(10)
    run_s, tasks = random.exponential(100.0, 200), 8 * random.integers(1, 5, 200)
    jobs = rigid(np.sort(random.random(200)) * 12_000.0, run_s, tasks, run_s)
    wide, narrow = (simulated([jobs.by(unit)], 64 // unit, 1.0) for unit in (1, 8))
    for policy in POLICIES:
        assert wide[policy]["mean_wait_ms"] > 0
        for measure, values in wide[policy].items():
            assert values.tolist() == narrow[policy][measure].tolist()


def log(number, jobs=150, stretch=1.0):
    """A log by columns, in whole seconds as logs are: all its run times and requests multiplied."""
    random = rng(number)
    run_ms = 1000.0 * np.ceil(random.lognormal(6, 1, jobs)) * stretch
    columns = {"cpu_ms": run_ms, "tasks": 2.0 ** random.integers(0, 4, jobs), REQUEST: random.choice([1.0, 3.0], jobs)}
    return Jobs(np.sort(random.random(jobs)) * 50_000.0, 50_000.0, columns, None)


def test_each_load_policy_and_measure_is_compared(monkeypatch):
    """Waits in place of runs: of the log, of a shuffle and of two draws."""
    monkeypatch.setattr(
        judging,
        "waits_under",
        lambda policies, *_: ((one, {key: [6.0, 5.0, 9.0, 3.0] for key in MEASURES}) for one in policies),
    )
    same = log(20)
    found = judge(same, [same, same], shuffles=1, workers=1, quiet=True)
    kinds = [(load, policy, measure) for load in (0.5, 0.7, 0.9) for policy in POLICIES for measure in MEASURES]
    assert [(one.load, one.policy, one.measure) for one in found.compared] == kinds
    assert {(one.log, one.shuffled, one.draws) for one in found.compared} == {(6.0, (5.0,), (9.0, 3.0))}


def test_the_machine_is_as_wide_as_the_widest_job_of_draws(monkeypatch):
    """The log's jobs are of 1 to 8 tasks. In one draw a job has 640, which no smaller machine can run as it is."""
    machines = []

    def waits_in_place(policies, sides, processors, *_):
        machines.append((processors, max(one.tasks.max() for one in sides)))
        yield policies[0], {measure: [1.0] * len(sides) for measure in MEASURES}

    monkeypatch.setattr(judging, "waits_under", waits_in_place)
    narrow, wide = log(23), log(24)
    wide.columns["tasks"][7] = 640.0
    found = judge(narrow, [narrow, wide], shuffles=0, workers=1, quiet=True)
    assert machines == [(640, 640.0)] * 3
    assert set(found.processors.values()) == {640}


@pytest.mark.slow
def test_a_log_that_is_drawn_itself_is_near_and_one_of_longer_jobs_is_three_times_as_far():
    """At one load on one machine jobs three times as long come in three times the time: each waits three times as long,
    up to slices."""
    same, longer = log(20), log(20, stretch=3.0)
    found = judge(same, [same, same], shuffles=0, workers=1, quiet=True, loads=(0.9,))
    assert {one.ratio(0.0) for one in found.compared} == {1.0}
    assert "within a factor 1.5 of the log's" in found.verdict
    # One draw in two far away: the median is between.
    found = judge(same, [longer, longer, same], shuffles=0, workers=1, quiet=True, loads=(0.7, 0.9))
    for one in found.compared:
        assert one.log > found.small_ms, "nothing waits: the case says nothing"
        assert one.fitted / one.log == pytest.approx(3.0, rel=0.01)
        assert one.shuffled == ()
    assert [one.load for one in found.far] == [0.7] * 4 + [0.9] * 4
    assert found.verdict.startswith("Do not use it for waits under first come first served at load 0.7 (mean wait 3, ")


@pytest.mark.slow
def test_draws_without_jobs_have_no_waits():
    none = Jobs(np.zeros(0), 50_000.0, {"cpu_ms": np.zeros(0)}, None)
    found = judge(log(21), [none, none], shuffles=0, workers=1, quiet=True, loads=(0.9,))
    assert [one.draws for one in found.compared] == [(0.0, 0.0)] * 4
    assert len(found.far) == 4


def test_logs_without_times_are_not_judged():
    with pytest.raises(InputError, match="no CPU times"):
        judge(Jobs(np.zeros(3), 1.0, {"memory_mb": np.ones(3)}, None), [])
    with pytest.raises(InputError, match="no job of the log needs any time"):
        judge(Jobs(np.zeros(3), 1.0, {"cpu_ms": np.zeros(3)}, None), [])
    with pytest.raises(InputError, match=r"takes 0\.0009 ms on average: allowed from 0\.001 ms on"):
        judge(Jobs(np.zeros(3), 1.0, {"cpu_ms": np.full(3, 9e-4)}, None), [])


@pytest.mark.parametrize(("mean_run_ms", "slice_ms"), [
    (5e9, 1000.0), (2e6, 1000.0), (9.99e5, 100.0), (400.0, 0.1), (1e-5, 1e-6),
])  # fmt: skip
def test_slices_are_a_thousandth_of_a_run_time_and_a_second_at_most(mean_run_ms, slice_ms):
    assert slice_for(mean_run_ms) == pytest.approx(slice_ms)


def test_jobs_by_columns():
    """A job without a CPU time is left out; one without tasks has one; one without a request requests its run time."""
    nan = np.nan
    jobs = Jobs(
        np.array([0.0, 1.0, 2.0]), 3.0,
        {"cpu_ms": np.array([5.0, nan, 7.0]), "tasks": np.array([nan, 2.0, 4.0]), REQUEST: np.array([2.0, 2.0, nan])},
        None,
    )  # fmt: skip
    found = rigid_jobs(jobs)
    assert found.times_s.tolist() == [0.0, 2.0]
    assert found.tasks.tolist() == [1.0, 4.0]
    assert found.requested_ms.tolist() == [10.0, 7.0]
    assert found.work_s == pytest.approx(0.033)
