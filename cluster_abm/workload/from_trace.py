"""A trace's jobs for one run: the chosen part of the file, thinned and scaled as the scenario says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from cluster_abm.errors import InputError
from cluster_abm.scenario import Scenario
from cluster_abm.workload.processors import on_machine
from cluster_abm.workload.programs import library
from cluster_abm.workload.streams import generator
from cluster_abm.workload.traces import LogReading, read_trace

Floats = npt.NDArray[np.float64]


def trace_columns(scenario: Scenario, seed: int) -> tuple[Floats, dict[str, Floats]]:
    """Arrival times [ms], the first part's start being 0, and the columns that the trace has.

    Raises:
        InputError: unreadable trace, no job in the chosen part, homes outside the cluster, jobs wider than it.
    """
    choice = scenario.workload.trace
    path = trace_path(scenario)
    reading = LogReading(choice.cpu_time, "requested" if choice.memory == "requested" else "used")
    jobs = read_trace(path, run=choice.run, format=choice.format, max_mb=choice.max_mb, reading=reading).jobs
    arrivals_s = jobs["arrival_ms"] / 1000.0
    start_ms = choice.start_s * 1000.0
    inside = jobs["arrival_ms"] >= start_ms
    if choice.duration_s is not None:
        inside &= jobs["arrival_ms"] < start_ms + choice.duration_s * 1000.0
    sampled = generator(seed, "thin").random(len(jobs)) < choice.keep_share
    jobs = jobs[inside & sampled]
    if choice.homes == "drawn" and "home" in jobs:
        jobs = jobs.drop(columns="home")
    if choice.memory == "drawn" and "memory_mb" in jobs:
        jobs = jobs.drop(columns="memory_mb")
    if jobs.empty:
        raise InputError(
            f"{path}: no job left: workload.trace.start_s = {choice.start_s}, duration_s = {choice.duration_s}, "
            f"keep_share = {choice.keep_share} choose none of the file's jobs, which arrive from "
            f"{arrivals_s.min():.0f} to {arrivals_s.max():.0f} s"
        )
    columns = {str(name): jobs[name].to_numpy(float) for name in jobs.columns if name not in ("arrival_ms", "name")}
    programs = scenario.workload.programs
    if programs.file and not programs.mix and "name" not in jobs:
        raise InputError(
            f"workload.programs.file {programs.file!r}: would not be read: {path} has no column 'name', and "
            "workload.programs.mix is empty"
        )
    if "name" in jobs and (programs.mix or programs.file):
        found = library(programs)
        columns["program"] = jobs["name"].map(lambda name: found.number(name, f"{path}: name")).to_numpy(float)
    columns["cpu_ms"] = columns["cpu_ms"] * choice.cpu_scale
    if "requested_ms" in columns:
        columns["requested_ms"] = columns["requested_ms"] * choice.cpu_scale
    arrival_ms = jobs["arrival_ms"].to_numpy(float)
    columns |= on_machine(columns, choice, scenario.cluster, arrival_ms, str(path))
    _check_homes(jobs, scenario, str(path))
    return arrival_ms - start_ms, columns


def _check_homes(jobs: pd.DataFrame, scenario: Scenario, where: str) -> None:
    if "home" not in jobs:
        return
    wrong = jobs[jobs["home"] >= scenario.cluster.nodes]
    if not wrong.empty:
        row = wrong.iloc[0]
        raise InputError(
            f"{where}: home = {int(row['home'])} of the job at {row['arrival_ms']:g} ms ({len(wrong)} such jobs): "
            f"allowed 0..{scenario.cluster.nodes - 1} (cluster.nodes = {scenario.cluster.nodes})"
        )


def trace_path(scenario: Scenario) -> Path:
    """The trace file a scenario names. Raises InputError when it names none."""
    if scenario.workload.trace.file is None:
        raise InputError('workload.trace.file: a workload of kind "trace" needs a file (or use --trace FILE)')
    return Path(scenario.workload.trace.file)
