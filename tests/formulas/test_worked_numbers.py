"""Formulas against numbers worked by hand (the project's cases; units: 1 MB = 1000 KB, disk 8 ms + size / 40 MB/s)."""

import math

import numpy as np
import pytest

from cluster_abm.formulas import (
    buffer_share_kb,
    closed_response_ms,
    controlled_growth_kb,
    cpu_response_ms,
    cpu_share,
    data_kb,
    disk_share,
    explicit_io_per_ms,
    hit_rate,
    io_load_ms,
    isolated_faults,
    load_imbalance_factors,
    narrows_the_gap,
    page_faults_per_ms,
    page_load_ms,
    remote_execution_ms,
    service_ms,
    slowdown,
)

# Tasks A, B, C: (I/O rate per ms, request KB, CPU ms, age ms, re-access rate).
A, B = (0.02, 100.0, 2000.0, 500.0, 1.0), (0.01, 256.0, 5000.0, 1000.0, 3.0)
SERVICE_A, SERVICE_B = 10.5, 14.4


@pytest.mark.parametrize(("size_kb", "expected_ms"), [(100, 10.5), (256, 14.4), (4, 8.1)])
def test_disk_service(size_kb, expected_ms):
    assert service_ms(size_kb, 8.0, 40.0) == pytest.approx(expected_ms)


def test_expected_queue_of_a_b_c():
    queue = sum(cpu_share(rate, service, 0, 0) for rate, service in [(0.02, 10.5), (0.01, 14.4), (0, 0)])
    assert queue == pytest.approx(2.70057, abs=1e-5)


def test_expected_queue_of_a_c():
    assert cpu_share(0.02, 10.5, 0, 0) + cpu_share(0, 0, 0, 0) == pytest.approx(1.82645, abs=1e-5)


def test_closed_response_of_a_on_a_b_c_and_on_a_c():
    with_b = closed_response_ms(1500, 0.02, 10.5, 0, 2.70057, disk_share(0.01, 14.4, 0, 0))
    without_b = closed_response_ms(1500, 0.02, 10.5, 0, 1.82645, 0.0)
    assert with_b == pytest.approx(4405.51, abs=0.02)
    assert without_b == pytest.approx(3054.67, abs=0.02)


def test_a_short_queue_counts_as_one():
    # Alone: 1500 ms of CPU and 30 accesses of 10.5 ms, whatever E(L) < 1 says.
    assert closed_response_ms(1500, 0.02, 10.5, 0, 0.826, 0) == pytest.approx(1500 + 30 * 10.5)


def test_cpu_response():
    assert cpu_response_ms(400, 3) == 1600


def test_page_faults():
    assert page_faults_per_ms(720, 480, 0.5, math.inf, False) == pytest.approx(0.75)
    assert page_faults_per_ms(480, 480, 0.5, math.inf, False) == 0
    assert page_faults_per_ms(960, 480, 0.5, 1.5, False) == pytest.approx(0.75)
    assert page_faults_per_ms(960, 480, 0.5, math.inf, True) == pytest.approx(0.25)


def test_page_time_of_a():
    faults = page_faults_per_ms(720, 480, 0.5, math.inf, False)
    assert page_load_ms(faults, 1500, 8.1) == pytest.approx(9112.5)


def test_buffer():
    streams = [A[0] * A[1], B[0] * B[1]]
    shares = [buffer_share_kb(stream, sum(streams), 160_000) for stream in streams]
    assert shares == pytest.approx([70_175.4, 89_824.6], abs=0.1)
    data = [data_kb(rate, cpu, size, again) for rate, size, cpu, _, again in (A, B)]
    assert data == pytest.approx([2000, 3200])
    hits = [hit_rate(task[4], share, amount) for task, share, amount in zip((A, B), shares, data, strict=True)]
    assert hits == pytest.approx([0.5, 0.75])
    assert [explicit_io_per_ms(t[0], h) for t, h in zip((A, B), hits, strict=True)] == pytest.approx([0.01, 0.0025])


def test_buffer_too_small_for_the_data():
    assert hit_rate(3.0, 800, 3200) == pytest.approx(0.75 * 0.25)
    assert hit_rate(3.0, 0, 0) == 0
    assert buffer_share_kb(0, 0, 160_000) == 0


def test_remote_execution_of_a():
    # 20 MB over 1 Gbps (128 MB/s) and two disks of 40 MB/s; at 100 Mbps (12.5 MB/s).
    assert remote_execution_ms(100, 20, 128, 40, 40) == pytest.approx(1256.25)
    assert remote_execution_ms(100, 20, 12.5, 40, 40) == pytest.approx(2700)


def test_wal_pm_section_3_data_of_120_mb():
    # 937.5 ms on the network, 6000 ms for two disk passes.
    assert remote_execution_ms(0, 120, 128, 1e12, 1e12) == pytest.approx(937.5)
    assert remote_execution_ms(0, 120, 1e12, 40, 40) == pytest.approx(6000)


def test_iolb_loads_of_a_b_c():
    remaining = [1500, 4000, 3000]
    assert sum(remaining) == 8500
    io = io_load_ms(1500, 0.02, 10.5) + io_load_ms(4000, 0.01, 14.4) + io_load_ms(3000, 0, 0)
    assert io == pytest.approx(891)
    assert io_load_ms(2000, 0.05, 14.4) == pytest.approx(1440)


def test_load_imbalance_factors_of_three_nodes():
    cpu, page, io = np.array([8500.0, 2000, 0]), np.zeros(3), np.array([891.0, 1440, 0])
    lif_cpu, lif_page, lif_io = load_imbalance_factors(cpu, page, io)
    assert lif_cpu == pytest.approx(8183.31, abs=0.01)
    assert lif_io == pytest.approx(282.314, abs=0.001)
    assert lif_page == 0
    assert load_imbalance_factors(page, page, page) == (0, 0, 0)


def test_line_6_holds_iff_the_gap_exceeds_the_task():
    assert narrows_the_gap(288, 1000, 711.9)
    assert not narrows_the_gap(288, 1000, 712)


def test_slowdowns():
    assert slowdown(3000, 500 + 500 * 0.02 * 10.5) == pytest.approx(4.95868, abs=1e-5)
    assert slowdown(3000, 500) == 6


def test_dedicated_paging_counts_whole_faults_before_the_end():
    # 1000 ms at 0.0015 faults per ms: one whole fault, and half a one that never comes.
    assert isolated_faults(0.0015 * 1000, 0.0015e-6) == 1
    # At 0.002 the second one would come as the task ends.
    assert isolated_faults(0.002 * 1000, 0.002e-6) == 1
    assert isolated_faults(0.002 * 1000.001, 0.002e-6) == 2
    assert isolated_faults(0.0, 0.0) == 0


@pytest.mark.parametrize(("misses", "faults", "gain", "expected_kb"), [
    # Of 50 MB that are free 60 %, of the buffer's 20 MB 90 %.
    (0.6, 0.0, 0.5, 15_000.0),
    (0.0, 0.9, 0.5, -9_000.0),
    (0.4, 0.3, 1.0, 14_000.0),
    (0.0, 1.0, 1.0, -20_000.0),
    (1.0, 0.0, 1.0, 50_000.0),
    (0.2, 0.5, 0.7, 0.0),
    (0.0, 0.0, 1.0, 0.0),
])  # fmt: skip
def test_growth_of_a_controlled_buffer(misses, faults, gain, expected_kb):
    assert controlled_growth_kb(20_000.0, 50_000.0, misses, faults, gain) == pytest.approx(expected_kb)
