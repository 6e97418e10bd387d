"""Optuna proposes candidates; what came of them is told to it."""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from cluster_abm.errors import InputError
from cluster_abm.study.tuning.ranges import Searched, Value

# Significant digits to which values are rounded: what is run is what can be pasted.
DIGITS = 4


def library() -> Any:
    """Optuna. Raises InputError where the extra is missing."""
    try:
        return importlib.import_module("optuna")
    except ModuleNotFoundError as problem:
        raise InputError(
            f"tune: {problem.name} is not installed: pip install '.[tune]' (the extra `tune`: Optuna)"
        ) from None


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    """Leave out what Optuna logs, and that earlier versions of it call two of the sampler's options experimental."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(before)


class Proposals:
    """A sequence of proposals that depends on the seed and on what was told so far, and on nothing else.

    Tree-structured Parzen estimator, all keys together (Bergstra et al. 2011; Optuna's `TPESampler`); ten candidates at
    random come first. Several may be asked for before anything is told of them.

    Args:
        searched: the ranges.
        seed: of the sampler.
        sum_to_one: keys whose values are divided by their sum.

    Raises InputError: Optuna is not installed.
    """

    def __init__(self, searched: Sequence[Searched], seed: int, sum_to_one: Sequence[str] = ()) -> None:
        self._optuna = library()
        self._searched, self._sum_to_one = tuple(searched), tuple(sum_to_one)
        with _quiet(self._optuna):
            # Numpy's generator takes 32 bits.
            sampler = self._optuna.samplers.TPESampler(seed=seed % 2**32, multivariate=True, constant_liar=True)
            self._study = self._optuna.create_study(sampler=sampler, pruner=self._optuna.pruners.NopPruner())
        self._distributions = {one.over.key: self._distribution(one) for one in self._searched}

    def _distribution(self, one: Searched) -> Any:
        of, over = self._optuna.distributions, one.over
        if over.choices:
            return of.CategoricalDistribution(over.choices)
        if one.whole:
            return of.IntDistribution(int(over.low), int(over.high), log=over.log)
        return of.FloatDistribution(over.low, over.high, log=over.log)

    def ask(self) -> tuple[Any, dict[str, Value]]:
        """The next proposal: a trial, to tell of, and the settings; {} for weights of which all are 0."""
        with _quiet(self._optuna):
            trial = self._study.ask(self._distributions)
        values = {one.over.key: _rounded(trial.params[one.over.key], one) for one in self._searched}
        if self._sum_to_one:
            whole = math.fsum(float(values[key]) for key in self._sum_to_one)
            if whole == 0.0:
                return trial, {}
            values |= {key: _significant(float(values[key]) / whole) for key in self._sum_to_one}
        return trial, values

    def note(self, values: Mapping[str, Value | None], losses: Mapping[int, float]) -> None:
        """Tell of a candidate that was not asked for, if the ranges hold it.

        Args:
            values: its settings.
            losses: its losses, by the number of seeds.
        """
        if not all(one.holds(values[one.over.key]) for one in self._searched):
            return
        if self._sum_to_one and not math.isclose(math.fsum(float(values[key] or 0) for key in self._sum_to_one), 1.0):
            return
        with _quiet(self._optuna):
            self._study.add_trial(
                self._optuna.trial.create_trial(
                    params={one.over.key: values[one.over.key] for one in self._searched},
                    distributions=self._distributions,
                    value=losses[max(losses)],
                    intermediate_values=dict(losses),
                )
            )

    def tell(self, trial: Any, losses: Mapping[int, float], finished: bool) -> None:
        """Tell what came of a proposal.

        Args:
            trial: as asked for.
            losses: its losses, by the number of seeds; {}: it could not be tried at all.
            finished: whether it got all seeds; else it was stopped.
        """
        with _quiet(self._optuna):
            for seeds, loss in losses.items():
                trial.report(loss, seeds)
            if finished:
                self._study.tell(trial, losses[max(losses)])
            else:
                # One without any loss counts as the worst.
                self._study.tell(trial, state=self._optuna.trial.TrialState.PRUNED)


def _rounded(value: Value, one: Searched) -> Value:
    if one.whole or one.over.choices:
        return value
    return min(max(_significant(float(value)), one.over.low), one.over.high)


def _significant(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
