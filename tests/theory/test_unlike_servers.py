"""Two servers of speeds 1 and 3 under join-the-shortest-queue and its heterogeneous form, against their Markov chains.

With Poisson arrivals and exponential demands the numbers of tasks at two processor-sharing servers are a Markov chain
under any rule that looks at these numbers alone; solved here for as many tasks as matter.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy import sparse, stats
from scipy.sparse.linalg import spsolve
from support import finished

SEED = int(os.environ.get("CLUSTER_ABM_TEST_SEED", "20261121"))
SPEEDS = (1.0, 3.0)
# Demand of a second at speed 1; at so many tasks on one server the chain is cut: it is there less than once in 10^7.
MOST = 40


def mean_response_s(arrivals_per_s, expected_delay):
    """Mean number of tasks by the chain's stationary distribution, over the arrival rate (Little) [s].

    Args:
        arrivals_per_s: of both homes together, half of them each.
        expected_delay: (tasks on a server, its speed) -> what is compared; home on a tie.
    """
    sizes = MOST + 1
    rows, columns, rates = [], [], []
    for slow in range(sizes):
        for fast in range(sizes):
            delays = expected_delay(slow, SPEEDS[0]), expected_delay(fast, SPEEDS[1])
            to_slow = 0.5 if delays[0] == delays[1] else float(delays[0] < delays[1])
            for (other_slow, other_fast), rate in {
                (slow + 1, fast): arrivals_per_s * to_slow,
                (slow, fast + 1): arrivals_per_s * (1.0 - to_slow),
                (slow - 1, fast): SPEEDS[0],
                (slow, fast - 1): SPEEDS[1],
            }.items():
                if 0 <= other_slow < sizes and 0 <= other_fast < sizes:
                    here = slow * sizes + fast
                    rows += [other_slow * sizes + other_fast, here]
                    columns += [here, here]
                    rates += [rate, -rate]
    balance = sparse.csc_matrix((rates, (rows, columns)), shape=(sizes**2, sizes**2)).tolil()
    balance[0, :] = 1.0  # one equation is redundant: in its place, all add up to 1
    chances = spsolve(balance.tocsc(), np.eye(sizes**2, 1).ravel()).reshape(sizes, sizes)
    tasks = np.add.outer(np.arange(sizes), np.arange(sizes))
    return float((chances * tasks).sum() / arrivals_per_s)


def shortest_queue(tasks, speed):
    return tasks


def shortest_expected_delay(tasks, speed):
    return (tasks + 1) / speed


def responses_s(heterogeneous, rho, runs, window_s):
    """Mean response of each of several runs, without the empty start and the drained end [s]."""
    found = []
    for run in range(runs):
        model = finished(
            SEED + run, policy__name="jsq", policy__heterogeneous=heterogeneous, negotiation__mode="papers",
            cluster__nodes=2, cluster__group=[{"count": 1, "cpu_speed": SPEEDS[1]}], cluster__context_switch_ms=0.0,
            cluster__quantum_ms=1.0, cluster__slice_ms=1.0, workload__cpu_ms__mean=1000.0,
            workload__duration_s=window_s, workload__utilisation=None, workload__jobs_per_s=rho * sum(SPEEDS),
            workload__memory_mb__mean=0.001,
            negotiation__remote_execution_ms=0.0, interconnect__bandwidth_mbps=1e9,
        )  # fmt: skip
        frame = model.jobs_frame()
        steady = frame[frame.arrival_ms.between(50e3, (window_s - 50) * 1e3)]
        found.append(steady.response_ms.mean() / 1000)
    return np.asarray(found)


def test_the_chain_of_equal_rates_is_that_of_one_queue_where_it_must_be():
    """Tasks that all go to the fast server are M/M/1 of rate 3: E[T] = 1/(3 - 1.5)."""
    assert mean_response_s(1.5, lambda tasks, speed: -speed) == pytest.approx(1 / 1.5, rel=1e-6)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(("rho", "runs", "window_s"), [(0.5, 8, 2500.0), (0.8, 24, 10_000.0)])
def test_both_forms_of_jsq_respond_as_their_chains_and_the_heterogeneous_one_is_faster(rho, runs, window_s):
    measured = {}
    for heterogeneous, rule in ((False, shortest_queue), (True, shortest_expected_delay)):
        truth = mean_response_s(rho * sum(SPEEDS), rule)
        measured[heterogeneous] = responses_s(heterogeneous, rho, runs, window_s)
        values = measured[heterogeneous]
        low, high = stats.t.interval(0.999, runs - 1, values.mean(), stats.sem(values))
        # A quantum and a slice of 1 ms are not quite 0.
        assert low - 0.004 * truth <= truth <= high + 0.004 * truth
        assert (high - low) / 2 < 0.12 * truth
    gains = measured[False] - measured[True]
    assert stats.t.interval(0.999, runs - 1, gains.mean(), stats.sem(gains))[0] > 0
