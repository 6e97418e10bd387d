"""What every trace becomes: one table of jobs, with the columns, units and bounds written down here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from cluster_abm.arrays import Flags, Floats, Words
from cluster_abm.errors import InputError
from cluster_abm.workload.parents import Parents

MOST_RUNS = 1000  # of one file
LONGEST_MS = 1e12  # 32 years: well inside the engine's clock, 64-bit nanoseconds
LARGEST_WHOLE = 2**31 - 1  # homes and widths are 32-bit in the engine


@dataclass(frozen=True)
class NumberBounds:
    """Unit and bounds of a number: `low` <= value <= `high`, without `low` itself if `above`, whole if `whole`."""

    unit: str
    low: float = 0.0
    high: float = math.inf
    above: bool = False
    whole: bool = False

    @property
    def allowed(self) -> str:
        """The bounds in words, for messages."""
        kind = "a whole number" if self.whole else "a number"
        words = f"{kind} above {self.low:g}" if self.above else f"{kind} from {self.low:g}"
        return words if math.isinf(self.high) else f"{words} to {self.high:.12g}"

    def holds(self, values: Floats) -> Flags:
        """Which values lie inside; NaN and infinity never do."""
        inside = np.isfinite(values) & (values <= self.high)
        inside &= (values > self.low) if self.above else (values >= self.low)
        return inside & (values == np.floor(values)) if self.whole else inside


ARRIVAL = NumberBounds("ms", high=LONGEST_MS)
CPU = NumberBounds("ms", high=LONGEST_MS, above=True)  # a job that needs no CPU has no slowdown
COLUMNS: dict[str, NumberBounds] = {
    "arrival_ms": ARRIVAL,
    "home": NumberBounds("node", high=LARGEST_WHOLE, whole=True),
    "cpu_ms": CPU,
    "io_per_ms": NumberBounds("1/ms"),
    "memory_mb": NumberBounds("MB"),
    "tasks": NumberBounds("1", low=1, high=LARGEST_WHOLE, whole=True),
    "request_kb": NumberBounds("KB", above=True),
    "initial_data_mb": NumberBounds("MB"),
    "write_share": NumberBounds("1", high=1.0),
    "reaccess_rate": NumberBounds("1"),
    "requested_ms": NumberBounds("ms", high=LONGEST_MS, above=True),
    "disk_mb": NumberBounds("MB"),
    "recorded_wait_ms": NumberBounds("ms", high=LONGEST_MS),
    "recorded_run_ms": NumberBounds("ms", high=LONGEST_MS, above=True),
    "think_ms": NumberBounds("ms", high=LONGEST_MS),
}
REQUIRED = ("arrival_ms", "cpu_ms")
RECORDED_WAIT, RECORDED_RUN, THINK = "recorded_wait_ms", "recorded_run_ms", "think_ms"
NAME, JOB, AFTER, FILES, USER, GROUP = "name", "job", "after", "files", "user", "group"
# Resources as `parts/resources.py` reads them.
PARTITION, RESOURCES = "partition", "resources"
WORD_COLUMNS = (NAME, JOB, AFTER, FILES, USER, GROUP, PARTITION, RESOURCES)
RUN = "run"  # only in the table of a file with several runs, none of them chosen


class RunTimes(NamedTuple):
    """How long rows ran, and what of it was CPU time."""

    run_ms: Floats  # recorded run times, shape (rows,) [ms]; NaN: not known
    cpu_ms: Floats  # CPU time of a task at speed 1, shape (rows,) [ms]
    parents: Parents | None  # which of them each row comes after


@dataclass(frozen=True, eq=False)
class Trace:
    """A trace as read."""

    file: str  # path as given
    format: str  # one of found_modules.TRACE_FORMATS
    rows: int  # data rows of the file; always used + skipped
    # One row per job; the runs of a file with several one after the other, column `run` telling them apart.
    table: pd.DataFrame
    skipped: dict[str, int] = field(default_factory=dict)  # reason -> rows left out
    noted: dict[str, int] = field(default_factory=dict)  # remark -> rows kept although remarkable
    header: dict[str, str] = field(default_factory=dict)  # what an SWF log says of itself
    # What the file does not say, or says otherwise -> how it is filled or what is assumed, in words.
    filled: dict[str, str] = field(default_factory=dict)
    parents: Parents | None = None  # which jobs each job comes after; None where the file says of no job that it does
    # What the programs in the column `name` do, as `read_profiles` gives it; None: the file has none.
    profiles: pd.DataFrame | None = None
    # The instant of time 0 [ms since 1970]; without `zone` on the log's own clock, local where the log's times are.
    # None: not known.
    begins_at_ms: float | None = None
    # The time zone of the log's site, a name of zoneinfo, by whose clock hours of the day are; None: the log's clock.
    zone: str | None = None
    # The run times of all rows that ran, where some are no jobs because they used no CPU; None: those of the jobs.
    ran: RunTimes | None = None
    sample: float = 1.0  # the share of the log's jobs that these are
    samples: int | None = None  # rows that are no jobs but went into the profiles; None: each row that is used is a job

    @property
    def used(self) -> int:
        """How many rows of the file are jobs, or samples in their profiles."""
        return len(self.table) if self.samples is None else self.samples

    @property
    def jobs(self) -> pd.DataFrame:
        """One row per job by arrival: arrival_ms on the trace's own clock, and those COLUMNS and words that it has.

        NaN where a row lacks a value. `home` and `tasks` are whole numbers kept as floats.

        Raises InputError: as `check_one_run`.
        """
        self.check_one_run()
        return self.table.copy()

    @cached_property
    def numbers(self) -> Mapping[str, Floats]:
        """Those COLUMNS that the trace has, shape (rows,) each, not to be changed: a short run reads no frame."""
        columns = {name: self.table[name].to_numpy(float) for name in COLUMNS if name in self.table}
        for values in columns.values():
            values.flags.writeable = False
        return columns

    def check_one_run(self) -> None:
        """Raise InputError: several runs in the file and none chosen; they are alternatives, not one workload."""
        if RUN in self.table:
            raise InputError(
                f"{self.file}: holds several runs and none is chosen (--run, workload.trace.run): "
                f"allowed {listed_runs(self.table[RUN].to_numpy(float))}"
            )

    @property
    def fields(self) -> dict[str, float]:
        """Share of the jobs for which each column is present; 0 for those the trace does not have."""
        shares = {name: float(self.table[name].notna().mean()) if name in self.table else 0.0 for name in COLUMNS}
        for name in WORD_COLUMNS:
            shares[name] = float((self.table[name] != "").mean()) if name in self.table else 0.0
        return shares


def listed_runs(runs: Floats) -> str:
    """The runs of a file with their sizes, in words."""
    numbers, sizes = np.unique(runs, return_counts=True)
    return ", ".join(f"{int(number)} ({size:,} jobs)" for number, size in zip(numbers, sizes, strict=True))


def job_frame(columns: Mapping[str, Floats | Sequence[str] | Words]) -> pd.DataFrame:
    """The columns in their usual order, rows by arrival; equal arrivals keep the file's order."""
    usual = [name for name in (RUN, *COLUMNS, *WORD_COLUMNS) if name in columns]
    frame = pd.DataFrame({name: columns[name] for name in usual}, copy=False)
    by = [name for name in (RUN, "arrival_ms") if name in frame]
    # Most are sorted, and a large one is not copied for nothing.
    if len(by) == 1 and frame[by[0]].is_monotonic_increasing:
        return frame
    return frame.sort_values(by, kind="stable", ignore_index=True)


def numbers(cells: Sequence[str], column: NumberBounds, required: bool) -> tuple[Floats, list[int]]:
    """Values of a column's cells, NaN where blank, and the positions of those that are not allowed."""
    try:
        together = "".join(cells)
        values = _all_numbers(cells) if together.isascii() and "_" not in together else None
    except ValueError:
        values = None
    if values is not None:
        wrong = ~column.holds(values)
    else:
        blank = np.fromiter((not cell.strip() for cell in cells), bool, len(cells))
        values = np.fromiter(map(number, cells), float, len(cells))
        wrong = ~column.holds(values) & (required | ~blank)
    values[wrong] = np.nan
    return values, np.flatnonzero(wrong).tolist()


def _all_numbers(cells: Sequence[str]) -> Floats:
    """The numbers that ASCII cells without _ spell. Raises ValueError where one, or a blank one, spells none."""
    return np.fromiter(map(float, cells), float, len(cells))


def number(text: str) -> float:
    """The number a cell spells, to the last digit; NaN if it spells none."""
    try:
        # Python also reads 1_000 and digits of other scripts, which no other reader of such files does.
        return float(text) if "_" not in text and text.strip().isascii() else math.nan
    except ValueError:
        return math.nan


def sorted_out(reasons: Mapping[str, Flags], rows: int) -> tuple[dict[str, int], Flags]:
    """Rows left out by the first reason that holds, and which rows remain, shape (rows,)."""
    usable = np.ones(rows, bool)
    skipped = {}
    for reason, holds in reasons.items():
        skipped[reason] = int((usable & holds).sum())
        usable &= ~holds
    return skipped, usable


def tally(counts: Mapping[str, int]) -> dict[str, int]:
    """The reasons that occur at all."""
    return {reason: int(count) for reason, count in counts.items() if count}
