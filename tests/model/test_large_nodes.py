"""Random clusters of unlike nodes with several cores and disk channels, on which everything happens at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import breakdown_sum_ns, finished, same_records, scenario
from test_failures import failing, slow_devices

from cluster_abm import ClusterModel
from cluster_abm.engine.tables import FINISHED, FREE, REQUEST_ONLY
from cluster_abm.policies import available

MIGRATING = sorted(name for name, policy in available().items() if policy.migrates)
LARGE = {
    "cluster__context_switch_ms": 0.1, "cluster__buffer_in_memory": False, "cluster__page_fault_ratio_cap": 1.5,
    "workload__cpu_ms__mean": 60.0, "workload__io_per_ms__kind": "uniform", "workload__reaccess_rate": 1.0,
    "workload__tasks__parallel_share": 0.6, "workload__tasks__minimum": 2, "workload__duration_s": 0.7,
    "workload__initial_data_mb__mean": 0.05, "negotiation__remote_execution_ms": 3.3,
    "negotiation__migration_ms": 2.0, "cluster__exchange_period_ms": 50.0,
}  # fmt: skip


@st.composite
def large_clusters(draw):
    """Groups of nodes that differ in cores, channels, memory and disks; jobs whose tasks meet; work that migrates."""
    kind = st.fixed_dictionaries(
        {
            "count": st.integers(1, 2),
            "cores": st.integers(1, 8),
            "disk_channels": st.integers(1, 4),
            "disk_latency": st.sampled_from(["fixed", "exponential"]),
            "disk_seek_rotation_ms": st.sampled_from([0.0, 0.1, 8.0]),
            "memory_mb": st.sampled_from([12.0, 40.0, 640.0]),
            "cpu_speed": st.sampled_from([1.0, 0.7]),
        },
        optional={"fault_service_ms": st.just(3.0), "quantum_ms": st.sampled_from([0.5, "inf"])},
    )
    groups = draw(st.lists(kind, min_size=1, max_size=3))
    cores = sum(group["count"] * group["cores"] for group in groups)
    return LARGE | {
        "cluster__nodes": sum(group["count"] for group in groups) + draw(st.integers(0, 1)),
        "cluster__group": groups,
        "cluster__slice_ms": draw(st.sampled_from([7.3, 10.0])),
        "cluster__quantum_ms": draw(st.sampled_from([1.0, 10.0])),
        "cluster__disk_latency": draw(st.sampled_from(["fixed", "exponential"])),
        "cluster__buffer_mb": draw(st.sampled_from([0.0, 2.0])),
        "cluster__paging": draw(st.sampled_from(["rate", "oversize"])),
        # So much for all cores that no run takes long.
        "workload__utilisation": None,
        "workload__jobs": draw(st.integers(3, 10 + 3 * cores)),
        "workload__io_per_ms__mean": draw(st.sampled_from([0.02, 0.2])),
        "workload__tasks__maximum": draw(st.integers(2, 9)),
        "workload__tasks__barrier_ms": draw(st.sampled_from([3.3, 25.0])),
        "workload__tasks__communication_ms": draw(st.sampled_from([0.0, 5.0])),
        "workload__home__kind": draw(st.sampled_from(["uniform", "skewed"])),
        "negotiation__mode": draw(st.sampled_from(["papers", "negotiated"])),
        "policy__name": draw(st.sampled_from(MIGRATING)),
        "run__until": 4_000.0,
    }


@st.composite
def large_clusters_that_fail(draw):
    """The same with failures of nodes and links, mostly with checkpoints, and devices that are slow."""
    overrides = draw(large_clusters()) | failing(draw)
    overrides["failures__on_failure"] = draw(st.sampled_from(["checkpoint", "checkpoint", "restart"]))
    contended = overrides["interconnect__mode"] == "contended" and overrides["interconnect__kind"] != "bus"
    slow = [cause for cause in slow_devices(draw) if contended or cause["device"] != "link"]
    return overrides | {"failures__degrade": slow}


def stepped(overrides, seed):
    model = ClusterModel(scenario(**overrides), seed=seed)
    while model.running:
        model.step()
    return model


def check_times(model, slow=()):
    """Each task's parts add up to its time, and the CPU that it received is its demand, and what was lost."""
    records, nodes = model.engine.sorted_records(), model.engine.nodes
    assert np.array_equal(breakdown_sum_ns(records), records["finish_ns"] - records["arrival_ns"])
    # Rows of requests that no task waits for any more still hold what a task had there before.
    live = model.engine.tasks[(model.engine.tasks["state"] != FREE) & (model.engine.tasks["state"] != REQUEST_ONLY)]
    assert nodes["cpu_busy_ns"].sum() == records["cpu_ns"].sum() + live["cpu_ns"].sum()
    assert (nodes["cpu_busy_ns"] <= nodes["cores"] * np.int64(model.now_ns)).all()
    speeds = nodes["speed"] / nodes["cpu_factor"]
    done = records[records["outcome"] == FINISHED]
    demand_ns = model.jobs["cpu_ms"][done["job"]] * 1e6
    useful_ns = done["cpu_ns"] - done["lost_cpu_ns"]
    # A leg on each node is rounded by itself.
    slack_ns = 2 + 2 * done["migrations"] + 2 * done["restarts"]
    stayed = (done["migrations"] == 0) & (done["restarts"] == 0)
    slowest = min([1.0, *(cause["factor"] for cause in slow if cause["device"] == "cpu")]) ** max(1, len(slow))
    assert (done["cpu_ns"] + slack_ns >= demand_ns / speeds.max()).all()
    if not slow:
        assert np.abs(useful_ns - demand_ns / speeds[done["node"]])[stayed].max(initial=0.0) <= 2
    if speeds.min() == speeds.max() or not done["restarts"].any():
        assert (useful_ns <= demand_ns / (speeds.min() * slowest) + 1e3 * slack_ns).all()


def check_same(one, other):
    assert same_records(one, other)
    assert one.jobs_frame().to_csv() == other.jobs_frame().to_csv()
    # As text: fields that are not numbers equal nothing, not even themselves.
    assert one.decisions_frame().to_csv() == other.decisions_frame().to_csv()
    assert one.summary() == other.summary()


@pytest.mark.slow
@settings(max_examples=8)
@given(large_clusters(), st.integers(0, 2**62))
def test_runs_and_steps_of_large_nodes_leave_the_same_bytes(overrides, seed):
    model = finished(seed, **overrides)
    check_times(model)
    check_same(model, stepped(overrides, seed))


@pytest.mark.slow
@settings(max_examples=8)
@given(large_clusters_that_fail(), st.integers(0, 2**62))
def test_runs_and_steps_of_large_nodes_that_fail_leave_the_same_bytes(overrides, seed):
    model = finished(seed, **overrides)
    check_times(model, overrides["failures__degrade"])
    check_same(model, stepped(overrides, seed))


@pytest.mark.slow
@settings(max_examples=100)
@given(st.one_of(large_clusters(), large_clusters_that_fail()), st.integers(0, 2**62))
def test_many_runs_and_steps_of_large_nodes_leave_the_same_bytes(overrides, seed):
    model = finished(seed, **overrides)
    check_times(model, overrides.get("failures__degrade", ()))
    check_same(model, stepped(overrides, seed))


# ---- a device that is slow from the start is a slower device -----------------------------------------------------

PLAIN = {
    "cluster__nodes": 2, "cluster__buffer_mb": 0.0, "cluster__disk_seek_rotation_ms": 4.0,
    "cluster__disk_mb_per_s": 40.0, "cluster__memory_mb": 20.0, "cluster__page_fault_ratio_cap": 1.5,
    "cluster__fault_service_ms": 6.0, "workload__utilisation": None, "workload__jobs": 40,
    "workload__duration_s": 2.0, "workload__cpu_ms__mean": 80.0, "workload__io_per_ms__mean": 0.1,
    "workload__tasks__parallel_share": 0.5, "workload__tasks__maximum": 6, "workload__tasks__barrier_ms": 20.0,
    "policy__name": "none",
}  # fmt: skip


@pytest.mark.parametrize("latency", ["fixed", "exponential"])
@pytest.mark.parametrize(("cores", "channels"), [(1, 1), (4, 3), (3, 1), (1, 4)])
def test_disks_slow_from_the_start_are_disks_of_half_the_speed(cores, channels, latency):
    """Times of requests are rounded to ns in both, so that a request may differ by some of them."""
    shape = {"cluster__cores": cores, "cluster__disk_channels": channels, "cluster__disk_latency": latency}
    slow = finished(2, **PLAIN, **shape, failures__degrade=[{"device": "disk", "factor": 0.5, "at_s": 0.0}])
    half = {
        "cluster__disk_seek_rotation_ms": 8.0, "cluster__disk_mb_per_s": 20.0, "cluster__fault_service_ms": 12.0,
        "cluster__page_kb": 4.0,
    }  # fmt: skip
    other = finished(2, **(PLAIN | shape | half))
    one, two = slow.engine.sorted_records(), other.engine.sorted_records()
    assert one["faults"].sum() > 0
    assert one["requests"].sum() > 50
    assert np.array_equal(one["requests"], two["requests"])
    assert np.abs(one["finish_ns"] - two["finish_ns"]).max() <= 1e4


@pytest.mark.parametrize("cores", [1, 4])
def test_cores_slow_from_the_start_are_cores_of_half_the_speed(cores):
    shape = {"cluster__cores": cores, "cluster__disk_channels": 2}
    slow = finished(2, **PLAIN, **shape, failures__degrade=[{"device": "cpu", "factor": 0.5, "at_s": 0.0}])
    other = finished(2, **PLAIN, **shape, cluster__cpu_speed=0.5)
    one, two = slow.engine.sorted_records(), other.engine.sorted_records()
    assert one["requests"].sum() > 50
    assert np.array_equal(one["requests"], two["requests"])
    assert np.abs(one["finish_ns"] - two["finish_ns"]).max() <= 1e4


@pytest.mark.parametrize("home_draws", [False, True])
def test_alone_at_home_seeks_are_drawn_as_the_home_draws_them(home_draws):
    """Requests of 80 KB take 2 ms at 40 MB/s; a task that starts on the other node, of the other law, is alone at home
    what it would be had it stayed there."""
    laws = ["exponential", "fixed"] if home_draws else ["fixed", "exponential"]
    groups = [{"count": 1, "disk_latency": law} for law in laws]
    runs = {}
    for policy in ("none", "round-robin"):
        model = finished(
            5, policy__name=policy, cluster__nodes=2, cluster__group=groups, cluster__page_fault_rate_per_ms=0.0,
            workload__home={"kind": "weights", "weights": [1.0, 0.0]}, workload__duration_s=60.0,
            workload__io_per_ms={"kind": "fixed", "mean": 0.05},
            workload__request_kb={"kind": "fixed", "mean": 80.0}, negotiation__mode="papers",
        )  # fmt: skip
        records = model.engine.sorted_records()
        runs[policy] = records[np.argsort(records["task"])]
    moved = runs["round-robin"]["node"] != 0
    assert 5 < moved.sum() < len(moved)
    assert (runs["round-robin"]["isolated_io_ns"] == runs["none"]["isolated_io_ns"]).all()
    equal = runs["none"]["isolated_io_ns"] == runs["none"]["requests"] * 10_000_000
    assert equal.all() != home_draws
