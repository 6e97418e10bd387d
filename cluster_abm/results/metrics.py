"""The metrics of a run, each in one place: name, unit, words, which side is better, when there is one, and its value.

A new metric is one entry of METRICS: summaries, studies, rankings, axes and printed lines take it from here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from cluster_abm.arrays import Floats, Integers
from cluster_abm.engine.tables import BREAKDOWN, NS_PER_MS, Table
from cluster_abm.formulas import energy_j
from cluster_abm.results.outcomes import Outcomes
from cluster_abm.results.shares.by_member import jain_of
from cluster_abm.results.sums import whole_sum
from cluster_abm.scenario.measures import WITHIN
from cluster_abm.workload.traces.members import Members

Value = float | int | None
# When a metric exists: always; where users submit; where something can fail; where jobs need files; where a disk serves
# several requests at once; where the nodes' power is set; where jobs are on their nodes at 0 (workload.initial); where
# jobs at the beginning are left out; where MSER finds how many; only in the rows of a study; where jobs have users.
When = Literal[
    "always", "closed", "failures", "data", "channels", "power", "initial", "warmup", "mser", "study", "users"
]


@dataclass(frozen=True)
class RunData:
    """What metrics are computed from."""

    outcomes: Outcomes  # what became of all jobs
    nodes: Table  # rows of the node table that served tasks
    # cores, channels: of each node's CPU and disk, shape (nodes,).
    cores: npt.NDArray[np.int32]
    channels: npt.NDArray[np.int32]
    # cpu_ns, disk_ns: CPU of all cores given by each node, and time in which its disk had a request in service, shape
    # (nodes,) [ns].
    cpu_ns: Integers
    disk_ns: Integers
    # Sum over the requests of the time that each was in service, shape (nodes,) [ns].
    in_device_ns: Integers
    down_ns: Integers  # how long each node was down, shape (nodes,) [ns]
    # Power of each node: idle, of its cores, of its disk, shape (nodes, 3) [W]; None: not set.
    watts: Floats | None
    now_ns: int  # the end of the run, or now [ns]
    last_finish_ns: int  # when the last task ended [ns]
    # What was counted while the run went on: migrations, remote_executions, refused_offers, messages between load
    # managers, jobs submitted, failures; and, where some are on their nodes at 0, how uneven the I/O loads are now.
    counted: Mapping[str, float]
    exists: frozenset[When]  # which metrics there are
    asked: tuple[Metric, ...] = ()  # metrics that are asked for by name (results.asked)
    headline: str = "bounded_slowdown"  # by what users are compared (`measure.headline`)
    users: Members | None = None  # the user of each job; None: jobs have none
    # What became of the jobs that metrics of jobs are about, where those at the beginning are left out; None: of all.
    measured: Outcomes | None = None

    def share(self, busy_ns: Integers, count: int) -> float:
        """Share of the time of `count` cores, disks or channels."""
        return total_ns(busy_ns) / float(max(1, self.now_ns * count))

    @property
    def energy_j(self) -> float:
        """Energy of all nodes from the start until now [J]."""
        assert self.watts is not None
        up_s = (self.now_ns - self.down_ns) / 1e9
        busy_s = self.cpu_ns / self.cores / 1e9, self.disk_ns / 1e9
        return float(energy_j(self.watts[:, 0], self.watts[:, 1], self.watts[:, 2], up_s, *busy_s).sum())


def total_ns(times_ns: Integers) -> float:
    """Times of all nodes together [ns]."""
    return float(whole_sum(times_ns))


class Metric(NamedTuple):
    """One metric."""

    name: str  # what it is called in JSON, in tables and in studies
    unit: str  # of its value; "1": none
    words: str = ""  # on an axis; "": the name in words
    line: str = ""  # in the printed summary of a run, where that differs; "": the same
    # Which side is better; "": neither. Those that say what a policy did (migrations), what it met (node_failures) or
    # where the time went have none: a policy that moves nothing is not the best for that, and less of one part of the
    # time may be more of another. A restarted job is better than a lost one.
    better: Literal["", "less", "more"] = ""
    when: When = "always"  # when there is one
    # Its value, of a run; None: it is counted elsewhere (counts of jobs).
    value: Callable[[RunData], Value] | None = None
    of_jobs: bool = False  # whether it is about the finished jobs, so that jobs at the beginning may be left out
    # least, greatest: values that are possible, for intervals. A slowdown is at least 1 as long as no node is faster
    # than the home node (study.statistics.bounds).
    least: float = 0.0
    greatest: float = math.inf
    meaning: str = ""  # what it counts, where its words do not say so
    is_share: bool = False  # whether it is a share, which is printed in per cent
    missing: str = "a task took no time by itself"  # why a run may have no value, where at least one job has finished


def _mean(name: str, scale: float = 1.0) -> Callable[[RunData], Value]:
    def value(run: RunData) -> Value:
        mean = run.outcomes.mean_of_jobs(name)
        return None if mean is None else mean / scale

    return value


def _counted(name: str) -> Callable[[RunData], Value]:
    return lambda run: run.counted[name]


def _joules_per_job(run: RunData) -> Value:
    jobs = run.outcomes.ended.finished
    return run.energy_j / jobs if jobs else None


def _geometric_slowdown(run: RunData) -> Value:
    mean = run.outcomes.mean_of_jobs("log_slowdown")
    return None if mean is None else math.exp(mean)


def _p95_slowdown(run: RunData) -> Value:
    return run.outcomes.quantile_of_jobs("slowdown", 0.95)


def _throughput(run: RunData) -> Value:
    return run.outcomes.ended.finished / (run.last_finish_ns / 1e9) if run.last_finish_ns else None


def _jain_users(run: RunData) -> Value:
    table = None if run.users is None else run.outcomes.of_members(run.users, run.headline)
    return None if table is None else jain_of(table, run.headline)


def _faults_per_cpu_s(run: RunData) -> Value:
    faults, cpu_s = int(run.nodes["faults"].sum()), total_ns(run.cpu_ns) / 1e9
    return None if faults and not cpu_s else float(faults / max(1e-9, cpu_s))


def _part(part: str) -> Callable[[RunData], Value]:
    def value(run: RunData) -> Value:
        mean_ns = run.outcomes.mean_of_tasks(part)
        return None if mean_ns is None else mean_ns / NS_PER_MS

    return value


METRICS: tuple[Metric, ...] = (
    Metric(
        "mean_slowdown", "1", "mean slowdown (wall / isolated time)", better="less", value=_mean("slowdown"),
        of_jobs=True, least=1.0,
    ),
    Metric(
        "bounded_slowdown", "1", "mean bounded slowdown", "bounded slowdown", "less", value=_mean("bounded_slowdown"),
        of_jobs=True, least=1.0,
    ),
    Metric(
        "geometric_slowdown", "1", "geometric mean of slowdowns", better="less", value=_geometric_slowdown,
        of_jobs=True, least=1.0,
    ),
    Metric(
        "mean_slowdown_job", "1", "mean slowdown of whole jobs (wall / isolated time)",
        "  of whole jobs, by their longest task", "less", value=_mean("slowdown_job"), of_jobs=True, least=1.0,
    ),
    Metric(
        "mean_slowdown_cpu_io", "1", "mean slowdown (wall / CPU + I/O time)", "  wall / (CPU + I/O) time", "less",
        value=_mean("slowdown_cpu_io"), of_jobs=True, least=1.0,
    ),
    Metric(
        "mean_slowdown_cpu", "1", "mean slowdown (wall / CPU time)", "  wall / CPU time", "less",
        value=_mean("slowdown_cpu"), of_jobs=True, least=1.0,
    ),
    Metric(
        "p95_slowdown", "1", "95th percentile of slowdown", better="less", value=_p95_slowdown, of_jobs=True, least=1.0,
    ),
    Metric(
        "mean_response_ms", "ms", line="mean response of a job", better="less",
        value=_mean("response_ns", NS_PER_MS), of_jobs=True,
    ),
    Metric(
        "mean_wait_ms", "ms", line="mean wait of a job", better="less", value=_mean("wait_ns", NS_PER_MS), of_jobs=True,
        meaning="time from the arrival of a job until the last of its tasks first gets a core, start costs included",
    ),
    Metric(
        "makespan_ms", "ms", better="less", value=lambda run: run.last_finish_ns / NS_PER_MS,
        meaning="time from the beginning of the run to the end of the last task",
    ),
    Metric(
        "throughput_jobs_per_s", "1/s", line="throughput", better="more", value=_throughput,
        meaning="finished jobs over the time from the beginning of the run to the end of its last task (makespan_ms)",
        missing="no task ended",
    ),
    Metric(
        "jain_users", "1", "Jain's index of users", better="more", when="users", value=_jain_users,
        of_jobs=True, greatest=1.0, meaning="how even the users' means of `measure.headline` are; 1: all equal",
    ),
    Metric(
        "makespan_spread_ms", "ms", better="less", when="closed", value=lambda run: run.outcomes.makespan_spread_ms(),
        meaning="largest difference between home nodes of when the last of their jobs ended", missing="no job ended",
    ),
    Metric("migrations", "1", value=_counted("migrations"), meaning="running tasks that were moved to another node"),
    Metric(
        "remote_executions", "1", value=_counted("remote_executions"),
        meaning="tasks that began on another node than their home",
    ),
    Metric(
        "refused_offers", "1", value=_counted("refused_offers"),
        meaning="offers of a task that the asked node refused",
    ),
    Metric(
        "messages_per_job", "1", "messages between load managers per submitted job", "messages per job",
        value=lambda run: run.counted["messages"] / run.counted["submitted"] if run.counted["submitted"] else None,
        missing="no job was submitted",
    ),
    Metric("node_failures", "1", when="failures", value=_counted("node_failures"), meaning="how often a node failed"),
    Metric("link_failures", "1", when="failures", value=_counted("link_failures"), meaning="how often a link failed"),
    Metric(
        "restarts", "1", when="failures", value=_counted("restarts"),
        meaning="tasks that a failure stopped, and that began again or went on from a checkpoint",
    ),
    Metric(
        "lost_cpu_ms", "ms", better="less", when="failures", value=_counted("lost_cpu_ms"),
        meaning="CPU time of work that failures destroyed",
    ),
    Metric(
        "cpu_utilisation", "1", "CPU utilisation (busy share)", "CPU busy",
        value=lambda run: run.share(run.cpu_ns, int(run.cores.sum())), greatest=1.0, is_share=True,
    ),
    Metric(
        "disk_utilisation", "1", "disk utilisation (busy share)", "disk busy",
        value=lambda run: run.share(run.disk_ns, len(run.disk_ns)), greatest=1.0, is_share=True,
    ),
    Metric(
        "channel_utilisation", "1", "requests in service per disk channel", when="channels",
        value=lambda run: run.share(run.in_device_ns, int(run.channels.sum())), greatest=1.0, is_share=True,
    ),
    Metric(
        "energy_kwh", "kWh", "energy of all nodes", better="less", when="power",
        value=lambda run: run.energy_j / 3.6e6,
    ),
    Metric(
        "joules_per_job", "J", "energy per finished job", better="less", when="power", value=_joules_per_job,
    ),
    Metric(
        "io_load_largest_per_ms", "1/ms", "largest I/O load of a node at the end", when="initial",
        value=_counted("io_load_largest_per_ms"),
        meaning="largest I/O load, WAL-PM (11), of any node at the end of the run",
    ),
    Metric(
        "io_load_smallest_per_ms", "1/ms", "smallest I/O load of a node at the end", when="initial",
        value=_counted("io_load_smallest_per_ms"),
        meaning="smallest I/O load, WAL-PM (11), of any node at the end of the run",
    ),
    Metric(
        "disk_requests", "1", value=lambda run: int(run.nodes["requests"].sum()),
        meaning="accesses that went to the disks, waiting ones included; page faults count apart",
    ),
    Metric(
        "page_faults", "1", better="less", value=lambda run: int(run.nodes["faults"].sum()),
        meaning="page faults of all tasks",
    ),
    Metric(
        "page_faults_per_cpu_s", "1/s", "page faults per second of CPU", line="page faults by CPU time", better="less",
        value=_faults_per_cpu_s, missing="no CPU time was used",
    ),
    Metric(
        "fetched_mb", "MB", when="data", value=_counted("fetched_mb"),
        meaning="data of files that were copied to where a task needed them",
    ),
    Metric(
        "fetched_between_clusters_mb", "MB", when="data", value=_counted("fetched_between_clusters_mb"),
        meaning="the part of it that crossed links between clusters",
    ),
    *(
        Metric(f"breakdown_ms.{part}", "ms", f"{part.replace('_', ' ')}, mean of a task", value=_part(part),
               of_jobs=True)
        for part in BREAKDOWN
    ),
    Metric("jobs.submitted", "1", meaning="jobs that have come so far; the sum of the next five"),
    Metric("jobs.finished", "1", better="more", meaning="jobs all of whose tasks have ended"),
    Metric("jobs.killed", "1", better="less", meaning="jobs killed because memory and swap were full"),
    Metric("jobs.lost", "1", better="less", meaning="jobs that a failure ended"),
    Metric("jobs.blocked", "1", meaning="jobs that wait to be started"),
    Metric("jobs.running", "1", meaning="jobs that have begun and not ended"),
    Metric(
        "from_s", "s", "measured from", when="warmup", value=_counted("from_s"),
        meaning="jobs that arrived before it were left out of the means",
    ),
    Metric(
        "warmup_jobs", "1", when="warmup", value=_counted("warmup_jobs"),
        meaning="jobs at the beginning that were left out of the means",
    ),
    Metric(
        "warmup_settled", "1", when="mser", greatest=1.0, value=_counted("warmup_settled"),
        meaning="1 where the warm-up ended within the run, else 0",
    ),
)  # fmt: skip

BY_NAME: Mapping[str, Metric] = {metric.name: metric for metric in METRICS}
BETTER: Mapping[str, Literal["less", "more"]] = {metric.name: metric.better for metric in METRICS if metric.better}


def names_when(exists: frozenset[When]) -> frozenset[str]:
    """Names of the metrics that there are."""
    return frozenset(metric.name for metric in METRICS if metric.when in exists)


def place_in_json(name: str) -> str:
    """Where a metric stands in JSON, tables dotted: `response_within_ms.300` for response_within_300_ms."""
    found = WITHIN.fullmatch(name)
    return f"response_within_ms.{found['limit_ms']}" if found else name


def computed(run: RunData) -> dict[str, Any]:
    """The metrics of a run, in the order of the table; parts of the breakdown, and shares within limits, in tables."""
    values: dict[str, Any] = {}
    of_jobs = run if run.measured is None else replace(run, outcomes=run.measured)
    for metric in (*METRICS, *run.asked):
        if metric.value is None or metric.when not in run.exists:
            continue
        section, _, part = place_in_json(metric.name).rpartition(".")
        (values.setdefault(section, {}) if section else values)[part] = known(
            metric.value(of_jobs if metric.of_jobs else run)
        )
    return values


def known(value: Value) -> Value:
    """A metric's value; None where it is none, such as a quotient by the CPU time of a task that took none."""
    return None if value is None or not math.isfinite(value) else value
