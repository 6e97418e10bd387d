"""What a step's texts can name: the runs, and what is selected, at the step's time; and how its numbers are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cluster_abm.scenario import Scenario
from cluster_abm.scenes.numbers import amount, duration, moment
from cluster_abm.scenes.selecting import MOVE, NotThere, SceneRun, Selection

NAMES, MOMENT = "name", "moment"


class Value(NamedTuple):
    """A number and its unit: ms, %, 1, or another; "name" is the number of a node or task, "moment" a time [ms]."""

    number: float
    unit: str

    @property
    def words(self) -> str:
        """As the player writes it."""
        if self.unit == NAMES:
            return f"{int(self.number)}"
        if self.unit == MOMENT:
            return moment(self.number)
        if self.unit == "ms":
            return duration(self.number)
        if self.unit == "tasks":
            return f"{amount(self.number)} task{'' if self.number == 1 else 's'}"
        if self.unit == "%":
            return f"{amount(100 * self.number)} %"
        return amount(self.number) if self.unit == "1" else f"{amount(self.number)} {self.unit}"


@dataclass(frozen=True)
class Moment:
    """What a step's texts are about.

    Attributes:
        scenario: that of the runs.
        runs: the runs by their policies.
        policy: of the run in which the step selects something.
        selection: that; None: nothing.
        time_ms: the step's clock.
        span_ms: what the timeline shows.
    """

    scenario: Scenario
    runs: Mapping[str, SceneRun]
    policy: str
    selection: Selection | None
    time_ms: float
    span_ms: tuple[float, float]

    @property
    def run(self) -> SceneRun:
        """The run in which the step selects something."""
        return self.runs[self.policy]

    @cached_property
    def move(self) -> pd.Series:
        """The decision that is selected. Raises NotThere."""
        if self.selection is None or self.selection.kind != MOVE:
            raise NotThere('the step selects no move: select = "first migration", say')
        return self.run.moves.iloc[self.selection.number]

    @cached_property
    def truths(self) -> Mapping[str, float]:
        """What was true when it was taken, by column."""
        row = int(self.move.name)  # type: ignore[call-overload]
        found = self.run.recording.tables["decisions"].slice(row, 1).to_pylist()[0]
        return {name.removeprefix("true_"): value for name, value in found.items() if name.startswith("true_")}

    @cached_property
    def task(self) -> pd.Series:
        """The task that is selected, or that the move is about. Raises NotThere."""
        if self.selection is not None and self.selection.kind == "task":
            return self.run.task(self.selection.number)
        if self.selection is None or self.selection.kind != MOVE:
            raise NotThere("the step selects no task and no move")
        return self.run.task(int(self.move["task"]))

    @property
    def task_number(self) -> int:
        """Its number."""
        return int(self.task.name)  # type: ignore[call-overload]

    def there(self, policy: str) -> pd.DataFrame:
        """The visits of a run that go on at the step's time."""
        visits = self.runs[policy].segments
        now = self.time_ms
        goes_on = (visits["from_ms"] <= now) & ((visits["to_ms"] > now) | visits["is_open"])
        return visits[(visits["what"] == "runs") & goes_on]

    def tasks_on(self, policy: str) -> np.ndarray[Any, Any]:
        """How many tasks are on each node of a run at the step's time."""
        return np.bincount(self.there(policy)["node"], minlength=self.runs[policy].nodes)

    def memory_on(self, policy: str) -> np.ndarray[Any, Any]:
        """The share of each node's memory that its tasks demand at the step's time."""
        run, there = self.runs[policy], self.there(policy)
        demands = run.jobs["memory_mb"].reindex(run.tasks["job"].reindex(there["task"])).to_numpy()
        sums = np.bincount(there["node"], demands, minlength=run.nodes)
        return np.asarray(sums / run.recording.tables["nodes"]["memory_mb"].to_numpy())

    def starts(self, policy: str) -> pd.DataFrame:
        """The accepted remote starts of a run in what the timeline shows."""
        moves = self.runs[policy].moves
        begin, end = self.span_ms
        inside = (moves["time_ms"] >= begin) & (moves["time_ms"] < end)
        return moves[inside & (moves["kind"] == "starts") & moves["accepted"]]
