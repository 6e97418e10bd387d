"""Requested run times: what a trace says, or what is drawn in proportion to how long a job takes alone."""

from __future__ import annotations

import numpy as np

from cluster_abm.arrays import Floats, Integers
from cluster_abm.engine.tables import NS_PER_MS, Table
from cluster_abm.large_tables import blocks, forget_pages
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.cluster import Cluster
from cluster_abm.workload.drawing.draws import Stream
from cluster_abm.workload.generators import generator
from cluster_abm.workload.programs import Library


def requested_times(
    scenario: Scenario, seed: int, jobs: Table, given: Floats | None, programs: Library | None = None,
    longest_ms: Floats | None = None,
) -> Floats | None:  # fmt: skip
    """The run time that each job requests, shape (jobs,) [ms]; NaN: it requests none. None: no job requests any.

    Where `workload.requested_over_actual` is set, jobs for which none is given request what they take alone
    (`alone_ms`) times a number drawn from it, at least 1. The draws are of a stream of their own, one a job: they
    change no other attribute, and do not depend on which jobs have a requested time in the trace.

    Args:
        given: requested times of the trace, shape (jobs,) [ms], NaN where it has none; None: it has no such column.
        programs: that jobs may run; None: none.
        longest_ms: the longest CPU demand of a task of each job, shape (jobs,); None: that of the job table.
    """
    ratio = scenario.workload.requested_over_actual
    if ratio is None:
        return None if given is None or bool(np.isnan(given).all()) else given
    requested_ms = np.empty(len(jobs))
    stream = Stream(ratio, generator(seed, "requested"), len(jobs))
    for rows in blocks(len(jobs)):
        part = jobs[rows]
        longest = None if longest_ms is None else longest_ms[rows]
        requested_ms[rows] = alone_ms(part, scenario, programs, longest) * np.maximum(1.0, stream.next(len(part)))
        forget_pages(jobs)
    return requested_ms if given is None else np.where(np.isnan(given), requested_ms, given)


def requested_by_sessions(scenario: Scenario, jobs: Table, session: Integers, over_longest: Floats) -> Floats | None:
    """The run time that each job requests whose session requests one for all of its jobs, shape (jobs,) [ms]; NaN: its
    session requests none. None: no job requests any.

    Args:
        session: of each job, shape (jobs,).
        over_longest: what each session requests over what its longest job takes alone, shape (sessions,); NaN: nothing.
    """
    if np.isnan(over_longest).all():
        return None
    longest_ms = np.zeros(len(over_longest))
    np.maximum.at(longest_ms, session, alone_ms(jobs, scenario))
    return np.asarray((over_longest * longest_ms)[session])


def alone_ms(
    jobs: Table, scenario: Scenario, programs: Library | None = None, longest_ms: Floats | None = None
) -> Floats:
    """How long a task of each job takes on a core of its own, shape (jobs,) [ms]: an upper bound over the nodes.

    CPU and the I/O of mean requests at the slowest node (`cpu_and_io_ms`), one context switch, communication at the
    job's barriers, and what its program sleeps. Page faults, the start on another node, and waits for tasks of other
    jobs at the disk are not counted; buffer hits neither.

    Args:
        longest_ms: CPU demand of the job's longest task, shape (jobs,); None: that of the job table.
    """
    cluster = scenario.cluster
    kinds = [kind for kind, count in cluster.kinds if count]
    alone = cpu_and_io_ms(jobs, cluster, longest_ms) + max(kind.context_switch_ms for kind in kinds)
    has_barriers = (jobs["barrier_ms"] > 0) & (jobs["tasks"] > 1)
    if has_barriers.any():
        barriers = jobs["cpu_ms"][has_barriers] // jobs["barrier_ms"][has_barriers]
        alone[has_barriers] += barriers * (jobs["communication_ns"][has_barriers] / NS_PER_MS)
    if programs is not None:
        slept_ns = np.concatenate([[0], np.cumsum(programs.phases["pause_ns"])])
        first = np.where(jobs["phases"] > 0, jobs["first_phase"], 0)
        alone += (slept_ns[first + jobs["phases"]] - slept_ns[first]) / NS_PER_MS
    return alone


def cpu_and_io_ms(jobs: Table, cluster: Cluster, cpu_ms: Floats | None = None) -> Floats:
    """CPU and I/O of a task of each job alone, shape (jobs,) [ms]: at the slowest CPU, disk and seek of any node.

    Args:
        cpu_ms: its CPU demand, shape (jobs,); None: that of the job table.
    """
    kinds = [kind for kind, count in cluster.kinds if count]
    slowest_cpu, slowest_disk = min(kind.cpu_speed for kind in kinds), min(kind.disk_mb_per_s for kind in kinds)
    longest_seek_ms = max(kind.disk_seek_rotation_ms for kind in kinds)
    request_ms = longest_seek_ms + jobs["request_kb"] / slowest_disk
    cpu_ms = jobs["cpu_ms"] if cpu_ms is None else cpu_ms
    return np.asarray(cpu_ms * (1.0 / slowest_cpu + jobs["io_per_ms"] * request_ms))
