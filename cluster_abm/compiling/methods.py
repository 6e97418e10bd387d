"""The methods of a compiled view and task: those of View and ArrivingTask, compiled as they are written.

What reads whole columns, or draws nodes, has a form of its own here, of the same results.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numba import types

from cluster_abm import formulas
from cluster_abm.compiling import operations
from cluster_abm.compiling.blocks import (
    FEW,
    is_exceeded,
    least_entry,
    least_of_row,
    least_open_entry,
    total_of_row,
)
from cluster_abm.compiling.operations import check_node, floats_at, integers_at, row_of
from cluster_abm.compiling.tables import (
    DATA,
    FIELDS,
    NODES,
    TASK,
    TASK_RECORD,
    TASKS,
    UNLIKE_VIEW,
    VIEW,
    data_of,
    loads_of,
    node_set_of,
    notes_of,
    task_of,
)
from cluster_abm.compiling.texts import INDICES
from cluster_abm.compiling.translating import translated
from cluster_abm.compiling.values import BOUNDED, attribute, method
from cluster_abm.engine.random_numbers import policy_uniform
from cluster_abm.formulas.imbalance import imbalance_factors
from cluster_abm.policy.tasks import ArrivingTask, Paths
from cluster_abm.policy.view import View

ABSENT = frozenset(["capacities", "data"])
CPU_ROW, PAGE_ROW, IO_ROW = (INDICES[name] - 1 for name in ("cpu_ms", "page_ms", "io_ms"))
nodes_at, tasks_at = operations.array_at(NODES), operations.array_at(TASKS)
TASK_SIZE = TASK_RECORD.size
task_rows_at = operations.array_at(types.Array(TASK_RECORD, 1, "C"))


def of_views(give: Any, name: str) -> Any:
    """Compile the decorated function as a method, or an attribute, of views with capacities and of those without."""

    def register(function: Any) -> Any:
        give(VIEW, name)(function)
        give(UNLIKE_VIEW, name)(function)
        return function

    return register


for _name in ("fixed_ms", "faults_per_ms", "page_ms", "network_mb_per_s", "disk_mb_per_s", "cost_ms"):
    of_views(partial(method, options=BOUNDED), _name)(translated(getattr(View, _name), View, ABSENT, {}))
for _name in ("cpu_on", "request_on", "io_on"):
    method(TASK, _name)(translated(getattr(ArrivingTask, _name), ArrivingTask, ABSENT, {}))
attribute(TASK, "written_mb")(translated(ArrivingTask.written_mb.fget, ArrivingTask, ABSENT, {}))  # type: ignore[attr-defined]
of_views(attribute, "next_node")(translated(View.next_node.fget, View, ABSENT, {}))  # type: ignore[attr-defined]


@attribute(TASK, "files")
def _files(task: Any) -> Any:
    return integers_at(task.row.files_at, task.row.file_count)


@of_views(attribute, "data")
def _data(view: Any) -> Any:
    return data_of(view.at)


@method(DATA, "access_ms")
def _access_ms(data: Any, files: Any) -> Any:
    found = np.zeros(data.row.nodes)
    for file in files:
        check_node(file, data.row.data_files)
        fetch_ms = floats_at(data.row.fetch_ms_at + file * data.row.nodes * 8, data.row.nodes)
        for node in range(len(found)):
            found[node] += fetch_ms[node]
    return found


@method(DATA, "access_ms_on")
def _access_ms_on(data: Any, files: Any, node: int) -> float:
    found = 0.0
    check_node(node, data.row.nodes)
    for file in files:
        check_node(file, data.row.data_files)
        found += floats_at(data.row.fetch_ms_at + file * data.row.nodes * 8, data.row.nodes)[node]
    return found


@method(DATA, "held_mb")
def _held_mb(data: Any, files: Any) -> Any:
    row, nodes = data.row, data.row.nodes
    on_node, in_cluster = np.zeros(nodes), np.zeros(nodes)
    cluster_of = integers_at(row.cluster_of_at, nodes)
    for file in files:
        check_node(file, row.data_files)
        size_mb = floats_at(row.file_mb_at, file + 1)[file]
        holders = integers_at(row.holders_at + file * row.copies * 8, row.copies)
        for holder in holders:
            # As numpy assigns: once, however often a holder is named.
            on_node[holder] += size_mb
        for node in range(nodes):
            for holder in holders:
                if cluster_of[holder] == cluster_of[node]:
                    in_cluster[node] += size_mb
                    break
    return on_node, in_cluster


@of_views(attribute, "loads")
def _loads(view: Any) -> Any:
    return loads_of(view.at)


@of_views(attribute, "notes")
def _notes(view: Any) -> Any:
    return notes_of(view.at)


@of_views(attribute, "refused")
def _refused(view: Any) -> Any:
    return node_set_of(view.row.refused_at, view.row.refused_count, view.row.nodes)


@of_views(attribute, "down")
def _down(view: Any) -> Any:
    return node_set_of(view.row.down_at, view.row.down_count, view.row.nodes)


@of_views(attribute, "hardware")
def _hardware(view: Any) -> Any:
    return nodes_at(view.row.hardware_at, view.row.nodes)


@of_views(attribute, "candidate_rows")
def _candidate_rows(view: Any) -> Any:
    if view.row.candidate_count < 0:
        raise LookupError("the tasks of the own node are not described here")
    return tasks_at(view.row.candidates_at, view.row.candidate_count)


@of_views(attribute, "paths")
def _paths(view: Any) -> Any:
    row = view.row
    return Paths(floats_at(row.mb_per_s_at, row.nodes), floats_at(row.latency_ms_at, row.nodes))


@of_views(method, "mb_per_s")
def _mb_per_s(view: Any, node: int) -> float:
    check_node(node, view.row.nodes)
    return floats_at(view.row.mb_per_s_at, view.row.nodes)[node]


@of_views(method, "has_index")
def _has_index(view: Any, index: Any) -> bool:
    return 1 <= index.number <= FIELDS


@of_views(method, "measured")
def _measured(view: Any, index: Any, node: int) -> float:
    row = view.row
    check_node(node, row.nodes)
    return floats_at(row.table_at, FIELDS * row.nodes)[row_of(index) * row.nodes + node]


@method(VIEW, "column")
def _column(view: Any, index: Any, task: Any = None) -> Any:
    return floats_at(view.row.table_at + row_of(index) * view.row.nodes * 8, view.row.nodes)


@method(VIEW, "load")
def _load(view: Any, index: Any, node: int, task: Any = None) -> float:
    return view.measured(index, node)


@method(VIEW, "per_unit")
def _per_unit(view: Any, load: float, index: Any, node: int) -> float:
    return load


@of_views(method, "uniform")
def _uniform(view: Any, task: int, draw: int) -> float:
    return policy_uniform(view.row.policy_key, task, draw)


@of_views(method, "least_of")
def _least_of(view: Any, column: Any) -> int:
    if view.row.refused_count > 0:
        return least_open_entry(column, view.row.me, view.refused.flags)
    return least_entry(column, view.row.me)


@method(VIEW, "least")
def _least(view: Any, index: Any, task: Any = None) -> int:
    if view.row.refused_count == 0 and view.row.nodes > FEW:
        return least_of_row(view.loads, row_of(index), view.row.me)
    return view.least_of(view.column(index))


@of_views(method, "is_largest_of")
def _is_largest_of(view: Any, column: Any) -> bool:
    return not is_exceeded(view.of_those_up(column), column[view.row.me])


@of_views(method, "is_largest")
def _is_largest(view: Any, index: Any, task: Any = None) -> bool:
    return view.is_largest_of(view.column(index, task))


@of_views(method, "of_those_up")
def _of_those_up(view: Any, column: Any) -> Any:
    return column if view.row.down_count == 0 else column[view.down.flags == 0]


@of_views(method, "mean_of_those_up")
def _mean_of_those_up(view: Any, column: Any) -> float:
    up = view.of_those_up(column)
    return formulas.total(up) / len(up)


@of_views(method, "open_entries")
def _open_entries(view: Any, column: Any) -> Any:
    found = column.copy()
    if view.row.refused_count > 0:
        flags = view.refused.flags
        for node in range(len(found)):
            if flags[node] != 0:
                found[node] = np.inf
    return found


@of_views(attribute, "is_open")
def _is_open(view: Any) -> Any:
    if view.row.refused_count > 0:
        return view.refused.flags == 0
    return np.ones(view.row.nodes, np.bool_)


@method(VIEW, "draw_nodes")
def _draw_nodes(view: Any, task: Any, count: int, first_draw: int = 0) -> Any:
    nodes, drawn = view.row.nodes, view.row.refused_count
    count = min(count, nodes - drawn)
    # In ascending order: those that have refused and, one after another, those that have been drawn.
    closed = np.empty(drawn + count, np.int64)
    if drawn > 0:
        closed[:drawn] = np.flatnonzero(view.refused.flags)
    found = np.empty(count, np.int64)
    for draw in range(count):
        node = int(view.uniform(task.task, first_draw + draw) * (nodes - drawn))
        place = 0
        while place < drawn and closed[place] <= node:
            node += 1
            place += 1
        found[draw] = node
        for following in range(drawn, place, -1):
            closed[following] = closed[following - 1]
        closed[place] = node
        drawn += 1
    return found


@of_views(attribute, "imbalance")
def _imbalance(view: Any) -> Any:
    loads = view.loads
    if view.row.down_count == 0 and view.row.nodes > FEW:
        cpu_ms, page_ms, io_ms = loads["cpu_ms"], loads["page_ms"], loads["io_ms"]
        totals = total_of_row(loads, CPU_ROW), total_of_row(loads, PAGE_ROW), total_of_row(loads, IO_ROW)
        return imbalance_factors(totals, cpu_ms, page_ms, io_ms)
    return formulas.load_imbalance_factors(
        view.of_those_up(loads["cpu_ms"]), view.of_those_up(loads["page_ms"]), view.of_those_up(loads["io_ms"])
    )


@of_views(method, "candidate")
def _candidate(view: Any, place: int) -> Any:
    check_node(place, view.row.candidate_count)
    # Each has a row of its own: a policy may hold several.
    rows = task_rows_at(view.row.candidate_at, view.row.candidate_count)
    found, made = view.candidate_rows[place], rows[place]
    made.task, made.job, made.home = found.task, found.job, found.home
    made.cpu_ms, made.io_per_ms, made.request_kb = found.cpu_ms, found.io_per_ms, found.request_kb
    made.memory_mb, made.initial_data_mb = found.memory_mb, found.initial_data_mb
    made.reaccess_rate, made.write_share, made.age_ms = found.reaccess_rate, found.write_share, found.age_ms
    made.running, made.page_faults, made.accesses = found.running, found.page_faults, found.accesses
    made.here_ms, made.migrations, made.place = found.here_ms, found.migrations, place
    made.requested_ms = math.nan
    return task_of(view.row.candidate_at + place * TASK_SIZE)
