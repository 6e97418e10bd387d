"""Runs whose every instant can be worked out by hand: what the modules of this folder begin with.

Unless a case says otherwise: a slice of 10 ms, no context switch, a CPU that tasks keep until they block or end. A
disk seeks 9 ms and moves 100 MB/s, so an access of 100 KB takes 10 ms; a page fault takes 5 ms. There is no buffer. A
link moves 1 MB in 1 ms, without latency. A remote start costs 10 ms; a migration, or a start from a checkpoint, 20 ms
and the image. Programs make their accesses in the middles of equal parts of a phase (docs/concepts/model.md).
"""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

from support import BREAKDOWN, scenario

from cluster_abm import ClusterModel
from cluster_abm.policies import ArrivingTask, Decision, View

MS = 1_000_000
COLUMNS = {"arrival_ms": 0, "home": 0, "cpu_ms": 1, "io_per_ms": 0, "memory_mb": 1, "tasks": 1, "initial_data_mb": 0}
PROGRAM = {"cpu_ms": 1, "memory_mb": 1, "accesses": 0, "turnover_mb_per_s": 0, "pause_ms": 0}
BY_HAND = {
    "cluster__nodes": 2, "cluster__context_switch_ms": 0.0, "cluster__quantum_ms": "inf",
    "cluster__disk_seek_rotation_ms": 9.0, "cluster__disk_mb_per_s": 100.0, "cluster__fault_service_ms": 5.0,
    "cluster__buffer_mb": 0.0, "cluster__memory_mb": 1000.0,
    "interconnect__bandwidth_mbps": 8000.0, "interconnect__latency_ms": 0.0,
    "workload__kind": "trace", "workload__request_kb": {"kind": "fixed", "mean": 100.0},
    "workload__reaccess_rate": 0.0, "workload__write_share": 0.0, "policy__name": "none",
    "negotiation__mode": "papers", "negotiation__remote_execution_ms": 10.0, "negotiation__migration_ms": 20.0,
}  # fmt: skip
CHECKPOINTS = {"failures__on_failure": "checkpoint"}
ONE_FILE = {
    "data__files": 1, "data__copies": 1, "data__size_mb": {"kind": "fixed", "mean": 5.0},
    "data__files_per_job": {"minimum": 1, "maximum": 1},
}  # fmt: skip
CONTENDED = {"interconnect__mode": "contended", "interconnect__kind": "star"}


def timeline(
    folder: Path, jobs: list[dict[str, Any]], program: list[dict[str, Any]] | None = None, **more: Any
) -> ClusterModel:
    """A model of jobs, by the columns that differ from COLUMNS; with a program, by its phases, all of them run it."""
    names = COLUMNS | ({"name": "it"} if program else {})
    given = BY_HAND | {"workload__trace__file": str(write(folder / "jobs.csv", names, jobs))}
    if program:
        given["workload__programs__file"] = str(write(folder / "programs.csv", {"program": "it", **PROGRAM}, program))
    settings = scenario(**(given | more))
    model = ClusterModel(settings, seed=1)
    if model.staging is None:
        return model
    # The last node has the only copy of the only file.
    runs = (ClusterModel(settings, seed=seed) for seed in range(1, 100))
    return next(run for run in runs if run.staging.catalogue.holders.tolist() == [[len(run.load_managers) - 1]])


def write(path: Path, columns: dict[str, Any], rows: list[dict[str, Any]]) -> Path:
    """Write rows, filled up with what a column is unless a row says otherwise."""
    assert all(row.keys() <= columns.keys() for row in rows)
    lines = [columns, *(columns | row for row in rows)]
    text = "\n".join(",".join(str(value) for value in (line if line is columns else line.values())) for line in lines)
    path.write_text(text + "\n")
    return path


def send_all_to(model: ClusterModel, *targets: int) -> None:
    """The k-th task starts on the k-th of these nodes; those after them where the policy says."""
    by_policy = model.policy.place

    def place(arriving: ArrivingTask, view: View) -> Decision:
        is_given = arriving.task < len(targets)
        return Decision(targets[arriving.task], "test") if is_given else by_policy(arriving, view)

    model.policy.place = place


def fails(*events: tuple[int, float]) -> dict[str, Any]:
    """Settings by which nodes fail for good: (node, at [ms])."""
    return {"failures__event": [{"node": node, "at_s": at_ms / 1000.0} for node, at_ms in events]}


def ns(ms: float | Fraction) -> int:
    """Milliseconds as whole nanoseconds."""
    return round(ms * MS)


def fault_cpu_ns(number: int, per_ms: Fraction) -> int:
    """CPU that a task has received when it has earned so many page faults: the first whole nanosecond."""
    return math.ceil(number / per_ms * MS)


def life(model: ClusterModel, task: int = 0) -> dict[str, int]:
    """When a task ended, and the parts of its life that are not 0 [ns]; they add up to its life."""
    record = next(row for row in model.engine.records if row["task"] == task)
    parts = {part: int(record[f"{part}_ns"]) for part in BREAKDOWN if record[f"{part}_ns"]}
    assert sum(parts.values()) == record["finish_ns"] - record["arrival_ns"]
    return {"finish": int(record["finish_ns"])} | parts


def counts(model: ClusterModel, task: int = 0) -> dict[str, int]:
    """What is counted of a task, as far as it is not 0."""
    record = next(row for row in model.engine.records if row["task"] == task)
    names = ("requests", "hits", "faults", "moves", "migrations", "restarts", "lost_cpu_ns")
    return {name: int(record[name]) for name in names if record[name]}
