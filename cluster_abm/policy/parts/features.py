"""The features of each node when a task arrives: numbers of 0..1, made of what a load manager knows.

The environment (`cluster_abm.gym`) measures them in compiled code, the policy `learned` here; both give the same bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cluster_abm.arrays import Floats
from cluster_abm.formulas import available_mb_per_s, remote_execution_ms
from cluster_abm.jit import inlinable
from cluster_abm.policy.tasks import ArrivingTask, Hardware
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


@inlinable
def squashed(value: Any, half: float) -> Any:
    """Return x / (x + half) of a number of 0..infinity, or of an array: 0 at 0, 0.5 at `half`, 1 at infinity."""
    return 1.0 - half / (value + half)


@inlinable
def share_of(part_ms: Any, other_ms: Any) -> Any:
    """Return the share of one part in two; a task demands some CPU, so that they are not both 0."""
    return part_ms / (part_ms + other_ms)


class Kinds(NamedTuple):
    """The different hardware of nodes, which a load manager's policy keeps in its notes.

    Attributes:
        of: `View.hardware`, of which the rest was made.
        different: each kind once.
        place: which of them each node has, shape (nodes,).
        cores, user_memory_mb, disk_mb_per_s: of each node, shape (nodes,).
    """

    of: tuple[Hardware, ...]
    different: tuple[Hardware, ...]
    place: npt.NDArray[np.int64]
    cores: Floats
    user_memory_mb: Floats
    disk_mb_per_s: Floats


def kinds_of(view: View) -> Kinds:
    """The kinds of hardware that a view tells of, as kept in its notes."""
    kept = view.notes.get("kinds")
    if isinstance(kept, Kinds) and kept.of is view.hardware:
        return kept
    different = tuple(dict.fromkeys(view.hardware))
    places = {one: place for place, one in enumerate(different)}
    found = Kinds(
        view.hardware,
        different,
        np.array([places[one] for one in view.hardware]),
        np.array([float(one.cores) for one in view.hardware]),
        np.array([one.user_memory_mb for one in view.hardware]),
        np.array([one.disk_mb_per_s for one in view.hardware]),
    )
    view.notes["kinds"] = found
    return found


def features_of(task: ArrivingTask, view: View) -> Numbers:
    """The features of all nodes for an arriving task, shape (features, nodes), in the order of FEATURES.

    Args:
        task: what its job announced.
        view: what the load manager of its home knows. Loads are taken as measured: features are per core, per MB and in
            the node's own time already.
    """
    kinds = kinds_of(view)
    cpu_ms = np.array([task.cpu_on(one) for one in kinds.different])[kinds.place]
    io_ms = np.array([task.io_on(one) for one in kinds.different])[kinds.place]
    loads = view.loads
    found = np.zeros((len(FEATURES), view.nodes), np.float32)
    found[HOME, view.me] = 1.0
    found[DOWN, list(view.down)] = 1.0
    found[TASKS] = squashed(loads["tasks"] / kinds.cores, HALF_TASKS)
    found[CPU] = squashed(loads["cpu_ms"], HALF_MS)
    found[IO] = squashed(loads["io_ms"], HALF_MS)
    found[PAGE] = squashed(loads["page_ms"], HALF_MS)
    found[MEMORY] = squashed(loads["memory_mb"] / kinds.user_memory_mb, HALF_SHARE)
    found[TASK_CPU] = squashed(cpu_ms, HALF_MS)
    found[TASK_IO] = squashed(io_ms, HALF_MS)
    found[TASK_MEMORY] = squashed(task.memory_mb / kinds.user_memory_mb, HALF_SHARE)
    found[COST] = squashed(_costs_ms(task, view, kinds), HALF_MS)
    found[CPU_WAIT] = share_of(cpu_ms, io_ms) * squashed(loads["queue"] / kinds.cores, HALF_TASKS)
    found[IO_WAIT] = share_of(io_ms, cpu_ms) * squashed(loads["at_disk"], HALF_TASKS)
    found[NOISE] = [view.uniform(task.task, node) for node in range(view.nodes)]
    return found


def _costs_ms(task: ArrivingTask, view: View, kinds: Kinds) -> Floats:
    """`View.cost_ms` of an arriving task to every node, shape (nodes,) [ms]."""
    # Formulas of numbers, which reckon with arrays as well.
    carried_at: Any = available_mb_per_s
    cost_of: Any = remote_execution_ms
    disks = carried_at(kinds.disk_mb_per_s, view.loads["disk_delay_share"])
    network = carried_at(view.paths.mb_per_s, view.measured("net_delay_share", view.me))
    fixed_ms = view.remote_execution_ms + view.paths.latency_ms
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.asarray(cost_of(fixed_ms, task.initial_data_mb, network, disks[view.me], disks))
    found[view.paths.mb_per_s == 0.0] = np.inf
    found[view.me] = 0.0
    return found
