"""How many seeds it would take: Cohen's table of the paired t test, and a simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from cluster_abm.study.statistics.needed import POWER, seeds_needed
from cluster_abm.study.statistics.paired import Contrast


@pytest.mark.parametrize(("effect", "seeds"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_the_table_of_the_paired_t_test(effect, seeds):
    """Small, middle and large effects, two-sided at 5 % with a power of 80 % (Cohen 1988; any program for power)."""
    for sign in (1, -1):
        assert seeds_needed(Contrast(sign * effect, 1 / math.sqrt(9), 9, True)) == seeds


def test_more_pairs_take_more_seeds_and_nothing_takes_none():
    found = Contrast(0.5, 1 / 3, 9, True)
    assert seeds_needed(found, 6) > seeds_needed(found, 2) > seeds_needed(found)
    assert seeds_needed(Contrast(0.0, 1 / 3, 9, True)) is None
    assert seeds_needed(Contrast(1e-6, 1 / 3, 9, True)) is None
    assert seeds_needed(Contrast(0.5, math.nan, 1, True)) is None
    # All seeds differ by the same: it is known.
    assert seeds_needed(Contrast(0.5, 0.0, 9, True)) is None


@pytest.mark.slow
def test_so_many_seeds_show_it_as_often_as_is_said():
    """Of 4,000 samples the standard error of the share is 0.6 %."""
    seeds = seeds_needed(Contrast(0.7, 1 / 3, 9, True), 3)
    samples = np.random.default_rng(11).normal(0.7, 1.0, (4000, seeds))
    share = (scipy.stats.ttest_1samp(samples, 0.0, axis=1).pvalue <= 0.05 / 3).mean()
    assert POWER - 0.025 < share < POWER + 0.05
