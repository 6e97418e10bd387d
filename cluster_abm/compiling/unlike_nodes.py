"""The methods of a compiled view of unlike nodes, where loads are compared per unit of what serves them."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluster_abm.compiling.methods import ABSENT
from cluster_abm.compiling.operations import check_node, floats_at, row_of
from cluster_abm.compiling.tables import CAPACITIES, UNLIKE_VIEW, capacities_of
from cluster_abm.compiling.translating import translated
from cluster_abm.compiling.values import attribute, method
from cluster_abm.jit import inlinable
from cluster_abm.policy import capacities
from cluster_abm.policy.capacities import Capacities

_compared = inlinable(translated(capacities.compared, None, ABSENT, {}))
_served_by = inlinable(translated(capacities.served_by, None, ABSENT, {}))
method(CAPACITIES, "of")(translated(Capacities.of, Capacities, ABSENT, {}))


@attribute(CAPACITIES, "cpu")
def _cpu(found: Any) -> Any:
    return floats_at(found.cpu_at, found.nodes)


@attribute(CAPACITIES, "memory")
def _memory(found: Any) -> Any:
    return floats_at(found.memory_at, found.nodes)


@attribute(CAPACITIES, "disk")
def _disk(found: Any) -> Any:
    return floats_at(found.disk_at, found.nodes)


@attribute(CAPACITIES, "speed")
def _speed(found: Any) -> Any:
    return floats_at(found.speed_at, found.nodes)


@attribute(CAPACITIES, "cores")
def _cores(found: Any) -> Any:
    return floats_at(found.cores_at, found.nodes)


@attribute(CAPACITIES, "turns")
def _turns(found: Any) -> Any:
    return floats_at(found.turns_at, found.nodes)


@attribute(UNLIKE_VIEW, "capacities")
def _capacities(view: Any) -> Any:
    return capacities_of(view.at)


@method(UNLIKE_VIEW, "column")
def _unlike_column(view: Any, index: Any, task: Any = None) -> Any:
    load = floats_at(view.table_at + row_of(index) * view.nodes * 8, view.nodes)
    return _compared(load, index, view.capacities, task)


@method(UNLIKE_VIEW, "load")
def _unlike_load(view: Any, index: Any, node: int, task: Any = None) -> float:
    check_node(node, view.nodes)
    return float(view.column(index, task)[node])


@method(UNLIKE_VIEW, "per_unit")
def _unlike_per_unit(view: Any, load: float, index: Any, node: int) -> float:
    check_node(node, view.nodes)
    resource = _served_by(index)
    return load / view.capacities.of(resource)[node] if resource else load


@method(UNLIKE_VIEW, "least")
def _unlike_least(view: Any, index: Any, task: Any = None) -> int:
    return view.least_of(view.column(index, task))


@method(UNLIKE_VIEW, "draw_nodes")
def _unlike_draw_nodes(view: Any, task: Any, count: int, first_draw: int = 0) -> Any:
    is_open, cpu = view.is_open, view.capacities.cpu
    count = min(count, view.nodes - view.refused_count)
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
