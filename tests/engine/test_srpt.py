"""Shortest remaining processing time first on one server: by hand, against exact fractions, against theory."""

from __future__ import annotations

import math
import os
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from cluster_abm.engine.pooled.srpt import fastest_disk, srpt_pool_mean_ns, srpt_responses_ns
from cluster_abm.engine.tables import DEMAND, JOB, empty_nodes

SEED = int(os.environ.get("CLUSTER_ABM_TEST_SEED", "20261125"))


def responses_ns(arrivals, works):
    arrival_ns = np.array(arrivals, np.int64)
    return srpt_responses_ns(arrival_ns, np.array(works, float), np.zeros(len(arrival_ns)))


def exact(arrivals, works):
    """Sum of responses, instant after instant, in fractions: at each arrival and end the job with the least left goes
    on."""
    left = {}
    now, total, coming = Fraction(0), Fraction(0), sorted(zip(arrivals, map(Fraction, works), strict=True))
    while coming or left:
        if not left:
            now = max(now, Fraction(coming[0][0]))
        while coming and coming[0][0] <= now:
            arrival, work = coming.pop(0)
            left[len(left), arrival, len(coming)] = work
        chosen = min(left, key=lambda job: left[job])
        until = now + left[chosen]
        if coming and coming[0][0] < until:
            until = Fraction(coming[0][0])
        left[chosen] -= until - now
        now = until
        if left[chosen] == 0:
            total += now - chosen[1]
            del left[chosen]
    return total


@pytest.mark.slow
def test_by_hand():
    """Work 10 at 0, work 2 at 3: the second ends at 5, the first at 12. Alone 10 and 2."""
    assert responses_ns([0, 3], [10, 2]) == 12 + 2
    # A longer one waits; of equal ones it does not matter which does.
    assert responses_ns([0, 3], [10, 8]) == 10 + 15
    assert responses_ns([0, 0, 0], [5, 5, 5]) == 5 + 10 + 15
    # Left 7 when work 7 comes: no better.
    assert responses_ns([0, 3], [10, 7]) == 10 + 14
    # An idle gap, and a job without work.
    assert responses_ns([0, 100, 100], [10, 0, 4]) == 10 + 0 + 4
    assert responses_ns([], []) == 0


def test_the_bound_of_a_job_whose_tasks_differ():
    """Two cores of speeds 2 and 1: tasks of 100 and 300 ms take 150 alone on the faster one, all work 400/3 of both.
    A second job of two times 200 ms at the same time: alone 100, and its work goes behind: 400/3 and 800/3."""
    nodes = empty_nodes(2)
    nodes["speed"] = [2.0, 1.0]
    table = np.zeros(2, JOB)
    table["tasks"], table["first_task"], table["cpu_ms"] = 2, [0, 2], 200.0
    demands = np.zeros(4, DEMAND)
    demands["cpu_ms"] = [100.0, 300.0, 200.0, 200.0]
    # Far from all that is announced.
    demands["announced_ms"] = 1e6
    assert srpt_pool_mean_ns(table[:1], nodes, 1, False, demands) / 1e6 == pytest.approx(150.0)
    assert srpt_pool_mean_ns(table[1:], nodes, 1, False, demands) / 1e6 == pytest.approx(400.0 / 3.0)
    both = srpt_pool_mean_ns(table, nodes, 1, False, demands) / 1e6
    assert both == pytest.approx((400.0 / 3.0 + 800.0 / 3.0) / 2.0) == srpt_pool_mean_ns(table, nodes, 1, False) / 1e6


jobs = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)), max_size=14)


@pytest.mark.slow
@given(jobs)
def test_as_in_exact_fractions(rows):
    rows = sorted(rows)
    arrivals, works = [row[0] for row in rows], [row[1] for row in rows]
    assert responses_ns(arrivals, works) == exact(arrivals, works)


@pytest.mark.slow
@given(jobs, st.randoms(use_true_random=False))
def test_no_order_of_service_is_better(rows, choice):
    """Whatever job is served in each unit of time, the sum of responses is no smaller."""
    rows = sorted((arrival, max(1, work)) for arrival, work in rows)
    left, now, total = [work for _, work in rows], 0, 0
    while any(left):
        there = [job for job, (arrival, _) in enumerate(rows) if arrival <= now and left[job]]
        now += 1
        if there:
            job = choice.choice(there)
            left[job] -= 1
            total += (now - rows[job][0]) * (left[job] == 0)
    assert responses_ns([row[0] for row in rows], [row[1] for row in rows]) <= total


def test_many_jobs_that_all_wait_take_no_time_to_speak_of():
    """50,000 jobs at once, works 1 to n: the k-th ends after k (k + 1) / 2."""
    count = 50_000
    works = np.random.default_rng(1).permutation(np.arange(1, count + 1))
    assert responses_ns(np.zeros(count), works) == pytest.approx(sum(k * (k + 1) / 2 for k in range(1, count + 1)))


def schrage_miller(rho, density, tail):
    """Mean response of M/G/1 under SRPT at arrival rate rho, mean demand 1 (Schrage and Miller 1966, Operations
    Research 14:670-684)."""

    def work_below(x):
        return rho * integrate.quad(lambda t: t * density(t), 0, x)[0]

    def of_size(x):
        square = rho * integrate.quad(lambda t: t * t * density(t), 0, x)[0] + rho * x * x * tail(x)
        residence = integrate.quad(lambda t: 1 / (1 - work_below(t)), 0, x)[0]
        return square / (2 * (1 - work_below(x)) ** 2) + residence

    return integrate.quad(lambda x: of_size(x) * density(x), 0, 40, limit=200)[0]


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.5, 0.8])
def test_theory_of_the_m_g_1_queue(rho):
    """Exponential demands of mean 1: thirty independent runs, the theory within their 99.9 % interval."""
    means = []
    for replication in range(30):
        rng = np.random.default_rng([SEED, replication])
        gaps, works = rng.exponential(1 / rho, 60_000), rng.exponential(1.0, 60_000)
        unit = 1e6
        arrivals = np.round(np.cumsum(gaps) * unit).astype(np.int64)
        means.append(responses_ns(arrivals, works * unit) / unit / len(works))
    theory = schrage_miller(rho, lambda t: math.exp(-t), lambda x: math.exp(-x))
    arm = stats.t.ppf(0.9995, 29) * np.std(means, ddof=1) / math.sqrt(30)
    assert abs(np.mean(means) - theory) < arm


def test_the_fastest_disk_has_the_best_of_each():
    nodes = empty_nodes(3)
    nodes["seek_ns"], nodes["ns_per_kb"], nodes["draws_seeks"] = [5, 3, 9], [2.0, 4.0, 1.0], [1, 0, 1]
    disk = fastest_disk(nodes, False)
    assert (disk["seek_ns"][0], disk["ns_per_kb"][0], disk["draws_seeks"][0]) == (3, 1.0, 1)
    nodes["draws_seeks"] = 1
    assert fastest_disk(nodes, True)["draws_seeks"][0] == 2
