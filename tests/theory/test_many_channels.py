"""Disks of many channels against queueing theory: channels alone, the bus alone, both; networks of disks and cores.

Each node, or each run, is a replication; intervals are at 99.9 % (replications.py), so that all of this module's some
sixty together raise a false alarm once in sixteen choices of the seed. The formulas are in known_queues.py.

A request has at least a size above 0. Requests of 1e-6 KB are transferred in 0 ns, for times are whole nanoseconds.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from known_queues import (
    chance_of_an_empty_station,
    pollaczek_khinchine,
    throughput_of_a_closed_network,
    wait_of_equal_services,
    wait_of_exponential_services,
)
from replications import DEMANDS, EXPONENTIAL, FIXED, LIFETIME, RESIDUAL_S, Steady, inside, run, settling_s, slow

WAITS = {FIXED: wait_of_equal_services, EXPONENTIAL: wait_of_exponential_services}
NO_TRANSFER = {"workload__request_kb__kind": "fixed", "workload__request_kb__mean": 1e-6}
# At 40 MB/s the mean size of 80 KB takes 2 ms.
TRANSFER_MS = 2.0
SIZES = {
    FIXED: {"workload__request_kb__kind": "fixed", "workload__request_kb__mean": 80.0},
    EXPONENTIAL: {"workload__request_kb__kind": "exponential", "workload__request_kb__mean": 80.0},
    # Squared coefficients of variation 1/4 and 2.
    "gamma": {"workload__request_kb__mean": 80.0, "workload__request_kb__sd": 40.0},
    "wide": {"workload__request_kb__mean": 80.0, "workload__request_kb__sd": 80 * math.sqrt(2)},
}
SQUARED_VARIATION = {FIXED: 0.0, EXPONENTIAL: 1.0, "gamma": 0.25, "wide": 2.0}


def disk(channels, seek_ms, latency=FIXED):
    """The keys of such a disk."""
    return {
        "cluster__disk_channels": channels,
        "cluster__disk_seek_rotation_ms": seek_ms,
        "cluster__disk_latency": latency,
    }


def readers(per_ms, window_s, nodes=24, **overrides):
    """Jobs of one access and hardly any CPU, as a Poisson stream at each node; a core for each: none waits for it."""
    return run(
        cluster__nodes=nodes, cluster__cores=64, workload__programs__mix={"reader": 1.0},
        workload__programs__file=str(Path(__file__).with_name("readers.csv")), workload__utilisation=None,
        workload__jobs_per_s=per_ms * 1000 * nodes, workload__duration_s=window_s, **overrides,
    )  # fmt: skip


def waits(model, per_ms, window_s, margin_s):
    """Mean wait of the requests at each node [ms]; and their rate, with what it is on average."""
    done = Steady(model, window_s, max(1.0, margin_s))
    assert (done.records["requests"] == 1).all()
    assert done.ms("cpu_queue").max() == 0
    return done.by_home(done.ms("io_queue")) / done.count(), (done.count() / done.span_ms, per_ms)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("latency", "channels", "rho", "window_s"),
    [
        (FIXED, 2, 0.7, 40),
        slow(FIXED, 4, 0.8, 35),
        slow(FIXED, 8, 0.85, 18),
        (EXPONENTIAL, 2, 0.7, 50),
        slow(EXPONENTIAL, 4, 0.8, 40),
        slow(EXPONENTIAL, 8, 0.85, 35),
        slow(FIXED, 2, 0.9, 150),
        slow(FIXED, 16, 0.9, 20),
        slow(EXPONENTIAL, 1, 0.8, 300),
        slow(EXPONENTIAL, 4, 0.9, 120),
        slow(EXPONENTIAL, 16, 0.9, 40),
    ],
)
def test_requests_without_transfer_wait_for_channels_as_for_servers(latency, channels, rho, window_s):
    """M/D/q by Crommelin at fixed latency, M/M/q by Erlang's C at exponential latency."""
    seek_ms = 8.0
    per_ms = rho * channels / seek_ms
    model = readers(per_ms, window_s, **NO_TRANSFER, **disk(channels, seek_ms, latency))
    measured_ms, arrivals = waits(model, per_ms, window_s, settling_s(channels, rho, seek_ms / 1000))
    inside(measured_ms / seek_ms, WAITS[latency](channels, rho), controls=[arrivals])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "seek_ms", "latency", "channels", "rho", "window_s"),
    [
        (FIXED, 0.0, FIXED, 2, 0.7, 20),
        slow("gamma", 0.0, FIXED, 4, 0.7, 20),
        slow(EXPONENTIAL, 0.0, FIXED, 16, 0.8, 40),
        slow(EXPONENTIAL, 40.0, FIXED, 256, 0.7, 25),
        (FIXED, 40.0, EXPONENTIAL, 256, 0.7, 20),
        slow("gamma", 40.0, EXPONENTIAL, 256, 0.8, 25),
        slow("wide", 0.0, FIXED, 4, 0.6, 80),
        slow("gamma", 0.0, FIXED, 64, 0.9, 60),
        slow("wide", 40.0, FIXED, 256, 0.8, 60),
        slow(EXPONENTIAL, 40.0, EXPONENTIAL, 256, 0.9, 100),
    ],
)
def test_requests_that_no_channel_delays_wait_for_one_bus(sizes, seek_ms, latency, channels, rho, window_s):
    """M/G/1 by Pollaczek and Khinchine. Without seek the bus is the only server, however many channels there are; with
    more channels than are ever taken (20 of 256 on average, or fewer) requests come to it as they came to the disk, a
    Poisson stream, later by their seeks, of any law (M/G/infinity)."""
    per_ms = rho / TRANSFER_MS
    model = readers(per_ms, window_s, **SIZES[sizes], **disk(channels, seek_ms, latency))
    measured_ms, arrivals = waits(model, per_ms, window_s, settling_s(1, rho, TRANSFER_MS / 1000))
    truth = pollaczek_khinchine(rho, SQUARED_VARIATION[sizes])
    inside(measured_ms / TRANSFER_MS, truth, controls=[arrivals])


@pytest.mark.slow
def test_requests_without_seek_do_not_depend_on_the_number_of_channels():
    """To the nanosecond."""
    records = [
        readers(0.9 / TRANSFER_MS, 5, **SIZES["gamma"], **disk(channels, 0.0)).engine.sorted_records()
        for channels in (1, 2, 7, 64)
    ]
    assert len(records[0]) > 50_000
    assert all((other == records[0]).all() for other in records[1:])


@pytest.mark.slow
@pytest.mark.parametrize("channels", [2, 16])
def test_at_equal_latency_requests_finish_in_the_order_in_which_they_came(channels):
    """Whatever their sizes. Drawn latencies let them overtake each other: the order is no matter of course."""
    overtaking = {}
    for latency in (FIXED, EXPONENTIAL):
        per_ms = 0.8 * min(channels / (8.0 + TRANSFER_MS), 1 / TRANSFER_MS)
        model = readers(per_ms, 5, **SIZES["gamma"], **disk(channels, 8.0, latency))
        records = np.sort(model.engine.records[: model.engine.finished], order="arrival_ns")
        ends_ns = [records["finish_ns"][records["home"] == home] for home in range(24)]
        overtaking[latency] = sum(int((np.diff(ends) < 0).sum()) for ends in ends_ns)
    assert overtaking[FIXED] == 0
    assert overtaking[EXPONENTIAL] > 0.1 * len(records)


def saturated(tasks, until_ms, seed=0, **overrides):
    """Requests per ms of one disk that so many tasks ask again within nanoseconds, for ever."""
    model = run(
        seed, cluster__nodes=1, cluster__cores=tasks, cluster__cpu_speed=1000.0, run__until=until_ms,
        workload__jobs=1, workload__duration_s=1e-6, workload__tasks__parallel_share=1.0,
        workload__tasks__minimum=tasks, workload__tasks__maximum=tasks, workload__cpu_ms__kind="fixed",
        workload__cpu_ms__mean=1e4, workload__io_per_ms__mean=1000.0, **overrides,
    )  # fmt: skip
    assert model.engine.live == tasks
    assert model.engine.nodes["cpu_busy_ns"][0] < 1e-3 * until_ms * 1e6
    return (model.engine.nodes["requests"][0] - tasks) / until_ms


@pytest.mark.parametrize(("channels", "seek_ms"), [(1, 8.0), (2, 8.0), (4, 8.0), (4, 6.0), (4, 0.0), (16, 8.0)])
def test_throughput_of_equal_requests_is_what_channels_or_bus_let_through(channels, seek_ms):
    """min(q/(seek + transfer), 1/transfer), whichever of the two is the bottleneck; with tasks to spare."""
    bound = min(channels / (seek_ms + TRANSFER_MS), 1 / TRANSFER_MS)
    throughput = saturated(channels + 3, 50_000.0, **SIZES[FIXED], **disk(channels, seek_ms))
    assert throughput == pytest.approx(bound, rel=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("latency", [FIXED, EXPONENTIAL])
@pytest.mark.parametrize(("channels", "seek_ms"), [(2, 8.0), (4, 8.0), slow(4, 6.0), slow(8, 8.0), slow(16, 30.0)])
def test_throughput_of_drawn_sizes_is_that_of_a_finite_source_queue(channels, seek_ms, latency):
    """As many requests as channels go round a delay, the seeks, and one server, the bus: a product form where sizes are
    exponential, whatever the law of the seeks. It stays below the throughput of equal requests."""
    runs = [
        saturated(channels + 3, 40_000.0, seed, **SIZES[EXPONENTIAL], **disk(channels, seek_ms, latency))
        for seed in range(8)
    ]
    inside(runs, throughput_of_a_closed_network(channels, [(seek_ms, channels), (TRANSFER_MS, 1)]), widest=0.03)
    assert max(runs) < min(channels / (seek_ms + TRANSFER_MS), 1 / TRANSFER_MS)


@pytest.mark.slow
@pytest.mark.parametrize(("channels", "rho"), [(1, 0.6), (4, 0.4), slow(16, 0.3)])
def test_a_disk_is_busy_while_its_device_holds_a_request(channels, rho):
    """As often as M/M/q is not empty; requests in the device by Little's law."""
    seek_ms, window_s = 8.0, 60.0
    per_ms = rho * channels / seek_ms
    model = readers(
        per_ms, window_s, **NO_TRANSFER, **disk(channels, seek_ms, EXPONENTIAL), run__until=window_s * 1000
    )  # fmt: skip
    until_ns = round(window_s * 1e9)
    _, busy_ns = model.engine.busy_ns(until_ns)
    in_device_ns = model.engine.in_device_ns(until_ns)
    came = [(model.engine.nodes["requests"] / (window_s * 1000), per_ms)]
    truth = 1 - chance_of_an_empty_station(channels, rho)
    # The empty start takes a few seeks of 60 s off.
    inside(busy_ns / until_ns, truth, 5e-4, controls=came, widest=0.02)
    inside(in_device_ns / until_ns, rho * channels, 5e-4 * channels, controls=came, widest=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "cores", "rho", "channels", "rho_disk", "window_s"),
    [
        (EXPONENTIAL, 2, 0.7, 3, 0.7, 2800),
        (FIXED, 2, 0.7, 1, 0.6, 2000),
        slow(LIFETIME, 4, 0.7, 2, 0.7, 2000),
        slow(EXPONENTIAL, 1, 0.6, 2, 0.8, 10_000),
        slow(FIXED, 8, 0.8, 2, 0.7, 600),
    ],
)
def test_an_open_network_of_cores_and_channels_has_product_form(law, cores, rho, channels, rho_disk, window_s):
    """Jobs compute, access the disk after exponential bursts, and go back, a Poisson number of times: M/M/c processor
    sharing, whatever the law of their CPU demands, and M/M/q, each as if the other were not (BCMP; Kelly)."""
    per_ms = 0.005
    seek_ms = rho_disk * channels / (rho * cores * per_ms)
    model = run(
        cluster__nodes=48, cluster__cores=cores, cluster__quantum_ms=0.1, workload__utilisation=rho,
        workload__duration_s=window_s, workload__io_per_ms__mean=per_ms, **DEMANDS[law], **NO_TRANSFER,
        **disk(channels, seek_ms, EXPONENTIAL),
    )  # fmt: skip
    # What is left of a job lasts longer by its time at the disk; so work that is late goes on being late.
    residual_s = RESIDUAL_S[law] * (1 + per_ms * seek_ms)
    done = Steady(model, window_s, settling_s(cores, rho, residual_s) + settling_s(channels, rho_disk, seek_ms / 1000))
    cpu_ms, requests = done.by_home(done.ms("cpu")), done.by_home(done.records["requests"])
    controls = [
        (cpu_ms / (cores * done.span_ms), rho),
        (requests / done.span_ms, rho * cores * per_ms),
        (done.by_home(done.ms("io")) / (channels * done.span_ms), rho_disk),
    ]
    cpu_waits = done.by_home(done.ms("cpu_queue")) / cpu_ms
    disk_waits = done.by_home(done.ms("io_queue")) / requests / seek_ms
    # Each burst of some 200 ms is delayed by a few quanta of 0.1 ms.
    inside(cpu_waits, wait_of_exponential_services(cores, rho), 0.001, controls=controls)
    inside(disk_waits, wait_of_exponential_services(channels, rho_disk), controls=controls)


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "cores", "channels"), [(3, 2, 2), (8, 2, 3), (8, 4, 1), slow(30, 4, 8)])
@pytest.mark.parametrize("latency", [FIXED, EXPONENTIAL])
def test_a_closed_loop_of_cores_and_channels_has_the_product_form_throughput(tasks, cores, channels, latency):
    """Exponential bursts, tasks that never end: at exponential latency a network of two queues; with a channel for each
    task three stations, cores, a delay of any law, and the bus, with exponential sizes."""
    burst_ms, seek_ms, until_ms = 5.0, 7.5, 100_000.0
    if latency == EXPONENTIAL:
        stations, sizes = [(burst_ms, cores), (seek_ms, channels)], NO_TRANSFER
    else:
        channels, stations, sizes = tasks, [(burst_ms, cores), (seek_ms, tasks), (TRANSFER_MS, 1)], SIZES[EXPONENTIAL]
    throughput = []
    for offset in range(12):
        model = run(
            offset, cluster__nodes=1, cluster__cores=cores, run__until=until_ms, workload__jobs=1,
            workload__duration_s=1e-6, workload__tasks__parallel_share=1.0, workload__tasks__minimum=tasks,
            workload__tasks__maximum=tasks, workload__cpu_ms__kind="fixed", workload__cpu_ms__mean=1e9,
            cluster__quantum_ms=math.inf, workload__io_per_ms__mean=1 / burst_ms, **sizes,
            **disk(channels, seek_ms, latency),
        )  # fmt: skip
        assert model.engine.live == tasks
        throughput.append(model.engine.nodes["requests"][0] / until_ms)
    inside(throughput, throughput_of_a_closed_network(tasks, stations), widest=0.03)


def pooled_waits(nodes, per_ms, window_s, **overrides):
    """As `waits`, of all disks together, in twelve runs under the policy `pooled`."""
    measured_ms, arrivals = [], []
    for replication in range(12):
        model = readers(per_ms / nodes, window_s, nodes, policy__name="pooled", seed_offset=replication, **overrides)
        done = Steady(model, window_s, 1)
        measured_ms.append(done.ms("io_queue").mean())
        arrivals.append(len(done.records) / done.span_ms)
    return np.array(measured_ms), (arrivals, per_ms)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("latency", "nodes", "channels", "rho", "window_s"),
    [
        slow(EXPONENTIAL, 2, 2, 0.8, 120),
        (FIXED, 4, 2, 0.8, 45),
        slow(EXPONENTIAL, 4, 4, 0.85, 70),
        slow(EXPONENTIAL, 8, 1, 0.85, 120),
        slow(FIXED, 2, 8, 0.9, 70),
    ],
)
def test_the_bound_has_the_channels_of_all_disks(latency, nodes, channels, rho, window_s):
    """Policy `pooled`, requests without transfer: n disks of q channels are M/M/(n q), or M/D/(n q)."""
    seek_ms, servers = 8.0, nodes * channels
    per_ms = rho * servers / seek_ms
    measured_ms, arrivals = pooled_waits(nodes, per_ms, window_s, **NO_TRANSFER, **disk(channels, seek_ms, latency))
    inside(measured_ms / seek_ms, WAITS[latency](servers, rho), controls=[arrivals])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "nodes", "channels", "seek_ms", "rho", "window_s"),
    [(EXPONENTIAL, 4, 4, 0.0, 0.8, 26), slow(FIXED, 8, 2, 0.0, 0.9, 30), slow(EXPONENTIAL, 4, 64, 20.0, 0.8, 26)],
)
def test_the_bound_has_the_buses_of_all_disks(sizes, nodes, channels, seek_ms, rho, window_s):
    """Policy `pooled`: without seek n disks of any number of channels are M/M/n, or M/D/n; with more channels than are
    ever taken (32 of 256 on average) they are so to requests that come later by their seeks."""
    per_ms = rho * nodes / TRANSFER_MS
    measured_ms, arrivals = pooled_waits(nodes, per_ms, window_s, **SIZES[sizes], **disk(channels, seek_ms))
    inside(measured_ms / TRANSFER_MS, WAITS[sizes](nodes, rho), controls=[arrivals])
