"""The methods of a compiled view and task: those of View and ArrivingTask, compiled as they are written.

What reads whole columns, or draws nodes, has a form of its own here, of the same results.
"""

from __future__ import annotations

from typing import Any

from numba import types

from cluster_abm import formulas
from cluster_abm.compiling import operations
from cluster_abm.compiling.blocks import (
    FEW,
    largest_entry,
    largest_of_row,
    least_entry,
    least_of_row,
    least_open_entry,
)
from cluster_abm.compiling.operations import floats_at, integers_at
from cluster_abm.compiling.tables import (
    FIELDS,
    NODES,
    TASK,
    TASK_RECORD,
    TASKS,
    VIEW,
    loads_of,
    node_set_of,
    notes_of,
    task_of,
)
from cluster_abm.compiling.translating import translated
from cluster_abm.compiling.values import attribute, method
from cluster_abm.engine.streams import policy_uniform
from cluster_abm.policies.tasks import ArrivingTask, Paths
from cluster_abm.policies.view import View

nodes_at, tasks_at = operations.array_at(NODES), operations.array_at(TASKS)
task_rows_at = operations.array_at(types.Array(TASK_RECORD, 1, "C"))


for _name in ("fixed_ms", "load", "faults_per_ms", "page_ms", "cost_ms"):
    method(VIEW, _name)(translated(getattr(View, _name), View, False, {}))
for _name in ("cpu_on", "request_on", "io_on"):
    method(TASK, _name)(translated(getattr(ArrivingTask, _name), ArrivingTask, False, {}))
attribute(TASK, "written_mb")(translated(ArrivingTask.written_mb.fget, ArrivingTask, False, {}))  # type: ignore[attr-defined]
attribute(VIEW, "next_node")(translated(View.next_node.fget, View, False, {}))  # type: ignore[attr-defined]


@attribute(TASK, "files")
def _files(task: Any) -> Any:
    return integers_at(task.row.files_at, task.row.file_count)


@attribute(VIEW, "loads")
def _loads(view: Any) -> Any:
    return loads_of(view.at)


@attribute(VIEW, "notes")
def _notes(view: Any) -> Any:
    return notes_of(view.at)


@attribute(VIEW, "refused")
def _refused(view: Any) -> Any:
    return node_set_of(view.row.refused_at, view.row.refused_count, view.row.nodes)


@attribute(VIEW, "down")
def _down(view: Any) -> Any:
    return node_set_of(view.row.down_at, view.row.down_count, view.row.nodes)


@attribute(VIEW, "hardware")
def _hardware(view: Any) -> Any:
    return nodes_at(view.row.hardware_at, view.row.nodes)


@attribute(VIEW, "candidate_rows")
def _candidate_rows(view: Any) -> Any:
    return tasks_at(view.row.candidates_at, view.row.candidate_count)


@attribute(VIEW, "paths")
def _paths(view: Any) -> Any:
    row = view.row
    return Paths(floats_at(row.mb_per_s_at, row.nodes), floats_at(row.latency_ms_at, row.nodes))


@method(VIEW, "mb_per_s")
def _mb_per_s(view: Any, node: int) -> float:
    return floats_at(view.row.mb_per_s_at, view.row.nodes)[node]


@method(VIEW, "has_index")
def _has_index(view: Any, index: int) -> bool:
    return 1 <= index <= FIELDS


@method(VIEW, "measured")
def _measured(view: Any, index: int, node: int) -> float:
    row = view.row
    return floats_at(row.table_at, FIELDS * row.nodes)[(index - 1) * row.nodes + node]


@method(VIEW, "column")
def _column(view: Any, index: int, task: Any = None) -> Any:
    return floats_at(view.row.table_at + (index - 1) * view.row.nodes * 8, view.row.nodes)


@method(VIEW, "comparable")
def _comparable(view: Any, task: Any = None) -> Any:
    return view.loads


@method(VIEW, "per_unit")
def _per_unit(view: Any, load: float, index: int, node: int) -> float:
    return load


@method(VIEW, "uniform")
def _uniform(view: Any, task: int, draw: int) -> float:
    return policy_uniform(view.row.policy_key, task, draw)


@method(VIEW, "least_of")
def _least_of(view: Any, column: Any) -> int:
    if view.row.refused_count > 0:
        return least_open_entry(column, view.row.me, view.refused.flags)
    return least_entry(column, view.row.me)


@method(VIEW, "least")
def _least(view: Any, index: int, task: Any = None) -> int:
    if view.row.refused_count == 0 and view.row.nodes > FEW:
        return least_of_row(view.loads, index - 1, view.row.me)
    return view.least_of(view.column(index))


@method(VIEW, "is_largest_of")
def _is_largest_of(view: Any, column: Any) -> bool:
    return column[view.row.me] >= largest_entry(view.of_those_up(column))


@method(VIEW, "is_largest")
def _is_largest(view: Any, index: int, task: Any = None) -> bool:
    if view.row.down_count == 0 and view.row.nodes > FEW:
        return view.measured(index, view.row.me) >= largest_of_row(view.loads, index - 1)
    return view.is_largest_of(view.column(index))


@method(VIEW, "of_those_up")
def _of_those_up(view: Any, column: Any) -> Any:
    return column if view.row.down_count == 0 else column[view.down.flags == 0]


@attribute(VIEW, "imbalance")
def _imbalance(view: Any) -> Any:
    loads = view.loads
    return formulas.load_imbalance_factors(
        view.of_those_up(loads["cpu_ms"]), view.of_those_up(loads["page_ms"]), view.of_those_up(loads["io_ms"])
    )


@method(VIEW, "candidate")
def _candidate(view: Any, place: int) -> Any:
    found, made = view.candidate_rows[place], task_rows_at(view.row.candidate_at, 1)[0]
    made.task, made.job, made.home = found.task, found.job, found.home
    made.cpu_ms, made.io_per_ms, made.request_kb = found.cpu_ms, found.io_per_ms, found.request_kb
    made.memory_mb, made.initial_data_mb = found.memory_mb, found.initial_data_mb
    made.reaccess_rate, made.write_share, made.age_ms = found.reaccess_rate, found.write_share, found.age_ms
    made.running, made.page_faults, made.accesses = found.running, found.page_faults, found.accesses
    made.here_ms, made.migrations, made.place = found.here_ms, found.migrations, place
    return task_of(view.candidate_at)
