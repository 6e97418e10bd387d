"""The quantities that placeholders name, each in one entry: how it is found at a step's moment, and what it means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from cluster_abm.clock import NS_PER_MS
from cluster_abm.engine.tables import BREAKDOWN
from cluster_abm.scenes.moments import MOMENT, NAMES, Moment, Value
from cluster_abm.scenes.selecting import NotThere

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


def _to_each(at: Moment, run: str) -> pd.Series:
    """How many remote starts went to each node. Raises NotThere: there are none."""
    found = at.starts(run)["target"].value_counts()
    if found.empty:
        raise NotThere("there are no remote starts in what the timeline shows")
    return found


def _truth(column: str, unit: str) -> Of:
    return lambda at: Value(at.truths[column], unit)


def _part(column: str) -> Of:
    return lambda at: _ms(at.task[column] / NS_PER_MS)


RUN: Mapping[str, tuple[OfRun, str]] = {
    "most_tasks": (lambda at, run: _tasks(at.tasks_on(run).max()), "tasks on the node that has most of them"),
    "busiest": (lambda at, run: _name(at.tasks_on(run).argmax()), "the number of that node"),
    "empty_nodes": (lambda at, run: _count((at.tasks_on(run) == 0).sum()), "nodes without a task"),
    "sent": (lambda at, run: _tasks(len(at.starts(run))), "remote starts in what the timeline shows"),
    "targets": (lambda at, run: _count(at.starts(run)["target"].nunique()), "nodes to which those went"),
    "most_sent": (lambda at, run: _tasks(_to_each(at, run).max()), "of those the most to one node"),
    "favourite": (lambda at, run: _name(_to_each(at, run).idxmax()), "the number of that node"),
    "unpaid_migrations": (
        lambda at, run: _count((at.runs[run].moves["did_not_pay"] & (at.runs[run].moves["kind"] == "migrates")).sum()),
        "migrations that did not pay",
    ),
    "unpaid_moves": (
        lambda at, run: _count(at.runs[run].moves["did_not_pay"].sum()),
        "moves that did not pay: those, and remote starts",
    ),
    "end": (
        lambda at, run: Value(at.runs[run].recording.meta["end_ns"] / NS_PER_MS, MOMENT), "when the run ends",
    ),
}  # fmt: skip
"""Of a run at the step's time, with what they mean; any metric of its summary, too."""
NODE: Mapping[str, tuple[OfNode, str]] = {
    "tasks": (lambda at, run, node: _tasks(at.tasks_on(run)[node]), "tasks on a node"),
    "memory": (
        lambda at, run, node: Value(float(at.memory_on(run)[node]), "%"),
        "share of its memory that they ask for",
    ),
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
            _truth(f"{side}_{column}", unit),
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
        name: (_part(f"{column}_ns"), f"the part of its time: {column.replace('_', ' ').replace('io', 'disk')}")
        for column in BREAKDOWN
        for name in [column.replace("io", "disk", 1) if column.startswith("io") else column]
    },
}
"""Of the task that the step selects, or whose move."""
