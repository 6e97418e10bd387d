"""Submission times."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import ndtr, ndtri

from cluster_abm.arrays import Floats
from cluster_abm.limits import BYTES_A_BURST, check_memory
from cluster_abm.scenario.arrivals import Arrivals
from cluster_abm.workload.drawing.rates import course, factors


def submission_times_s(
    arrivals: Arrivals, rng: np.random.Generator, window_s: float, jobs: int | None, jobs_per_s: float
) -> Floats:
    """Submission times inside the window, ascending [s], shape (jobs,).

    Args:
        jobs: their number, or None to let the rate decide.
        jobs_per_s: mean rate [1/s]; not used when `jobs` is given.
    """
    if arrivals.kind == "lognormal-window":
        assert jobs is not None  # the scenario's check
        return _lognormal_window(arrivals, rng, window_s, jobs)
    if arrivals.batch_mean > 1.0:
        return _in_batches(arrivals, rng, window_s, jobs, jobs_per_s)
    return _single(arrivals, rng, window_s, jobs, jobs_per_s)


def _single(
    arrivals: Arrivals, rng: np.random.Generator, window_s: float, jobs: int | None, jobs_per_s: float
) -> Floats:
    """Times of jobs, or of batches, that come by themselves, at a rate that may vary."""
    if arrivals.kind == "bursty":
        times = _bursty(arrivals, rng, window_s, jobs, jobs_per_s)
    elif arrivals.kind == "multiscale":
        instants, mass = factors(arrivals, rng, window_s)
        times = np.interp(_even(rng, float(mass[-1]), jobs, jobs_per_s), mass, instants)
    else:
        times = _even(rng, window_s, jobs, jobs_per_s)
    return _on_course(arrivals, times, window_s)


def _on_course(arrivals: Arrivals, times: Floats, window_s: float) -> Floats:
    """Even times, moved to where the rate follows the hours of the day and the days of the week."""
    if not arrivals.has_course:
        return times
    instants, mass = course(arrivals, window_s)
    return np.interp(times, mass, instants)


def _even(rng: np.random.Generator, length: float, jobs: int | None, jobs_per_s: float) -> Floats:
    """Points on 0..length: `jobs` uniform ones, or a Poisson process of that rate."""
    if jobs is not None:
        times = rng.random(jobs)
        times.sort()
        times *= length
        return times
    times = _unit_poisson(rng, length * jobs_per_s)
    times /= jobs_per_s
    return times


def _in_batches(
    arrivals: Arrivals, rng: np.random.Generator, window_s: float, jobs: int | None, jobs_per_s: float
) -> Floats:
    """Geometric batches, one job an exponential gap after another; what reaches beyond the window's end comes at its
    begin, so that the rate is the same everywhere."""
    more = 1.0 / arrivals.batch_mean
    if jobs is None:
        begins = _single(arrivals, rng, window_s, None, jobs_per_s * more)
        sizes = rng.geometric(more, len(begins))
    else:
        sizes = np.empty(0, np.int64)
        while sizes.sum() < jobs:
            sizes = np.concatenate([sizes, rng.geometric(more, max(16, int((jobs - sizes.sum()) * more)))])
        count = int(np.searchsorted(np.cumsum(sizes), jobs)) + 1
        sizes = sizes[:count]
        sizes[-1] -= sizes.sum() - jobs
        begins = _single(arrivals, rng, window_s, count, jobs_per_s)
        # Their order is no accident: the one that was cut short is not always the last.
        rng.shuffle(sizes)
    times = np.repeat(begins, sizes)
    if arrivals.batch_gap_s > 0.0 and len(times):
        gaps = arrivals.batch_gap_s * rng.standard_exponential(len(times))
        gaps[np.cumsum(sizes) - sizes] = 0.0
        since = np.cumsum(gaps)
        times = np.mod(times + since - np.repeat(since[np.cumsum(sizes) - sizes], sizes), window_s)
    times.sort()
    return times


def poisson_blocks_s(
    arrivals: Arrivals, rng: np.random.Generator, window_s: float, jobs_per_s: float, size: int
) -> Iterator[Floats]:
    """`submission_times_s` of single Poisson arrivals in blocks of `size`, of which the last may be shorter."""
    rest = np.empty(0)
    for piece in _poisson_pieces(rng, window_s * jobs_per_s, size):
        piece /= jobs_per_s
        times = np.concatenate([rest, _on_course(arrivals, piece, window_s)])
        while len(times) >= size:
            yield times[:size]
            times = times[size:]
        rest = times
    if len(rest):
        yield rest


def _unit_poisson(rng: np.random.Generator, length: float) -> Floats:
    """Points of a Poisson process of rate 1 on 0..length."""
    pieces = list(_poisson_pieces(rng, length))
    return np.concatenate(pieces) if len(pieces) > 1 else next(iter(pieces), np.empty(0))


def _poisson_pieces(rng: np.random.Generator, length: float, at_once: int | None = None) -> Iterator[Floats]:
    """As `_unit_poisson`, piece after piece, of at most `at_once` points each; None: of any number.

    The pieces change nothing: not a point, and not what `rng` gives next.
    """
    last = 0.0
    while last < length:
        begin, since = last, 0.0
        to_draw = max(16, int((length - begin) * 1.05) + 16)
        while to_draw:
            times = rng.standard_exponential(min(to_draw, at_once or to_draw))
            to_draw -= len(times)
            times[0] += since
            np.cumsum(times, out=times)
            since = float(times[-1])
            times += begin
            last = float(times[-1])
            # They ascend: only the last ones may be beyond.
            yield times if last < length else times[: times.searchsorted(length)]


def _lognormal_window(arrivals: Arrivals, rng: np.random.Generator, window_s: float, jobs: int) -> Floats:
    """Lognormal(mu, sigma) times given that they fall into the window (MCLS's density, by its shape) [s]."""
    unit_s = arrivals.time_unit_s
    inside = ndtr((np.log(window_s / unit_s) - arrivals.mu) / arrivals.sigma)
    shares = (np.arange(jobs) + 0.5) / jobs if arrivals.regular else rng.random(jobs)
    quantiles = np.maximum(shares * inside, 1e-300)
    with np.errstate(over="ignore"):
        times_s = unit_s * np.exp(arrivals.mu + arrivals.sigma * ndtri(quantiles))
    return np.sort(np.minimum(times_s, window_s))


def _bursty(
    arrivals: Arrivals, rng: np.random.Generator, window_s: float, jobs: int | None, jobs_per_s: float
) -> Floats:
    """Two-state modulated Poisson process: a rate-1 process (or uniform points) through the integrated rate."""
    periods = window_s / (arrivals.burst_s + arrivals.quiet_s)
    what = f"workload.arrivals.burst_s = {arrivals.burst_s:g}, quiet_s = {arrivals.quiet_s:g} in {window_s:g} s"
    check_memory(what, periods * BYTES_A_BURST, periods, "bursts")
    burst_share = arrivals.burst_s / (arrivals.burst_s + arrivals.quiet_s)
    in_burst = bool(rng.random() < burst_share)
    boundaries, weights = [0.0], []
    while boundaries[-1] < window_s:
        mean_s = arrivals.burst_s if in_burst else arrivals.quiet_s
        boundaries.append(boundaries[-1] + mean_s * rng.standard_exponential())
        weights.append(arrivals.burst_factor if in_burst else 1.0)
        in_burst = not in_burst
    boundaries[-1] = window_s
    mass = np.concatenate([[0.0], np.cumsum(np.diff(boundaries) * weights)])
    if jobs is not None:
        points = np.sort(rng.random(jobs)) * mass[-1]
    else:
        quiet_rate = jobs_per_s / (1.0 - burst_share + burst_share * arrivals.burst_factor)
        points = _unit_poisson(rng, mass[-1] * quiet_rate) / quiet_rate
    return np.interp(points, mass, boundaries)
