"""How far a fit can be trusted: intervals of each key, and what the data cannot tell.

An estimate moves with what was measured by A = (J'W J)^-1 J'W, where J are the derivatives of the predictions and W the
squared weights. Three things move it: errors of measurement, row by row; the chance in the machine's own run, which
moves many rows together (a queue behind a long job), and of which each simulated seed is another draw; and the chance
in the seeds by which the predictions were averaged. The last two are taken from the seeds as they are, moved through A
(a sandwich: White 1980, Econometrica 48:817), with no assumption on how rows hang together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from cluster_abm.arrays import Floats
from cluster_abm.study.calibration.fitting import Fit, mean_of

# Two keys, each of which takes the other's place, are named from here on.
HIGH_CORRELATION = 0.95
# An interval that covers this share of a range says nothing of the key.
WHOLE_RANGE = 0.9
# A direction with less than this share of the largest information has none.
SINGULAR = 1e-12
# A key with less than this share of another key's effect on the rows changes only the last digits.
NOTHING = 1e-6
# The share of the information that must be left when chance is taken out of it.
LEAST_LEFT = 0.3


@dataclass(frozen=True)
class Uncertainty:
    """What is known of the keys, in the unit cube of their ranges."""

    errors: Floats  # standard error of each key, shape (keys,); infinite: the data tell nothing of it
    freedom: Floats  # degrees of freedom of Student's t for each, shape (keys,)
    shares: Floats  # of each key's variance, by measurement, by the machine's run, by the seeds, shape (keys, 3)
    correlation: Floats  # of the estimates, shape (keys, keys)
    singular: Floats  # directions in the ranges along which nothing that is observed changes, shape (any, keys)
    flat: tuple[int, ...]  # keys that change nothing that is observed, by position

    def arms(self, level: float) -> Floats:
        """Half of the two-sided interval of each key, shape (keys,), in ranges.

        Args:
            level: e.g. 0.95.
        """
        return np.asarray(stdtrit(self.freedom, (1.0 + level) / 2.0) * self.errors)


def uncertainty_of(found: Fit, runs: npt.NDArray[np.int64]) -> Uncertainty:
    """Standard errors of a fit, and where it has no information.

    Args:
        found: the fit.
        runs: the number of the run that each row is of, shape (rows,).
    """
    weighted = found.weights[:, None] * found.jacobian
    rows, keys = weighted.shape
    _, sizes, directions = np.linalg.svd(weighted, full_matrices=True)
    information = np.zeros(keys)
    information[: len(sizes)] = np.square(sizes)
    most = float(information.max(initial=0.0))
    known = information > SINGULAR * most if most > 0 else np.zeros(keys, bool)
    singular = directions[~known]
    inverse = _inverse(directions[known], information[known], found.noise)
    influence = inverse @ (weighted.T * found.weights)
    # A key in which a direction without information has a part is not known at all.
    open_keys = np.square(singular).sum(axis=0) > 1e-6
    measured = np.square(influence) @ found.measured_var
    of_run, of_seeds = _by_chance(influence, found.logs, runs)
    parts = np.stack([measured, of_run, of_seeds], axis=1)
    total = parts.sum(axis=1)
    sizes_of_keys = np.linalg.norm(weighted, axis=0)
    seeds = len(found.logs)
    many_runs = len(np.unique(runs))
    freedom = np.square(total) / np.maximum(
        np.square(measured) / max(1, rows - keys)
        + np.square(of_run) / max(1, (seeds - 1) * many_runs)
        + np.square(of_seeds) / max(1, seeds - 1),
        1e-300,
    )
    shares = np.where(total[:, None] > 0, parts / np.maximum(total[:, None], 1e-300), 0.0)
    return Uncertainty(
        np.where(open_keys, math.inf, np.sqrt(total)),
        np.clip(freedom, 1.0, 1e6),
        shares,
        _correlation(information, directions, most),
        singular,
        tuple(np.flatnonzero(sizes_of_keys <= NOTHING * sizes_of_keys.max()).tolist()),
    )


def _inverse(directions: Floats, information: Floats, noise: Floats) -> Floats:
    """The inverse of J'WJ in the directions that have information, shape (keys, keys).

    Derivatives have chance in them, too, by which J'WJ is too large; it is taken out, unless little would be left.
    """
    plain = np.diag(information)
    less = plain - directions @ noise @ directions.T
    scale = np.sqrt(information)
    left = np.linalg.eigvalsh(less / np.outer(scale, scale)) if len(scale) else np.ones(1)
    used = less if left.min() > LEAST_LEFT else plain
    return np.asarray(directions.T @ np.linalg.solve(used, directions))


def _by_chance(influence: Floats, logs: Floats, runs: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Variance of the estimates by the chance in the machine's runs, and by that in the seeds, shape (keys,) each."""
    seeds = len(logs)
    away = np.where(np.isfinite(logs), logs - mean_of(logs), 0.0)
    of_run = np.zeros(len(influence))
    moved = np.zeros((seeds, len(influence)))
    if seeds > 1:
        for run in np.unique(runs):
            own = runs == run
            part = away[:, own] @ influence[:, own].T
            moved += part
            # Runs of the machine are independent of each other; seeds are the same in all.
            of_run += np.square(part).sum(axis=0) / (seeds - 1)
    return of_run, np.square(moved).sum(axis=0) / max(1, seeds - 1) / seeds


def _correlation(information: Floats, directions: Floats, most: float) -> Floats:
    """The correlation of the estimates, by the design; directions without information count as all but unknown."""
    covariance = (directions.T / np.maximum(information, SINGULAR * most or 1.0)) @ directions
    scale = np.sqrt(np.diag(covariance))
    return np.asarray(covariance / np.outer(scale, scale))


@dataclass(frozen=True)
class NamedKey:
    """A key as it is spoken of: its name, value, and how far the value goes for a step in the unit cube."""

    key: str
    value: float
    slope: float


def what_cannot_be_told(known: Uncertainty, point: Floats, keys: Sequence[NamedKey]) -> list[str]:
    """What the data cannot tell, a sentence each.

    Args:
        known: of the fit.
        point: in the unit cube.
        keys: in the order of the columns.
    """
    found = [f"{keys[position].key} changes nothing that was observed" for position in known.flat]
    paired: set[int] = set()
    for one in range(len(keys)):
        for other in range(one + 1, len(keys)):
            r = float(known.correlation[one, other])
            if abs(r) > HIGH_CORRELATION and not {one, other} & set(known.flat):
                paired |= {one, other}
                found.append(_of_pair(keys[one], keys[other], r, known, one, other))
    for direction in known.singular:
        parts = [key for key in np.flatnonzero(np.abs(direction) > 0.05).tolist() if key not in known.flat]
        if len(parts) > 2:
            named = ", ".join(keys[part].key for part in parts)
            found.append(f"the data tell only a combination of {named}: one of them has to be known otherwise")
            paired |= set(parts)
    arms = known.arms(0.90)
    widths = np.minimum(point + arms, 1.0) - np.maximum(point - arms, 0.0)
    for position, width in enumerate(widths.tolist()):
        if width >= WHOLE_RANGE and position not in known.flat and position not in paired:
            found.append(f"{keys[position].key} is not told within its range: its 90 % interval covers it")
    return found


def _of_pair(a: NamedKey, b: NamedKey, r: float, known: Uncertainty, one: int, other: int) -> str:
    """What the data tell of two keys that stand for each other."""
    # Along the ridge, b moves by this when a moves by 1.
    scale = _ridge(known, one, other, r)
    slope = scale * b.slope / a.slope
    kind = "a combination"
    if a.value > 0 and b.value > 0:
        # In per cent of each.
        bend = slope * a.value / b.value
        if abs(bend + 1.0) < 0.2:
            kind = "the product"
        elif abs(bend - 1.0) < 0.2:
            kind = "the ratio"
        elif abs(slope + 1.0) < 0.2:
            kind = "the sum"
        elif abs(slope - 1.0) < 0.2:
            kind = "the difference"
    step = 0.1 * abs(a.value) or 1.0
    moved = slope * step
    return (
        f"the data tell only {kind} of {a.key} and {b.key} well: {a.key} {step:.3g} higher with {b.key} "
        f"{abs(moved):.3g} {'higher' if moved > 0 else 'lower'} predicts much the same (correlation {r:+.3f})"
    )


def _ridge(known: Uncertainty, one: int, other: int, r: float) -> float:
    """How far the other key moves in its range for a step of the first, along the direction that is known worst."""
    for direction in known.singular:
        if abs(direction[one]) > 1e-3 and abs(direction[other]) > 1e-3:
            return float(direction[other] / direction[one])
    return float(r * known.errors[other] / known.errors[one]) if known.errors[one] > 0 else r
