"""What a paper says of its curves, held against measured ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt
from scipy import stats

from cluster_abm.arrays import Floats
from cluster_abm.study.papers.plan import Claim, Number, X
from cluster_abm.study.statistics.estimates import CONFIDENCE, Estimate, estimate

# One series: its points, and its values at them, shape (points, seeds).
Curve = tuple[Sequence[X], Floats]
Curves = Callable[[str], Curve]
RESAMPLES = 2000


def check_claim(claim: Claim, curves: Curves) -> tuple[str, bool]:
    """A claim in words with the measured figures, and whether it holds."""
    if claim.kind == "minimum":
        return _minimum(claim, curves(claim.a))
    if claim.kind == "steepest":
        return _steepest(claim, curves(claim.a))
    x, a_values = _at(claim, curves(claim.a))
    if not len(x):
        return f"{claim.a}: nothing measured", False
    a = a_values.mean(axis=1)
    if claim.kind in ("rising", "falling"):
        rank = float(stats.spearmanr(np.arange(len(x)), a).statistic) if np.ptp(a) > 0 else 0.0
        verb, sign = ("rises", 1) if claim.kind == "rising" else ("falls", -1)
        text = f"{claim.a} {verb}, {a[0]:.3g} to {a[-1]:.3g} (rank correlation {rank:.2f})"
        return text, bool(sign * (a[-1] - a[0]) > 0 and sign * rank > 0.8)
    if claim.kind == "flat":
        worst = float(np.abs(a / a.mean() - 1).max() * 100)
        span = f"{a.min():.3g}..{a.max():.3g}"
        return f"{claim.a} within {claim.percent:g} % of its mean ({span}, worst {worst:.1f} %)", worst <= claim.percent
    other_x, b_values = _at(claim, curves(claim.b))
    if tuple(x) != tuple(other_x):
        return f"{claim.a} and {claim.b}: not measured at the same points", False
    ratio = a / b_values.mean(axis=1)
    span = f"{ratio.min():.3g}..{ratio.max():.3g}"
    match claim.kind:
        case "below":
            text = f"{claim.a} below {claim.b} at {int((ratio < 1).sum())} of {len(x)} points (ratio {span})"
            return text, bool((ratio < 1).all())
        case "within":
            worst = float(np.abs(ratio - 1).max() * 100)
            text = f"{claim.a} within {claim.percent:g} % of {claim.b} (worst {worst:.1f} %)"
            return text, worst <= claim.percent
        case "better" | "equal":
            return _compare(claim, a_values, b_values)
        case "widens":
            return _widens(claim, x, a_values, b_values)
    text = f"{claim.a}/{claim.b} in {claim.minimum:g}..{claim.maximum:g} (found {span})"
    return text, bool((ratio >= claim.minimum).all() and (ratio <= claim.maximum).all())


def _at(claim: Claim, curve: Curve) -> Curve:
    """The points that the claim is about."""
    x, values = curve
    if not claim.at:
        return x, values
    positions = [position for position, point in enumerate(x) if point in claim.at]
    return [x[position] for position in positions], values[positions]


def _minimum(claim: Claim, curve: Curve) -> tuple[str, bool]:
    """Find where the curve is least, and whether the points next to it lie significantly above it."""
    x, values = curve
    if len(x) < 2 or not set(claim.at) <= set(x):
        return f"{claim.a}: not measured at the points", False
    means = values.mean(axis=1)
    least = int(means.argmin())
    expected = " or ".join(str(point) for point in claim.at)
    text = f"{claim.a} is least at {expected} (found at {x[least]}, {means[least]:.3g}"
    for beside in (least - 1, least + 1):
        if 0 <= beside < len(x):
            found = estimate(np.log(values[beside] / values[least]).tolist())
            beyond = found.ci95 is not None and found.ci95[0] > 0.0
            ratio, how = math.exp(found.mean), "beyond" if beyond else "within"
            text += f"; at {x[beside]} {ratio:.3g} times that, {how} noise"
    return text + ")", x[least] in claim.at


def _steepest(claim: Claim, curve: Curve) -> tuple[str, bool]:
    """Find the two neighbouring points between which the curve rises most."""
    x, values = curve
    if len(x) < 2 or not set(claim.at) <= set(x):
        return f"{claim.a}: not measured at the points", False
    rises = np.diff(values.mean(axis=1))
    at = int(rises.argmax())
    text = f"{claim.a} rises most from {claim.at[0]} to {claim.at[1]} (found from {x[at]} to {x[at + 1]}, "
    return f"{text}by {rises[at]:.3g})", tuple(x[at : at + 2]) == claim.at and bool(rises[at] > 0)


def _compare(claim: Claim, a_values: Floats, b_values: Floats) -> tuple[str, bool]:
    """Judge by the geometric mean of a/b over the points, seed by seed on the same jobs."""
    if a_values.shape != b_values.shape:
        return f"{claim.a} and {claim.b}: not the same seeds finished", False
    found = estimate(np.log(a_values / b_values).mean(axis=0).tolist())
    mean = math.exp(found.mean)
    text = f"{claim.a}/{claim.b} = {mean:.3g}"
    if found.ci95 is not None:
        text += f" [{math.exp(found.ci95[0]):.3g}, {math.exp(found.ci95[1]):.3g}]"
    text += " in the geometric mean over all points"
    if claim.kind == "equal":
        return f"{text} (within {claim.percent:g} %)", abs(mean - 1.0) * 100 <= claim.percent
    return text, found.ci95 is not None and found.ci95[1] < 0.0


def _widens(claim: Claim, x: Sequence[X], a_values: Floats, b_values: Floats) -> tuple[str, bool]:
    """Judge by b/a at the last point over b/a at the first, seed by seed on the same jobs."""
    if a_values.shape != b_values.shape:
        return f"{claim.a} and {claim.b}: not the same seeds finished", False
    gains = np.log(b_values / a_values)
    found = estimate((gains[-1] - gains[0]).tolist())
    first, last = np.exp(gains[[0, -1]].mean(axis=1))
    text = f"{claim.b}/{claim.a} from {first:.3g} at {_shown(x[0])} to {last:.3g} at {_shown(x[-1])}"
    if found.ci95 is None:
        return text, False
    text += f", {math.exp(found.mean):.3g} [{math.exp(found.ci95[0]):.3g}, {math.exp(found.ci95[1]):.3g}] times as much"
    return text, found.ci95[0] > 0.0


def _shown(x: X) -> str:
    return x if isinstance(x, str) else f"{x:g}"


def measure_number(number: Number, curves: Curves) -> Estimate | None:
    """A published number as measured, with its 95 % interval by bootstrap over seeds; None if points are missing."""
    wanted = {name: curves(name) for name in (*number.old, *number.new)}
    xs = number.at or tuple(wanted[number.new[0]][0])
    if not xs or any(x not in points for points, _ in wanted.values() for x in xs):
        return None
    values = {name: np.array([rows[list(points).index(x)] for x in xs]) for name, (points, rows) in wanted.items()}
    seeds = min(rows.shape[1] for rows in values.values())
    pairs = list((zip if number.paired else product)(number.old, number.new))

    def of_seeds(chosen: npt.NDArray[np.int64]) -> float:
        means = {name: rows[:, chosen].mean(axis=1) for name, rows in values.items()}
        ratios = [means[old] / means[new] for old, new in pairs]
        return statistic(number.statistic, np.array(ratios))

    all_points = np.arange(seeds)
    if seeds < 2:
        return Estimate(of_seeds(all_points), None)
    found = stats.bootstrap(
        (all_points,), of_seeds, vectorized=False, n_resamples=RESAMPLES, confidence_level=CONFIDENCE,
        method="percentile", rng=np.random.default_rng(1),
    ).confidence_interval  # fmt: skip
    return Estimate(of_seeds(all_points), (float(found.low), float(found.high)))


def statistic(name: str, ratios: Floats) -> float:
    """One of Number's statistics of the ratios old/new."""
    how, what = name.split()
    per_point = {"ratio": ratios, "improvement": (ratios - 1.0) * 100.0, "reduction": (1.0 - 1.0 / ratios) * 100.0}
    values = per_point[what]
    return float(values.mean() if how == "mean" else values.max() if how == "largest" else values.min())
