"""Overflowing pages in the memory of other nodes: where they lie, and what a fault then costs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from support import finished, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.engine.disk import service_of_fault_ns
from cluster_abm.engine.rows import row_at
from cluster_abm.model.moving.remote_memory import allocate


def placed(overflow_kb, free_kb, forbidden=()):
    def can_hold(node):
        return np.array([holder != node and holder not in forbidden for holder in range(len(free_kb))])

    return allocate(np.array(overflow_kb), np.array(free_kb), can_hold)


def test_the_freest_node_takes_first():
    assert placed([200, 0, 0], [0, 100, 150]) == {0: [(2, 150), (1, 50)]}
    assert placed([200, 0, 0], [0, 10, 20]) == {0: [(2, 20), (1, 10)]}
    assert placed([0, 0, 0], [30, 10, 20]) == {}
    assert placed([200, 0, 0], [0, 100, 150], forbidden=[2]) == {0: [(1, 100)]}


def test_the_largest_overflow_is_placed_first_and_lower_numbers_among_equals():
    assert placed([50, 120, 0, 0], [0, 0, 100, 90]) == {1: [(2, 100), (3, 20)], 0: [(3, 50)]}
    assert placed([60, 60, 0, 0], [0, 0, 80, 80]) == {0: [(2, 60)], 1: [(3, 60)]}


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 1000)), min_size=1, max_size=8))
def test_nothing_is_kept_twice_or_where_there_is_no_room(nodes):
    overflow_kb = [kb if overflows else 0 for overflows, kb in nodes]
    free_kb = [0 if overflows else kb for overflows, kb in nodes]
    held = placed(overflow_kb, free_kb)
    given_kb = np.zeros(len(nodes), int)
    for node, parts in held.items():
        assert 0 < sum(kb for _, kb in parts) <= overflow_kb[node]
        for holder, kb in parts:
            given_kb[holder] += kb
    assert (given_kb <= free_kb).all()
    # Pages are on a disk only if all memory is taken.
    assert given_kb.sum() == min(sum(overflow_kb), sum(free_kb))


def three_nodes(**overrides):
    """Node 0 is asked for 400 of its 100 MB; 150 are free on node 1, 100 on node 2."""
    return {
        "cluster__nodes": 3, "cluster__memory_mb": 100.0, "cluster__buffer_in_memory": False,
        "cluster__page_fault_ratio_cap": 1.5, "cluster__page_fault_rate_per_ms": 0.01,
        "cluster__group": [{"count": 1}, {"count": 1, "memory_mb": 200.0}],
        "cluster__remote_memory": True, "interconnect__bandwidth_mbps": 100.0, "interconnect__latency_ms": 0.1,
        "workload__arrivals__kind": "closed", "workload__arrivals__jobs_per_user": 1, "run__until": 5000.0,
        "policy__name": "load-class",
        "workload__memory_mb__mean": 0.0, "workload__memory_mb__kind": "fixed", "workload__cpu_ms__kind": "fixed",
        "workload__cpu_ms__mean": 1.0,
        "workload__background": [
            {"node": 0, "cpu_share": 0.5, "memory_mb": 250.0}, {"node": 0, "cpu_share": 0.1, "memory_mb": 150.0},
            {"node": 1, "cpu_share": 0.01, "memory_mb": 50.0},
        ],
    } | overrides  # fmt: skip


@pytest.fixture
def model():
    return finished(1, **three_nodes())


@pytest.mark.slow
def test_a_fault_costs_the_mean_over_where_the_pages_are(model):
    """A page takes 4 KB / 12.5 MB/s + 0.2 ms = 0.52 ms from another node, 8.1 ms from the disk, where 50 of the
    300 MB that overflow have stayed: (250 x 0.52 + 50 x 8.1) / 300 = 1.7833 ms."""
    nodes = model.engine.nodes
    service_ms = (nodes["fault_ns"] - nodes["fault_saved_ns"]) / 1e6
    assert np.allclose(service_ms, [(250 * 0.52 + 50 * 8.1) / 300, 8.1, 8.1], atol=1e-6)
    # Its load table says so too: processing of a fault ahead.
    assert model.true_loads(0)["faults_per_ms"] == 0.015


def test_the_view_tells_who_keeps_how_much(model):
    assert model.view_of(model.load_managers[0]).overflow_held_mb.tolist() == [0, 150, 100]
    assert model.view_of(model.load_managers[1]).overflow_held_mb.tolist() == [0, 0, 0]


def test_the_disk_time_of_faults():
    """2500 and 500 ms of CPU at 0.015 faults a ms: 37 + 7 faults. Those of the first second, 7 + 1, take 8.1 ms each,
    the others what they take once others keep the pages."""
    for is_on in (False, True):
        nodes = finished(1, **three_nodes(cluster__remote_memory=is_on)).engine.nodes
        assert nodes["faults"].tolist() == [44, 0, 0]
        later_ns = 8_100_000 - nodes["fault_saved_ns"][0]
        assert (later_ns == 8_100_000) != is_on
        assert nodes["disk_busy_ns"][0] == 8 * 8_100_000 + 36 * later_ns


@njit
def services_of_faults(nodes, tasks, seek_ns, service_ns):
    """Seek and service of the first faults of the task in row 0 on node 0."""
    for place in range(len(seek_ns)):
        seek_ns[place], service_ns[place] = service_of_fault_ns(row_at(nodes, 0), row_at(tasks, 0), place + 1)


@pytest.mark.slow
def test_drawn_seeks_are_the_own_disks_alone():
    """With seeks drawn from an exponential distribution a fault still takes the 0.52 ms of those five in six pages that
    lie elsewhere, and of the sixth 0.1 ms of transfer and its seek: 0.45 ms at least, 1.7833 ms in the mean."""
    engine = finished(1, **three_nodes(cluster__disk_latency="exponential")).engine
    assert np.isclose(engine.nodes["faults_elsewhere"][0], 250 / 300)
    seek_ns, service_ns = np.zeros(20_000, np.int64), np.zeros(20_000, np.int64)
    services_of_faults(engine.nodes, engine.tasks, seek_ns, service_ns)
    assert (seek_ns >= 0).all()
    assert (seek_ns < service_ns).all()
    assert service_ns.min() >= (250 * 0.52 + 50 * 0.1) / 300 * 1e6 - 1
    # The mean of 20,000 seeks of 8 ms, a sixth of each: a standard error of 9.4 us.
    assert abs(service_ns.mean() - 1_783_333) < 4 * 9_430


def test_a_network_slower_than_the_disk_keeps_nothing():
    run = finished(1, **three_nodes(interconnect__latency_ms=4.0))
    assert not run.engine.nodes["fault_saved_ns"].any()
    assert not run.view_of(run.load_managers[0]).overflow_held_mb.any()


@pytest.mark.slow
def test_stepping_and_running_leave_the_same_bytes():
    base = three_nodes(
        run__until="drained", workload__arrivals__jobs_per_user=5, workload__memory_mb__kind="uniform",
        workload__memory_mb__mean=60.0, cluster__exchange_period_ms=333.0,
    )  # fmt: skip
    ran = finished(2, **base)
    stepped = ClusterModel(scenario(**base), seed=2)
    while stepped.running:
        stepped.step()
    assert same_records(ran, stepped)
    assert ran.summary() == stepped.summary()
    assert ran.nodes_frame().equals(stepped.nodes_frame())
