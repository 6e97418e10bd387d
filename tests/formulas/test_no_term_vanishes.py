"""Every formula at arguments where no term is 0 or 1 and no two are alike, and on both sides of each of its limits.

What is expected was worked by hand from the papers' formula, as the note behind each row says; a row is (arguments,
result).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from cluster_abm import formulas
from cluster_abm.formulas import buffer_beside_kb, imbalance, load_imbalance_factor, load_imbalance_factors, sums, total
from cluster_abm.formulas.load_class import HIGH, IDLE, LOW, NORMAL

# 1/16 + 1/20 + 1/50 s for a MB over the network and two unlike disks: 132.5 ms.
WAY = (16.0, 20.0, 50.0)
# A node of 480 MB, mu = 0.5, the literal law.
PAGING = (480.0, 0.5, math.inf, False)
THRESHOLDS = formulas.ClassThresholds()
# Two files on two nodes each, three nodes; the first two nodes are a cluster. File 0 lies on nodes 0 and 2, file 1 on
# node 2 alone.
TIMES_MS = np.array([[[0.0, 30.0, 500.0], [700.0, 20.0, 0.0]], [[900.0, 800.0, 0.0], [np.inf] * 3]])
WITHIN = np.array([[[True, True, False], [False, False, True]], [[False, False, True], [False] * 3]])

ROWS = {
    # ---- buffer: WAL-PM (13)-(16) ----
    "buffer_share_kb": [
        ((3.0, 8.0, 500.0), 187.5),  # 3/8 of it
        ((8.0, 8.0, 500.0), 500.0),
        ((0.0, 0.0, 500.0), 0.0),
    ],
    "data_kb": [((0.03, 700.0, 90.0, 2.5), 540.0)],  # 21 accesses of 90 KB, 3.5 to each KB
    "hit_rate": [
        ((1.5, 250.0, 400.0), 0.375),  # 3/5 of 5/8
        ((1.5, 400.0, 400.0), 0.6),
        ((1.5, 900.0, 400.0), 0.6),
        ((1.5, 900.0, 0.0), 0.0),
    ],
    "explicit_io_per_ms": [((0.03, 0.375), 0.01875)],
    "controlled_growth_kb": [
        ((20_000.0, 30_000.0, 0.6, 0.2, 0.5), 7000.0),  # half of 18 MB of the free less 4 MB of its own
        ((20_000.0, 30_000.0, 0.2, 0.6, 0.5), -3000.0),  # half of 6 MB less 12
    ],
    # A program takes what is free first, then what the buffer has.
    "buffer_beside_kb": [
        ((300.0, 200.0, 120.0), 300.0),
        ((300.0, 200.0, 200.0), 300.0),
        ((300.0, 200.0, 350.0), 150.0),
        ((300.0, 0.0, 120.0), 180.0),
        ((300.0, 200.0, 500.0), 0.0),
        ((300.0, 200.0, 900.0), 0.0),
    ],
    # ---- unlike nodes ----
    "relative_capacity": [((np.array([2.0, 6.0, 1.0]),), [2 / 3, 2.0, 1 / 3])],
    "relative_load": [((2.5, 0.7, 0.8), 4.0)],  # 3.2/0.8
    "sharing": [((7.0, 4.0), 1.75), ((4.0, 4.0), 1.0), ((3.0, 4.0), 1.0)],
    "tasks_per_core": [((7.0, 4.0), 1.75), ((2.5, 4.0), 1.0), ((0.6, 4.0), 0.6)],
    "others_per_core": [((7.0, 4.0), 1.75), ((3.0, 4.0), 0.75), ((2.5, 4.0), 0.75)],
    # ---- cost: WAL-PM (6)-(8) ----
    "available_mb_per_s": [((60.0, 0.5), 40.0), ((60.0, 0.0), 60.0)],
    "remote_execution_ms": [((70.0, 3.0, *WAY), 467.5)],  # 70 + 3 x 132.5
    "written_mb": [((640.0, 0.05, 0.4, 75.0, 2.0), 0.32)],  # 32 accesses, 12.8 of them write 75 KB, 3 to each KB
    "migration_ms": [((90.0, 8.0, 3.0, *WAY), 987.5)],  # 90 + 8000/16 + 3 x 132.5
    "moving_ms": [
        ((True, 70.0, 90.0, 8.0, 3.0, 0.5, *WAY), 1053.75),  # 90 + 500 + 3.5 x 132.5
        ((False, 70.0, 90.0, 8.0, 3.0, 0.5, *WAY), 467.5),
    ],
    "migration_cost_effectiveness": [((640.0, 0.05, 800.0), 0.04)],
    # ---- data access: LMIP ----
    "transfer_ms": [((30.0, 12.0, 7.0), 2507.0)],
    "within_cluster_ms": [((TIMES_MS, WITHIN), [0.0, 30.0, 0.0])],  # node 1 from node 0, though node 2 is nearer
    "between_clusters_ms": [((TIMES_MS, WITHIN), [900.0, 800.0, 0.0])],
    "data_access_ms": [((TIMES_MS, WITHIN), [900.0, 830.0, 0.0])],
    # ---- disk: IOLB (6) ----
    "service_ms": [((90.0, 6.5, 20.0), 11.0)],
    "disk_work_ms": [((24.0, 5.0, 3.0), 8.0), ((24.0, 8.0, 3.0), 8.0), ((24.0, 9.0, 3.0), 9.0)],
    "disk_response_ms": [
        ((24.0, 6.0, 5.0, 1.0), 144.0),  # one channel: six times all of it
        ((24.0, 2.0, 5.0, 3.0), 48.0),  # 24 x 6/3 against 22 + 2 x 6
        ((24.0, 6.0, 5.0, 3.0), 54.0),  # against 18 + 6 x 6
        ((24.0, 6.0, 0.2, 3.0), 25.2),  # a channel for each, 24, against 18 + 6 x 1.2
    ],
    # ---- load indices: WAL-PM (4), (9), IOLB (5) ----
    "io_load_ms": [((300.0, 0.05, 12.0), 180.0)],
    "cpu_share": [((0.05, 12.0, 0.01, 30.0), 1 / 1.9), ((0.05, 12.0, 0.0, 30.0), 1 / 1.6)],
    "disk_share": [((0.05, 12.0, 0.01, 30.0), 0.9 / 1.9), ((0.05, 12.0, 0.0, 30.0), 0.6 / 1.6)],
    "narrows_the_gap": [((7.0, 30.0, 22.9), True), ((7.0, 30.0, 23.0), False), ((7.0, 22.0, 30.0), False)],
    "weighted_load": [((0.2, 0.3, 0.5, 4.0, 70.0, 6.0), 24.8)],  # 0.8 + 21 + 3
    "load_class": [
        ((50.0, 2.5, 60.0, THRESHOLDS), NORMAL), ((50.0, 2.5, 90.0, THRESHOLDS), HIGH),
        ((0.5, 2.5, 60.0, THRESHOLDS), IDLE), ((20.0, 2.5, 30.0, THRESHOLDS), LOW),
        ((20.0, 2.5, 60.0, THRESHOLDS), NORMAL), ((90.0, 2.5, 60.0, THRESHOLDS), NORMAL),
    ],
    "class_thresholds": [((1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0), (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0))],
    "load_classes": [
        (
            (*np.array([[0.5, 20.0, 50.0, 50.0], [2.5] * 4, [60.0, 30.0, 90.0, 60.0]]), THRESHOLDS),
            [IDLE, LOW, HIGH, NORMAL],
        ),
    ],
    # ---- paging: WAL-PM (12), IOLB (11), MCLS (1)-(4) ----
    "page_faults_per_ms": [
        ((720.0, *PAGING), 0.75),  # 0.5 x 3/2
        ((480.0, *PAGING), 0.0),
        ((480.48, *PAGING), 0.5005),
        ((720.0, 480.0, 0.5, 1.2, False), 0.6),
        ((720.0, 480.0, 0.5, 1.6, False), 0.75),
        ((720.0, 480.0, 0.5, 1.2, True), 0.5 / 3),  # a third of the pages; the cap is of the other law
    ],
    # 3000 reads and writes: 120 - 4/0.2065 and -174.98 + 183 a second.
    "node_faults_per_ms": [
        ((720.0, *PAGING, True, 3000.0), (128.02 - 4 / 0.2065) / 1000),
        ((720.0, *PAGING, False, 3000.0), 0.75),
        ((720.0, 480.0, 0.5, 1.2, True, False, 3000.0), 0.5 / 3),
        ((480.0, *PAGING, True, 3000.0), 0.0),
    ],
    "page_load_ms": [((0.03, 400.0, 8.1), 97.2)],
    "oversize": [((720.0, 480.0), 0.5), ((360.0, 480.0), -0.25)],
    "is_less_oversized": [
        ((0.3, 0.125, 10.0, 80.0), True),  # 0.125 + 0.125 there
        ((0.25, 0.125, 10.0, 80.0), False),
        ((0.2, 0.125, 10.0, 80.0), False),
        ((-0.5, -0.125, 10.0, 80.0), True),  # it just fits
        ((-0.5, -0.1, 10.0, 80.0), False),
    ],
    "paging_rate_per_s": [
        ((0.5, 100.0), 120 - 4 / 0.2065),
        ((0.5, 3000.0), 128.02 - 4 / 0.2065),
        ((0.5, 2869.0), 120.029 - 4 / 0.2065),  # the first that counts
        ((1.0, 3000.0), 120.0),  # 112.5 + 8.02
        ((-0.5, 3000.0), 0.0),
    ],
    "even_faults": [((80.0, 0.3, 500.0), 24.0), ((80.0, 0.3, 0.0), 80.0)],
    "allocation_faults": [((80.0, 0.3, 500.0, 3), 0.336), ((80.0, 0.3, 0.0, 3), 0.0)],  # 56 x 3/500
    "activity_weight": [
        ((30.0, 4.0, 12.0, 90.0, (40.0, 5.0, 20.0, 100.0)), 0.7625),  # (0.75 + 0.8 + 0.6 + 0.9)/4
        ((30.0, 4.0, 12.0, 90.0, (40.0, 5.0, 0.0, 100.0)), 0.6125),
    ],
    # ---- energy: Fan, Weber, Barroso ----
    "energy_j": [((100.0, 50.0, 7.0, 3600.0, 1000.0, 600.0), 414_200.0)],  # 360,000 + 50,000 + 4200
    # ---- responses: WAL-PM (1)-(3), `closed` ----
    "closed_response_ms": [
        # 1000 x 2.5, and 30 requests of 12 ms with 240 ms of paging, 1.5 times.
        ((1000.0, 0.03, 12.0, 240.0, 2.5, 0.5), 3400.0),
        # 1000 x 2.5/2; 600 against 450 + 150 x 1.5.
        ((1000.0, 0.03, 12.0, 240.0, 2.5, 0.5, 150.0, 2.0, 2.0), 1925.0),
        ((1000.0, 0.03, 12.0, 240.0, 0.8, 0.5), 1900.0),
    ],
    "cpu_response_ms": [((300.0, 2.6), 1080.0), ((300.0, 2.6, 2.0), 540.0), ((300.0, 0.6, 2.0), 300.0)],
    "open_disk": [((0.06, 0.9, 15.0, 2.5), (0.024, 0.36, 15.0, 250.0)), ((0.0, 0.9, 15.0, 2.5), (0.0,) * 4)],
    # 24 requests that wait 0.024 x 250/(2 x 0.64) = 4.6875.
    "mg1_response_ms": [((800.0, 0.03, 2.5, 0.024, 0.36, 15.0, 250.0), 2472.5)],
    # Services of 10 ms, 8 of them a seek, at 0.2 a ms; the second moments are 104 and 104 - 160 + 64 = 8.
    "mgq_response_ms": [
        # The bus: 0.2 x 8/(2 x 0.6); four channels: 1.04/2 x 4/23 x 10/(4 x 0.5).
        ((1000.0, 0.05, 2.0, 0.4, 4.0, 41.6, 8.0, 4, 0.9), 2000 + 50 * (10 + 4 / 3)),
        # Two channels at a load of 1, which counts as 0.9: 1.04/2 x 1.62/1.9 x 10/(2 x 0.1).
        ((1000.0, 0.05, 2.0, 0.4, 4.0, 41.6, 8.0, 2, 0.9), 2000 + 50 * (10 + 26 * 1.62 / 1.9)),
        # A mean that is a hair below the seek has no transfers: on four channels of equal services 1/2 x 4/23 x 5.
        ((1000.0, 0.05, 2.0, 0.4, 4.0, 40.0, 10.0 + 1e-12, 4, 0.9), 2000 + 50 * (10 + 10 / 23)),
        ((1000.0, 0.05, 2.0, 0.0, 4.0, 41.6, 8.0, 4, 0.9), 2000.0),
    ],
    "erlang_c": [((2, 0.75), 1.125 / 1.75), ((3, 0.5), 9 / 38)],  # 1.5: (27/48)/(1/2) over 1 + 1.5 + 1.125 + 1.125
    "wait_at_servers_ms": [
        # Loads of 0.5 on three: 1.5/2 x 9/38 x 10/(3 x 0.5).
        ((0.15, 10.0, 150.0, 3, 0.9), 0.75 * 9 / 38 * 10 / 1.5),
        ((0.15, 0.0, 150.0, 3, 0.9), 0.0),
        ((9.0, 10.0, 150.0, 1, 0.75), 0.75 * 0.75 * 10 / 0.25),
    ],
    # ---- scores: KEP-61, KEP-624 ----
    "target_load_score": [
        ((30.0, 60.0), 80.0),  # 40 x 30/60 + 60
        ((60.0, 60.0), 100.0), ((70.0, 60.0), 45.0),  # 60 x 30/40
        ((100.0, 60.0), 0.0), ((130.0, 60.0), 0.0),
    ],
    # sigma^(1/2) = 0.3: 0.6 with a margin of 2.
    "risk_score": [((0.4, 0.09, 2.0, 2.0), 50.0), ((0.4, 0.09, 5.0, 2.0), 30.0), ((1.4, 0.09, 2.0, 2.0), 20.0)],
    "least_allocated_score": [((80.0, 30.0), 62.5), ((30.0, 80.0), 0.0)],
    "most_allocated_score": [((80.0, 30.0), 37.5), ((30.0, 80.0), 0.0)],
    "whole_score": [((62.49,), 62), ((62.5,), 63), ((63.5,), 64)],
    # ---- relaxation: 2 x 0.8 x 10/(2 x 0.04) s ----
    "relaxation_s": [
        ((0.8, 2.0, 10.0), 200.0), ((0.8, 0.0, 10.0), 0.0), ((1.0, 2.0, 10.0), math.inf), ((1.3, 2.0, 10.0), math.inf),
    ],
    # ---- slowdown ----
    "slowdown": [((900.0, 250.0), 3.6)],
    # Both longer than the bound of 200; alone shorter: 900/500; both shorter.
    "bounded_slowdown": [((900.0, 250.0, 200.0), 3.6), ((900.0, 250.0, 500.0), 1.8), ((900.0, 250.0, 1000.0), 1.0)],
    # (2 + 3 + 5)^2 / (3 (4 + 9 + 25)).
    "jain_index": [((np.array([2.0, 3.0, 5.0]),), 100 / 114), ((np.zeros(2),), 1.0)],
    # Two come before the end; at exactly three the last one comes as it ends.
    "isolated_faults": [((2.7, 0.2), 2), ((3.0, 0.2), 2), ((3.3, 0.2), 3), ((0.2, 1.5), 0)],
    # ---- sums over nodes: 150 of them are two blocks of 64 and 22, of which 6 are in no eight ----
    "total": [((np.arange(1.0, 151.0),), 11_325.0), ((np.zeros(0),), 0.0), ((np.full(64, 0.25),), 16.0)],
    # Shares 600, 30 and 370 of 1000; deviations 200, 40, and 63.33 twice and 126.67.
    "load_imbalance_factors": [
        ((np.array([100.0, 300, 200]), np.array([0.0, 30, 0]), np.array([60.0, 60, 250])),
         (120.0, 1.2, 0.37 * 760 / 3)),
    ],
    "load_imbalance_factor": [((np.array([60.0, 60, 250]), 1000.0), 0.37 * 760 / 3)],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [pytest.param(name, *row, id=f"{name}-{place}") for name, rows in ROWS.items() for place, row in enumerate(rows)],
)
def test_each_formula_where_no_term_vanishes(name, arguments, result):
    assert getattr(formulas, name)(*arguments) == pytest.approx(result)


def test_each_formula_has_its_rows():
    assert ROWS.keys() == set(formulas.__all__) - {"ClassThresholds"}


def test_a_buffer_that_a_program_leaves_is_less_by_what_was_not_free():
    """Whatever it asks for, up to all of it: programs, the buffer and free memory have the same together."""
    buffer_kb, free_kb = 300.0, 200.0
    for memory_kb in range(0, 501, 50):
        left_kb = buffer_beside_kb(buffer_kb, free_kb, float(memory_kb))
        free_then_kb = max(0.0, free_kb - memory_kb)
        assert left_kb + free_then_kb + memory_kb == buffer_kb + free_kb


def test_sums_of_a_part_of_the_nodes():
    column = np.arange(1.0, 151.0)
    # 4 to 21: two eights and 20, 21.
    assert sums.block_total(column, 3, 21) == 225.0
    assert sums.block_total(column, 3, 3) == 0.0
    # 0.5 to 74.5 on either side of 75.5.
    assert sums.total_deviation(column, 75.5) == 5625.0
    assert sums.total_deviation(column[:5], 10.0) == 9 + 8 + 7 + 6 + 5


def test_imbalance_of_sums_that_are_known_is_the_same():
    """Of 24 nodes, 3 of them twice as loaded as the mean 8 of the others: all shares and spreads by hand."""
    cpu_ms = np.array([16.0] * 3 + [8.0] * 21)  # sum 216, mean 9: 3 x 7 + 21 x 1 = 42
    io_ms = np.array([4.0] * 12 + [20.0] * 12)  # sum 288, mean 12: 24 x 8 = 192
    idle = np.zeros(24)
    expected = pytest.approx((216 / 504 * 42, 0.0, 288 / 504 * 192))
    assert load_imbalance_factors(cpu_ms, idle, io_ms) == expected
    assert imbalance.imbalance_factors((216.0, 0.0, 288.0), cpu_ms, idle, io_ms) == expected
    assert load_imbalance_factor(cpu_ms, 504.0) == pytest.approx(18.0)
    assert total(cpu_ms) + total(io_ms) == 504.0
