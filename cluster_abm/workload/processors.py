"""What the processors of a trace are on the simulated machine: tasks, and what memory each of them has."""

from __future__ import annotations

import numpy as np

from cluster_abm.arrays import Floats
from cluster_abm.errors import InputError
from cluster_abm.scenario.cluster import Cluster
from cluster_abm.scenario.trace import TraceChoice


def on_machine(
    columns: dict[str, Floats], choice: TraceChoice, cluster: Cluster, arrival_ms: Floats, where: str
) -> dict[str, Floats]:
    """The columns that change: `tasks` for processors, and `memory_mb` for a task.

    Raises InputError: a job wider than the machine, or processors that the file does not say.

    Args:
        columns: the trace's own, shape (jobs,) each; `tasks` are its processors.
        choice: what a processor is, what memory is that of, and how wide a job may be.
        arrival_ms: when each job arrives on the trace's clock, for messages, shape (jobs,).
        where: the file's name, for messages.
    """
    _check_said(columns, choice, len(arrival_ms), where)
    if "tasks" not in columns:
        return {}
    processors, changed = columns["tasks"], {}
    # Where it matters all nodes have the same number of cores: the scenario's check.
    cores = max(kind.cores for kind, count in cluster.kinds if count)
    tasks_each = cores if choice.processor == "node" else 1
    tasks = processors * tasks_each
    if "memory_mb" in columns and (tasks_each > 1 or choice.memory_per != "processor"):
        nodes = processors if choice.processor == "node" else np.ceil(processors / cores)
        shared_by = {"processor": np.full_like(tasks, tasks_each), "node": tasks / nodes, "job": tasks}
        changed["memory_mb"] = columns["memory_mb"] / shared_by[choice.memory_per]
    if choice.max_tasks is not None:
        tasks = np.minimum(tasks, choice.max_tasks)
    _check_width(tasks, processors, choice, cluster, arrival_ms, where)
    return changed | {"tasks": tasks}


def _check_said(columns: dict[str, Floats], choice: TraceChoice, jobs: int, where: str) -> None:
    """Raise InputError if a key is about processors that the file does not say."""
    for key, value, plain in (("processor", choice.processor, "task"), ("memory_per", choice.memory_per, "processor")):
        if value == plain:
            continue
        missing = int(np.isnan(columns["tasks"]).sum()) if "tasks" in columns else jobs
        if missing:
            raise InputError(
                f'{where}: workload.trace.{key} = "{value}": {missing:,} of the chosen jobs say no tasks '
                f'(column `tasks`): allowed "{plain}"'
            )


def _check_width(
    tasks: Floats, processors: Floats, choice: TraceChoice, cluster: Cluster, arrival_ms: Floats, where: str
) -> None:
    """Raise InputError for jobs with more processors than the machine has, where these are its cores or nodes."""
    if choice.processor == "task":
        return
    cores = sum(kind.cores * count for kind, count in cluster.kinds)
    wider = np.flatnonzero(tasks > cores)
    if not len(wider):
        return
    widest = wider[processors[wider].argmax()]
    there = f"{cores:,} cores on {cluster.nodes:,} nodes" if choice.processor == "core" else f"{cluster.nodes:,} nodes"
    raise InputError(
        f"{where}: {processors[widest]:,.0f} processors of the job at {arrival_ms[widest]:.12g} ms "
        f'({len(wider):,} such jobs): workload.trace.processor = "{choice.processor}" allows {there}; more nodes or '
        "cores are set by cluster.nodes and cluster.cores, and workload.trace.max_tasks cuts wider jobs"
    )
