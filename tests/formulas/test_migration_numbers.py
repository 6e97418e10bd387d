"""Preemptive migration against numbers worked by hand (the project's cases) and WAL-PM's section 3.

Tasks A: lambda .02/ms, 100 KB, t 2000, a 500, re-access 1, w .25, d_INIT 20 MB, m 4 MB. B: lambda .01, 256 KB, t 5000,
a 1000. C: no I/O, t 3000. Requests of A take 10.5 ms, of B 14.4; 1 Gbps is 128 MB/s, disks do 40 MB/s; e = f = 100 ms.
"""

import math

import pytest

from cluster_abm.formulas import (
    cpu_share,
    mg1_response_ms,
    migration_cost_effectiveness,
    migration_ms,
    open_disk,
    page_faults_per_ms,
    remote_execution_ms,
    weighted_load,
    written_mb,
)

A, B, C = (0.02, 10.5), (0.01, 14.4), (0.0, 0.0)


def disk_of(tasks, queue):
    """open_disk of (lambda, s) pairs."""
    return open_disk(
        sum(rate for rate, _ in tasks),
        sum(rate * s for rate, s in tasks),
        sum(rate * s * s for rate, s in tasks),
        queue,
    )


def queue_of(tasks):
    return sum(cpu_share(rate, s, 0, 0) for rate, s in tasks)


def test_the_disk_of_a_b_c():
    assert disk_of([A, B, C], queue_of([A, B, C])) == pytest.approx((0.0111088, 0.131083, 11.8, 142.62), rel=1e-5)


def test_the_disk_and_response_of_a_on_a_c():
    queue = queue_of([A, C])
    disk = disk_of([A, C], queue)
    assert disk[:2] == pytest.approx((0.0109502, 0.114977), rel=1e-5)
    assert mg1_response_ms(1500, 0.02, queue, *disk) == pytest.approx(3075.13, abs=0.01)


def test_a_alone_literally():
    queue = queue_of([A])
    disk = disk_of([A], queue)
    assert disk[:2] == pytest.approx((0.0242, 0.2541), rel=1e-4)
    # Below its dedicated 1815 ms: why E(L) is clamped.
    assert mg1_response_ms(1500, 0.02, queue, *disk) == pytest.approx(1608.32, abs=0.01)


def test_a_lone_task_at_lambda_01_literally_and_with_the_queue_clamped():
    lone = [(0.1, 10.5)]
    queue = queue_of(lone)
    disk = disk_of(lone, queue)
    assert disk[1] == pytest.approx(2.1525)
    assert mg1_response_ms(1000, 0.1, queue, *disk) == pytest.approx(557.27, abs=0.01)
    clamped = disk_of(lone, 1.0)
    assert clamped[1] == pytest.approx(1.05)
    # Negative: why rho is clamped too.
    assert mg1_response_ms(1000, 0.1, 1.0, *clamped) == pytest.approx(-8975.0)


def test_no_io_no_disk():
    assert disk_of([C, C], 2.0) == (0, 0, 0, 0)


def test_what_a_has_written_and_what_its_migration_costs():
    assert written_mb(500, 0.02, 0.25, 100, 1) == pytest.approx(0.125)
    assert remote_execution_ms(100, 20, 128, 40, 40) == pytest.approx(1256.25)
    assert migration_ms(100, 4, 20.125, 128, 40, 40) == pytest.approx(1294.73, abs=0.005)
    assert migration_cost_effectiveness(500, 0.02, 1294.73) == pytest.approx(0.00772364, rel=1e-5)


def test_a_gains_more_than_it_costs():
    """From {A, B, C} to {C}, by the papers' estimator: 1357.08 > 1294.73."""
    here, there = queue_of([A, B, C]), queue_of([A, C])
    response_here = mg1_response_ms(1500, 0.02, here, *disk_of([A, B, C], here))
    response_there = mg1_response_ms(1500, 0.02, there, *disk_of([A, C], there))
    assert response_here - response_there == pytest.approx(1357.08, abs=0.01)


def test_the_papers_four_jobs():
    """WAL-PM section 3, e = f = m = 0: costs, effectiveness, and how either approach closes the gap in I/O load."""
    ages, rates, data_mb = [5, 2, 3, 0], [4, 5, 1, 2], [30, 5, 15, 120]
    costs = [migration_ms(0, 0, megabytes, 128, 40, 40) for megabytes in data_mb]
    assert costs == pytest.approx([1734.38, 289.063, 867.188, 6937.5], rel=1e-5)
    mce = [migration_cost_effectiveness(age, rate, cost) for age, rate, cost in zip(ages, rates, costs, strict=True)]
    assert mce == pytest.approx([0.0115315, 0.0345946, 0.00345946, 0.0], rel=1e-5)
    node_1, node_2 = rates[0] + rates[1], rates[2]
    assert node_1 - node_2 == 8
    assert node_1 - (node_2 + rates[3]) == 6
    assert node_1 + rates[3] - rates[1] - (node_2 + rates[1]) == 0
    # Job 2's data: 39 ms on the network, 250 ms for two passes over a disk.
    assert migration_ms(0, 0, 5, 128, 1e12, 1e12) == pytest.approx(39.06, abs=0.01)
    assert migration_ms(0, 0, 5, 1e12, 40, 40) == pytest.approx(250)


def test_page_faults_of_three_tasks_are_io_load():
    each = page_faults_per_ms(720, 480, 0.5, math.inf, False)
    assert 3 * each == pytest.approx(2.25)


def test_weighted_load():
    assert weighted_load(0.5, 0.0, 0.5, 4.0, 100.0, 3.0) == 3.5
    assert weighted_load(0.1, 0.9, 0.0, 4.0, 100.0, 3.0) == pytest.approx(90.4)
