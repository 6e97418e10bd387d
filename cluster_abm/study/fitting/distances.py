"""How far draws of a fitted scenario are from the log it was fitted to."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import ks_2samp

from cluster_abm.arrays import Floats
from cluster_abm.clock import DAY_S, HOUR_S, WEEK_S
from cluster_abm.scenario.distributions import Distribution
from cluster_abm.study.fitting.counts import FEWEST_JOBS, FEWEST_WINDOWS, dispersion
from cluster_abm.study.fitting.courses import hourly
from cluster_abm.study.fitting.fit import DEMANDS, Fitted
from cluster_abm.study.fitting.joint import autocorrelations, rank_correlations
from cluster_abm.study.fitting.log import JobLog, Jobs, drawn_jobs
from cluster_abm.study.fitting.marginals import Quantiles, distance, sample_of

# Lengths of time in which jobs are counted, those that the log has enough windows and jobs for [s].
PIECES_S = (1.0, 10.0, 60.0, 600.0, HOUR_S, 6 * HOUR_S, DAY_S, WEEK_S)
# How many jobs apart two jobs are of which ranks are compared.
APART = (1, 10, 100)


@dataclass(frozen=True)
class Pair:
    """A number of the log beside that of the model: its mean over seeds, the least and the largest."""

    log: float
    model: float
    low: float
    high: float

    def as_json(self) -> dict[str, float | None]:
        """As numbers of a JSON document."""
        return {name: _finite(value) for name, value in vars(self).items()}


@dataclass(frozen=True)
class Distances:
    """Log and model side by side."""

    seeds: tuple[int, ...]  # of the draws
    # by column that has one law, the Kolmogorov-Smirnov distance between the log and the fitted law itself
    law: dict[str, float]
    drawn: dict[str, float]  # by column, that between the log and the draws of a seed: its mean over seeds
    means: dict[str, float]  # by column that has one law, mean of the law over that of the log
    dispersions: dict[float, Pair]  # index of dispersion of counts, by length of the windows [s]
    correlations: dict[str, Pair]  # rank correlations by "first,second"
    repeats: dict[int, Pair]  # rank correlation of a job's demands with those of an earlier job, by the lag in jobs
    homes: dict[int, Pair]  # share of the jobs, by node; homes_cpu: of the CPU time, of tasks together
    homes_cpu: dict[int, Pair]
    # jobs, work: their number, and CPU time of all tasks together [ms]
    jobs: Pair
    work: Pair

    def as_json(self) -> dict[str, Any]:
        """The part `distances` of `trace fit --json`."""
        columns = {
            name: {
                "ks_law": _finite(self.law.get(name, math.nan)),
                "ks_drawn": _finite(self.drawn[name]),
                "mean_ratio": _finite(self.means.get(name, math.nan)),
            }
            for name in self.drawn
        }
        found: dict[str, Any] = {"seeds": list(self.seeds), "columns": columns}
        for name in ("dispersions", "correlations", "repeats", "homes", "homes_cpu"):
            found[name] = {_key(key): pair.as_json() for key, pair in getattr(self, name).items()}
        return found | {"jobs": self.jobs.as_json(), "work_ms": self.work.as_json()}


def _finite(value: float) -> float | None:
    """What JSON has a number for."""
    return value if math.isfinite(value) else None


def _key(key: object) -> str:
    return f"{key:.12g}" if isinstance(key, float) else str(key)


def distances(log: JobLog, fitted: Fitted, seeds: Iterable[int]) -> tuple[Distances, list[Jobs]]:
    """Draw the scenario's jobs from each seed, and hold them against the log's; also the draws."""
    seeds = tuple(seeds)
    jobs = log.jobs
    draws = [drawn_jobs(fitted.scenario, seed, jobs) for seed in seeds]
    pieces = [piece for piece in PIECES_S if _countable(jobs, piece, log.resolution_s)]
    law, drawn, means = {}, {}, {}
    for name, values in jobs.columns.items():
        known = values[~np.isnan(values)]
        found = _law_of(fitted, name)
        if found is not None:
            sample = sample_of(known)
            law[name] = float(distance(found, sample).max())
            means[name] = found.mean / sample.mean if sample.mean else 1.0
        drawn[name] = _mean([ks_2samp(known, one.columns[name], method="asymp").statistic for one in draws if len(one)])
    return Distances(
        seeds, law, drawn, means,
        dispersions={piece: _beside(jobs, draws, _dispersion_in(piece)) for piece in pieces},
        correlations=_by_key(jobs, draws, lambda one: rank_correlations(one.columns)),
        repeats=_by_key(jobs, draws, _apart),
        homes=_by_key(jobs, draws, lambda one: _by_home(one, np.ones(len(one.times_s)))),
        homes_cpu=_by_key(jobs, draws, lambda one: _by_home(one, _work_of(one))),
        jobs=_beside(jobs, draws, lambda one: float(len(one.times_s))),
        work=_beside(jobs, draws, lambda one: one.work_ms) if "cpu_ms" in jobs.columns else Pair(*[math.nan] * 4),
    ), draws  # fmt: skip


def hours_of(jobs: Jobs, starts_h: float) -> Floats:
    """Rates of the 24 hours of the day over their mean; NaN of a window of less than a day."""
    return hourly(jobs.times_s, jobs.window_s, starts_h) if jobs.window_s >= DAY_S else np.full(24, np.nan)


def _countable(jobs: Jobs, piece_s: float, resolution_s: float) -> bool:
    per_piece = len(jobs.times_s) / jobs.window_s * piece_s
    return piece_s >= resolution_s and per_piece >= FEWEST_JOBS and jobs.window_s / piece_s >= FEWEST_WINDOWS


def _dispersion_in(piece_s: float) -> Callable[[Jobs], float]:
    return lambda jobs: dispersion(jobs.times_s, jobs.window_s, piece_s)


def _law_of(fitted: Fitted, name: str) -> Quantiles | None:
    """The law of a column; None: its groups of sessions have one each."""
    widths = fitted.scenario.workload.tasks.widths
    if name == "tasks":
        return widths_law(fitted.scenario.workload.tasks.weights_of_widths) if widths else None
    return as_quantiles(fitted.laws[name]) if name in fitted.laws else None


def as_quantiles(law: Distribution) -> Quantiles:
    """A fitted law's quantiles."""
    if law.kind == "fixed":
        return Quantiles((law.mean, law.mean), (0.0, 1.0))
    return Quantiles(law.values, law.shares)


def widths_law(weights: Iterable[tuple[int, float]]) -> Quantiles:
    """The law of widths as steps."""
    numbers, heights = zip(*weights, strict=True)
    ends = np.cumsum(heights) / sum(heights)
    ends[-1] = 1.0
    values = [float(number) for number in numbers for _ in range(2)]
    return Quantiles(tuple(values), (0.0, *(float(end) for end in np.repeat(ends, 2)[:-1])))


def _apart(jobs: Jobs) -> dict[int, float]:
    columns = [jobs.columns[name] for name in DEMANDS if name in jobs.columns]
    if not columns or len(jobs.times_s) <= 2 * max(APART):
        return {}
    return {lag: float(value) for lag, value in zip(APART, autocorrelations(columns, APART), strict=True)}


def _work_of(jobs: Jobs) -> Floats:
    cpu = jobs.columns.get("cpu_ms")
    if cpu is None:
        return np.zeros(len(jobs.times_s))
    return np.nan_to_num(cpu * jobs.columns.get("tasks", np.ones(1)))


def _by_home(jobs: Jobs, weights: Floats) -> dict[int, float]:
    if jobs.homes is None or not weights.sum():
        return {}
    shares = np.bincount(jobs.homes, weights) / weights.sum()
    return {node: float(share) for node, share in enumerate(shares)}


def _by_key(jobs: Jobs, draws: list[Jobs], measure: Callable[[Jobs], Mapping[Any, float]]) -> dict[Any, Pair]:
    """What a measure gives of the log, key by key, beside what it gives of the draws (0 where a draw lacks a key)."""
    wanted, found = measure(jobs), [measure(one) for one in draws]
    return {key: _pair(value, [one.get(key, 0.0) for one in found]) for key, value in wanted.items()}


def _beside(jobs: Jobs, draws: list[Jobs], measure: Callable[[Jobs], float]) -> Pair:
    return _pair(measure(jobs), [measure(one) for one in draws])


def _mean(values: list[float]) -> float:
    """The mean; NaN of no values (a draw may be without any job)."""
    return float(np.mean(values)) if values else math.nan


def _pair(log: float, model: list[float]) -> Pair:
    return Pair(log, float(np.mean(model)), float(np.min(model)), float(np.max(model)))
