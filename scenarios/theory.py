"""Runs beside queueing theory: docs/validation/theory.md.

    python scenarios/theory.py --out docs/validation

Each point is a cluster of the scenario `textbook` under a policy whose mean response theory knows (queueing/points.py).
Prints the table, or with --json one document, and writes `theory.csv` and `theory.png`. Twelve seeds take ten minutes
on two cores; `--quick` takes one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from queueing import limits
from queueing.points import EXACT, LIMIT, REFINED, all_points, few_points
from queueing.runs import AGREES, measure
from script_options import draw_option, measured, out_option, seeds_option, workers_option

from cluster_abm.limits import available_processors
from cluster_abm.results.colours import REMARK
from cluster_abm.results.looks import looks_of, series_looks
from cluster_abm.results.style import error_bars, legend_below, log_ticks, new_figure, save, tidy

QUICK_SEEDS, HIGH = 4, 0.9
LABELS = {"power-of-d": "JSQ(2)", "jiq": "JIQ", "jsq": "JSQ"}


def draw(table: pd.DataFrame, path: Path) -> None:
    """Differences of all exact points; mean response over nodes, and over the period of reports."""
    figure = new_figure(12, 5.5, "Runs of `textbook` beside queueing theory")
    exact, nodes, periods = figure.subplots(1, 3, width_ratios=[1.3, 1, 1])
    draw_differences(exact, table[table["kind"] == EXACT])
    at_high = table[table["load"] == HIGH]
    draw_nodes(nodes, at_high[at_high["kind"].isin([LIMIT, REFINED]) & ~at_high["system"].str.contains("reports")])
    draw_periods(periods, at_high[at_high["system"].str.contains("reports")])
    legend_below(figure, *exact.get_legend_handles_labels())
    save(figure, path)


def draw_differences(axes: Any, own: pd.DataFrame) -> None:
    """A line for each system, with the interval of each of its points by load: (run - theory)/theory."""
    systems = list(dict.fromkeys(own["system"]))
    places = {system: -float(place) for place, system in enumerate(systems)}
    loads = sorted(own["load"].unique())
    looks = series_looks([f"load {load:g}" for load in loads])
    for number, (load, look) in enumerate(zip(loads, looks, strict=True)):
        rows = own[own["load"] == load]
        # Points of one system beside each other, those of a load together.
        beside = rows.groupby("system", sort=False).cumcount() / rows.groupby("system")["system"].transform("size")
        y = rows["system"].map(places) + 0.35 - 0.27 * (number + beside)
        theory = rows["theory_s"]
        mean, low, high = (100 * (rows[name] / theory - 1) for name in ("mean_s", "verdict_low_s", "verdict_high_s"))
        style = {**looks[look], "linestyle": "none"}
        arms = [(mean - low).tolist(), (high - mean).tolist()]
        axes.errorbar(mean, y, xerr=arms, label=look, markersize=3, linewidth=0.8, capsize=1.5, **style)
    axes.axvline(0.0, color=REMARK, linewidth=0.8)
    tidy(axes, "exact theory", "mean response: run over theory - 1 [%]", "", grid="x")
    axes.set_yticks(list(places.values()), systems)


def draw_nodes(axes: Any, own: pd.DataFrame) -> None:
    """Mean response over the number of nodes, beside the limit of many."""
    many, counts = limits.shortest_of_two(HIGH), np.geomspace(12, 400, 50)
    policies = list(dict.fromkeys(own["policy"]))
    looks = looks_of(policies)
    for policy in policies:
        rows, look = own[own["policy"] == policy], looks[policy]
        limit = many.limit if policy == "power-of-d" else float(rows["theory_s"].iloc[0])
        axes.axhline(limit, color=look["color"], linewidth=0.9, linestyle=":")
        line = (rows[name].to_numpy(float) for name in ("nodes", "mean_s", "verdict_low_s", "verdict_high_s"))
        error_bars(axes, *line, **{**look, "linestyle": "none"})
        axes.annotate(
            LABELS[policy], (rows["nodes"].iloc[0], rows["mean_s"].iloc[0]), xytext=(8, 4), textcoords="offset points"
        )
    axes.plot(counts, [many.response(count) for count in counts], color=looks["power-of-d"]["color"], linewidth=0.9)
    tidy(axes, f"many nodes, load {HIGH:g}", "nodes", "mean response [s]")
    log_ticks(axes)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("nodes (dotted: limit; solid: with its 1/n term)")


def draw_periods(axes: Any, own: pd.DataFrame) -> None:
    """Mean response over the period of reports, beside the bulletin board."""
    own = own.assign(period=own["system"].str.extract(r"every ([\d.]+) s", expand=False).astype(float))
    policies = list(dict.fromkeys(own["policy"]))
    looks = looks_of(policies)
    for policy in policies:
        rows = own[own["policy"] == policy]
        most = rows[rows["nodes"] == rows["nodes"].max()]
        style = {**looks[policy], "linestyle": "none"}
        line = (most[name].to_numpy(float) for name in ("period", "mean_s", "verdict_low_s", "verdict_high_s"))
        error_bars(axes, *line, **style)
        axes.plot(most["period"], most["theory_s"], color=style["color"], linewidth=0.9, linestyle=":")
        label, offset = f"{LABELS[policy]}, {most['nodes'].iloc[0]:,} nodes", -44 if policy == "power-of-d" else 8
        end = (most["period"].iloc[-1], most["mean_s"].iloc[-1])
        axes.annotate(label, end, xytext=(-8, offset), textcoords="offset points", ha="right")
    tidy(axes, f"stale reports, load {HIGH:g}", "reports every [s] (dotted: bulletin board)", "mean response [s]")
    log_ticks(axes)
    axes.set_ylim(bottom=0)


def by_system(table: pd.DataFrame) -> pd.DataFrame:
    """A row for each system and kind of theory: its points, those that agree, and the largest difference [%]."""
    own = table.assign(
        agrees=table["verdict"] == AGREES, largest=table["difference_percent"].abs(),
        arm=100 * (table["verdict_high_s"] - table["verdict_low_s"]) / 2 / table["theory_s"],
    )  # fmt: skip
    found = own.groupby(["system", "kind"], sort=False).agg(
        points=("system", "size"), agrees=("agrees", "sum"), largest_difference_percent=("largest", "max"),
        widest_half_interval_percent=("arm", "max"),
    )  # fmt: skip
    return found.reset_index()


def counted(table: pd.DataFrame) -> str:
    """How many points have which verdict, in a line."""
    return "; ".join(f"{verdict}: {count}" for verdict, count in table["verdict"].value_counts().items())


@click.command()
@seeds_option(12, "point")
@workers_option
@click.option("--quick", is_flag=True, help="A smoke run: one load, few nodes, four seeds, no picture.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@out_option
@draw_option
def main(seeds: int, workers: int | None, quick: bool, as_json: bool, out: Path, only_draws: bool) -> None:
    """Measure, print, and write theory.csv and theory.png."""
    if only_draws:
        draw(measured(out / "theory.csv"), out / "theory.png")
        return
    points, seeds = (few_points(), QUICK_SEEDS) if quick else (all_points(), seeds)
    table = measure(points, seeds, workers or available_processors())
    out.mkdir(parents=True, exist_ok=True)
    table.to_csv(out / "theory.csv", index=False, float_format="%.6g")
    if not quick:
        draw(table, out / "theory.png")
    if as_json:
        click.echo(json.dumps({"seeds": seeds, "rows": table.to_dict("records")}, indent=1))
        return
    shown = table.drop(columns=["kind", "verdict_low_s", "verdict_high_s"])
    click.echo(shown.to_string(index=False, float_format=lambda value: f"{value:.4g}"))
    click.echo("\n" + by_system(table).to_string(index=False, float_format=lambda value: f"{value:.2f}"))
    click.echo(counted(table))


if __name__ == "__main__":
    main()
