"""The jobs of a table as a trace: on a clock of their own, with their parents, and what was filled or left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from cluster_abm.arrays import Flags, Floats, Words
from cluster_abm.bounded_files import shown
from cluster_abm.errors import InputError
from cluster_abm.scenario.columns import ColumnMap
from cluster_abm.workload.parents import Parents
from cluster_abm.workload.traces.dependence import parents_of
from cluster_abm.workload.traces.mapping.gathered import Gathered
from cluster_abm.workload.traces.mapping.rows import ROW, SUBMIT
from cluster_abm.workload.traces.mapping.sampling import SAMPLED, kept_workflows
from cluster_abm.workload.traces.mapping.suspects import MOST_ABSURD, SHOWN
from cluster_abm.workload.traces.parts.finishing import finished, no_job, on_own_clock
from cluster_abm.workload.traces.parts.log_reading import LogReading
from cluster_abm.workload.traces.table import AFTER, JOB, LONGEST_MS, Trace, tally

SINCE_1970_MS = 1e11  # instants from here on (1973) count from 1970; smaller ones from whatever the log counts from
FAR = "submitted more than 32 years from the others"


def finished_jobs(
    gathered: Gathered, found: ColumnMap, reading: LogReading, of: tuple[int, float], where: str
) -> Trace:
    """The trace of all jobs that were found. Raises InputError: none is left, or more are wrong than bad rows explain.

    Args:
        gathered: the jobs.
        found: the map.
        reading: with which it was read.
        of: how many rows the file has, and the share of the jobs that was kept.
        where: the file's name.
    """
    rows, sample = of
    numbers, words = gathered.numbers(), gathered.words()
    skipped, noted = dict(gathered.skipped), dict(gathered.noted)
    if not gathered.jobs:
        raise no_job(where, rows, skipped, reading)
    if found.spread is not None:
        # A row of such a table is a job that one of its counts counts.
        rows = gathered.jobs + sum(skipped.values())
    if found.parents is not None:
        words[JOB], words[AFTER], notes = _known_parents(words[JOB], words[AFTER])
        noted |= notes
        if sample < 1 and found.workflow is None:
            kept = kept_workflows(_parents(words, where), words[JOB].tolist(), gathered.jobs, sample)
            skipped[SAMPLED] = skipped.get(SAMPLED, 0) + int((~kept).sum())
            numbers, words = _only(numbers, words, kept)
    elif JOB in words:
        words[JOB], notes = _single_ids(words[JOB])
        noted |= notes
    near = _near(numbers[SUBMIT], numbers[ROW], where)
    if not near.all():
        skipped[FAR] = int((~near).sum())
        numbers, words = _only(numbers, words, near)
    if not len(numbers[SUBMIT]):
        raise no_job(where, rows, skipped, reading)
    submit = numbers[SUBMIT]
    columns = {name: values for name, values in numbers.items() if name not in (SUBMIT, ROW)}
    columns["arrival_ms"] = on_own_clock(submit, where)
    trace = finished(
        where, "map", rows, columns, words, skipped, tally(noted), filled(gathered, found, reading), reading
    )
    if found.parents is not None:
        # Rows are sorted now; a parent that was left out since is not waited for.
        names = {name: trace.table[name].to_numpy(object) for name in (JOB, AFTER) if name in trace.table}
        if AFTER in names and JOB in names:
            _, after, _ = _known_parents(names[JOB], names[AFTER])
            trace = replace(trace, parents=_parents({JOB: names[JOB], AFTER: after}, where))
    begins = float(submit.min())
    return replace(trace, begins_at_ms=begins if begins >= SINCE_1970_MS else None, zone=_zone_of(found), sample=sample)


def filled(gathered: Gathered, found: ColumnMap, reading: LogReading) -> dict[str, str]:
    """What the table does not say, and how it is filled, in words."""
    says = {}
    run = "run time x cores" if found.cores is not None else "run time"
    if found.cpu is None and (found.run is not None or found.end is not None or found.events is not None):
        says["cpu_ms"] = f"{run}: the file says no CPU time"
    elif found.cpu is not None and gathered.noted["CPU time not known, run time used"]:
        count = gathered.noted["CPU time not known, run time used"]
        says["cpu_ms"] = f"in {count:,} rows without CPU time {run}"
    if found.events is None and found.spread is None and found.submit is None:
        taken = "start" if found.start is not None else "end - run time"
        says["arrival_ms"] = f"{taken}: the file says no submission"
    if found.spread is not None:
        says["arrival_ms"] = f"counts, spread evenly over each interval of {found.spread.each_s:g} s"
    if found.run is None and found.start is None and found.end is not None:
        says["run"] = "from submission to end: the file says no start"
    if found.cores is not None and found.tasks is None:
        says["tasks"] = "one for each core, rounded up; they share its work evenly"
    if gathered.assumed:
        says["disk_mb"] = (
            f"bytes of calls, not of the disk: {reading.disk_read_share:g} of those read and "
            f"{reading.disk_write_share:g} of those written (workload.trace.disk_read_share, disk_write_share)"
        )
    for name in ("cores", "memory"):
        field = getattr(found, name)
        if field is not None and field.unit == "share":
            machine = found.machine.cores if name == "cores" else found.machine.memory_mb
            key, unit = ("cores", "cores") if name == "cores" else ("memory_mb", "MB")
            says[f"machine.{key}"] = (
                f"{machine:g} {unit}, of which the file says shares (of the map: a machine assumed)"
            )
    return says


def _zone_of(found: ColumnMap) -> str | None:
    """The time zone of submissions, as the map says it; of starts or ends, where these stand in for them."""
    time = found.submit or found.start or found.end if found.events is None else found.events.time
    return None if time is None else next((one.zone for one in time.sources if one.zone is not None), None)


def _only(
    numbers: Mapping[str, Floats], words: Mapping[str, Words], kept: Flags
) -> tuple[dict[str, Floats], dict[str, Words]]:
    return (
        {name: values[kept] for name, values in numbers.items()},
        {name: texts[kept] for name, texts in words.items()},
    )


def _near(submit: Floats, row: Floats, where: str) -> Flags:
    """Which submissions lie where a simulation can reach them. Raises InputError: many do not."""
    far = np.abs(submit - np.median(submit)) > LONGEST_MS / 2
    if far.sum() > MOST_ABSURD * len(submit):
        shown_rows = "; ".join(f"row {row[at]:,.0f}: {submit[at]:g} ms" for at in np.flatnonzero(far)[:SHOWN])
        raise InputError(
            f"{shown(where)}: submissions more than 16 years from the middle one in {far.sum():,} of {len(submit):,} "
            f"rows (a wrong unit?): {shown_rows}; allowed up to 32 years (1e12 ms) in all"
        )
    return ~far


def _single_ids(job: Words) -> tuple[Words, dict[str, int]]:
    """Ids without blanks in them, each once: the first job with an id keeps it."""
    import pandas as pd

    names = pd.Series(job, dtype=object)
    if names.str.contains(r"\s").any():
        names = names.str.replace(r"\s+", "_", regex=True)
    twice = (names != "") & names.duplicated()
    return names.mask(twice, "").to_numpy(object), {"job id seen before": int(twice.sum())}


def _known_parents(job: Words, after: Words) -> tuple[Words, Words, dict[str, int]]:
    """Ids, each once, and of the parents those that are among them."""
    names, notes = _single_ids(job)
    known = set(names.tolist()) - {""}
    kept = [
        " ".join(parent for parent in text.split() if parent in known and parent != own) if text else ""
        for own, text in zip(names.tolist(), after.tolist(), strict=True)
    ]
    lost = sum(old != new for old, new in zip(after.tolist(), kept, strict=True))
    return names, np.array(kept, object), notes | {"comes after a job that is none here, not waited for": lost}


def _parents(words: Mapping[str, Words], where: str) -> Parents | None:
    return parents_of(words[JOB], words[AFTER], where, range(1, len(words[JOB]) + 1), "job")
