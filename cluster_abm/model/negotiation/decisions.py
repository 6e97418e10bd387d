"""The record of every decision."""

from __future__ import annotations

from typing import NamedTuple, get_type_hints

import pandas as pd

from cluster_abm.clock import Clock
from cluster_abm.policies import ArrivingTask, Decision


class DecisionRecord(NamedTuple):
    """One decision about one task: a stay, or an offer and its answer. NaN: not asked.

    Attributes:
        time_ms: start of the slice in which it was taken.
        task, job: the task that it is about.
        source, target: nodes; the same for a stay.
        rule: the policy's rule that decided.
        index: load index compared, its values for the task, the source and the target in its own unit.
        response_here_ms, response_there_ms: expected response times.
        cost_ms: cost of starting it at the target.
        mce: migration cost-effectiveness [1/ms]; of `hbd` the age over the cost [1].
        accepted: whether the task starts, or goes on, at the target.
        reason: why it stays, or why the target refused.
    """

    time_ms: float
    task: int
    job: int
    source: int
    target: int
    rule: str
    index: str  # type: ignore[assignment]
    task_load: float
    load_here: float
    load_there: float
    response_here_ms: float
    response_there_ms: float
    cost_ms: float
    mce: float
    accepted: bool
    reason: str


class DecisionLog:
    """The decisions of a run: all of them kept, or only counted.

    Args:
        clock: the run's time.
        keeps: whether they are kept for `frame`; a record of one takes 350 bytes.

    Attributes:
        taken: how many decisions were taken.
        refused_offers: how many of them were offers that another node refused, or did not answer.
        kept: those that are kept, in the order in which they were taken.
    """

    def __init__(self, clock: Clock, keeps: bool) -> None:
        self._clock = clock
        self.keeps = keeps
        self.taken = 0
        self.refused_offers = 0
        self.kept: list[DecisionRecord] = []
        self._inboxes: list[list[DecisionRecord]] = []

    def inbox(self) -> list[DecisionRecord]:
        """A list that every later decision is appended to; its reader empties it."""
        self._inboxes.append([])
        return self._inboxes[-1]

    def record(
        self, manager: int, task: ArrivingTask, decision: Decision, target: int, accepted: bool, reason: str
    ) -> None:
        """Note a decision of a load manager.

        Args:
            manager: its node.
            task: the task that the decision is about.
            decision: the decision.
            target: the node that was asked, or on which the task stays.
            accepted: whether the task starts, or goes on, at the target.
            reason: why it stays, or why the target refused.
        """
        # A job that is not accepted at home waits there: no offer was refused.
        self.refused_offers += not accepted and target != manager
        self.taken += 1
        if not (self.keeps or self._inboxes):
            return
        record = DecisionRecord(
            self._clock.now_ms,
            task.task,
            task.job,
            manager,
            target,
            decision.rule,
            decision.index,
            decision.task_load,
            decision.load_here,
            decision.load_there,
            decision.response_here_ms,
            decision.response_there_ms,
            decision.cost_ms,
            decision.mce,
            accepted,
            reason,
        )
        if self.keeps:
            self.kept.append(record)
        for inbox in self._inboxes:
            inbox.append(record)

    def frame(self) -> pd.DataFrame:
        """The decisions as a table; `attrs["taken"]` says how many there were, `attrs["note"]` why rows are missing."""
        table = decisions_frame(self.kept)
        table.attrs["taken"] = self.taken
        if not self.keeps:
            table.attrs["note"] = f"keep_decisions=False: {self.taken} decisions were counted, and none is kept"
        return table


def decisions_frame(decisions: list[DecisionRecord]) -> pd.DataFrame:
    """The decisions as a table, in the order in which they were taken."""
    names = DecisionRecord._fields
    kinds = get_type_hints(DecisionRecord)
    columns = zip(*decisions, strict=True) if decisions else [()] * len(names)
    dtypes = {float: "float64", int: "int64", bool: "bool", str: "object"}
    return pd.DataFrame(
        {name: pd.Series(list(column), dtype=dtypes[kinds[name]]) for name, column in zip(names, columns, strict=True)}
    )
