"""What a trace does not say, and how the run fills it, in words."""

from __future__ import annotations

from cluster_abm.workload.traces.table import NAME, Trace

# Column -> the key of the scenario that it is drawn from, or set to.
FROM = {
    "cpu_ms": "workload.cpu_ms",
    "home": "workload.home",
    "io_per_ms": "workload.io_per_ms",
    "memory_mb": "workload.memory_mb",
    "tasks": "workload.tasks",
    "request_kb": "workload.request_kb",
    "initial_data_mb": "workload.initial_data_mb",
    "write_share": "workload.write_share",
    "reaccess_rate": "workload.reaccess_rate",
}
# A row of a log says what its jobs wrote at the disk, or the rate of their accesses.
INSTEAD = {"io_per_ms": "disk_mb"}
BY_PROFILE = ("cpu_ms", "memory_mb", "io_per_ms")


def in_words(trace: Trace) -> dict[str, str]:
    """What is missing -> how it is filled: what the reader says of it, else which key of the scenario fills it."""
    shares = trace.fields
    filled = dict(trace.filled)
    for column, key in FROM.items():
        share = shares[column] + (shares[INSTEAD[column]] if column in INSTEAD else 0.0)
        if trace.profiles is not None and column in BY_PROFILE and shares[NAME]:
            continue
        if share < 1.0 and column not in filled:
            # All rows but a few are not 100 %.
            rows = "in no row" if share == 0.0 else f"in {min(share, 0.999):.1%} of the rows; else"
            filled[column] = f"{rows}: by {key}" if share == 0.0 else f"{rows} by {key}"
    return filled
