"""Nodes of many cores against queueing theory: M/G/c processor sharing, M/G/c first-come first-served, and the bound.

Each node is a replication; intervals are at 99.9 % (replications.py), so that all of this module's some fifty together
raise a false alarm once in twenty choices of the seed. The formulas are in known_queues.py.
"""

from __future__ import annotations

import heapq
import math

import numpy as np
import pytest
from known_queues import sharing_factor, wait_of_equal_services, wait_of_exponential_services
from replications import DEMANDS, EXPONENTIAL, FIXED, LIFETIME, RESIDUAL_S, Steady, inside, run, settling_s, slow

# A round of quanta delays a task by a quantum or a few: slowdowns are of demands that this is little of.
QUANTUM_MS = 0.1
LEAST_MS = 100 * QUANTUM_MS


def margin_s(law, cores, rho):
    """Time to settle; at least long enough for the longest demands, of 20 s."""
    return max(50.0, settling_s(cores, rho, RESIDUAL_S[law]))


def queues(law, cores, rho, window_s, **overrides):
    """Sequential jobs without I/O on nodes that do nothing for each other; and the load that each node was given."""
    model = run(
        cluster__cores=cores, workload__utilisation=rho, workload__duration_s=window_s, **DEMANDS[law], **overrides
    )
    done = Steady(model, window_s, margin_s(law, cores, rho))
    return done, done.by_home(done.ms("cpu")) / (cores * done.span_ms)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "cores", "rho", "nodes", "window_s"),
    [
        (FIXED, 1, 0.7, 48, 4000),
        (EXPONENTIAL, 1, 0.7, 48, 4000),
        slow(LIFETIME, 1, 0.7, 48, 4000),
        (FIXED, 2, 0.7, 48, 1000),
        slow(EXPONENTIAL, 2, 0.7, 48, 2000),
        slow(LIFETIME, 2, 0.7, 48, 1500),
        (FIXED, 4, 0.8, 48, 800),
        (EXPONENTIAL, 4, 0.8, 48, 1500),
        slow(FIXED, 8, 0.9, 24, 1300),
        slow(LIFETIME, 4, 0.8, 48, 1500),
        slow(EXPONENTIAL, 8, 0.9, 24, 2000),
        slow(LIFETIME, 8, 0.9, 32, 1800),
        slow(EXPONENTIAL, 3, 0.9, 48, 6000),
        slow(EXPONENTIAL, 16, 0.9, 24, 800),
    ],
)
def test_sharing_slows_all_demands_down_alike_whatever_their_law(law, cores, rho, nodes, window_s):
    """M/G/c processor sharing: E[T | x] = x (1 + C/(c (1 - rho))) for each demand x, as the quantum goes to 0."""
    done, load = queues(law, cores, rho, window_s, cluster__nodes=nodes, cluster__quantum_ms=QUANTUM_MS)
    truth = sharing_factor(cores, rho)
    controls = [(load, rho)]
    # Of demands of a second a few quanta are 0.05 %; averaged over 1/x of the shorter ones, from 100 quanta on, 0.2 %.
    tolerance = 0.002 * truth
    demand_ms, response_ms = done.ms("cpu"), done.response_ms()
    counted = demand_ms >= LEAST_MS
    slowdowns = done.by_home(response_ms / demand_ms, counted) / done.count(counted)
    inside(slowdowns, truth, tolerance, controls=controls)
    if law != FIXED:
        is_long = demand_ms > np.median(demand_ms)
        for half in (is_long, ~is_long):
            ratio = done.by_home(response_ms, half) / done.by_home(demand_ms, half)
            inside(ratio, truth, tolerance, controls=controls)


WAITS = {FIXED: wait_of_equal_services, EXPONENTIAL: wait_of_exponential_services}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "cores", "rho", "nodes", "window_s"),
    [
        (FIXED, 2, 0.7, 48, 2000),
        (FIXED, 4, 0.8, 48, 1500),
        (FIXED, 8, 0.8, 48, 800),
        slow(EXPONENTIAL, 2, 0.7, 48, 2500),
        (EXPONENTIAL, 4, 0.8, 48, 2500),
        slow(EXPONENTIAL, 8, 0.8, 48, 1800),
        slow(FIXED, 2, 0.9, 48, 8000),
        slow(FIXED, 8, 0.9, 48, 3000),
        slow(FIXED, 16, 0.9, 48, 2000),
        slow(EXPONENTIAL, 2, 0.9, 48, 12_000),
        slow(EXPONENTIAL, 8, 0.9, 48, 4000),
        slow(EXPONENTIAL, 32, 0.95, 48, 2500),
    ],
)
def test_with_an_endless_quantum_a_task_waits_as_in_a_queue_of_many_servers(law, cores, rho, nodes, window_s):
    """First-come first-served: M/D/c by Crommelin, M/M/c by Erlang's C; demands are of a second."""
    done, load = queues(law, cores, rho, window_s, cluster__nodes=nodes, cluster__quantum_ms=math.inf)
    waits_s = done.by_home(done.ms("cpu_queue")) / done.count() / 1000
    inside(waits_s, WAITS[law](cores, rho), controls=[(load, rho)])


def starts_ns(arrival_ns, demand_ns, cores, switch_ns):
    """When each of the tasks, in order of arrival, starts on one queue before many cores (Kiefer and Wolfowitz).

    It takes the core that is free first; of several that are free when it comes, that of lowest number. A core pays the
    switch before each task but its first.
    """
    free, busy, used, found = list(range(cores)), [], set(), []
    for arrives_ns, needs_ns in zip(arrival_ns.tolist(), demand_ns.tolist(), strict=True):
        while busy and busy[0][0] <= arrives_ns:
            heapq.heappush(free, heapq.heappop(busy)[1])
        start_ns, core = (arrives_ns, heapq.heappop(free)) if free else heapq.heappop(busy)
        start_ns += switch_ns if core in used else 0
        used.add(core)
        found.append(start_ns)
        heapq.heappush(busy, (start_ns + needs_ns, core))
    return np.array(found)


@pytest.mark.parametrize("switch_ms", [0.0, 7.0])
@pytest.mark.parametrize("cores", [1, 3, 8])
@pytest.mark.parametrize("law", [EXPONENTIAL, LIFETIME])
def test_with_an_endless_quantum_each_task_starts_when_its_turn_comes(law, cores, switch_ms):
    """To the nanosecond: no core is idle while a task waits, and none overtakes another."""
    model = run(
        cluster__nodes=4, cluster__cores=cores, cluster__quantum_ms=math.inf, cluster__context_switch_ms=switch_ms,
        workload__utilisation=0.9, workload__duration_s=400 / cores, **DEMANDS[law],
    )  # fmt: skip
    records = np.sort(model.engine.records[: model.engine.finished], order="task")
    waited = 0
    for home in range(4):
        tasks = records[records["home"] == home]
        begins_ns = tasks["arrival_ns"] + tasks["cpu_queue_ns"]
        switch_ns = round(switch_ms * 1e6)
        assert begins_ns.tolist() == starts_ns(tasks["arrival_ns"], tasks["cpu_ns"], cores, switch_ns).tolist()
        assert (tasks["finish_ns"] == begins_ns + tasks["cpu_ns"]).all()
        waited += (tasks["cpu_queue_ns"] > switch_ns).sum()
    assert waited > 0.2 * len(records)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "nodes", "cores", "rho", "window_s"),
    [
        (FIXED, 2, 2, 0.7, 3000),
        (EXPONENTIAL, 4, 2, 0.8, 2000),
        slow(EXPONENTIAL, 2, 2, 0.8, 8000),
        slow(LIFETIME, 2, 4, 0.9, 6000),
        slow(FIXED, 1, 8, 0.9, 6000),
        slow(EXPONENTIAL, 4, 8, 0.9, 2500),
    ],
)
def test_the_bound_shares_the_cores_of_all_nodes(law, nodes, cores, rho, window_s):
    """Policy `pooled`: n nodes of c cores are M/G/(n c) processor sharing."""
    pooled, means, loads = nodes * cores, [], []
    for replication in range(12):
        model = run(
            replication, policy__name="pooled", cluster__nodes=nodes, cluster__cores=cores,
            workload__utilisation=rho, workload__duration_s=window_s, **DEMANDS[law],
        )  # fmt: skip
        done = Steady(model, window_s, margin_s(law, pooled, rho))
        demand_ms = done.ms("cpu")
        means.append(done.response_ms().sum() / demand_ms.sum())
        loads.append(demand_ms.sum() / (pooled * done.span_ms))
    inside(means, sharing_factor(pooled, rho), controls=[(loads, rho)])


@pytest.mark.parametrize("cores", [2, 3, 8])
def test_windows_of_many_cores_leave_no_trace(cores):
    """Whole rounds of quanta are leaped over; windows shorter than a round allow none, and change nothing."""
    frames = [
        run(
            cluster__nodes=4, cluster__cores=cores, cluster__slice_ms=slice_ms, cluster__context_switch_ms=0.05,
            cluster__quantum_ms=1.0, workload__utilisation=0.8, workload__duration_s=150.0,
        ).jobs_frame()
        for slice_ms in (0.5, 250.0)
    ]  # fmt: skip
    assert frames[0].equals(frames[1])
