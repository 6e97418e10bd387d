"""The methods of a compiled view and task: those of View and ArrivingTask, compiled as they are written.

What reads whole columns, or draws nodes, has a form of its own here, of the same results.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from cluster_abm import formulas
from cluster_abm.compiling.blocks import (
    FEW,
    is_exceeded,
    least_entry,
    least_of_row,
    least_open_entry,
    least_open_of_row,
    total_of_row,
)
from cluster_abm.compiling.operations import array_at, check_node, row_of
from cluster_abm.compiling.tables import (
    CAPACITIES,
    DATA,
    FIELDS,
    TASK,
    TASK_ROW,
    UNLIKE_VIEW,
    VIEW,
    capacities_of,
    data_of,
    from_dtype,
    loads_of,
    node_set_of,
    notes_of,
    paths_of,
    task_of,
)
from cluster_abm.compiling.texts import INDICES
from cluster_abm.compiling.translating import translated
from cluster_abm.compiling.values import BOUNDED, attribute, method
from cluster_abm.engine.random_numbers import policy_uniform
from cluster_abm.formulas.imbalance import imbalance_factors
from cluster_abm.jit import inlinable
from cluster_abm.jit.calls import address_of
from cluster_abm.native_arrays import copy_fields
from cluster_abm.policy import capacities
from cluster_abm.policy.capacities import Capacities
from cluster_abm.policy.data import DataMap
from cluster_abm.policy.tasks import CANDIDATE, ArrivingTask
from cluster_abm.policy.view import View

CPU_ROW, PAGE_ROW, IO_ROW = (INDICES[name] - 1 for name in ("cpu_ms", "page_ms", "io_ms"))
TASK_SIZE = TASK_ROW.itemsize
tasks_at = array_at(types.Array(from_dtype(CANDIDATE), 1, "C"))
# What is None in views of nodes that are compared as alike, and in views of unlike nodes.
ALIKE, UNLIKE = frozenset(["capacities", "data"]), frozenset(["data"])
OF_CAPACITIES = {
    name: inlinable(translated(getattr(capacities, name), None, UNLIKE, {})) for name in ("compared", "served_by")
}


def of_views(give: Any, name: str) -> Any:
    """Compile the decorated function as a method, or an attribute, of views with capacities and of those without."""

    def register(function: Any) -> Any:
        give(VIEW, name)(function)
        give(UNLIKE_VIEW, name)(function)
        return function

    return register


def as_written(value: Any, of: Any, absent: frozenset[str], *names: str) -> None:
    """Compile methods and properties of a class as they are written there."""
    for name in names:
        written = getattr(of, name)
        if isinstance(written, property):
            attribute(value, name)(translated(written.fget, of, absent, OF_CAPACITIES))
        else:
            method(value, name, BOUNDED)(translated(written, of, absent, OF_CAPACITIES))


AS_WRITTEN = (
    "next_node", "mb_per_s", "network_mb_per_s", "disk_mb_per_s", "fixed_ms", "measured", "column", "load", "per_unit",
    "is_largest", "of_those_up", "mean_of_those_up", "open_entries", "is_open", "faults_per_ms", "page_ms", "cost_ms",
    "now_slices",
)  # fmt: skip
as_written(VIEW, View, ALIKE, *AS_WRITTEN)
as_written(UNLIKE_VIEW, View, UNLIKE, *AS_WRITTEN, "least")
as_written(TASK, ArrivingTask, ALIKE, "cpu_on", "request_on", "io_on", "written_mb")
as_written(CAPACITIES, Capacities, UNLIKE, "of")
as_written(DATA, DataMap, ALIKE, "access_ms", "access_ms_on")


def _part(make: Any) -> Any:
    return lambda view: make(view.at)


for _name, _make in {"loads": loads_of, "notes": notes_of, "paths": paths_of, "data": data_of}.items():
    of_views(attribute, _name)(_part(_make))
attribute(UNLIKE_VIEW, "capacities")(_part(capacities_of))


@method(DATA, "fetch")
def _fetch(data: Any, file: int) -> Any:
    check_node(file, len(data.row.fetch_ms))
    # The holder that a file comes from is not asked for.
    return (data.row.fetch_ms[file],)


@method(DATA, "held_mb")
def _held_mb(data: Any, files: Any) -> Any:
    row, nodes = data.row, data.row.nodes
    on_node, in_cluster = np.zeros(nodes), np.zeros(nodes)
    for file in files:
        check_node(file, len(row.file_mb))
        size_mb, holders = row.file_mb[file], row.holders[file]
        for copy in range(len(holders)):
            # Where a file has fewer copies than others, its first holder stands there again: it counts once.
            if copy > 0 and holders[copy] == holders[0]:
                break
            on_node[holders[copy]] += size_mb
        for node in range(nodes):
            for holder in holders:
                if row.cluster_of[holder] == row.cluster_of[node]:
                    in_cluster[node] += size_mb
                    break
    return on_node, in_cluster


@of_views(attribute, "refused")
def _refused(view: Any) -> Any:
    return node_set_of(view.row.refused, view.row.refused_count)


@of_views(attribute, "down")
def _down(view: Any) -> Any:
    return node_set_of(view.row.down, view.row.down_count)


@of_views(attribute, "hardware_table")
def _hardware_table(view: Any) -> Any:
    return view.row.hardware


@of_views(attribute, "_is_refused")
def _is_refused(view: Any) -> Any:
    return view.row.refused


@of_views(attribute, "_is_down")
def _is_down(view: Any) -> Any:
    return view.row.down


@of_views(attribute, "candidate_rows")
def _candidate_rows(view: Any) -> Any:
    if view.row.candidate_count < 0:
        raise LookupError("the tasks of the own node are not described here")
    return tasks_at(address_of(view.row.candidates), view.row.candidate_count)


@of_views(method, "has_index")
def _has_index(view: Any, index: Any) -> bool:
    return 1 <= index.number <= FIELDS


@of_views(method, "_measured_column")
def _measured_column(view: Any, index: Any) -> Any:
    return view.loads[index]


@of_views(method, "uniform")
def _uniform(view: Any, task: int, draw: int) -> float:
    return policy_uniform(view.row.policy_key, task, draw)


@of_views(method, "least_of")
def _least_of(view: Any, column: Any) -> int:
    if view.row.refused_count > 0:
        return least_open_entry(column, view.me, view.row.refused)
    return least_entry(column, view.me)


@method(VIEW, "least")
def _least(view: Any, index: Any, task: Any = None) -> int:
    if view.nodes > FEW:
        if view.row.refused_count > 0:
            return least_open_of_row(view.loads, row_of(index), view.me, view.row.refused)
        return least_of_row(view.loads, row_of(index), view.me)
    return view.least_of(view.column(index))


@of_views(method, "is_largest_of")
def _is_largest_of(view: Any, column: Any) -> bool:
    return not is_exceeded(view.of_those_up(column), column[view.me])


@method(VIEW, "draw_nodes")
def _draw_nodes(view: Any, task: Any, count: int, first_draw: int = 0) -> Any:
    nodes, drawn = view.nodes, view.row.refused_count
    count = min(count, nodes - drawn)
    # In ascending order: those that have refused and, one after another, those that have been drawn.
    closed = np.empty(drawn + count, np.int64)
    if drawn > 0:
        refused = np.flatnonzero(view.row.refused)
        # One by one: to assign a slice takes numba four seconds to compile, for the words of an error.
        for place in range(drawn):
            closed[place] = refused[place]
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


@method(UNLIKE_VIEW, "draw_nodes")
def _unlike_draw_nodes(view: Any, task: Any, count: int, first_draw: int = 0) -> Any:
    is_open, cpu = view.is_open, view.capacities.cpu
    count = min(count, view.nodes - view.row.refused_count)
    found = np.empty(count, np.int64)
    for draw in range(count):
        nodes = np.flatnonzero(is_open)
        shares = np.cumsum(cpu[nodes])
        wanted = view.uniform(task.task, first_draw + draw) * shares[-1]
        place = 0
        while place < len(nodes) - 1 and shares[place] <= wanted:
            place += 1
        found[draw] = nodes[place]
        is_open[nodes[place]] = False
    return found


@of_views(attribute, "imbalance")
def _imbalance(view: Any) -> Any:
    loads = view.loads
    if view.row.down_count == 0 and view.nodes > FEW:
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
    rows = view.row.candidate
    copy_fields(rows[place], view.candidate_rows[place])
    rows[place].place, rows[place].requested_ms = place, math.nan
    return task_of(address_of(rows) + place * TASK_SIZE)
