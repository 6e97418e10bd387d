"""What a table of runs says: which policies are surely near the best of each regime, and how far off the others are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy.special

from cluster_abm.arrays import Floats
from cluster_abm.study.design.traits import Traits
from cluster_abm.study.statistics.estimates import estimate

REFERENCES = ("none", "pooled")
# Regret is of the headline; beside it stands that of this measure, which is also the gap's.
BESIDE = "mean_slowdown"
# A policy is near the best if its measure is at most so many times that of any other one, and that at this confidence.
NEAR, SURELY = 1.1, 0.95
ROUNDING = 1e-12
# Columns of what policies know and may do.
TRAITS = ("knows_sizes", "sees_true_state", "may_refuse")
YES_NO = {True: "yes", False: "no"}


class RegimeVerdict(NamedTuple):
    """What the runs of one regime say."""

    best: str  # the policy of the least measure, in the geometric mean over seeds
    # those that are surely within 10 % of the best, the least measure first; the observed best is one only if that is
    # sure, too
    sure: tuple[str, ...]
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
    regret = {str(name): float(np.expm1(mean - means.iloc[0])) for name, mean in means.items()}
    near = dict(zip(map(str, own.columns), are_surely_near(own.to_numpy()), strict=True))
    return RegimeVerdict(best, tuple(name for name in regret if near[name]), regret)


def are_surely_near(logs: Floats) -> list[bool]:
    """Which policies are surely within 10 % of the best of a regime.

    Against every other policy the upper end of the one-sided 95 % interval of the mean logarithm of their ratio (paired
    over seeds, Student's t) is at most log 1.1. No correction is due: all others have to pass.

    Args:
        logs: of the measure, shape (seeds, policies).
    """
    seeds, policies = logs.shape
    if seeds < 2:
        return [False] * policies
    gaps = logs[:, :, None] - logs[:, None, :]
    arms = float(scipy.special.stdtrit(seeds - 1, SURELY)) * gaps.std(axis=0, ddof=1) / np.sqrt(seeds)
    # Equal ratios from all seeds are not to fail by rounding.
    return [bool(is_near) for is_near in (gaps.mean(axis=0) + arms <= np.log(NEAR) + ROUNDING).all(axis=1)]


def verdicts(runs: pd.DataFrame, metric: str) -> dict[int, RegimeVerdict]:
    """The verdict on each regime by a measure, by the regime's number."""
    return {
        int(str(regime)): verdict(own.droplevel("regime"))
        for regime, own in logs_of(runs, metric).groupby(level="regime")
    }


def table_of_regret(
    runs: pd.DataFrame, found: dict[int, RegimeVerdict], traits: Mapping[str, Traits] | None = None
) -> pd.DataFrame:
    """How far from the best each policy is, the least mean regret first.

    Args:
        runs: a row a run: regime, policy, seed, mean_slowdown, messages_per_job.
        found: the verdicts, by the headline.
        traits: what each policy knows and may do, by its name; None: without these columns.

    Returns:
        columns policy; regret (geometric mean over regimes of the measure over the best's, less 1); low, high (its 95 %
        interval over regimes); worst (the largest); worst_in (the regime); sure_in (regimes in which it is surely
        within 10 % of the best); best_in (in which it is the observed best); regret_of_mean_slowdown (the same as
        regret, by mean slowdown); gap_closed (median over regimes of the share of the gap between `none` and `pooled`
        that it closes); messages (median over regimes, per job); knows_sizes, sees_true_state, may_refuse (yes or no).
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
        rows.append(
            {
                "policy": policy,
                "regret": np.expm1(of_logs.mean),
                "low": max(0.0, float(np.expm1(low))),
                "high": np.expm1(high),
                "worst": regret.max(),
                "worst_in": regimes[int(regret.argmax())],
                "sure_in": sum(policy in found[regime].sure for regime in regimes),
                "best_in": sum(found[regime].best == policy for regime in regimes),
                "regret_of_mean_slowdown": np.expm1(np.mean([np.log1p(one.regret[policy]) for one in beside.values()])),
                "gap_closed": closed.get(policy, np.nan),
                "messages": messages[policy],
                **({} if traits is None else {name: YES_NO[getattr(traits[policy], name)] for name in TRAITS}),
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
