"""The search: candidates in generations, raced on common random numbers; the worse half of a race is stopped.

Successive halving (Jamieson and Talwalkar 2016), by generations: Optuna's own halving decides as results come in, so
that its outcome would depend on their order, and with that on the number of workers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from cluster_abm.errors import InputError
from cluster_abm.scenario import Scenario
from cluster_abm.study.tuning.proposals import Proposals
from cluster_abm.study.tuning.question import TuningQuestion
from cluster_abm.study.tuning.ranges import Value, with_settings

# Candidates that are proposed and raced together: enough for several processors, and no matter how many there are.
GENERATION = 8
# A race is first decided after this number of seeds, and again whenever it has doubled.
FIRST_SEEDS = 2
# Proposals, for each candidate wanted, after which a search space counts as exhausted.
VAIN_PROPOSALS = 10

State = Literal["racing", "finished", "stopped", "refused", "failed"]
# Values by which candidates are told apart.
Key = tuple[tuple[str, Any], ...]
# Carries out runs: a row of metrics for each scenario and seed, in this order; None: the run failed.
Runner = Callable[[Sequence[tuple[Scenario, int]]], Sequence[Mapping[str, Any] | None]]


@dataclass
class TuningCandidate:
    """Settings of the searched keys, and what came of them."""

    number: int  # from 0, the defaults, in the order of the proposals
    settings: dict[str, Value | None]  # of the searched keys; None: the scenario leaves it open
    scenario: Scenario | None  # with them; None: it refuses them
    metrics: list[float] = field(default_factory=list)  # the metric on the seeds so far, one a seed
    ratios: list[float] = field(default_factory=list)  # each over the defaults' on the same seed
    # by the number of seeds, the log of the geometric mean of the ratios; the sign is turned where more is better
    losses: dict[int, float] = field(default_factory=dict)
    # racing; finished: on all seeds; stopped: on fewer; refused: the scenario or the policy does not take them;
    # failed: a run of it failed or has no such metric
    state: State = "racing"
    reason: str = ""  # why it was not finished, in words
    trials: list[Any] = field(default_factory=list, repr=False)

    @property
    def ratio(self) -> float:
        """Geometric mean of the ratios to the defaults over the seeds so far; NaN without any."""
        return math.exp(math.fsum(map(math.log, self.ratios)) / len(self.ratios)) if self.ratios else math.nan


class Search:
    """A search under way.

    Args:
        question: checked.
        runner: carries out runs.

    Attributes:
        candidates: all so far; the defaults first.
        spent: runs of the budget.

    Raises InputError: Optuna is not installed.
    """

    def __init__(self, question: TuningQuestion, runner: Runner) -> None:
        self._question, self._runner = question, runner
        self._proposals = Proposals(question.searched, question.scenario.run.seed, question.sum_to_one)
        self.candidates: list[TuningCandidate] = []
        self.spent = 0
        self._by_values: dict[Key, TuningCandidate] = {}
        self._steps = steps(question.seeds)

    @property
    def best(self) -> TuningCandidate:
        """The candidate of least loss among those on all seeds; the earlier one of two alike."""
        finished = [one for one in self.candidates if one.state == "finished"]
        return min(finished, key=lambda one: one.losses[self._question.seeds])

    def run(self) -> None:
        """Spend the budget, or all that there is to try.

        Raises InputError: a run of the defaults has no such metric, or none above 0.
        """
        self._run_defaults()
        while self._budget_left >= self._steps[0]:
            generation = self._propose(self._generation_size())
            if not generation:
                return
            self._race(generation)

    @property
    def _budget_left(self) -> int:
        return self._question.budget - self.spent

    def _run_defaults(self) -> None:
        defaults = TuningCandidate(0, dict(self._question.defaults()), self._question.measured)
        self.candidates.append(defaults)
        self._run([defaults], 0, self._question.seeds)
        if defaults.state == "failed":
            raise InputError(f"the defaults: {defaults.reason}")
        for step in self._steps:
            defaults.losses[step] = 0.0
        defaults.state = "finished"
        self._proposals.note(defaults.settings, defaults.losses)
        if None not in defaults.settings.values():
            self._by_values[_key(defaults.settings)] = defaults

    def _generation_size(self) -> int:
        """As many as the budget allows to race to the end, if half of them are stopped at each step."""
        runs_each, before = 0.0, 0
        for halvings, step in enumerate(self._steps):
            runs_each += (step - before) / 2**halvings
            before = step
        return max(1, min(GENERATION, int(self._budget_left / runs_each)))

    def _propose(self, count: int) -> list[TuningCandidate]:
        """New candidates that the scenario allows; fewer where hardly anything new is proposed."""
        found: list[TuningCandidate] = []
        for _ in range(count * VAIN_PROPOSALS):
            trial, values = self._proposals.ask()
            known = self._by_values.get(_key(values))
            if known is not None:
                self._tell_again(known, trial)
                continue
            candidate = self._candidate(values)
            self._by_values[_key(values)] = candidate
            self.candidates.append(candidate)
            candidate.trials.append(trial)
            if candidate.state == "refused":
                self._proposals.tell(trial, {}, False)
                continue
            found.append(candidate)
            if len(found) == count:
                break
        return found

    def _candidate(self, values: dict[str, Value]) -> TuningCandidate:
        number = len(self.candidates)
        if not values:
            empty: dict[str, Value | None] = dict.fromkeys(self._question.defaults(), None)
            return TuningCandidate(number, empty, None, state="refused", reason="the weights that sum to one are all 0")
        try:
            return TuningCandidate(number, dict(values), with_settings(self._question.measured, values))
        except InputError as problem:
            reason = "; ".join(line.removeprefix("override: ") for line in problem.problems)
            return TuningCandidate(number, dict(values), None, state="refused", reason=reason)

    def _tell_again(self, known: TuningCandidate, trial: Any) -> None:
        """Tell of a proposal what is known of it; of one that is racing, together with the first."""
        if known.state == "racing":
            known.trials.append(trial)
        else:
            self._proposals.tell(trial, known.losses, known.state == "finished")

    def _race(self, racing: list[TuningCandidate]) -> None:
        before = 0
        for step in self._steps:
            racing = self._affordable(racing, step - before)
            self._run(racing, before, step)
            for one in racing:
                if one.state == "failed":
                    self._end(one, "failed", one.reason)
            racing = [one for one in racing if one.state == "racing"]
            for one in racing:
                loss = math.log(one.ratio)
                one.losses[step] = loss if self._question.less_is_better else -loss
            if step < self._steps[-1]:
                racing = self._better_half(racing, step)
            before = step
        for one in racing:
            self._end(one, "finished", "")

    def _affordable(self, racing: list[TuningCandidate], runs_each: int) -> list[TuningCandidate]:
        """The best of those racing that the budget is enough for, in the order of their numbers."""
        best = sorted(racing, key=lambda one: (list(one.losses.values())[-1:], one.number))
        kept = best[: self._budget_left // runs_each]
        for one in best[len(kept) :]:
            self._end(one, "stopped", f"the budget was spent after {len(one.metrics)} seeds")
        return sorted(kept, key=lambda one: one.number)

    def _better_half(self, racing: list[TuningCandidate], step: int) -> list[TuningCandidate]:
        """Stop those in the worse half of all candidates that ever got as many seeds."""
        losses = [one.losses[step] for one in self.candidates if step in one.losses]
        kept = []
        for one in racing:
            better = sum(loss < one.losses[step] for loss in losses)
            if 2 * better < len(losses):
                kept.append(one)
            else:
                self._end(one, "stopped", f"in the worse half of {len(losses)} after {step} seeds")
        return kept

    def _run(self, candidates: Sequence[TuningCandidate], first: int, stop: int) -> None:
        """Run candidates on seeds first to stop - 1 of those there are, seed by seed."""
        seeds = self._question.seeds_used[first:stop]
        wanted = [(one, seed) for seed in seeds for one in candidates]
        rows = self._runner([(one.scenario, seed) for one, seed in wanted if one.scenario is not None])
        self.spent += len(rows)
        for (one, seed), row in zip(wanted, rows, strict=True):
            if one.state == "failed":
                continue
            value = metric_of(row, self._question.metric)
            if value is None:
                one.state = "failed"
                one.reason = without_metric(row, self._question.metric, seed)
                continue
            one.metrics.append(value)
            # The defaults, the first candidate, have all seeds by now.
            one.ratios.append(value / self.candidates[0].metrics[len(one.metrics) - 1])

    def _end(self, candidate: TuningCandidate, state: State, reason: str) -> None:
        candidate.state, candidate.reason = state, reason
        for trial in candidate.trials:
            self._proposals.tell(trial, candidate.losses, state == "finished")


def steps(seeds: int) -> tuple[int, ...]:
    """After how many seeds a race is decided: 2, 4, 8 and so on, and at the end.

    >>> steps(8), steps(12), steps(2)
    ((2, 4, 8), (2, 4, 8, 12), (2,))
    """
    found = [FIRST_SEEDS]
    while 2 * found[-1] < seeds:
        found.append(2 * found[-1])
    return tuple(dict.fromkeys([*found, seeds]))


def metric_of(row: Mapping[str, Any] | None, metric: str) -> float | None:
    """A run's metric; None if it failed, or has none above 0, of which there would be no ratio."""
    value = None if row is None else row.get(metric)
    return float(value) if isinstance(value, int | float) and 0.0 < value < math.inf else None


def without_metric(row: Mapping[str, Any] | None, metric: str, seed: int) -> str:
    """Why a run counts for nothing."""
    if row is None:
        return f"its run from seed {seed} failed"
    value = row.get(metric)
    word = "missing" if value is None or math.isnan(value) else f"{value:g}"
    return f"{metric} is {word} in its run from seed {seed}, and a ratio takes numbers above 0"


def _key(values: Mapping[str, Any]) -> Key:
    # True and 1 are equal, and other values all the same.
    return tuple(sorted((key, (type(value) is bool, value)) for key, value in values.items()))
