"""Where preemptive migration pays: WAL-PM against remote execution, over load, cost and the shape of the work.

    python scenarios/map_preemptive_migration.py --out docs/papers

Everything but what is swept is `wal-pm-fig2`: six nodes, I/O rates uniform up to 2.6 per ms. Writes
`preemptive-migration.csv` and `.png`; 4 seeds take four minutes on two cores. What comes out is discussed in
docs/papers/preemptive-migration.md.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import click
import numpy as np
import pandas as pd
from script_options import draw_option, measured, out_option, seeds_option, workers_option

from cluster_abm import load_scenario
from cluster_abm.results.colours import ink_on
from cluster_abm.results.load_scale import shades_of_ratios
from cluster_abm.results.style import new_figure, save
from cluster_abm.study.runner.tasks import SeededRun, run_all

WORKS: dict[str, dict[str, object]] = {
    "heavy-tailed, uneven homes": {},
    "heavy-tailed, even homes": {"workload.home": {"kind": "uniform"}},
    "exponential, uneven homes": {"workload.cpu_ms": {"kind": "exponential", "mean": 370.0}},
}
# Part of what the disks can do that is offered to them during the window, if no access hits the buffer.
DISK_LOADS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
DATA_MB = (0.0, 1.0, 5.0, 15.0)
RIVALS = ("wal-re", "iolb")
NODES, MEAN_CPU_MS, MEAN_IO_PER_MS, REQUEST_MS = 6, 370.0, 1.3, 10.5


def jobs_per_s(disk_load: float) -> float:
    """The submission rate that offers so much to the disks."""
    return disk_load * NODES * 1000.0 / (MEAN_CPU_MS * MEAN_IO_PER_MS * REQUEST_MS)


def cells() -> list[tuple[str, float, float, str]]:
    """Work, disk load, data [MB] and policy of every cell of the map."""
    return list(product(WORKS, DISK_LOADS, DATA_MB, ("wal-pm", *RIVALS)))


def task(work: str, disk_load: float, data_mb: float, policy: str, seed: int) -> SeededRun:
    """One run of a cell."""
    settings = {
        "workload.reaccess_rate": 0.0,
        "workload.jobs_per_s": jobs_per_s(disk_load),
        "workload.initial_data_mb": {"kind": "uniform", "mean": data_mb},
        "policy.name": policy,
        "policy.index": "queue",
        **WORKS[work],
    }
    return SeededRun(load_scenario("wal-pm-fig2", settings), seed)


def measure(seeds: int, workers: int | None) -> pd.DataFrame:
    """Mean slowdowns: one row a work, load and amount of data, one column a policy, and the ratios to wal-pm."""
    everything = cells()
    tasks = [task(*cell, seed) for cell in everything for seed in range(1, 1 + seeds)]
    outcome = run_all(tasks, workers, label="map")
    if outcome.interrupted or outcome.errors:
        raise SystemExit("\n".join(outcome.errors) or "interrupted")
    found = [row["mean_slowdown"] for row in outcome.rows if row is not None]
    means = np.asarray(found, float).reshape(len(everything), seeds).mean(axis=1)
    rows = pd.DataFrame(everything, columns=["work", "disk_load", "data_mb", "policy"]).assign(slowdown=means)
    table = rows.pivot_table(index=["work", "disk_load", "data_mb"], columns="policy", values="slowdown", sort=False)
    for rival in RIVALS:
        table[f"{rival} / wal-pm"] = table[rival] / table["wal-pm"]
    return table.reset_index()


def draw(table: pd.DataFrame, path: Path, seeds: int) -> None:
    """A map for each work and rival: the ratio of mean slowdowns, written into each cell."""
    from matplotlib.colors import LogNorm

    title = f"Mean slowdown under remote execution as a multiple of WAL-PM's ({NODES} nodes, {seeds} seeds)"
    figure = new_figure(13, 7.6, title)
    panels = figure.subplots(len(RIVALS), len(WORKS), sharex=True, sharey=True)
    # A ratio of 1, where neither is better, is white.
    image, shades, scale = None, shades_of_ratios(), LogNorm(1 / 20, 20)
    for row, rival in enumerate(RIVALS):
        for panel, work in zip(panels[row], WORKS, strict=True):
            ratios = table[table["work"] == work].pivot_table(
                index="disk_load", columns="data_mb", values=f"{rival} / wal-pm"
            )
            image = panel.imshow(ratios, origin="lower", cmap=shades, norm=scale, aspect="auto")
            for (y, x), ratio in np.ndenumerate(ratios.to_numpy()):
                panel.text(x, y, f"{ratio:.1f}", ha="center", va="center", color=ink_on(shades(scale(ratio))))
            panel.set_xticks(range(len(DATA_MB)), [f"{data:g}" for data in DATA_MB])
            panel.set_yticks(range(len(DISK_LOADS)), [f"{load:g}" for load in DISK_LOADS])
            panel.set_title(f"{rival}, {work}", fontsize=10)
            panel.set_xlabel("mean data that must follow a job [MB]" if row == len(RIVALS) - 1 else "")
        panels[row][0].set_ylabel("load offered to the disks [1]")
    bar = figure.colorbar(image, ax=panels, label="slowdown / WAL-PM's slowdown", ticks=[0.5, 1, 2, 5, 10, 20])
    bar.ax.set_yticklabels(["0.5", "1", "2", "5", "10", "20"])
    bar.ax.minorticks_off()
    bar.ax.set_ylim(0.5, 20)
    save(figure, path)


@click.command()
@seeds_option(4, "cell")
@workers_option
@out_option
@draw_option
def main(seeds: int, workers: int | None, out: Path, only_draws: bool) -> None:
    """Measure the map, print it, and write it as CSV and PNG."""
    if only_draws:
        draw(measured(out / "preemptive-migration.csv"), out / "preemptive-migration.png", seeds)
        return
    table = measure(seeds, workers)
    out.mkdir(parents=True, exist_ok=True)
    table.to_csv(out / "preemptive-migration.csv", index=False, float_format="%.4g")
    draw(table, out / "preemptive-migration.png", seeds)
    click.echo(table.to_string(index=False, float_format=lambda value: f"{value:.3g}"))


if __name__ == "__main__":
    main()
