"""Transfers that share links and use the disks at both ends: worked by hand, and held against mode `delay`."""

from __future__ import annotations

import numpy as np
import pytest
from support import busy, finished, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.policies import Decision

HEADER = "arrival_ms,home,cpu_ms,io_per_ms,memory_mb,tasks,initial_data_mb\n"


def sent(tmp_path, jobs, to, **more):
    """Jobs (arrival_ms, home, cpu_ms, initial_data_mb), each started on node `to[home]`, in mode `contended`."""
    trace = tmp_path / "jobs.csv"
    rows = [f"{arrival},{home},{cpu},0,8,1,{data}" for arrival, home, cpu, data in jobs]
    trace.write_text(HEADER + "\n".join(rows) + "\n")
    settings = {
        "cluster__nodes": len(to),
        "cluster__context_switch_ms": 0.0,
        "cluster__memory_mb": 10_000.0,
        "workload__kind": "trace",
        "workload__trace__file": str(trace),
        "workload__write_share": 0.0,
        "policy__name": "jsq",
        "negotiation__mode": "papers",
        "interconnect__mode": "contended",
        "interconnect__kind": "star",
        "interconnect__bandwidth_mbps": 80.0,
    }
    model = ClusterModel(scenario(**(settings | more)), seed=1)
    model.policy.place = lambda arriving, view: Decision(to[view.me], "test")
    return model


def travel(model):
    frame = model.jobs_frame().set_index("task")
    return frame["migration_ms"].sort_index().round(6).tolist()


def test_disk_network_disk_one_after_the_other(tmp_path):
    """20 MB, e = 100 ms: read at 40 MB/s 500 ms, sent at 10 MB/s 2000 ms, written 500 ms."""
    model = sent(tmp_path, [(5, 0, 50, 20)], to=[1, 1])
    model.run()
    assert travel(model) == [100 + 500 + 2000 + 500]
    assert model.busy_ns()[1].tolist() == [500_000_000, 500_000_000]


def test_two_transfers_to_one_node_share_its_link(tmp_path):
    """10 MB each from nodes 1 and 2 to 0, whose link has 10 MB/s; read 250 ms, then e.

    The first is sent from 350 ms on, the second from 850 ms on (it came 500 ms later). The first has 5 MB left then:
    both have 5 MB/s until the first has arrived at 1850 ms. The second has 5 MB left then, and all of the link:
    2350 ms. Both are written in 250 ms.
    """
    model = sent(tmp_path, [(0, 1, 50, 10), (500, 2, 50, 10)], to=[0, 0, 0])
    model.run()
    assert travel(model) == [1850 + 250, 2350 + 250 - 500]


def test_on_a_bus_all_share_and_on_a_star_only_who_meets(tmp_path):
    """0 -> 1 and 2 -> 3, 10 MB each at once: apart on a star, together on a bus."""
    jobs = [(0, 0, 50, 10), (0, 2, 50, 10)]
    star = sent(tmp_path, jobs, to=[1, 1, 3, 3])
    star.run()
    assert travel(star) == [100 + 250 + 1000 + 250] * 2
    bus = sent(tmp_path, jobs, to=[1, 1, 3, 3], interconnect__kind="bus")
    bus.run()
    assert travel(bus) == [100 + 250 + 2000 + 250] * 2


def test_what_reads_and_writes_waits_in_the_disks_queues(tmp_path):
    """Both jobs leave node 0 at once: the second's data is read behind the first's; so it is sent and written later."""
    model = sent(tmp_path, [(0, 0, 50, 10), (0, 0, 50, 10)], to=[1, 1])
    model.run()
    # Sent from 350 and 600 ms on: 2.5 MB are through when the second begins; the rest of 17.5 MB shares the link: the
    # first has its 7.5 MB at 600 + 1500, the second its last 2.5 MB 250 ms later.
    assert travel(model) == [2100 + 250, 2350 + 250]


@pytest.mark.parametrize(("mode", "asking_ms"), [("papers", 0), ("negotiated", 2 * 6)])
def test_latency_of_the_way_counts_once(mode, asking_ms, tmp_path):
    model = sent(
        tmp_path, [(0, 0, 50, 0)], to=[1, 1], interconnect__latency_ms=3.0,
        negotiation__mode=mode, negotiation__refusals=False,
    )  # fmt: skip
    model.run()
    # There and back to ask over two links of 3 ms, e, and the way itself.
    assert travel(model) == [asking_ms + 100 + 6]


def test_who_is_killed_on_the_way_leaves_the_link_to_the_others(tmp_path):
    """10 MB each to node 1 at once. A job of two tasks of 160 MB, on nodes that hold 150: one is killed at home, and at
    the slice's border the other one too, on its way. Alone the second job takes as long as ever."""
    jobs = [(0, 0, 50, 0, 160, 2, 10), (0, 2, 50, 0, 8, 1, 10)]
    trace = tmp_path / "two.csv"
    trace.write_text(HEADER + "\n".join(",".join(map(str, job)) for job in jobs) + "\n")
    model = sent(
        tmp_path,
        [],
        to=[1, 1, 1],
        workload__trace__file=str(trace),
        cluster__memory_mb=100.0,
        cluster__swap_mb=50.0,
        cluster__buffer_in_memory=False,
    )
    model.policy.place = lambda arriving, view: Decision(1 if arriving.task else 0, "test")
    stepped = ClusterModel(model.setup, seed=1)
    stepped.policy.place = model.policy.place
    model.run()
    frame = model.jobs_frame().set_index("task")
    assert frame["outcome"].sort_index().tolist() == ["killed", "killed", "finished"]
    assert frame["migration_ms"][2] == 100 + 250 + 1000 + 250
    while stepped.running:
        stepped.step()
    assert same_records(model, stepped)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["jsq", "wal-pm", "iolb"])
def test_a_star_with_ample_bandwidth_is_mode_delay(policy):
    """Without data to be read or written, and links so wide that nothing waits: the same to 10 ns of each task."""
    settings = busy(
        policy__name=policy, interconnect__kind="star", interconnect__bandwidth_mbps=1e9, workload__write_share=0.0,
        negotiation__migration_ms=7.0,
    )  # fmt: skip
    plain = finished(3, **settings)
    shared = finished(3, **(settings | {"interconnect__mode": "contended"}))
    assert plain.summary()["metrics"]["remote_executions"] + plain.summary()["metrics"]["migrations"] > 20
    one, other = plain.jobs_frame().sort_values("task"), shared.jobs_frame().sort_values("task")
    assert (one["node"].to_numpy() == other["node"].to_numpy()).all()
    assert np.abs(one["migration_ms"].to_numpy() - other["migration_ms"].to_numpy()).max() < 1e-3


@pytest.mark.slow
def test_with_narrow_links_contention_lengthens_travel_and_only_travel():
    settings = busy(
        policy__name="wal-pm", interconnect__kind="star", interconnect__bandwidth_mbps=20.0,
        workload__initial_data_mb__mean=0.5, workload__utilisation=0.8,
    )  # fmt: skip
    plain = finished(3, **settings)
    shared = finished(3, **(settings | {"interconnect__mode": "contended"}))
    spent = [model.jobs_frame() for model in (plain, shared)]
    moved = [frame[frame["migration_ms"] > 0]["migration_ms"].mean() for frame in spent]
    assert moved[1] > moved[0]
    assert spent[0]["cpu_ms"].sum() == spent[1]["cpu_ms"].sum()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["complete", "bus", "torus", "clusters"])
@pytest.mark.parametrize("policy", ["wal-pm", "batch-system", "working-set", "power-of-d"])
def test_run_and_step_leave_the_same_bytes(kind, policy):
    settings = busy(
        policy__name=policy, interconnect__kind=kind, interconnect__mode="contended", interconnect__latency_ms=0.7,
        interconnect__bandwidth_mbps=50.0, workload__initial_data_mb__mean=0.3, workload__duration_s=5.0,
        data__files=6, data__size_mb__mean=0.4,
    )  # fmt: skip
    ran = finished(5, **settings)
    stepped = ClusterModel(scenario(**settings), seed=5)
    while stepped.running:
        stepped.step()
    assert same_records(ran, stepped)
    assert ran.summary() == stepped.summary()


def test_files_are_fetched_one_after_another_over_shared_links():
    """Mode `delay` gives the undisturbed time of the same files; sharing never makes it shorter."""
    settings = busy(
        policy__name="none", interconnect__kind="star", interconnect__bandwidth_mbps=40.0, data__files=5,
        data__size_mb__mean=1.0, workload__duration_s=5.0,
    )  # fmt: skip
    plain = finished(5, **settings).jobs_frame().set_index("task")["migration_ms"]
    shared = finished(5, **(settings | {"interconnect__mode": "contended"})).jobs_frame().set_index("task")
    longer = shared["migration_ms"] - plain
    assert longer.min() > -1e-3
    assert longer.max() > 10.0
