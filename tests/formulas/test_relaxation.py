"""Relaxation times by hand, and against that of M/M/1."""

from __future__ import annotations

import math

import pytest

from cluster_abm.formulas import relaxation_s


@pytest.mark.parametrize(
    ("rho", "mean_s", "square_s2", "expected_s"),
    [
        # M/M/1, E[S] = 1 s: 2 x 0.5 x 2/(1 x 0.25).
        (0.5, 1.0, 2.0, 8.0),
        # M/D/1: half as long.
        (0.5, 1.0, 1.0, 4.0),
        # 2 x 0.8 x 10/(2 x 0.04).
        (0.8, 2.0, 10.0, 200.0),
        (0.0, 1.0, 2.0, 0.0),
        (0.5, 0.0, 0.0, 0.0),
        (1.0, 1.0, 2.0, math.inf),
        (1.2, 1.0, 2.0, math.inf),
        (0.5, 1.0, math.inf, math.inf),
    ],
)
def test_by_hand(rho, mean_s, square_s2, expected_s):
    assert relaxation_s(rho, mean_s, square_s2) == pytest.approx(expected_s)


@pytest.mark.parametrize("rho", [0.95, 0.99])
def test_at_high_load_it_is_that_of_m_m_1(rho):
    """E[S]/(1 - sqrt(rho))^2; the two differ by about (1 - rho)/2 of it."""
    exact_s = 1.0 / (1.0 - math.sqrt(rho)) ** 2
    assert relaxation_s(rho, 1.0, 2.0) == pytest.approx(exact_s, rel=1.2 * (1.0 - rho) / 2)
