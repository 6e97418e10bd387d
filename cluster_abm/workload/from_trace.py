"""A trace's jobs for one run: the chosen part of the file, thinned and scaled as the scenario says."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Flags, Floats, Integers
from cluster_abm.errors import InputError
from cluster_abm.scenario import Scenario, shipped_trace
from cluster_abm.scenario.trace import TraceChoice
from cluster_abm.workload.generators import generator
from cluster_abm.workload.named_files import NamedFiles, named_files
from cluster_abm.workload.parents import Parents, among
from cluster_abm.workload.processors import on_machine
from cluster_abm.workload.programs import Library, library, library_of_trace
from cluster_abm.workload.resampling.choosing import resampled
from cluster_abm.workload.traces import FILES, NAME, LogReading, Trace, read_trace
from cluster_abm.workload.traces.logged import LoggedJobs, logged_jobs, members_of
from cluster_abm.workload.traces.table import RECORDED_RUN, RECORDED_WAIT, THINK, USER


class TraceJobs(NamedTuple):
    """The jobs that a run takes from a trace."""

    arrival_ms: Floats  # the first part's start being 0, shape (jobs,)
    # Those that the trace has, shape (jobs,) each; recorded_run_ms only where run times count, think_ms only of jobs
    # with parents among these.
    columns: dict[str, Floats]
    parents: Parents | None  # what jobs wait for; None: for nothing
    files: NamedFiles | None  # files that jobs name; None: no job names any
    logged: LoggedJobs  # what the log says of them beside their work


def programs_of(scenario: Scenario, trace: Trace | None) -> Library | None:
    """The programs with activity profiles that a scenario's jobs may run; None if they run none.

    Raises InputError: a file of profiles that cannot be read, or one beside a trace that has profiles itself.
    """
    programs = scenario.workload.programs
    if trace is not None and (own := library_of_trace(trace)) is not None:
        if programs.mix or programs.file:
            raise InputError(f"{trace.file}: says what its jobs do over time: workload.programs must hold nothing")
        return own
    if not (programs.mix or programs.file):
        return None
    if trace is not None and scenario.workload.trace.cpu_time == "run" and RECORDED_RUN in trace.table:
        raise InputError(
            f'{trace.file}: workload.trace.cpu_time = "run" says what its jobs do over time: workload.programs must '
            "hold nothing"
        )
    return library(programs)


def trace_of(scenario: Scenario) -> Trace | None:
    """The trace that a scenario names, as it says to read it; None if its work comes from none. Raises InputError."""
    if scenario.workload.kind != "trace":
        return None
    choice = scenario.workload.trace
    reading = LogReading(
        cpu_time=choice.cpu_time,
        memory="requested" if choice.memory == "requested" else "used",
        cpu_ms_per_mb=choice.cpu_ms_per_mb,
        task_mb=choice.task_mb,
        max_tasks=choice.max_tasks if choice.task_mb is not None else None,
        disk_read_share=choice.disk_read_share,
        disk_write_share=choice.disk_write_share,
        dependences=choice.dependences,
    )
    return read_trace(
        trace_path(scenario),
        run=choice.run,
        format=choice.chosen,
        max_mb=choice.max_mb,
        reading=reading,
        columns=choice.columns,
        fields=choice.fields,
        sample=choice.sample,
    )


def chosen_jobs(scenario: Scenario, seed: int) -> tuple[Floats, dict[str, Floats]]:
    """Arrival times [ms] and columns of the jobs that a scenario takes from its trace, as a run of it has them.

    Raises InputError: as trace_of, programs_of and trace_jobs; or the scenario's work comes from no trace.
    """
    trace = trace_of(scenario)
    if trace is None:
        raise InputError(f'workload.kind "{scenario.workload.kind}": allowed: "trace" (--trace FILE)')
    return trace_jobs(scenario, seed, trace, programs_of(scenario, trace))[:2]


def trace_jobs(scenario: Scenario, seed: int, trace: Trace, known_programs: Library | None) -> TraceJobs:
    """The jobs of the chosen part of a trace.

    First the part is chosen and thinned, then another log is drawn from it (`workload.trace.resample`).

    Raises InputError: no job in that part, none of which another log can be drawn, homes outside the cluster, jobs
    wider than it, files that are not there.

    Args:
        trace: that the scenario names (trace_of).
        known_programs: that its jobs may run (programs_of).
    """
    choice = scenario.workload.trace
    path = trace_path(scenario)
    trace.check_one_run()
    table, numbers = trace.table, dict(trace.numbers)
    trace_ms = numbers.pop("arrival_ms")
    numbers.pop(RECORDED_WAIT, None)  # no part of the work
    if choice.cpu_time == "used":
        numbers.pop(RECORDED_RUN, None)
    elif RECORDED_RUN not in numbers and trace.format in ("csv", "parquet"):
        raise InputError(f'{path}: workload.trace.cpu_time = "run": needs the column {RECORDED_RUN}, which it lacks')
    kept = chosen_part(choice, seed, trace)
    parents = None if trace.parents is None else among(trace.parents, kept)
    if scenario.workload.homes_are_drawn:
        numbers.pop("home", None)
    if choice.memory == "drawn":
        numbers.pop("memory_mb", None)
    if not kept.any():
        raise InputError(
            f"{path}: no job left: workload.trace.start_s = {choice.start_s}, duration_s = {choice.duration_s}, "
            f"keep_share = {choice.keep_share} choose none of the file's jobs, which arrive from "
            f"{trace_ms.min() / 1000:.0f} to {trace_ms.max() / 1000:.0f} s"
        )
    chosen: slice | Flags | Integers = slice(None) if kept.all() else kept
    arrival_ms = trace_ms[chosen] - choice.start_s * 1000.0
    if choice.resample != "none":
        if parents is not None:
            raise InputError(
                f'{path}: workload.trace.resample = "{choice.resample}": its jobs wait for others to end, which may '
                'come in other weeks or not at all: allowed "none"'
            )
        drawn = resampled(arrival_ms, members_of(table, USER, chosen), choice, seed, str(path))
        chosen, arrival_ms = np.flatnonzero(kept)[drawn.rows], drawn.arrival_ms
    columns = {name: values[chosen] for name, values in numbers.items()}
    programs = scenario.workload.programs
    if programs.file and not programs.mix and NAME not in table:
        raise InputError(
            f"workload.programs.file {programs.file!r}: would not be read: {path} has no column 'name', and "
            "workload.programs.mix is empty"
        )
    if NAME in table and known_programs is not None:
        names = table[NAME].iloc[chosen]
        columns["program"] = names.map(lambda name: known_programs.number(name, f"{path}: name")).to_numpy(float)
    if parents is None:
        columns.pop(THINK, None)
    elif THINK in columns:
        # It counts from the end of a job that is in the chosen part.
        columns[THINK] = np.where(parents.counts > 0, columns[THINK], np.nan)
    for name in {"cpu_ms", "requested_ms", RECORDED_RUN} & set(columns):
        columns[name] = columns[name] * choice.cpu_scale
    columns |= on_machine(columns, choice, scenario.cluster, trace_ms[chosen], str(path))
    _check_homes(columns, trace_ms[chosen], scenario, str(path))
    files = None
    if FILES in table:
        files = named_files(
            table[FILES].iloc[chosen].tolist(), np.arange(1, len(table) + 1)[chosen], scenario.data, str(path)
        )
    return TraceJobs(arrival_ms, columns, parents, files, logged_jobs(table, chosen))


def chosen_part(choice: TraceChoice, seed: int, trace: Trace) -> Flags:
    """Which jobs of a trace are in the chosen part, thinned, shape (rows,)."""
    arrival_ms, start_ms = trace.numbers["arrival_ms"], choice.start_s * 1000.0
    kept = generator(seed, "thin").random(len(trace.table)) < choice.keep_share
    kept &= arrival_ms >= start_ms
    if choice.duration_s is not None:
        kept &= arrival_ms < start_ms + choice.duration_s * 1000.0
    return kept


def _check_homes(columns: dict[str, Floats], arrival_ms: Floats, scenario: Scenario, where: str) -> None:
    wrong = np.flatnonzero(columns["home"] >= scenario.cluster.nodes) if "home" in columns else np.zeros(0, int)
    if len(wrong):
        raise InputError(
            f"{where}: home = {int(columns['home'][wrong[0]])} of the job at {arrival_ms[wrong[0]]:g} ms ({len(wrong)} "
            f"such jobs): allowed 0..{scenario.cluster.nodes - 1} (cluster.nodes = {scenario.cluster.nodes})"
        )


def trace_path(scenario: Scenario) -> Path:
    """The trace file a scenario names, its own or a shipped one. Raises InputError when it names none."""
    file = scenario.workload.trace.file
    if file is None:
        raise InputError('workload.trace.file: a workload of kind "trace" needs a file (or use --trace FILE)')
    return shipped_trace(file) or Path(file)
