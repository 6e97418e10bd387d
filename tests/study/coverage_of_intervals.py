"""How often intervals of a few stored runs hold what all 400 of them say; `python tests/study/coverage_of_intervals.py`
prints the tables of docs/concepts/statistics.md."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from cluster_abm.study.statistics.bounds import bounds_of
from cluster_abm.study.statistics.estimates import estimate
from cluster_abm.study.statistics.paired import paired

RUNS = Path(__file__).with_name("coverage_runs.parquet")
BASELINE = "jsq"
SAMPLES = 1000


def stored(metric: str) -> dict[str, pd.DataFrame]:
    """By scenario: index seed, a column a policy."""
    runs = pd.read_parquet(RUNS)
    return {
        str(name): own.pivot_table(index="seed", columns="policy", values=metric)
        for name, own in runs.groupby("scenario", sort=False)
    }


def samples(table: pd.DataFrame, count: int, samples: int = SAMPLES) -> Iterator[pd.DataFrame]:
    """Draws of some of the seeds."""
    rng = np.random.default_rng([7, count])
    for _ in range(samples):
        yield table.iloc[rng.choice(len(table), count, replace=False)]


def coverage_of_means(metric: str, table: pd.DataFrame, count: int) -> dict[str, float]:
    """By policy: the share of the intervals of its own mean that hold the mean of all its runs."""
    truth, bounds = table.mean(), bounds_of(metric)
    held = dict.fromkeys(map(str, table), 0)
    for own in samples(table, count):
        for name in held:
            low, high = estimate(own[name].tolist(), bounds).ci95 or (math.nan, math.nan)
            held[name] += low <= truth[name] <= high
    return {name: number / SAMPLES for name, number in held.items()}


def coverage_of_ratios(table: pd.DataFrame, count: int) -> dict[str, float]:
    """By policy: the share of the intervals of its ratio to the baseline that hold the typical ratio of all runs."""
    names = [str(name) for name in table if name != BASELINE]
    logs = table.apply(np.log)
    truth = {name: math.exp((logs[name] - logs[BASELINE]).mean()) for name in names}
    held = dict.fromkeys(names, 0)
    for own in samples(table, count):
        for name in names:
            low, high = paired(own[name].tolist(), own[BASELINE].tolist()).ratio_ci95 or (math.nan, math.nan)
            held[name] += low <= truth[name] <= high
    return {name: number / SAMPLES for name, number in held.items()}


def false_words(table: pd.DataFrame, count: int, draws: int = 200) -> dict[tuple[str, str], tuple[float, float, float]]:
    """By pair of policies, each scaled to the same mean over all its runs, how often a word about means is false.

    Returns:
        the shares of the draws in which one is said to be significant, in which it is said to be better or worse, and
        in which means are said to differ.
    """
    alike = table / table.mean()
    found = {}
    for a, b in combinations(map(str, alike), 2):
        words = [paired(own[a].tolist(), own[b].tolist()) for own in samples(alike, count, draws)]
        found[a, b] = (
            sum(bool(one.significant) for one in words) / draws,
            sum(one.verdict() in ("better", "worse") for one in words) / draws,
            sum(bool(one.means_differ) for one in words) / draws,
        )
    return found


def main() -> None:
    """Print the tables, in per cent: the least and the largest of the policies."""
    for metric in ("bounded_slowdown", "mean_slowdown"):
        for name, table in stored(metric).items():
            cells = []
            for count in (4, 8, 16, 32):
                means, ratios = coverage_of_means(metric, table, count), coverage_of_ratios(table, count)
                shown = [f"{min(one.values()):.0%} to {max(one.values()):.0%}" for one in (means, ratios)]
                cells.append(f"{count}: means {shown[0]}, ratios {shown[1]}")
            print(metric, name, "; ".join(cells))
            for count in (8, 16, 32):
                shares = np.array([*false_words(table, count).values()])
                print(f"  equal means, {count} seeds: significant, better or worse, means differ: "
                      + ", ".join(f"{one.mean():.1%} (largest {one.max():.0%})" for one in shares.T))  # fmt: skip


if __name__ == "__main__":
    main()
