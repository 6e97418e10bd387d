"""IOLB that balances network load as well: docs/papers/network-load.md.

    python scenarios/network_load.py --out docs/papers

Jobs of IOCM's I/O-intensive work without barriers, whose data has to follow a task that starts elsewhere, on 32 nodes
at one switch; transfers share the links. Swept are the links' bandwidth and the mean data. Writes `network-load.csv`
and `.png`.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import click
import pandas as pd
from script_options import draw_option, measured, out_option, seeds_option, workers_option

from cluster_abm.results.looks import looks_of
from cluster_abm.results.style import error_bars, legend_below, log_ticks, new_figure, save, tidy
from cluster_abm.study.cells import Cell, means, ratio_of, run_cells

MBPS = (10.0, 100.0, 1024.0)
DATA_MB = (1.0, 5.0, 15.0, 60.0)
POLICIES = ("none", "iolb", "iolb-net")
WAYS = {"true loads": "papers", "reports every second": "negotiated"}
BASE: dict[str, object] = {
    "workload.duration_s": 900.0, "workload.tasks.parallel_share": 0.3, "workload.tasks.barrier_ms": 0.0,
    "interconnect.kind": "star", "interconnect.mode": "contended",
}  # fmt: skip
METRICS = ("mean_slowdown", "remote_executions", "breakdown_ms.migration")


def measure(seeds: int, workers: int | None) -> pd.DataFrame:
    """A row a run."""
    cells = [
        Cell(
            {"way": way, "mbps": mbps, "data_mb": data_mb, "policy": policy},
            "iocm-io",
            {
                **BASE, "policy.name": policy, "interconnect.bandwidth_mbps": mbps, "negotiation.mode": WAYS[way],
                "workload.initial_data_mb": {"kind": "exponential", "mean": data_mb},
            },
        )
        for way, mbps, data_mb, policy in product(WAYS, MBPS, DATA_MB, POLICIES)
    ]  # fmt: skip
    return run_cells(cells, range(1001, 1001 + seeds), METRICS, "network load", workers)


def draw(table: pd.DataFrame, path: Path, seeds: int) -> None:
    """A panel a bandwidth and way, a line a policy."""
    figure = new_figure(12, 7, f"IOLB with and without the load of the links ({seeds} seeds, bars: 95 %)")
    looks = looks_of(POLICIES)
    panels = figure.subplots(len(WAYS), len(MBPS), sharey=True)
    for (row, way), (column, mbps) in product(enumerate(WAYS), enumerate(MBPS)):
        axes = panels[row][column]
        own = table[(table["way"] == way) & (table["mbps"] == mbps)]
        for policy, line in own.groupby("policy", sort=False):
            curve = (line["data_mb"], line["mean"], line["low"], line["high"])
            error_bars(axes, *curve, label=str(policy), **looks[str(policy)])
        tidy(axes, f"{mbps:,g} Mbit/s, {way}", "mean data of a task [MB]", "" if column else "mean slowdown")
        log_ticks(axes)
        axes.set_xticks(DATA_MB, [f"{data:g}" for data in DATA_MB])
        axes.minorticks_off()
    legend_below(figure, *panels[0][0].get_legend_handles_labels())
    save(figure, path)


@click.command()
@seeds_option(8, "point")
@workers_option
@out_option
@draw_option
def main(seeds: int, workers: int | None, out: Path, only_draws: bool) -> None:
    """Measure, print, and write CSV and PNG."""
    if only_draws:
        draw(measured(out / "network-load.csv"), out / "network-load.png", seeds)
        return
    runs = measure(seeds, workers)
    by = ["way", "mbps", "data_mb", "policy"]
    table = means(runs, by, *METRICS)
    out.mkdir(parents=True, exist_ok=True)
    table.to_csv(out / "network-load.csv", index=False, float_format="%.4g")
    draw(table, out / "network-load.png", seeds)
    shown = table.pivot_table(index=["way", "mbps", "data_mb"], columns="policy", values="mean", sort=False)
    click.echo(shown.round(2).to_string())
    for (way, mbps, data_mb), own in runs.groupby(["way", "mbps", "data_mb"], sort=False):
        ratio = ratio_of(own, "iolb-net", "iolb", "mean_slowdown")
        click.echo(f"{way}, {mbps:g} Mbps, {data_mb:g} MB: iolb-net/iolb {ratio} {ratio.word}")


if __name__ == "__main__":
    main()
