"""How large a cluster has to be, or how much load it may get, policy by policy: what `cluster-abm plan` carries out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd

from cluster_abm.errors import InputError, gathered
from cluster_abm.limits import check_runs, counted
from cluster_abm.model.observing.existing import metrics_of
from cluster_abm.scenario import Scenario
from cluster_abm.study.asking import Answer, Question, check_seeds, too_few_seeds, value_at
from cluster_abm.study.comparison import finite
from cluster_abm.study.design.asking_for import with_metrics
from cluster_abm.study.design.policies import check_policies, with_policy
from cluster_abm.study.planning.bracketing import Crossing, KeyRange, Search, search, significant
from cluster_abm.study.planning.fixing import RATES, Fixed, most_named_home, with_fixed_jobs
from cluster_abm.study.planning.needs import JudgedValue, Need, judged, metrics_named, needs_of
from cluster_abm.study.runner.counted_runs import CountedRuns
from cluster_abm.study.runner.tasks import Where
from cluster_abm.study.statistics.bounds import bounds_of
from cluster_abm.study.statistics.estimates import estimate
from cluster_abm.study.tuning.ranges import Over, checked, with_settings
from cluster_abm.workload import jobs_per_second
from cluster_abm.workload.laws.estimated import Estimated, estimated

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cluster_abm.results.figures.options import Look

# How far the range goes to either side of what the scenario says, where no end is given.
REACH = 32.0
# Values that a search takes, about: for the progress bar.
USUAL_POINTS = 12


@dataclass(frozen=True)
class PlanningQuestion(Question):
    """What is asked.

    Attributes:
        scenario: as it stands; its jobs are what the cluster is planned for.
        needs: texts, as of `needs_of`.
        key: what is planned.
        policies: names.
        low, high: ends of the range; None: see `axis`.
        seeds: runs of each value under each policy, from the scenario's seed on.
    """

    command = "plan"
    words = "a plan"
    scenario: Scenario
    needs: tuple[str, ...]
    key: str
    policies: tuple[str, ...]
    low: float | None = None
    high: float | None = None
    seeds: int = 8

    @cached_property
    def measured(self) -> Scenario:
        """The scenario, with the metrics that the needs name asked for."""
        return with_metrics(self.scenario, metrics_named(self.needs))

    @cached_property
    def fixed(self) -> Fixed:
        """The scenario with its jobs fixed. Raises InputError."""
        return with_fixed_jobs(self.measured, self.key)

    @cached_property
    def asked(self) -> tuple[Need, ...]:
        """The needs. Raises InputError."""
        metrics = [metrics_of(with_policy(self.measured, name)) for name in self.policies]
        return needs_of(self.needs, frozenset.intersection(*metrics))

    @property
    def expected_runs(self) -> int:
        """Those of the values that a search usually takes."""
        return self.seeds * len(self.policies) * USUAL_POINTS

    @cached_property
    def axis(self) -> KeyRange:
        """The values that may be tried: between the given ends, or from 1/32 to 32 times of what the scenario says, as
        far as it allows them. Raises InputError."""
        start = self._start()
        if start is None and (self.low is None or self.high is None):
            raise InputError(f"--over {self.key}: the scenario says no number above 0: give --low and --high")
        reach = (start or 0.0) / REACH, (start or 0.0) * REACH
        low, high = self.low, self.high
        if low is None:
            low = self._furthest(start, reach[0])
        if high is None:
            high = self._furthest(start, reach[1])
        if not low < high:
            raise InputError(f"--low {low:g}, --high {high:g}: the low end has to be below the high end")
        with_file_homes = most_named_home(self.fixed.scenario) if self.key == "cluster.nodes" else None
        if with_file_homes is not None and low <= with_file_homes:
            if self.low is not None or with_file_homes + 1 >= high:
                raise InputError(
                    f"--low {low:g}: the trace's homes go up to node {with_file_homes}, and workload.trace.homes is "
                    '"file": allowed with "drawn" alone'
                )
            low = float(with_file_homes + 1)
        searched = checked(
            with_policy(self.fixed.scenario, self.policies[0]), (Over(self.key, float(low), float(high)),)
        )[0]
        is_given = self.low is not None and self.high is not None
        begin = None if is_given or start is None else min(max(start, low), high)
        return KeyRange(float(low), float(high), searched.whole, begin)

    def _start(self) -> float | None:
        """The scenario's value of the key; if no rate is given, the rate that follows from the utilisation."""
        found = self._said()
        if found is None and self.key == "workload.jobs_per_s":
            found = jobs_per_second(self.scenario)
        return float(found) if isinstance(found, int | float) and not isinstance(found, bool) and found > 0 else None

    def _said(self) -> object:
        """What the scenario says of the key; None: nothing, or there is no such key."""
        try:
            return value_at(with_policy(self.scenario, self.policies[0]), self.key)
        except (AttributeError, KeyError):
            return None

    def _furthest(self, start: float | None, end: float) -> float:
        """The value nearest to an end that the scenario allows, on the way from what it says itself."""
        assert start is not None
        whole = isinstance(self._said(), int)
        good, bad = start, float(max(1, round(end))) if whole else significant(end)
        if self._allows(bad, whole):
            return bad
        for _ in range(60):
            middle = float(round((good + bad) / 2)) if whole else significant((good + bad) / 2)
            if middle in (good, bad):
                break
            good, bad = (middle, bad) if self._allows(middle, whole) else (good, middle)
        return good

    def _allows(self, value: float, whole: bool) -> bool:
        try:
            first = with_policy(self.fixed.scenario, self.policies[0])
            with_settings(first, {self.key: int(value) if whole else value})
        except InputError:
            return False
        return True

    def check(self) -> None:
        """Raise InputError for whatever is wrong."""
        check_policies(self.policies)
        with gathered() as gather:
            with gather:
                _ = self.asked
            with gather:
                _ = self.fixed
            gather.problems += too_few_seeds(self.seeds)
            for name, end in (("low", self.low), ("high", self.high)):
                if end is not None and not math.isfinite(end):
                    gather.problems.append(f"--{name} {end}: has to be a finite number")
        said = self._said()
        if self.key not in RATES and (not isinstance(said, int | float) or isinstance(said, bool)):
            # That there is no such key, or that it is no number, is said at once.
            checked(self.scenario, (Over(self.key, self.low or 1.0, self.high or 2.0),))
        for policy in self.policies:
            for value in (self.axis.low, self.axis.high):
                self.scenario_at(policy, value)
        check_seeds(self.scenario.run.seed, self.seeds)
        check_runs(f"--seeds {counted(self.seeds)}", self.expected_runs)

    def scenario_at(self, policy: str, value: float) -> Scenario:
        """The scenario that is run for a value under a policy. Raises InputError if it does not take the value."""
        settings = {self.key: int(value) if self.axis.whole else float(value)}
        return with_settings(with_policy(self.fixed.scenario, policy), settings)

    def own_json(self) -> dict[str, Any]:
        """Everything but the scenario on which the result depends, for JSON."""
        return {
            "need": [str(need) for need in self.asked],
            "over": self.key,
            "low": self.low,
            "high": self.high,
            "policies": list(self.policies),
            "seeds": self.seeds,
        }


@dataclass(frozen=True, repr=False)
class Planned(Answer):
    """What came of it.

    Attributes:
        question: what was asked.
        crossings: where the needs begin to be kept, by policy.
    """

    question: PlanningQuestion
    crossings: dict[str, Crossing]
    errors = property(lambda self: self.faults)  # its name before

    @property
    def is_one_sample(self) -> bool:
        """Whether every seed gave the same run, for all values and policies."""
        return all(found.is_one_sample for found in self.crossings.values())

    def number(self, value: float | None) -> float | int | None:
        """A value of the key for JSON: whole numbers as such."""
        if value is None:
            return None
        return int(value) if self.question.axis.whole else float(value)

    @property
    def values(self) -> dict[str, float | int | None]:
        """The value of the key from which, or up to which, the needs are kept, by policy; None: there is none."""
        return {policy: self.number(one.value) for policy, one in self.crossings.items()}

    def __repr__(self) -> str:
        needs = " and ".join(map(str, self.question.asked))
        found = ", ".join(f"{policy} {'none' if value is None else value}" for policy, value in self.values.items())
        return f"<Planned {self.question.key} at which {needs}: {found}>"

    @cached_property
    def met(self) -> list[tuple[Scenario, JudgedValue]]:
        """The scenario and the metrics at the value found, of each policy that has one."""
        points = [(policy, one.at_value or one.beyond) for policy, one in self.crossings.items()]
        return [(self.question.scenario_at(policy, at.value), at) for policy, at in points if at is not None]

    @property
    def scenarios(self) -> list[Scenario]:
        """Those of the values found; else the one that was asked about."""
        return [scenario for scenario, _ in self.met] or [self.question.fixed.scenario]

    @cached_property
    def estimated(self) -> Estimated:
        """What the metrics at the values found estimate, under all policies."""
        # Of each run that did not settle one row; of the others one says the beginning.
        rows = [[{"from_s": at.from_s, "warmup_settled": n < 1} for n in range(at.unsettled + 1)] for _, at in self.met]
        return estimated([*zip(self.scenarios, rows or [[]], strict=True)])

    @property
    def title(self) -> str:
        """What stands above the picture."""
        question = self.question
        return f"{question.scenario.name}: {question.key} that keeps {' and '.join(map(str, question.asked))}"

    def plot(self, metric: str | None = None, **look: Unpack[Look]) -> Figure:
        """Draw the metrics over the key, the target, and where it begins to be met.

        Args:
            metric: one of the needs' alone; default: all.
            look: policies, size ("column", "page" or inches), labels, colours, title, style; x is the key
                (results.figures.options.Look).

        Returns:
            A Matplotlib figure; a notebook shows it, and `.savefig("mine.pdf")` writes it.

        Raises:
            InputError: no need is about the metric, or an option that cannot be.
        """
        from cluster_abm.study.planning.showing import figure_of

        question = self.question
        return figure_of(question.key, question.asked, self.crossings, self.frame(), self.title, metric, look)

    def to_latex(self) -> str:
        """The values for LaTeX's booktabs: a row for each policy, the value with its interval, the metrics there."""
        from cluster_abm.study.planning.showing import latex_of

        return latex_of(self.question.key, self.question.asked, self.crossings)

    def as_json(self) -> dict[str, Any]:
        """The document that `cluster-abm plan --json` prints."""
        question = self.question
        return {
            "scenario": question.scenario.name,
            "need": " and ".join(str(need) for need in question.asked),
            "key": question.key,
            **self.estimated.as_json(),
            "range": [self.number(question.axis.low), self.number(question.axis.high)],
            "seeds": list(question.seeds_used),
            "replications": 1 if self.is_one_sample else question.seeds,
            "jobs": list(question.fixed.notes),
            "policies": {name: self._of_policy(found) for name, found in self.crossings.items()},
        }

    def _of_policy(self, found: Crossing) -> dict[str, Any]:
        return {
            "value": self.number(found.value),
            "ci95": None if found.is_one_sample else [self.number(found.low), self.number(found.high)],
            "side": found.side,
            "kept": self._of_point(found.at_value),
            "not_kept": self._of_point(found.beyond),
            "note": found.note,
        }

    def _of_point(self, point: JudgedValue | None) -> dict[str, Any] | None:
        if point is None:
            return None
        metrics = {
            name: {"mean": finite(one.mean), "ci95": None if one.ci95 is None else [finite(end) for end in one.ci95]}
            for name in point.estimates
            for one in (point.shown(name),)
        }
        return {"value": self.number(point.value), **metrics}

    def frame(self) -> pd.DataFrame:
        """Every value that was run, a row each: policy, value, and of each metric mean, low and high; whether kept."""
        rows = []
        for policy, found in self.crossings.items():
            for point in found.points:
                row: dict[str, Any] = {"policy": policy, self.question.key: self.number(point.value)}
                for name in point.estimates:
                    one = point.shown(name)
                    low, high = one.ci95 or (math.nan, math.nan)
                    row |= {name: one.mean, f"{name} low": low, f"{name} high": high}
                rows.append(row | {"kept": point.is_kept, "jobs unfinished": point.unfinished})
        return pd.DataFrame(rows)


def plan(
    question: PlanningQuestion,
    workers: int | None = None,
    quiet: bool = False,
    where: Where | None = None,
    folder: Path | None = None,
) -> Planned:
    """Bracket, for each policy, the value of the key from which, or up to which, the needs are kept.

    All values and policies get the same seeds. `value` is where the means over the seeds keep the needs; the interval
    inverts the 95 % intervals of the metrics: it begins where they no longer exclude that the needs are kept, and ends
    where they exclude that they are not (docs/how-to/plan.md).

    Args:
        question: what is asked.
        workers, quiet, where: as in `run_all`.
        folder: keeps the runs, in `store`: what is there already is not run again. None: in memory.

    Raises:
        InputError: the question is wrong, or the folder holds the results of another command.
        KeyboardInterrupt: an interrupt; the runs that have finished are kept in the folder.
    """
    with question.runs(workers, quiet, where, folder) as runs:
        return Planned.after(runs, question, _search_all(question, runs))


def _search_all(question: PlanningQuestion, runs: CountedRuns) -> dict[str, Crossing]:
    """The crossing of each policy: what all their searches ask for is run together."""
    searches: dict[str, Search] = {policy: search(question.axis) for policy in question.policies}
    wanted = {policy: next(one) for policy, one in searches.items()}
    found: dict[str, Crossing] = {}
    while wanted:
        cells = [(policy, value) for policy, values in wanted.items() for value in values]
        points = _run(question, cells, runs)
        for policy, values in list(wanted.items()):
            try:
                wanted[policy] = searches[policy].send({value: points[policy, value] for value in values})
            except StopIteration as end:
                found[policy] = end.value
                del wanted[policy]
    return {policy: found[policy] for policy in question.policies}


def _run(
    question: PlanningQuestion, cells: Sequence[tuple[str, float]], runs: CountedRuns
) -> dict[tuple[str, float], JudgedValue]:
    """What each value under each policy comes to."""
    seeds = question.seeds_used
    scenarios = [question.scenario_at(*cell) for cell in cells]
    rows = runs([(scenario, seed) for scenario in scenarios for seed in seeds])
    if runs.errors:
        raise RuntimeError("\n".join(runs.errors))
    found, are_replicates = {}, question.scenario.workload.is_resampled
    for cell, first in zip(cells, range(0, len(rows), len(seeds)), strict=True):
        own = [row for row in rows[first : first + len(seeds)] if row is not None]
        if len(own) < len(seeds):
            # The policy itself ended runs: no number of them can be believed.
            raise InputError([f"{cell[0]}: {line}" for line in runs.policy_faults])
        estimates = {
            name: estimate([_number(row.get(name)) for row in own], bounds_of(name), are_replicates)
            for name in {need.metric: None for need in question.asked}
        }
        # The representation of a float is exact, and NaN is the same everywhere.
        is_one_sample = len(set(map(repr, own))) == 1
        point = judged(question.asked, cell[1], estimates, _unfinished(own), is_one_sample)
        unsettled = sum(row.get("warmup_settled", 1) == 0 for row in own)
        found[cell] = replace(point, from_s=max(row.get("from_s", 0.0) for row in own), unsettled=unsettled)
    return found


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def _unfinished(rows: Sequence[Mapping[str, Any]]) -> float:
    return sum(row["jobs.submitted"] - row["jobs.finished"] for row in rows) / len(rows)
