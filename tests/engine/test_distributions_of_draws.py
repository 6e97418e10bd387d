"""Distributions of numbers that kernels draw, compared with those of scipy by a Kolmogorov-Smirnov test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from cluster_abm.engine import random_numbers

COUNT = 1500
# The critical distance at a significance level of 0.001.
FAR = 1.95 / math.sqrt(COUNT)


def drawn(draw, *more):
    return np.array([draw.py_func(np.uint64(2**40 + 7), random_numbers.SIZE, count, *more) for count in range(COUNT)])


# Whole shapes up to 16 are sums of exponential numbers; others use the method of Marsaglia and Tsang.
@pytest.mark.slow
@pytest.mark.parametrize("shape", [0.3, 0.9, 1.0, 1.5, 4.0, 15.5, 16.0, 17.0, 60.0])
def test_sizes_of_accesses_are_gamma_of_mean_1(shape):
    assert stats.kstest(drawn(random_numbers.gamma, shape), stats.gamma(shape, scale=1.0 / shape).cdf).statistic < FAR


def test_seeks_are_exponential_of_mean_1():
    assert stats.kstest(drawn(random_numbers.exponential), stats.expon().cdf).statistic < FAR
