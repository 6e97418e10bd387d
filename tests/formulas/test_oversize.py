"""MCLS's paging curve and load indices, at the paper's numbers and at numbers worked by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_abm.formulas import (
    activity_weight,
    allocation_faults,
    even_faults,
    is_less_oversized,
    oversize,
    paging_rate_per_s,
)
from cluster_abm.formulas.cost import migration_ms


def test_oversize_is_a_fraction_of_the_memory_there_is():
    # Table 2's two jobs: 66.37 and 64.27 MB on about 122 MB for programs.
    assert oversize(66.37 + 64.27, 122.0) == pytest.approx(0.0708, abs=1e-4)
    assert oversize(0.0, 122.0) == -1.0
    assert oversize(122.0, 122.0) == 0.0


@pytest.mark.parametrize(
    ("here", "there", "gains"),
    [
        pytest.param(0.2, -0.5, True, id="66 of 120 MB fit beside 54"),
        pytest.param(0.2, -0.55, True, id="with room to spare"),
        pytest.param(0.2, -0.45, True, id="0.1 there after 0.2 here"),
        pytest.param(0.1, -0.45, False, id="0.1 there after 0.1 here"),
        pytest.param(0.05, -0.45, False, id="0.1 there after 0.05 here"),
        pytest.param(-0.3, -0.55, True, id="neither pages"),
        pytest.param(-0.3, -0.45, False, id="it would begin to page"),
    ],
)
def test_a_gain_is_a_target_that_does_not_page_or_is_oversized_less(here, there, gains):
    # 66 MB on 120 MB are 0.55; the numbers are such that sums are exact, or far from the border.
    task_mb = 60.0 if there == -0.5 else 66.0
    assert is_less_oversized(here, there, task_mb, 120.0) == gains


@pytest.mark.parametrize(
    ("share", "rate"), [(1e-12, 2.35294), (0.05, 29.6556), (0.25, 80.3470), (0.65, 106.134), (1.0, 112.509)]
)
def test_the_paging_rate_of_the_papers_constants(share, rate):
    assert paging_rate_per_s(share, 0) == pytest.approx(rate, rel=1e-5)


@pytest.mark.parametrize("share", [-1.0, -0.15, 0.0])
def test_nothing_pages_while_the_demand_fits(share):
    assert paging_rate_per_s(share, 10_000) == 0.0


def test_reads_and_writes_count_from_2868_on():
    # 174.98 / 0.061 = 2868.5; r-wing's 3541 add -174.98 + 216.001 = 41.021.
    assert paging_rate_per_s(0.05, 2868) == paging_rate_per_s(0.05, 0)
    assert paging_rate_per_s(0.05, 3541) == pytest.approx(29.6556 + 41.021, rel=1e-5)


@given(st.floats(-1, 100), st.floats(0, 1e7))
def test_the_rate_stays_between_0_and_the_paper_s_largest(share, accesses):
    assert 0.0 <= paging_rate_per_s(share, accesses) <= 120.0


@given(st.floats(0, 50), st.floats(0, 50), st.floats(0, 1e5))
def test_more_oversize_never_means_fewer_faults(one, other, accesses):
    low, high = sorted((one, other))
    assert paging_rate_per_s(low, accesses) <= paging_rate_per_s(high, accesses)


@given(st.floats(0, 120), st.floats(0, 1), st.lists(st.integers(0, 10**6), min_size=1, max_size=8))
def test_the_mean_over_the_tasks_is_the_nodes_rate(rate, evenness, fresh):
    total = float(sum(fresh))
    even, each = even_faults(rate, evenness, total), allocation_faults(rate, evenness, total, len(fresh))
    rates = [even + each * one for one in fresh]
    assert np.mean(rates) == pytest.approx(rate, rel=1e-9, abs=1e-9)
    assert min(rates) >= 0
    assert rates[int(np.argmax(fresh))] == max(rates)


def test_who_grows_takes_the_faults():
    # 80 faults a second, a tenth of them for all alike: 8 each, and 72 x 2 tasks for the one that grows.
    assert even_faults(80.0, 0.1, 500.0) == pytest.approx(8.0)
    assert allocation_faults(80.0, 0.1, 500.0, 2) * 500.0 == pytest.approx(144.0)
    assert even_faults(80.0, 0.1, 0.0) == 80.0
    assert allocation_faults(80.0, 0.1, 0.0, 2) == 0.0


def test_the_weight_of_a_job():
    # (50/200 + 2/8 + 64.27/66.37 + 18/3541) / 4
    assert activity_weight(50.0, 2.0, 64.27, 18.0, (200.0, 8.0, 66.37, 3541.0)) == pytest.approx(0.368361, rel=1e-5)


def test_an_activity_that_no_job_has_counts_0():
    weights = activity_weight(
        np.array([1.0, 2.0]), np.zeros(2), np.array([4.0, 1.0]), np.zeros(2), (2.0, 0.0, 4.0, 0.0)
    )
    assert weights == pytest.approx([(0.5 + 1.0) / 4, (1.0 + 0.25) / 4])


@pytest.mark.parametrize(("mbps", "r_ms", "seconds"), [(10.0, 100.0, 51.516), (100.0, 50.0, 5.1916)])
def test_a_migration_takes_r_and_the_working_set_over_the_network(mbps, r_ms, seconds):
    assert migration_ms(r_ms, 64.27, 0.0, mbps / 8.0, 40.0, 40.0) / 1000 == pytest.approx(seconds, rel=1e-5)
