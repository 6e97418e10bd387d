"""Search and judgement together: what `cluster-abm tune` carries out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd

from cluster_abm.errors import InputError
from cluster_abm.policies import reference_of
from cluster_abm.results.figures.options import ALWAYS, FigureOptions, Look, check_metric
from cluster_abm.study.asking import Answer
from cluster_abm.study.cells import Ratio, ratio_of
from cluster_abm.study.comparison import finite
from cluster_abm.study.runner.counted_runs import CountedRuns
from cluster_abm.study.runner.cuts import common_beginnings_s, measured_from
from cluster_abm.study.runner.tasks import Where
from cluster_abm.study.statistics.paired import PairedDifference, paired
from cluster_abm.study.tuning.proposals import library
from cluster_abm.study.tuning.question import TuningQuestion
from cluster_abm.study.tuning.ranges import Value, in_sections, in_toml
from cluster_abm.study.tuning.search import Runner, Search, TuningCandidate, metric_of
from cluster_abm.workload.laws.estimated import Estimated, estimated

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Judgement:
    """The best candidate against the defaults, on seeds that the search did not see."""

    seeds: tuple[int, ...]  # those on which both have the metric
    # defaults, tuned: the metric, one a seed
    defaults: tuple[float, ...]
    tuned: tuple[float, ...]
    ratio: Ratio  # of the best to the defaults, in the geometric mean, with its 95 % interval
    pair: PairedDifference  # their paired difference

    def word(self, less_is_better: bool) -> str:
        """Whether the best candidate is "better", "worse" or "not told apart", by the ratio's interval."""
        if self.ratio.word == "not told":
            return "not told apart"
        return "better" if (self.ratio.word == "yes") == less_is_better else "worse"


@dataclass(frozen=True)
class Tuned(Answer):
    """What came of a search."""

    question: TuningQuestion  # what was asked
    candidates: tuple[TuningCandidate, ...]  # all, the defaults first
    best: TuningCandidate  # of those on all seeds of the search the best there
    judgement: Judgement | None  # None: the best are the defaults, or there are no two seeds to judge on
    spent: int  # runs of the budget
    estimated: Estimated | None = None  # what the metric estimates on the seeds of the search
    errors = property(lambda self: self.faults)  # its name before

    @property
    def found_better(self) -> bool:
        """Whether any candidate was better than the defaults on the seeds of the search."""
        return self.best.number > 0

    def count(self, *states: str) -> int:
        """How many candidates are in one of these states."""
        return sum(one.state in states for one in self.candidates)

    @cached_property
    def best_settings(self) -> dict[str, Value]:
        """What the best candidate sets, by dotted key."""
        return {key: value for key, value in self.best.settings.items() if value is not None}

    def frame(self) -> pd.DataFrame:
        """Every candidate, a row each: number, values of the searched keys, state, reason, seeds, ratio, mean."""
        table = pd.DataFrame({"candidate": [one.number for one in self.candidates]})
        for over in self.question.overs:
            table[over.key] = _column([one.settings.get(over.key) for one in self.candidates])
        table["state"] = [one.state for one in self.candidates]
        table["reason"] = [one.reason for one in self.candidates]
        table["seeds"] = [len(one.metrics) for one in self.candidates]
        table["ratio"] = [one.ratio for one in self.candidates]
        means = [math.fsum(one.metrics) / len(one.metrics) if one.metrics else math.nan for one in self.candidates]
        table[f"mean of {self.question.metric}"] = means
        return table

    @property
    def title(self) -> str:
        """What stands above the picture."""
        question, judged = self.question, self.judgement
        words = f"{question.scenario.policy.label} on {question.scenario.name}: {len(self.candidates)} candidates"
        words += f", {self.spent} runs"
        if judged is None:
            return words
        seeds, ratio = question.unseen_seeds, judged.ratio
        found = f"{ratio.mean:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]"
        return f"{words}; the best, judged on seeds {seeds.start} to {seeds.stop - 1}: {found}"

    def plot(self, metric: str | None = None, **look: Unpack[Look]) -> Figure:
        """Draw every candidate's ratio to the defaults over each searched key.

        Args:
            metric: the search's own, or none.
            look: size, title, style (results.figures.options.Look).

        Returns:
            A Matplotlib figure; a notebook shows it, and `.savefig("mine.pdf")` writes it.

        Raises InputError: another metric, or an option that this picture does not take.
        """
        from cluster_abm.results.of_studies.tuning_picture import search_figure

        question = self.question
        check_metric(metric, question.metric, "a search is about one metric")
        options = FigureOptions.of(look, ALWAYS, what="picture of a search")
        logs = {one.over.key: one.over.log for one in question.searched}
        title, label = options.titled(self.title), f"{question.metric} / the defaults'"
        return options.draw(lambda: search_figure(title, label, self.frame(), logs, self.best.number))

    def toml(self) -> str:
        """The best values as TOML, to paste into a scenario."""
        name = self.question.scenario.policy.label
        values = in_sections(self.best_settings, {"policy": {"name": name}})
        reference = reference_of(name)
        # A scenario is data, and names no file.
        where = "" if reference == name else f"# this policy is in a file: run it with --policy {reference}\n"
        return where + values

    def as_json(self) -> dict[str, Any]:
        """The document that `cluster-abm tune --json` prints."""
        question, judged = self.question, self.judgement
        found: dict[str, Any] = {
            "scenario": question.scenario.name,
            "policy": question.scenario.policy.label,
            "metric": question.metric,
            "over": [str(over) for over in question.overs],
            "budget": question.budget,
            **({} if self.estimated is None else self.estimated.as_json()),
            "runs": self.spent,
            "optuna": library().__version__,
            "candidates": {
                state: self.count(state) for state in ("finished", "stopped", "refused", "failed") if self.count(state)
            },
            "defaults": question.defaults(),
            "best": dict(self.best.settings),
            "search": {"seeds": list(question.seeds_used), "ratio": finite(self.best.ratio)},
            "judged": None,
        }
        if judged is not None:
            found["judged"] = {
                "seeds": list(judged.seeds),
                "ratio": judged.ratio.mean,
                "ratio_ci95": [judged.ratio.low, judged.ratio.high],
                "difference": judged.pair.difference.mean,
                "ci95": None if judged.pair.difference.ci95 is None else list(judged.pair.difference.ci95),
                "verdict": judged.word(question.less_is_better),
            }
        return found


def tune(
    question: TuningQuestion,
    workers: int | None = None,
    quiet: bool = False,
    where: Where | None = None,
    folder: Path | None = None,
) -> Tuned:
    """Search for parameters that are better than the scenario's own, and judge the best on seeds not seen before.

    The result depends on the question alone: not on where runs are carried out, on how many workers, nor on whether
    some of them were in the folder.

    Args:
        question: what is searched.
        workers, quiet, where: as in `run_all`.
        folder: keeps the runs, in `store`: what is there already is not run again. None: in memory.

    Raises:
        InputError: the question is wrong, the folder holds a search by another command, or Optuna is not installed.
        KeyboardInterrupt: an interrupt; the runs that have finished are kept in the folder.
    """
    with question.runs(workers, quiet, where, folder) as runs:
        searched, window = _with_one_cut(question, runs)
        search = Search(searched, runs)
        try:
            search.run()
        except InputError:
            # Without the defaults there is no search; that their runs failed may be a fault of this program.
            if runs.errors:
                raise RuntimeError("\n".join(runs.errors)) from None
            raise
        best = search.best
        judgement = judge(question, best, runs) if best.number else None
    return Tuned.after(runs, question, tuple(search.candidates), best, judgement, search.spent, window)


def _with_one_cut(question: TuningQuestion, runs: CountedRuns) -> tuple[TuningQuestion, Estimated]:
    """The question with a beginning of the window that is given, and what its metrics estimate.

    With `measure.warmup` it is the latest one that the defaults need on the seeds of the search: each candidate is held
    against them seed by seed, and what later candidates need is not known yet. On the unseen seeds the defaults and the
    best one have a cut of their own, as in any comparison.
    """
    scenario = question.scenario
    if scenario.measure.warmup == "none":
        return question, estimated([(scenario, [])])
    rows = [row for row in runs([(scenario, seed) for seed in question.seeds_used]) if row is not None]
    begins_s = [begin_s for begin_s in common_beginnings_s([scenario] * len(rows), rows) if begin_s is not None]
    cut = question if not begins_s else replace(question, scenario=measured_from(scenario, begins_s[0]))
    return cut, estimated([(scenario, rows)])


def judge(question: TuningQuestion, best: TuningCandidate, runner: Runner) -> Judgement | None:
    """The best candidate against the defaults on the unseen seeds; None with fewer than two that both have."""
    assert best.scenario is not None
    pairs = [(scenario, seed) for seed in question.unseen_seeds for scenario in (question.measured, best.scenario)]
    values = [metric_of(row, question.metric) for row in runner(pairs)]
    found = [
        (seed, mine, tuned)
        for seed, mine, tuned in zip(question.unseen_seeds, values[::2], values[1::2], strict=True)
        if mine is not None and tuned is not None
    ]
    if len(found) < 2:
        return None
    seeds, defaults, tuned = zip(*found, strict=True)
    return judgement_of(seeds, defaults, tuned, question.scenario.workload.is_resampled)


def judgement_of(
    seeds: Sequence[int], defaults: Sequence[float], tuned: Sequence[float], are_replicates: bool = False
) -> Judgement:
    """Ratio and difference of two lists of numbers above 0, one a seed, each with its interval.

    `are_replicates`: whether the seeds are draws of one log (statistics.estimates.standard_error).
    """
    table = pd.concat(
        [
            pd.DataFrame({"seed": seeds, "policy": name, "metric": values})
            for name, values in (("defaults", defaults), ("tuned", tuned))
        ]
    )
    ratio = ratio_of(table, "tuned", "defaults", "metric", are_replicates=are_replicates)
    return Judgement(tuple(seeds), tuple(defaults), tuple(tuned), ratio, paired(tuned, defaults, are_replicates))


def _column(values: list[Any]) -> pd.Series:
    """Values of one key as a column of one type: numbers, flags, or texts."""
    given = [value for value in values if value is not None]
    if all(isinstance(value, bool) for value in given):
        return pd.Series(values, dtype="boolean")
    if all(isinstance(value, int) and not isinstance(value, bool) for value in given):
        return pd.Series(values, dtype="Int64")
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in given):
        return pd.Series(values, dtype="Float64")
    return pd.Series([None if value is None else in_toml(value) for value in values], dtype="object")
