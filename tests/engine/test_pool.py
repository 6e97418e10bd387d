"""The pooled cluster, the reference `pooled`: schedules worked by hand, and a second, exact implementation."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import accesses_of
from support import busy, finished, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.engine.pooled.state import PooledState
from cluster_abm.engine.tables import BREAKDOWN, JOB, empty_nodes
from cluster_abm.policies import available

# What they compile takes ten seconds.
pytestmark = pytest.mark.slow
RUN_KEY, SEEK = 0xFEED, 1000


def pooled(jobs, count, speeds=1.0):
    """`count` nodes in one; jobs as (arrival ns, CPU ns, accesses per ms)."""
    nodes = empty_nodes(count)
    nodes["speed"], nodes["user_memory_kb"], nodes["seek_ns"] = speeds, 10_000, SEEK
    nodes["quantum_ns"], nodes["switch_ns"] = 100, 10
    table = np.zeros(len(jobs), JOB)
    for number, (arrival_ns, cpu_ns, io_per_ms) in enumerate(jobs):
        row = table[number]
        row["first_task"], row["tasks"], row["arrival_ns"] = number, 1, arrival_ns
        row["cpu_ms"], row["io_per_ms"], row["request_kb"] = cpu_ns / 1e6, io_per_ms, 1.0
    engine = PooledState(nodes, table, RUN_KEY)
    everyone = np.arange(len(jobs))
    engine.admit(everyone, *[0 * everyone] * 4)
    return engine


def ends(engine):
    engine.serve(2**60)
    assert engine.live == 0
    records = np.sort(engine.records, order="task")
    return records["finish_ns"].tolist(), records


def test_three_tasks_on_two_cpus_get_two_thirds_each():
    finish, records = ends(pooled([(0, 100, 0)] * 3, 2))
    assert finish == [150, 150, 150]
    assert records["cpu_ns"].tolist() == [100] * 3
    assert records["cpu_queue_ns"].tolist() == [50] * 3


def test_who_comes_later_shares_from_then_on():
    # 0-100 alone; 100-300 half each, when the first is done; the second has 100 left of its 200.
    finish, _ = ends(pooled([(0, 200, 0), (100, 200, 0)], 1))
    assert finish == [300, 400]


def test_fewer_tasks_than_cpus_run_as_if_alone():
    finish, records = ends(pooled([(0, 500, 0), (7, 300, 0)], 2))
    assert finish == [500, 307]
    assert not records["cpu_queue_ns"].any()


def test_unlike_cpus_count_in_units_of_the_fastest():
    # Speeds 1 and 2: capacity 1.5 of the fastest, on which 300 ns of demand take 150.
    finish, _ = ends(pooled([(0, 300, 0)] * 3, 2, speeds=[1.0, 2.0]))
    assert finish == [300, 300, 300]


def exact(jobs, count):
    """Finish times by a second implementation: fractions, remaining work instead of a clock."""
    now, done = Fraction(0), {}
    waiting = sorted(range(len(jobs)), key=lambda job: (jobs[job][0], job))
    gaps = {
        job: [access.gap_ns for access in accesses_of(RUN_KEY, job, cpu_ns, rate, 1.0, 1.0, 0, SEEK, 0.0)]
        for job, (_, cpu_ns, rate) in enumerate(jobs)
    }  # fmt: skip
    left = {job: Fraction(jobs[job][1]) for job in gaps}
    burst, disk_until, queue = {}, {}, []

    def compute(job):
        burst[job] = Fraction(gaps[job][0]) if gaps[job] else left[job]

    while waiting or burst or disk_until:
        rate = min(Fraction(1), Fraction(count, max(1, len(burst))))
        events = [(now + min(burst.values()) / rate, 0)] if burst else []
        events += [(min(disk_until.values()), 1)] if disk_until else []
        events += [(Fraction(jobs[waiting[0]][0]), 2)] if waiting else []
        at, kind = min(events)
        for job in burst:
            burst[job] -= (at - now) * rate
            left[job] -= (at - now) * rate
        now = at
        if kind == 0:
            job = min(job for job in burst if burst[job] == min(burst.values()))
            del burst[job]
            if gaps[job]:
                gaps[job].pop(0)
                if len(disk_until) < count:
                    disk_until[job] = now + SEEK
                else:
                    queue.append(job)
            else:
                done[job] = now
        elif kind == 1:
            job = min(disk_until, key=lambda job: disk_until[job])
            del disk_until[job]
            compute(job)
            if queue:
                disk_until[queue.pop(0)] = now + SEEK
        else:
            compute(waiting.pop(0))
    return [float(done[job]) for job in range(len(jobs))]


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(0, 20_000), st.integers(1, 9000), st.sampled_from([0, 200, 1500])),
        min_size=1, max_size=9,
    ),
    st.integers(1, 4),
)  # fmt: skip
def test_it_agrees_with_exact_fractions(jobs, count):
    finish, records = ends(pooled(jobs, count))
    # Less than a nanosecond an event. Where that puts two requests in another order, their tasks swap a service.
    events = 2 * len(jobs) + records["requests"].sum() * 2
    differences = np.abs(np.array(finish) - exact(jobs, count))
    if (differences > events).any():
        assert sum(finish) == pytest.approx(sum(exact(jobs, count)), abs=int(events) * len(jobs) + 2 * SEEK)
    else:
        assert (differences <= events).all()
    assert [int(sum(record[f"{part}_ns"] for part in BREAKDOWN)) for record in records] == [
        end - job[0] for end, job in zip(finish, jobs, strict=True)
    ]


def test_windows_do_not_matter():
    settings = busy(policy__name="pooled", workload__tasks__barrier_ms=30.0, cluster__memory_mb=15.0)
    ran, stepped = finished(2, **settings), ClusterModel(scenario(**settings), seed=2)
    while stepped.running:
        stepped.step()
    assert same_records(ran, stepped)
    assert ran.summary() == stepped.summary()
    assert ran.summary()["metrics"]["page_faults"] > 0


def test_parts_of_a_tasks_life_add_up_with_barriers_too():
    frame = finished(3, **busy(policy__name="pooled", workload__tasks__barrier_ms=30.0)).jobs_frame()
    parts = frame[[f"{part}_ms" for part in BREAKDOWN]]
    assert (parts["barrier_ms"] > 0).any()
    np.testing.assert_allclose(parts.sum(axis=1), frame["finish_ms"] - frame["arrival_ms"], rtol=1e-12, atol=1e-6)


def test_busy_times_in_mid_run_are_those_that_records_will_show():
    model = ClusterModel(scenario(**busy(policy__name="pooled")), seed=2)
    last = [0, 0]
    for _ in range(400):
        model.step()
        busy_ns = [int(part.sum()) for part in model.busy_ns()]
        for resource in (0, 1):
            assert 0 <= busy_ns[resource] - last[resource] <= 4 * model.slice_ns + 10
        last = busy_ns
    model.run()
    cpu_ns, disk_ns = (int(part.sum()) for part in model.busy_ns())
    records = model.engine.records
    assert cpu_ns == records["cpu_ns"].sum()
    assert disk_ns == records["io_ns"].sum() + records["faults"].sum() * model.engine.pool["fault_ns"][0]
    assert last[0] < cpu_ns


@cache
def metrics_of_two(name):
    """Sums over two seeds."""
    runs = [finished(seed, **busy(policy__name=name)).summary()["metrics"] for seed in (1, 2)]
    return {metric: math.fsum(run[metric] for run in runs) for metric in ("mean_response_ms", "mean_slowdown")}


@pytest.mark.parametrize("name", sorted(set(available()) - {"pooled"}))
def test_no_policy_is_faster_than_the_bound(name):
    """Means of two seeds: response and slowdown of every policy against the pooled cluster."""
    policy, bound = metrics_of_two(name), metrics_of_two("pooled")
    assert all(policy[metric] > bound[metric] for metric in bound)


def test_memory_and_the_buffer_in_it_are_dealt_out_among_the_nodes():
    # Four nodes of 128 MB: 520 MB ask for 8 more than there are, 3 times 40 leave 98 each; alone none is short of it.
    def loads(jobs, **given):
        model = ClusterModel(
            scenario(
                cluster__paging="oversize", cluster__memory_mb=128.0, workload__cpu_ms={"kind": "fixed", "mean": 2e3},
                cluster__buffer_mb=100.0, policy__name="pooled", workload__utilisation=None, workload__jobs=jobs,
                workload__duration_s=0.01, workload__memory_mb={"kind": "fixed", "mean": 40.0}, **given,
            ),
            seed=1,
        )  # fmt: skip
        empty = model.node_agents[3].loads
        while model.now_ms < 1500:
            model.step()
        return empty, model.node_agents[3].loads

    empty, full = loads(13)
    assert (empty["oversize"], empty["free_mb"], empty["memory_mb"]) == (-1.0, 128.0, 0.0)
    assert (full["oversize_here"], empty["oversize_here"]) == (8 / 512, -1.0)
    assert (full["oversize"], full["free_mb"], full["memory_mb"]) == (8 / 512, 0.0, 130.0)
    assert (full["faults_per_ms"], full["page_ms"], full["tasks"]) == (0.0, 0.0, 13 / 4)
    _, some = loads(3, workload__io_per_ms={"kind": "fixed", "mean": 0.1}, workload__reaccess_rate=1.0)
    assert some["oversize"] == pytest.approx(-392 / 512)
    # Three times 40 MB are nearly one node's memory: the buffer lives in that of all.
    assert some["cache_mb"] > 8 / 4
    assert some["free_mb"] + some["cache_mb"] == pytest.approx(98.0)
    # The buffer serves some accesses: less reaches the disks than is asked for.
    assert some["io_load"] < 3 * 0.1 / 4
