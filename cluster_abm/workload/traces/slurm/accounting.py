"""Slurm's accounting: jobs and their steps, from `sacct -P` (with `|` between fields) or `sacct --json`.

A job is the line without a dot in its JobID; its steps (123.batch, 123.extern, 123.0) stand below it and say what was
used. What becomes of it:

* Tasks are the allocated processors. CPU time is TotalCPU over them, of the job's line, else of its steps together;
  where no line says it the run time is taken. CPU above the run time of all processors is cut to it, as in an SWF log.
* Memory is the largest of the steps' MaxRSS x NTasks, shared by the tasks; MaxRSS is that of the step's largest task.
* MaxDiskRead and MaxDiskWrite x NTasks, summed over the steps, are bytes of calls: Slurm's gather plugins take them
  from rchar and wchar of /proc/PID/io (src/plugins/jobacct_gather/common/common_jag.c). Openly assumed shares of them
  are what the disk saw: `LogReading.disk_read_share`, `disk_write_share`.
* Jobs that failed, ran out of time or memory, or were cancelled while running count: their work was done. So do those
  that were requeued or resized after they had run: such a job has one line for each time that it ran.
* Start less Submit is how long a job waited; it, User, and Group (else Account) change nothing in a run: it shows them
  beside its own waits, and by user. A negative wait is left out.
* Partition, and generic resources and licences in AllocTRES (else ReqTRES, AllocGRES, ReqGRES), are kept.
* Times without a zone stand as they are. Unknown, None and empty fields are not known; nor is a time limit that is
  UNLIMITED or the partition's (Partition_Limit).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Flags, Floats, Integers, Words
from cluster_abm.errors import InputError
from cluster_abm.workload.text.csv_cells import CsvCells
from cluster_abm.workload.traces.parts.fields import CellRule, ForeignColumns, beyond_counting, read_fields
from cluster_abm.workload.traces.parts.finishing import ZERO_CPU, disk_columns, finished, on_own_clock
from cluster_abm.workload.traces.parts.log_reading import PLAIN_READING, LogReading
from cluster_abm.workload.traces.parts.stamps import ALLOWED, Stamps
from cluster_abm.workload.traces.parts.units import clock_ms, plain, size_bytes
from cluster_abm.workload.traces.slurm.tres import resource_cells
from cluster_abm.workload.traces.table import JOB, PARTITION, RECORDED_WAIT, RESOURCES, Trace, sorted_out

CLOCK = CellRule(clock_ms, "a time as 1-02:03:04 or 02:03.045")
SIZE = CellRule(size_bytes, "bytes, as 4096, 1234K or 1.5G")
COUNT = CellRule(plain, "a number")
STAMPS = ("submit", "start", "end")
CLOCKS = ("elapsed", "totalcpu", "timelimit")
SIZES = ("maxrss", "maxdiskread", "maxdiskwrite")
RESOURCE_COLUMNS = ("alloctres", "reqtres", "allocgres", "reqgres")
WORDS = ("jobid", "jobname", "state", "user", "group", "account", "partition", *RESOURCE_COLUMNS)
COUNTS = ("elapsedraw", "timelimitraw", "alloccpus", "ncpus", "reqcpus", "ntasks")
# What sacct prints without --format: no time of submission.
DEFAULT = ("jobid", "jobname", "partition", "account", "alloccpus", "state", "exitcode")
COMMAND = (
    "sacct -P --format=JobID,JobName,State,Submit,Start,End,ElapsedRaw,NCPUS,NTasks,TotalCPU,MaxRSS,MaxDiskRead,"
    "MaxDiskWrite,TimelimitRaw,User,Group,Partition,AllocTRES"
)
ENDED = (
    "COMPLETED",
    "FAILED",
    "TIMEOUT",
    "OUT_OF_MEMORY",
    "NODE_FAIL",
    "PREEMPTED",
    "DEADLINE",
    "BOOT_FAIL",
    "REVOKED",
)
CANCELLED = "CANCELLED"
WAITING = ("PENDING", "CONFIGURING")
REQUEUED = ("REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT")  # for what ran before there is a line
RESIZING = "RESIZING"  # with an end: what the job did before it got another size
RUNNING = ("RUNNING", "SUSPENDED", "COMPLETING", "STOPPED", "SIGNALING", "STAGE_OUT")
STATES = frozenset((*ENDED, CANCELLED, *WAITING, *REQUEUED, RESIZING, *RUNNING))
CUT_SHORT = ("FAILED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "PREEMPTED", "DEADLINE", CANCELLED, *REQUEUED, RESIZING)


class _Used(NamedTuple):
    """What jobs used by their own line, else by their steps; NaN where no line says it, shape (rows,) each."""

    cpu_ms: Floats
    memory: Floats
    read: Floats
    written: Floats


def looks_like_sacct(names: list[str]) -> bool:
    """Whether a header is that of sacct."""
    lower = {name.strip().lower() for name in names}
    return "jobid" in lower and len(lower & {*STAMPS, *CLOCKS, *SIZES, *COUNTS, "state"}) >= 2


def sacct_trace(cells: CsvCells, reading: LogReading = PLAIN_READING, needs_ids: bool = False) -> Trace:
    """The trace that sacct's lines hold.

    Raises InputError: columns that are missing, cells that cannot be read (the first ten), no usable job.
    """
    check_columns(cells.names, cells.where)
    stamps = Stamps()
    rules = dict.fromkeys(STAMPS, CellRule(stamps.read, ALLOWED)) | dict.fromkeys(CLOCKS, CLOCK)
    rules |= dict.fromkeys(SIZES, SIZE) | dict.fromkeys(COUNTS, COUNT)
    fields = read_fields(cells, rules, WORDS)
    noted = {
        "blank lines": cells.blank_lines,
        "values beyond the last column, ignored (a job's name with | in it)": cells.longer,
        "times in several time zones, compared as instants": len(stamps.zones) if len(stamps.zones) > 1 else 0,
    }
    return merged(fields, cells.where, noted, reading, needs_ids)


def merged(
    fields: ForeignColumns, where: str, remarks: dict[str, int], reading: LogReading, needs_ids: bool = False
) -> Trace:
    """The trace of sacct's columns: jobs with what their steps used.

    Raises InputError: no usable job.

    Args:
        fields: columns by sacct's names, rows of a job's steps below its own; times [ms], sizes [B].
        remarks: what was mended as they were read -> rows.
        needs_ids: whether jobs get the column `job`.
    """
    is_step, job_of = _steps(fields.word("jobid"))
    run_ms, processors = _run_times(fields), _processors(fields)
    used = _used(fields, is_step, job_of)
    state = np.array([state_in(text) for text in fields.word("state")], object)
    timed = run_ms > 0
    if reading.cpu_time == "run":  # a job holds its processors while it runs, whatever it computes
        used = used._replace(cpu_ms=run_ms * processors)
    cpu_ms = np.where(np.isnan(used.cpu_ms), run_ms * processors, used.cpu_ms)
    reasons = {
        "step of a job, counted with it": is_step & (job_of >= 0),
        "step without the line of its job": is_step,
        "no job id": fields.word("jobid") == "",
        "state not known": ~np.isin(state, list(STATES)),
        "had not started": np.isin(state, WAITING) | (np.isin(state, REQUEUED) & ~(run_ms > 0)),
        "was still running": np.isin(state, RUNNING) | ((state == RESIZING) & np.isnan(fields.number("end"))),
        "ends before it starts": fields.number("end") < fields.number("start"),
        "negative run time": run_ms < 0,
        "cancelled before it ran": ~timed & (state == CANCELLED),
        "zero run time": run_ms == 0,
        "no run time": np.isnan(run_ms),
        "no submit time": np.isnan(fields.number("submit")),
        "no processors": ~(processors > 0),
        "negative CPU time": cpu_ms < 0,
        ZERO_CPU: cpu_ms == 0,
        "negative bytes": np.any([values < 0 for values in used[1:]], axis=0),
        "bytes beyond 2^63": beyond_counting(*used[1:]),
    }
    skipped, usable = sorted_out(reasons, len(run_ms))
    unknown_cpu, above = np.isnan(used.cpu_ms), cpu_ms > run_ms * processors * (1 + 1e-9)
    columns, assumed = _columns(fields, usable, np.minimum(cpu_ms, run_ms * processors), used, reading, where)
    waits_ms = fields.number("start") - fields.number("submit")
    columns[RECORDED_WAIT] = np.where(waits_ms >= 0, waits_ms, math.nan)[usable]
    filled = _filled(usable, unknown_cpu, assumed, reading)
    ids = fields.word("jobid")[usable]
    noted = {
        **remarks,
        "CPU time not known, run time used": int((unknown_cpu & usable).sum()),
        "CPU time above that of its processors, cut to it": int((above & usable).sum()),
        "cut short (failed, cancelled, out of time or memory, ...), its work counts": int(
            np.isin(state[usable], CUT_SHORT).sum()
        ),
        "starts before it is submitted": int((waits_ms < 0)[usable].sum()),
        "wait not known": int(np.isnan(waits_ms[usable]).sum()) if (waits_ms[usable] >= 0).any() else 0,
        "job id seen before (requeued)": len(ids) - len(set(ids.tolist())),
        "bytes of calls, shares of them taken for the disk's": int(assumed.sum()),
    }
    words = {
        "name": fields.word("jobname")[usable],
        "user": fields.word("user")[usable],
        "group": fields.word("group", "account")[usable],
        PARTITION: fields.word("partition")[usable],
        RESOURCES: resource_cells([fields.word(name)[usable] for name in RESOURCE_COLUMNS]),
    }
    if needs_ids:
        words[JOB] = ids
    trace = finished(where, "sacct", len(run_ms), columns, words, skipped, noted, filled, reading)
    return replace(trace, begins_at_ms=float(fields.number("submit")[usable].min()))


def check_columns(found: Sequence[str], where: str) -> None:
    """Raise InputError if a column is missing without which no line can be used."""
    names = {name.lower() for name in found}
    needed = {
        "JobID": {"jobid"},
        "State": {"state"},
        "Submit": {"submit"},
        "ElapsedRaw (or Elapsed)": {"elapsedraw", "elapsed"},
        "AllocCPUS (or NCPUS)": {"alloccpus", "ncpus"},
    }
    missing = [name for name, any_of in needed.items() if not names & any_of]
    if missing:
        default = " (sacct's default columns)" if tuple(name.lower() for name in found if name) == DEFAULT else ""
        raise InputError(
            f"{where}: column missing: {', '.join(missing)}; found: {', '.join(found)[:200]}{default}; `{COMMAND}` has "
            "all that is read"
        )


def state_in(cell: str) -> str:
    """The state that a cell names, in capitals: of `CANCELLED by 1234`, or a `TIMEOUT+` cut off, the first word."""
    return (cell.split() or [""])[0].rstrip("+").upper()


def _steps(ids: Words) -> tuple[Flags, Integers]:
    """Which rows are steps, and the row of each one's job, the last above it with its id; -1 where there is none."""
    is_step, job_of = np.zeros(len(ids), bool), np.full(len(ids), -1, np.int64)
    latest: dict[str, int] = {}
    for row, name in enumerate(ids.tolist()):
        job, dot, _ = name.partition(".")
        if dot:
            is_step[row], job_of[row] = True, latest.get(job, -1)
        else:
            latest[job] = row
    return is_step, job_of


def _run_times(fields: ForeignColumns) -> Floats:
    """Run times [ms]."""
    return np.where(
        np.isnan(fields.number("elapsedraw")), fields.number("elapsed"), fields.number("elapsedraw") * 1000.0
    )


def _processors(fields: ForeignColumns) -> Floats:
    """Allocated processors."""
    allocated = fields.number("alloccpus", "ncpus")
    return np.where(allocated > 0, allocated, math.nan)


def _used(fields: ForeignColumns, is_step: Flags, job_of: Integers) -> _Used:
    """What each job used, merged from its line and its steps."""
    merged = is_step & (job_of >= 0)
    jobs, rows = job_of[merged], len(is_step)
    tasks = np.maximum(np.nan_to_num(fields.number("ntasks"), nan=1.0), 1.0)

    def from_steps(values: Floats, largest: bool = False) -> Floats:
        of_jobs, given = np.full(rows, math.nan), values[merged]
        if largest:
            np.fmax.at(of_jobs, jobs, given)
            return of_jobs
        known = ~np.isnan(given)
        sums = np.bincount(jobs[known], given[known], rows)
        counts = np.bincount(jobs[known], minlength=rows)
        return np.where(counts > 0, sums, math.nan)

    def first(own: Floats, steps: Floats) -> Floats:
        return np.where(np.isnan(own), steps, own)

    memory, cpu_ms = fields.number("maxrss") * tasks, fields.number("totalcpu")
    read, written = fields.number("maxdiskread") * tasks, fields.number("maxdiskwrite") * tasks
    return _Used(
        first(cpu_ms, from_steps(cpu_ms)),
        first(from_steps(memory, largest=True), memory),
        first(from_steps(read), read),
        first(from_steps(written), written),
    )


def _columns(
    fields: ForeignColumns, usable: Flags, cpu_ms: Floats, used: _Used, reading: LogReading, where: str
) -> tuple[dict[str, Floats], Flags]:
    """Our columns of the usable rows, and in which of them shares of bytes stand in."""
    tasks = _processors(fields)[usable]
    memory = used.memory[usable]
    none = np.full(len(tasks), math.nan)
    disk, assumed = disk_columns((none, none), (used.read[usable] / 1e6, used.written[usable] / 1e6), reading, tasks)
    minutes, limit = fields.number("timelimitraw") * 60_000.0, fields.number("timelimit")
    requested = np.where(np.isnan(minutes), limit, minutes)[usable]
    columns = {
        "arrival_ms": on_own_clock(fields.number("submit")[usable], where),
        "cpu_ms": np.round(cpu_ms[usable] / tasks, 6),
        "memory_mb": np.where(memory > 0, memory, math.nan) / 1e6 / tasks,
        "tasks": tasks,
        "requested_ms": np.where(requested > 0, requested, math.nan),
        **disk,
    }
    return columns, assumed


def _filled(usable: Flags, unknown_cpu: Flags, assumed: Flags, reading: LogReading) -> dict[str, str]:
    filled = {}
    count = int((unknown_cpu & usable).sum())
    if count:
        filled["cpu_ms"] = f"in {count:,} rows without TotalCPU the run time on all processors"
    if assumed.any():
        filled["disk_mb"] = (
            f"bytes of calls, not of the disk: {reading.disk_read_share:g} x MaxDiskRead + "
            f"{reading.disk_write_share:g} x MaxDiskWrite, x NTasks over the steps, assumed "
            "(workload.trace.disk_read_share, disk_write_share)"
        )
    return filled
