"""The acts of a scenario's script: when they are due, and what came of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from cluster_abm.clock import Clock
from cluster_abm.engine.tables import NEVER
from cluster_abm.model.part import part
from cluster_abm.scenario.script import Act
from cluster_abm.workload.pacing import in_order


class Outcome(NamedTuple):
    """What came of an act."""

    entry: int  # its place in the script, from 0
    act: Act
    at_ns: int  # the boundary at which its time came [ns]
    why_not: str  # why it could not be done; "": it was done


@part
class Script:
    """The plan of a run's acts, and what came of those whose time has come.

    Attributes:
        due_ns: the next boundary at which an act is due [ns]; NEVER: none is to come.
        outcomes: in the order in which they were due.
    """

    acts: Sequence[Act]
    clock: Clock

    def __post_init__(self) -> None:
        self._plan = in_order(self.acts, self.clock)
        self._next = 0
        self.outcomes: list[Outcome] = []

    @property
    def due_ns(self) -> int:
        """The next boundary at which an act is due [ns]; NEVER: none is to come."""
        return self._plan[self._next][0] if self._next < len(self._plan) else NEVER

    @property
    def are_to_come(self) -> bool:
        """Whether any act is to come."""
        return self._next < len(self._plan)

    def due(self) -> Iterator[tuple[int, Act]]:
        """Give the acts whose time has come, each with its place in the script."""
        while self.due_ns <= self.clock.now_ns:
            entry = self._plan[self._next][1]
            self._next += 1
            yield entry, self.acts[entry]

    def rows(self, is_over: bool) -> list[dict[str, Any]]:
        """Return what came of the acts, in the order of their times; those to come last.

        Args:
            is_over: whether the run has ended.
        """
        why_not = "the run ended before" if is_over else "its time has not come yet"
        rows = [
            {"entry": one.entry, **_words(one.act), "done": not one.why_not, "why_not": one.why_not}
            for one in self.outcomes
        ]
        to_come = (entry for _, entry in self._plan[len(self.outcomes) :])
        return rows + [
            {"entry": entry, **_words(self.acts[entry]), "done": False, "why_not": why_not} for entry in to_come
        ]


def _words(act: Act) -> dict[str, Any]:
    return act.model_dump(exclude_none=True)
