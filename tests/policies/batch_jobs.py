"""What the tests of batch systems share: jobs of a few lines, and what became of them."""

from __future__ import annotations

from pathlib import Path

from support import scenario

from cluster_abm import ClusterModel


def trace_of(folder: Path, jobs, **overrides):
    """Overrides of a run of (arrival ms, tasks, CPU ms, requested ms) on four nodes where nothing costs anything."""
    path = folder / "jobs.csv"
    rows = [f"{arrival},0,{cpu},0,1,{tasks},{requested}" for arrival, tasks, cpu, requested in jobs]
    path.write_text("\n".join(["arrival_ms,home,cpu_ms,io_per_ms,memory_mb,tasks,requested_ms", *rows]) + "\n")
    return {
        "workload": {"kind": "trace", "trace": {"file": str(path)}},
        "negotiation__remote_execution_ms": 0.0,
        "cluster__context_switch_ms": 0.0,
    } | overrides


def ends_ms(folder: Path, policy: str, jobs, **overrides):
    """When each job ends [ms]."""
    model = ClusterModel(scenario(**trace_of(folder, jobs, policy__name=policy, **overrides)), seed=1)
    model.run()
    return model.jobs_frame().groupby("job")["finish_ms"].max().tolist()


def most_at_once(frame):
    """For each node how many of its tasks there are at most at one time, by the rows of `jobs_frame`."""
    found = {}
    for node, tasks in frame.groupby("node"):
        starts, ends = tasks["arrival_ms"] + tasks["blocked_ms"], tasks["finish_ms"]
        found[node] = max(((starts <= at) & (at < ends)).sum() for at in starts)
    return found
