"""What the columns of a log have to do with each other, and a job with those before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

from cluster_abm.arrays import Floats
from cluster_abm.scenario.dependence import DEPENDENT, factor, rank_correlation
from cluster_abm.scenario.distributions import Repeats

# Rank correlations nearer to 0 are left out, if chance is enough for them anyway (standard errors).
LEAST, ERRORS = 0.02, 3.0
# Points of either column, over which a drawn rank correlation is integrated; and the largest normal correlation.
POINTS, MOST = 300, 0.995
# Lags at which a log is held against its repeats, how far back jobs may repeat, and the least share worth saying.
LAGS = (1, 2, 3, 5, 10, 20, 50, 100)
BACKS = (1, 2, 3, 5, 10, 20, 50, 100, 200)
LEAST_SHARE = 0.05
# The largest share, and copies of copies that are followed: MOST_SHARE^MOST_COPIES is left out.
MOST_SHARE, MOST_COPIES = 0.97, 400


def spearman(first: Floats, second: Floats) -> float:
    """Rank correlation of the rows that have both (equal values share their ranks); NaN of a constant column."""
    both = ~(np.isnan(first) | np.isnan(second))
    if both.sum() < 3:
        return np.nan
    one, other = rankdata(first[both]), rankdata(second[both])
    if not np.ptp(one) or not np.ptp(other):
        return np.nan
    return float(np.corrcoef(one, other)[0, 1])


def rank_correlations(columns: Mapping[str, Floats]) -> dict[str, float]:
    """The rank correlation of every two columns of DEPENDENT that vary, by "first,second"."""
    names = [name for name in DEPENDENT if name in columns]
    found = {f"{a},{b}": spearman(columns[a], columns[b]) for a, b in combinations(names, 2)}
    return {pair: value for pair, value in found.items() if not np.isnan(value)}


def fit_dependence(columns: Mapping[str, Floats], fixed: Mapping[str, float] | None = None) -> dict[str, float]:
    """`workload.dependence` with which drawn columns have the log's rank correlations.

    Where values are equal ranks are, too, and a drawn correlation is nearer to 0 than that of the normal numbers
    behind it: which of these gives the log's is found by a root. Correlations that cannot hold together, as those of
    pairs of different rows may be, are brought nearer to 0 together.

    Args:
        columns: of the log, NaN where a job lacks one.
        fixed: pairs of which the correlation is known already.
    """
    fixed = fixed or {}
    found = {}
    for pair, wanted in rank_correlations(columns).items():
        a, b = (columns[name] for name in pair.split(","))
        both = ~(np.isnan(a) | np.isnan(b))
        if pair in fixed:
            if fixed[pair]:
                found[pair] = fixed[pair]
            continue
        if abs(wanted) < max(LEAST, ERRORS / np.sqrt(both.sum())):
            continue
        found[pair] = round(rank_correlation(_normal_for(wanted, _scores(a[both]), _scores(b[both]))), 4)
    while found:
        try:
            factor(found)
            break
        except ValueError:
            others = {pair: round(0.97 * value, 4) for pair, value in found.items() if pair not in fixed}
            found = {**found, **others}
    return found


def _scores(values: Floats) -> Floats:
    """The ranks of a sample in ascending order, with mean 0 and deviation 1: of its quantiles."""
    ranks = rankdata(np.sort(values))
    positions = ((np.arange(POINTS) + 0.5) / POINTS * len(ranks)).astype(np.int64)
    chosen = ranks[positions]
    spread = ranks.std()
    return np.asarray((chosen - ranks.mean()) / spread)


def _normal_for(wanted: float, first: Floats, second: Floats) -> float:
    """The correlation of two normal numbers whose columns have a rank correlation; the nearest that there is."""
    normal = ndtri((np.arange(POINTS) + 0.5) / POINTS)

    def drawn(correlation: float) -> float:
        other = correlation * normal[:, None] + np.sqrt(1.0 - correlation**2) * normal
        # Ranks between two points of the grid, so that the root is not on a step.
        scores = np.interp(ndtr(other) * POINTS - 0.5, np.arange(POINTS), second)
        return float((first[:, None] * scores).mean())

    if not drawn(-MOST) < wanted < drawn(MOST):
        return MOST if wanted > 0 else -MOST
    return float(brentq(lambda one: drawn(one) - wanted, -MOST, MOST, xtol=1e-5))


def autocorrelations(columns: Sequence[Floats], lags: Sequence[int] = LAGS) -> Floats:
    """Rank correlation of jobs with those one lag before them, on average over the columns, shape (lags,); 0
    where there are no jobs that far apart, or no column varies."""
    found = []
    for values in columns:
        ranks = rankdata(values[~np.isnan(values)])
        if len(ranks) > 2 * max(lags) and np.ptp(ranks):
            away = ranks - ranks.mean()
            found.append([float((away[lag:] * away[:-lag]).mean() / away.var()) for lag in lags])
    return np.array(found).mean(axis=0) if found else np.zeros(len(lags))


def law_of_repeats(share: float, back: int, lags: Sequence[int] = LAGS) -> Floats:
    """Those autocorrelations of `workload.repeats`: a(k) = share x sum over l of w_l a(|k - l|), a(0) = 1."""
    return _summed(share, _terms(back, lags))


def _terms(back: int, lags: Sequence[int]) -> Floats:
    """The probability that two jobs are copies of each other, by the number of copies, shape (copies, lags)."""
    reach = max(back, *lags)
    rows, steps = np.meshgrid(np.arange(1, reach + 1), np.arange(1, back + 1), indexing="ij")
    weights = 1.0 / np.arange(1, back + 1)
    matrix = np.zeros((reach + 1, reach + 1))
    np.add.at(matrix, (rows, np.abs(rows - steps)), weights / weights.sum())
    now = np.eye(reach + 1)[0]
    found = np.empty((MOST_COPIES, len(lags)))
    for copies in range(MOST_COPIES):
        found[copies] = now[list(lags)]
        now = matrix @ now
    return found


def _summed(share: float, terms: Floats) -> Floats:
    """The series of a = 1 at 0 + share x matrix x a."""
    return np.asarray((share ** np.arange(len(terms))) @ terms)


def fit_repeats(columns: Sequence[Floats]) -> Repeats:
    """Which share of the jobs is as one before, and how far back, by the autocorrelations of the columns' ranks."""
    found = autocorrelations(columns)
    if found[0] < LEAST_SHARE:
        return Repeats()
    best = (np.inf, 0.0, 1)
    for back in BACKS:
        terms = _terms(back, LAGS)

        def error(share: float, terms: Floats = terms) -> float:
            return float(np.square(_summed(share, terms) - found).sum())

        result = minimize_scalar(error, bounds=(0.0, MOST_SHARE), method="bounded", options={"xatol": 1e-3})
        best = min(best, (float(result.fun), float(result.x), back))
    return Repeats(share=round(best[1], 3), back=best[2])
