"""What a search is asked: the scenario, what is searched, how much it may cost, and on which seeds it is judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cluster_abm.arguments import shortened
from cluster_abm.errors import gathered
from cluster_abm.limits import check_runs, counted
from cluster_abm.model.observing.existing import metrics_of
from cluster_abm.policies import available
from cluster_abm.results.asked import better_side, is_more_better
from cluster_abm.results.words import why_absent
from cluster_abm.scenario import Scenario
from cluster_abm.study.asking import QuestionOfRanges, check_seeds, too_few_seeds
from cluster_abm.study.design.asking_for import with_metrics
from cluster_abm.study.design.metrics import nearest_metric
from cluster_abm.study.tuning.ranges import Over, Searched, checked
from cluster_abm.workload import with_bound


@dataclass(frozen=True)
class TuningQuestion(QuestionOfRanges):
    """What a search is asked."""

    command = "tune"
    words = "a search"
    # as it stands: its parameters are the defaults, the first candidate; its policy is searched for
    scenario: Scenario
    overs: tuple[Over, ...]  # the keys and ranges
    budget: int = 200  # how many runs the search may take, the defaults' among them; runs that judge come on top
    seeds: int = 8  # how many seeds a candidate gets that is not stopped; the scenario's seed is the first
    judge_seeds: int = 16  # how many seeds, after these, the best candidate is judged on
    metric: str = ""  # of a run, by its name, what is to become better; "": the scenario's `measure.headline`
    sum_to_one: tuple[str, ...] = ()  # keys of weights that are divided by their sum

    def __post_init__(self) -> None:
        object.__setattr__(self, "metric", self.metric or self.scenario.measure.headline)

    @cached_property
    def searched(self) -> tuple[Searched, ...]:
        """The ranges, checked. Raises InputError."""
        return checked(self.scenario, self.overs)

    @cached_property
    def measured(self) -> Scenario:
        """What candidates lay values over: the metric asked for, one bound of slowdowns. Raises InputError."""
        return with_metrics(with_bound(self.scenario), [self.metric])

    @property
    def unseen_seeds(self) -> range:
        """The seeds on which the best candidate is judged."""
        return range(self.seeds_used.stop, self.seeds_used.stop + self.judge_seeds)

    @property
    def expected_runs(self) -> int:
        """The budget of the search, and the runs that judge."""
        return self.budget + 2 * self.judge_seeds

    @property
    def less_is_better(self) -> bool:
        """Which side of the metric is better."""
        return not is_more_better(self.metric)

    def check(self) -> None:
        """Raise InputError for whatever is wrong, all at once."""
        with gathered() as gather:
            with gather:
                self.check_policy()
            if self.scenario.policy.name not in available():
                return
            with gather:
                _ = self.searched
            gather.problems += [*self._problems_of_numbers(), *self._problems_of_metric(), *self._problems_of_sum()]
        check_seeds(self.scenario.run.seed, self.seeds + self.judge_seeds)
        words = f"--budget {counted(self.budget)}, --judge-seeds {counted(self.judge_seeds)}"
        check_runs(words, self.expected_runs)

    def _problems_of_numbers(self) -> Iterator[str]:
        yield from too_few_seeds(self.seeds)
        yield from too_few_seeds(self.judge_seeds, "judge-seeds")
        if self.budget < 2 * self.seeds:
            yield (
                f"--budget {self.budget}: {2 * self.seeds} runs at least are needed: the defaults and one candidate "
                f"on {self.seeds} seeds each"
            )

    def _problems_of_metric(self) -> Iterator[str]:
        known = metrics_of(self.measured)
        there = sorted(name for name in known if better_side(name))
        if self.metric not in there:
            absent = "" if self.metric in known else why_absent(self.metric)
            hint = absent or f"; {nearest_metric(self.metric, there)}"
            yield f"--metric {shortened(self.metric)}: no metric, or none of which one side is better{hint}"

    def _problems_of_sum(self) -> Iterator[str]:
        ranges = {over.key: over for over in self.overs}
        for key in dict.fromkeys(self.sum_to_one):
            if key not in ranges:
                yield f"--sum-to-one {shortened(key)}: is not among the keys of --over: {', '.join(ranges)}"
            elif ranges[key].choices or ranges[key].low < 0:
                yield f"--sum-to-one {key}: needs a range of numbers that begins at 0 or above"
        if len(self.sum_to_one) == 1 or len(set(self.sum_to_one)) < len(self.sum_to_one):
            yield "--sum-to-one: two or more different keys are needed"

    def own_json(self) -> dict[str, Any]:
        """Everything but the scenario on which the result depends, for JSON."""
        return {
            "over": [str(over) for over in self.overs],
            "sum_to_one": list(self.sum_to_one),
            "metric": self.metric,
            "budget": self.budget,
            "seeds": self.seeds,
            "judge_seeds": self.judge_seeds,
        }


# As documented before there were several questions.
Question = TuningQuestion
