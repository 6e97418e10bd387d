"""Many runs of recorded workflows as one trace: which of them is submitted when, and at which node, is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from cluster_abm.workload.traces import Trace, write_csv
from cluster_abm.workload.traces.table import AFTER, JOB, job_frame


def composed(traces: Sequence[Trace], count: int, window_s: float, nodes: int, seed: int) -> Trace:
    """A trace of `count` workflows, each one of these traces, submitted within a window.

    Args:
        traces: of one workflow each, their jobs with ids; each is as likely.
        count: how many workflows are submitted, at instants drawn uniformly (a Poisson process of which that many fall
            into the window).
        window_s: the window [s].
        nodes: all jobs of a workflow have one home, drawn uniformly from so many nodes.
        seed: of the draws.
    """
    rng = np.random.default_rng([seed, len(traces), count])
    chosen = rng.integers(len(traces), size=count)
    starts_ms = np.sort(rng.random(count)) * window_s * 1000.0
    homes = rng.random(count)
    parts = []
    for place, (which, start_ms, home) in enumerate(zip(chosen, starts_ms, homes, strict=True)):
        part = traces[which].table.copy()
        part["arrival_ms"] = part["arrival_ms"] + round(start_ms, 3)
        part["home"] = float(int(home * nodes))
        part[JOB] = [f"{place}.{job}" for job in part[JOB]]
        after = part[AFTER] if AFTER in part else [""] * len(part)
        part[AFTER] = [" ".join(f"{place}.{job}" for job in jobs.split()) for jobs in after]
        parts.append(part)
    table = pd.concat(parts, ignore_index=True)
    names = [name for name in table.columns if name != "name"]
    return Trace("composed", "csv", len(table), job_frame({name: table[name].to_numpy() for name in names}))


def write_composed(path: Path, traces: Sequence[Trace], count: int, window_s: float, nodes: int, seed: int) -> Path:
    """Write what `composed` gives as our CSV."""
    write_csv(composed(traces, count, window_s, nodes, seed), path)
    return path
