"""What a study found: estimates, paired differences and rankings of every point, as tables."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from cluster_abm.results.asked import better_side, is_more_better
from cluster_abm.study.statistics.bounds import Bounds, bounds_of
from cluster_abm.study.statistics.estimates import estimate, estimate_quantile
from cluster_abm.study.statistics.one_sample import of_one_sample
from cluster_abm.study.statistics.paired import PairedDifference, all_pairs, corrected
from cluster_abm.study.statistics.ranking import ranking
from cluster_abm.study.statistics.seeds_compared import Compared, compared

RESAMPLE = "workload.trace.resample"
PERCENTILES = (50, 75, 90, 95, 99)


@dataclass(frozen=True)
class Findings:
    """Tables of a study; every one but `points` begins with the columns `point` and the swept keys.

    Seeds on which a policy failed or has no value are left out for all policies of the point (seeds_compared).
    """

    points: pd.DataFrame  # index point, a column a swept key
    # metric, policy, seeds, mean, low, high (95 % interval of the mean), half_width_percent, median, median_low,
    # median_high (over seeds, at least 95 %), least, most, failed (runs): over all seeds of the policy, of which some
    # policies may have more than others (`precision`)
    estimates: pd.DataFrame
    compared: pd.DataFrame  # the same over the seeds that all policies of the point have, without `failed`
    # metric, a, b, seeds, difference (a - b), low, high, ratio, ratio_low, ratio_high, p_value, significant, verdict:
    # of the ratio, or without one of the difference, by Holm over all pairs of all points of the metric; low and high
    # are Hall's interval of the difference alone where there is a ratio
    differences: pd.DataFrame
    # metric, policy, mean, best, worst, like: over the seeds that all policies have; only of metrics of which it is
    # known what is better (asked.better_side)
    ranking: pd.DataFrame
    # policy, percentile, seeds, mean, low, high: of the slowdowns of a run's jobs, the mean over seeds
    percentiles: pd.DataFrame
    left_out: pd.DataFrame  # metric, what, policy, seed, why: as of seeds_compared.Compared
    runs: pd.DataFrame  # what finished
    runs_with_jobs: pd.DataFrame  # those of them that have slowdowns, from seeds that were not left out
    # those at which each seed draws another log from one: intervals are by the spread of the draws, medians have none
    resampled: frozenset[int]
    # of each point the policies that have the same run from every seed: low and high are NaN, and significant is None
    # between two of them
    one_sample: Mapping[int, frozenset[str]]

    @property
    def is_one_sample(self) -> bool:
        """Whether no seed changes anything, at any point and under any policy."""
        found = self.runs.groupby("point")["policy"].unique()
        return all(set(names) == self.one_sample[int(str(point))] for point, names in found.items())


def find(
    results: pd.DataFrame,
    swept: Sequence[str],
    policies: Sequence[str],
    metrics: Sequence[str],
    is_resampled: bool = False,
) -> Findings:
    """The tables of a study.

    Args:
        results: one row a run: point, the swept keys, policy, seed, status ("finished" or "failed"), metrics, and
            slowdown_quantiles (lists).
        swept: the keys that differ between points.
        policies: in the order asked for.
        metrics: columns of results.
        is_resampled: whether each seed draws another log from one, at points that do not say it themselves.
    """
    points = results.drop_duplicates("point").set_index("point")[[*swept]].sort_index()
    results = results.sort_values(["point", "seed"], kind="stable")
    of_point = {point: results[results["point"] == point] for point in points.index}
    runs = results[results["status"] == "finished"]
    alike = {
        point: of_one_sample(own[own["status"] == "finished"], ["point", *swept]) for point, own in of_point.items()
    }
    draws = points[RESAMPLE] != "none" if RESAMPLE in points else pd.Series(is_resampled, points.index)
    resampled = frozenset(map(int, points.index[draws]))
    failed = results[results["status"] != "finished"].groupby(["point", "policy"]).size()
    estimates, same_seeds, differences, rankings, left_out = [], [], [], [], []
    for metric in metrics:
        bounds = bounds_of(metric)
        met = {point: compared(own, policies, own[metric]) for point, own in of_point.items()}
        for point, found in met.items():
            left_out += [{"point": point, "metric": metric} | row for row in found.left_out]
            for name in [name for name in policies if (of_point[point]["policy"] == name).any()]:
                row = {"point": point, "metric": metric, "policy": name}
                gone = {"failed": int(failed.get((point, name), 0))}
                kind = bounds, name in alike[point], point in resampled
                estimates.append(row | _estimates(found.own.get(name, _NOTHING).dropna(), *kind) | gone)
                same_seeds.append(row | _estimates(found.common.get(name, _NOTHING), *kind))
        real = _real_differences(met, alike, resampled)
        differences += [_difference_row(metric, met, *pair) for pair in real.items()]
        if better_side(metric):
            rankings += [row for point, found in met.items() for row in _places(metric, point, found.common, real)]
    with_jobs = pd.concat(_runs_with_jobs(own, policies) for own in of_point.values())
    percentiles = [
        {"point": point, "policy": policy, "percentile": percent} | row
        for (point, policy), group in with_jobs.groupby(["point", "policy"], sort=False)
        for percent, row in _percentiles(group, policy in alike[point], point in resampled).items()
    ]
    return Findings(
        points=points,
        estimates=_framed(estimates, points),
        compared=_framed(same_seeds, points),
        differences=_framed(differences, points),
        ranking=_framed(rankings, points),
        percentiles=_framed(percentiles, points),
        left_out=_framed(left_out, points),
        runs=runs,
        runs_with_jobs=with_jobs,
        resampled=resampled,
        one_sample=alike,
    )


_NOTHING = pd.Series(dtype=float)
Pair = tuple[int, str, str]


def _real_differences(
    met: Mapping[int, Compared], alike: Mapping[int, frozenset[str]], resampled: Container[int]
) -> dict[Pair, PairedDifference]:
    """The difference of every pair at every point, corrected for all of them."""
    pairs: dict[Pair, PairedDifference] = {}
    for point, found in met.items():
        if len(found.common):
            values = {str(name): found.common[name].tolist() for name in found.common}
            own = all_pairs(values, alike[point], are_replicates=point in resampled)
            pairs |= {(point, a, b): pair for (a, b), pair in own.items()}
    return corrected(pairs)


def _difference_row(metric: str, met: Mapping[int, Compared], key: Pair, pair: PairedDifference) -> dict[str, object]:
    point, a, b = key
    low, high = pair.difference.ci95 or (math.nan, math.nan)
    ratio_low, ratio_high = pair.ratio_ci95 or (math.nan, math.nan)
    return {
        "point": point, "metric": metric, "a": a, "b": b, "seeds": len(met[point].common),
        "difference": pair.difference.mean, "low": low, "high": high, "ratio": pair.ratio,
        "ratio_low": ratio_low, "ratio_high": ratio_high, "p_value": pair.p_value, "significant": pair.significant,
        "verdict": pair.verdict(is_more_better(metric)),
    }  # fmt: skip


def _places(
    metric: str, point: int, common: pd.DataFrame, real: Mapping[Pair, PairedDifference]
) -> list[dict[str, object]]:
    if not len(common):
        return []
    own = {(a, b): pair for (where, a, b), pair in real.items() if where == point}
    means = {str(name): float(common[name].mean()) for name in common}
    return [
        {
            "point": point, "metric": metric, "policy": ranked.policy, "mean": ranked.mean,
            "best": ranked.best, "worst": ranked.worst, "like": ", ".join(ranked.like),
        }
        for ranked in ranking(means, own, is_more_better(metric))
    ]  # fmt: skip


def _runs_with_jobs(runs: pd.DataFrame, policies: Sequence[str]) -> pd.DataFrame:
    """Return those of a point's runs that enter the comparison of slowdowns."""
    own = compared(runs, policies, _has_jobs(runs)).own
    return runs[runs["seed"].isin(own.index) & runs["policy"].isin(own.columns)]


def _has_jobs(runs: pd.DataFrame) -> pd.Series:
    """1 of each run that has slowdowns, else NaN."""
    if "slowdown_quantiles" not in runs:
        return pd.Series(math.nan, index=runs.index)
    return runs["slowdown_quantiles"].map(lambda row: 1.0 if row is not None and np.size(row) == 101 else math.nan)


def slowdown_quantiles(runs: pd.DataFrame) -> np.ndarray | None:
    """The quantiles of each run that has them, shape (runs, 101); None if none has."""
    if "slowdown_quantiles" not in runs:
        return None
    rows = [np.asarray(row, float) for row in runs.loc[_has_jobs(runs).notna(), "slowdown_quantiles"]]
    return np.stack(rows) if rows else None


def _estimates(values: pd.Series, bounds: Bounds, is_one_sample: bool, are_replicates: bool) -> dict[str, float]:
    known = values.tolist()
    if not known:
        names = ("mean", "low", "high", "half_width_percent", "median", "median_low", "median_high", "least", "most")
        return {"seeds": 0, **dict.fromkeys(names, math.nan)}
    mean, median = estimate(known, bounds, are_replicates), estimate_quantile(known)
    low, high = mean.ci95 or (math.nan, math.nan)
    median_low, median_high = median.ci95 or (math.nan, math.nan)
    if is_one_sample:
        low = high = median_low = median_high = math.nan
    if are_replicates:
        # Theirs is about the median of the draws, which more draws make as exact as one likes.
        median_low = median_high = math.nan
    half = (high - low) / 2
    return {
        "seeds": len(known), "mean": mean.mean, "low": low, "high": high,
        "half_width_percent": 100 * half / abs(mean.mean) if mean.mean else math.nan,
        "median": median.value, "median_low": median_low, "median_high": median_high,
        "least": min(known), "most": max(known),
    }  # fmt: skip


def _percentiles(runs: pd.DataFrame, is_one_sample: bool, are_replicates: bool) -> dict[int, dict[str, float]]:
    quantiles = slowdown_quantiles(runs)
    found = {}
    for percent in PERCENTILES if quantiles is not None else ():
        own = estimate(quantiles[:, percent].tolist(), bounds_of("p95_slowdown"), are_replicates)  # type: ignore[index]
        low, high = (math.nan, math.nan) if own.ci95 is None or is_one_sample else own.ci95
        found[percent] = {"seeds": len(runs), "mean": own.mean, "low": low, "high": high}
    return found


def _framed(rows: Sequence[dict[str, object]], points: pd.DataFrame) -> pd.DataFrame:
    """Rows with the keys of their points after the first column."""
    frame = pd.DataFrame(rows)
    if not len(frame):
        return frame
    for position, key in enumerate(points.columns, start=1):
        frame.insert(position, str(key), [points.loc[point, key] for point in frame["point"]])
    return frame
