"""The script that holds intervals of resampled logs against the other half of the log, by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from other_half import WEEK_S, Held, expected, halves


def test_halves_have_the_weeks_of_the_log_one_after_the_other(tmp_path):
    """Job n of ten comes n seconds into week n; the last two weeks are no part of the eight that are dealt out."""
    fields = {field: np.full(10, -1) for field in range(18)}
    fields |= {0: np.arange(10), 1: np.arange(10) * WEEK_S + np.arange(10)}
    paths = halves(pd.DataFrame(fields), 8, 3, tmp_path)
    found = [pd.read_csv(path, sep=" ", header=None) for path in paths]
    jobs = [half[0].tolist() for half in found]
    assert sorted(jobs[0] + jobs[1]) == list(range(8))
    for half, numbers in zip(found, jobs, strict=True):
        assert numbers == sorted(numbers)
        assert half[1].tolist() == [place * WEEK_S + number for place, number in enumerate(numbers)]


def test_what_chance_alone_holds():
    """Of endlessly many draws P(|Z| < 1.96/sqrt(2)) = 83.4 %, sqrt(2) times as wide 95 %."""
    assert expected(100_000) == pytest.approx(0.8342, abs=1e-3)
    assert expected(100_000, math.sqrt(2)) == pytest.approx(0.95, abs=1e-3)


def test_an_interval_of_a_ratio():
    """Logarithms -1, 0, 1: mean 0, deviation 1, arm 4.302653 sqrt(4/3) = 4.968; wide 7.026."""
    drawn = [math.exp(-1), 1.0, math.e]
    for other, holds, wide_holds in ((4.9, True, True), (5.1, False, True), (7.1, False, False)):
        found = Held.of(0, "a", "ratio of mean_wait_ms", drawn, 1.0, math.exp(other))
        assert (found.holds, found.wide_holds) == (holds, wide_holds)
    assert found.mean == pytest.approx(1.0)
    assert math.log(found.high) == pytest.approx(4.302653 * math.sqrt(4 / 3), rel=1e-6)


def test_an_interval_of_a_mean_is_that_of_compare():
    """Waits 2, 4, 6, 8: exp(-+ 3.182446 sqrt(25/3) / 5) times 5; wide with sqrt(2) in the exponent."""
    reach = 3.182446 * math.sqrt(25 / 3) / 5
    for other, holds, wide_holds in ((0.99, True, True), (1.01, False, True), (1.42, False, False)):
        values = Held.of(0, "a", "mean_wait_ms, easy", [2.0, 4.0, 6.0, 8.0], 5.0, 5 * math.exp(reach * other))
        assert (values.holds, values.wide_holds) == (holds, wide_holds)
