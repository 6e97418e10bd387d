"""What stale information does to each policy: mean response over the age of reports, their loss, and distance.

    python scenarios/herding.py --out docs/papers

The scenario is `stale-views`; swept are the period of reports, the share of messages that get lost, and the latency of
wide-area links between four clusters of eight nodes. Each policy once as a dispatcher that no node refuses, once with
negotiation. Writes `herding.csv` and `.png`; 4 seeds take five minutes on two cores.
docs/papers/herding.md discusses it.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import click
import pandas as pd
from script_options import draw_option, measured, out_option, seeds_option, workers_option

from cluster_abm import load_scenario
from cluster_abm.results.looks import looks_of
from cluster_abm.results.style import legend_below, log_ticks, new_figure, save, tidy
from cluster_abm.study.runner.tasks import SeededRun, run_all
from cluster_abm.study.statistics.bounds import bounds_of
from cluster_abm.study.statistics.estimates import estimate

POLICIES = ("random", "power-of-d", "jsq", "wal-re", "iolb")
WAYS: dict[str, dict[str, object]] = {
    "no node refuses": {"negotiation.refusals": False},
    "asked nodes may refuse": {"negotiation.refusals": True},
}
FRESH: dict[str, object] = {"cluster.exchange_period_ms": 500.0}
FAR: dict[str, object] = {**FRESH, "interconnect.kind": "clusters", "interconnect.clusters": 4}
SWEEPS: dict[str, tuple[str, tuple[float, ...], dict[str, object]]] = {
    "period of reports [ms]": ("cluster.exchange_period_ms", (100.0, 500.0, 1000.0, 2000.0, 5000.0, 20_000.0), {}),
    "share of messages lost, reports every 500 ms": (
        "interconnect.loss_share", (0.0, 0.2, 0.5, 0.8), FRESH,
    ),
    "latency between clusters [ms], reports every 500 ms": (
        "interconnect.trunk_latency_ms", (0.0, 10.0, 50.0, 200.0, 1000.0), FAR,
    ),
}  # fmt: skip
LATENCY_TICKS = (0, 10, 100, 1000)


def cells() -> list[tuple[str, float, str, str]]:
    """Return the sweep, its value, the key of WAYS and the policy of every point."""
    return [
        (sweep, value, way, policy)
        for sweep, (_, values, _) in SWEEPS.items()
        for value, way, policy in product(values, WAYS, POLICIES)
    ]


def task(sweep: str, value: float, way: str, policy: str, seed: int) -> SeededRun:
    """One run of a point."""
    key, _, settings = SWEEPS[sweep]
    return SeededRun(load_scenario("stale-views", {**settings, **WAYS[way], key: value, "policy.name": policy}), seed)


def measure(seeds: int, workers: int | None) -> pd.DataFrame:
    """Mean responses [ms] with their 95 % intervals, a row a point."""
    everything = cells()
    tasks = [task(*cell, seed) for cell in everything for seed in range(1, 1 + seeds)]
    outcome = run_all(tasks, workers, label="herding")
    if outcome.interrupted or outcome.errors:
        raise SystemExit("\n".join(outcome.errors) or "interrupted")
    found = [row["mean_response_ms"] for row in outcome.rows if row is not None]
    rows = []
    for place, cell in enumerate(everything):
        one = estimate(found[place * seeds : (place + 1) * seeds], bounds_of("mean_response_ms"))
        low, high = one.ci95 or (float("nan"), float("nan"))
        rows.append((*cell, one.mean, low, high))
    return pd.DataFrame(rows, columns=["sweep", "value", "way", "policy", "mean_response_ms", "low", "high"])


def draw(table: pd.DataFrame, path: Path, seeds: int) -> None:
    """Draw a panel for each sweep and key of WAYS, a line a policy."""
    title = f"Mean response under stale information: 32 nodes, load 0.8, jobs of 1 s ({seeds} seeds, bands: 95 %)"
    figure = new_figure(12, 8, title)
    looks = looks_of(POLICIES)
    panels = figure.subplots(len(WAYS), len(SWEEPS), sharey=True)
    for row, way in enumerate(WAYS):
        for panel, sweep in zip(panels[row], SWEEPS, strict=True):
            for policy in POLICIES:
                own = table[(table["sweep"] == sweep) & (table["way"] == way) & (table["policy"] == policy)]
                mean, low, high = (own[name] / 1000 for name in ("mean_response_ms", "low", "high"))
                panel.plot(own["value"], mean, label=policy, markersize=4, **looks[policy])
                panel.fill_between(own["value"], low, high, color=looks[policy]["color"], alpha=0.2, linewidth=0)
            tidy(panel, way, sweep.replace(", ", ",\n"), "")
            log_ticks(panel, of_y=True)
            if "latency" in sweep:
                panel.set_xscale("symlog", linthresh=10)
                panel.set_xticks(LATENCY_TICKS, [f"{tick:,}" for tick in LATENCY_TICKS])
                panel.minorticks_off()
            elif "period" in sweep:
                log_ticks(panel)
        panels[row][0].set_ylabel("mean response [s]")
    handles, labels = panels[0][0].get_legend_handles_labels()
    legend_below(figure, handles, labels)
    save(figure, path)


@click.command()
@seeds_option(4, "point")
@workers_option
@out_option
@draw_option
def main(seeds: int, workers: int | None, out: Path, only_draws: bool) -> None:
    """Measure, print, and write CSV and PNG."""
    if only_draws:
        draw(measured(out / "herding.csv"), out / "herding.png", seeds)
        return
    table = measure(seeds, workers)
    out.mkdir(parents=True, exist_ok=True)
    table.to_csv(out / "herding.csv", index=False, float_format="%.5g")
    draw(table, out / "herding.png", seeds)
    wide = table.pivot_table(index=["sweep", "way", "value"], columns="policy", values="mean_response_ms", sort=False)
    click.echo(wide.to_string(float_format=lambda value: f"{value:,.0f}"))


if __name__ == "__main__":
    main()
