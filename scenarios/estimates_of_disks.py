"""How far the estimates of a disk of several channels are off: docs/concepts/hardware.md, Disks.

    python scenarios/estimates_of_disks.py

`mg1` takes the larger of two waits, for a channel and for the bus; a request has both. It is held against a Poisson
stream of requests to 24 nodes. `closed` takes the larger of two stretches, and is held against so many tasks that do
nothing but read. Prints both tables: simulated times of a request, and by how much the estimates differ.
"""

from __future__ import annotations

from itertools import product

import click
import pandas as pd

from cluster_abm import ClusterModel, load_scenario
from cluster_abm.formulas import disk_response_ms, wait_at_servers_ms
from cluster_abm.scenario.shipped import shipped_path

SEEK_MS, NODES, MB_PER_S = 8.0, 24, 40.0
CHANNELS, LOADS, SEEK_OVER_TRANSFER = (2, 4, 16), (0.5, 0.7, 0.9), (1.0, 3.0, 10.0, 30.0)
# Second moment of the transfer over the square of its mean.
SIZES = {"fixed": 1.0, "exponential": 2.0}
TASKS = (1, 2, 4, 8, 16, 32)
COMMON: dict[str, object] = {
    "cluster.cores": 64, "cluster.disk_seek_rotation_ms": SEEK_MS, "cluster.disk_mb_per_s": MB_PER_S,
    "cluster.context_switch_ms": 0.0, "policy.name": "none",
}  # fmt: skip


def simulated_ms(settings: dict[str, object], after_s: float) -> float:
    """Mean time of a request at the disk, of jobs submitted from then on [ms]."""
    model = ClusterModel(load_scenario("cpu-bound", {**COMMON, **settings}), seed=1)
    model.run()
    jobs = model.jobs_frame()
    late = jobs[jobs["arrival_ms"] >= after_s * 1000.0]
    share = len(late) / len(jobs)
    requests = share * model.summary()["metrics"]["disk_requests"]
    return float((late["io_ms"] + late["io_queue_ms"]).sum() / requests)


def open_stream(channels: int, ratio: float, load: float, size: str) -> dict[str, object]:
    """A Poisson stream that loads the device so much: its channels, or its bus if that is more."""
    transfer_ms = SEEK_MS / ratio
    mean_ms = SEEK_MS + transfer_ms
    rate = load / max(mean_ms / channels, transfer_ms)
    square_ms2 = mean_ms**2 + (SIZES[size] - 1.0) * transfer_ms**2
    wait_ms = max(
        wait_at_servers_ms(rate, mean_ms, square_ms2, channels, 0.99),
        wait_at_servers_ms(rate, transfer_ms, SIZES[size] * transfer_ms**2, 1, 0.99),
    )
    # Waits are the longer correlated the higher the load.
    window_s = min(300.0, 2.0 / (1.0 - load) ** 2)
    found_ms = simulated_ms(
        {
            "cluster.disk_channels": channels, "cluster.nodes": NODES, "workload.duration_s": window_s,
            "workload.utilisation": None, "workload.jobs_per_s": rate * 1000.0 * NODES,
            "workload.request_kb": {"kind": size, "mean": transfer_ms * MB_PER_S},
            "workload.programs": {"file": str(shipped_path("programs", "readers.csv")), "mix": {"reader": 1.0}},
        },
        0.1 * window_s,
    )  # fmt: skip
    estimate_ms = mean_ms + wait_ms
    return {
        "sizes": size, "q": channels, "seek/transfer": ratio, "load": load, "simulated_ms": found_ms,
        "mg1_ms": estimate_ms, "off": estimate_ms / found_ms - 1.0,
    }  # fmt: skip


def closed_tasks(channels: int, ratio: float, tasks: int) -> dict[str, object]:
    """So many tasks that ask for the next request as soon as they have the one before."""
    transfer_ms = SEEK_MS / ratio
    requests = 2000
    found_ms = simulated_ms(
        {
            "cluster.disk_channels": channels, "cluster.nodes": 1, "workload.utilisation": None,
            "workload.jobs": tasks, "workload.duration_s": 1e-6,
            "workload.cpu_ms": {"kind": "fixed", "mean": 1.0},
            "workload.io_per_ms": {"kind": "fixed", "mean": requests},
            "workload.request_kb": {"kind": "fixed", "mean": transfer_ms * MB_PER_S},
        },
        0.0,
    )  # fmt: skip
    estimate_ms = disk_response_ms(SEEK_MS + transfer_ms, transfer_ms, tasks - 1.0, channels)
    return {
        "q": channels, "seek/transfer": ratio, "tasks": tasks, "simulated_ms": found_ms, "closed_ms": estimate_ms,
        "off": estimate_ms / found_ms - 1.0,
    }  # fmt: skip


@click.command()
def main() -> None:
    """Simulate, and print both tables."""
    rows = [open_stream(*point) for point in product(CHANNELS, SEEK_OVER_TRANSFER, LOADS, SIZES)]
    keys = ["sizes", "q", "seek/transfer"]
    table = pd.DataFrame(rows)
    click.echo("mg1: estimate over simulated time of a request, less 1, by load of the device")
    click.echo(table.pivot_table(index=keys, columns="load", values="off", sort=False).round(3).to_string())
    table = pd.DataFrame([closed_tasks(*point) for point in product(CHANNELS, SEEK_OVER_TRANSFER, TASKS)])
    click.echo("\nclosed: the same, by number of tasks that do nothing but read")
    click.echo(table.pivot_table(index=keys[1:], columns="tasks", values="off", sort=False).round(3).to_string())


if __name__ == "__main__":
    main()
