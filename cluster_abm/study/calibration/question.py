"""What is calibrated: the scenario, its keys and their ranges, and what was measured."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cluster_abm.arguments import shortened
from cluster_abm.arrays import Floats
from cluster_abm.errors import InputError, gathered
from cluster_abm.limits import check_runs, counted
from cluster_abm.model.observing.existing import metrics_of
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.unused import keys_without_effect, reason_without_effect
from cluster_abm.study.asking import QuestionOfRanges, check_seeds, too_few_seeds
from cluster_abm.study.calibration.fitting import design_size
from cluster_abm.study.calibration.observed import Observed
from cluster_abm.study.design.metrics import nearest_metric
from cluster_abm.study.tuning.ranges import NOT_SEARCHED, Over, Value, checked, with_settings
from cluster_abm.workload import job_table

# Significant digits to which values are rounded before they are run: what is run is what can be pasted.
DIGITS = 6
# Values of each key over its range that are run for the picture, beyond the budget.
SLICE = 7


@dataclass(frozen=True)
class CalibrationQuestion(QuestionOfRanges):
    """What is calibrated."""

    command = "calibrate"
    words = "a calibration"
    scenario: Scenario  # as it stands
    overs: tuple[Over, ...]  # the keys and their ranges
    observed: Observed  # what was measured, with what is held out
    seeds: int = 8  # runs that each prediction is the mean of, from the scenario's seed on
    budget: int = 2000  # how many runs the fit may take

    @property
    def runs_each(self) -> int:
        """Runs that one point takes."""
        return self.seeds * len(self.observed.runs)

    @property
    def expected_runs(self) -> int:
        """The budget of the fit."""
        return self.budget

    def settings(self, point: Floats) -> dict[str, Value]:
        """The keys' values at a point of the unit cube."""
        return {over.key: value_of(over, float(share)) for over, share in zip(self.overs, point, strict=True)}

    def point(self, values: Mapping[str, Value | None]) -> Floats | None:
        """Where values lie in the unit cube; None: some lie outside."""
        shares = []
        for over in self.overs:
            value = values[over.key]
            if isinstance(value, bool) or not isinstance(value, int | float) or not over.low <= value <= over.high:
                return None
            low, high = (math.log(over.low), math.log(over.high)) if over.log else (over.low, over.high)
            shares.append(((math.log(value) if over.log else value) - low) / (high - low))
        return np.array(shares)

    @cached_property
    def of_runs(self) -> dict[str, Scenario]:
        """The scenario of each run that was measured. Raises InputError for conditions it does not take."""
        found, problems = {}, []
        for run, conditions in self.observed.conditions.items():
            where = f"{self.observed.file}: run {shortened(run)}"
            for key in conditions:
                reason = None if key == "policy.name" else reason_without_effect(key, NOT_SEARCHED)
                if reason is not None:
                    problems.append(f"{where}: {key}: is no condition of a run: {reason}")
                if key in {over.key for over in self.overs}:
                    problems.append(f"{where}: {key}: is fitted (--over), so that no run can set it")
            try:
                found[run] = with_settings(self.scenario, conditions)
            except InputError as problem:
                problems += [f"{where}: {line.removeprefix('override: ')}" for line in problem.problems]
                continue
            unused = keys_without_effect(found[run])
            reasons = {key: reason_without_effect(key, unused) for key in conditions}
            problems += [f"{where}: {key}: has no effect: {reason}" for key, reason in reasons.items() if reason]
        if problems:
            raise InputError(problems)
        return found

    def check(self) -> None:
        """Raise InputError for whatever is wrong."""
        self.check_policy()
        with gathered() as gather:
            gather.problems += self._problems_of_numbers()
            with gather:
                self._check_ranges()
            with gather:
                self._check_rows()
        check_seeds(self.scenario.run.seed, self.seeds)
        check_runs(f"--budget {counted(self.budget)}", self.budget + SLICE * len(self.overs) * self.runs_each)

    def _problems_of_numbers(self) -> Iterator[str]:
        yield from too_few_seeds(self.seeds)
        keys = len(self.overs)
        least = 2 * design_size(keys) * self.runs_each
        if self.budget < least:
            yield (
                f"--budget {self.budget}: {least} runs at least are needed for {keys} keys, {self.seeds} seeds and "
                f"{len(self.observed.runs)} observed runs"
            )

    def _check_ranges(self) -> None:
        searched = checked(self.scenario, self.overs)
        problems = [
            f"--over {one.over}: a fit needs numbers that lie close to each other; "
            f"{'choices' if one.over.choices else 'whole numbers'} are compared by a calibration for each (--set)"
            for one in searched
            if one.over.choices or one.whole
        ]
        if problems:
            raise InputError(problems)

    def _check_rows(self) -> None:
        observed, problems = self.observed, []
        fitted = observed.fitted
        if not fitted:
            raise InputError(f"{observed.file}: nothing to fit: all rows are held out")
        has_spread = all(not math.isnan(row.log_sd) for row in fitted)
        needed = len(self.overs) + (0 if has_spread else 1)
        if len(fitted) < needed:
            raise InputError(
                f"{observed.file}: {len(fitted)} row(s) to fit {len(self.overs)} key(s): {needed} at least are needed"
                + ("" if has_spread else " (or an sd, or ci_low and ci_high, in each)")
            )
        for run, scenario in self.of_runs.items():
            rows = [row for row in observed.rows if row.run == run]
            if observed.kind == "jobs":
                problems += list(self._problems_of_jobs(run, scenario, rows))
            else:
                known = metrics_of(scenario)
                for row in rows:
                    if row.name not in known:
                        hint = nearest_metric(str(row.name), known)
                        words = f"metric = {shortened(row.name)}: no such metric of a run; {hint}"
                        problems.append(observed.line(row, words))
        if problems:
            raise InputError(problems[:10] + ([f"{len(problems) - 10} more problems"] if len(problems) > 10 else []))

    def _problems_of_jobs(self, run: str, scenario: Scenario, rows: list[Any]) -> Iterator[str]:
        work = scenario.workload
        if scenario.measure.records != "all":
            yield f'measure.records = "{scenario.measure.records}": rows by job need those of tasks: allowed "all"'
        if work.kind != "trace" or work.trace.keep_share < 1.0 or work.trace.resample != "none":
            yield (
                f"{self.observed.file}: run {shortened(run)}: rows by job need the same jobs from every seed: a trace "
                '(--trace FILE, workload.trace.keep_share = 1, resample = "none"), or rows by metric'
            )
            return
        jobs = len(job_table(scenario, scenario.run.seed))
        for row in rows:
            if int(row.name) >= jobs:
                yield self.observed.line(row, f"job = {row.name}: run {shortened(run)} has jobs 0 to {jobs - 1}")

    def own_json(self) -> dict[str, Any]:
        """All on which runs depend, for JSON; with a larger budget the command goes on from the runs that are there."""
        observed = self.observed
        return {
            "over": [str(over) for over in self.overs],
            "seeds": self.seeds,
            "rows": [[row.run, row.name, row.value, _or_none(row.log_sd), row.is_held_out] for row in observed.rows],
            "conditions": {run: dict(found) for run, found in observed.conditions.items()},
        }


# As documented before there were several questions.
Question = CalibrationQuestion


def value_of(over: Over, share: float) -> float:
    """The value of a key at a share of its range, 0 to 1."""
    value = over.low * (over.high / over.low) ** share if over.log else over.low + share * (over.high - over.low)
    return min(max(float(f"{value:.{DIGITS}g}"), over.low), over.high)


def slope_of(over: Over, share: float) -> float:
    """How far the value goes for a step of 1 in the range, at a share of it."""
    if over.log:
        return value_of(over, share) * math.log(over.high / over.low)
    return over.high - over.low


def interval_of(over: Over, share: float, arm: float) -> tuple[float, float]:
    """The interval of a key, cut to its range.

    Of a key whose range is above 0 by factors, value / f to value * f: chance grows with such keys (times, rates), so
    that an interval by differences would be too short above a value that came out small.

    Args:
        over: the range.
        share: of the range at which the estimate lies, 0 to 1.
        arm: half of the interval, in ranges.
    """
    value, slope = value_of(over, share), slope_of(over, share)
    if not math.isfinite(arm):
        return over.low, over.high
    if over.low > 0:
        factor = math.exp(min(arm * slope / value, 700.0))
        low, high = value / factor, value * factor
    else:
        low, high = value - arm * slope, value + arm * slope
    return max(float(f"{low:.{DIGITS}g}"), over.low), min(float(f"{high:.{DIGITS}g}"), over.high)


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
