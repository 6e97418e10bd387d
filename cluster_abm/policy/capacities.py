"""What serves which load index on unlike nodes: the heterogeneous form of every policy (`policy.heterogeneous`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

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
from cluster_abm.policy.tasks import ArrivingTask, Hardware

Loads = npt.NDArray[np.float64]
Table = npt.NDArray[np.void]

# Disks are compared by how fast they serve the papers' mean request: seek and transfer both count, and every load
# manager computes with the same rates whatever work it has seen.
REQUEST_KB = 100.0

CPU, MEMORY, DISK = "cpu", "memory", "disk"
# Indices that count what waits for a resource are compared per unit of it (`served_by`). Indices in the node's own
# time are heterogeneous as they are, but a task adds more to a slow node than to a fast one (`own_time_of`).
# Own time to which a task adds what depends on the tasks there; fractions of what the node has; room that either
# suffices or does not; and what only estimates read.
AS_MEASURED = frozenset(
    ["page_ms", "oversize", "oversize_here", "disk_work", "free_mb", "cache_mb", "virtual_free_mb", "newest_ms",
     "faults_per_ms", "disk_square", "stream", "accesses", "cpu_percent", "memory_percent", "net_ms",
     "disk_delay_share", "net_delay_share"]
)  # fmt: skip


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
    match index:
        case "tasks" | "cpu_queue":
            return 1.0
        case "queue" | "queue_paging":
            return cpu_share(io_per_ms, request_ms, 0.0, 0.0)
        case "at_disk":
            return disk_share(io_per_ms, request_ms, 0.0, 0.0)
        case "memory_mb":
            return task.memory_mb
        case "io_per_ms" | "io_load":
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
    resource = served_by(index)
    if index == "mean_queue":
        # Of each core as it is.
        return relative_load(load, joining, capacities.speed)
    if resource == CPU:
        return relative_load(tasks_per_core(load + joining, capacities.cores), 0.0, capacities.speed)
    if resource:
        return relative_load(load, joining, capacities.of(resource))
    resource = own_time_of(index)
    if resource:
        return load + joining / capacities.of(resource)
    return load


def served_by(index: str) -> str:
    """What serves an index that counts what waits for a resource; "" of others."""
    match index:
        case "tasks" | "cpu_queue" | "queue" | "queue_paging" | "mean_queue":
            return CPU
        case "memory_mb":
            return MEMORY
        case "io_per_ms" | "io_load" | "at_disk":
            return DISK
        case _:
            return ""


def own_time_of(index: str) -> str:
    """What serves an index in the node's own time; "" of others."""
    match index:
        case "cpu_ms":
            return CPU
        case "io_ms":
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
    table = loads.copy()
    for index in (name for name in loads.dtype.names or () if served_by(name) or own_time_of(name)):
        table[index] = comparable(loads, index, capacities, task)
    return table
