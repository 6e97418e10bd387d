"""Frames of a run for those parts of the page and of films that show it: immutable, read between two slices."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cluster_abm.arrays import Floats
from cluster_abm.engine.tables import BREAKDOWN, FREE, KILLED, LOST, NS_PER_MS
from cluster_abm.formulas import ClassThresholds, load_class, load_imbalance_factors, service_ms, weighted_load
from cluster_abm.interconnect import Network
from cluster_abm.interconnect.layout import Point, course
from cluster_abm.model.deciding.decisions import DecisionRecord
from cluster_abm.results.films.film import FilmPicture
from cluster_abm.results.frames import isolated_ns, slowdowns
from cluster_abm.results.summary import finished_records
from cluster_abm.scenario import Scenario

INDICES = ("cpu", "memory", "io", "weighted", "class")
NEWEST_KEPT = 48


@dataclass(frozen=True, eq=False)
class JobLife:
    """Where the time of a job's tasks has gone so far."""

    job: int  # its number
    state: str  # "running", "held", "finished", "killed" or "lost"
    # tasks, finished_tasks: how many it has, and how many of them have ended
    tasks: int
    finished_tasks: int
    nodes: tuple[int, ...]  # where its tasks are
    # sum over its tasks by part of engine.tables.BREAKDOWN; what a task does just now is not in it
    breakdown_ms: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Frame:
    """A run at one slice boundary. Nothing in it changes when the run goes on."""

    now_ms: float  # simulated time [ms]
    running: bool  # False at the run's end
    tasks: Floats  # tasks that belong to each node, those on their way to it included, shape (nodes,)
    # by index of INDICES a value a node, shape (nodes,) each: `cpu` tasks running or waiting for the CPU per core,
    # `memory` demand as a percentage of the memory for programs, `io` I/O processing ahead [s], `weighted` the index
    # of WAL-PM, of loads divided by their means, with the policy's weights, or equal ones [1], `class` LMIP's load
    # class (0..3), by the averages that the policy takes, or if it takes none by the time since the last frame
    loads: Mapping[str, Floats]
    up: npt.NDArray[np.bool_]  # which nodes are not out, shape (nodes,)
    # decisions since the last frame that sent a task to another node, which took it
    moves: tuple[DecisionRecord, ...]
    decisions: tuple[DecisionRecord, ...]  # the newest decisions, the last one last, at most NEWEST_KEPT
    # cpu_utilisation, disk_utilisation: share of the time busy since the last frame of all cores, of all disks, 0..1
    cpu_utilisation: float
    disk_utilisation: float
    mean_slowdown: float  # of the jobs that have finished so far (as in the summary); NaN while none has
    lif_ms: float  # the cluster's load imbalance factor, IOLB (10) [ms]
    jobs: Mapping[str, int]  # how many were submitted, and of these are running, finished, killed, lost, blocked
    totals: Mapping[str, int]  # migrations, remote_executions, refused_offers, disk_requests, page_faults so far
    # of the job asked for; None if none was, or it has not been submitted yet
    life: JobLife | None = field(default=None)


class Watcher:
    """Reads frames off a model, each time only what is new: as cheap after a million tasks as at the start.

    Args:
        model: the ClusterModel that is watched from now on. Watching changes nothing in it.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._inbox = model.parts.log.inbox()
        self._newest: list[DecisionRecord] = model.parts.log.newest(NEWEST_KEPT)
        self._records_seen = 0
        jobs = len(model.jobs)
        self._slowdowns, self._finished_tasks = np.zeros(jobs), np.zeros(jobs, np.int64)
        self._finished, self._sum_of_means = 0, 0.0
        self._ended: dict[int, set[int]] = {KILLED: set(), LOST: set()}
        self._last_ns = model.now_ns
        self._last_busy_ns = model.busy_ns()

    def frame(self, job: int | None = None) -> Frame:
        """The run as it is now.

        Args:
            job: whose life to tell.
        """
        model = self._model
        self._take_in_records()
        loads = model.engine.empty_loads()
        model.engine.measure(model.now_ns, loads, truly=True)
        cpu, disk = self._busy_since_last()
        cores = model.engine.nodes["cores"]
        news = self._inbox.take()
        self._newest = [*self._newest, *news][-NEWEST_KEPT:]
        done = model.engine.serving_nodes
        return Frame(
            now_ms=model.now_ms,
            running=bool(model.running),
            tasks=np.array(loads["tasks"]),
            loads=self._indices(loads, cpu),
            up=model.parts.availability.up.copy(),
            moves=tuple(decision for decision in news if decision.accepted and decision.source != decision.target),
            decisions=tuple(self._newest),
            cpu_utilisation=float((cpu * cores).sum() / cores.sum()),
            disk_utilisation=float(disk.mean()),
            mean_slowdown=self._sum_of_means / self._finished if self._finished else float("nan"),
            lif_ms=float(sum(load_imbalance_factors(loads["cpu_ms"], loads["page_ms"], loads["io_ms"]))),
            jobs=self._jobs(),
            totals={
                "migrations": model.parts.departures.migrations,
                "remote_executions": model.parts.departures.remote_executions,
                "refused_offers": model.parts.log.refused_offers,
                "disk_requests": int(done["requests"].sum()),
                "page_faults": int(done["faults"].sum()),
            },
            life=None if job is None else self.life(job),
        )

    def _take_in_records(self) -> None:
        model = self._model
        new = model.engine.records[self._records_seen : model.engine.finished]
        self._records_seen += len(new)
        for outcome, jobs in self._ended.items():
            jobs.update(new["job"][new["outcome"] == outcome].tolist())
        new = finished_records(new)
        if not len(new):
            return
        wall_ns = (new["finish_ns"] - new["arrival_ns"]).astype(float)
        np.add.at(self._slowdowns, new["job"], slowdowns(wall_ns, isolated_ns(new)))
        np.add.at(self._finished_tasks, new["job"], 1)
        touched = np.unique(new["job"])
        whole = touched[self._finished_tasks[touched] == model.jobs["tasks"][touched]]
        self._finished += len(whole)
        self._sum_of_means += float((self._slowdowns[whole] / model.jobs["tasks"][whole]).sum())

    def _busy_since_last(self) -> tuple[Floats, Floats]:
        """Share of the time since the last frame that each node's cores and disk were busy; 0 if none has passed."""
        model = self._model
        busy_ns = model.busy_ns()
        passed_ns = max(1, model.now_ns - self._last_ns)
        cpu, disk = (
            np.asarray((busy - before) / passed_ns) for busy, before in zip(busy_ns, self._last_busy_ns, strict=True)
        )
        self._last_ns, self._last_busy_ns = model.now_ns, busy_ns
        return cpu / model.engine.nodes["cores"], disk

    def _indices(self, loads: npt.NDArray[np.void], cpu: Floats) -> dict[str, Floats]:
        policy = self._model.policy
        queue, memory_mb, io = (np.array(loads[name]) for name in ("cpu_queue", "memory_mb", "io_load"))
        memory = 100.0 * memory_mb / (self._model.engine.nodes["user_memory_kb"] / 1000.0)
        weights = [getattr(policy.parameters, f"{name}_weight", 1.0 / 3.0) for name in ("cpu", "memory", "io")]
        parts = [values / (values.mean() or 1.0) for values in (queue, memory_mb, io)]
        given = {name: getattr(policy.parameters, name, None) for name in ClassThresholds._fields}
        thresholds = ClassThresholds(**{name: value for name, value in given.items() if value is not None})
        per_core = queue / self._model.engine.nodes["cores"]
        averages = [100.0 * cpu, per_core, memory]
        if self._model.parts.policies.any_needs_averages:
            averages = [np.array(loads[name]) for name in ("cpu_percent", "mean_queue", "memory_percent")]
        rows = zip(*(values.tolist() for values in averages), strict=True)
        return {
            "cpu": per_core,
            "memory": memory,
            "io": np.array(loads["io_ms"]) / 1000.0,
            "weighted": weighted_load(weights[0], weights[1], weights[2], parts[0], parts[1], parts[2]),
            "class": np.array([float(load_class(cpu, queue, memory, thresholds)) for cpu, queue, memory in rows]),
        }

    def _jobs(self) -> dict[str, int]:
        """Counts as in the summary."""
        killed, lost = (len(self._ended[outcome]) for outcome in (KILLED, LOST))
        return self._model.job_counts(self._finished, killed, lost)

    def life(self, job: int) -> JobLife | None:
        """Where the time of a job has gone so far; None if there is no such job, or it has not been submitted yet."""
        model = self._model
        width = int(model.jobs["tasks"][job]) if 0 <= job < len(model.jobs) else 0
        rows = model.engine.tasks[(model.engine.tasks["job"] == job) & (model.engine.tasks["state"] != FREE)]
        # Looked for among all of them: one job is picked at a time.
        records = model.engine.records[: model.engine.finished]
        ended = records[records["job"] == job]
        if not width or not (len(rows) or len(ended) or job in model.held_jobs):
            return None
        states = [("held", job in model.held_jobs), ("killed", job in self._ended[KILLED])]
        states += [("lost", job in self._ended[LOST]), ("finished", len(ended) == width), ("running", True)]
        sums = {part: int(rows[f"{part}_ns"].sum() + ended[f"{part}_ns"].sum()) / NS_PER_MS for part in BREAKDOWN}
        return JobLife(
            job=job,
            state=next(name for name, holds in states if holds),
            tasks=width,
            finished_tasks=len(ended),
            nodes=tuple(sorted(set(rows["node"].tolist()))),
            breakdown_ms=sums,
        )


def telling_index(scenario: Scenario) -> str:
    """The load index that tells most of a scenario: I/O where tasks are longer at the disk than at the CPU."""
    cluster, work = scenario.cluster, scenario.workload
    at_disk_ms = service_ms(work.request_kb.mean, cluster.disk_seek_rotation_ms, cluster.disk_mb_per_s)
    return "io" if work.io_per_ms.mean * at_disk_ms > 1.0 else "cpu"


def picture_of(frame: Frame, index: str, network: Network, at: Mapping[Hashable, Point]) -> FilmPicture:
    """A frame as a picture of a film.

    Args:
        frame: the state.
        index: by which load nodes are coloured, one of INDICES.
        network: as it is now, on which tasks have moved.
        at: each vertex's position (interconnect.layout.positions).
    """
    pairs = dict.fromkeys((move.source, move.target) for move in frame.moves)
    ways = [course(network, at, source, target) for source, target in pairs]
    return FilmPicture(frame.now_ms, frame.loads[index], frame.tasks, frame.up, ways)
