"""The load class of a node: LMIP, "Load balancing system based on proposed load metric"."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Floats, Integers
from cluster_abm.formulas._formula import formula
from cluster_abm.jit import allocating_kernel

# By load, so that classes compare as numbers.
IDLE, LOW, NORMAL, HIGH = range(4)
CLASS_NAMES = ("idle", "low", "normal", "high")


class ClassThresholds(NamedTuple):
    """From where on a load is high, and to where it is low. The paper gives the first and the last only: "there is no
    absolute value that is considered low or high"."""

    idle_cpu_percent: float = 1.0
    low_cpu_percent: float = 30.0
    high_cpu_percent: float = 80.0
    low_memory_percent: float = 40.0
    high_memory_percent: float = 70.0
    low_queue: float = 1.0
    high_queue: float = 4.0
    full_memory_percent: float = 85.0


@formula
def load_class(cpu_percent: float, queue: float, memory_percent: float, thresholds: ClassThresholds) -> int:
    """IDLE, LOW, NORMAL or HIGH: LMIP, the criteria under "Load".

    The criteria overlap. They are tested in this order (settled): High for its memory, Idle, High, Low, else Normal: a
    node with full memory is no idle node, however little its CPU has to do, which is the paper's whole point. As in
    the two comparisons that the paper gives (memory > 85 %, CPU <= 1 %), high is above a threshold, low is up to it.

    Args:
        cpu_percent: utilisation of all cores, mean of the last five seconds [%].
        queue: tasks running or waiting for the CPU, per core, mean as above.
        memory_percent: memory utilisation, mean as above [%].
        thresholds: from where on these are high or low.
    """
    if memory_percent > thresholds.full_memory_percent:
        return HIGH
    if cpu_percent <= thresholds.idle_cpu_percent:
        return IDLE
    is_busy = cpu_percent > thresholds.high_cpu_percent and memory_percent > thresholds.high_memory_percent
    if is_busy or queue > thresholds.high_queue:
        return HIGH
    is_light = cpu_percent <= thresholds.low_cpu_percent and memory_percent <= thresholds.low_memory_percent
    if is_light or queue <= thresholds.low_queue:
        return LOW
    return NORMAL


@formula
def class_thresholds(
    idle_cpu_percent: float, low_cpu_percent: float, high_cpu_percent: float, low_memory_percent: float,
    high_memory_percent: float, low_queue: float, high_queue: float, full_memory_percent: float,
) -> ClassThresholds:  # fmt: skip
    """The thresholds together: the fields of ClassThresholds, in their order."""
    return ClassThresholds(
        idle_cpu_percent, low_cpu_percent, high_cpu_percent, low_memory_percent, high_memory_percent, low_queue,
        high_queue, full_memory_percent,
    )  # fmt: skip


@allocating_kernel
def load_classes(
    cpu_percent: Floats, mean_queue: Floats, memory_percent: Floats, thresholds: ClassThresholds
) -> Integers:
    """`load_class` of every node, shape (nodes,); the loads are of the same shape."""
    found = np.empty(len(cpu_percent), np.int64)
    for node in range(len(cpu_percent)):
        found[node] = load_class(cpu_percent[node], mean_queue[node], memory_percent[node], thresholds)
    return found
