"""What a study found: estimates, paired differences and rankings of every point, as tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from cluster_abm.study.ranking import MORE_IS_BETTER, ranking
from cluster_abm.study.statistics import PairedDifference, all_pairs, corrected, estimate, estimate_quantile

PERCENTILES = (50, 75, 90, 95, 99)


@dataclass(frozen=True)
class Findings:
    """Tables of a study; every one but `points` begins with the columns `point` and the swept keys.

    Attributes:
        points: index point, a column a swept key.
        estimates: metric, policy, seeds, mean, low, high (95 % t interval of the mean), half_width_percent, median,
            median_low, median_high (over seeds, at least 95 %), least, most, failed (runs).
        differences: metric, a, b, seeds, difference (a - b), low, high, ratio, p_value, significant (Holm over all
        pairs of all
            points of the metric).
        ranking: metric, policy, mean, best, worst, like: over the seeds that all policies finished.
        percentiles: policy, percentile, mean, low, high: of the slowdowns of a run's jobs, the mean over seeds.
        runs: what finished.
    """

    points: pd.DataFrame
    estimates: pd.DataFrame
    differences: pd.DataFrame
    ranking: pd.DataFrame
    percentiles: pd.DataFrame
    runs: pd.DataFrame


def find(results: pd.DataFrame, swept: Sequence[str], policies: Sequence[str], metrics: Sequence[str]) -> Findings:
    """The tables of a study.

    Args:
        results: one row a run: point, the swept keys, policy, seed, status ("finished" or "failed"), metrics, and
            slowdown_quantiles (lists).
        swept: the keys that differ between points.
        policies: in the order asked for.
        metrics: columns of results.
    """
    points = results.drop_duplicates("point").set_index("point")[[*swept]].sort_index()
    runs = results[results["status"] == "finished"].sort_values(["point", "seed"], kind="stable")
    failed = results[results["status"] != "finished"].groupby(["point", "policy"]).size()
    estimates, percentiles = [], []
    differences, places = [], []
    for metric in metrics:
        pairs: dict[tuple[int, str, str], PairedDifference] = {}
        common: dict[int, pd.DataFrame] = {}
        for point in points.index:
            table = (
                runs[runs["point"] == point]
                .astype({metric: float})
                .pivot_table(index="seed", columns="policy", values=metric, dropna=False)
            )
            there = [name for name in policies if name in table]
            for name in there:
                finished = runs[(runs["point"] == point) & (runs["policy"] == name)]["seed"]
                row = {"point": point, "metric": metric, "policy": name} | _estimates(table.loc[finished, name])
                estimates.append(row | {"failed": int(failed.get((point, name), 0))})
            complete = runs[runs["point"] == point].groupby("seed").size() == len(there)
            common[point] = table.loc[complete.index[complete], there]
            if len(common[point]):
                found = all_pairs({name: common[point][name].tolist() for name in there})
                pairs |= {(point, a, b): pair for (a, b), pair in found.items()}
        real = corrected(pairs)
        for (point, a, b), pair in real.items():
            low, high = pair.difference.ci95 or (math.nan, math.nan)
            differences.append(
                {
                    "point": point, "metric": metric, "a": a, "b": b, "seeds": len(common[point]),
                    "difference": pair.difference.mean, "low": low, "high": high, "ratio": pair.ratio,
                    "p_value": pair.p_value, "significant": pair.significant,
                }
            )  # fmt: skip
        for point, table in common.items():
            if len(table):
                own = {(a, b): pair for (where, a, b), pair in real.items() if where == point}
                means = {str(name): float(table[name].mean()) for name in table}
                for place in ranking(means, own, metric in MORE_IS_BETTER):
                    places.append(
                        {
                            "point": point, "metric": metric, "policy": place.policy, "mean": place.mean,
                            "best": place.best, "worst": place.worst, "like": ", ".join(place.like),
                        }
                    )  # fmt: skip
    for (point, policy), group in runs.groupby(["point", "policy"], sort=False):
        for percent, row in _percentiles(group).items():
            percentiles.append({"point": point, "policy": policy, "percentile": percent} | row)
    return Findings(
        points,
        _framed(estimates, points),
        _framed(differences, points),
        _framed(places, points),
        _framed(percentiles, points),
        runs,
    )


def slowdown_quantiles(runs: pd.DataFrame) -> np.ndarray | None:
    """Of each run that has any: shape (runs, 101); None if none has."""
    if "slowdown_quantiles" not in runs:
        return None
    rows = [np.asarray(row, float) for row in runs["slowdown_quantiles"] if row is not None and np.size(row) == 101]
    return np.stack(rows) if rows else None


def _estimates(values: pd.Series) -> dict[str, float]:
    """Of the seeds in which there was something to average."""
    known = values[np.isfinite(values)].tolist()
    if not known:
        names = ("mean", "low", "high", "half_width_percent", "median", "median_low", "median_high", "least", "most")
        return {"seeds": 0, **dict.fromkeys(names, math.nan)}
    mean, median = estimate(known), estimate_quantile(known)
    low, high = mean.ci95 or (math.nan, math.nan)
    median_low, median_high = median.ci95 or (math.nan, math.nan)
    half = (high - low) / 2
    return {
        "seeds": len(known), "mean": mean.mean, "low": low, "high": high,
        "half_width_percent": 100 * half / abs(mean.mean) if mean.mean else math.nan,
        "median": median.value, "median_low": median_low, "median_high": median_high,
        "least": min(known), "most": max(known),
    }  # fmt: skip


def _percentiles(runs: pd.DataFrame) -> dict[int, dict[str, float]]:
    quantiles = slowdown_quantiles(runs)
    found = {}
    for percent in PERCENTILES if quantiles is not None else ():
        own = estimate(quantiles[:, percent].tolist())  # type: ignore[index]
        low, high = own.ci95 or (math.nan, math.nan)
        found[percent] = {"mean": own.mean, "low": low, "high": high}
    return found


def _framed(rows: Sequence[dict[str, object]], points: pd.DataFrame) -> pd.DataFrame:
    """Rows with the keys of their points after the first column."""
    frame = pd.DataFrame(rows)
    if not len(frame):
        return frame
    for place, key in enumerate(points.columns, start=1):
        frame.insert(place, str(key), [points.loc[point, key] for point in frame["point"]])
    return frame
