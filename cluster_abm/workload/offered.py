"""The load that a scenario offers to each resource, by its jobs themselves and before anything is simulated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Floats
from cluster_abm.engine.memory import fill_hits
from cluster_abm.engine.tables import NS_PER_MS, Table
from cluster_abm.large_tables import forget_pages
from cluster_abm.scenario import Scenario
from cluster_abm.workload.jobs import RunJobs
from cluster_abm.workload.pacing import ArrivalClock
from cluster_abm.workload.traces.mapping.sampling import share_in_words

# Rows of the job table summed at once: however the table is kept, the sums are the same.
ROWS_SUMMED = 100_000
# From here on a queue grows as long as jobs come, or all but does.
HIGH = 0.95
# Of memory, whose load is a lower bound, from here on tasks overflow a node now and then.
OVERFLOWS_FROM = 0.5


class OfferedLoad(NamedTuple):
    """Load of all nodes' resources over the window in which jobs are submitted, 1: all that there is."""

    cpu: float  # CPU of the jobs, of all cores
    # Requests of the jobs that would miss the buffer of a node of their own, page faults left out: of the channels
    # (seek and transfer), or of the bandwidth (transfer) if that is more.
    disk: float
    # Mean demand of the tasks alive, by Little's law with the times that they would take alone: a lower bound, for
    # waiting tasks hold memory as well.
    memory: float
    window_s: float  # the window [s]
    largest_task: float  # the largest demand of a task for memory, as a share of a node's memory for programs

    def as_dict(self) -> dict[str, float]:
        """The loads of the resources by name."""
        return {"cpu": self.cpu, "disk": self.disk, "memory": self.memory}


class _Nodes(NamedTuple):
    """Hardware of every node, shape (nodes,) each."""

    speed: Floats
    cores: Floats
    user_mb: Floats
    buffer_kb: Floats
    seek_ms: Floats
    kb_per_ms: Floats
    channels: Floats


def offered_load(scenario: Scenario, work: RunJobs) -> OfferedLoad | None:
    """The load that jobs offer to a scenario's nodes; None where no window is known.

    There is none of closed users and of jobs with parents, which come when others have ended; and none of a trace
    whose jobs come all at once. Background programs are no jobs, and jobs of `workload.initial` do not come: neither
    are counted.
    """
    jobs = work.arriving
    window_s = None if work.parents is not None else _window_s(scenario, jobs)
    if window_s is None:
        return None
    nodes = _nodes(scenario)
    programs = _programs(work.phases)
    totals, largest = np.zeros(4), 0.0
    for rows in arriving_in_blocks(work):
        part, share = _work(rows, nodes, programs, scenario.cluster.paging == "rate")
        totals, largest = totals + part, max(largest, share)
        forget_pages(jobs)
    cpu_ms, service_ms, transfer_ms, memory_mb_ms = totals / (window_s * 1000.0)
    return OfferedLoad(
        cpu=float(cpu_ms / (nodes.cores * nodes.speed).sum()),
        disk=float(max(service_ms / nodes.channels.sum(), transfer_ms / len(nodes.channels))),
        memory=float(memory_mb_ms / nodes.user_mb.sum()),
        window_s=window_s,
        largest_task=largest,
    )


def arriving_in_blocks(work: RunJobs) -> Iterator[Table]:
    """The rows of the jobs that are submitted, some at a time; those that are drawn late are drawn once more."""
    jobs = work.arriving
    if work.late is not None:
        yield from work.late.again(ROWS_SUMMED)
    else:
        yield from (jobs[first : first + ROWS_SUMMED] for first in range(0, len(jobs), ROWS_SUMMED))


def in_words(load: Mapping[str, float]) -> str:
    """The loads of the resources by name, in a line."""
    return ", ".join(f"{_WORDS[name]} {value:.2g}" for name, value in load.items())


def warnings_of(scenario: Scenario, load: OfferedLoad | None, work: RunJobs | None = None) -> list[str]:
    """Warnings about an offered load, a line each, for before the run; what a sample of a log means for it; and what
    was mended in the jobs, if they are given."""
    lines = [] if work is None else list(work.remarks)
    choice = scenario.workload.trace
    if scenario.workload.kind == "trace" and choice.sample < 1:
        nodes = scenario.cluster.nodes
        lines.append(
            f"sample: {share_in_words(choice.sample)} of the log's jobs: {nodes:,} nodes stand for "
            f"{nodes / choice.sample:,.0f} of the cluster that ran the whole log"
        )
    if load is None:
        return lines
    high = {name: value for name, value in load.as_dict().items() if value > HIGH}
    if high:
        until = "the trace's length" if scenario.workload.kind == "trace" else "workload.duration_s"
        if set(high) == {"memory"}:
            follows = "tasks do not fit into the nodes' memory as long as jobs come"
        else:
            follows = "the queue grows as long as jobs come"
        lines.append(f"offered load: {in_words(high)}: {follows}, results depend on {until}")
    overflows = load.memory > OVERFLOWS_FROM or load.largest_task > 1.0
    if overflows and _has_literal_law(scenario):
        lines.append(
            f"offered load: memory at least {load.memory:.2g}, largest task {load.largest_task:.2g} of a node's: page "
            "faults follow the literal law demand/memory, which can run away (docs/concepts/model.md, Paging; "
            "cluster.page_fault_ratio_cap bounds it)"
        )
    return lines


_WORDS = {"cpu": "CPU", "disk": "disk", "memory": "memory at least"}


def _has_literal_law(scenario: Scenario) -> bool:
    cluster = scenario.cluster
    rates = [kind.page_fault_rate_per_ms for kind, count in cluster.kinds if count]
    is_literal = (
        cluster.paging == "rate" and cluster.page_fault_law == "demand" and cluster.page_fault_ratio_cap is None
    )
    return is_literal and max(rates) > 0.0


def _window_s(scenario: Scenario, jobs: Table) -> float | None:
    work = scenario.workload
    if work.kind == "trace":
        span_s = float(jobs["arrival_ns"][-1] - jobs["arrival_ns"][0]) / 1e9 if len(jobs) else 0.0
        return span_s or None
    if work.kind == "none" or work.arrivals.kind == "closed":
        return None
    clock = ArrivalClock(scenario)
    if clock.is_even:
        return work.duration_s
    return float(clock.when_shown(np.array([round(work.duration_s * 1e9)]))[0]) / 1e9


def _nodes(scenario: Scenario) -> _Nodes:
    rows = []
    for kind, count in scenario.cluster.kinds:
        fixed_mb = kind.buffer_mb if kind.buffer_in_memory and kind.paging == "rate" else 0.0
        user_mb = kind.memory_mb - kind.system_mb - fixed_mb
        disk = kind.disk_seek_rotation_ms, kind.disk_mb_per_s, kind.disk_channels
        rows += [(kind.cpu_speed, kind.cores, user_mb, kind.buffer_mb * 1000.0, *disk)] * count
    return _Nodes(*np.array(rows, float).T)


def _programs(phases: Table) -> Floats | None:
    """Sums over all phases before each, shape (phases + 1, 4): accesses; memory times CPU [KB ms], times accesses [KB]
    and times pause [KB ms]. None without programs."""
    if not len(phases):
        return None
    pause_ms, accesses, memory_kb = phases["pause_ns"] / NS_PER_MS, phases["accesses"], phases["memory_kb"]
    each = np.column_stack([accesses, memory_kb * phases["cpu_ms"], memory_kb * accesses, memory_kb * pause_ms])
    return np.vstack([np.zeros(4), each.cumsum(axis=0)])


def _work(jobs: Table, nodes: _Nodes, programs: Floats | None, keeps_buffer: bool) -> tuple[Floats, float]:
    """CPU at speed 1 [ms], disk service and transfers [ms], and memory times life [MB ms] of some jobs together; and
    the largest share of a node's memory that a task asks for."""
    if not len(jobs):
        return np.zeros(4), 0.0
    home, tasks = jobs["home"], jobs["tasks"].astype(float)
    cpu_ms, memory_mb = jobs["cpu_ms"], jobs["memory_mb"]
    transfer_ms = jobs["request_kb"] / nodes.kb_per_ms[home]
    service_ms = nodes.seek_ms[home] + transfer_ms
    hits = np.zeros(len(jobs))
    if keeps_buffer and jobs["reaccess_rate"].any():
        fill_hits(np.ascontiguousarray(jobs), nodes.buffer_kb, hits)
    accesses = jobs["io_per_ms"] * cpu_ms * (1.0 - hits)
    life_mb_ms = memory_mb * (cpu_ms / nodes.speed[home] + accesses * service_ms)
    if programs is not None:
        has = jobs["phases"] > 0
        first = np.where(has, jobs["first_phase"], 0)
        of = programs[first + np.where(has, jobs["phases"], 0)] - programs[first]
        accesses = np.where(has, of[:, 0], accesses)
        of_life = of[:, 1] / nodes.speed[home] + of[:, 2] * service_ms + of[:, 3]
        life_mb_ms = np.where(has, of_life / 1000.0, life_mb_ms)
    sums = [tasks * cpu_ms, tasks * accesses * service_ms, tasks * accesses * transfer_ms, tasks * life_mb_ms]
    return np.array([part.sum() for part in sums]), float((memory_mb / nodes.user_mb[home]).max())
