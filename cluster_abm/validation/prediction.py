"""Response times as the simulator predicts them: the same demands and starts as a trace, a program a process.

Each set has a node to itself, so that one run of the simulator has all of them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from cluster_abm.arrays import Floats
from cluster_abm.validation.plans import Disk

# Rows of activity profiles name programs, of which a file may have a thousand.
MOST_TASKS = 900
PLAIN: dict[str, object] = {
    # What a switch costs is no CPU that was delivered: the correction takes it out of what was measured.
    "cluster.context_switch_ms": 0.0,
    # No buffer: the disk serves every access.
    "cluster.buffer_mb": 0.0,
    "workload.request_kb": {"kind": "fixed", "mean": 100.0},
}


@dataclass(frozen=True)
class PredictedProcess:
    """One process, as the simulator gets it."""

    node: int  # its set's number
    start_ms: float  # since the set's beginning [ms]
    rows: tuple[tuple[float, bool], ...]  # CPU demand [ms], and whether it reads in the middle of that
    request_kb: float = 100.0  # size of its accesses [KB]


def predict(tasks: Sequence[PredictedProcess], cores: int, quantum_ms: float, disk: Disk | None = None) -> Floats:
    """Response time of each task [ms], shape (tasks,).

    Args:
        tasks: those of a node stand together.
        cores: of each node.
        quantum_ms: of the round robin [ms].
        disk: of each node; None: no task reads.
    """
    found: list[Floats] = []
    part: list[PredictedProcess] = []
    for position, task in enumerate(tasks):
        part.append(task)
        ends = position + 1 == len(tasks) or tasks[position + 1].node != task.node
        if ends and (position + 1 == len(tasks) or len(part) >= MOST_TASKS - 100):
            found.append(_predict(part, cores, quantum_ms, disk))
            part = []
    return np.concatenate(found) if found else np.zeros(0)


def _predict(tasks: Sequence[PredictedProcess], cores: int, quantum_ms: float, disk: Disk | None) -> Floats:
    from cluster_abm.model import ClusterModel
    from cluster_abm.scenario import load_scenario

    disk = disk or Disk()
    order = sorted(range(len(tasks)), key=lambda position: tasks[position].start_ms)
    nodes = {node: number for number, node in enumerate(dict.fromkeys(task.node for task in tasks))}
    with tempfile.TemporaryDirectory(prefix="cluster-abm-") as folder:
        trace, profiles = Path(folder, "trace.csv"), Path(folder, "profiles.csv")
        pd.DataFrame(
            {
                "arrival_ms": [tasks[position].start_ms for position in order],
                "home": [nodes[tasks[position].node] for position in order],
                "cpu_ms": [sum(cpu_ms for cpu_ms, _ in tasks[position].rows) for position in order],
                "io_per_ms": 0.0,
                "memory_mb": 1.0,
                "request_kb": [tasks[position].request_kb for position in order],
                "name": [f"process-{position}" for position in order],
            }
        ).to_csv(trace, index=False)
        pd.DataFrame(
            [
                (f"process-{position}", cpu_ms, 1.0, int(reads))
                for position in range(len(tasks))
                for cpu_ms, reads in tasks[position].rows
            ],
            columns=["program", "cpu_ms", "memory_mb", "accesses"],
        ).to_csv(profiles, index=False)
        keys = PLAIN | {
            "cluster.nodes": len(nodes),
            "cluster.cores": cores,
            "cluster.quantum_ms": quantum_ms,
            "cluster.memory_mb": 100_000.0,
            "cluster.disk_seek_rotation_ms": disk.seek_ms,
            "cluster.disk_mb_per_s": disk.mb_per_s,
            "workload.trace.file": str(trace),
            "workload.programs.file": str(profiles),
        }
        scenario = load_scenario("replay", keys)
        model = ClusterModel(scenario, seed=1)
        model.run()
        # In here: it reads the names of the programs once more.
        frame = model.jobs_frame().sort_values("job")
    responses = np.empty(len(tasks))
    responses[order] = frame["response_ms"].to_numpy(float)
    return responses


def predict_faults(demand_mb: float, memory_mb: float) -> float:
    """Faults per touch of one task that touches its pages at random, by page_fault_law = "overflow".

    Args:
        demand_mb: size of what it touches.
        memory_mb: memory that there is for it.
    """
    from cluster_abm.model import ClusterModel
    from cluster_abm.scenario import load_scenario

    touches = 100_000
    with tempfile.TemporaryDirectory(prefix="cluster-abm-") as folder:
        trace = Path(folder, "trace.csv")
        # One touch a ms of CPU.
        trace.write_text(f"arrival_ms,home,cpu_ms,io_per_ms,memory_mb\n0,0,{touches},0,{demand_mb}\n")
        keys = PLAIN | {
            "cluster.nodes": 1,
            "cluster.memory_mb": memory_mb,
            "cluster.page_fault_rate_per_ms": 1.0,
            "cluster.page_fault_law": "overflow",
            "cluster.fault_service_ms": 0.001,
            "workload.trace.file": str(trace),
        }
        model = ClusterModel(load_scenario("replay", keys), seed=1)
        model.run()
    return float(model.jobs_frame()["page_faults"].iloc[0]) / touches
