"""What a trace holds, in numbers: `trace info`."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pandas as pd

from cluster_abm.workload.traces.dependence import dependence_of
from cluster_abm.workload.traces.explained import explained_by_cpu
from cluster_abm.workload.traces.logged import recorded_waits
from cluster_abm.workload.traces.mapping.sampling import shrunk
from cluster_abm.workload.traces.parts.missing import in_words
from cluster_abm.workload.traces.parts.resources import resources_in
from cluster_abm.workload.traces.table import RESOURCES, RUN, Trace


def trace_info(trace: Trace) -> dict[str, Any]:
    """The trace in numbers, ready for JSON.

    Keys: file, format, rows (= used + all skipped), jobs, skipped (reason -> rows), fields (column -> share of the
    jobs that have it), span_s (first to last arrival), cpu_s (mean and max per task), arrivals_s (first and last),
    noted (what was mended: reason -> rows), kept_busy (kept_busy; None of several runs together), used (rows that are
    jobs, or samples in their profiles), filled (what the file lacks -> how it is filled), dependence (dependence_of),
    run_time (what share of the run times CPU explains: explained_by_cpu; None where they are not known),
    recorded_wait_s (how long the jobs waited in the log, also by width and hour: logged.recorded_waits; None where it
    does not say), resources (name -> jobs that ask for it and the total of what they ask for; empty where no job asks
    for any); sample (None if the whole log was read, else share and note: by how much to shrink the cluster); of a
    file with several runs and none chosen also runs (number -> jobs, span_s, cpu_s, kept_busy).
    """
    info: dict[str, Any] = {
        "file": trace.file,
        "format": trace.format,
        "rows": trace.rows,
        "jobs": len(trace.table),
        "skipped": dict(trace.skipped),
        "fields": trace.fields,
        **_numbers(trace.table),
        "arrivals_s": {
            "first": float(trace.table["arrival_ms"].min()) / 1000.0,
            "last": float(trace.table["arrival_ms"].max()) / 1000.0,
        },
        "noted": dict(trace.noted),
        "kept_busy": None if RUN in trace.table else kept_busy(trace.table),
        "used": trace.used,
        "filled": in_words(trace),
        "dependence": dependence_of(trace),
        "run_time": explained_by_cpu(trace),
        "recorded_wait_s": recorded_waits(trace),
        "resources": _resources(trace.table),
        "sample": None if trace.sample == 1 else {"share": trace.sample, "note": shrunk(trace.sample)},
    }
    if RUN in trace.table:
        info["runs"] = {
            str(number): {"jobs": len(part)} | _numbers(part) | {"kept_busy": kept_busy(part)}
            for number, part in trace.table.groupby(RUN)
        }
    return info


def kept_busy(jobs: pd.DataFrame) -> dict[str, float | None] | None:
    """What the jobs of a trace occupy on average from the first to the last arrival; None if all arrive at once.

    Keys: cores (CPU time of all tasks over the span, at speed 1; None where no job has a CPU time), memory_mb (memory
    of the tasks by the CPU time for which they hold it at least, over the span: a lower bound; None where no job has a
    memory).
    """
    span_ms = float(jobs["arrival_ms"].max() - jobs["arrival_ms"].min())
    if not span_ms > 0:
        return None
    if "cpu_ms" not in jobs:
        return {"cores": None, "memory_mb": None}
    work_ms = jobs["cpu_ms"] * jobs["tasks"].fillna(1.0) if "tasks" in jobs else jobs["cpu_ms"]
    has_memory = "memory_mb" in jobs and bool(jobs["memory_mb"].notna().any())
    memory_mb = float((work_ms * jobs["memory_mb"]).sum()) / span_ms if has_memory else None
    return {"cores": float(work_ms.sum()) / span_ms, "memory_mb": memory_mb}


def _numbers(jobs: pd.DataFrame) -> dict[str, Any]:
    """Span [s] and CPU time per task [s]."""
    arrival_ms = jobs["arrival_ms"]
    cpu_s: dict[str, float | None] = {"mean": None, "max": None}
    if "cpu_ms" in jobs:
        cpu_s = {"mean": float(jobs["cpu_ms"].mean()) / 1000.0, "max": float(jobs["cpu_ms"].max()) / 1000.0}
    return {"span_s": float(arrival_ms.max() - arrival_ms.min()) / 1000.0, "cpu_s": cpu_s}


def _resources(jobs: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Of each counted resource how many jobs ask for it, and for how much together."""
    found: dict[str, dict[str, float]] = defaultdict(lambda: {"jobs": 0, "total": 0.0})
    # Few spellings stand for many jobs.
    spellings = Counter(jobs[RESOURCES].tolist() if RESOURCES in jobs else ())
    for cell, count in sorted(spellings.items()):
        for name, amount in resources_in(cell).items():
            found[name]["jobs"] += count
            found[name]["total"] += amount * count
    return {name: found[name] for name in sorted(found)}
