"""What a log says of its jobs beside the work that they are: how long they waited, and whose they were."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from cluster_abm.arrays import Flags, Floats
from cluster_abm.workload.traces.members import Members
from cluster_abm.workload.traces.table import GROUP, RECORDED_WAIT, USER


class LoggedJobs(NamedTuple):
    """What is known of the jobs of a run; no result depends on it. None: of no job."""

    recorded_wait_ms: Floats | None = None  # how long each waited in the log, shape (jobs,) [ms]; NaN: not known
    users: Members | None = None  # whose they are
    groups: Members | None = None  # the groups of their users

    def behind(self, ahead: int) -> LoggedJobs:
        """The same with that many jobs before them that are not of the log."""
        waits = self.recorded_wait_ms
        return LoggedJobs(
            None if waits is None else np.concatenate([np.full(ahead, np.nan), waits]),
            None if self.users is None else self.users.behind(ahead),
            None if self.groups is None else self.groups.behind(ahead),
        )


def logged_jobs(table: pd.DataFrame, chosen: Flags | slice) -> LoggedJobs:
    """What the chosen rows of a trace's table say."""
    waits = table[RECORDED_WAIT].to_numpy(float)[chosen] if RECORDED_WAIT in table else None
    return LoggedJobs(waits, _members(table, USER, chosen), _members(table, GROUP, chosen))


def _members(table: pd.DataFrame, column: str, chosen: Flags | slice) -> Members | None:
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
