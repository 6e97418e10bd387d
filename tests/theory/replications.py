"""Runs of which theory knows the mean, and intervals over their nodes, each of which is a replication.

Seeds are arbitrary: set CLUSTER_ABM_TEST_SEED to draw others. Intervals are at 99.9 %.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from queueing.intervals import controlled
from support import finished

SEED = int(os.environ.get("CLUSTER_ABM_TEST_SEED", "20261121"))
CONFIDENCE = 0.999
FIXED, EXPONENTIAL, LIFETIME = "fixed", "exponential", "lifetime"
SECOND = {"workload__cpu_ms__mean": 1000.0}
# Tail index 1.1, sizes over a factor of 200: the squared coefficient of variation is 6.
HEAVY = {"workload__cpu_ms__minimum": 100.0, "workload__cpu_ms__maximum": 20_000.0, "workload__cpu_ms__shape": 1.1}
DEMANDS = {
    FIXED: {"workload__cpu_ms__kind": FIXED, **SECOND},
    EXPONENTIAL: {"workload__cpu_ms__kind": EXPONENTIAL, **SECOND},
    LIFETIME: {"workload__cpu_ms__kind": LIFETIME, **HEAVY},
}
# E[x^2]/(2 E[x]) of these demands x: what is left of one that is found at a random instant [s].
RESIDUAL_S = {FIXED: 0.5, EXPONENTIAL: 1.0, LIFETIME: 1.6}


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


def run(seed_offset=0, **overrides):
    """Nothing but what a test sets: no switch cost, no page faults, no news that is old."""
    bare = {
        "policy__name": "none",
        "cluster__context_switch_ms": 0.0,
        "cluster__page_fault_rate_per_ms": 0.0,
        "negotiation__mode": "papers",
    }
    return finished(SEED + seed_offset, **(bare | overrides))


def interval(values, controls=()):
    """Interval of the mean of `values`.

    Args:
        values: one a replication.
        controls: (measured, expected) of what is known to vary with `values`, a number a replication and its true mean:
            the mean is that of a linear regression where all of them are as expected (Lavenberg and Welch 1981).
    """
    return controlled(values, controls).interval(CONFIDENCE)


def inside(values, truth, tolerance=0.0, *, controls=(), widest=0.15):
    """Assert that the interval holds the truth, and that its half width is less than `widest` of it."""
    low, high = interval(values, controls)
    assert low - tolerance <= truth <= high + tolerance, f"{truth} not in [{low}, {high}]"
    # An interval so wide that it would hold anything proves nothing.
    assert (high - low) / 2 < widest * truth, f"[{low}, {high}] is too wide for {truth}"


def settling_s(servers, rho, residual_s):
    """Five relaxation times of M/M/n, each E[S]/(n (1 - sqrt(rho))^2); of other laws about as long as their residual
    service, instead of E[S], says."""
    return 5 * residual_s / (servers * (1 - rho**0.5) ** 2)


def is_steady(arrival_ms, window_s, margin_s):
    """Which jobs met neither the empty start nor the drained end."""
    return (arrival_ms >= margin_s * 1000) & (arrival_ms <= (window_s - margin_s) * 1000)


def steady(frame, window_s, margin_s):
    """Jobs that met neither the empty start nor the drained end."""
    return frame[is_steady(frame.arrival_ms, window_s, margin_s)]


class Steady:
    """The tasks of a run that met neither the empty start nor the drained end.

    Attributes:
        records: their rows, fields tables.RECORD_FIELDS.
        span_ms: the time in which they arrived [ms].
    """

    def __init__(self, model, window_s, margin_s):
        records = model.engine.records[: model.engine.finished]
        self.records = records[is_steady(records["arrival_ns"] / 1e6, window_s, margin_s)]
        self.span_ms = (window_s - 2 * margin_s) * 1000.0
        self._nodes = len(model.engine.nodes)

    def ms(self, part):
        """A part of the tasks' wall time, as `cpu_queue` [ms]."""
        return self.records[f"{part}_ns"] / 1e6

    def response_ms(self):
        """From submission to end [ms]."""
        return self.ms("finish") - self.ms("arrival")

    def by_home(self, values, which=slice(None)):
        """Sum of a number a task over those submitted to each node, shape (nodes,)."""
        return np.bincount(self.records["home"][which], np.asarray(values, float)[which], self._nodes)

    def count(self, which=slice(None)):
        """How many there are of each node, shape (nodes,)."""
        return np.bincount(self.records["home"][which], minlength=self._nodes)
