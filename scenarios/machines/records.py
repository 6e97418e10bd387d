"""Lotaru's records: which runs of a folder are of the same task on the same input, on two machines."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from cluster_abm.bounded_files import TRACE_MB
from cluster_abm.errors import Gathering, InputError, gathered
from cluster_abm.scenario.shipped import shipped_path
from cluster_abm.workload.traces import read_task_runs

FILE = re.compile(r"lotaru-([^-]+)-(.+)\.csv\.xz")
KEYS = ["workflow", "task", "label", "workflow_input_size", "task_input_size"]
"""What makes two runs a pair."""
SCORES = ("cpu_score", "io_score")
# Longer is no run, but what a profile may not hold.
LONGEST_MS = 1e9


@dataclass(frozen=True)
class Records:
    """What a folder holds.

    Attributes:
        runs: a row a run that can be used: KEYS, `machine`, `wall_ms`, `cpu_percent`, `disk_mb` (read and written).
        files: how many files were read.
        rows: of all files.
        skipped: reason -> rows left out.
    """

    runs: pd.DataFrame
    files: int
    rows: int
    skipped: dict[str, int]


def read_records(folder: Path, max_mb: int = TRACE_MB) -> Records:
    """All files lotaru-MACHINE-WORKFLOW.csv.xz in a folder; others are ignored.

    The machine and the workflow are those of the file's name: rows that say another machine are skipped. Of runs with
    the same KEYS on one machine the first is kept: which of them a run elsewhere belongs to is not known.

    Raises:
        InputError: no such folder or file; files that cannot be read, all of them named.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    names = {path: found for path in sorted(folder.iterdir()) if (found := FILE.fullmatch(path.name))}
    if not names:
        raise InputError(f"{folder}: no file lotaru-MACHINE-WORKFLOW.csv.xz")
    skipped: Counter[str] = Counter()
    frames, rows = [], 0
    with gathered() as problems:
        for path, (machine, workflow) in ((path, found.groups()) for path, found in names.items()):
            frame, count = _file(path, machine, workflow, skipped, problems, max_mb)
            frames.append(frame)
            rows += count
    return Records(pd.concat(frames, ignore_index=True), len(names), rows, dict(skipped))


def _file(
    path: Path, machine: str, workflow: str, skipped: Counter[str], problems: Gathering, max_mb: int
) -> tuple[pd.DataFrame, int]:
    """The runs of one file and its number of rows."""
    columns = [*KEYS, "machine", "wall_ms", "cpu_percent", "disk_mb"]
    with problems:
        read = read_task_runs(path, max_mb)
        skipped.update(read.skipped)
        frame = read.frame.rename(columns={"realtime_ms": "wall_ms"})
        frame["disk_mb"] = frame["read_mb"] + frame["written_mb"]
        own = frame["machine"].isin(["", machine])
        sizes = frame[["workflow_input_size", "task_input_size"]]
        reasons = {
            "another machine than the file's name": ~own,
            "no task": frame["task"] == "",
            "no input size": sizes.isna().any(axis=1),
            "no %cpu": frame["cpu_percent"].isna(),
            "no bytes of the disk": frame["disk_mb"].isna(),
            f"run time beyond {LONGEST_MS / 1000.0:,.0f} s": frame["wall_ms"] > LONGEST_MS,
        }
        usable = np.ones(len(frame), bool)
        for reason, wrong in reasons.items():
            skipped[reason] += int((usable & wrong).sum())
            usable &= ~wrong
        frame = frame[usable].assign(machine=machine, workflow=workflow)
        again = frame.duplicated(KEYS)
        skipped["the same task, label and input sizes again"] += int(again.sum())
        for reason in [reason for reason, count in skipped.items() if not count]:
            del skipped[reason]
        return frame.loc[~again, columns], read.rows
    return pd.DataFrame(columns=columns), 0


def read_scores() -> pd.DataFrame:
    """The shipped scores, SCORES by machine: higher is faster."""
    return pd.read_csv(shipped_path("published", "lotaru_scores.csv"), comment="#", index_col="machine")[list(SCORES)]


def pairs_of(records: Records, source: str, machines: list[str]) -> pd.DataFrame:
    """Runs on the source with their times on other machines.

    Args:
        records: what there is.
        source: the machine to predict from.
        machines: those to predict for.

    Returns:
        a row a pair: KEYS, `wall_ms`, `cpu_percent`, `disk_mb` of the run on the source; `machine`, `measured_ms`; and
        `run`, which numbers the runs on the source from 0.

    Raises:
        InputError: no run on the source, or none of its runs on another machine of those.
    """
    runs = records.runs
    own = runs[runs["machine"] == source].drop(columns="machine")
    if own.empty:
        raise InputError(
            f"no run on {source!r}: times are predicted from its files lotaru-{source}-WORKFLOW.csv.xz{_but(records)}"
        )
    others = runs.loc[runs["machine"].isin(machines), [*KEYS, "machine", "wall_ms"]]
    pairs = own.merge(others.rename(columns={"wall_ms": "measured_ms"}), on=KEYS)
    if pairs.empty:
        there = ", ".join(sorted(set(runs["machine"]) - {source})) or "no other machine"
        raise InputError(
            f"no run on {source!r} has one of the same workflow, task, label and input sizes on "
            f"{', '.join(machines)} (there: {there}){_but(records)}"
        )
    return pairs.assign(run=pairs.groupby(KEYS, sort=False).ngroup())


def _but(records: Records) -> str:
    """The rows that were skipped, for a message that there is nothing."""
    counts = ", ".join(f"{count:,} {reason}" for reason, count in records.skipped.items())
    return f"; rows skipped: {counts}" if counts else ""


def same_times(pairs: pd.DataFrame) -> pd.DataFrame:
    """Machines that share times to the millisecond, which two of them hardly ever do.

    Returns:
        a row two machines and a workflow with more than a quarter of them the same: workflow, a, b, `share`, `pairs`.
    """
    rows = []
    for workflow, own in pairs.groupby("workflow"):
        times = own.pivot_table(index="run", columns="machine", values="measured_ms")
        names = list(times.columns)
        for number, a in enumerate(names):
            for b in names[number + 1 :]:
                both = times[[a, b]].dropna()
                share = float((both[a] == both[b]).mean()) if len(both) else 0.0
                if share > 0.25:
                    rows.append({"workflow": workflow, "a": a, "b": b, "share": share, "pairs": len(both)})
    return pd.DataFrame(rows, columns=["workflow", "a", "b", "share", "pairs"])
