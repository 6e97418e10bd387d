"""Small clusters whose managers follow policies of the tests' own, and what became of their jobs.

Nodes are 3 ms apart; a start elsewhere costs e = 50 ms and the way, 53 ms, a migration without data f = 100 ms and the
way. Slices are of 10 ms, managers report every 100 ms, a node changes task at no cost and only when one blocks or ends.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from crossings.own_policies import PERIOD_MS
from support import scenario

from cluster_abm import ClusterModel
from cluster_abm.policies import Policy

SLICE_MS, LATENCY_MS, WAY_MS, ASKING_MS = 10.0, 3.0, 53.0, 6.0
SMALL: dict[str, Any] = {
    "cluster__nodes": 2, "cluster__context_switch_ms": 0.0, "cluster__quantum_ms": "inf",
    "cluster__buffer_in_memory": False, "cluster__exchange_period_ms": PERIOD_MS, "cluster__fault_service_ms": 9.0,
    "interconnect__latency_ms": LATENCY_MS, "negotiation__remote_execution_ms": 50.0, "negotiation__timeout_ms": 200.0,
    "workload__kind": "trace", "workload__request_kb__kind": "fixed",
}  # fmt: skip
COLUMNS = {
    "home": 0, "io_per_ms": 0, "memory_mb": 1, "tasks": 1, "initial_data_mb": 0, "write_share": 0, "reaccess_rate": 0,
}  # fmt: skip


def model_of(
    folder: Path, policy: Policy | str, jobs: list[dict[str, Any]], compiled: bool = True, seed: int = 1, **keys: Any
) -> ClusterModel:
    """A model of these jobs, each `job(...)`, that has not begun to run."""
    path = folder / "jobs.csv"
    names = list(dict.fromkeys(name for one in jobs for name in one))
    lines = [",".join(str(one[name]) for name in names) for one in jobs]
    path.write_text(",".join(names) + "\n" + "\n".join(lines) + "\n")
    settings = {**SMALL, "workload__trace__file": str(path), **keys}
    return ClusterModel(scenario(**settings), seed=seed, policy=policy, compile_decisions=compiled)


def job(arrival_ms: float, cpu_ms: float, **columns: Any) -> dict[str, Any]:
    """A job of a trace: what is not said is COLUMNS."""
    return {"arrival_ms": arrival_ms, "cpu_ms": cpu_ms, **COLUMNS, **columns}


def ends(model: ClusterModel) -> list[float]:
    """When each job ends, in the order of their numbers; exact to a nanosecond [ms]."""
    return [round(float(end), 6) for end in model.jobs_frame().groupby("job")["finish_ms"].max()]


def column(model: ClusterModel, name: str) -> list[Any]:
    """A column of the table of jobs, in the order of the tasks' numbers; times are exact to a nanosecond."""
    found = model.jobs_frame().sort_values("task")[name].tolist()
    return [round(one, 6) if isinstance(one, float) else one for one in found]


def known_ms(end_ms: float, every_ms: float = SLICE_MS) -> float:
    """The boundary of the slice, or period, in which something ends: then it is known [ms]."""
    return (math.floor(end_ms / every_ms) + 1) * every_ms
