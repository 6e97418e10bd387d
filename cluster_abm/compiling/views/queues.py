"""What a compiled policy can do with the jobs of a queue, and with the cores that running jobs hold."""

from __future__ import annotations

import operator
from typing import Any

from numba import types

from cluster_abm.compiling.operations import array_at, overloaded
from cluster_abm.compiling.tables import (
    HEAD,
    JOB_NOTES,
    QUEUE,
    TASK_ROW,
    WAITING_JOBS,
    from_dtype,
    job_notes_of,
    task_of,
)
from cluster_abm.compiling.texts import number_of
from cluster_abm.compiling.values import attribute, method
from cluster_abm.compiling.views.methods import of_views
from cluster_abm.jit.calls import address_of
from cluster_abm.policy.waiting import WAITING

rows_at = array_at(types.Array(from_dtype(WAITING), 1, "C"))
column_at = array_at(types.Array(types.float64, 1, "C"))
ROW_SIZE, TASK_SIZE = WAITING.itemsize, TASK_ROW.itemsize


@attribute(QUEUE, "rows")
def _rows(queue: Any) -> Any:
    counts = queue.row.counts
    return rows_at(address_of(queue.row.rows) + counts[HEAD] * ROW_SIZE, counts[WAITING_JOBS])


@attribute(QUEUE, "notes")
def _notes(queue: Any) -> Any:
    return job_notes_of(queue.at)


@overloaded(len)
def _length(value: Any) -> Any:
    return (lambda value: value.row.counts[WAITING_JOBS]) if value is QUEUE else None


@overloaded(operator.getitem)
def _item(value: Any, item: Any) -> Any:
    if value is QUEUE and isinstance(item, types.StringLiteral) and item.literal_value in (WAITING.names or ()):
        name = item.literal_value
        return lambda value, item: value.rows[name]
    if value is JOB_NOTES and isinstance(item, types.StringLiteral):
        number = number_of(item.literal_value)

        def noted(value: Any, item: Any) -> Any:
            row = value.row
            for note in range(len(row.note_names)):
                if row.note_names[note] == number:
                    return column_at(address_of(row.note_values[note]) + 8 * row.counts[HEAD], row.counts[WAITING_JOBS])
            raise KeyError("no such note of a job")

        return noted
    return None


@method(QUEUE, "first_task")
def _first_task(queue: Any, place: int) -> Any:
    row = queue.row
    if place < 0 or place >= row.counts[WAITING_JOBS]:
        raise IndexError("no such place in the queue")
    return task_of(address_of(row.tasks) + (row.counts[HEAD] + place) * TASK_SIZE)


@of_views(method, "core_of")
def _core_of(view: Any, task: Any) -> int:
    given = view.row.given
    return given[(task.task - view.row.first_task) % len(given)]


@of_views(method, "nodes_of")
def _nodes_of(view: Any, job: int) -> Any:
    if job != view.row.given_job:
        raise LookupError("only the cores of the job that starts are known here")
    return view.row.given
