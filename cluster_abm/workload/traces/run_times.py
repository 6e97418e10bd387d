"""Recorded run times of a trace's jobs: what of a run time is neither CPU nor disk, a task pauses.

A task with a recorded run time has an activity profile of its own: its CPU time in PAUSES + 1 equal stretches, its
accesses spread evenly over them, and a pause after each stretch but the last. All pauses together are what the run time
leaves when CPU and, on the disk of its home, mean accesses are taken off. While it pauses, a task holds its memory. So
alone on a node of speed 1 it takes its run time; a faster CPU or disk shortens its own part and no pause.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Floats
from cluster_abm.engine.memory import fill_hits
from cluster_abm.engine.tables import NS_PER_MS, PHASE, Table
from cluster_abm.limits import check_memory
from cluster_abm.scenario.cluster import Cluster
from cluster_abm.workload.traces.parts.finishing import LEAST_CPU_MS

# Many short pauses keep a task's share of the CPU nearly even; each costs a few events.
PAUSES = 10
ACCESS_CPU_MS = 1e-4  # CPU time that a task has at least for each of its accesses: they are spread over it


class Pausing(NamedTuple):
    """What became of jobs whose run times count."""

    phases: Table  # those of all of them, one job after another, fields tables.PHASE_FIELDS
    cut: int  # jobs with more CPU time than run time, cut to it
    overlong: int  # jobs of which CPU and accesses take longer than the run time

    @property
    def remarks(self) -> tuple[str, ...]:
        """What had to be mended, a line each."""
        lines = {
            "more CPU time than run time, cut to it": self.cut,
            "CPU and bytes take longer than the run time on these disks: the bytes stay": self.overlong,
        }
        return tuple(f"run times: {count:,} jobs: {words}" for words, count in lines.items() if count)


def pause_jobs(jobs: Table, run_ms: Floats, cluster: Cluster) -> Pausing:
    """Give jobs the profiles by which a task of theirs takes its run time when alone.

    Raises InputError: the profiles of so many jobs do not fit into memory.

    Args:
        jobs: the job table, shape (jobs,); changed: cpu_ms, io_per_ms, request_kb, first_phase, phases.
        run_ms: the run time of a task of each, shape (jobs,) [ms]; NaN: it has no profile.
        cluster: the nodes, of which `home` names one.
    """
    rows = np.flatnonzero(~np.isnan(run_ms))
    size = len(rows) * (PAUSES + 1) * PHASE.itemsize
    check_memory('workload.trace.cpu_time = "run"', size, len(rows), "jobs with a run time")
    timed, run_ms = jobs[rows], run_ms[rows]
    cut = timed["cpu_ms"] > run_ms
    bytes_kb = timed["io_per_ms"] * timed["cpu_ms"] * timed["request_kb"]
    accesses = np.round(timed["io_per_ms"] * timed["cpu_ms"])
    # Less than one access is one that is smaller: no bytes are lost.
    accesses = np.where(bytes_kb > 0, np.maximum(accesses, 1.0), 0.0)
    has_bytes = accesses > 0
    timed["request_kb"][has_bytes] = (bytes_kb / np.maximum(accesses, 1.0))[has_bytes]
    timed["cpu_ms"] = np.maximum(np.minimum(timed["cpu_ms"], run_ms), LEAST_CPU_MS + accesses * ACCESS_CPU_MS)
    timed["io_per_ms"] = accesses / timed["cpu_ms"]
    left_ms = run_ms - timed["cpu_ms"] - _disk_ms(timed, accesses, cluster)
    # A nanosecond is the engine's own rounding.
    overlong = left_ms < -1.0 / NS_PER_MS
    pause_ns = np.maximum(np.floor(left_ms * NS_PER_MS + 0.5), 0.0).astype(np.int64)
    count = np.where(pause_ns > 0, PAUSES + 1, 1)
    timed["phases"], timed["first_phase"] = count, np.cumsum(count) - count
    phases = np.zeros(int(count.sum()), PHASE)
    job = np.repeat(np.arange(len(rows)), count)
    stretch = np.arange(len(phases)) - timed["first_phase"][job]
    of = count[job]
    phases["cpu_ms"] = timed["cpu_ms"][job] / of
    phases["memory_kb"] = np.floor(timed["memory_mb"] * 1000.0 + 0.5).astype(np.int64)[job]
    phases["accesses"] = _part(accesses.astype(np.int64)[job], stretch, of)
    phases["pause_ns"] = np.where(stretch < PAUSES, _part(pause_ns[job], stretch, np.maximum(of - 1, 1)), 0)
    jobs[rows] = timed
    return Pausing(phases, int(cut.sum()), int(overlong.sum()))


def _part(whole: np.ndarray, number: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """What the part of a number has of whole things dealt out evenly: nothing is lost."""
    each, rest = whole // parts, whole % parts
    return each + (number + 1) * rest // parts - number * rest // parts


def _disk_ms(jobs: Table, accesses: Floats, cluster: Cluster) -> Floats:
    """Mean time that accesses take at the disk of each job's home, if nothing else uses it [ms]."""
    kinds = [(kind.disk_seek_rotation_ms, kind.disk_mb_per_s, kind.buffer_mb * 1000.0) for kind, _ in cluster.kinds]
    seek_ms, kb_per_ms, buffer_kb = np.repeat(np.array(kinds, float), [n for _, n in cluster.kinds], axis=0).T
    hits = np.zeros(len(jobs))
    if cluster.paging == "rate" and jobs["reaccess_rate"].any():
        fill_hits(np.ascontiguousarray(jobs), np.ascontiguousarray(buffer_kb), hits)
    home = jobs["home"]
    return np.asarray(accesses * (1.0 - hits) * (seek_ms[home] + jobs["request_kb"] / kb_per_ms[home]))
