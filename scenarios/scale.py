"""Do the papers' conclusions hold on clusters beyond 1,000 nodes: docs/papers/scale.md.

    python scenarios/scale.py --out docs/papers

The conclusions of scenarios/published/conclusions.toml that name a window (`scale_s`), at the first of their points, on
clusters of about 32, 256, 1,024 and 4,096 nodes with as much work a node. Larger clusters have fewer seeds: each of
their runs sees as many more jobs. Writes `scale.csv` and `.png`.
"""

from __future__ import annotations

from pathlib import Path

import click
import pandas as pd
from conclusions import Conclusion, distinct, load_conclusions
from script_options import draw_option, measured, out_option, workers_option

from cluster_abm import load_scenario
from cluster_abm.results.colours import INK
from cluster_abm.results.looks import series_looks
from cluster_abm.results.style import error_bars, legend_below, log_ticks, new_figure, save, tidy
from cluster_abm.study.cells import Ratio, run_cells

SIZES = {32: 64, 256: 12, 1024: 4, 4096: 3}
"""nodes, and seeds of each"""


def enlarged(conclusion: Conclusion, nodes: int) -> dict[str, object]:
    """Settings that give a cluster of about so many nodes the same work a node, in a window of the conclusion's.

    A scenario with a weight for every home keeps its pattern of homes: it is repeated as often as it fits.
    """
    base = load_scenario(conclusion.scenario, dict(conclusion.settings))
    weights = base.workload.home.weights if base.workload.home.kind == "weights" else ()
    if weights:
        nodes = max(1, round(nodes / len(weights))) * len(weights)
    assert base.workload.jobs_per_s is not None  # of every scenario that names a window
    settings: dict[str, object] = {
        "cluster.nodes": nodes,
        "workload.jobs_per_s": base.workload.jobs_per_s * nodes / base.cluster.nodes,
        "workload.duration_s": conclusion.scale_s,
    }
    if weights:
        settings["workload.home"] = {"kind": "weights", "weights": list(weights) * (nodes // len(weights))}
    return settings


def measure(conclusions: list[Conclusion], nodes: int, seeds: int, workers: int | None) -> pd.DataFrame:
    """Every conclusion on one size: ratio of the better policy's metric to the worse one's, with its interval."""
    cells = distinct(
        cell
        for conclusion in conclusions
        for cell in conclusion.cells({}, enlarged(conclusion, nodes), conclusion.points[:1])
    )
    metrics = {conclusion.metric for conclusion in conclusions}
    wanted = [*sorted(metrics), "remote_executions", "migrations", "jobs.finished"]
    runs = run_cells(cells, range(1, 1 + seeds), wanted, f"{nodes} nodes", workers)
    rows = []
    for conclusion in conclusions:
        ratio = conclusion.ratio(runs)
        own = runs[(runs["runs"] == conclusion.runs) & (runs["policy"] == conclusion.better)]
        moved = (own["remote_executions"] + own["migrations"]).sum() / own["jobs.finished"].sum()
        rows.append(
            {
                "paper": conclusion.paper, "better": conclusion.better, "worse": conclusion.worse, "nodes": nodes,
                "seeds": seeds, "ratio": ratio.mean, "low": ratio.low, "high": ratio.high, "holds": ratio.word,
                "metric_of_better": own[conclusion.metric].mean(), "moves_per_job": moved,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def draw(table: pd.DataFrame, path: Path) -> None:
    """Left the ratios over the number of nodes, right how many tasks the better policy moves a job."""
    figure = new_figure(12, 7, "The papers' conclusions on larger clusters, as much work a node (bars: 95 %)")
    ratios, moves = figure.subplots(1, 2)
    # Each line is a pair of policies, and looks like none.
    names = table["paper"] + ": " + table["better"] + " / " + table["worse"]
    looks = series_looks(list(names.unique()))
    for name, own in table.groupby(names, sort=False):
        style = looks[str(name)] | {"markersize": 5, "label": name}
        error_bars(ratios, own["nodes"], own["ratio"], own["low"], own["high"], linewidth=1.2, **style)
        moves.plot(own["nodes"], own["moves_per_job"], linewidth=1.2, **style)
    ratios.axhline(1.0, color=INK, linewidth=0.8)
    ratios.set_ylim(0, min(2.0, table["high"].max() * 1.05))
    tidy(ratios, "Ratio of the metrics", "nodes", "better policy's over worse's (below 1: as the paper says)")
    tidy(moves, "Tasks moved", "nodes", "tasks moved per job under the better policy")
    for axes in (ratios, moves):
        axes.set_xscale("log", base=2)
        axes.set_xticks(sorted(table["nodes"].unique()), [f"{n:,}" for n in sorted(table["nodes"].unique())])
        axes.minorticks_off()
    log_ticks(moves, of_y=True)
    handles, labels = ratios.get_legend_handles_labels()
    legend_below(figure, handles, labels)
    save(figure, path)


@click.command()
@click.option("--most-nodes", default=4096, show_default=True, help="Leave out larger clusters.")
@workers_option
@out_option
@draw_option
def main(most_nodes: int, workers: int | None, out: Path, only_draws: bool) -> None:
    """Measure, print, and write CSV and PNG."""
    if only_draws:
        draw(measured(out / "scale.csv"), out / "scale.png")
        return
    conclusions = [conclusion for conclusion in load_conclusions() if conclusion.scale_s is not None]
    out.mkdir(parents=True, exist_ok=True)
    table = pd.DataFrame()
    for nodes, seeds in SIZES.items():
        if nodes <= most_nodes:
            # What smaller clusters have given is kept, whatever becomes of the largest.
            table = pd.concat([table, measure(conclusions, nodes, seeds, workers)], ignore_index=True)
            table.to_csv(out / "scale.csv", index=False, float_format="%.4g")
            draw(table, out / "scale.png")
    shown = table.assign(
        cell=[str(Ratio(*row)) for row in table[["ratio", "low", "high"]].itertuples(index=False)]
    ).pivot_table(index=["paper", "better", "worse"], columns="nodes", values="cell", aggfunc="first", sort=False)
    click.echo(shown.to_string())


if __name__ == "__main__":
    main()
