"""What the simulator says of each row that was measured, by the values of the keys."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cluster_abm.arrays import Floats
from cluster_abm.errors import InputError
from cluster_abm.scenario import Scenario
from cluster_abm.study.calibration.fitting import BudgetSpent
from cluster_abm.study.calibration.observed import Row
from cluster_abm.study.calibration.question import CalibrationQuestion
from cluster_abm.study.runner.counted_runs import CountedRuns
from cluster_abm.study.runner.measuring import RESPONSES
from cluster_abm.study.tuning.ranges import Value, with_settings


class Predictions:
    """Predictions of rows, a column each, by runs of the scenario.

    Args:
        question: checked.
        runs: carries out runs, with the responses of jobs where rows are by job.
        rows: in the order of the columns.

    Attributes:
        budget: runs that `of_points` may ask for.
    """

    def __init__(self, question: CalibrationQuestion, runs: CountedRuns, rows: Sequence[Row]) -> None:
        self._question, self._runs, self._rows = question, runs, rows
        self.budget = question.budget
        self._known: dict[tuple[tuple[str, Value], ...], Floats] = {}

    def of_points(self, points: Sequence[Floats]) -> Floats:
        """Predicted logarithms at points of the unit cube, shape (points, seeds, rows); NaN where there is none.

        Raises BudgetSpent: they would take more runs than are left.
        """
        if len(points) * self._question.runs_each > self.budget:
            raise BudgetSpent
        self.budget -= len(points) * self._question.runs_each
        return self.of_settings([self._question.settings(point) for point in points])

    def of_settings(self, settings: Sequence[Mapping[str, Value]]) -> Floats:
        """As `of_points`, of values of the keys, whatever is left of the budget."""
        names = [tuple(sorted(values.items())) for values in settings]
        new = {name: values for name, values in zip(names, settings, strict=True) if name not in self._known}
        if new:
            self._known.update(zip(new, self._run(list(new.values())), strict=True))
        return np.array([self._known[name] for name in names])

    def _run(self, settings: Sequence[Mapping[str, Value]]) -> Floats:
        question = self._question
        seeds = question.seeds_used
        found = np.full((len(settings), len(seeds), len(self._rows)), math.nan)
        asked: list[tuple[Scenario, int]] = []
        entries: list[tuple[int, int, str]] = []
        for position, values in enumerate(settings):
            for run, scenario in question.of_runs.items():
                try:
                    varied = with_settings(scenario, values)
                except InputError:
                    # Values that are right by themselves and not together: no prediction.
                    continue
                asked += [(varied, seed) for seed in seeds]
                entries += [(position, number, run) for number in range(len(seeds))]
        rows = self._runs(asked) if asked else []
        if self._runs.errors:
            raise RuntimeError("\n".join(self._runs.errors))
        for (position, seed, run), row in zip(entries, rows, strict=True):
            if row is not None:
                own = [column for column, one in enumerate(self._rows) if one.run == run]
                found[position, seed, own] = [_log(self._value(row, self._rows[column])) for column in own]
        return found

    def _value(self, row: Mapping[str, Any], one: Row) -> float:
        value = row[RESPONSES][one.name] if self._question.observed.kind == "jobs" else row.get(str(one.name))
        return float(value) if isinstance(value, int | float) else math.nan


def _log(value: float) -> float:
    return math.log(value) if 0.0 < value < math.inf else math.nan
