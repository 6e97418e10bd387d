"""Least squares on logarithms by response surfaces: what a simulation says has no derivatives, and it has noise.

Knows no runs: it asks for points of a unit cube and gets what they predict, seed by seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import least_squares, minimize
from scipy.stats import qmc

from cluster_abm.arrays import Floats

# Predicted logarithms of each point, shape (points, seeds, rows); NaN where there is no prediction.
Predict = Callable[[Sequence[Floats]], Floats]

# Points that are tried before the fit, for each key; the scenario's own values come on top.
STARTS_PER_KEY = 4
# The factor by which a region shrinks around its best point, its last size in standard errors, its least half width.
SHRINK, SMALL, LEAST_HALF = 0.4, 2.5, 0.01
MOST_REGIONS = 12
# With at most this many keys, the corners of a region are run; with more, points spread within it.
MOST_CORNERS = 3
# What a row without a prediction counts: a factor of 150.
MISSING = 5.0
# A point closer than this to an edge of the region is at it.
EDGE = 1e-3


class BudgetSpent(Exception):
    """No more points may be asked for."""


@dataclass(frozen=True)
class Fit:
    """Where the sum of squares is least."""

    point: Floats  # in the unit cube, shape (keys,)
    logs: Floats  # predicted there, shape (seeds, rows)
    jacobian: Floats  # of the mean predictions, shape (rows, keys)
    noise: Floats  # what the seeds' chance puts into J'WJ, shape (keys, keys)
    weights: Floats  # of the residuals, shape (rows,)
    measured_var: Floats  # variance of a logarithm by its measurement, shape (rows,)
    is_converged: bool  # whether the fit came to its end; False: the budget was spent before
    points: int  # how many were asked for

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
    """The scenario's own values, if the ranges hold them, and points spread over the ranges (Sobol)."""
    found = [] if own is None else [own]
    count = max(0, min(most - len(found), STARTS_PER_KEY * keys))
    if count:
        spread = qmc.Sobol(keys, rng=np.random.default_rng(seed)).random(2 ** math.ceil(math.log2(count)))
        found += list(spread[:count])
    return found


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

    def cost(self, point: Floats, weights: Floats) -> float:
        """Weighted sum of squares at a point, less what the seeds' own chance puts into it."""
        logs = self.logs([point])[0]
        squares = np.square(self.residuals(point)) - variance_of(logs) / len(logs)
        return float((np.square(weights) * squares).sum())

    def best(self, weights: Floats) -> Floats:
        """The point of least cost so far; the earlier of two alike."""
        return min(self.points, key=lambda point: self.cost(point, weights))

    @property
    def points(self) -> list[Floats]:
        """All points so far."""
        return [np.frombuffer(one) for one in self._seen]


@dataclass(frozen=True)
class _Region:
    """A box in the unit cube."""

    centre: Floats
    half: Floats

    @property
    def low(self) -> Floats:
        return np.clip(self.centre - self.half, 0.0, 1.0)

    @property
    def high(self) -> Floats:
        return np.clip(self.centre + self.half, 0.0, 1.0)

    def holds(self, point: Floats) -> bool:
        return bool((np.abs(point - self.centre) <= self.half * (1.0 + EDGE) + 1e-12).all())

    def design(self) -> list[Floats]:
        """Points by which a quadratic surface over the box is told: its middle, its faces, and its corners."""
        low, high = self.low, self.high
        middle, keys = (low + high) / 2, len(self.centre)
        found = [self.centre]
        for key in range(keys):
            for end in (low[key], high[key]):
                face = middle.copy()
                face[key] = end
                found.append(face)
        if keys == 1:
            return [*found, (low + middle) / 2, (middle + high) / 2]
        if keys <= MOST_CORNERS:
            sides = product(*zip(low.tolist(), high.tolist(), strict=True))
            return found + [np.array(one) for one in sides]
        spread = qmc.Sobol(keys, rng=np.random.default_rng(keys)).random(64)[: keys * (keys + 1)]
        return found + list(low + spread * (high - low))


def design_size(keys: int) -> int:
    """How many points a region takes."""
    return len(_Region(np.full(keys, 0.5), np.full(keys, 0.5)).design())


class _Surface:
    """Predictions over a region: of each row and seed a quadratic function of the keys, by least squares.

    Args:
        region: its box.
        points: shape (points, keys).
        logs: predictions there, shape (points, seeds, rows).
    """

    def __init__(self, region: _Region, points: Floats, logs: Floats) -> None:
        self._centre, self._half = region.centre, np.maximum(region.half, 1e-12)
        self._shape = logs.shape[1:]
        values = logs.reshape(len(logs), -1)
        self._coefficients = np.linalg.lstsq(self._basis(points), values, rcond=None)[0]
        keys = points.shape[1]
        self._pairs = [(one, other) for one in range(keys) for other in range(one, keys)]

    def _basis(self, points: Floats) -> Floats:
        at = np.atleast_2d((points - self._centre) / self._half)
        keys = at.shape[1]
        products = [at[:, one] * at[:, other] for one in range(keys) for other in range(one, keys)]
        return np.column_stack([np.ones(len(at)), at, *products])

    def __call__(self, point: Floats) -> Floats:
        """Predictions at a point, shape (seeds, rows)."""
        return np.asarray((self._basis(point) @ self._coefficients)[0]).reshape(self._shape)

    def slopes(self, point: Floats) -> Floats:
        """Derivatives of the predictions, shape (seeds, rows, keys)."""
        at = (point - self._centre) / self._half
        keys = len(at)
        slopes = np.zeros((keys, self._coefficients.shape[0]))
        for key in range(keys):
            slopes[key, 1 + key] = 1.0
            for position, (one, other) in enumerate(self._pairs):
                slopes[key, 1 + keys + position] = (one == key) * at[other] + (other == key) * at[one]
        return np.asarray((slopes @ self._coefficients).T / self._half).reshape(*self._shape, keys)

    def jacobian(self, point: Floats) -> Floats:
        """Derivatives of the mean predictions, shape (rows, keys)."""
        return np.asarray(self.slopes(point).mean(axis=0))


def fit(predict: Predict, observed: Floats, log_sds: Floats, starts: Sequence[Floats]) -> Fit:
    """Least squares of the logarithms of observed over predicted, by quadratic response surfaces.

    All ranges are the first region. In a region a few points are run, on the same seeds; each row's prediction becomes
    a quadratic function of the keys (Box and Wilson 1951, J. R. Stat. Soc. B 13:1), and the sum of squares of all rows
    is minimised over these, from many starts. There, or at the best point that was run, is the middle of the next
    region, which is smaller once it no longer lies at an edge. The last is a few standard errors wide: over it, chance
    and jumps of the simulation average out. Each row has a weight by how uncertain its residual is, by its measurement
    and by the seeds.

    Args:
        predict: of points in the unit cube; raises BudgetSpent.
        observed: logarithms, shape (rows,).
        log_sds: their standard deviations by their measurement, shape (rows,); NaN: estimated, the same for all.
        starts: points that are tried besides.

    Raises BudgetSpent: before the first region was run.
    """
    seen = _Evaluations(predict, observed)
    keys = len(starts[0])
    region = _Region(np.full(keys, 0.5), np.full(keys, 0.5))
    seen.logs([*region.design(), *starts])
    weights = _weights(log_sds, np.zeros(len(observed)), 1)
    best = seen.best(weights)
    surface, is_converged = _surface_over(region, seen), False
    try:
        for _ in range(MOST_REGIONS):
            weights = _weights_at(best, seen, log_sds)
            found = _least(surface, region, observed, weights, best)
            seen.logs([found])
            best = found if seen.cost(found, weights) <= seen.cost(seen.best(weights), weights) else seen.best(weights)
            if _is_small(region, surface.jacobian(best), weights) and region.holds(best):
                is_converged = True
                break
            region = _next_region(region, best, surface.jacobian(best), weights)
            seen.logs(region.design())
            surface = _surface_over(region, seen)
    except BudgetSpent:
        best = seen.best(weights)
    if is_converged:
        # The best of the points that were run has luck in it; the surface averages over all of them.
        best = _least(surface, region, observed, weights, best)
        try:
            seen.logs([best])
        except BudgetSpent:
            best = seen.best(weights)
    logs = seen.logs([best])[0]
    measured = _measured_var(seen.residuals(best), logs, log_sds, keys)
    slopes = surface.slopes(best)
    bent = weights[:, None] * (slopes - slopes.mean(axis=0))
    noise = np.einsum("srk,srl->kl", bent, bent) / (len(logs) * (len(logs) - 1))
    return Fit(
        point=best,
        logs=logs,
        jacobian=surface.jacobian(best),
        noise=noise,
        weights=weights,
        measured_var=measured,
        is_converged=is_converged,
        points=len(seen),
    )


def _surface_over(region: _Region, seen: _Evaluations) -> _Surface:
    """The surface by all points of a region at which all rows have a prediction; of too few, by the nearest beyond."""
    keys = len(region.centre)
    needed = (keys + 1) * (keys + 2) // 2
    points = [one for one in seen.points if np.isfinite(mean_of(seen.logs([one])[0])).all()]
    points.sort(key=lambda one: (not region.holds(one), float(np.abs((one - region.centre) / region.half).max())))
    inside = sum(map(region.holds, points))
    chosen = points[: max(inside, needed)] or [region.centre]
    logs = []
    for one in chosen:
        found = seen.logs([one])[0]
        # Of a seed without a prediction the others' mean stands there.
        logs.append(np.where(np.isfinite(found), found, np.nan_to_num(mean_of(found))))
    return _Surface(region, np.array(chosen), np.array(logs))


def _least(surface: _Surface, region: _Region, observed: Floats, weights: Floats, best: Floats) -> Floats:
    """Where the sum of squares of a surface, less what the seeds' chance puts into it, is least within its region.

    Without that the fit would favour values under which predictions vary little from seed to seed, however many rows
    there are (Laffont, Ossard, Vuong 1995, Econometrica 63:953: simulated non-linear least squares).
    """
    low, room = region.low, np.maximum(region.high - region.low, 1e-9)
    squared = np.square(weights)

    def cost(shares: Floats) -> tuple[float, Floats]:
        point = low + shares * room
        logs, slopes = surface(point), surface.slopes(point) * room
        seeds = len(logs)
        residuals, away = observed - logs.mean(axis=0), logs - logs.mean(axis=0)
        bent = slopes - slopes.mean(axis=0)
        share = 1.0 / (seeds * (seeds - 1))
        value = squared @ (np.square(residuals) - share * np.square(away).sum(axis=0))
        slope = -(squared * residuals) @ slopes.mean(axis=0) - share * np.einsum("r,sr,srk->k", squared, away, bent)
        return float(value), 2.0 * slope

    def residuals_of(shares: Floats) -> Floats:
        return weights * (observed - surface(low + shares * room).mean(axis=0))

    def slopes_of(shares: Floats) -> Floats:
        return -weights[:, None] * surface.jacobian(low + shares * room) * room

    ends = []
    for start in ((best - low) / room, np.full(len(low), 0.5)):
        begun = least_squares(residuals_of, np.clip(start, 1e-6, 1 - 1e-6), jac=slopes_of, bounds=(0.0, 1.0)).x
        ends.append(minimize(cost, begun, jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * len(low)))
    return np.clip(low + min(ends, key=lambda one: float(one.fun)).x * room, 0.0, 1.0)


def _errors(jacobian: Floats, weights: Floats) -> Floats:
    """About the standard error that each key would have by itself; infinite where nothing depends on it."""
    size = np.sqrt(np.square(weights[:, None] * jacobian).sum(axis=0))
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / size)


def _wanted_half(jacobian: Floats, weights: Floats) -> Floats:
    """How wide the last region is to be, to each side."""
    return np.clip(SMALL * _errors(jacobian, weights), LEAST_HALF, 0.5)


def _is_small(region: _Region, jacobian: Floats, weights: Floats) -> bool:
    return bool((region.half <= 1.3 * _wanted_half(jacobian, weights)).all())


def _next_region(region: _Region, best: Floats, jacobian: Floats, weights: Floats) -> _Region:
    """The region around the best point: smaller along each key of which it is not at the edge."""
    away = np.abs(best - region.centre) / region.half
    smaller = np.maximum(region.half * np.where(away > 1.0 - EDGE, 1.0, SHRINK), _wanted_half(jacobian, weights))
    half = np.minimum(smaller, region.half)
    # A region that would reach over an end of the range is moved inside.
    return _Region(np.clip(best, half, 1.0 - half), half)


def _weights_at(point: Floats, seen: _Evaluations, log_sds: Floats) -> Floats:
    logs = seen.logs([point])[0]
    measured = _measured_var(seen.residuals(point), logs, log_sds, len(point))
    return _weights(np.sqrt(measured), variance_of(logs), len(logs))


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
    """One over the standard deviation of each residual; all alike where nothing is known of any.

    The seeds give one variance for all rows: a row's own, over few seeds, would favour rows that happen to vary little,
    and what they say then looks more certain than it is.
    """
    known = np.where(np.isnan(log_sds), 0.0, np.square(log_sds))
    variances = known + float(of_runs.mean()) * (1.0 + 1.0 / seeds)
    least = float(variances[variances > 0].min(initial=math.inf))
    if not math.isfinite(least):
        return np.ones(len(variances))
    # A row of which no spread is known counts as much as the most exact of the others.
    return np.asarray(1.0 / np.sqrt(np.where(variances > 0, variances, least)))
