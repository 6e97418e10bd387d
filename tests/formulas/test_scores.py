"""Kubernetes' scores, worked by hand from KEP-61, KEP-624 and the plugins' text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_abm.formulas import least_allocated_score, most_allocated_score, risk_score, target_load_score, whole_score


@pytest.mark.parametrize(("load", "target", "score"), [
    # KEP-61's example: three nodes of four cores, 1, 2 and 3 of them in use, target 50 %.
    (25.0, 50.0, 75.0),
    (50.0, 50.0, 100.0),
    (75.0, 50.0, 25.0),
    # Target 40 %: (100 - 40) 10/40 + 40 = 55; 40 (100 - 70)/(100 - 40) = 20.
    (10.0, 40.0, 55.0),
    (70.0, 40.0, 20.0),
    (0.0, 40.0, 40.0),
    (100.0, 40.0, 0.0),
    (100.1, 40.0, 0.0),
    (100.0, 100.0, 100.0),
])  # fmt: skip
def test_target_load(load, target, score):
    assert target_load_score(load, target) == pytest.approx(score)


@pytest.mark.parametrize(("mean", "deviation", "margin", "sensitivity", "score"), [
    # (0.5 + 0.2)/2 = 0.35.
    (0.5, 0.2, 1.0, 1.0, 65.0),
    # The square root of 0.04 is 0.2: the same risk; twice that with margin 2, (0.5 + 0.4)/2.
    (0.5, 0.04, 1.0, 2.0, 65.0),
    (0.5, 0.04, 2.0, 2.0, 55.0),
    # Clipped: (1 + 1)/2; (0 + 0)/2; a margin of 10 makes no more than 1 of 0.3.
    (1.7, 3.0, 1.0, 1.0, 0.0),
    (-0.1, -0.1, 1.0, 1.0, 100.0),
    (0.0, 0.3, 10.0, 1.0, 50.0),
    (0.6, 0.0, 1.0, 2.0, 70.0),
])  # fmt: skip
def test_risk(mean, deviation, margin, sensitivity, score):
    assert risk_score(mean, deviation, margin, sensitivity) == pytest.approx(score)


@pytest.mark.parametrize(("available", "needed", "least", "most"), [
    (80.0, 20.0, 75.0, 25.0),
    (40.0, 20.0, 50.0, 50.0),
    (20.0, 20.0, 0.0, 100.0),
    (80.0, 0.0, 100.0, 0.0),
    # It does not fit, or nothing is left.
    (19.0, 20.0, 0.0, 0.0),
    (0.0, 0.0, 0.0, 0.0),
    (-5.0, 0.0, 0.0, 0.0),
])  # fmt: skip
def test_disk_bandwidth(available, needed, least, most):
    assert least_allocated_score(available, needed) == pytest.approx(least)
    assert most_allocated_score(available, needed) == pytest.approx(most)


def test_scores_are_rounded_a_half_upwards():
    assert [whole_score(score) for score in (0.4, 0.5, 1.5, 74.49, 100.0)] == [0, 1, 2, 74, 100]


@given(st.floats(0, 300), st.floats(1, 100), st.floats(0, 5), st.floats(0, 5), st.floats(0.1, 9))
def test_scores_lie_between_0_and_100(load, target, mean, deviation, root):
    for score in (
        target_load_score(load, target), risk_score(mean, deviation, mean, root),
        least_allocated_score(load, target), most_allocated_score(load, target),
    ):  # fmt: skip
        assert 0.0 <= score <= 100.0 + 1e-9
