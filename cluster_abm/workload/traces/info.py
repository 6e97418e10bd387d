"""What a trace holds, in numbers: `trace info`."""

from __future__ import annotations

from typing import Any

import pandas as pd

from cluster_abm.workload.traces.table import RUN, Trace


def trace_info(trace: Trace) -> dict[str, Any]:
    """The trace in numbers, ready for JSON.

    Keys: file, format, rows (= jobs + all skipped), jobs, skipped (reason -> rows), fields (column -> share
    of the jobs that have it), span_s (first to last arrival), cpu_s (mean and max per task), arrivals_s (first and
    last), noted (what was mended: reason -> rows); of a file with several runs and none chosen also runs
    (number -> jobs, span_s, cpu_s).
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
    }
    if RUN in trace.table:
        info["runs"] = {str(number): {"jobs": len(part)} | _numbers(part) for number, part in trace.table.groupby(RUN)}
    return info


def _numbers(jobs: pd.DataFrame) -> dict[str, Any]:
    """Span [s] and CPU time per task [s]."""
    arrival_ms, cpu_ms = jobs["arrival_ms"], jobs["cpu_ms"]
    return {
        "span_s": float(arrival_ms.max() - arrival_ms.min()) / 1000.0,
        "cpu_s": {"mean": float(cpu_ms.mean()) / 1000.0, "max": float(cpu_ms.max()) / 1000.0},
    }
