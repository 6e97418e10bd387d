"""What the readers of foreign formats share once their rows are numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cluster_abm.arrays import Flags, Floats, Words
from cluster_abm.errors import InputError
from cluster_abm.workload.traces.parts.log_reading import LogReading
from cluster_abm.workload.traces.table import COLUMNS, LONGEST_MS, Trace, job_frame, sorted_out, tally


def on_own_clock(instants_ms: Floats, where: str) -> Floats:
    """Instants since 1970 as times since the first one [ms].

    Raises InputError: they lie further apart than a simulation may last.
    """
    if not len(instants_ms):
        return instants_ms
    first, last = float(instants_ms.min()), float(instants_ms.max())
    if last - first > LONGEST_MS:
        ends = (str(np.datetime64(int(at), "ms")) for at in (first, last))
        raise InputError(f"{where}: submissions from {' to '.join(ends)}: allowed up to 32 years (1e12 ms) in all")
    return np.round(instants_ms - first, 6)


def disk_columns(
    disk_mb: tuple[Floats, Floats], calls_mb: tuple[Floats, Floats], reading: LogReading, tasks: Floats
) -> tuple[dict[str, Floats], Flags]:
    """What each task reads and writes at the disk, and the share of it that it writes.

    Args:
        disk_mb: bytes read and written as the disk saw them, of whole jobs, NaN where not known, shape (rows,) each.
        calls_mb: the same by calls, most of which the page cache serves.
        reading: the shares of these that stand in where a row has neither of the first.

    Returns:
        The columns disk_mb and write_share (NaN where nothing is known), and in which rows shares stand in.
    """
    read, written = disk_mb
    read_by_calls, written_by_calls = calls_mb
    assumed = np.isnan(read) & np.isnan(written) & ~(np.isnan(read_by_calls) & np.isnan(written_by_calls))
    read = np.where(assumed, read_by_calls * reading.disk_read_share, read)
    written = np.where(assumed, written_by_calls * reading.disk_write_share, written)
    known = ~(np.isnan(read) & np.isnan(written))
    total = np.where(known, np.nan_to_num(read) + np.nan_to_num(written), np.nan)
    share = np.divide(np.nan_to_num(written), total, out=np.full(len(total), np.nan), where=total > 0)
    return {"disk_mb": total / tasks, "write_share": np.minimum(share, 1.0)}, assumed


ZERO_CPU = "zero CPU time"  # why a row is skipped
RUN_TIMES = 'workload.trace.cpu_time = "run" takes the run times'
# CPU time of a task of a row that says 0 and ran, where its run time counts.
LEAST_CPU_MS = 0.001
IDLE = "no CPU use, 1 us taken"  # what is noted of it

# How much more than its share a task may have before there is one task more. Measured shares of a core scatter around
# whole numbers: a second task for
# 100.4 % would halve the run time.
SLACK = 0.1


def tasks_for(busy: Floats, most: Floats | None = None) -> Floats:
    """How many tasks a job gets that kept cores busy: as many, rounded up, a tenth of a core aside.

    Args:
        busy: cores kept busy on average, shape (rows,).
        most: tasks that a job may have, whole ones of it counted, NaN where not known; at least one is allowed.
    """
    # To the sixth digit: what rounding errors add is no task more.
    tasks = np.maximum(np.ceil(np.round(busy - SLACK, 6)), 1.0)
    return tasks if most is None else np.fmin(tasks, np.maximum(np.floor(most), 1.0))


def outside(columns: Mapping[str, Floats]) -> dict[str, Flags]:
    """Rows that have a value outside the bounds of COLUMNS, by reason, shape (rows,) each."""
    return {
        f"{name} not {COLUMNS[name].allowed}": ~COLUMNS[name].holds(values) & ~np.isnan(values)
        for name, values in columns.items()
    }


def finished(
    where: str,
    format: str,
    rows: int,
    columns: Mapping[str, Floats],
    words: Mapping[str, Words],
    skipped: Mapping[str, int],
    noted: Mapping[str, int],
    filled: Mapping[str, str],
    reading: LogReading | None = None,
) -> Trace:
    """A trace of these rows: those outside the bounds of COLUMNS are left out, columns without any value go.

    Raises InputError: no row is left.

    Args:
        format: one of found_modules.TRACE_FORMATS.
        columns, words: ours, of the rows that are left.
        skipped, noted, filled: as a Trace has them.
        reading: with which it was read, where CPU times could be read otherwise.
    """
    beyond, usable = sorted_out(outside(columns), len(columns["arrival_ms"]))
    all_skipped = dict(skipped) | tally(beyond)
    if not usable.any():
        raise no_job(where, rows, all_skipped, reading)
    kept: dict[str, Floats | Sequence[str] | Words] = {
        name: values[usable] for name, values in columns.items() if not np.isnan(values[usable]).all()
    }
    kept |= {name: values[usable] for name, values in words.items() if (values[usable] != "").any()}
    arrivals = columns["arrival_ms"][usable]
    remarks = dict(noted) | {"submitted before the row above, sorted": int((np.diff(arrivals) < 0).sum())}
    return Trace(where, format, rows, job_frame(kept), tally(all_skipped), tally(remarks), filled=dict(filled))


def no_job(where: str, rows: int, skipped: Mapping[str, int], reading: LogReading | None = None) -> InputError:
    """The error for a file of which no row is a job.

    Args:
        reading: with which it was read, where CPU times could be read otherwise.
    """
    reasons = "; ".join(f"{count:,}: {reason}" for reason, count in tally(skipped).items())
    # Programs that measure no CPU time write 0.
    otherwise = reading is not None and reading.cpu_time == "used" and skipped.get(ZERO_CPU, 0)
    hint = f"; {RUN_TIMES}" if otherwise else ""
    return InputError(f"{where}: none of its {rows:,} rows is a job that ran ({reasons}){hint}")
