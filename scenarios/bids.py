"""Bids against offers to one node at a time, under reports of many ages: docs/papers/bids.md.

    python scenarios/bids.py --out docs/papers

Two scenarios, `quickstart` for 150 s and `stale-views` for 100 s with refusals; swept are the period of reports, and
the latency of every route. `contract-net` by IOLB's formulas stands beside `iolb` and `iolb-pm`, and by WAL-PM's beside
`wal-pm`, on the same jobs. Writes `bids.csv`, `bids-pairs.csv` and `bids.png`.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import click
import pandas as pd
from script_options import draw_option, measured, out_option, seeds_option, workers_option

from cluster_abm.results.looks import looks_of
from cluster_abm.results.style import error_bars, legend_below, log_ticks, new_figure, save, tidy
from cluster_abm.study.cells import Cell, means, run_cells
from cluster_abm.study.statistics.paired import corrected, paired

BY_IOLB, BY_WAL_PM = "bids by iolb", "bids by wal-pm"
POLICIES: dict[str, dict[str, object]] = {
    "iolb": {"policy.name": "iolb"},
    "iolb-pm": {"policy.name": "iolb-pm"},
    BY_IOLB: {"policy.name": "contract-net", "policy.formula": "iolb"},
    "wal-pm": {"policy.name": "wal-pm"},
    BY_WAL_PM: {"policy.name": "contract-net", "policy.formula": "wal-pm"},
}
WORK: dict[str, dict[str, object]] = {
    "quickstart": {"workload.duration_s": 150.0},
    "stale-views": {
        "workload.duration_s": 100.0,
        "negotiation.refusals": True,
        "negotiation.remote_execution_ms": 10.0,
    },
}
# The period of reports [s] and the latency of every route [ms].
POINTS = ((1.0, 1.0), (5.0, 1.0), (20.0, 1.0), (5.0, 50.0))
PAIRS = ((BY_IOLB, "iolb"), (BY_IOLB, "iolb-pm"), (BY_WAL_PM, "wal-pm"))
METRICS = ("mean_slowdown", "messages_per_job", "refused_offers", "remote_executions", "migrations")
BY = ["work", "period_s", "latency_ms", "policy"]


def measure(seeds: int, workers: int | None) -> pd.DataFrame:
    """A row a run."""
    cells = [
        Cell(
            {"work": work, "period_s": period_s, "latency_ms": latency_ms, "policy": policy},
            work,
            {
                **WORK[work], **POLICIES[policy], "cluster.exchange_period_ms": 1000.0 * period_s,
                "interconnect.latency_ms": latency_ms,
            },
        )
        for work, (period_s, latency_ms), policy in product(WORK, POINTS, POLICIES)
    ]  # fmt: skip
    return run_cells(cells, range(2001, 2001 + seeds), METRICS, "bids", workers)


def pairs_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Bids against offers on the same jobs, all tests together corrected by Holm: a row a pair and point."""
    found = {}
    for labels, own in runs.groupby(BY[:3], sort=False):
        wide = own.pivot_table(index="seed", columns="policy", values="mean_slowdown")
        for a, b in PAIRS:
            found[(*labels, a, b)] = paired(wide[a].tolist(), wide[b].tolist())
    rows = []
    for key, pair in corrected(found).items():
        low, high = pair.difference.ci95 or (float("nan"), float("nan"))
        rows.append((*key, pair.ratio, pair.difference.mean, low, high, pair.significant))
    return pd.DataFrame(rows, columns=[*BY[:3], "a", "b", "ratio", "difference", "low", "high", "significant"])


def draw(table: pd.DataFrame, path: Path, seeds: int) -> None:
    """A panel a scenario, a line a policy over the period of reports."""
    figure = new_figure(
        11, 5, f"Bids and offers to one node at a time: 32 nodes, latency 1 ms ({seeds} seeds, bars: 95 %)"
    )
    looks = looks_of(POLICIES)
    for axes, work in zip(figure.subplots(1, len(WORK)), WORK, strict=True):
        own = table[(table["work"] == work) & (table["latency_ms"] == 1.0)]
        for policy, line in own.groupby("policy", sort=False):
            curve = (line["period_s"], line["mean"], line["low"], line["high"])
            error_bars(axes, *curve, label=str(policy), **looks[str(policy)])
        tidy(axes, work, "period of reports [s]", "mean slowdown")
        log_ticks(axes)
    legend_below(figure, *axes.get_legend_handles_labels())
    save(figure, path)


@click.command()
@seeds_option(6, "point")
@workers_option
@out_option
@draw_option
def main(seeds: int, workers: int | None, out: Path, only_draws: bool) -> None:
    """Measure, print, and write CSV and PNG."""
    if only_draws:
        draw(measured(out / "bids.csv"), out / "bids.png", seeds)
        return
    runs = measure(seeds, workers)
    table, pairs = means(runs, BY, *METRICS), pairs_of(runs)
    out.mkdir(parents=True, exist_ok=True)
    table.to_csv(out / "bids.csv", index=False, float_format="%.5g")
    pairs.to_csv(out / "bids-pairs.csv", index=False, float_format="%.4g")
    draw(table, out / "bids.png", seeds)
    click.echo(table.round(2).to_string(index=False))
    click.echo(pairs.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
