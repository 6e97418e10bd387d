"""The features of each node when a task arrives: numbers of 0..1, made of what a load manager knows.

The environment (`cluster_abm.gym`) measures them for learners, the policy `learned` for itself, in compiled code or in
Python: all by `put_features`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from cluster_abm.arrays import Flags, Floats, Integers
from cluster_abm.formulas import available_mb_per_s, disk_work_ms, io_load_ms, remote_execution_ms, service_ms
from cluster_abm.jit import inlinable, kernel
from cluster_abm.policy.tasks import ArrivingTask, Table
from cluster_abm.policy.view import View

Numbers = npt.NDArray[np.float32]

# Of each node, in this order: name, and what it is before it is squashed by x / (x + half), which is 0.5 at `half`.
FEATURES = {
    "home": "1 for the node at which the task arrived, else 0",
    "down": "1 for a node that is believed to be down, else 0; no task starts there",
    "tasks": "tasks per core; half 4",
    "cpu": "CPU work ahead, per core; half 1,000 ms",
    "io": "work ahead of the disk; half 1,000 ms",
    "page": "paging ahead; half 1,000 ms",
    "memory": "memory demanded over memory for programs; half 1",
    "task_cpu": "CPU of the arriving task on this node; half 1,000 ms",
    "task_io": "its disk work on this node; half 1,000 ms",
    "task_memory": "its memory over this node's memory for programs; half 1",
    "cost": "cost of starting it there; half 1,000 ms; 1 where no route leads there",
    "cpu_wait": "tasks expected to want the CPU, per core (half 4), times the CPU's share in the task's own time",
    "io_wait": "tasks expected at the disk (half 4), times the disk's share in the task's own time",
    "noise": "a random number of the task and the node: with a weight on it a learner spreads tasks over like nodes",
}
# Where each stands.
(
    HOME, DOWN, TASKS, CPU, IO, PAGE, MEMORY, TASK_CPU, TASK_IO, TASK_MEMORY, COST, CPU_WAIT, IO_WAIT,
    NOISE,
) = range(len(FEATURES))  # fmt: skip
HALF_TASKS, HALF_MS, HALF_SHARE = 4.0, 1000.0, 1.0
# Which features are measured: all.
ALL: Flags = np.ones(len(FEATURES), np.bool_)


@inlinable
def squashed(value: Any, half: float) -> Any:
    """Return x / (x + half) of a number of 0..infinity, or of an array: 0 at 0, 0.5 at `half`, 1 at infinity."""
    return 1.0 - half / (value + half)


@inlinable
def share_of(part_ms: Any, other_ms: Any) -> Any:
    """Return the share of one part in two; a task demands some CPU, so that they are not both 0."""
    return part_ms / (part_ms + other_ms)


@inlinable
def put_features(found: Numbers, task: ArrivingTask, view: View, wanted: Flags) -> None:
    """Fill in features of all nodes for an arriving task.

    Loads are taken as measured: features are per core, per MB and in the node's own time already.

    Args:
        found: filled, shape (features, nodes), in the order of FEATURES.
        task: what its job announced.
        view: what the load manager of its home knows.
        wanted: which of them are filled in, shape (features,); the others are 0.
    """
    loads, hardware = view.loads, view.hardware_table
    found[:, :] = 0.0
    found[HOME, view.me] = 1.0
    if len(view.down) > 0:
        for node in range(view.nodes):
            if node in view.down:
                found[DOWN, node] = 1.0
    if wanted[TASKS]:
        put_squashed(found[TASKS], loads["tasks"], hardware["cores"], HALF_TASKS)
    if wanted[CPU]:
        put_squashed_alone(found[CPU], loads["cpu_ms"], HALF_MS)
    if wanted[IO]:
        put_squashed_alone(found[IO], loads["io_ms"], HALF_MS)
    if wanted[PAGE]:
        put_squashed_alone(found[PAGE], loads["page_ms"], HALF_MS)
    if wanted[MEMORY]:
        put_squashed(found[MEMORY], loads["memory_mb"], hardware["user_memory_mb"], HALF_SHARE)
    put_demands(
        found, wanted, hardware, view.kinds, loads["queue"], loads["at_disk"], task.cpu_ms, task.io_per_ms,
        task.request_kb, task.memory_mb,
    )  # fmt: skip
    if wanted[COST]:
        put_costs(
            found[COST], view.me, hardware, view.kinds, loads["disk_delay_share"], view.paths.mb_per_s,
            view.paths.latency_ms, view.measured("net_delay_share", view.me), view.remote_execution_ms,
            task.initial_data_mb,
        )  # fmt: skip
    if wanted[NOISE]:
        for node in range(view.nodes):
            found[NOISE, node] = view.uniform(task.task, node)


def features_of(task: ArrivingTask, view: View) -> Numbers:
    """The features of all nodes for an arriving task, shape (features, nodes), in the order of FEATURES."""
    found = np.zeros((len(FEATURES), view.nodes), np.float32)
    put_features(found, task, view, ALL)
    return found


@kernel
def put_squashed(found: Numbers, loads: Floats, per: Floats, half: float) -> None:
    """Fill in a load of each node per what serves it there, squashed."""
    for node in range(found.shape[0]):
        found[node] = squashed(loads[node] / per[node], half)


@kernel
def put_squashed_alone(found: Numbers, loads: Floats, half: float) -> None:
    """Fill in a load of each node, squashed."""
    for node in range(found.shape[0]):
        found[node] = squashed(loads[node], half)


@kernel
def put_demands(
    found: Numbers, wanted: Flags, hardware: Table, kinds: Integers, queue: Floats, at_disk: Floats, cpu_ms: float,
    io_per_ms: float, request_kb: float, memory_mb: float,
) -> None:  # fmt: skip
    """Fill in the features made of what an arriving task demands (ArrivingTask.cpu_on, ArrivingTask.io_on).

    Args:
        found, wanted: as of put_features.
        hardware: of each node.
        kinds: as View.kinds.
        queue, at_disk: load indices of each node.
        cpu_ms, io_per_ms, request_kb, memory_mb: of the task.
    """
    here_ms, disk_ms, cpu, io, memory, cpu_share, io_share = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for node in range(found.shape[1]):
        own = hardware[node]
        # Most nodes are like the one before.
        if node == 0 or kinds[node] != kinds[node - 1]:
            here_ms = cpu_ms / own.speed
            request_ms = service_ms(request_kb, own.seek_rotation_ms, own.disk_mb_per_s)
            work_ms = disk_work_ms(request_ms, request_kb / own.disk_mb_per_s, own.disk_channels)
            disk_ms = io_load_ms(cpu_ms, io_per_ms, work_ms)
            cpu, io = squashed(here_ms, HALF_MS), squashed(disk_ms, HALF_MS)
            memory = squashed(memory_mb / own.user_memory_mb, HALF_SHARE)
            cpu_share, io_share = share_of(here_ms, disk_ms), share_of(disk_ms, here_ms)
        if wanted[TASK_CPU]:
            found[TASK_CPU, node] = cpu
        if wanted[TASK_IO]:
            found[TASK_IO, node] = io
        if wanted[TASK_MEMORY]:
            found[TASK_MEMORY, node] = memory
        if wanted[CPU_WAIT]:
            found[CPU_WAIT, node] = cpu_share * squashed(queue[node] / own.cores, HALF_TASKS)
        if wanted[IO_WAIT]:
            found[IO_WAIT, node] = io_share * squashed(at_disk[node], HALF_TASKS)


@kernel
def put_costs(
    found: Numbers, me: int, hardware: Table, kinds: Integers, disk_delays: Floats, mb_per_s: Floats,
    latency_ms: Floats, network_delay: float, fixed_ms: float, data_mb: float,
) -> None:  # fmt: skip
    """Fill in what starting an arriving task costs on each node, squashed (View.cost_ms).

    Args:
        found: filled, shape (nodes,).
        me: its home.
        hardware: of each node.
        kinds: as View.kinds.
        disk_delays: the load index `disk_delay_share` of each node.
        mb_per_s, latency_ms: of the route to each node.
        network_delay: `net_delay_share` of its home.
        fixed_ms: fixed cost e [ms].
        data_mb: data that must follow it [MB].
    """
    own_disk = available_mb_per_s(hardware[me].disk_mb_per_s, disk_delays[me])
    last, squashed_cost = -1, 0.0  # the last node with a route, and its cost
    for node in range(found.shape[0]):
        if node == me:
            found[node] = squashed(0.0, HALF_MS)
        elif mb_per_s[node] == 0.0:
            found[node] = squashed(math.inf, HALF_MS)
        else:
            # Most nodes are like the one before.
            if (
                last < 0
                or kinds[node] != kinds[last]
                or disk_delays[node] != disk_delays[last]
                or mb_per_s[node] != mb_per_s[last]
                or latency_ms[node] != latency_ms[last]
            ):
                network = available_mb_per_s(mb_per_s[node], network_delay)
                disk = available_mb_per_s(hardware[node].disk_mb_per_s, disk_delays[node])
                cost_ms = remote_execution_ms(fixed_ms + latency_ms[node], data_mb, network, own_disk, disk)
                squashed_cost = squashed(cost_ms, HALF_MS)
            last = node
            found[node] = squashed_cost
