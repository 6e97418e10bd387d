"""The time below which slowdowns are bounded, `measure.bound_ms`, where a scenario does not set it."""

from __future__ import annotations

import numpy as np

from cluster_abm.formulas import service_ms
from cluster_abm.scenario import Scenario
from cluster_abm.workload.applications import as_application
from cluster_abm.workload.drawing.draws import mean_of
from cluster_abm.workload.from_trace import trace_of
from cluster_abm.workload.programs import mean_cpu_ms
from cluster_abm.workload.sessions import are_sessions, session_means
from cluster_abm.workload.traces.recognition import is_batch
from cluster_abm.workload.traces.table import RECORDED_RUN, RECORDED_WAIT

# The bound is the cost of a remote start, but at least and at most these shares of the mean isolated time.
LEAST_SHARE, LARGEST_SHARE = 0.01, 0.1
# Of the logs of batch systems: 10 s, as Feitelson and Rudolph 1998 have it.
BATCH_MS = 10_000.0


def bound_ms(scenario: Scenario) -> float:
    """The bound b of bounded slowdowns [ms]: `measure.bound_ms`, or by default the cost of a remote start.

    Of the log of a batch system (`_is_batch_log`) the default is 10 s. Else it is kept between 1 % and 10 % of the mean
    isolated time of a task. It follows from the scenario alone, so it is the same for all seeds and policies.

    Raises InputError: a trace, or a file of programs, that cannot be read.
    """
    given = scenario.measure.bound_ms
    if given is not None:
        return given
    cost_ms, isolated_ms = scenario.negotiation.remote_execution_ms, mean_isolated_ms(scenario)
    if isolated_ms is None:
        return cost_ms
    if _is_batch_log(scenario, isolated_ms):
        return BATCH_MS
    return min(max(cost_ms, LEAST_SHARE * isolated_ms), LARGEST_SHARE * isolated_ms)


def with_bound(scenario: Scenario) -> Scenario:
    """The scenario with `measure.bound_ms` set, for runs that differ in keys and are compared all the same.

    Raises InputError: as `bound_ms`.
    """
    measure = scenario.measure.model_copy(update={"bound_ms": bound_ms(scenario)})
    return scenario.model_copy(update={"measure": measure})


def _is_batch_log(scenario: Scenario, isolated_ms: float) -> bool:
    """Whether the jobs are those of a batch system's log, or of a table that was made of one.

    A table of ours says no more of its origin than that its jobs waited in a log; a mean time above the bound tells
    batch jobs from queries.
    """
    trace = trace_of(scenario)
    if trace is None:
        return False
    return is_batch(trace.format) or (RECORDED_WAIT in trace.table and isolated_ms > BATCH_MS)


def mean_isolated_ms(scenario: Scenario) -> float | None:
    """The mean time that a task takes alone on the slowest kind of node [ms]; None: the scenario has no task.

    CPU, and the accesses by their mean size: the mean of the laws, or of the jobs of the log; their run times where
    these count. Page faults, barriers and hits of the buffer are left out.

    Raises InputError: as `bound_ms`.
    """
    workload, cluster = as_application(scenario.workload, scenario.cluster), scenario.cluster
    node = min((kind for kind, count in cluster.kinds if count), key=lambda kind: kind.cpu_speed)
    access_ms = service_ms(workload.request_kb.mean, node.disk_seek_rotation_ms, node.disk_mb_per_s)
    io_per_ms = (1.0 - workload.no_io_share) * mean_of(workload.io_per_ms)
    if workload.kind == "none":
        cpu_ms = np.array([job.cpu_ms - job.age_ms for job in workload.initial])
        rates = np.array([io_per_ms if job.io_per_ms is None else job.io_per_ms for job in workload.initial])
    elif (trace := trace_of(scenario)) is not None and "cpu_ms" in trace.numbers:
        cpu_ms = trace.numbers["cpu_ms"] * workload.trace.cpu_scale
        rates = trace.numbers.get("io_per_ms", np.full(len(cpu_ms), io_per_ms))
        if workload.trace.cpu_time == "run" and RECORDED_RUN in trace.numbers:
            # A run time holds the accesses, too.
            run_ms = trace.numbers[RECORDED_RUN] * workload.trace.cpu_scale
            is_known = ~np.isnan(run_ms)
            cpu_ms, rates = np.where(is_known, run_ms, cpu_ms), np.where(is_known, 0.0, rates)
    elif are_sessions(scenario):
        means = session_means(scenario)
        cpu_ms, rates = np.array([1000.0 * means.work_s / (means.jobs * means.tasks)]), np.array([io_per_ms])
    elif workload.programs.mix:
        cpu_ms, rates = np.array([mean_cpu_ms(workload.programs)]), np.zeros(1)
    else:
        cpu_ms, rates = np.array([mean_of(workload.cpu_ms)]), np.array([io_per_ms])
    if not len(cpu_ms):
        return None
    return float((cpu_ms / node.cpu_speed + cpu_ms * rates * access_ms).mean())
