"""A workflow in WfFormat as its JSON has it: tasks, their numbers, and the graph that they form."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

import networkx
import numpy as np

from cluster_abm.bounded_files import shown
from cluster_abm.errors import InputError
from cluster_abm.workload.text.json_document import json_problems, writable
from cluster_abm.workload.text.problems import SHOWN_PROBLEMS
from cluster_abm.workload.traces.table import Flags, Floats

# Name here -> names in the schema's generations, and the factor to our unit (seconds, per cent, cores, bytes).
NUMBERS: dict[str, tuple[tuple[str, float], ...]] = {
    "runtime": (("runtimeInSeconds", 1.0), ("runtime", 1.0)),
    "cpu": (("avgCPU", 1.0),),
    "cores": (("coreCount", 1.0), ("cores", 1.0)),
    "read": (("readBytes", 1.0), ("bytesRead", 1.0)),
    "written": (("writtenBytes", 1.0), ("bytesWritten", 1.0)),
    "memory": (("memoryInBytes", 1.0), ("memory", 1024.0)),  # KB before version 1.4
}
MOST_DEPENDENCES = 5_000_000
SHOWN_ID, SHOWN_CYCLE = 60, 5
MOST = 1e100  # larger numbers are cut to it: what is made of them stays finite


def document_of(data: bytes, where: str) -> dict[str, Any]:
    """The JSON object in a file. Raises InputError where it holds none, or none with a workflow."""
    with json_problems(where):
        document = json.loads(data.decode("utf-8-sig"))
    if not isinstance(document, dict) or not isinstance(document.get("workflow"), dict):
        raise InputError(
            f"{shown(where)}: no WfFormat: allowed is an object with the key 'workflow' (schema 1.0 to 1.5)"
        )
    return document


class Workflow:
    """The tasks of a document, whichever generation of the schema it follows.

    Raises InputError: lists of tasks that are missing or empty, ids that are missing, given twice or unknown.

    Attributes:
        ids: of the tasks, in the specification's order.
        names: likewise.
    """

    def __init__(self, document: dict[str, Any], where: str) -> None:
        self._where = where
        self._problems: list[str] = []
        workflow = document["workflow"]
        specification = workflow.get("specification")
        if isinstance(specification, dict):
            described = self._tasks(specification, "workflow.specification.tasks")
            execution = workflow.get("execution")
            ran = self._tasks(execution if isinstance(execution, dict) else {}, "workflow.execution.tasks")
        else:
            key = "jobs" if "jobs" in workflow and "tasks" not in workflow else "tasks"
            described = ran = self._tasks(workflow, f"workflow.{key}", key)
        self._described = self._by_id(described)
        self._ran = self._by_id(ran)
        for name in self._ran.keys() - self._described.keys():
            self._say(f"task {name[:SHOWN_ID]!r}: in the execution, not in the specification")
        self.refuse()
        self.ids = list(self._described)
        self.names = [writable(str(task.get("name", name))) for name, task in self._described.items()]

    def executed(self) -> Flags:
        """Which tasks are in the execution, shape (tasks,)."""
        return np.array([name in self._ran for name in self.ids], bool)

    def numbers(self) -> dict[str, Floats]:
        """NUMBERS of all tasks, NaN where not known, shape (tasks,) each."""
        numbers = {name: np.full(len(self.ids), math.nan) for name in NUMBERS}
        for row, name in enumerate(self.ids):
            task = self._ran.get(name, {})
            for ours, theirs in NUMBERS.items():
                for key, factor in theirs:
                    value = task.get(key)
                    if value is None:
                        continue
                    # Of JSON only true and false are numbers to Python and none to the schema.
                    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
                        self._say(f"task {name[:SHOWN_ID]!r}: {key} = {str(value)[:40]!r}: allowed: a number")
                        continue
                    numbers[ours][row] = min(max(value, -MOST), MOST) * factor
                    break
        self.refuse()
        return numbers

    def graph(self) -> networkx.DiGraph:
        """Rows of parents -> rows of children.

        Raises InputError: unknown ids, a task after itself, a cycle, or too many dependences.
        """
        rows = {name: row for row, name in enumerate(self.ids)}
        # Before version 1.4 parents were given by name.
        by_name = (
            rows if len(set(self.names)) < len(rows) else dict(zip(self.names, range(len(rows)), strict=True)) | rows
        )
        graph = networkx.DiGraph()
        graph.add_nodes_from(range(len(rows)))
        for row, (name, task) in enumerate(self._described.items()):
            for key, forward in (("parents", False), ("children", True)):
                for other in self._listed(task, key, name):
                    other_row = by_name.get(other)
                    if other_row is None or other_row == row:
                        what = "no task has this id" if other_row is None else "a task cannot come after itself"
                        self._say(f"task {name[:SHOWN_ID]!r}: {key} has {other[:SHOWN_ID]!r}: {what}")
                    else:
                        graph.add_edge(*((row, other_row) if forward else (other_row, row)))
            if graph.number_of_edges() > MOST_DEPENDENCES:
                raise too_many(self._where)
        self.refuse()
        if not networkx.is_directed_acyclic_graph(graph):
            cycle = [repr(self.ids[edge[0]][:SHOWN_ID]) for edge in networkx.find_cycle(graph)]
            more = ", ..." if len(cycle) > SHOWN_CYCLE else ""
            raise InputError(
                f"{self._where}: tasks that wait for each other ({len(cycle):,} in a cycle): "
                f"{', '.join(cycle[:SHOWN_CYCLE])}{more}"
            )
        return graph

    def spelled(self) -> list[str]:
        """The ids without spaces, which stand between ids in the column `after`."""
        return [_spelled(name) for name in self.ids]

    @staticmethod
    def bridged(graph: networkx.DiGraph, usable: Flags) -> int:
        """How many usable tasks have a parent that is skipped."""
        return sum(not all(usable[parent] for parent in graph.pred[row]) for row in np.flatnonzero(usable).tolist())

    def refuse(self) -> None:
        """Raise InputError with the first problems if there are any."""
        if self._problems:
            more = len(self._problems) - SHOWN_PROBLEMS
            rest = [f"{self._where}: {more:,} more problems"] if more > 0 else []
            raise InputError(self._problems[:SHOWN_PROBLEMS] + rest)

    def _say(self, words: str) -> None:
        self._problems.append(f"{self._where}: {words}")

    def _tasks(self, holder: dict[str, Any], what: str, key: str = "tasks") -> list[dict[str, Any]]:
        tasks = holder.get(key)
        if not isinstance(tasks, list) or not tasks or not all(isinstance(task, dict) for task in tasks):
            raise InputError(f"{self._where}: no WfFormat: {what}: allowed is a list of tasks, at least one")
        return tasks

    def _by_id(self, tasks: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
        by_id: dict[str, dict[str, Any]] = {}
        spelled: set[str] = set()
        for number, task in enumerate(tasks, 1):
            name = task.get("id", task.get("name"))
            if not isinstance(name, str) or not name.strip():
                self._say(f"task {number:,}: id = {str(name)[:40]!r}: allowed: a text that is not blank")
                continue
            if _spelled(name) in spelled:
                self._say(f"task {number:,}: id = {name[:SHOWN_ID]!r}: allowed: each id once")
            spelled.add(_spelled(name))
            by_id[name] = task
        return by_id

    def _listed(self, task: dict[str, Any], key: str, name: str) -> Iterable[str]:
        ids = task.get(key, [])
        if not isinstance(ids, list) or not all(isinstance(other, str) for other in ids):
            self._say(f"task {name[:SHOWN_ID]!r}: {key}: allowed: a list of ids")
            return []
        return ids


def too_many(where: str) -> InputError:
    """The error for a graph that takes too much room."""
    return InputError(f"{where}: more than {MOST_DEPENDENCES:,} dependences between tasks: allowed up to as many")


def _spelled(name: str) -> str:
    """An id without spaces, which stand between ids in the column `after`."""
    return "_".join(writable(name).split())
