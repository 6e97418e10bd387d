"""Rates that change with time: the course of days and weeks, and factors that hold for a while each."""

from __future__ import annotations

import numpy as np

from cluster_abm.arrays import Floats, Integers
from cluster_abm.clock import DAY_S, HOUR_S, WEEK_S
from cluster_abm.limits import BYTES_A_BURST, check_memory
from cluster_abm.scenario.arrivals import Arrivals

BYTES_A_CELL = 100  # of a course, or of a factor


def course(arrivals: Arrivals, window_s: float) -> tuple[Floats, Floats]:
    """The integral of the rate's course over the window, scaled to end at the window's length: piecewise linear.

    Returns:
        instants [s], ascending from 0 to the window's length, and the integral up to each [s]; both shape (pieces + 1,)
    """
    each_s = DAY_S / max(1, len(arrivals.daily))
    pieces = window_s / each_s
    what = f"workload.duration_s = {window_s:g} with {max(1, len(arrivals.daily))} rates a day"
    check_memory(what, pieces * BYTES_A_CELL, pieces, "pieces")
    number, edges = _pieces(arrivals, window_s, each_s)
    rate = np.ones(len(number))
    if arrivals.daily:
        rate *= np.asarray(arrivals.daily)[number % len(arrivals.daily)]
    if arrivals.weekly:
        rate *= np.asarray(arrivals.weekly)[(number // max(1, len(arrivals.daily))) % 7]
    mass = np.concatenate([[0.0], np.cumsum(rate * np.diff(edges))])
    if mass[-1] == 0.0:
        # The window lies in hours without any arrival: there is no course to follow.
        return np.array([0.0, window_s]), np.array([0.0, window_s])
    return edges, mass * (window_s / mass[-1])


def weights_of_pieces(arrivals: Arrivals, window_s: float, pieces: int) -> Floats:
    """How much of the window lies in each piece of the day, times the rates of the days of the week, shape (pieces,)
    [s].

    Args:
        arrivals: when the window begins, and its `weekly`.
        window_s: its length [s].
        pieces: of equal length, of a day from midnight on.
    """
    each_s = DAY_S / pieces
    weekly = np.asarray(arrivals.weekly or np.ones(7))
    weeks, rest_s = divmod(window_s, WEEK_S)
    found = np.full(pieces, weeks * each_s * weekly.sum())
    number, edges = _pieces(arrivals, rest_s, each_s)
    np.add.at(found, number % pieces, weekly[number // pieces % 7] * np.diff(edges))
    return found


def _pieces(arrivals: Arrivals, window_s: float, each_s: float) -> tuple[Integers, Floats]:
    """The pieces of days that a window meets, numbered from the first midnight of the week, shape (met,), and the
    instants between them in the window, shape (met + 1,) [s]."""
    begin_s = arrivals.starts_h * HOUR_S
    first = int(begin_s // each_s)
    number = np.arange(first, int(np.ceil((begin_s + window_s) / each_s)) + 1)
    return number[:-1], np.clip(number * each_s - begin_s, 0.0, window_s)


def factors(arrivals: Arrivals, rng: np.random.Generator, window_s: float) -> tuple[Floats, Floats]:
    """The integral of a product of factors over the window: piecewise linear, of mean slope 1.

    Each factor is gamma of mean 1; it holds for its scale, and the first one for a uniform part of that, so that no
    instant is special.

    Returns:
        instants [s], ascending from 0 to the window's length, and the integral up to each [s]; both shape (pieces + 1,)
    """
    cells = sum(window_s / scale + 2 for scale in arrivals.scales_s)
    what = f"workload.arrivals.scales_s = {list(arrivals.scales_s)} in {window_s:g} s"
    check_memory(what, cells * BYTES_A_BURST, cells, "factors")
    edges = [np.array([0.0, window_s])]
    parts = []
    for scale_s, variation in zip(arrivals.scales_s, arrivals.variations, strict=True):
        begin = rng.random()
        count = int(window_s / scale_s + begin) + 1
        if variation > 0:
            shape = variation**-2.0
            parts.append((begin, scale_s, rng.standard_gamma(shape, count) / shape))
            edges.append((np.arange(1, count) - begin) * scale_s)
    instants = np.unique(np.concatenate(edges))
    instants = instants[(instants >= 0.0) & (instants <= window_s)]
    middle = (instants[1:] + instants[:-1]) / 2
    rate = np.ones(len(middle))
    for begin, scale_s, values in parts:
        rate *= values[np.minimum((middle / scale_s + begin).astype(np.int64), len(values) - 1)]
    return instants, np.concatenate([[0.0], np.cumsum(rate * np.diff(instants))])
