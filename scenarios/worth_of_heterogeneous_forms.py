"""What the heterogeneous form of each policy is worth: over what is unlike, how unlike it is, and the load.

    python scenarios/worth_of_heterogeneous_forms.py --out docs/papers

Sixteen nodes; half of them have `degree` times as much of one thing as the others, at the same total: CPU speed under
computing jobs, disk rate under I/O-intensive ones, memory under jobs that need it. Both forms of a policy get the same
jobs. Writes `unlike-nodes.csv` and `.png`. What comes out is discussed in docs/papers/unlike-nodes.md.
"""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import click
import numpy as np
import pandas as pd
from script_options import draw_option, measured, out_option, seeds_option, workers_option

from cluster_abm import load_scenario
from cluster_abm.results.colours import REMARK
from cluster_abm.results.looks import series_looks
from cluster_abm.results.style import legend_below, log_ticks, new_figure, save, tidy
from cluster_abm.study.runner.tasks import SeededRun, run_all
from cluster_abm.study.statistics.estimates import estimate

NODES, CPU_MS, IO_PER_MS, REQUEST_MS = 16, 1000.0, 0.3, 10.5
SEEK_MS, DISK_MB_PER_S, MEMORY_MB = 8.0, 40.0, 100.0
# The busy part of all the CPUs, or of all the disks where they are unlike.
LOADS = (0.35, 0.7)
DEGREES = (2.0, 4.0)
UNLIKE = ("cpu", "disk", "memory")
TITLES = {"cpu": "unlike CPU speeds", "disk": "unlike disks", "memory": "unlike memories"}
ADAPTIVE: dict[str, object] = {"policy.adaptive": True}
BY_QUEUE: dict[str, object] = {"policy.index": "queue"}
POLICIES: dict[str, dict[str, object]] = {
    "random": {}, "round-robin": {}, "batch-system": {}, "jsq": {}, "power-of-d": {}, "cpu-based": {},
    "memory-based": {}, "io-re": {}, "cm-re": {}, "wal-re": ADAPTIVE, "iocm-re": {}, "clb": {}, "clb (queue)": BY_QUEUE,
    "mlb (queue)": BY_QUEUE, "iolb": {}, "iolb (queue)": BY_QUEUE, "hbd": {}, "cm-pm": {}, "io-pm": {},
    "wal-pm": ADAPTIVE, "iocm-pm": {},
}  # fmt: skip
CASE = ["unlike", "degree", "load", "policy"]


def nodes(unlike: str, degree: float) -> list[dict[str, object]]:
    """The two halves: `degree` times as much in one as in the other, and the mean as if all were alike."""
    groups: list[dict[str, object]] = []
    for share in (2.0 / (1.0 + degree), 2.0 * degree / (1.0 + degree)):
        keys = {
            "cpu": {"cpu_speed": share},
            "disk": {"disk_seek_rotation_ms": SEEK_MS / share, "disk_mb_per_s": DISK_MB_PER_S * share},
            "memory": {"memory_mb": MEMORY_MB * share},
        }
        groups.append({"count": NODES // 2, **keys[unlike]})
    return groups


def task(
    unlike: str, degree: float, load: float, policy: str, heterogeneous: bool, seed: int, duration_s: float
) -> SeededRun:
    """One run of a case."""
    io_per_ms = IO_PER_MS if unlike == "disk" else 0.0
    busy_ms = CPU_MS * IO_PER_MS * REQUEST_MS if unlike == "disk" else CPU_MS
    settings = {
        "cluster.nodes": NODES,
        "cluster.group": nodes(unlike, degree),
        "cluster.memory_mb": MEMORY_MB if unlike == "memory" else 640.0,
        "cluster.buffer_in_memory": False,
        "cluster.page_fault_law": "overflow",
        "negotiation.mode": "papers",
        "workload.duration_s": duration_s,
        "workload.jobs_per_s": load * NODES * 1000.0 / busy_ms,
        "workload.cpu_ms.mean": CPU_MS,
        "workload.io_per_ms": {"kind": "uniform", "mean": io_per_ms},
        "workload.memory_mb": {"kind": "exponential", "mean": 25.0 if unlike == "memory" else 1.0},
        "workload.tasks.parallel_share": 0.0,
        "workload.home": {"kind": "uniform"},
        "policy.name": policy.split()[0],
        "policy.index": "remaining",
        "policy.heterogeneous": heterogeneous,
        **POLICIES[policy],
    }
    return SeededRun(load_scenario("unlike-nodes", settings), seed)


def measure(policies: list[str], seeds: int, duration_s: float, workers: int | None) -> pd.DataFrame:
    """Mean responses of both forms [s], and plain over heterogeneous with its 95 % interval: a row a case."""
    cases = list(product(UNLIKE, DEGREES, LOADS, policies))
    tasks = [
        task(*case, heterogeneous, seed, duration_s)
        for case in cases
        for heterogeneous in (False, True)
        for seed in range(1, 1 + seeds)
    ]
    outcome = run_all(tasks, workers, label="forms")
    if outcome.interrupted or outcome.errors:
        raise SystemExit("\n".join(outcome.errors) or "interrupted")
    found = [row["mean_response_ms"] for row in outcome.rows if row is not None]
    responses_s = np.asarray(found, float).reshape(len(cases), 2, seeds) / 1000.0
    rows = []
    for case, (plain, heterogeneous) in zip(cases, responses_s, strict=True):
        # Seed by seed on the same jobs; of a ratio it is the logarithm that is symmetrical.
        gain = estimate(np.log(plain / heterogeneous).tolist())
        low, high = gain.ci95 or (math.nan, math.nan)
        rows.append((*case, plain.mean(), heterogeneous.mean(), math.exp(gain.mean), math.exp(low), math.exp(high)))
    return pd.DataFrame(rows, columns=[*CASE, "plain_s", "heterogeneous_s", "ratio", "low", "high"])


RATIO = "mean response, plain form over heterogeneous [1]"


def draw(table: pd.DataFrame, path: Path, seeds: int) -> None:
    """A panel for each thing that is unlike and each load: policies down, ratios across, a mark a degree."""
    figure = new_figure(
        13, 9.5, f"Mean response, plain form over heterogeneous form ({NODES} nodes, {seeds} seeds, 95 %)"
    )
    panels = figure.subplots(len(LOADS), len(UNLIKE), sharey=True)
    looks = series_looks([f"unlike by 1:{degree:g}" for degree in DEGREES])
    names = list(table["policy"].unique())[::-1]
    for row, load in enumerate(LOADS):
        for panel, unlike in zip(panels[row], UNLIKE, strict=True):
            for offset, degree, (words, look) in zip((-0.15, 0.15), DEGREES, looks.items(), strict=True):
                chosen = table[(table["load"] == load) & (table["unlike"] == unlike) & (table["degree"] == degree)]
                ratios = chosen.set_index("policy").loc[names]
                panel.errorbar(
                    ratios["ratio"], np.arange(len(names)) + offset, linewidth=1.2,
                    **(look | {"linestyle": "none", "markersize": 4, "label": words}),
                    xerr=[ratios["ratio"] - ratios["low"], ratios["high"] - ratios["ratio"]],
                )  # fmt: skip
            panel.axvline(1.0, color=REMARK, linewidth=0.8)
            panel.set_yticks(range(len(names)), names)
            tidy(panel, f"{TITLES[unlike]}, load {load:g}", RATIO if row == len(LOADS) - 1 else "", "", grid="x")
            log_ticks(panel)
    handles, labels = panels[0][0].get_legend_handles_labels()
    legend_below(figure, handles, labels)
    save(figure, path)


@click.command()
@seeds_option(5, "case")
@click.option("--duration", "duration_s", default=160.0, show_default=True, help="Time during which jobs come [s].")
@click.option("--policies", default=",".join(POLICIES), help="Some of the policies, joined by commas.")
@workers_option
@out_option
@draw_option
def main(seeds: int, duration_s: float, policies: str, workers: int | None, out: Path, only_draws: bool) -> None:
    """Measure both forms of each policy, print them, and write them as CSV and PNG."""
    if only_draws:
        draw(measured(out / "unlike-nodes.csv"), out / "unlike-nodes.png", seeds)
        return
    table = measure(policies.split(","), seeds, duration_s, workers)
    out.mkdir(parents=True, exist_ok=True)
    table.to_csv(out / "unlike-nodes.csv", index=False, float_format="%.4g")
    draw(table, out / "unlike-nodes.png", seeds)
    click.echo(table.to_string(index=False, float_format=lambda value: f"{value:.3g}"))


if __name__ == "__main__":
    main()
