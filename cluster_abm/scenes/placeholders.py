"""Numbers in the texts of a scene: placeholders in braces, filled from its runs, never by evaluating anything.

A placeholder is a value, `{none.mean_slowdown}`, or a ratio of two, `{none.mean_slowdown / wal-pm.mean_slowdown}`. A
value names a run by its policy, or the move or task that the step selects, then a quantity: RUN, MOVE and TASK list
them. Quantities of a node have its number in brackets: `{none.tasks[16]}`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cluster_abm.clock import NS_PER_MS
from cluster_abm.engine.tables import BREAKDOWN
from cluster_abm.results.metrics import BY_NAME
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.shipped import nearest
from cluster_abm.scenes.numbers import amount, duration, moment
from cluster_abm.scenes.selecting import MOVE, NotThere, Run, Selection

BRACES = re.compile(r"\{([^{}]*)\}")
KEY = re.compile(r"scenario\.([a-z0-9_.]+)")
VALUE = re.compile(r"([a-z0-9-]+)\.([a-z0-9_]+)(?:\[(\d{1,9})\])?")
NAMES, MOMENT = "name", "moment"
# What a key's last word says of its unit, and how many of ours that is.
UNITS = {"ms": ("ms", 1.0), "s": ("ms", 1000.0), "mb": ("MB", 1.0), "kb": ("KB", 1.0), "mbps": ("Mbps", 1.0)}


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
    runs: Mapping[str, Run]
    policy: str
    selection: Selection | None
    time_ms: float
    span_ms: tuple[float, float]

    @property
    def run(self) -> Run:
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
            return self.run.tasks.loc[self.selection.number]
        if self.selection is None or self.selection.kind != MOVE:
            raise NotThere("the step selects no task and no move")
        return self.run.tasks.loc[self.move["task"]]

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


Of = Callable[[Moment], Value]
OfRun = Callable[[Moment, str], Value]
OfNode = Callable[[Moment, str, int], Value]


def _count(number: Any) -> Value:
    return Value(float(number), "1")


def _tasks(number: Any) -> Value:
    return Value(float(number), "tasks")


def _name(number: Any) -> Value:
    return Value(float(number), NAMES)


def _ms(number: Any) -> Value:
    return Value(float(number), "ms")


RUN: Mapping[str, tuple[OfRun, str]] = {
    "most_tasks": (lambda at, run: _tasks(at.tasks_on(run).max()), "tasks on the node that has most of them"),
    "busiest": (lambda at, run: _name(at.tasks_on(run).argmax()), "the number of that node"),
    "empty_nodes": (lambda at, run: _count((at.tasks_on(run) == 0).sum()), "nodes without a task"),
    "sent": (lambda at, run: _tasks(len(at.starts(run))), "remote starts in what the timeline shows"),
    "targets": (lambda at, run: _count(at.starts(run)["target"].nunique()), "nodes to which those went"),
    "most_sent": (
        lambda at, run: _tasks(at.starts(run)["target"].value_counts().max()), "of those the most to one node",
    ),
    "favourite": (lambda at, run: _name(at.starts(run)["target"].value_counts().idxmax()), "the number of that node"),
    "unpaid_migrations": (
        lambda at, run: _count((at.runs[run].moves["did_not_pay"] & (at.runs[run].moves["kind"] == "migrates")).sum()),
        "migrations that did not pay",
    ),
    "end": (lambda at, run: _ms(at.runs[run].recording.meta["end_ns"] / NS_PER_MS), "how long the run took"),
}  # fmt: skip
"""Of a run at the step's time, with what they mean; any metric of its summary, too."""
NODE: Mapping[str, tuple[OfNode, str]] = {
    "tasks": (lambda at, run, node: _tasks(at.tasks_on(run)[node]), "tasks on a node"),
    "memory": (lambda at, run, node: Value(float(at.memory_on(run)[node]), "%"), "share of its memory that they ask for"),
    "starts": (
        lambda at, run, node: _tasks((at.starts(run)["target"] == node).sum()),
        "remote starts on it in what the timeline shows",
    ),
}
"""Of a node of a run."""
MOVE_QUANTITIES: Mapping[str, tuple[Of, str]] = {
    "task": (lambda at: _name(at.move["task"]), "the task's number"),
    "from": (lambda at: _name(at.move["source"]), "its node"),
    "to": (lambda at: _name(at.move["target"]), "the node that was asked"),
    "at": (lambda at: Value(float(at.move["time_ms"]), MOMENT), "when"),
    "age": (lambda at: _ms(at.move["age_ms"]), "how old the report of that node was"),
    "staying": (lambda at: _ms(at.move["response_here_ms"]), "estimated time to its end if it stays"),
    "moving": (lambda at: _ms(at.move["response_there_ms"]), "estimated time to its end there, without the move"),
    "costs": (lambda at: _ms(at.move["cost_ms"]), "what the move costs"),
    "saves": (
        lambda at: _ms(at.move["response_here_ms"] - at.move["response_there_ms"] - at.move["cost_ms"]),
        "what the move was to save",
    ),
    "took": (lambda at: _ms(at.move["finish_ms"] - at.move["time_ms"]), "time to its end as it was"),
    "later": (
        lambda at: _ms(at.move["finish_ms"] - at.move["time_ms"] - at.move["response_here_ms"]),
        "how much longer that was than staying",
    ),
    "believed_here": (lambda at: _count(at.move["load_here"]), "the load of its node as the manager knew it"),
    "believed_there": (lambda at: _count(at.move["load_there"]), "that of the other one"),
    **{
        f"{name}_{side}": (
            lambda at, column=f"{side}_{column}", unit=unit: Value(at.truths[column], unit),
            f"{words} {'on its node' if side == 'here' else 'on the other one'}, as it was",
        )
        for name, column, unit, words in (
            ("tasks", "tasks", "tasks", "tasks"), ("cpu_work", "cpu_ms", "ms", "CPU work waiting"),
            ("disk_work", "io_ms", "ms", "disk work waiting"), ("paging_work", "page_ms", "ms", "paging work waiting"),
            ("memory", "memory_mb", "MB", "memory demand"),
        )
        for side in ("here", "there")
    },
}  # fmt: skip
"""Of the move that the step selects."""


def _slowdown(at: Moment) -> Value:
    isolated_ns = sum(at.task[f"isolated_{part}_ns"] for part in ("cpu", "io", "paging", "barrier"))
    return _count((at.task["finish_ns"] - at.task["arrival_ns"]) / isolated_ns)


TASK: Mapping[str, tuple[Of, str]] = {
    "number": (lambda at: _name(at.task_number), "its number"),
    "home": (lambda at: _name(at.task["home"]), "the node on which it appeared"),
    "node": (lambda at: _name(at.task["node"]), "the node on which it ended"),
    "arrival": (lambda at: Value(at.task["arrival_ns"] / NS_PER_MS, MOMENT), "when it appeared"),
    "finish": (lambda at: Value(at.task["finish_ns"] / NS_PER_MS, MOMENT), "when it ended"),
    "response": (lambda at: _ms((at.task["finish_ns"] - at.task["arrival_ns"]) / NS_PER_MS), "from one to the other"),
    "slowdown": (_slowdown, "that over what it takes alone"),
    "migrations": (lambda at: _count(at.task["migrations"]), "how often it migrated"),
    "restarts": (lambda at: _count(at.task["restarts"]), "how often it lost its node"),
    "redone": (lambda at: _ms(at.task["lost_cpu_ns"] / NS_PER_MS), "CPU work that was lost with its node"),
    "faults": (lambda at: _count(at.task["faults"]), "its page faults"),
    **{
        name: (
            lambda at, column=f"{column}_ns": _ms(at.task[column] / NS_PER_MS),
            f"the part of its time: {column.replace('_', ' ').replace('io', 'disk')}",
        )
        for column in BREAKDOWN
        for name in [column.replace("io", "disk", 1) if column.startswith("io") else column]
    },
}
"""Of the task that the step selects, or whose move."""


def fill(text: str, at: Moment) -> str:
    """A text with its placeholders filled. Raises NotThere: one of them can be none, or a brace stands alone."""
    rest = BRACES.sub("", text)
    if "{" in rest or "}" in rest:
        raise NotThere("a brace stands alone: a placeholder is written {none.mean_slowdown}")
    return BRACES.sub(lambda found: _filled(found[1], at), text)


def _filled(words: str, at: Moment) -> str:
    parts = [part.strip() for part in words.split("/")]
    try:
        values = [_value(part, at) for part in parts]
        if not all(math.isfinite(one.number) for one in values):
            raise NotThere("there is no such number here")
    except NotThere as problem:
        raise NotThere(f"placeholder {{{words[:80]}}}: {problem}") from None
    if len(values) > 2 or (len(values) == 2 and values[1].number == 0):
        raise NotThere(f"placeholder {{{words[:80]}}}: is a ratio of two values, and the second must not be 0")
    return amount(values[0].number / values[1].number) if len(values) == 2 else values[0].words


def _value(words: str, at: Moment) -> Value:
    key = KEY.fullmatch(words)
    if key is not None:
        return _of_key(key[1], at.scenario)
    found = VALUE.fullmatch(words)
    if found is None:
        raise NotThere("is written NAME.QUANTITY, as {none.mean_slowdown} or {none.tasks[16]}")
    of, quantity, node = found[1], found[2], None if found[3] is None else int(found[3])
    if of in at.runs:
        return _of_run(of, quantity, node, at)
    if of not in ("move", "task"):
        raise NotThere(f"{of}: allowed: {', '.join([*at.runs, 'move', 'task', 'scenario'])}")
    known = MOVE_QUANTITIES if of == "move" else TASK
    if quantity not in known or node is not None:
        raise NotThere(f"{quantity}: {nearest(quantity, [*known])}")
    return known[quantity][0](at)


def _of_run(policy: str, quantity: str, node: int | None, at: Moment) -> Value:
    if node is not None:
        if quantity not in NODE:
            raise NotThere(f"{quantity}[{node}]: of a node allowed: {', '.join(NODE)}")
        if node >= at.runs[policy].nodes:
            raise NotThere(f"there is no node {node}: nodes are 0 to {at.runs[policy].nodes - 1}")
        return NODE[quantity][0](at, policy, node)
    if quantity in RUN:
        return RUN[quantity][0](at, policy)
    summary = at.runs[policy].recording.meta["summary"]
    number = summary["metrics"].get(quantity, summary["jobs"].get(quantity))
    if number is None:
        raise NotThere(f"{quantity}: {nearest(quantity, [*RUN, *summary['jobs'], *summary['metrics']])}")
    metric = BY_NAME.get(quantity)
    return Value(float(number), "1" if metric is None else "%" if metric.is_share else metric.unit)


def _of_key(dotted: str, scenario: Scenario) -> Value:
    found: Any = scenario
    for part in dotted.split("."):
        found = getattr(found, part, None) if part in getattr(type(found), "model_fields", {}) else None
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise NotThere(f"{dotted}: is no key of the scenario that is a number")
    unit, scale = UNITS.get(dotted.rsplit("_", 1)[-1], ("1", 1.0))
    return Value(found * scale, unit)
