"""What preemptive migration adds to IOLB: docs/papers/iolb-pm.md.

    python scenarios/iolb_pm.py --out docs/papers

IOLB's paper leaves preemption to others. Four works, each under IOLB and under `iolb-pm`, which also migrates a running
task, with both CPU indices; WAL-PM beside them. Writes `iolb-pm.csv` and `.png`.
"""

from __future__ import annotations

from pathlib import Path

import click
import pandas as pd
from script_options import draw_option, measured, out_option, seeds_option, workers_option

from cluster_abm.results.looks import looks_of
from cluster_abm.results.style import error_bars, legend_below, log_ticks, new_figure, save, tidy
from cluster_abm.study.cells import Cell, means, ratio_of, run_cells

QUEUE: dict[str, object] = {"policy.index": "queue"}
POLICIES: dict[str, dict[str, object]] = {
    "iolb": {"policy.name": "iolb"},
    "iolb-pm": {"policy.name": "iolb-pm"},
    "iolb (queue)": {"policy.name": "iolb", **QUEUE},
    "iolb-pm (queue)": {"policy.name": "iolb-pm", **QUEUE},
    "wal-pm": {"policy.name": "wal-pm"},
}
EXPONENTIAL: dict[str, object] = {"workload.cpu_ms": {"kind": "exponential", "mean": 370.0}}
# Title, scenario, its settings, the axis with its label.
Work = tuple[str, str, dict[str, object], str, tuple[float, ...], str]
MEAN_RATE, FAULTS = "mean I/O rate λ [accesses per ms of CPU]", "page-fault rate μ [faults per ms of CPU]"
RATE, FAULT_RATE = "workload.io_per_ms.mean", "cluster.page_fault_rate_per_ms"
WORKS: tuple[Work, ...] = (
    ("heavy-tailed lifetimes, I/O (WAL-PM Fig. 2)", "wal-pm-fig2", {}, RATE, (0.8, 1.1, 1.4), MEAN_RATE),
    ("the same, exponential lifetimes", "wal-pm-fig2", EXPONENTIAL, RATE, (0.8, 1.1, 1.4), MEAN_RATE),
    ("parallel jobs, I/O (IOLB Table 1)", "iolb-table-1", {}, RATE, (0.8, 1.0, 1.25), MEAN_RATE),
    ("parallel jobs, memory (IOLB Table 2)", "iolb-table-2", {}, FAULT_RATE, (2.6, 3.0, 3.5), FAULTS),
)
PAIRS = (("iolb-pm", "iolb"), ("iolb-pm (queue)", "iolb (queue)"), ("iolb-pm (queue)", "wal-pm"))


def measure(seeds: int, workers: int | None) -> pd.DataFrame:
    """A row a run: work, policy, x, seed, mean slowdown and migrations."""
    cells = [
        Cell({"work": title, "policy": policy, "x": x}, scenario, {**settings, **chosen, key: x})
        for title, scenario, settings, key, points, _ in WORKS
        for policy, chosen in POLICIES.items()
        for x in points
    ]
    return run_cells(cells, range(1001, 1001 + seeds), ["mean_slowdown", "migrations"], "iolb-pm", workers)


def draw(table: pd.DataFrame, path: Path, seeds: int) -> None:
    """A panel a work, a line a policy."""
    figure = new_figure(12, 8, f"IOLB with and without preemptive migration ({seeds} seeds, bars: 95 %)")
    looks = looks_of(list(POLICIES))
    panels = figure.subplots(2, 2).flat
    for axes, (title, _, _, _, _, label) in zip(panels, WORKS, strict=True):
        own = table[table["work"] == title]
        for policy, line in own.groupby("policy", sort=False):
            curve = (line["x"], line["mean"], line["low"], line["high"])
            error_bars(axes, *curve, label=str(policy), **looks[str(policy)])
        tidy(axes, title, label, "mean slowdown")
        # No slowdown is below 1, whatever the arithmetic of an interval says.
        axes.set_ylim(bottom=max(0.95, axes.get_ylim()[0]))
        log_ticks(axes, of_y=True)
        axes.set_xticks(sorted(own["x"].unique()))
    handles, labels = axes.get_legend_handles_labels()
    legend_below(figure, handles, labels)
    save(figure, path)


@click.command()
@seeds_option(6, "point")
@workers_option
@out_option
@draw_option
def main(seeds: int, workers: int | None, out: Path, only_draws: bool) -> None:
    """Measure, print, and write CSV and PNG."""
    if only_draws:
        draw(measured(out / "iolb-pm.csv"), out / "iolb-pm.png", seeds)
        return
    runs = measure(seeds, workers)
    table = means(runs, ["work", "policy", "x"], "mean_slowdown", "migrations")
    out.mkdir(parents=True, exist_ok=True)
    table.to_csv(out / "iolb-pm.csv", index=False, float_format="%.4g")
    draw(table, out / "iolb-pm.png", seeds)
    click.echo(table.pivot_table(index=["work", "x"], columns="policy", values="mean", sort=False).round(2).to_string())
    for work in runs["work"].unique():
        own = runs[runs["work"] == work]
        for a, b in PAIRS:
            click.echo(f"{work}: {a}/{b} {ratio_of(own, a, b, 'mean_slowdown', ['x'])}")


if __name__ == "__main__":
    main()
