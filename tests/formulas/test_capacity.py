"""Relative capacities and loads, by hand and for all that are alike."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_abm.formulas import relative_capacity, relative_load

rates = st.floats(1e-6, 1e9)


def test_capacities_are_relative_to_the_mean():
    assert relative_capacity(np.array([1.0, 3.0])).tolist() == [0.5, 1.5]
    assert relative_capacity(np.array([640.0, 640.0, 1280.0, 2560.0])) == pytest.approx([0.5, 0.5, 1.0, 2.0])


@given(rate=rates, nodes=st.integers(1, 1000))
def test_nodes_that_are_alike_count_exactly_one_each(rate, nodes):
    assert (relative_capacity(np.full(nodes, rate)) == 1.0).all()


@given(st.lists(rates, min_size=1, max_size=30))
def test_they_add_up_to_the_number_of_nodes_and_keep_their_proportions(values):
    found = relative_capacity(np.array(values))
    assert found.sum() == pytest.approx(len(values))
    assert found * values[0] == pytest.approx(np.array(values) * found[0])


def test_a_load_is_what_there_is_to_do_per_unit_of_what_does_it():
    # Three tasks at a CPU of twice the mean speed: 1.5 to a unit, 2 with a fourth; two at the mean: 2, and 3.
    assert relative_load(3.0, 0.0, 2.0) == 1.5 < relative_load(2.0, 0.0, 1.0) == 2.0
    assert relative_load(np.array([3.0, 2.0]), 1.0, np.array([2.0, 1.0])).tolist() == [2.0, 3.0]
