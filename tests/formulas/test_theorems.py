"""The testable theorems of the IOLB paper as properties: 2, 3, 5, 6 here; 8 and 9 with the policies."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_abm.formulas import io_load_ms, load_imbalance_factors, page_faults_per_ms, page_load_ms

loads = st.lists(st.floats(0, 1e7), min_size=2, max_size=40).map(lambda values: np.array(values))
positive = st.floats(1e-3, 1e5)


def spread(load: np.ndarray) -> float:
    return float(np.abs(load - load.mean()).sum())


@pytest.mark.slow
@given(loads, positive, positive, st.data())
def test_theorem_2_a_task_without_io_does_not_move_the_io_balance(load, cpu_ms, service, data):
    node = data.draw(st.integers(0, len(load) - 1))
    after = load.copy()
    after[node] += io_load_ms(cpu_ms, 0.0, service)
    assert spread(after) == spread(load)


@pytest.mark.slow
@given(positive, st.floats(1e-4, 10), positive, loads, st.data())
def test_theorem_3_only_a_task_with_io_can_move_it(cpu_ms, rate, service, load, data):
    node = data.draw(st.integers(0, len(load) - 1))
    added = io_load_ms(cpu_ms, rate, service)
    assert added > 0
    after = load.copy()
    after[node] = load[node] + added
    if added > 1e-6 * max(1.0, load.max()):
        deviations = after - after.mean()
        assert not np.allclose(deviations, load - load.mean(), rtol=0, atol=added * 1e-6)


@given(
    st.lists(st.tuples(st.floats(0, 900), st.floats(0, 1e5)), min_size=2, max_size=20),
    st.floats(0, 900),
    st.floats(0.1, 9),
)
def test_theorem_5_a_task_that_fits_everywhere_does_not_move_the_memory_balance(nodes, task_mb, rate):
    memory_mb = max(demand for demand, _ in nodes) + task_mb
    for chosen in range(len(nodes)):
        page = [
            page_load_ms(
                page_faults_per_ms(demand + (task_mb if node == chosen else 0), memory_mb, rate, math.inf, False),
                remaining,
                8.1,
            )
            for node, (demand, remaining) in enumerate(nodes)
        ]
        assert spread(np.array(page)) == 0


@given(st.floats(1, 2000), st.floats(1, 1e5), st.floats(1, 1e5), st.floats(0.1, 9))
def test_theorem_6_no_fault_time_of_the_task_means_no_memory_load_on_its_node(demand, task_ms, others_ms, rate):
    faults = page_faults_per_ms(demand, 1000, rate, math.inf, False)
    own, node = page_load_ms(faults, task_ms, 8.1), page_load_ms(faults, task_ms + others_ms, 8.1)
    assert (own == 0) == (node == 0)
    assert (own == 0) == (demand <= 1000)


@given(loads)
def test_imbalance_factors_are_never_negative_and_zero_when_all_nodes_are_alike(load):
    factors = load_imbalance_factors(load, load[::-1].copy(), np.roll(load, 1))
    assert min(factors) >= 0
    level = np.full(len(load), 8.0)
    assert load_imbalance_factors(level, level, level) == pytest.approx((0, 0, 0))


@pytest.mark.slow
@given(loads, st.floats(0.5, 2))
def test_imbalance_factor_scales_with_the_unit(load, unit):
    other = np.roll(load, 1) + 1
    scaled = load_imbalance_factors(load * unit, other * unit, other * unit)
    plain = load_imbalance_factors(load, other, other)
    assert scaled == pytest.approx([factor * unit for factor in plain], rel=1e-9, abs=1e-6)
