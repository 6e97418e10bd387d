"""CPU demands that tasks draw themselves, and demands that are announced wrongly: laws and streams."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from support import scenario

from cluster_abm.model.managed_policies import policies_of, prepare
from cluster_abm.workload import work_of

PAIRS = {"workload__tasks__widths": {"1": 1.0, "3": 1.0}}
EACH = PAIRS | {"workload__task_cpu": "each"}
MANY = {"workload__jobs": 4000, "workload__duration_s": 1000.0}


def demands_of(seed: int = 1, **overrides) -> np.ndarray:
    found = work_of(scenario(**MANY | overrides), seed).demands
    assert found is not None
    return found


@pytest.mark.parametrize("more", [PAIRS, {"workload__task_cpu": "each"}])
def test_by_default_and_with_jobs_of_one_task_the_job_table_says_it(more):
    work = work_of(scenario(**MANY | more), 1)
    assert work.demands is None
    assert work.announced_ms is None


def test_the_first_task_keeps_the_draw_of_the_job_and_the_job_has_the_mean_of_its_tasks():
    plain, own = (work_of(scenario(**MANY | more), 3) for more in (PAIRS, EACH))
    assert own.demands is not None
    first = own.jobs["first_task"]
    assert own.demands["cpu_ms"][first].tolist() == plain.jobs["cpu_ms"].tolist()
    means = [part.mean() for part in np.split(own.demands["cpu_ms"], first[1:])]
    assert own.jobs["cpu_ms"] == pytest.approx(means)
    # Nothing else has changed, and a job of one task not at all.
    alike = own.jobs.copy()
    alike["cpu_ms"] = plain.jobs["cpu_ms"]
    assert (alike == plain.jobs).all()
    single = plain.jobs["tasks"] == 1
    assert own.jobs["cpu_ms"][single].tolist() == plain.jobs["cpu_ms"][single].tolist()


@pytest.mark.parametrize("law", [
    {"kind": "exponential", "mean": 1000.0}, {"kind": "gamma", "mean": 300.0, "sd": 200.0},
    {"kind": "lifetime", "minimum": 10.0, "maximum": 1000.0, "shape": 1.1}, {"kind": "hbd97", "mean": 50.0},
])  # fmt: skip
def test_tasks_of_a_job_are_independent_and_of_one_law(law):
    """The first task's law is the job's: a test of Kolmogorov and Smirnov does not tell the others' from it."""
    cpu_ms = demands_of(workload__tasks__widths={"2": 1.0}, workload__task_cpu="each", workload__cpu_ms=law)["cpu_ms"]
    first, second = cpu_ms[::2], cpu_ms[1::2]
    assert stats.ks_2samp(first, second).pvalue > 1e-4
    assert stats.spearmanr(first, second).pvalue > 1e-4
    assert len(set(second.tolist())) == len(second)


def test_a_demand_belongs_to_a_task_of_a_job_whatever_others_there_are():
    """The second task of each job is the same in jobs of two and of five tasks, and beside a job that is there at 0."""
    two, five = (work_of(scenario(**MANY | EACH | {"workload__tasks__widths": {tasks: 1.0}}), 1) for tasks in "25")
    assert two.demands["cpu_ms"][1::2].tolist() == five.demands["cpu_ms"][1::5].tolist()
    initial = {"workload__initial": [{"node": 0, "cpu_ms": 70.0, "tasks": 3}], "workload__tasks__widths": {"2": 1.0}}
    beside = work_of(scenario(**MANY | EACH | initial), 1)
    assert beside.demands["cpu_ms"].tolist() == [*two.demands["cpu_ms"].tolist(), 70.0, 70.0, 70.0]
    assert beside.jobs["first_task"][0] == 8000
    assert demands_of(2, **EACH)["cpu_ms"].tolist() != demands_of(1, **EACH)["cpu_ms"].tolist()


def test_the_offered_work_keeps_its_mean():
    """8,000 exponential demands of 1,000 ms: their mean has a deviation of 1 %."""
    work = work_of(scenario(**MANY | EACH), 5)
    assert work.demands["cpu_ms"].mean() == pytest.approx(1000.0, rel=0.05)
    assert (work.jobs["cpu_ms"] * work.jobs["tasks"]).sum() == pytest.approx(work.demands["cpu_ms"].sum())


@pytest.mark.parametrize("more", [PAIRS, EACH])
def test_announced_over_true_is_lognormal_and_the_truth_as_it_was(more):
    """ln(announced/true) over ln f is standard normal, by Kolmogorov and Smirnov; of tasks of one job independent."""
    demands, exact = demands_of(workload__announced_error=2.5, **more), work_of(scenario(**MANY | more), 1)
    truth = exact.jobs["cpu_ms"].repeat(exact.jobs["tasks"]) if exact.demands is None else exact.demands["cpu_ms"]
    assert demands["cpu_ms"].tolist() == truth.tolist()
    z = np.log(demands["announced_ms"] / demands["cpu_ms"]) / math.log(2.5)
    assert stats.kstest(z, "norm").pvalue > 1e-4
    # The same numbers for another factor: policies are compared on the same mistakes.
    other = demands_of(workload__announced_error=1.1, **more)
    assert np.log(other["announced_ms"] / other["cpu_ms"]) / math.log(1.1) == pytest.approx(z, abs=1e-9)


def test_requested_times_cover_the_longest_task_and_do_not_err():
    ratio = {"workload__requested_over_actual__mean": 2.0, "cluster__context_switch_ms": 0.0}
    work = work_of(scenario(**MANY | EACH | ratio), 1)
    longest = [part.max() for part in np.split(work.demands["cpu_ms"], work.jobs["first_task"][1:])]
    assert work.requested_ms == pytest.approx(2.0 * np.array(longest))
    wrong = work_of(scenario(**MANY | EACH | ratio | {"workload__announced_error": 3.0}), 1)
    assert wrong.requested_ms.tolist() == work.requested_ms.tolist()


def test_policies_are_told_before_the_run_what_is_announced():
    """SITA-E by tasks, whose work is their sum; Hawk by jobs, by the mean of their tasks."""
    for policy in "sita-e", "hawk":
        setup = scenario(policy__name=policy, workload__announced_error=2.0, **MANY | EACH)
        work, policies = work_of(setup, 1), policies_of(setup)
        prepare(policies, work.jobs, work.announced_ms)
        announced = work.announced_ms
        if policy == "sita-e":
            assert policies.main.sizes_ms.tolist() == sorted(announced.tolist())
            assert policies.main.work_ms[-1] == pytest.approx(announced.sum())
            continue
        means = np.array([part.mean() for part in np.split(announced, work.jobs["first_task"][1:])])
        assert (means <= policies.main.long_ms * (1.0 + 1e-12)).mean() == 0.9
