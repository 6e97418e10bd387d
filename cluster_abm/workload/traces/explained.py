"""What share of the recorded run times CPU time explains: in sum, and along the critical path."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluster_abm.workload.traces.dependence import MOST_FOR_GRAPH, longest_path
from cluster_abm.workload.traces.parts.finishing import RUN_TIMES
from cluster_abm.workload.traces.table import RECORDED_RUN, RunTimes, Trace

LITTLE = 0.5  # of the run time: if CPU explains less, a replay by CPU alone is over far too early


def explained_by_cpu(trace: Trace) -> dict[str, Any] | None:
    """The run times of a trace, and the CPU times beside them; None where it says of no row how long it ran.

    Keys: total_s (run times of all rows that ran, one task of each), cpu_s and cpu_share (the CPU time in it, as a
    share), critical_path_s (the longest chain of rows by run time: nothing does the whole sooner), critical_path_cpu_s
    and critical_path_cpu_share (the CPU time along it); hint (a key, where CPU explains little; None: it explains
    enough). Those of the critical path are None where no row comes after another one, and beyond MOST_FOR_GRAPH
    dependences.
    """
    ran = trace.ran or _of_jobs(trace)
    if ran is None or np.isnan(ran.run_ms).all():
        return None
    run_ms = np.nan_to_num(ran.run_ms)
    # No task computes for longer than it ran.
    cpu_ms = np.fmin(np.nan_to_num(ran.cpu_ms), run_ms)
    shares = {"in all": float(cpu_ms.sum() / run_ms.sum())}
    found: dict[str, Any] = {
        "total_s": float(run_ms.sum()) / 1000.0,
        "cpu_s": float(cpu_ms.sum()) / 1000.0,
        "cpu_share": shares["in all"],
        "critical_path_s": None,
        "critical_path_cpu_s": None,
        "critical_path_cpu_share": None,
    }
    if ran.parents is not None and len(ran.parents.parent) <= MOST_FOR_GRAPH:
        path = longest_path(ran.parents, run_ms)
        path_ms, path_cpu_ms = float(run_ms[path].sum()), float(cpu_ms[path].sum())
        found["critical_path_s"], found["critical_path_cpu_s"] = path_ms / 1000.0, path_cpu_ms / 1000.0
        shares["on the critical path"] = found["critical_path_cpu_share"] = path_cpu_ms / path_ms
    least = min(shares, key=lambda where: shares[where])
    found["hint"] = None
    if shares[least] < LITTLE:
        found["hint"] = f"CPU explains {100.0 * shares[least]:.0f} % of the run times {least}: {RUN_TIMES}"
    return found


def _of_jobs(trace: Trace) -> RunTimes | None:
    """The run times of a trace's jobs; None: it says none."""
    if RECORDED_RUN not in trace.table or "cpu_ms" not in trace.table:
        return None
    numbers = trace.numbers
    return RunTimes(numbers[RECORDED_RUN], numbers["cpu_ms"], trace.parents)
