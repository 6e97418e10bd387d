"""Devices that are slow, not dead, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from support import breakdown_sum_ns, busy, finished, scenario

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.scenario import scenario_from

PLAIN = {
    "policy": {"name": "none"},
    "cluster": {
        "nodes": 2, "context_switch_ms": 0.0, "page_fault_rate_per_ms": 0.0, "disk_seek_rotation_ms": 8.0,
        "disk_mb_per_s": 40.0, "buffer_mb": 0.0,
    },
    "negotiation": {"mode": "papers", "remote_execution_ms": 0.0},
}  # fmt: skip


def one_job(tmp_path, degrade, cpu_ms=3000.0, io_per_ms=0.0, policy="none", jobs=1, **cluster):
    """A job, or several, of node 0 at time 0."""
    trace = tmp_path / "jobs.csv"
    row = f"0,0,{cpu_ms},{io_per_ms},1.0,400.0,0.0\n"
    trace.write_text("arrival_ms,home,cpu_ms,io_per_ms,memory_mb,request_kb,initial_data_mb\n" + row * jobs)
    data = PLAIN | {
        "policy": {"name": policy}, "cluster": PLAIN["cluster"] | cluster,
        "workload": {"kind": "trace", "trace": {"file": str(trace)}, "request_kb": {"kind": "fixed", "mean": 400.0}},
        "failures": {"degrade": degrade},
    }  # fmt: skip
    return ClusterModel(scenario_from(data, "slow"), seed=1)


def slow(device, factor, **when):
    return {"device": device, "factor": factor, "nodes": [0], **when}


def test_a_slow_cpu_stretches_what_is_left(tmp_path):
    """1 s at full speed, 2 s of CPU at half of it, from 1 s on: the end is at 5 s; the slowdown 5/3."""
    model = one_job(tmp_path, [slow("cpu", 0.5, at_s=1.0)])
    model.run()
    assert model.engine.records["finish_ns"].tolist() == [5_000_000_000]
    assert model.summary()["metrics"]["mean_slowdown"] == pytest.approx(5 / 3)


def test_it_recovers(tmp_path):
    """From 1 to 2 s it gets half a second of CPU, so that it ends half a second late."""
    model = one_job(tmp_path, [slow("cpu", 0.5, at_s=1.0, for_s=1.0)])
    model.run()
    assert model.engine.records["finish_ns"].tolist() == [3_500_000_000]
    assert model.engine.nodes["speed"].tolist() == [1.0, 1.0]


def test_two_causes_multiply(tmp_path):
    """At half, then at a quarter: 1 s, 0.5 s in the second, and the other 1.5 s last 6 s."""
    model = one_job(tmp_path, [slow("cpu", 0.5, at_s=1.0), slow("cpu", 0.5, at_s=2.0)])
    model.run()
    assert model.engine.records["finish_ns"].tolist() == [8_000_000_000]


def test_a_cause_that_ends_leaves_the_other_one(tmp_path):
    """The speed is 1/2 from 1 s on, and 1/8 from 2 to 4 s. Of 3 s of CPU, 1 + 0.5 + 0.25 are done at 4 s; the other
    1.25 take 2.5 s."""
    model = one_job(tmp_path, [slow("cpu", 0.5, at_s=1.0), slow("cpu", 0.25, at_s=2.0, for_s=2.0)])
    model.run()
    assert model.engine.records["finish_ns"].tolist() == [6_500_000_000]


def requests_alone_ms(model):
    records = model.engine.records
    return float(records["finish_ns"][0] - records["cpu_ns"][0]) / 1e6, int(records["requests"][0])


@pytest.mark.slow
def test_a_disk_slow_from_the_start_takes_twice_as_long_for_each_request(tmp_path):
    """8 ms and 400 KB at 40 MB/s are 18 ms; at half the speed 36."""
    model = one_job(tmp_path, [slow("disk", 0.5, at_s=0.0)], cpu_ms=500.0, io_per_ms=0.02)
    model.run()
    at_disk_ms, requests = requests_alone_ms(model)
    assert requests > 3
    assert at_disk_ms == pytest.approx(36.0 * requests, abs=1e-3)
    # The slowdown is against a disk with nothing wrong.
    assert model.engine.records["isolated_io_ns"].tolist() == [18_000_000 * requests]


def one_access(tmp_path, degrade, channels):
    """When a program ends that computes 45 ms, accesses its disk (8 ms of seek, 10 of transfer) and computes 45 ms."""
    profile, trace = tmp_path / "profiles.csv", tmp_path / "jobs.csv"
    profile.write_text("program,cpu_ms,memory_mb,accesses\na,90,0,1\n")
    trace.write_text("arrival_ms,home,cpu_ms,request_kb,name\n0,0,90,400,a\n")
    workload = {
        "kind": "trace", "trace": {"file": str(trace)}, "programs": {"file": str(profile)}, "reaccess_rate": 0.0,
        "request_kb": {"kind": "fixed", "mean": 400.0},
    }  # fmt: skip
    cluster = PLAIN["cluster"] | {"disk_channels": channels}
    data = PLAIN | {"cluster": cluster, "workload": workload, "failures": {"degrade": degrade}}
    model = ClusterModel(scenario_from(data, "slow"), seed=1)
    model.run()
    return float(model.engine.records["finish_ns"][0]) / 1e6


@pytest.mark.slow
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(("degrade", "ends_ms"), [
    ([], 108.0),
    # Half as fast from 40 ms on: the seek takes 16 ms, the transfer 20.
    ([slow("disk", 0.5, at_s=0.04)], 126.0),
    # From 50 ms on: of the seek 3 ms are left, and take 6; the transfer takes 20.
    ([slow("disk", 0.5, at_s=0.05)], 121.0),
    # From 60 ms on: of the transfer, which began at 53, 3 ms are left, and take 6.
    ([slow("disk", 0.5, at_s=0.06)], 111.0),
    # From 50 to 60 ms: the seek ends at 56; 4 ms at half the speed are 2 ms of the transfer, and 8 are left.
    ([slow("disk", 0.5, at_s=0.05, for_s=0.01)], 113.0),
    # After the request.
    ([slow("disk", 0.5, at_s=0.07)], 108.0),
])  # fmt: skip
def test_a_request_in_service_stretches_by_what_is_left_of_it(tmp_path, channels, degrade, ends_ms):
    assert one_access(tmp_path, degrade, channels) == pytest.approx(ends_ms, abs=1e-5)


def test_managers_count_with_the_hardware_as_it_is_when_nothing_is_wrong(tmp_path):
    """Reports show the consequences, never the cause: the work ahead counts as on a node at full speed."""
    model = one_job(tmp_path, [slow("cpu", 0.25, at_s=0.0), slow("disk", 0.25, at_s=0.0)], io_per_ms=0.02, jobs=3)
    fast = one_job(tmp_path, [], io_per_ms=0.02, jobs=3)
    for one in (model, fast):
        one.step()
    assert model.parts.views.hardware == fast.parts.views.hardware
    loads, of_fast = model.true_loads(0), fast.true_loads(0)
    for name in ("queue", "at_disk", "io_per_ms", "memory_mb"):
        assert float(loads[name]) == pytest.approx(float(of_fast[name]))
    # A quarter of a slice's CPU was given: more is left.
    assert float(loads["cpu_ms"]) == pytest.approx(9000.0 - 2.5, abs=1.0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["exponential", "weibull"])
@pytest.mark.parametrize("device", ["cpu", "disk"])
def test_run_equals_step_and_time_adds_up(device, kind):
    degrade = [{"device": device, "factor": 0.3, "kind": kind, "mean_up_s": 2.0, "mean_down_s": 1.0}]
    shape = {"cluster__cores": 2, "cluster__disk_channels": 3}
    given = busy(policy__name="iolb", workload__duration_s=8.0, failures__degrade=degrade, **shape)
    model = finished(3, **given)
    stepped = ClusterModel(scenario(**given), seed=3)
    while stepped.running:
        stepped.step()
    records = model.engine.sorted_records()
    assert records.tobytes() == stepped.engine.sorted_records().tobytes()
    assert np.array_equal(breakdown_sum_ns(records), records["finish_ns"] - records["arrival_ns"])
    # It made a difference.
    assert records["finish_ns"].max() != finished(3, **(given | {"failures__degrade": []})).engine.last_finish_ns


@pytest.mark.slow
def test_a_slow_link_stretches_the_transfer_under_way():
    """A task of 100 MB and more is sent over a star at 1024 Mbps (128 MB/s); its own link at a quarter of that."""
    given = {
        "policy__name": "jsq", "cluster__nodes": 3, "interconnect__kind": "star", "interconnect__mode": "contended",
        "workload__initial_data_mb__mean": 20.0, "workload__duration_s": 20.0,
    }  # fmt: skip
    degrade = [{"device": "link", "factor": 0.01, "nodes": [0], "at_s": 0.0}]
    whole = finished(1, **busy(**given)).summary()["metrics"]
    slowed = finished(1, **busy(**given, failures__degrade=degrade)).summary()["metrics"]
    assert whole["remote_executions"] > 0
    assert slowed["breakdown_ms"]["migration"] > 5 * whole["breakdown_ms"]["migration"]


@pytest.mark.parametrize(
    ("degrade", "said"),
    [
        ({"device": "cpu", "factor": 0.0, "at_s": 1.0}, "use failures"),
        ({"device": "cpu", "factor": -1.0, "at_s": 1.0}, "above 0"),
        ({"device": "cpu", "factor": 1.5, "at_s": 1.0}, "at most 1"),
        ({"device": "cpu", "factor": 0.5}, "at_s"),
        ({"device": "cpu", "factor": 0.5, "kind": "weibull", "at_s": 1.0}, "at_s"),
        ({"device": "cpu", "factor": 0.5, "kind": "weibull", "for_s": 1.0}, "for_s"),
        ({"device": "cpu", "factor": 0.5, "at_s": 1.0, "nodes": [0, 4]}, "no such node"),
        ({"device": "cpu", "factor": 0.5, "at_s": 1.0, "nodes": []}, "nodes"),
        ({"device": "link", "factor": 0.5, "at_s": 1.0}, "contended"),
        ({"device": "gpu", "factor": 0.5, "at_s": 1.0}, "device"),
    ],
)
def test_what_is_wrong_is_named(degrade, said):
    with pytest.raises(InputError, match=said):
        ClusterModel(scenario(cluster__nodes=4, failures__degrade=[degrade]), seed=1)


def test_a_pooled_cluster_has_no_device_of_its_own():
    degrade = [{"device": "cpu", "factor": 0.5, "at_s": 1.0}]
    with pytest.raises(InputError, match="pools all nodes"):
        ClusterModel(scenario(policy__name="pooled", failures__degrade=degrade), seed=1)
