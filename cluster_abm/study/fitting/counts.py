"""How uneven arrivals are: the index of dispersion of counts in windows of time, of a log and of the model's law."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares
from scipy.stats import chi2

from cluster_abm.arrays import Floats

# The fewest windows of time by which a dispersion is measured, and the fewest jobs in a window's mean.
FEWEST_WINDOWS, FEWEST_JOBS = 8, 0.02
# Each window, and each scale, is longer than the next shorter one by this factor.
WINDOW_STEP, SCALE_STEP = 2.0, 2.5
MOST_CELLS = 200_000
# A dispersion is the mean over this many instants at which the first window may begin.
BEGINS = 6
# A log all whose dispersions lie in this interval of a Poisson process is one.
POISSON_LEVEL = 1e-3
LARGEST_VARIATION = 30.0
# The shortest time that `workload.arrivals.scales_s` takes.
LEAST_SCALE_S = 1e-6


class Bursts(NamedTuple):
    """Arrivals in batches, at a rate that varies on several scales; both may be missing."""

    # batch_mean, batch_gap_s: as `workload.arrivals` has them
    batch_mean: float = 1.0
    batch_gap_s: float = 0.0
    # scales_s, variations: the same
    scales_s: tuple[float, ...] = ()
    variations: tuple[float, ...] = ()


def dispersion(times_s: Floats, window_s: float, piece_s: float) -> float:
    """Variance over mean of the counts in pieces of the window (whole ones alone): 1 of a Poisson process; NaN without
    two pieces or any job in them.

    It is the mean over BEGINS begins of the first piece: of jobs that come by the clock, say at full minutes, it would
    depend on where pieces of a minute begin.

    Args:
        times_s: of the jobs, ascending [s].
        window_s: length of what is cut into pieces [s].
        piece_s: of a piece [s].
    """
    found = [_dispersion(times_s, window_s, piece_s, piece_s * position / BEGINS) for position in range(BEGINS)]
    known = [one for one in found if not math.isnan(one)]
    return math.fsum(known) / len(known) if known else math.nan


def _dispersion(times_s: Floats, window_s: float, piece_s: float, begin_s: float) -> float:
    pieces = int((window_s - begin_s) / piece_s * (1 + 1e-12))
    inside = (times_s[(times_s >= begin_s) & (times_s < begin_s + pieces * piece_s)] - begin_s) / piece_s
    if pieces < 2 or not len(inside):
        return math.nan
    # Of many pieces most are empty: those with jobs suffice for the sums.
    counts = np.unique(inside.astype(np.int64), return_counts=True)[1].astype(float)
    mean = len(inside) / pieces
    return float(((counts**2).sum() - pieces * mean**2) / (pieces - 1) / mean)


def windows_of(window_s: float, jobs: int, resolution_s: float) -> list[float]:
    """Lengths of time in which a log's arrivals are counted, ascending [s]."""
    least = max(10 * resolution_s, FEWEST_JOBS * window_s / jobs)
    most = window_s / FEWEST_WINDOWS
    count = max(1, math.floor(math.log(most / least, WINDOW_STEP)) + 1) if most > least else 1
    return [most / WINDOW_STEP**position for position in reversed(range(count))]


class Grid(NamedTuple):
    """Points by which the covariance of a rate is integrated over some lengths of time."""

    lengths_s: Floats  # of the pieces, shape (lengths,) [s]
    parts: Floats  # (1 - h/s_k)^+ of each scale at each point, shape (scales, points)
    weights: Floats  # of the points, times (1 - h/T) [s]
    first: npt.NDArray[np.int64]  # of each length, the place of its first point


def grid_of(lengths_s: Sequence[float], scales_s: Sequence[float]) -> Grid:
    """Gauss's points between the scales, where the covariance is a polynomial of the number of scales as its degree."""
    nodes, weights = np.polynomial.legendre.leggauss(len(scales_s) // 2 + 2)
    positions: list[Floats] = []
    masses: list[Floats] = []
    first: list[int] = []
    for length in lengths_s:
        edges = np.array([0.0, *sorted(scale for scale in scales_s if scale < length), length])
        half = np.diff(edges)[:, None] / 2
        at = (edges[:-1, None] + half * (nodes + 1)).ravel()
        first.append(sum(len(one) for one in positions))
        positions.append(at)
        masses.append((half * weights).ravel() * (1.0 - at / length))
    at = np.concatenate(positions)
    parts = np.maximum(0.0, 1.0 - at / np.array(scales_s, float)[:, None])
    return Grid(np.array(lengths_s, float), parts, np.concatenate(masses), np.array(first))


def expected(bursts: Bursts, rate: float, grid: Grid) -> Floats:
    """The index of dispersion of counts over each length of time, their true mean known, shape (lengths,).

    1 + twice the integral of (1 - h/T) times the density of further arrivals a time h after one, less the rate (Cox and
    Isham 1980, section 2.5). That density is (b - 1) exp(-h/(b g))/(b g) of batches of mean b with gaps of mean g, and
    rate times prod(1 + v_k^2 (1 - h/s_k)^+) - 1 of factors of variation v_k that hold for s_k each.

    Args:
        bursts: the law.
        rate: mean number of arrivals [1/s].
        grid: of the lengths, and of the law's scales.
    """
    found = 1.0 + np.zeros(len(grid.lengths_s))
    if bursts.batch_mean > 1.0:
        far = grid.lengths_s / (bursts.batch_mean * max(bursts.batch_gap_s, 1e-12))
        found += 2.0 * (bursts.batch_mean - 1.0) * (1.0 + np.expm1(-far) / far)
    if bursts.scales_s:
        squares = np.square(bursts.variations)[:, None]
        covariance = np.prod(1.0 + squares * grid.parts, axis=0) - 1.0
        found += 2.0 * rate * np.add.reduceat(covariance * grid.weights, grid.first)
    return found


def measured(bursts: Bursts, rate: float, pieces_s: Sequence[float], window_s: float) -> Floats:
    """What `dispersion` finds in the mean for each length of pieces, shape (lengths,)."""
    return _measured(bursts, rate, *_grids(pieces_s, window_s, bursts.scales_s))


def _grids(pieces_s: Sequence[float], window_s: float, scales_s: Sequence[float]) -> tuple[Floats, Grid, Grid]:
    """How many pieces of each length there are, and the grids of one and of all together."""
    counts = np.maximum(2, (window_s / np.array(pieces_s) * (1 + 1e-12)).astype(np.int64))
    return counts.astype(float), grid_of(pieces_s, scales_s), grid_of(list(counts * np.array(pieces_s)), scales_s)


def _measured(bursts: Bursts, rate: float, counts: Floats, each: Grid, together: Grid) -> Floats:
    """Less than `expected`, for the mean is that of the same pieces: m/(m - 1) (expected(piece) - expected(all)/m)."""
    return np.asarray(
        counts / (counts - 1) * (expected(bursts, rate, each) - expected(bursts, rate, together) / counts)
    )


def is_poisson(found: Sequence[float], pieces_s: Sequence[float], window_s: float) -> bool:
    """Whether every dispersion lies in a Poisson process's interval (Fisher's: chi-square over degrees of freedom)."""
    for one, piece_s in zip(found, pieces_s, strict=True):
        free = int(window_s / piece_s * (1 + 1e-12)) - 1
        level = POISSON_LEVEL / len(found) / 2
        if not chi2.ppf(level, free) <= one * free <= chi2.ppf(1 - level, free):
            return False
    return True


def fit_bursts(times_s: Floats, window_s: float, resolution_s: float) -> Bursts:
    """The law whose dispersions come nearest to those of a log on all scales; none of a log as even as Poisson's.

    Args:
        times_s: of its jobs, ascending from 0 [s].
        window_s: in which they came [s].
        resolution_s: of its clock: no dispersion in windows of less than ten ticks is fitted [s].
    """
    pieces = windows_of(window_s, len(times_s), resolution_s)
    found = [dispersion(times_s, window_s, piece) for piece in pieces]
    pieces, found = _usable(pieces, found)
    if not pieces or is_poisson(found, pieces, window_s):
        return Bursts()
    rate = len(times_s) / window_s
    shortest = max(0.5 / rate, window_s / MOST_CELLS, pieces[0], LEAST_SCALE_S)
    count = max(1, math.floor(math.log(window_s / 3 / shortest, SCALE_STEP)) + 1)
    scales = tuple(float(f"{shortest * SCALE_STEP**position:.3g}") for position in range(count))
    # By what a dispersion is uncertain: of few pieces more.
    weights = np.array([1.0 / math.sqrt(0.01 + 2.0 / (window_s / piece - 1)) for piece in pieces])

    def law(parameters: Floats) -> Bursts:
        more, gap_s, *logarithms = np.exp(parameters)
        return Bursts(1.0 + float(more), float(gap_s), scales, tuple(float(value) for value in logarithms))

    grids = _grids(pieces, window_s, scales)

    def errors(parameters: Floats) -> Floats:
        found_by = _measured(law(parameters), rate, *grids)
        return np.asarray(weights * np.log(np.maximum(found_by, 1e-3) / found))

    # The clock of a log of a few instants may be coarser than the shortest scale.
    least_gap_s = min(max(resolution_s, 1e-3 * shortest), shortest / 2)
    low = np.log([1e-4, least_gap_s, *[1e-3] * count])
    high = np.log([1e4, shortest, *[LARGEST_VARIATION] * count])
    begin = np.clip(np.log([max(found[0] - 1.0, 0.01) / 2, shortest / 30, *[0.3] * count]), low, high)
    best = least_squares(errors, begin, bounds=(low, high), max_nfev=200).x
    return _plain(law(best))


def _usable(pieces: list[float], found: list[float]) -> tuple[list[float], list[float]]:
    """Those windows in which the counts differ at all."""
    usable = [(piece, one) for piece, one in zip(pieces, found, strict=True) if one > 0]
    return [piece for piece, _ in usable], [one for _, one in usable]


def _plain(bursts: Bursts) -> Bursts:
    """Without batches and scales of no weight, and with four digits of each number."""
    kept = [
        (scale, float(f"{variation:.4g}"))
        for scale, variation in zip(bursts.scales_s, bursts.variations, strict=True)
        if variation > 0.02
    ]
    has_batches = bursts.batch_mean > 1.01
    return Bursts(
        float(f"{bursts.batch_mean:.4g}") if has_batches else 1.0,
        float(f"{bursts.batch_gap_s:.4g}") if has_batches else 0.0,
        tuple(scale for scale, _ in kept),
        tuple(variation for _, variation in kept),
    )
