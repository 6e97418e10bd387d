"""The record of every decision, as rows of numbers."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cluster_abm.arrays import Array, Floats
from cluster_abm.clock import NS_PER_MS, Clock
from cluster_abm.columns import columns_of, joined, transposed
from cluster_abm.compiling.texts import number_of, text_of
from cluster_abm.engine.tables import Table
from cluster_abm.large_tables import blocks, forget_pages, zeros
from cluster_abm.model.deciding.truths import COLUMNS, Witness, no_truths
from cluster_abm.policy.decision import RECORDED, Decision, numbers_of
from cluster_abm.policy.described import Described, attributes, row_of
from cluster_abm.policy.tasks import ArrivingTask

# A row a decision: its columns, the time as whole ns, texts as their numbers (compiling.texts).
DECIDED = row_of(one._replace(name="time_ns", kind="int") if one.name == "time_ms" else one for one in RECORDED)
# The most rows of a block: each block stands in a file, and only what is being written is in memory.
MOST_ROWS_A_BLOCK = 1 << 19


# The checker of types knows no fields that follow from a table.
_tuple_of: Any = namedtuple
_Recorded: Any = _tuple_of("_Recorded", [one.name for one in RECORDED])


class DecisionRecord(_Recorded):
    """One decision about one task: a stay, or an offer and its answer."""

    __slots__ = ()


DecisionRecord.__doc__ = (DecisionRecord.__doc__ or "") + attributes(RECORDED)


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
        keeps: whether they are kept for `frame`; one takes 120 bytes.
        witness: what measures the truth of each decision of a run that is recorded; None: it is not recorded.

    Attributes:
        taken: how many decisions were taken.
        refused_offers: how many of them were offers that another node refused, or did not answer.
    """

    def __init__(self, clock: Clock, keeps: bool, witness: Witness | None = None) -> None:
        self._clock = clock
        self.keeps, self.witness = keeps, witness
        # Beside each block of decisions what was true at each of them (deciding.truths).
        self._truths: list[Floats] = []
        self.truths_filling = no_truths()
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
            if self.witness is not None:
                is_about_another = target != manager
                told = self.witness.row(manager, target, decision.index) if is_about_another else math.nan
                self.truths_filling[self._filled] = told
            block[self._filled] = (
                self._clock.now_ns, task.task, task.job, manager, target, number_of(decision.rule),
                number_of(decision.index), *numbers_of(decision), accepted, number_of(reason),
            )  # fmt: skip
        self.count(1, 0)

    def room(self, rows: int) -> Table:
        """The block that is being filled, with room for these rows from `position` on."""
        if self._filled + rows > len(self._filling):
            if self._filled:
                self._blocks.append(self._filling[: self._filled])
                self._truths.append(self.truths_filling[: self._filled])
                forget_pages(self._filling)
            size = max(rows, min(MOST_ROWS_A_BLOCK, 64 + self.taken))
            self._filling, self._filled = zeros(size, DECIDED, "decisions"), 0
            if self.witness is not None:
                self.truths_filling = np.empty((size, len(COLUMNS)))
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
        """The newest decisions that are kept, at most `count` of them."""
        return records_of(self._rows(max(0, self.taken - count))) if self.keeps else []

    def _rows(self, first: int, last: int | None = None) -> Table:
        """The decisions from the `first`-th to the one before the `last`-th, or to the newest."""
        return joined(self._pieces(first, last), DECIDED)

    def _pieces(self, first: int, last: int | None = None) -> list[Table]:
        begin, found = self._first, []
        for block in (*self._blocks, self._filling[: self._filled]):
            inside = block[max(0, first - begin) : None if last is None else max(0, last - begin)]
            if len(inside):
                found.append(inside)
            begin += len(block)
        return found

    def columns(self) -> dict[str, Array]:
        """The decisions that are kept, as an array of each field of DECIDED."""
        return columns_of(self._pieces(0), DECIDED)

    def truths(self) -> Floats:
        """What was true at each of them, shape (len(truths.COLUMNS), decisions)."""
        return transposed([*self._truths, self.truths_filling[: self._filled]], len(COLUMNS), np.float64)

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
    values = [values_of(rows, one).tolist() for one in RECORDED]
    return [DecisionRecord(*row) for row in zip(*values, strict=True)]


def decisions_frame(rows: Table) -> pd.DataFrame:
    """Decisions as a table, in the order of the rows (DECIDED)."""
    dtypes = {"float": "float64", "int": "int64", "bool": "bool", "str": "object"}
    return pd.DataFrame({one.name: pd.Series(values_of(rows, one), dtype=dtypes[one.kind]) for one in RECORDED})


def values_of(rows: Table, column: Described) -> npt.NDArray[Any]:
    """The values of a column as they are written to files."""
    if column.name == "time_ms":
        return np.asarray(rows["time_ns"] / NS_PER_MS)
    if column.kind == "float":
        # Of zeros there is one alone: a whole number has no other.
        return np.asarray(rows[column.name] + 0.0)
    return texts_in(rows[column.name]) if column.kind == "str" else rows[column.name]
