"""Columns that depend on each other, and jobs that repeat others: planted dependence, and laws that stay.

The seeds are arbitrary: set CLUSTER_ABM_TEST_SEED to draw others. Statistical assertions raise a false alarm with a
chance of 1e-6 each.
"""

from __future__ import annotations

import math
import os

import numpy as np
import pytest
from scipy import stats
from support import scenario

from cluster_abm.errors import InputError
from cluster_abm.scenario.distributions import Distribution, Repeats, TaskCount
from cluster_abm.workload import job_table
from cluster_abm.workload.drawing import dependence as copula
from cluster_abm.workload.drawing.dependence import Dependent, product_over_means, widths
from cluster_abm.workload.drawing.repeats import Copies

SEED = int(os.environ.get("CLUSTER_ABM_TEST_SEED", "20261121"))
RARE = 1e-6
JOBS = 40_000
WORK = {
    "workload__utilisation": None, "workload__jobs": JOBS, "workload__duration_s": 1000.0,
    "workload__cpu_ms": {"kind": "lognormal", "mean": 100.0, "sd": 300.0},
    "workload__memory_mb": {"kind": "pareto", "mean": 4.0},
    "workload__io_per_ms": {"kind": "uniform", "mean": 0.1},
    "workload__tasks": {"parallel_share": 0.9, "minimum": 1, "maximum": 1000},
}  # fmt: skip
PAIRS = {"cpu_ms,memory_mb": 0.6, "tasks,cpu_ms": -0.3, "io_per_ms,memory_mb": 0.2}


def jobs_of(seed=SEED, **more):
    return job_table(scenario(**{**WORK, **more}), seed)


def test_planted_rank_correlations_come_back_and_pairs_not_named_have_none():
    jobs = jobs_of(workload__dependence=PAIRS)
    for pair, planted in {**PAIRS, "cpu_ms,io_per_ms": 0.0, "memory_mb,tasks": 0.0}.items():
        first, second = pair.split(",")
        found = stats.spearmanr(jobs[first], jobs[second]).statistic
        # A rank correlation's standard error is at most about 1/sqrt(n); a tenth of jobs with one task take 1 % off.
        assert abs(found - planted) < 5.0 / math.sqrt(JOBS) + 0.01 * abs(planted), pair


def test_each_column_keeps_its_law():
    jobs = jobs_of(workload__dependence=PAIRS)
    variance = math.log(1 + 9)
    laws = {
        "cpu_ms": stats.lognorm(math.sqrt(variance), scale=100 / math.exp(variance / 2)),
        "memory_mb": stats.pareto(1.5, scale=4 / 3), "io_per_ms": stats.uniform(0, 0.2),
    }  # fmt: skip
    for name, law in laws.items():
        assert stats.kstest(jobs[name], law.cdf).pvalue > RARE, name
    # One task: a tenth of the jobs, and a thousandth of the others.
    assert stats.binomtest(int((jobs["tasks"] == 1).sum()), JOBS, 0.1 + 0.9 / 1000).pvalue > RARE


def test_columns_that_no_pair_names_stay_as_they_are_to_the_byte():
    plain, dependent = jobs_of(), jobs_of(workload__dependence={"cpu_ms,tasks": 0.5})
    for name in ("arrival_ns", "home", "memory_mb", "io_per_ms", "request_kb"):
        assert plain[name].tobytes() == dependent[name].tobytes(), name
    assert plain["tasks"].tobytes() != dependent["tasks"].tobytes()
    # The first column of those named is drawn by itself: what the others are does not change it.
    other = jobs_of(workload__dependence={"cpu_ms,memory_mb": -0.7})
    assert other["cpu_ms"].tobytes() == dependent["cpu_ms"].tobytes()


def test_blocks_are_parts_of_what_is_drawn_at_once():
    def drawn(sizes):
        streams = {name: np.random.default_rng([SEED, len(name)]) for name in ("cpu_ms", "memory_mb", "io_per_ms")}
        source = Dependent({"cpu_ms,memory_mb": 0.4, "memory_mb,io_per_ms": 0.3}, streams)
        parts = [source.next(size) for size in sizes]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    whole, parts = drawn([1000]), drawn([1, 500, 0, 499])
    assert all(whole[name].tobytes() == parts[name].tobytes() for name in whole)


@pytest.mark.parametrize(("pairs", "said"), [
    ({"cpu_ms,memory_mb": 0.9, "memory_mb,tasks": 0.9, "cpu_ms,tasks": -0.9}, "not positive definite"),
    ({"cpu_ms,memory_mb": 0.1, "memory_mb,cpu_ms": 0.1}, "named twice"),
    ({"cpu_ms,home": 0.1}, "allowed are pairs of cpu_ms, memory_mb, io_per_ms, tasks"),
    ({"cpu_ms": 0.1}, "allowed are pairs"),
    ({"cpu_ms,tasks": 1.0}, "less than 1"),
])  # fmt: skip
def test_what_cannot_be_is_refused(pairs, said):
    with pytest.raises(InputError, match=said):
        scenario(workload__dependence=pairs)


@pytest.mark.parametrize("correlation", [-0.6, 0.0, 0.3, 0.8])
def test_mean_work_is_the_closed_form(correlation):
    """CPU time lognormal with sigma s: E[C; Z below b] = E[C] Phi(b - r s), for the width's normal number Z."""
    sigma = math.sqrt(math.log(1 + 4.0))
    cpu = Distribution(kind="lognormal", mean=50.0, sd=100.0)
    weights = {"1": 6.0, "4": 3.0, "64": 1.0}
    ends = stats.norm.ppf([0.6, 0.9, 1.0]) - correlation * sigma
    shares = np.diff(stats.norm.cdf(ends), prepend=0.0)
    wanted = (shares * [1, 4, 64]).sum() / (0.6 + 1.2 + 6.4)
    assert product_over_means(cpu, TaskCount(widths=weights), correlation) == pytest.approx(wanted, rel=0.01)


@pytest.mark.slow
def test_a_utilisation_is_that_of_dependent_work():
    keys = {
        **WORK, "workload__jobs": None, "workload__utilisation": 0.6, "workload__duration_s": 40_000.0,
        "workload__tasks": {"widths": {"1": 8.0, "16": 2.0}}, "workload__dependence": {"cpu_ms,tasks": 0.5},
        "workload__cpu_ms": {"kind": "gamma", "mean": 50.0, "sd": 50.0},
    }  # fmt: skip
    jobs = job_table(scenario(**keys), SEED)
    work_s = (jobs["cpu_ms"] * jobs["tasks"]).sum() / 1000.0
    # Four nodes of speed 1; the sum of some 1.2e5 jobs has a relative error of 0.7 %.
    assert work_s / (4 * 40_000.0) == pytest.approx(0.6, rel=0.035)


def test_widths_have_their_weights_and_their_mean():
    tasks = TaskCount(widths={"16": 1.0, "1": 5.0, "4": 2.0, "99": 0.0})
    assert tasks.mean == (5 + 8 + 16) / 8
    found = widths(tasks, (np.arange(8) + 0.5) / 8)
    assert found.tolist() == [1] * 5 + [4] * 2 + [16]
    assert widths(tasks, np.array([copula.MOST])).tolist() == [16.0]
    with pytest.raises(InputError, match="whole numbers of tasks"):
        scenario(workload__tasks={"widths": {"0": 1.0}})


def copies(repeats, sizes, seed=SEED):
    source = Copies(repeats, np.random.default_rng(seed), sum(sizes))
    rng = np.random.default_rng(seed + 1)
    return np.concatenate([source.next({"x": rng.random(size)})["x"] for size in sizes])


def test_a_share_of_the_jobs_is_as_the_one_before():
    found = copies(Repeats(share=0.4), [JOBS])
    same = int((found[1:] == found[:-1]).sum())
    assert stats.binomtest(same, JOBS - 1, 0.4).pvalue > RARE
    # Their law stays; of the numbers that are left, as many as were drawn.
    assert stats.kstest(np.unique(found), "uniform").pvalue > RARE
    # Two jobs k apart are the same if none of the k between is new: 0.4^k.
    for apart in (2, 3):
        same = (found[apart:] == found[:-apart]).mean()
        assert abs(same - 0.4**apart) < 5 * math.sqrt(2 * apart * 0.4**apart / JOBS)


def test_copies_do_not_depend_on_the_blocks():
    repeats = Repeats(share=0.7, back=50)
    whole = copies(repeats, [3000])
    assert copies(repeats, [1, 7, 20, 972, 0, 2000]).tobytes() == whole.tobytes()


def test_repeats_are_of_a_whole_job_and_leave_arrivals_alone():
    plain, repeated = jobs_of(), jobs_of(workload__repeats={"share": 0.5, "back": 3})
    assert plain["arrival_ns"].tobytes() == repeated["arrival_ns"].tobytes()
    same = repeated["cpu_ms"][1:] == repeated["cpu_ms"][:-1]
    assert same.mean() > 0.2
    for name in ("memory_mb", "io_per_ms", "tasks", "home"):
        assert (repeated[name][1:][same] == repeated[name][:-1][same]).all()
    # A value is first met at the job that it was drawn for.
    first = np.unique(repeated["cpu_ms"], return_index=True)[1]
    assert (repeated["cpu_ms"][first] == plain["cpu_ms"][first]).all()
    assert stats.binomtest(len(first), JOBS, 0.5).pvalue > RARE
