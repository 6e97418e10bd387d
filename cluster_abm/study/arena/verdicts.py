"""What a table of runs says: where which policy is the best by more than noise, and how far from it the others are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from cluster_abm.study.statistics.estimates import estimate
from cluster_abm.study.statistics.paired import all_pairs, corrected

REFERENCES = ("none", "pooled")
# Regret is of the headline; beside it stands that of this measure, which is also the gap's.
BESIDE = "mean_slowdown"


class RegimeVerdict(NamedTuple):
    """What the runs of one regime say."""

    best: str  # the policy of the least measure, in the geometric mean over seeds
    # those that differ from it by no more than noise (paired t tests of logarithms, Holm, 5 %), itself among them,
    # from the best
    like: tuple[str, ...]
    regret: dict[str, float]  # of each policy the measure over the best's, less 1, in the geometric mean over seeds


def logs_of(runs: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Logarithms of a measure: index (regime, seed), a column a policy; without the pooled reference, and without seeds
    on which a policy has no value."""
    kept = runs[runs["policy"] != "pooled"]
    wide = kept.pivot_table(index=["regime", "seed"], columns="policy", values=metric, sort=False)
    return wide.dropna().apply(np.log)


def verdict(own: pd.DataFrame) -> RegimeVerdict:
    """The verdict on one regime.

    Args:
        own: logarithms of the measure, a row a seed, a column a policy.
    """
    means = own.mean().sort_values(kind="stable")
    best = str(means.index[0])
    values = {str(name): np.exp(own[name]).tolist() for name in own}
    pairs = {pair: found for pair, found in all_pairs(values).items() if best in pair}
    told = corrected(pairs)
    like = tuple(
        name
        for name in map(str, means.index)
        if name == best or not (told.get((best, name)) or told[name, best]).significant
    )
    regret = {str(name): float(np.expm1(mean - means.iloc[0])) for name, mean in means.items()}
    return RegimeVerdict(best, like, regret)


def verdicts(runs: pd.DataFrame, metric: str) -> dict[int, RegimeVerdict]:
    """The verdict on each regime by a measure, by the regime's number."""
    return {
        int(str(regime)): verdict(own.droplevel("regime"))
        for regime, own in logs_of(runs, metric).groupby(level="regime")
    }


def table_of_regret(runs: pd.DataFrame, found: dict[int, RegimeVerdict]) -> pd.DataFrame:
    """How far from the best each policy is, the least mean regret first.

    Args:
        runs: a row a run: regime, policy, seed, mean_slowdown, messages_per_job.
        found: the verdicts, by the headline.

    Returns:
        columns policy; regret (geometric mean over regimes of the measure over the best's, less 1); low, high (its 95 %
        interval over regimes); worst (the largest); worst_in (the regime); best_in (regimes in which it is best, or not
        told apart from the best); alone_in (in which it is best by more than noise); regret_of_mean_slowdown (the same
        as regret, by mean slowdown); gap_closed (median over regimes of the share of the gap between `none` and
        `pooled` that it closes); messages (median over regimes, per job).
    """
    regimes = list(found)
    closed = gap_closed(runs)
    beside = verdicts(runs[runs["regime"].isin(regimes)], BESIDE)
    messages = runs.groupby(["policy", "regime"])["messages_per_job"].mean().groupby(level="policy").median()
    rows = []
    for policy in found[regimes[0]].regret:
        regret = np.array([found[regime].regret[policy] for regime in regimes])
        of_logs = estimate(np.log1p(regret).tolist())
        low, high = of_logs.ci95 or (np.nan, np.nan)
        likes = [regime for regime in regimes if policy in found[regime].like]
        rows.append(
            {
                "policy": policy,
                "regret": np.expm1(of_logs.mean),
                "low": max(0.0, float(np.expm1(low))),
                "high": np.expm1(high),
                "worst": regret.max(),
                "worst_in": regimes[int(regret.argmax())],
                "best_in": len(likes),
                "alone_in": sum(found[regime].like == (policy,) for regime in likes),
                "regret_of_mean_slowdown": np.expm1(np.mean([np.log1p(one.regret[policy]) for one in beside.values()])),
                "gap_closed": closed.get(policy, np.nan),
                "messages": messages[policy],
            }
        )
    return pd.DataFrame(rows).sort_values("regret", kind="stable").reset_index(drop=True)


def gap_closed(runs: pd.DataFrame) -> dict[str, float]:
    """Of each policy the median over regimes of (none - policy) / (none - pooled), of mean slowdowns over seeds; of the
    regimes in which the pooled reference is better than `none` by a hundredth at least."""
    means = runs.pivot_table(index="regime", columns="policy", values=BESIDE)
    if not set(REFERENCES) <= set(means):
        return {}
    gap = means["none"] - means["pooled"]
    there = gap > 0.01 * means["none"]
    shares = means[there].rsub(means["none"][there], axis=0).div(gap[there], axis=0)
    return {str(name): float(value) for name, value in shares.median().items()}


def regrets_by_third(
    regimes: pd.DataFrame, found: dict[int, RegimeVerdict], policy: str, factors: Sequence[str]
) -> pd.DataFrame:
    """A policy's mean regret in the regimes of low, middle and high value of each factor.

    Args:
        regimes: index regime, a column a factor.
        found: the verdicts.
        policy: its name.
        factors: their names.

    Returns:
        index factor; columns low, middle, high.
    """
    regret = pd.Series({regime: np.log1p(found[regime].regret[policy]) for regime in found})
    rows = {}
    for factor in factors:
        values = regimes.loc[regret.index, factor].rank(method="first")
        thirds = pd.qcut(values, 3, labels=["low", "middle", "high"])
        rows[factor] = np.expm1(regret.groupby(thirds, observed=True).mean())
    return pd.DataFrame(rows).T
