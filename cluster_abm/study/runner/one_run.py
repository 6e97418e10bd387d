"""One run of a study, wherever it is carried out."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cluster_abm.errors import InputError, PolicyFault
from cluster_abm.policies import admit
from cluster_abm.policy.finding.sources import PolicySource
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.distributions import LONGEST_PERIOD_MS
from cluster_abm.study.store.store import Record

if TYPE_CHECKING:
    from cluster_abm.model import ClusterModel


# Called now and then while a run goes on.
_look: ContextVar[Callable[[], None] | None] = ContextVar("look", default=None)


class HandedOver(BaseException):
    """A run is given up here, to be carried out by another process. Policies and models do not catch it."""


@dataclass(frozen=True)
class Assignment:
    """A run to be carried out."""

    scenario: Scenario  # its policy included
    # key, seed: the name of the run
    key: str
    seed: int
    policy_version: str  # of its policy, as of `policy_sources`, where the assignment was made
    keeps_load: bool  # whether its load over time is kept too
    raises_bad_input: bool = False  # whether bad input that the run notices is raised, else it is the run's result
    # where another process gets its policies, if it does not find them by name
    policies: tuple[PolicySource, ...] = ()
    keeps_responses: bool = False  # whether the response time of each job is kept too (`measuring.responses_ms`)


@contextmanager
def finished_model(scenario: Scenario, seed: int, watched: bool = False) -> Iterator[ClusterModel]:
    """A model after its run; when the block is left nothing is in it any more, and its memory is free.

    Args:
        scenario, seed: as of `ClusterModel`.
        watched: whether the scenario's measurements are taken; no result depends on them.
    """
    import mesa

    from cluster_abm.model import ClusterModel

    if not watched:
        measure = scenario.measure.model_copy(update={"period_ms": LONGEST_PERIOD_MS})
        scenario = scenario.model_copy(update={"measure": measure})
    # Stdout is for results: what a policy prints goes to stderr.
    with redirect_stdout(sys.stderr):
        model = ClusterModel(scenario, seed=seed, keep_decisions=False)
    try:
        look = _look.get()
        with redirect_stdout(sys.stderr):
            if look is None:
                model.run()
            else:
                model.run(lambda _: look())
        yield model
    finally:
        # Mesa 3.3 counts the agents of every model in a table of the class, which keeps them all alive.
        getattr(mesa.Agent, "_ids", {}).pop(model, None)
        # Model and agents know each other, and the collector of such circles counts objects, not the size of
        # their arrays: it would keep hundreds of finished models.
        model.__dict__.clear()


@contextmanager
def looked_after(look: Callable[[], None]) -> Iterator[None]:
    """Have a function called now and then while runs go on in the block; what it raises ends the run."""
    before = _look.set(look)
    try:
        yield
    finally:
        _look.reset(before)


def carry_out(assignment: Assignment) -> Record:
    """Carry a run out; whatever goes wrong in it is its result too.

    Raises:
        InputError: its policy is not here, or has other sources than where it was asked for; bad input, where that is
            raised.
    """
    from cluster_abm.study.runner.code_version import check_policy
    from cluster_abm.study.runner.measuring import RESPONSES, load_over_time, measure_run, responses_ms

    admit(assignment.policies)
    check_policy(assignment.scenario.policy.name, assignment.policy_version)
    name = (assignment.key, assignment.seed)
    try:
        with finished_model(assignment.scenario, assignment.seed, assignment.keeps_load) as model:
            load = load_over_time(model) if assignment.keeps_load else None
            row = measure_run(model)
            if assignment.keeps_responses:
                row[RESPONSES] = responses_ms(model)
            return Record(*name, row, load)
    except Exception as problem:
        if assignment.raises_bad_input and isinstance(problem, InputError) and not isinstance(problem, PolicyFault):
            raise
        return failed_by(problem, *name)


def failed_by(problem: BaseException, key: str, seed: int) -> Record:
    """The record of a run that something went wrong with."""
    error = " ".join(f"{type(problem).__name__}: {problem}".split())
    return Record(key, seed, error=error, traceback="".join(traceback.format_exception(problem)))
