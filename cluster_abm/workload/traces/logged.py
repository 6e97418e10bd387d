"""What a log says of its jobs beside the work that they are: how long they waited, and whose they were."""

from __future__ import annotations

from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from cluster_abm.arrays import Flags, Floats, Integers
from cluster_abm.workload.traces.members import Members
from cluster_abm.workload.traces.table import GROUP, LARGEST_WHOLE, RECORDED_WAIT, USER, Trace

HOUR_MS, HOURS = 3.6e6, 24
# The largest width of each band: 1, 2-4, 5-16, 17-64, ...
WIDEST = 4.0 ** np.arange(17)
assert WIDEST[-1] > LARGEST_WHOLE


class LoggedJobs(NamedTuple):
    """What is known of the jobs of a run; no result depends on it. None: of no job."""

    recorded_wait_ms: Floats | None = None  # how long each waited in the log, shape (jobs,) [ms]; NaN: not known
    users: Members | None = None  # whose they are
    groups: Members | None = None  # the groups of their users
    tasks: Floats | None = None  # how many tasks each had in the log, shape (jobs,); NaN: not known

    def behind(self, ahead: int) -> LoggedJobs:
        """The same with that many jobs before them that are not of the log."""
        return LoggedJobs(
            _behind(self.recorded_wait_ms, ahead),
            None if self.users is None else self.users.behind(ahead),
            None if self.groups is None else self.groups.behind(ahead),
            _behind(self.tasks, ahead),
        )


def logged_jobs(table: pd.DataFrame, chosen: slice | Flags | Integers) -> LoggedJobs:
    """What the chosen rows of a trace's table say."""
    waits = table[RECORDED_WAIT].to_numpy(float)[chosen] if RECORDED_WAIT in table else None
    tasks = table["tasks"].to_numpy(float)[chosen] if "tasks" in table else None
    return LoggedJobs(waits, members_of(table, USER, chosen), members_of(table, GROUP, chosen), tasks)


def _behind(values: Floats | None, ahead: int) -> Floats | None:
    return None if values is None else np.concatenate([np.full(ahead, np.nan), values])


def members_of(table: pd.DataFrame, column: str, chosen: slice | Flags | Integers) -> Members | None:
    """The members in a column of words, numbered as they first come; None: there is no such column."""
    if column not in table:
        return None
    words = pd.Series(table[column].to_numpy(object)[chosen])
    # A missing value has the number -1.
    numbers, names = pd.factorize(words.mask(words == ""))
    return Members(numbers.astype(np.int64), tuple(map(str, names)))


def waits_in_s(waits_ms: Floats) -> dict[str, float | int] | None:
    """How many waits there are, their mean, median, 95th percentile and maximum [s]; None: none is known.

    Args:
        waits_ms: shape (jobs,) [ms]; NaN: not known.
    """
    known = waits_ms[~np.isnan(waits_ms)] / 1000.0
    if not len(known):
        return None
    median, p95 = np.quantile(known, [0.5, 0.95])
    return {
        "jobs": len(known),
        "mean": float(known.mean()),
        "median": float(median),
        "p95": float(p95),
        "max": float(known.max()),
    }


def recorded_waits(trace: Trace) -> dict[str, Any] | None:
    """How long the jobs of a trace waited in the log [s]; None: it says of none.

    Keys: those of waits_in_s; by_width (waits_by_width; None: no such job has a width), by_hour (of submission, on the
    clock of the log's site: "0" to "23" -> jobs, mean, median and p95; None: the log does not say when it begins).
    """
    if RECORDED_WAIT not in trace.table:
        return None
    waits_ms = trace.table[RECORDED_WAIT].to_numpy(float)
    found = waits_in_s(waits_ms)
    if found is None:
        return None
    tasks = trace.table["tasks"].to_numpy(float) if "tasks" in trace.table else None
    hours = hours_of_day(trace)
    by_hour = None if hours is None else {str(hour): part for hour, part in _parts(waits_ms, hours).items()}
    return found | {"by_width": None if tasks is None else waits_by_width(waits_ms, tasks), "by_hour": by_hour}


def hours_of_day(trace: Trace) -> Floats | None:
    """The hour of each submission by the clock of the log's site, shape (jobs,); None: the log's begin is not known.

    With a zone, clocks there change to summer time and back; without one, the log's clock counts as it stands.
    """
    if trace.begins_at_ms is None:
        return None
    instants_ms = trace.begins_at_ms + trace.table["arrival_ms"].to_numpy(float)
    if trace.zone is None:
        return instants_ms // HOUR_MS % HOURS
    instants = pd.DatetimeIndex(np.floor(instants_ms).astype("datetime64[ms]"), tz="UTC")
    return instants.tz_convert(ZoneInfo(trace.zone)).hour.to_numpy(float)


def waits_by_width(waits_ms: Floats, tasks: Floats) -> dict[str, dict[str, float | int]] | None:
    """Waits by the number of tasks, in powers of four: "1", "2-4", "5-16", ... -> jobs, mean, median and p95 [s].

    None: no job of which the wait is known has a width.

    Args:
        waits_ms: shape (jobs,) [ms]; NaN: not known.
        tasks: of each job, shape (jobs,); NaN: not known.
    """
    bands = np.where(np.isnan(tasks), np.nan, np.searchsorted(WIDEST, tasks, side="left"))
    found = _parts(waits_ms, bands)
    return {_band(band): part for band, part in found.items()} or None


def _band(number: int) -> str:
    """The widths of a band, in words."""
    return "1" if number == 0 else f"{WIDEST[number - 1] + 1:.0f}-{WIDEST[number]:.0f}"


def _parts(waits_ms: Floats, numbers: Floats) -> dict[int, dict[str, float | int]]:
    """Jobs, mean, median and p95 of the known waits of each number that occurs, in its order; NaN: belongs to none."""
    found = {}
    known = ~np.isnan(waits_ms) & ~np.isnan(numbers)
    for number in np.unique(numbers[known]).tolist():
        part = waits_in_s(waits_ms[known & (numbers == number)])
        if part is not None:
            found[int(number)] = {name: value for name, value in part.items() if name != "max"}
    return found
