"""The Standard Workload Format of the Parallel Workloads Archive (Feitelson, Tsafrir and Krakov 2014).

Eighteen fields a line, -1 for what is not known, `;` before remarks. What becomes of the traps in real logs:

* Tasks are the allocated processors, else the requested ones. CPU time is the average per processor, else the run time.
* CPU above the run time is cut to it: no processor computes longer than the job is there (such logs hold the sum
  over the processors, or over several runs). A run time of 0 or -1 beside a known CPU time is taken as not known.
* Memory used (KB per processor, 1000 KB = 1 MB) of 0 or -1 is not known; requested memory does not stand in for it.
  Both, and the CPU time, can be read otherwise: `LogReading`.
* The requested run time (field 9) is in s of wall time; 0 or less is not known. Nor is a request of 2^31 - 1 or
  2^32 - 1, in whichever field: it stands for all that there is.
* Submit times that are Unix times are counted from the first job on.
* Jobs that failed or were cancelled while running count: their work was done. Those that never ran are skipped.
* Parts of a checkpointed job (status 2, 3, 4) are skipped if the log also has the line of the whole job.
* Submissions out of order are sorted. Preceding jobs and think times (fields 17, 18) are followed where
  `LogReading.dependences` says so (`preceding.py`), else counted.
* The wait time (field 3), the user and the group (fields 12, 13) change nothing in a run: it shows them beside its own
  waits, and by user. A negative wait time is left out.
* CPU times that cannot be what jobs used (one constant, or below 1 % of the run times) are believed, and it is noted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from zoneinfo import ZoneInfo

import numpy as np

from cluster_abm.errors import InputError
from cluster_abm.workload.text.lines import Lines
from cluster_abm.workload.traces.format import Head, TraceFormat
from cluster_abm.workload.traces.parts.finishing import RUN_TIMES, ZERO_CPU, no_job, on_own_clock
from cluster_abm.workload.traces.parts.log_reading import PLAIN_READING, LogReading
from cluster_abm.workload.traces.preceding import preceding_jobs
from cluster_abm.workload.traces.swf_lines import (
    FIELDS,
    REQUESTED_MEMORY,
    REQUESTS,
    THINK_TIME,
    UNIX_END,
    USED,
    read_log,
    stands_for_all,
)
from cluster_abm.workload.traces.table import (
    GROUP,
    JOB,
    RECORDED_WAIT,
    USER,
    Flags,
    Floats,
    Trace,
    Words,
    job_frame,
    number,
    sorted_out,
    tally,
)

WAIT = "wait time"
FOLLOWED_BY = "preceding job given, not followed; workload.trace.dependences = true follows it"
FAILED, CANCELLED, PARTS = 0, 5, (2, 3, 4)
LONGEST_COUNT = 15  # digits of a number of rows
DAY_S = 86_400.0
LEAST_SHARE = 0.01  # of the run times that CPU times come to, if they were measured


def swf_trace(lines: Lines, reading: LogReading = PLAIN_READING, needs_ids: bool = False) -> Trace:
    """The trace that an SWF log holds; times count from the log's own start.

    Raises InputError: lines cut short or not numeric (the first ten), no line, no usable job.
    """
    where = lines.where
    used = USED
    if reading.memory == "requested":
        used = {name: position for name, position in USED.items() if name != "used memory"} | REQUESTED_MEMORY
    if reading.dependences:
        used = used | THINK_TIME
    columns, longer, header, unix = read_log(lines, used)
    if not columns:
        raise InputError(f"{where}: no job in the log; allowed: lines of {FIELDS} numbers")
    rows = len(columns["submit time"])
    noted = {f"more than {FIELDS} fields, the rest ignored": longer}
    if not header:
        noted["no header"] = 1
    announced = header.get("MaxRecords", "").split()
    # Longer ones are no number of rows, and Python refuses to read the longest.
    if announced and announced[0].isascii() and announced[0].isdigit() and len(announced[0]) <= LONGEST_COUNT:
        noted["rows more or less than the header's MaxRecords"] = abs(int(announced[0]) - rows)
    unlimited = np.zeros(rows, bool)
    for name in REQUESTS:
        if name in columns:
            holds = stands_for_all(columns[name])
            columns[name][holds] = -1.0
            unlimited |= holds
    skipped, usable_rows = _skipped(columns, reading, unix)
    if not usable_rows.any():
        raise no_job(where, rows, skipped, reading)
    usable = columns if usable_rows.all() else {name: values[usable_rows] for name, values in columns.items()}
    odd = np.zeros(len(usable["submit time"]), bool)
    for name, values in usable.items():
        if name == WAIT:
            continue  # noted by itself
        odd |= (values < 0) & (values != -1)
    noted["negative value other than -1, read as not known"] = int(odd.sum())
    noted["a request of 2^31 - 1 or 2^32 - 1, read as not known"] = int(unlimited[usable_rows].sum())
    if unix:
        submit = usable["submit time"]
        # Hours of the day are counted from what the header says of the log's begin.
        header = header | {"UnixStartTime": f"{submit.min():.12g}"}
        usable = usable | {"submit time": on_own_clock(submit * 1000.0, where) / 1000.0}
        noted["submit times are Unix times, counted from the first"] = len(submit)
    noted |= _doubtful(usable, reading)
    jobs, remarks = _jobs(usable, reading)
    parents = None
    if reading.dependences:
        preceding = preceding_jobs(columns, usable_rows, np.asarray(jobs["arrival_ms"], float))
        parents, remarks = preceding.parents, remarks | preceding.noted
        if parents is not None:
            jobs |= preceding.columns
    if needs_ids and JOB not in jobs:
        jobs[JOB] = np.array([f"{number:.0f}" for number in usable["job number"].tolist()], object)
    trace = Trace(where, "swf", rows, job_frame(jobs), tally(skipped), tally(noted | remarks), header)
    begins_at_ms, zone = clock_of(header)
    return replace(trace, begins_at_ms=begins_at_ms, zone=zone, parents=parents)


def clock_of(header: Mapping[str, str]) -> tuple[float | None, str | None]:
    """The instant of time 0 [ms since 1970] and the site's time zone, as a trace has them, by what a header says.

    UnixStartTime counts from 1970 in UTC; without it there is no instant. TimeZoneString names the site's zone. Older
    logs have TimeZone, the seconds to add all year: then the instant is on the site's clock. Without both it is UTC.
    """
    begin_s = _first_number(header.get("UnixStartTime", ""))
    if not 0 < begin_s < UNIX_END:
        return None, None
    name = (header.get("TimeZoneString", "").split() or [""])[0]
    try:
        if name:
            return begin_s * 1000.0, ZoneInfo(name).key
    except (OSError, ValueError, KeyError):
        pass  # no zone that is known: TimeZone stands in for it
    offset_s = _first_number(header.get("TimeZone", ""))
    return (begin_s + (offset_s if abs(offset_s) <= DAY_S else 0.0)) * 1000.0, None


def _first_number(text: str) -> float:
    return number((text.split() or [""])[0])


def _skipped(columns: dict[str, Floats], reading: LogReading, unix: bool) -> tuple[dict[str, int], Flags]:
    """Rows left out by the first reason that holds, and which rows remain, shape (rows,)."""
    run, cpu, status = columns["run time"], columns["average CPU time"], columns["status"]
    ids = columns["job number"]
    part = np.isin(status, PARTS)
    never = (run <= 0) & (cpu <= 0)
    reasons: dict[str, Flags] = {
        "part of a job that has a line of its own": part & np.isin(ids, ids[~part]),
        # 0 since 1970 is "never".
        "no submit time": (columns["submit time"] < 0) | (unix & (columns["submit time"] == 0)),
        "cancelled before it ran": never & (status == CANCELLED),
        "zero run time": never & (run == 0),
        "no run time and no CPU time": never,
        ZERO_CPU: (cpu == 0) & ((run <= 0) | (reading.cpu_time == "used")),
        "no processors": (columns["allocated processors"] <= 0) & (columns["requested processors"] <= 0),
    }
    return sorted_out(reasons, len(run))


def _doubtful(columns: dict[str, Floats], reading: LogReading) -> dict[str, int]:
    """What says that CPU times are hardly those that the jobs used -> how many jobs have one."""
    run, cpu = columns["run time"], columns["average CPU time"]
    known = (run > 0) & (cpu > 0)
    if reading.cpu_time == "run" or not known.any():
        return {}
    run, cpu = run[known], cpu[known]
    if np.ptp(cpu) == 0 and np.ptp(run) > 0:
        words = f"CPU times are all {cpu[0]:g} s"
    elif cpu.sum() < LEAST_SHARE * run.sum():
        words = f"CPU times are less than {LEAST_SHARE:.0%} of the run times in all"
    else:
        return {}
    return {f"{words}: hardly what the jobs used; {RUN_TIMES}": len(run)}


def _jobs(columns: dict[str, Floats], reading: LogReading) -> tuple[dict[str, Floats | Words], dict[str, int]]:
    """The columns of usable rows as ours, and what is remarkable about them."""
    submit, run, cpu = columns["submit time"], columns["run time"], columns["average CPU time"]
    allocated, memory = columns["allocated processors"], columns[f"{reading.memory} memory"]
    status, requested = columns["status"], columns["requested time"]
    timed = run > 0
    unknown_cpu, too_much = cpu < 0, timed & (cpu > run)
    cpu_s = np.where(unknown_cpu | too_much, run, cpu)
    if reading.cpu_time == "run":
        cpu_s = np.where(timed, run, cpu)
        unknown_cpu, too_much = np.zeros_like(timed), np.zeros_like(timed)
    # To the engine's nanosecond, so that 2.01 s is 2010 ms and no rounding error more.
    jobs: dict[str, Floats | Words] = {
        "arrival_ms": np.round(submit * 1000.0, 6),
        "cpu_ms": np.round(cpu_s * 1000.0, 6),
        "tasks": np.where(allocated > 0, allocated, columns["requested processors"]),
    }
    if (requested > 0).any():
        jobs["requested_ms"] = np.where(requested > 0, np.round(requested * 1000.0, 6), np.nan)
    if (memory > 0).any():
        jobs["memory_mb"] = np.where(memory > 0, memory, np.nan) / 1000.0
    waited = columns[WAIT] >= 0
    if waited.any():
        jobs[RECORDED_WAIT] = np.where(waited, np.round(columns[WAIT] * 1000.0, 6), np.nan)
    jobs |= {name: _names(columns[name]) for name in (USER, GROUP) if (columns[name] >= 0).any()}
    return jobs, {
        "CPU time not known, run time used": unknown_cpu.sum(),
        "CPU time above run time, cut to it": too_much.sum(),
        "run time 0 or not known, CPU time used": (~timed).sum(),
        "allocated processors not known, requested used": (allocated <= 0).sum(),
        "run time above requested time": (timed & (requested > 0) & (run > requested)).sum(),
        "memory not known": (memory < 0).sum(),
        "memory 0, read as not known": (memory == 0).sum(),
        "failed, its work counts": (status == FAILED).sum(),
        "cancelled while it ran, its work counts": (status == CANCELLED).sum(),
        "negative wait time, left out": ((columns[WAIT] < 0) & (columns[WAIT] != -1)).sum(),
        "wait time not known": (columns[WAIT] == -1).sum() if waited.any() else 0,
        FOLLOWED_BY: 0 if reading.dependences else (columns["preceding job"] > 0).sum(),
        "part of a job without a line of its own": np.isin(status, PARTS).sum(),
        "job number seen before": len(submit) - len(np.unique(columns["job number"])),
        "submitted before the row above, sorted": (np.diff(submit) < 0).sum(),
    }


def _names(numbers: Floats) -> Words:
    """Numbers of users, or groups, as words; "" of those that are not known."""
    found, place = np.unique(numbers, return_inverse=True)
    return np.array([f"{one:.12g}" if one >= 0 else "" for one in found.tolist()], object)[place]


def _looks_like_swf(head: Head) -> bool:
    """A remark, or a line of numbers alone."""
    words = head.line.split()
    return head.line.startswith(";") or (len(words) >= FIELDS and all(number(word) == number(word) for word in words))


FORMAT = TraceFormat(
    title="SWF (Parallel Workloads Archive)",
    row="a job",
    lacks="homes, I/O",
    begins=f"remarks (;) or lines of {FIELDS} numbers of an SWF log",
    rank=3,
    looks_like=_looks_like_swf,
    trace=lambda file: swf_trace(file.lines, file.reading, file.needs_ids),
    endings=(".swf",),
    is_batch=True,
    reads=("cpu_time", "memory", "dependences"),
)
