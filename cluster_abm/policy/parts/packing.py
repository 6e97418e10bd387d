"""The arithmetic of multi-resource packing (Grandl et al. 2014, section 3). Pure; it knows no policy.

Free resources and demands are shares of what each node has, shape (nodes, resources); a node that is down has minus
infinity free.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from cluster_abm.arrays import Flags, Floats
from cluster_abm.jit import allocating_kernel, inlined, kernel

# Demands that fill a node exactly fit.
ROUNDING = 1e-9
RESOURCES = 3


@allocating_kernel
def free_of(queue: Floats, memory_mb: Floats, at_disk: Floats, has: Floats, is_open: Flags) -> Floats:
    """What is free on each node.

    Args:
        queue, memory_mb, at_disk: what is used of CPU [tasks], memory [MB] and disk [tasks], shape (nodes,) each.
        has: what each node has, in the same units.
        is_open: which nodes are up and accept tasks, shape (nodes,).
    """
    free = np.empty((len(is_open), RESOURCES))
    for node in range(len(is_open)):
        free[node, 0] = 1.0 - queue[node] / has[node, 0] if is_open[node] else -math.inf
        free[node, 1] = 1.0 - memory_mb[node] / has[node, 1] if is_open[node] else -math.inf
        free[node, 2] = 1.0 - at_disk[node] / has[node, 2] if is_open[node] else -math.inf
    return free


@allocating_kernel
def whole_of(is_open: Flags) -> Floats:
    """What would be free if all nodes that are up were empty; a node that is down has nothing."""
    whole = np.zeros((len(is_open), RESOURCES))
    for node in range(len(is_open)):
        whole[node, :] = 1.0 if is_open[node] else 0.0
    return whole


@kernel
def fit(demand: Floats, free: Floats, tasks: int) -> bool:
    """Whether that many tasks of a demand fit into what is free."""
    found = 0.0
    for node in range(len(demand)):
        if found >= tasks:
            return True
        least = math.inf
        for resource in range(RESOURCES):
            needed, left = demand[node, resource], free[node, resource]
            if needed > 0.0:
                least = min(least, math.floor((left + ROUNDING) / needed) if left > -math.inf else -math.inf)
            elif not left >= 0.0:
                least = min(least, 0.0)
        found += max(0.0, least)
    return found >= tasks


@inlined
def alignment(demand: Floats, free: Floats, node: int, home: int, penalty: float) -> float:
    """The alignment of a task with a node: the dot product of demand and free, less away from home; -inf: no fit."""
    aligned = 0.0
    for resource in range(RESOURCES):
        if not demand[node, resource] <= free[node, resource] + ROUNDING:
            return -math.inf
        aligned += demand[node, resource] * (free[node, resource] if free[node, resource] > -math.inf else 0.0)
    return aligned * (1.0 if node == home else 1.0 - penalty)


@allocating_kernel
def alignments(demand: Floats, free: Floats, home: int, penalty: float) -> Floats:
    """The alignment of a task with each node, shape (nodes,); -inf where it does not fit.

    Args:
        demand, free: what the task needs, and what is free.
        home: the node of its job.
        penalty: how much less the alignment of another node counts, as a share.
    """
    found = np.empty(len(demand))
    for node in range(len(demand)):
        found[node] = alignment(demand, free, node, home, penalty)
    return found


@kernel
def work_of(demand: Floats, whole: Floats, lasts_ms: Floats, tasks: int) -> float:
    """The remaining work of a job, p [ms]: tasks times duration times the sum of what one needs, means over the nodes.

    Args:
        demand: of one task.
        whole: of which nodes are up.
        lasts_ms: how long one takes alone on each node, shape (nodes,) [ms].
        tasks: how many there are.
    """
    up, needed_cpu, needed_memory, needed_disk, lasts = 0, 0.0, 0.0, 0.0, 0.0
    for node in range(len(demand)):
        if whole[node, 0] > 0.0:
            up += 1
            needed_cpu += demand[node, 0]
            needed_memory += demand[node, 1]
            needed_disk += demand[node, 2]
            lasts += lasts_ms[node]
    needed = needed_cpu / up + needed_memory / up + needed_disk / up
    return tasks * needed * (lasts / up)


@kernel
def best(alignment: Floats, work: Floats, srtf_weight: float) -> int:
    """Which of several jobs has the highest a - eps p, eps being the weight times mean a over mean p.

    Args:
        alignment, work: of each job, shape (jobs,) each.
        srtf_weight: weight of short remaining work.
    """
    total_alignment, total_work = 0.0, 0.0
    for job in range(len(work)):
        total_alignment += alignment[job]
        total_work += work[job]
    eps = 0.0
    if total_work > 0.0:
        eps = srtf_weight * (total_alignment / len(work)) / (total_work / len(work))
    found, highest = 0, -math.inf
    for job in range(len(work)):
        score = alignment[job] - eps * work[job]
        if score > highest:
            found, highest = job, score
    return found


@allocating_kernel
def targets(demand: Floats, free: Floats, home: int, penalty: float, tasks: int) -> npt.NDArray[np.int64]:
    """A node for each task of a job, shape (tasks,): each in turn the one of largest alignment; where it fits nowhere
    that of which the scarcest resource has most left. Tasks take their demand from what is free.

    Args:
        demand, free, home, penalty: as of `alignments`; `free` is changed.
        tasks: how many.
    """
    found = np.empty(tasks, np.int64)
    for task in range(tasks):
        node, largest = -1, -math.inf
        emptiest, most_left = 0, -math.inf
        for other in range(len(demand)):
            aligned = alignment(demand, free, other, home, penalty)
            if aligned > largest:
                node, largest = other, aligned
            left = min(free[other, 0], free[other, 1], free[other, 2])
            if left > most_left:
                emptiest, most_left = other, left
        found[task] = node if node >= 0 else emptiest
        for resource in range(RESOURCES):
            free[found[task], resource] -= demand[found[task], resource]
    return found
