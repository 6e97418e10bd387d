"""The course of a log's days and weeks: whether there is one, its rates, and the log with it removed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
from scipy.stats import f_oneway

from cluster_abm.arrays import Floats
from cluster_abm.clock import DAY_S, HOUR_S, WEEK_S
from cluster_abm.scenario.arrivals import Arrivals
from cluster_abm.workload.drawing.rates import course

HOURS = 24
# Days, or weeks, that a log needs to show a course; the course must be less likely by chance than this.
FEWEST_DAYS, FEWEST_WEEKS = 3.0, 3.0
LEVEL = 0.01


class Course(NamedTuple):
    """The course, as `workload.arrivals` has it."""

    daily: tuple[float, ...] = ()  # relative rates of the hours, mean 1; empty: none
    weekly: tuple[float, ...] = ()  # of the days; empty: none
    starts_h: float = 0.0  # hour of the week at which the log begins [h]
    clock: str = ""  # what hours are counted from, in words


def fit_course(times_s: Floats, window_s: float, header: Mapping[str, str], begin_s: float) -> Course:
    """The course of a log, if hours of the day (days of the week) differ by more than days (weeks) do among
    themselves: analysis of variance of the counts at 1 %.

    Args:
        times_s: of its jobs from 0 on [s].
        window_s: in which they came [s].
        header: of an SWF log, which may say when the log begins.
        begin_s: of the window, on the log's own clock [s].
    """
    if window_s < FEWEST_DAYS * DAY_S:
        return Course()
    starts_h, clock = _begin(header, begin_s)
    daily = _rates(times_s, window_s, starts_h, HOUR_S, HOURS)
    weekly = _rates(times_s, window_s, starts_h, DAY_S, 7) if window_s >= FEWEST_WEEKS * WEEK_S else ()
    if not daily and not weekly:
        return Course()
    return Course(daily, weekly, round(starts_h, 4), clock)


def without_course(times_s: Floats, window_s: float, found: Course) -> Floats:
    """The jobs on a clock that runs as fast as the course: on it they come at an even rate, but for their bursts."""
    if not found.daily and not found.weekly:
        return times_s
    arrivals = Arrivals(daily=found.daily, weekly=found.weekly, starts_h=found.starts_h)
    instants, mass = course(arrivals, window_s)
    return np.interp(times_s, instants, mass)


def hourly(times_s: Floats, window_s: float, starts_h: float, each_s: float = HOUR_S, count: int = HOURS) -> Floats:
    """Jobs by hour of the day over the time that the window has of each hour, over their mean, shape (count,).

    Args:
        times_s: of the jobs [s].
        window_s: in which they came [s].
        starts_h: hour of the week at which it begins [h].
        each_s: what an hour is [s].
        count: how many there are, before they begin again.
    """
    begin_s = starts_h * HOUR_S
    edges = np.arange(int(begin_s // each_s), math.ceil((begin_s + window_s) / each_s) + 1) * each_s - begin_s
    number = np.arange(int(begin_s // each_s), int(begin_s // each_s) + len(edges) - 1) % count
    length = np.diff(np.clip(edges, 0.0, window_s))
    counts = np.histogram(times_s, edges)[0]
    per_s = np.bincount(number, counts, count) / np.maximum(np.bincount(number, length, count), 1e-9)
    return per_s * window_s / max(1, len(times_s))


def _rates(times_s: Floats, window_s: float, starts_h: float, each_s: float, count: int) -> tuple[float, ...]:
    """Relative rates of the hours (days); none where they do not differ."""
    begin_s = starts_h * HOUR_S
    first = math.ceil(begin_s / each_s)
    edges = np.arange(first, int((begin_s + window_s) // each_s) + 1) * each_s - begin_s
    counts = np.histogram(times_s, edges)[0]
    number = (first + np.arange(len(counts))) % count
    groups = [counts[number == one] for one in range(count)]
    if min(map(len, groups)) < 2:
        return ()
    if all(np.ptp(group) == 0 for group in groups):
        # Each day is as every other: what differs between hours is no chance.
        differs = np.ptp([group[0] for group in groups]) > 0
    else:
        differs = f_oneway(*groups).pvalue < LEVEL
    if not differs:
        return ()
    rates = hourly(times_s, window_s, starts_h, each_s, count)
    return tuple(float(f"{rate:.4g}") for rate in rates)


def _begin(header: Mapping[str, str], begin_s: float) -> tuple[float, str]:
    """Hour of the week at which the window begins, from Monday on, by an SWF log's header; else the log's own clock."""
    try:
        zone = ZoneInfo(header["TimeZoneString"])
        local = datetime.fromtimestamp(float(header["UnixStartTime"]) + begin_s, zone)
    except (KeyError, ValueError, OSError, OverflowError):
        return begin_s / HOUR_S % (WEEK_S / HOUR_S), "the log's own, which does not say the hour at which it begins"
    hours = local.weekday() * 24.0 + local.hour + local.minute / 60.0 + local.second / 3600.0
    return hours, f"{header['TimeZoneString']}, the first day of weekly being Monday"
