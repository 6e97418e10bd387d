"""What a step selects, found in the recording of a run: a node, a job, a task, or the first move of a kind."""

from __future__ import annotations

import re
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from cluster_abm.arrays import Array
from cluster_abm.clock import NS_PER_MS
from cluster_abm.engine.tables import LOST
from cluster_abm.recording import Recording

NAMED = re.compile(r"(node|job|task) (\d{1,9})")
FIRST = re.compile(
    r"first (migration|remote start|refused|that did not pay|lost)"
    r"(?: from node (?P<source>\d{1,9}))?(?: to node (?P<target>\d{1,9}))?"
)
ALLOWED = (
    'allowed: "node 3", "job 28", "task 36", "first migration", "first remote start", "first refused", "first that did '
    'not pay", "first lost"; after "first ...": "from node 3", "to node 4"'
)
# How the player calls a decision in an address.
MOVE = "move"


class NotThere(Exception):
    """What a step names is not in its run, or cannot be read. The words say which."""


class Selection(NamedTuple):
    """What is selected.

    Attributes:
        kind: node, job, task or move.
        number: of the node, job or task; of a move the row of its decision.
        time_ms: when it happens; None: whenever the step says.
    """

    kind: str
    number: int
    time_ms: float | None = None


class SceneRun:
    """A recording with the tables that steps look into, made once."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording

    @cached_property
    def nodes(self) -> int:
        """How many nodes there are."""
        return int(self.recording.tables["nodes"].num_rows)

    @cached_property
    def tasks(self) -> pd.DataFrame:
        """The tasks by their numbers, as the recording has them."""
        return self.recording.tables["tasks"].to_pandas().set_index("task").sort_index()

    def task(self, number: int) -> pd.Series:
        """One of them."""
        return self.tasks.iloc[int(np.searchsorted(self.tasks.index.to_numpy(), number))]

    @cached_property
    def segments(self) -> pd.DataFrame:
        """The lives of tasks."""
        return self.recording.segments_frame()

    @cached_property
    def jobs(self) -> pd.DataFrame:
        """What each job is, by its number."""
        return self.recording.tables["jobs"].to_pandas().set_index("job")

    @cached_property
    def moves(self) -> pd.DataFrame:
        """The decisions by their rows, with `kind`, `age_ms`, `finish_ms` of the task and whether it `did_not_pay`."""
        frame = self.recording.decisions_frame()
        frame["kind"] = self.recording.kinds()
        told_ns = self.recording.tables["decisions"]["told_ns"].to_numpy()
        frame["age_ms"] = np.where(told_ns < 0, np.nan, frame["time_ms"] - told_ns / NS_PER_MS)
        tasks = self.tasks.reindex(frame["task"])
        frame["finish_ms"] = tasks["finish_ns"].to_numpy() / NS_PER_MS
        ended = ~tasks["is_open"].fillna(True).to_numpy(bool)
        later = frame["finish_ms"] > frame["time_ms"] + frame["response_here_ms"]
        frame["did_not_pay"] = frame["accepted"] & (frame["kind"] != "stays") & ended & later
        return frame

    def selection(self, words: str, at_s: float) -> Selection:
        """What a step's `select` means. Raises NotThere."""
        named = NAMED.fullmatch(words)
        if named is not None:
            return self._named(named[1], int(named[2]))
        first = FIRST.fullmatch(words)
        if first is None:
            raise NotThere(ALLOWED)
        ends = {side: None if number is None else int(number) for side, number in first.groupdict().items()}
        for number in ends.values():
            if number is not None:
                self._named("node", number)
        return self._first_lost(at_s, ends) if first[1] == "lost" else self._first_move(first[1], at_s, ends)

    def _named(self, kind: str, number: int) -> Selection:
        if kind == "node" and number >= self.nodes:
            raise NotThere(f"there is no node {number}: nodes are 0 to {self.nodes - 1}")
        if kind != "node" and number not in (self.jobs if kind == "job" else self.tasks).index:
            numbers = (self.jobs if kind == "job" else self.tasks).index
            raise NotThere(f"there is no {kind} {number} in the run: {kind}s are {numbers.min()} to {numbers.max()}")
        return Selection(kind, number)

    def _first_move(self, which: str, at_s: float, ends: dict[str, int | None]) -> Selection:
        moves = self.moves
        is_it: Array = {
            "migration": (moves["kind"] == "migrates") & moves["accepted"],
            "remote start": (moves["kind"] == "starts") & moves["accepted"],
            "refused": (moves["kind"] != "stays") & ~moves["accepted"],
            "that did not pay": moves["did_not_pay"],
        }[which].to_numpy()
        is_it = is_it & (moves["time_ms"] >= at_s * 1000).to_numpy()
        for side, number in ends.items():
            if number is not None:
                is_it = is_it & (moves[side] == number).to_numpy()
        rows = np.flatnonzero(is_it)
        if not len(rows):
            raise NotThere(f"there is none in the run from {at_s:g} s on")
        row = int(rows[np.argmin(moves["time_ms"].to_numpy()[rows])])
        return Selection(MOVE, row, float(moves["time_ms"].iloc[row]))

    def _first_lost(self, at_s: float, ends: dict[str, int | None]) -> Selection:
        if ends["target"] is not None:
            raise NotThere('"first lost" takes "from node ..." only')
        tasks = self.tasks
        lost = tasks[(tasks["outcome"] == LOST) & ~tasks["is_open"] & (tasks["finish_ns"] >= at_s * 1000 * NS_PER_MS)]
        if ends["source"] is not None:
            lost = lost[lost["node"] == ends["source"]]
        if lost.empty:
            raise NotThere(f"there is none in the run from {at_s:g} s on")
        ends_ns = lost["finish_ns"].to_numpy()
        first = int(ends_ns.argmin())
        return Selection("task", int(lost.index.to_numpy()[first]), float(ends_ns[first]) / NS_PER_MS)
