"""Slurm's accounting as `sacct --json` prints it, of Slurm 21.08 to 24.11, as the columns of `sacct -P`.

What is where, and what differs between versions:

* A number is a number, or since 23.02 {"set": true, "infinite": false, "number": 5}. A state is a text, a list of
  texts, or {"current": one of both}.
* Times are seconds since 1970, 0 for "never"; `time.limit` is in minutes.
* `tres.allocated` of a job holds its processors and generic resources, `required.CPUs` what it asked for.
* Of a step `tres.requested.max` holds what a task took in (bytes of memory and of reads by calls), and
  `tres.consumed.max` what it wrote: they are sacct's MaxRSS, MaxDiskRead and MaxDiskWrite.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np

from cluster_abm.bounded_files import shown
from cluster_abm.errors import InputError
from cluster_abm.workload.text.json_document import entries_of, json_problems, writable
from cluster_abm.workload.traces.gathering import NumberColumn, WordColumn
from cluster_abm.workload.traces.parts.fields import LARGEST_COUNT, MOST, ForeignColumns
from cluster_abm.workload.traces.parts.log_reading import PLAIN_READING, LogReading
from cluster_abm.workload.traces.slurm.accounting import merged
from cluster_abm.workload.traces.table import Trace

NUMBERS = (
    *("submit", "start", "end", "elapsedraw", "timelimitraw", "alloccpus", "reqcpus"),
    *("ntasks", "totalcpu", "maxrss", "maxdiskread", "maxdiskwrite"),
)
WORDS = ("jobid", "jobname", "state", "user", "group", "account", "partition", "alloctres", "reqtres")
UNLIMITED = 2.0**32 - 2  # from here on: no limit, or none known
AT_ONCE = 10_000  # rows that are gathered before they are put behind the others


def looks_like_document(data: bytes) -> bool:
    """Whether a file begins as a document of `sacct --json` does."""
    return data.startswith(b"{") and all(name in data for name in (b'"jobs"', b'"job_id"', b'"submission"'))


def document_trace(data: bytes, where: str, reading: LogReading = PLAIN_READING, needs_ids: bool = False) -> Trace:
    """The trace that a document of `sacct --json` holds.

    Raises InputError: no JSON, no list of jobs, no usable job.
    """
    gathered = _Gathered()
    with json_problems(where):
        for position, job in enumerate(entries_of(data.decode("utf-8-sig"), "jobs")):
            if not isinstance(job, dict):
                raise InputError(
                    f"{shown(where)}: jobs[{position}] = {str(job)[:40]!r}: allowed: an object for each job"
                )
            gathered.add(job)
    if not gathered.rows:
        raise InputError(f"{shown(where)}: no job: its list `jobs` is empty, or not there")
    remarks = {"no processors allocated, those requested used": gathered.requested}
    return merged(gathered.columns(), where, remarks, reading, needs_ids)


class _Gathered:
    """Jobs and steps as rows of sacct's columns."""

    def __init__(self) -> None:
        self.rows = self.requested = 0
        self._numbers = {name: NumberColumn() for name in NUMBERS}
        self._words = {name: WordColumn() for name in WORDS}
        self._waiting: list[tuple[dict[str, float], dict[str, str]]] = []

    def add(self, job: Mapping[str, Any]) -> None:
        """Put a job behind, and its steps below it."""
        numbers, words = _job(job)
        steps = _list(job.get("steps"))
        if not numbers["alloccpus"] > 0 and "allocated" not in _object(job.get("tres")) and numbers["reqcpus"] > 0:
            numbers["alloccpus"] = numbers["reqcpus"]
            self.requested += 1
        if numbers["totalcpu"] == 0 and steps:
            numbers["totalcpu"] = math.nan  # some versions leave it to the steps
        self._put(numbers, words)
        for position, step in enumerate(steps):
            self._put(_step(_object(step)), {"jobid": f"{words['jobid']}.{position}", "state": words["state"]})

    def columns(self) -> ForeignColumns:
        """All rows."""
        self._flush()
        lines = np.frombuffer(array("q", range(1, self.rows + 1)), np.int64)
        numbers = {name: column.column() for name, column in self._numbers.items()}
        words = {name: column.column() for name, column in self._words.items()}
        if not any(words["group"]):
            del words["group"]  # the accounts stand in
        return ForeignColumns(numbers, words, lines, frozenset((*NUMBERS, *words)))

    def _put(self, numbers: dict[str, float], words: dict[str, str]) -> None:
        self.rows += 1
        self._waiting.append((numbers, words))
        if len(self._waiting) >= AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        rows, self._waiting = self._waiting, []
        for name, column in self._numbers.items():
            column.extend(np.array([numbers.get(name, math.nan) for numbers, _ in rows], np.float64))
        for name, word_column in self._words.items():
            word_column.extend(words.get(name, "") for _, words in rows)


def _job(job: Mapping[str, Any]) -> tuple[dict[str, float], dict[str, str]]:
    """A job's numbers and words."""
    time, tres = _object(job.get("time")), _object(job.get("tres"))
    allocated, requested = _list(tres.get("allocated")), _list(tres.get("requested"))
    limit = _number(time.get("limit"))
    numbers = {
        **{name: _instant_ms(time.get(key)) for name, key in (("submit", "submission"), ("start", "start"))},
        "end": _instant_ms(time.get("end")),
        "elapsedraw": _number(time.get("elapsed")),
        "timelimitraw": limit if limit < UNLIMITED else math.nan,
        "alloccpus": _amount(allocated, "cpu"),
        "reqcpus": _number(_object(job.get("required")).get("CPUs")),
        "totalcpu": _seconds_ms(time.get("total")),
    }
    words = {
        "jobid": _id(job),
        "jobname": _text(job.get("name")),
        "state": _state(job.get("state")),
        **{name: _text(job.get(name)) for name in ("user", "group", "account", "partition")},
        "alloctres": _resources(allocated),
        "reqtres": _resources(requested),
    }
    return numbers, words


def _step(step: Mapping[str, Any]) -> dict[str, float]:
    """What a step used."""
    tres = _object(step.get("tres"))
    taken = _list(_object(tres.get("requested")).get("max"))
    given = _list(_object(tres.get("consumed")).get("max"))
    return {
        "ntasks": _number(_object(step.get("tasks")).get("count")),
        "totalcpu": _seconds_ms(_object(step.get("time")).get("total")),
        "maxrss": _amount(taken, "mem"),
        "maxdiskread": _amount(taken, "fs", "disk"),
        "maxdiskwrite": _amount(given, "fs", "disk"),
    }


def _id(job: Mapping[str, Any]) -> str:
    """A job's id as sacct writes it: 7, 7_3 of an array, 7+1 of a heterogeneous one; no dot, which steps have."""
    array_of, het = _object(job.get("array")), _object(job.get("het"))
    for of, job_key, number_key, between in ((array_of, "job_id", "task_id", "_"), (het, "job_id", "job_offset", "+")):
        whole, number = _number(of.get(job_key)), _number(of.get(number_key))
        if whole > 0 and number >= 0:
            return f"{whole:.0f}{between}{number:.0f}"
    found = job.get("job_id")
    return _text(f"{_number(found):.0f}" if isinstance(found, dict) else found).replace(".", "_")


def _state(given: Any) -> str:
    """The first state that is given."""
    if isinstance(given, dict):
        given = given.get("current")
    if isinstance(given, list):
        given = given[0] if given else ""
    return _text(given)


def _resources(tres: list[Any]) -> str:
    """Generic resources and licences as sacct writes them: gres/gpu=2."""
    named = [(_text(one.get("type")), _text(one.get("name")), _number(one.get("count"))) for one in map(_object, tres)]
    kinds = ("gres", "license")
    return ",".join(f"{kind}/{name}={count:.0f}" for kind, name, count in named if kind in kinds and count > 0)


def _amount(tres: list[Any], kind: str, name: str = "") -> float:
    """How much of a resource a list of them names; NaN where it does not."""
    for one in map(_object, tres):
        if one.get("type") == kind and (one.get("name") or "") == name:
            count = _number(one.get("count"))
            # Slurm writes -2, or 2^64 - 2, for what it does not know.
            return count if 0 <= count < LARGEST_COUNT else math.nan
    return math.nan


def _instant_ms(given: Any) -> float:
    """Milliseconds since 1970; NaN of 0, which is "never"."""
    seconds = _number(given)
    return seconds * 1000.0 if 0 < seconds < UNLIMITED else math.nan


def _seconds_ms(given: Any) -> float:
    """Milliseconds of {"seconds": 5, "microseconds": 250000}; NaN where there are none."""
    parts = _object(given)
    microseconds = _number(parts.get("microseconds"))
    return _number(parts.get("seconds")) * 1000.0 + (0.0 if math.isnan(microseconds) else microseconds / 1000.0)


def _number(given: Any) -> float:
    """A number, or one with its marks "set" and "infinite"; NaN where nothing is known."""
    if isinstance(given, dict):
        given = given.get("number") if given.get("set", True) and not given.get("infinite") else None
    if not isinstance(given, int | float) or isinstance(given, bool):
        return math.nan
    try:
        return min(max(float(given), -MOST), MOST)
    except OverflowError:
        return MOST if given > 0 else -MOST


def _text(given: Any) -> str:
    """A text without blanks around it; "" of what is none, or nothing."""
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given) if abs(given) < LARGEST_COUNT else ""
    return writable(given).strip() if isinstance(given, str) else ""


def _object(given: Any) -> Mapping[str, Any]:
    return given if isinstance(given, dict) else {}


def _list(given: Any) -> list[Any]:
    return given if isinstance(given, list) else []
