"""The time below which slowdowns are bounded, `measure.bound_ms`, where a scenario does not set it."""

from __future__ import annotations

import numpy as np

from cluster_abm.formulas import service_ms
from cluster_abm.scenario import Scenario
from cluster_abm.workload.applications import as_application
from cluster_abm.workload.drawing.draws import mean_of
from cluster_abm.workload.from_trace import trace_of
from cluster_abm.workload.programs import mean_cpu_ms

# The bound is the cost of a remote start, but at least and at most these shares of the mean isolated time.
LEAST_SHARE, LARGEST_SHARE = 0.01, 0.1


def bound_ms(scenario: Scenario) -> float:
    """The bound b of bounded slowdowns [ms]: `measure.bound_ms`, or by default the cost of a remote start.

    The default is kept between 1 % and 10 % of the mean isolated time of a task. It follows from the scenario alone, so
    it is the same for all seeds and policies.

    Raises InputError: a trace, or a file of programs, that cannot be read.
    """
    given = scenario.measure.bound_ms
    if given is not None:
        return given
    cost_ms, isolated_ms = scenario.negotiation.remote_execution_ms, mean_isolated_ms(scenario)
    if isolated_ms is None:
        return cost_ms
    return min(max(cost_ms, LEAST_SHARE * isolated_ms), LARGEST_SHARE * isolated_ms)


def mean_isolated_ms(scenario: Scenario) -> float | None:
    """The mean time that a task takes alone on the slowest kind of node [ms]; None: the scenario has no task.

    CPU, and the accesses by their mean size: the mean of the laws, or of the jobs of the log. Page faults, barriers and
    hits of the buffer are left out.

    Raises InputError: as `bound_ms`.
    """
    workload, cluster = as_application(scenario.workload, scenario.cluster), scenario.cluster
    node = min((kind for kind, count in cluster.kinds if count), key=lambda kind: kind.cpu_speed)
    access_ms = service_ms(workload.request_kb.mean, node.disk_seek_rotation_ms, node.disk_mb_per_s)
    io_per_ms = (1.0 - workload.no_io_share) * mean_of(workload.io_per_ms)
    if workload.kind == "none":
        cpu_ms = np.array([job.cpu_ms - job.age_ms for job in workload.initial])
        rates = np.array([io_per_ms if job.io_per_ms is None else job.io_per_ms for job in workload.initial])
    elif (trace := trace_of(scenario)) is not None:
        cpu_ms = trace.numbers["cpu_ms"] * workload.trace.cpu_scale
        rates = trace.numbers.get("io_per_ms", np.full(len(cpu_ms), io_per_ms))
    elif workload.programs.mix:
        cpu_ms, rates = np.array([mean_cpu_ms(workload.programs)]), np.zeros(1)
    else:
        cpu_ms, rates = np.array([mean_of(workload.cpu_ms)]), np.array([io_per_ms])
    if not len(cpu_ms):
        return None
    return float((cpu_ms / node.cpu_speed + cpu_ms * rates * access_ms).mean())
