"""Least squares on logarithms, without derivatives of the simulation: they are differences on the same seeds.

Knows no runs: it asks for points of a unit cube and gets what they predict, seed by seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares
from scipy.stats import qmc

Floats = npt.NDArray[np.float64]
# Predicted logarithms of each point, shape (points, seeds, rows); NaN where there is no prediction.
Predict = Callable[[Sequence[Floats]], Floats]

# Points that are tried before the fit, for each key; the scenario's own values and the middle come on top.
STARTS_PER_KEY = 4
# Differences are taken over so much of the range to each side, first; later over a standard error.
FIRST_STEP, LEAST_STEP, LARGEST_STEP = 0.05, 0.004, 0.05
# What a row without a prediction counts: a factor of 150.
MISSING = 5.0
# The fit ends when it moves by less of the range, or gains less of the sum of squares.
MOVE, GAIN = 1e-3, 1e-4
MOST_MOVES = (8, 4)
# Another start is followed too where its sum of squares is below so many times the best one's, so far from it.
RIVAL, APART = 2.0, 0.25
# A row's own variance over few seeds is drawn to the mean of all rows' as if so many seeds stood for that.
PRIOR_SEEDS = 4.0


class BudgetSpent(Exception):
    """No more points may be asked for."""


@dataclass(frozen=True)
class Fit:
    """Where the sum of squares is least.

    Attributes:
        point: in the unit cube, shape (keys,).
        logs: predicted there, shape (seeds, rows).
        jacobian: of the mean predictions, shape (rows, keys).
        weights: of the residuals, shape (rows,).
        measured_var: variance of a logarithm by its measurement, shape (rows,).
        is_converged: whether the fit came to its end; False: the budget was spent before.
        points: how many were asked for.
    """

    point: Floats
    logs: Floats
    jacobian: Floats
    weights: Floats
    measured_var: Floats
    is_converged: bool
    points: int

    @property
    def predicted(self) -> Floats:
        """Mean over the seeds, shape (rows,)."""
        return mean_of(self.logs)


def mean_of(logs: Floats) -> Floats:
    """Mean over the seeds that have a prediction, shape (rows,); NaN without any.

    The mean of logarithms, and not the logarithm of the mean: what was measured is one run, of which the logarithm is
    compared.
    """
    there = np.isfinite(logs)
    count = there.sum(axis=0)
    sums = np.where(there, logs, 0.0).sum(axis=0)
    return np.where(count > 0, sums / np.maximum(count, 1), math.nan)


def variance_of(logs: Floats) -> Floats:
    """Variance of one run's logarithm, row by row, by the seeds, shape (rows,)."""
    there = np.isfinite(logs)
    count = there.sum(axis=0)
    away = np.where(there, logs - mean_of(logs), 0.0)
    return np.asarray(np.square(away).sum(axis=0) / np.maximum(count - 1, 1))


def starting_points(keys: int, own: Floats | None, seed: int, most: int) -> list[Floats]:
    """The scenario's own values, if the ranges hold them, the middle, and points spread over the ranges (Sobol)."""
    found = [] if own is None else [own]
    found.append(np.full(keys, 0.5))
    count = max(0, min(most - len(found), STARTS_PER_KEY * keys))
    if count:
        spread = qmc.Sobol(keys, rng=np.random.default_rng(seed)).random(2 ** math.ceil(math.log2(count)))
        found += list(spread[:count])
    return found[: max(1, most)]


class _Evaluations:
    """What points predict; none is asked for twice."""

    def __init__(self, predict: Predict, observed: Floats) -> None:
        self._predict, self._observed = predict, observed
        self._seen: dict[bytes, Floats] = {}

    def __len__(self) -> int:
        return len(self._seen)

    def logs(self, points: Sequence[Floats]) -> list[Floats]:
        """Predicted logarithms of each point, shape (seeds, rows)."""
        new = list({point.tobytes(): point for point in points if point.tobytes() not in self._seen}.values())
        if new:
            for point, logs in zip(new, self._predict(new), strict=True):
                self._seen[point.tobytes()] = logs
        return [self._seen[point.tobytes()] for point in points]

    def residuals(self, point: Floats) -> Floats:
        """Observed less predicted logarithms, shape (rows,)."""
        found = self._observed - mean_of(self.logs([point])[0])
        return np.where(np.isfinite(found), found, MISSING)

    def jacobian(self, point: Floats, steps: Floats) -> Floats:
        """Central differences of the predictions, one-sided at the ends of a range, shape (rows, keys)."""
        pairs = []
        for key, step in enumerate(steps):
            for sign in (-1.0, 1.0):
                moved = point.copy()
                moved[key] = min(max(point[key] + sign * step, 0.0), 1.0)
                pairs.append(moved)
        means = [mean_of(one) for one in self.logs(pairs)]
        columns = [
            (means[2 * key + 1] - means[2 * key]) / (pairs[2 * key + 1][key] - pairs[2 * key][key])
            for key in range(len(steps))
        ]
        return np.nan_to_num(np.stack(columns, axis=1))


def fit(
    predict: Predict,
    observed: Floats,
    log_sds: Floats,
    starts: Sequence[Floats],
) -> Fit:
    """Least squares of the logarithms of observed over predicted, from the best of the starting points.

    Gauss-Newton steps in a trust region (scipy's `least_squares`, method trf), with differences on common random
    numbers as derivatives: first over a twentieth of each range, then over about a standard error. Between the two,
    each row gets a weight by how uncertain its residual is: by its measurement and by the seeds.

    Args:
        predict: of points in the unit cube; raises BudgetSpent.
        observed: logarithms, shape (rows,).
        log_sds: their standard deviations by their measurement, shape (rows,); NaN: estimated, the same for all.
        starts: points; the first is always tried.

    Raises:
        BudgetSpent: before any point has been tried and one step made from it.
    """
    seen = _Evaluations(predict, observed)
    keys = len(starts[0])
    weights = _weights(log_sds, np.zeros(len(observed)), 1)
    seen.logs(starts)
    costs = [float(np.square(weights * seen.residuals(one)).sum()) for one in starts]
    order = sorted(range(len(starts)), key=lambda place: (costs[place], place))
    best = starts[order[0]]
    rivals = [starts[one] for one in order[1:] if costs[one] < RIVAL * costs[order[0]]]
    rivals = [one for one in rivals if float(np.abs(one - best).max()) > APART][:1]
    steps = np.full(keys, FIRST_STEP)
    jacobian = seen.jacobian(best, steps)
    is_converged = True
    try:
        ends = [_descend(seen, one, weights, steps, MOST_MOVES[0]) for one in (best, *rivals)]
        best = min(ends, key=lambda one: float(np.square(weights * seen.residuals(one)).sum()))
        jacobian = seen.jacobian(best, steps)
        logs = seen.logs([best])[0]
        measured = _measured_var(seen.residuals(best), logs, log_sds, keys)
        weights = _weights(np.sqrt(measured), variance_of(logs), len(logs))
        steps = _steps(jacobian, weights)
        best = _descend(seen, best, weights, steps, MOST_MOVES[1])
        jacobian = seen.jacobian(best, steps)
    except BudgetSpent:
        is_converged = False
    logs = seen.logs([best])[0]
    measured = _measured_var(seen.residuals(best), logs, log_sds, keys)
    return Fit(best, logs, jacobian, weights, measured, is_converged, len(seen))


def _descend(seen: _Evaluations, start: Floats, weights: Floats, steps: Floats, moves: int) -> Floats:
    found = least_squares(
        lambda point: weights * seen.residuals(point),
        np.clip(start, 1e-6, 1.0 - 1e-6),
        jac=lambda point: -weights[:, None] * seen.jacobian(point, steps),
        bounds=(0.0, 1.0),
        xtol=MOVE,
        ftol=GAIN,
        gtol=None,
        max_nfev=moves,
    )
    return np.asarray(found.x)


def _measured_var(residuals: Floats, logs: Floats, log_sds: Floats, keys: int) -> Floats:
    """Variance of each logarithm by its measurement: as given, else what the residuals have beyond the seeds'."""
    unknown = np.isnan(log_sds)
    found = np.square(np.where(unknown, 0.0, log_sds))
    if unknown.any():
        rows = len(residuals)
        freedom = max(1.0, unknown.sum() * (1.0 - keys / rows))
        total = float(np.square(residuals[unknown]).sum()) / freedom
        of_runs = float(variance_of(logs)[unknown].mean()) * (1.0 + 1.0 / len(logs))
        found[unknown] = max(0.0, total - of_runs)
    return found


def _weights(log_sds: Floats, of_runs: Floats, seeds: int) -> Floats:
    """One over the standard deviation of each residual; all alike where nothing is known of any."""
    known = np.where(np.isnan(log_sds), 0.0, np.square(log_sds))
    shrunk = (of_runs * (seeds - 1) + of_runs.mean() * PRIOR_SEEDS) / (seeds - 1 + PRIOR_SEEDS)
    variances = known + shrunk * (1.0 + 1.0 / seeds)
    least = float(variances[variances > 0].min(initial=math.inf))
    if not math.isfinite(least):
        return np.ones(len(variances))
    # A row of which no spread is known counts as much as the most exact of the others.
    return np.asarray(1.0 / np.sqrt(np.where(variances > 0, variances, least)))


def _steps(jacobian: Floats, weights: Floats) -> Floats:
    """How far differences reach: about the standard error that each key would have by itself."""
    size = np.sqrt(np.square(weights[:, None] * jacobian).sum(axis=0))
    with np.errstate(divide="ignore"):
        return np.asarray(np.clip(1.0 / size, LEAST_STEP, LARGEST_STEP))
