"""WAL's adaptive weights against fixed ones over a whole box of regimes: docs/papers/wal-weights.md.

    python scenarios/adaptive_weights.py --out docs/papers
    python scenarios/adaptive_weights.py --arena --points 72 --out docs/papers

A Latin hypercube over the loads of CPU, disk and memory, the variability of CPU times, the age of reports, the cost of
a remote start, and the number of nodes; or the arena's regimes, with several cores, parallel jobs and unlike nodes. At
each point `wal-re` and `wal-pm` run with `adaptive` weights, with the defaults, and with equal weights of normalised
loads, on the same jobs. Writes `adaptive-weights.csv`, or `adaptive-weights-arena.csv`.
"""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
import pandas as pd
import scipy
from script_options import out_option, seeds_option, workers_option

from cluster_abm.study.arena.arena import QUICK, SAMPLE_SEED
from cluster_abm.study.arena.regimes import BASE, PLAIN_SIZES, sample, settings_of
from cluster_abm.study.cells import Cell, ratio_of, run_cells
from cluster_abm.study.statistics.paired import PairedDifference, corrected, paired

REQUEST_KB, REQUEST_MS, PROGRAMS_MB, FAULTS_PER_MS, DURATION_S = 100.0, 10.5, 480.0, 0.1, 400.0
POLICIES = ("wal-re", "wal-pm")
# Bounds, and whether a factor is spread by orders of magnitude.
BOX: dict[str, tuple[float, float, bool]] = {
    "cpu_load": (0.1, 0.85, False), "disk_load": (0.05, 0.85, False), "memory_load": (0.02, 0.6, False),
    "cpu_time_cv": (0.5, 4.0, True), "report_period_ms": (100.0, 10_000.0, True), "remote_ms": (1.0, 200.0, True),
    "nodes": (4.0, 32.0, True),
}  # fmt: skip
WEIGHTINGS: dict[str, dict[str, object]] = {
    "adaptive": {"policy.adaptive": True},
    "defaults": {},
    "equal": {
        "policy.normalised": True, "policy.cpu_weight": 1.0, "policy.memory_weight": 1.0, "policy.io_weight": 1.0,
    },
}  # fmt: skip


def points(count: int) -> list[dict[str, float]]:
    """The factors of every point."""
    unit = scipy.stats.qmc.LatinHypercube(len(BOX), rng=np.random.default_rng(1)).random(count)
    found = []
    for row in unit:
        values = {}
        for share, (name, (low, high, is_log)) in zip(row, BOX.items(), strict=True):
            values[name] = float(low * (high / low) ** share if is_log else low + (high - low) * share)
        found.append({**values, "nodes": float(round(values["nodes"]))})
    return found


def settings(point: dict[str, float]) -> dict[str, object]:
    """Jobs of 1 s of CPU in the mean that offer a point's loads."""
    cpu = point["cpu_load"]
    accesses = point["disk_load"] * 1000.0 / REQUEST_MS / cpu
    alone_s = 1.0 + accesses * REQUEST_MS / 1000.0
    return {
        "cluster.nodes": int(point["nodes"]),
        "cluster.page_fault_rate_per_ms": FAULTS_PER_MS,
        "cluster.page_fault_law": "overflow",
        "cluster.exchange_period_ms": point["report_period_ms"],
        "negotiation.remote_execution_ms": point["remote_ms"],
        "workload.utilisation": cpu,
        "workload.duration_s": DURATION_S,
        "workload.cpu_ms": {"kind": "lognormal", "mean": 1000.0, "sd": 1000.0 * point["cpu_time_cv"]},
        "workload.io_per_ms": {"kind": "uniform", "mean": accesses / 1000.0},
        "workload.request_kb": {"kind": "fixed", "mean": REQUEST_KB},
        "workload.memory_mb": {"kind": "uniform", "mean": point["memory_load"] * PROGRAMS_MB / (cpu * alone_s)},
    }


def against(runs: pd.DataFrame, rival: str) -> dict[tuple[str, int], PairedDifference]:
    """`adaptive` against another at every point: differences of logarithms, Holm over all of them."""
    found = {}
    for (name, number), own in runs.groupby(["of", "point"], sort=False):
        wide = np.log(own.pivot_table(index="seed", columns="policy", values="mean_slowdown"))
        found[str(name), int(number)] = paired(wide["adaptive"].tolist(), wide[rival].tolist())
    return corrected(found)


def tell(runs: pd.DataFrame, where: list[dict[str, float]], rival: str) -> None:
    """How `adaptive` compares with another: over the whole box, and at how many points by more than noise."""
    pairs = against(runs, rival)
    for policy in POLICIES:
        ratio = ratio_of(runs[runs["of"] == policy], "adaptive", rival, "mean_slowdown", ["point"])
        own = {number: pair for (name, number), pair in pairs.items() if name == policy}
        sizes = {number: float(np.exp(pair.difference.mean)) for number, pair in own.items()}
        worse = [number for number, pair in own.items() if pair.significant and sizes[number] > 1]
        better = [number for number, pair in own.items() if pair.significant and sizes[number] < 1]
        click.echo(
            f"{policy}, adaptive over {rival}: {ratio.mean:.4f} [{ratio.low:.4f}, {ratio.high:.4f}] over all; "
            f"worse at {len(worse)}, better at {len(better)} of {len(own)} points by more than noise; at a point "
            f"{min(sizes.values()):.3f} to {max(sizes.values()):.3f}"
        )
        for number in sorted(worse, key=lambda one: -sizes[one]):
            factors = ", ".join(f"{name} {value:.3g}" for name, value in where[number].items())
            click.echo(f"  worse, {sizes[number]:.3f}: {factors}")


@click.command()
@click.option("--points", "count", default=64, show_default=True, type=click.IntRange(min=2), help="Of the space.")
@click.option("--arena", "of_arena", is_flag=True, help="The arena's space instead of the box.")
@seeds_option(8, "point")
@workers_option
@out_option
def main(count: int, of_arena: bool, seeds: int, workers: int | None, out: Path) -> None:
    """Measure, print, and write CSV."""
    where = [point | PLAIN_SIZES for point in sample(count, SAMPLE_SEED)] if of_arena else points(count)
    base = BASE if of_arena else "cpu-bound"
    cells = [
        Cell({"of": name, "point": number, "policy": weighting}, base,
             {**(settings_of(point, QUICK.tasks_per_core, QUICK.least_tasks) if of_arena else settings(point)),
              "policy.name": name, **chosen})
        for number, point in enumerate(where)
        for name in POLICIES
        for weighting, chosen in WEIGHTINGS.items()
    ]  # fmt: skip
    runs = run_cells(cells, range(1, 1 + seeds), ("mean_slowdown",), "adaptive", workers)
    out.mkdir(parents=True, exist_ok=True)
    means = runs.pivot_table(index=["of", "point"], columns="policy", values="mean_slowdown", sort=False).reset_index()
    table = pd.DataFrame(where).rename_axis("point").reset_index().merge(means, on="point")
    table.rename(columns={"of": "policy"}).to_csv(
        out / f"adaptive-weights{'-arena' if of_arena else ''}.csv", index=False, float_format="%.4g"
    )
    for rival in ("defaults", "equal"):
        tell(runs, where, rival)


if __name__ == "__main__":
    main()
