"""What serves which load index on unlike nodes: the heterogeneous form of every policy (`policy.heterogeneous`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cluster_abm.engine import fields
from cluster_abm.engine.fields import CPU, DISK, LOAD_INDICES, MEMORY
from cluster_abm.formulas import (
    cpu_share,
    disk_share,
    disk_work_ms,
    io_load_ms,
    relative_capacity,
    relative_load,
    service_ms,
    tasks_per_core,
)
from cluster_abm.jit import inlinable, kernel
from cluster_abm.policy.tasks import ArrivingTask, Hardware

Loads = npt.NDArray[np.float64]
Table = npt.NDArray[np.void]

# Disks are compared by how fast they serve the papers' mean request: seek and transfer both count, and every load
# manager computes with the same rates whatever work it has seen.
REQUEST_KB = 100.0

# Of the load indices, in their order: the name, how nodes are compared by it, and what an arriving task adds to it.
NAMES = tuple(index.name for index in LOAD_INDICES)
COMPARED = tuple(index.compared for index in LOAD_INDICES)
JOINS = tuple(index.joins for index in LOAD_INDICES)
PERCENTAGES = frozenset(index.name for index in LOAD_INDICES if index.unit == "%")
AS_MEASURED = frozenset(index.name for index in LOAD_INDICES if index.compared == fields.AS_MEASURED)
# How nodes are compared by each load index, as a number for compiled code; work ahead is in a node's own time already.
_KINDS = (fields.AS_MEASURED, fields.CPU, fields.SPEED, fields.MEMORY, fields.DISK)
_BY_CPU, _BY_SPEED, _BY_MEMORY, _BY_DISK = range(1, len(_KINDS))
_KIND_OF = np.array([_KINDS.index(how) if how in _KINDS else 0 for how in COMPARED], np.int8)


@inlinable
def position_in(texts: tuple[str, ...], text: str) -> int:
    """The position of a text among several; -1 if it is not among them."""
    for position in range(len(texts)):
        if texts[position] == text:
            return position
    return -1


class Capacities(NamedTuple):
    """What the nodes have relative to their mean, shape (nodes,) each; and the mean node.

    Attributes:
        cpu: all cores of a node, each by its speed: `speed` times `cores`.
        memory: by memory for programs.
        disk: by requests of REQUEST_KB served per ms, if many wait.
        speed: of a core.
        cores: how many, not relative to anything.
        turns: as `cpu`, relative to its mean.
        mean_speed: CPU speed of the mean node.
        mean_request_ms: time its disk takes for such a request [ms].
        mean_work_ms: for how long such a request keeps it from others [ms]; the same on one channel.
    """

    cpu: Loads
    memory: Loads
    disk: Loads
    speed: Loads
    cores: Loads
    turns: Loads
    mean_speed: float
    mean_request_ms: float
    mean_work_ms: float

    def of(self, resource: str) -> Loads:
        """The nodes' capacities in CPU, MEMORY or DISK."""
        if resource == CPU:
            return self.cpu
        return self.memory if resource == MEMORY else self.disk


def capacities_of(hardware: Sequence[Hardware]) -> Capacities | None:
    """What the nodes have relative to each other; None if all are alike, for then a load is what it is."""
    speeds = np.array([node.speed for node in hardware])
    cores = np.array([float(node.cores) for node in hardware])
    memory_mb = np.array([node.user_memory_mb for node in hardware])
    requests_ms = [service_ms(REQUEST_KB, node.seek_rotation_ms, node.disk_mb_per_s) for node in hardware]
    works_ms = [
        disk_work_ms(request_ms, REQUEST_KB / node.disk_mb_per_s, node.disk_channels)
        for node, request_ms in zip(hardware, requests_ms, strict=True)
    ]
    alone_per_ms, per_ms = 1.0 / np.array(requests_ms), 1.0 / np.array(works_ms)
    speed, memory, disk = (relative_capacity(rates) for rates in (speeds, memory_mb, per_ms))
    if all((relative == 1.0).all() for relative in (speed, memory, disk, cores / cores[0])):
        return None
    return Capacities(
        speed * cores, memory, disk, speed, cores, relative_capacity(speeds * cores), float(speeds.mean()),
        float(1.0 / alone_per_ms.mean()), float(1.0 / per_ms.mean()),
    )  # fmt: skip


def joining_load(task: ArrivingTask, index: str, capacities: Capacities) -> float:
    """What a task would add to an index on the mean node, in the index's unit; 0 to those it is not compared by."""
    mean_speed, request_ms = capacities.mean_speed, capacities.mean_request_ms
    io_per_ms = task.io_per_ms * mean_speed
    position = position_in(NAMES, index)
    joins = JOINS[position] if position >= 0 else ""
    match joins:
        case "task":
            return 1.0
        case "cpu share":
            return cpu_share(io_per_ms, request_ms, 0.0, 0.0)
        case "disk share":
            return disk_share(io_per_ms, request_ms, 0.0, 0.0)
        case "memory_mb":
            return task.memory_mb
        case "io_per_ms":
            return task.io_per_ms
        case "cpu_ms":
            return task.cpu_ms / mean_speed
        case "io_ms":
            return io_load_ms(task.cpu_ms, task.io_per_ms, capacities.mean_work_ms)
        case _:
            return 0.0


def compared(load: Loads, index: str, capacities: Capacities, task: ArrivingTask | None = None) -> Loads:
    """A load index of all nodes in a form in which unlike nodes can be compared, shape (nodes,).

    Args:
        load: the index as measured, shape (nodes,).
        index: its name.
        capacities: of the nodes.
        task: compare the nodes as they would be with this arriving task on them; it is in none of the rows.
    """
    joining = 0.0 if task is None else joining_load(task, index, capacities)
    how = how_compared(index)
    match how:
        case "cpu":
            return relative_load(tasks_per_core(load + joining, capacities.cores), 0.0, capacities.speed)
        case "speed":
            # Of each core as it is.
            return relative_load(load, joining, capacities.speed)
        case "memory" | "disk":
            return relative_load(load, joining, capacities.of(how))
        case "cpu time":
            return load + joining / capacities.cpu
        case "disk time":
            return load + joining / capacities.disk
        case _:
            return load


def how_compared(index: str) -> str:
    """How unlike nodes are compared by a load index: `compared` of its row in engine/fields.py; "" of no load index."""
    position = position_in(NAMES, index)
    return COMPARED[position] if position >= 0 else ""


def served_by(index: str) -> str:
    """What serves an index that counts what waits for a resource; "" of others."""
    how = how_compared(index)
    match how:
        case "cpu" | "speed":
            return CPU
        case "memory" | "disk":
            return how
        case _:
            return ""


def own_time_of(index: str) -> str:
    """What serves an index in the node's own time; "" of others."""
    how = how_compared(index)
    match how:
        case "cpu time":
            return CPU
        case "disk time":
            return DISK
        case _:
            return ""


def comparable(loads: Table, index: str, capacities: Capacities | None, task: ArrivingTask | None = None) -> Loads:
    """`compared` of a load table's field; without capacities the index as measured."""
    load = loads[index]
    return load if capacities is None else compared(load, index, capacities, task)


def comparable_table(loads: Table, capacities: Capacities | None, task: ArrivingTask | None = None) -> Table:
    """The load table with each index as `comparable` has it."""
    if capacities is None:
        return loads
    numbers = loads.view(np.float64).copy()
    table: Table = numbers.view(loads.dtype)
    if task is None:
        capacity = capacities.cores, capacities.speed, capacities.memory, capacities.disk
        _compare_all(numbers.reshape(len(loads), -1), _KIND_OF, *capacity)
        return table
    for index in (name for name in NAMES if name not in AS_MEASURED):
        table[index] = compared(loads[index], index, capacities, task)
    return table


@kernel
def _compare_all(
    loads: Loads, kinds: npt.NDArray[np.int8], cores: Loads, speed: Loads, memory: Loads, disk: Loads
) -> None:
    """`compared` without a task, for all nodes and indices at once: shape (nodes, indices), changed in place.

    Policies that act periodically have it each period.
    """
    for node in range(loads.shape[0]):
        for index in range(loads.shape[1]):
            kind, load = kinds[index], loads[node, index]
            if kind == _BY_CPU:
                loads[node, index] = relative_load(tasks_per_core(load, cores[node]), 0.0, speed[node])
            elif kind == _BY_SPEED:
                loads[node, index] = relative_load(load, 0.0, speed[node])
            elif kind == _BY_MEMORY:
                loads[node, index] = relative_load(load, 0.0, memory[node])
            elif kind == _BY_DISK:
                loads[node, index] = relative_load(load, 0.0, disk[node])
