"""The record of every decision, as rows of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, get_type_hints

import numpy as np
import numpy.typing as npt
import pandas as pd

from cluster_abm.clock import NS_PER_MS, Clock
from cluster_abm.compiling.texts import number_of, text_of
from cluster_abm.engine.tables import Table
from cluster_abm.large_tables import blocks, forget_pages, zeros
from cluster_abm.policies import ArrivingTask, Decision

# A row a decision; texts as their numbers (compiling.texts).
DECIDED = np.dtype(
    [("time_ns", "i8"), ("task", "i8"), ("job", "i8"), ("source", "i4"), ("target", "i4"), ("rule", "i8"),
     ("index", "i8"), ("task_load", "f8"), ("load_here", "f8"), ("load_there", "f8"), ("response_here_ms", "f8"),
     ("response_there_ms", "f8"), ("cost_ms", "f8"), ("mce", "f8"), ("reason", "i8"), ("accepted", "?")],
    align=True,
)  # fmt: skip
TEXTS = ("rule", "index", "reason")
# Blocks grow up to so many rows: one of them stands in a file, and only what is just written is in memory.
MOST_ROWS_A_BLOCK = 1 << 19


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


class Inbox:
    """The decisions that a reader has not read yet."""

    def __init__(self, log: DecisionLog) -> None:
        self._log = log
        self.first = log.taken

    def __len__(self) -> int:
        return self._log.taken - self.first

    def take(self) -> list[DecisionRecord]:
        """Those taken since the last call, in their order."""
        found = self._log.since(self.first)
        self.first = self._log.taken
        self._log.forget()
        return found


class DecisionLog:
    """The decisions of a run: all of them kept, or only counted.

    Args:
        clock: the run's time.
        keeps: whether they are kept for `frame`; one takes 128 bytes.

    Attributes:
        taken: how many decisions were taken.
        refused_offers: how many of them were offers that another node refused, or did not answer.
    """

    def __init__(self, clock: Clock, keeps: bool) -> None:
        self._clock = clock
        self.keeps = keeps
        self.taken = 0
        self.refused_offers = 0
        # Full blocks, and one that is being filled; the first row kept is that of decision `_first`.
        self._blocks: list[Table] = []
        self._filling, self._filled = np.zeros(0, DECIDED), 0
        self._first = 0
        self._inboxes: list[Inbox] = []

    @property
    def is_read(self) -> bool:
        """Whether decisions are written down: for `frame`, or for a reader."""
        return self.keeps or bool(self._inboxes)

    def inbox(self) -> Inbox:
        """What every later decision can be read from."""
        if not self.is_read:
            self._first = self.taken
        self._inboxes.append(Inbox(self))
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
        if self.is_read:
            block = self.room(1)
            block[self._filled] = (
                self._clock.now_ns, task.task, task.job, manager, target, number_of(decision.rule),
                number_of(decision.index), decision.task_load + 0.0, decision.load_here + 0.0,
                decision.load_there + 0.0, decision.response_here_ms + 0.0, decision.response_there_ms + 0.0,
                decision.cost_ms + 0.0, decision.mce + 0.0, number_of(reason), accepted,
            )  # fmt: skip
        self.count(1, 0)

    def room(self, rows: int) -> Table:
        """The block that is being filled, with room for so many rows from `position` on."""
        if self._filled + rows > len(self._filling):
            if self._filled:
                self._blocks.append(self._filling[: self._filled])
                forget_pages(self._filling)
            size = max(rows, min(MOST_ROWS_A_BLOCK, 64 + self.taken))
            self._filling, self._filled = zeros(size, DECIDED, "decisions"), 0
        return self._filling

    @property
    def position(self) -> int:
        """Where the next row of that block is."""
        return self._filled

    def count(self, taken: int, refused_offers: int) -> None:
        """So many decisions have been taken, and where decisions are read written into that block."""
        if self.is_read:
            self._filled += taken
        self.taken += taken
        self.refused_offers += refused_offers

    def since(self, first: int) -> list[DecisionRecord]:
        """Return the decisions from the `first`-th on."""
        return records_of(self._rows(first))

    def forget(self) -> None:
        """Where decisions are not kept, drop those that every reader has read."""
        if self.keeps:
            return
        read = min(inbox.first for inbox in self._inboxes)
        while self._blocks and self._first + len(self._blocks[0]) <= read:
            self._first += len(self._blocks.pop(0))

    @property
    def kept(self) -> list[DecisionRecord]:
        """Those that are kept, in the order in which they were taken."""
        return records_of(self._rows(0)) if self.keeps else []

    def newest(self, count: int) -> list[DecisionRecord]:
        """The newest of those that are kept, at most so many."""
        return records_of(self._rows(max(0, self.taken - count))) if self.keeps else []

    def _rows(self, first: int, last: int | None = None) -> Table:
        """The decisions from the `first`-th to the one before the `last`-th, or to the newest."""
        begin, found = self._first, []
        for block in (*self._blocks, self._filling[: self._filled]):
            inside = block[max(0, first - begin) : None if last is None else max(0, last - begin)]
            if len(inside):
                found.append(np.array(inside))
                forget_pages(block)
            begin += len(block)
        return np.concatenate(found) if found else np.zeros(0, DECIDED)

    def frame(self) -> pd.DataFrame:
        """The decisions as a table; `attrs["taken"]` says how many there were, `attrs["note"]` why rows are missing."""
        table = decisions_frame(self._rows(0) if self.keeps else np.zeros(0, DECIDED))
        table.attrs["taken"] = self.taken
        if not self.keeps:
            table.attrs["note"] = f"keep_decisions=False: {self.taken} decisions were counted, and none is kept"
        return table

    def pieces(self) -> Iterator[pd.DataFrame]:
        """`frame` in pieces of large_tables.ROWS_AT_ONCE rows; an empty one if nothing was decided."""
        for part in [*blocks(self.taken if self.keeps else 0)] or [slice(0, 0)]:
            yield decisions_frame(self._rows(part.start, part.stop))


def texts_in(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.object_]:
    """The texts of a column of their numbers."""
    found, places = np.unique(numbers, return_inverse=True)
    texts = np.empty(len(found), object)
    texts[:] = [text_of(number) for number in found.tolist()]
    return np.asarray(texts[places.reshape(-1)])


def records_of(rows: Table) -> list[DecisionRecord]:
    """Rows of decisions as objects."""
    found = []
    for row in rows.tolist():
        time_ns, task, job, source, target, rule, index, *numbers, reason, accepted = row
        texts = text_of(rule), text_of(index)
        row = (time_ns / NS_PER_MS, task, job, source, target, *texts, *numbers, accepted, text_of(reason))
        found.append(DecisionRecord._make(row))
    return found


def decisions_frame(rows: Table) -> pd.DataFrame:
    """Decisions as a table, in the order of the rows (DECIDED)."""
    columns: dict[str, pd.Series] = {}
    dtypes = {float: "float64", int: "int64", bool: "bool", str: "object"}
    for name, kind in get_type_hints(DecisionRecord).items():
        values: npt.NDArray[Any] = rows["time_ns"] / NS_PER_MS if name == "time_ms" else rows[name]
        if name in TEXTS:
            values = texts_in(values)
        columns[name] = pd.Series(values, dtype=dtypes[kind])
    return pd.DataFrame(columns)
