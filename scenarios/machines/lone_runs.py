"""Runs on machines that have nothing else to do, through the simulator: a node a run, all at once."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from cluster_abm.model import ClusterModel
from cluster_abm.scenario import Scenario, load_scenario
from cluster_abm.workload.profiles import MOST_PROGRAMS

REQUEST_MB = 1.0
"""About the size of an access; all bytes of a run are moved whatever it is."""
MOST_ACCESSES = 10**6
# A program's interval needs CPU, and so does each access. The clock tells nanoseconds apart, and this many are nothing
# beside the milliseconds in which runs are recorded.
LEAST_CPU_MS, LEAST_CPU_PER_ACCESS_MS = 1e-4, 2e-6


def times_on(parts: pd.DataFrame, machines: pd.DataFrame, disk_mb_per_s: float) -> pd.DataFrame:
    """Simulate every run on every machine.

    A run is a job of one task with an activity profile: it computes and accesses the disk, sleeps for what no speed of
    the machine changes (stalls and waiting), and computes again. The node has the machine's speeds.

    Args:
        parts: a row a run on the first machine, parts.PARTS [ms].
        machines: a row a machine: `cpu_speed` and `disk_speed`, both 1 for the machine of the runs.
        disk_mb_per_s: the disk of the machine of the runs.

    Returns:
        Response times [ms], indexed as `parts`, a column a machine.
    """
    found = [_simulated(part, machines, disk_mb_per_s) for part in _blocks(parts)]
    return pd.concat(found) if found else pd.DataFrame(index=parts.index, columns=machines.index, dtype=float)


def _blocks(parts: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """As many runs at a time as a file of profiles may have programs."""
    for first in range(0, len(parts), MOST_PROGRAMS):
        yield parts.iloc[first : first + MOST_PROGRAMS]


def _simulated(parts: pd.DataFrame, machines: pd.DataFrame, disk_mb_per_s: float) -> pd.DataFrame:
    with tempfile.TemporaryDirectory(prefix="cluster-abm-") as folder:
        model = ClusterModel(_scenario(parts, machines, disk_mb_per_s, Path(folder)), seed=1)
        model.run()
        jobs = model.jobs_frame().sort_values("home")
    times_ms = jobs["response_ms"].to_numpy(float).reshape(len(machines), len(parts)).T
    return pd.DataFrame(times_ms, index=parts.index, columns=machines.index)


def _scenario(parts: pd.DataFrame, machines: pd.DataFrame, disk_mb_per_s: float, folder: Path) -> Scenario:
    """A group of nodes a machine; node `m * len(parts) + r` is machine m's that run r has for itself."""
    names = np.array([f"run-{number}" for number in range(len(parts))])
    disk_mb = parts["disk_ms"].to_numpy(float) / 1000.0 * disk_mb_per_s
    accesses = np.minimum(np.ceil(disk_mb / REQUEST_MB), MOST_ACCESSES)
    least_ms = np.maximum(LEAST_CPU_MS, accesses * LEAST_CPU_PER_ACCESS_MS)
    half_ms = np.maximum(parts["core_ms"].to_numpy(float) / 2.0, least_ms)
    request_kb = np.where(accesses > 0, disk_mb * 1000.0 / np.maximum(accesses, 1.0), 1.0)
    pause_ms = (parts["stalled_ms"] + parts["waiting_ms"]).to_numpy(float)
    profile = pd.DataFrame(
        {
            "program": np.repeat(names, 2),
            "cpu_ms": np.repeat(half_ms, 2),
            "memory_mb": 0.0,
            "accesses": np.column_stack([accesses, np.zeros(len(parts))]).ravel().astype(int),
            # The sleep after a program's last interval is none: it lies between two.
            "pause_ms": np.column_stack([pause_ms, np.zeros(len(parts))]).ravel(),
        }
    )
    jobs = pd.DataFrame(
        {
            "arrival_ms": 0.0,
            "home": np.arange(len(machines) * len(parts)),
            "cpu_ms": np.tile(half_ms * 2.0, len(machines)),
            "request_kb": np.tile(request_kb, len(machines)),
            "name": np.tile(names, len(machines)),
        }
    )
    profile.to_csv(folder / "profiles.csv", index=False)
    jobs.to_csv(folder / "jobs.csv", index=False)
    groups = [
        {
            "count": len(parts),
            "cpu_speed": float(machine["cpu_speed"]),
            "disk_mb_per_s": float(machine["disk_speed"]) * disk_mb_per_s,
        }
        for _, machine in machines.iterrows()
    ]
    settings: dict[str, object] = {
        "cluster.nodes": len(jobs),
        "cluster.group": groups,
        "cluster.disk_seek_rotation_ms": 0.0,
        "cluster.page_fault_rate_per_ms": 0.0,
        # A lone task is never interrupted, and nothing is decided between slices: long ones give the same times.
        "cluster.quantum_ms": math.inf,
        "cluster.context_switch_ms": 0.0,
        "cluster.slice_ms": 1000.0,
        "workload.reaccess_rate": 0.0,
        # All accesses of a job are equally large.
        "workload.request_kb": {"kind": "fixed", "mean": REQUEST_MB * 1000.0},
        "workload.programs.file": str(folder / "profiles.csv"),
        "workload.trace.file": str(folder / "jobs.csv"),
    }
    return load_scenario("replay", settings)
