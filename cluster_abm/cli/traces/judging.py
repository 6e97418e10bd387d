"""What `trace fit` does to judge its scenario by queueing: options, runs, and what is printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import click

from cluster_abm.cli.output import echo
from cluster_abm.errors import InputError

if TYPE_CHECKING:
    from cluster_abm.study.fitting.fit import Fitted
    from cluster_abm.study.fitting.log import JobLog, Jobs
    from cluster_abm.study.fitting.verdicts import NotJudged, QueueingJudgement

Function = TypeVar("Function", bound=Callable[..., Any])
BY_OPTION, INTERRUPTED, RUNNING = "--no-judge", "interrupted", "its runs had not ended when this was written"

judge_option = click.option(
    "--judge/--no-judge",
    default=True,
    show_default=True,
    help="Compare waits of draws with those of the log, under first come first served and EASY, at loads 0.5, 0.7 and "
    "0.9; the head of the scenario says what it must not be used for.",
)
draws_option = click.option(
    "--draws", type=click.IntRange(min=2), help="Draws whose waits are compared with the log's (default: 20)."
)
hold_back_option = click.option(
    "--hold-back",
    is_flag=True,
    help="Fit the first, third, fifth ... week of the log, and judge by the second, fourth, sixth ...",
)


class HowToJudge(NamedTuple):
    """How a fitted scenario is judged."""

    judge: bool
    draws: int | None  # None: not given
    hold_back: bool

    def check(self, policies: str | None) -> None:
        """Raise InputError for options that do not go together."""
        if not self.judge and self.draws is not None:
            raise InputError(f"--draws {self.draws}: with --no-judge nothing is drawn for it; leave one of both out")
        if self.hold_back and policies is not None:
            raise InputError("--policies: would run on all weeks of the log; leave it or --hold-back out")

    def halves(self, log: JobLog) -> tuple[JobLog, JobLog]:
        """What is fitted, and what is judged by. Raises InputError: too short a log to hold half of it back."""
        from cluster_abm.study.fitting.weeks import halves

        return halves(log) if self.hold_back else (log, log)

    def judgement(
        self, log: JobLog, fitted: Fitted, draws: Sequence[Jobs], workers: int | None
    ) -> QueueingJudgement | NotJudged:
        """Judge a scenario; an interrupt, and what no run takes, are reasons why it is not judged.

        Args:
            log: what is judged by.
            draws: those of the first seeds, which are there already.
            workers: processes; None: one per processor.
        """
        from cluster_abm.study.fitting.judging import DRAWS, judge
        from cluster_abm.study.fitting.verdicts import NotJudged

        if not self.judge:
            return NotJudged(BY_OPTION)
        seed, count = fitted.scenario.run.seed, self.draws or DRAWS
        try:
            drawn = _drawn(log, fitted, draws, count)
            return judge(log.jobs, drawn, seed=seed, is_held_back=self.hold_back, workers=workers)
        except InputError as problem:
            return NotJudged("; ".join(str(problem).splitlines()))
        except KeyboardInterrupt:
            return NotJudged(INTERRUPTED)


def _drawn(log: JobLog, fitted: Fitted, there: Sequence[Jobs], count: int) -> Iterator[Jobs]:
    from cluster_abm.study.fitting.log import drawn_jobs

    yield from there[:count]
    first = fitted.scenario.run.seed
    for seed in range(first + len(there), first + count):
        yield drawn_jobs(fitted.scenario, seed, log.jobs)


def print_judgement(judged: QueueingJudgement | NotJudged) -> None:
    """Print what came of it, with its table."""
    for line in judged.lines():
        echo(line)
    echo()


def judging_options(function: Function) -> Function:
    """How the scenario is judged, given on as `how_judged`, a HowToJudge."""

    @wraps(function)
    def command(**given: Any) -> Any:
        how = HowToJudge(*(given.pop(name) for name in HowToJudge._fields))
        return function(how_judged=how, **given)

    for option in (hold_back_option, draws_option, judge_option):
        command = option(command)
    return cast(Function, command)
