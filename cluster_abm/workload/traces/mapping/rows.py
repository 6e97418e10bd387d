"""Rows of a table whose fields are numbers, and the jobs that they are: what is derived, and which are left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from cluster_abm.arrays import Flags, Floats
from cluster_abm.scenario.columns import NUMBERS, ColumnMap
from cluster_abm.scenario.columns.map import SIZES
from cluster_abm.workload.traces.parts.fields import LARGEST_COUNT
from cluster_abm.workload.traces.parts.finishing import ZERO_CPU, disk_columns
from cluster_abm.workload.traces.parts.log_reading import LogReading
from cluster_abm.workload.traces.table import LARGEST_WHOLE, LONGEST_MS, RECORDED_WAIT

# The last two columns of the jobs, on no clock of ours yet.
SUBMIT, ROW = "submit_ms", "row"
TIMES = ("submit", "start", "end", "run")
COUNTED = "resources."  # how the names of fields begin that are counted resources
LONG_WAIT = "wait beyond 32 years, taken as not known"
LONG_REQUEST = "requested time beyond 32 years, taken as not known"


def is_number(name: str) -> bool:
    """Whether a field of a map is a number, by its name."""
    return name in NUMBERS or name.startswith(COUNTED)


@dataclass(frozen=True)
class FieldRows:
    """The fields of some rows, as their file says them."""

    count: int  # of rows
    amounts: Mapping[str, Floats]  # of the fields that are mapped: ms, B, cores, tasks, counts; NaN: not known
    unread: Mapping[str, Flags]  # rows of which a cell could not be read
    words: Callable[[str, Flags], list[str]]  # the texts of a field in some of the rows
    numbers: Floats  # the rows' numbers in the file, from 1, shape (count,)
    shown: Callable[[str, int], str]  # what a field says in a row, for messages

    def value(self, name: str) -> Floats:
        """A field; NaN if the map does not have it."""
        return self.amounts[name] if name in self.amounts else np.full(self.count, math.nan)

    def not_read(self, *names: str) -> Flags:
        """Rows in which one of these fields could not be read."""
        found = [self.unread[name] for name in names if name in self.unread]
        return np.logical_or.reduce(found) if found else np.zeros(self.count, bool)


@dataclass(frozen=True)
class Derived:
    """The jobs that rows are, shape (rows,) each."""

    columns: dict[str, Floats]  # ours, with SUBMIT instead of arrival_ms
    reasons: dict[str, Flags]  # why a row is left out
    noted: dict[str, Flags]  # what is remarkable of it
    assumed: Flags  # rows whose bytes of the disk are a share of those of calls


# Of infinite cores there is no share. Their rows are left out by a reason.
@np.errstate(invalid="ignore", over="ignore")
def derived(found: ColumnMap, rows: FieldRows, reading: LogReading) -> Derived:
    """The jobs in some rows: run times, cores, CPU times, waits and bytes as the rest of the row says them."""
    submit, start, end, run = _times(found, rows)
    tasks, cores = _widths(found, rows)
    cpu, cpu_notes = _cpu(found, rows, run, tasks, cores, reading)
    columns = {SUBMIT: submit}
    if cpu is not None:
        columns["cpu_ms"] = np.round(cpu / tasks, 6)
    if found.tasks is not None or found.cores is not None:
        columns["tasks"] = tasks
    if found.memory is not None:
        memory = rows.value("memory")
        # A task of the file that has several cores is several of ours, which share its memory.
        of_file = np.fmax(rows.value("tasks"), 1.0)
        shared_by = {"job": tasks, "task": tasks / of_file, "core": tasks / cores}[found.memory.per]
        columns["memory_mb"] = np.where(memory > 0, memory, math.nan) / 1e6 / shared_by
    disk, assumed = _disk(found, rows, tasks, reading)
    columns |= disk
    requested = rows.value("requested")
    if found.requested is not None:
        columns["requested_ms"] = np.where((requested > 0) & (requested <= LONGEST_MS), requested, math.nan)
    # A submission that the file does not say says no wait either.
    waits = start - submit if "submit" in rows.amounts else np.full(rows.count, math.nan)
    columns[RECORDED_WAIT] = np.where((waits >= 0) & (waits <= LONGEST_MS), waits, math.nan)
    says_run = "run" in rows.amounts or "end" in rows.amounts
    reasons = {
        "submit not read": np.isnan(submit) & rows.not_read(*(TIMES[1:] if found.submit is None else TIMES[:1])),
        "no submit time": np.isnan(submit),
        "ends before it starts": end < start,
        "negative run time": (run < 0) & ~(end < start),
        "zero run time": run == 0,
        "run time beyond 32 years": run > LONGEST_MS,
    }
    if says_run:
        reasons["run time not read"] = np.isnan(run) & rows.not_read(*TIMES[1:])
        reasons["no run time"] = np.isnan(run)
    if "tasks" in columns:
        reasons["cores not read"] = np.isnan(tasks) & rows.not_read("cores", "tasks")
        reasons["no cores"] = np.isnan(tasks)
        reasons["more than 2^31 tasks"] = tasks > LARGEST_WHOLE
    sizes = [rows.amounts[name] for name in SIZES if name in rows.amounts]
    if sizes:
        reasons["negative bytes"] = np.any([values < 0 for values in sizes], axis=0)
        reasons["bytes beyond 2^63"] = np.any([values >= LARGEST_COUNT for values in sizes], axis=0)
    if cpu is not None:
        reasons["negative CPU time"] = cpu < 0
        reasons[ZERO_CPU] = cpu == 0
    noted = {f"{name} not read, taken as not known": flags for name, flags in rows.unread.items() if name not in TIMES}
    noted |= {
        f"{name} beyond 2^31, taken as not known": amounts > LARGEST_WHOLE
        for name, amounts in rows.amounts.items()
        if name.startswith(COUNTED)
    }
    noted |= cpu_notes | {
        "starts before it is submitted": waits < 0,
        LONG_WAIT: waits > LONGEST_MS,
        LONG_REQUEST: requested > LONGEST_MS,
    }
    return Derived(columns, reasons, noted, assumed)


def _times(found: ColumnMap, rows: FieldRows) -> tuple[Floats, Floats, Floats, Floats]:
    """Submission, start, end and run time [ms]."""
    start, end, run = rows.value("start"), rows.value("end"), rows.value("run")
    submit = rows.value("submit")
    if "submit" not in rows.amounts:
        submit = start if "start" in rows.amounts else end - run
    # Without a start, a job starts when it is submitted.
    begin = start if "start" in rows.amounts else submit
    if "run" not in rows.amounts or "end" in rows.amounts:
        run = np.where(np.isnan(run), end - begin, run)
    if "start" not in rows.amounts and "run" in rows.amounts:
        start = end - run
    return submit, start, end, run


def _widths(found: ColumnMap, rows: FieldRows) -> tuple[Floats, Floats]:
    """Tasks and cores of each job; a task for each core, rounded up, or as many as the file says, if that is more."""
    given, cores = rows.value("tasks"), rows.value("cores")
    given = np.where(given > 0, given, math.nan)
    if found.cores is None:
        tasks = given if found.tasks is not None else np.ones(rows.count)
        return np.ceil(tasks), np.ceil(tasks)
    if found.cores.per == "task":
        cores = cores * np.nan_to_num(given, nan=1.0)
    cores = np.where(cores > 0, cores, math.nan)
    # Rounding errors (0.1 x 30) are no core more.
    tasks = np.fmax(np.ceil(np.round(cores, 6)), np.ceil(given))
    return tasks, np.where(np.isnan(cores), tasks, cores)


def _cpu(
    found: ColumnMap, rows: FieldRows, run: Floats, tasks: Floats, cores: Floats, reading: LogReading
) -> tuple[Floats | None, dict[str, Flags]]:
    """CPU time of each job [ms], None if the map says neither it nor run times; and what is remarkable."""
    busy = run * cores
    if found.cpu is None or reading.cpu_time == "run":
        says_run = "run" in rows.amounts or "end" in rows.amounts
        return (busy if says_run else None), {}
    cpu = rows.value("cpu") * {"job": np.ones(rows.count), "task": tasks, "core": cores}[found.cpu.per]
    most = run * tasks
    above = cpu > most * (1 + 1e-9)
    unknown = np.isnan(cpu)
    return np.where(unknown, busy, np.where(above, most, cpu)), {
        "CPU time not known, run time used": unknown,
        "CPU time above that of its processors, cut to it": above,
    }


def _disk(found: ColumnMap, rows: FieldRows, tasks: Floats, reading: LogReading) -> tuple[dict[str, Floats], Flags]:
    """The columns disk_mb and write_share, and in which rows shares of bytes of calls stand in."""
    none = np.full(rows.count, math.nan)
    by_disk, by_calls = [none, none], [none, none]
    for place, name in enumerate(("disk_read", "disk_written")):
        field = getattr(found, name)
        if field is None:
            continue
        megabytes = rows.value(name) / 1e6 * (tasks if field.per == "task" else 1.0)
        (by_calls if field.by == "calls" else by_disk)[place] = megabytes
    if found.disk_read is None and found.disk_written is None:
        return {}, np.zeros(rows.count, bool)
    return disk_columns((by_disk[0], by_disk[1]), (by_calls[0], by_calls[1]), reading, tasks)
