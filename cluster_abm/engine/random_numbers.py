"""Random numbers that belong to a task, not to the order of calls.

Counter-based splitmix64: the c-th number of a purpose is a function of (seed, task, purpose, c), so slicing,
batching, the order of nodes and the policy cannot change a task's sequence of accesses, sizes and hits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import uint64

from cluster_abm.arrays import Flags, Floats, Integers
from cluster_abm.jit import allocating_kernel, inlined, kernel

# 64 bits without a sign, which Python's int is not.
Word = Any


GAP, SIZE, HIT, PLACEMENT, MESSAGE, REPORT, SEEK, FAULT_SEEK, OWN = range(1, 10)
# In the place of a task's number: messages between managers that hold tasks.
BETWEEN_MANAGERS = -1


@inlined
def mix(value: Word) -> Word:
    """Splitmix64's output for the 64-bit state `value`."""
    z: Word = uint64(value)
    z = z + uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> uint64(27))) * uint64(0x94D049BB133111EB)
    return z ^ (z >> uint64(31))


@inlined
def task_key(run_key: Word, task: int) -> Word:
    """Key of a task's streams, of the run's key and the task's number."""
    return mix(uint64(run_key) ^ mix(uint64(task)))


@inlined
def uniform(key: Word, purpose: int, count: int, draw: int) -> float:
    """The `draw`-th uniform of number `count` of a purpose, inside (0, 1); draw < 256, count < 2**40."""
    counter = (uint64(purpose) << uint64(48)) ^ (uint64(draw) << uint64(40)) ^ uint64(count)
    return (float(mix(uint64(key) ^ mix(counter)) >> uint64(12)) + 0.5) * 2.220446049250313e-16


@inlined
def exponential(key: Word, purpose: int, count: int) -> float:
    """Exponential of mean 1."""
    return -math.log(uniform(key, purpose, count, 0))


@inlined
def gamma(key: Word, purpose: int, count: int, shape: float) -> float:
    """Gamma of that shape and mean 1: Erlang for small whole shapes, else Marsaglia and Tsang (2000)."""
    if shape <= 16.0 and shape == math.floor(shape):
        product = 1.0
        for draw in range(int(shape)):
            product *= uniform(key, purpose, count, draw)
        return -math.log(product) / shape
    boost = 1.0
    effective = shape
    if shape < 1.0:
        boost = uniform(key, purpose, count, 255) ** (1.0 / shape)
        effective = shape + 1.0
    d = effective - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    value = d
    # A draw is accepted with probability over 0.95: 80 refusals in a row do not happen.
    for attempt in range(80):
        first = uniform(key, purpose, count, 3 * attempt)
        second = uniform(key, purpose, count, 3 * attempt + 1)
        normal = math.sqrt(-2.0 * math.log(first)) * math.cos(2.0 * math.pi * second)
        cube = (1.0 + c * normal) ** 3
        if cube > 0.0:
            accept = uniform(key, purpose, count, 3 * attempt + 2)
            if math.log(accept) < 0.5 * normal * normal + d - d * cube + d * math.log(cube):
                value = d * cube
                break
    return boost * value / shape


@kernel
def policy_uniform(key: Word, task: int, draw: int) -> float:
    """A number in (0, 1) of a policy's own stream for a task; draw < 256."""
    return uniform(task_key(key, task), PLACEMENT, 0, draw)


@kernel
def fill_own_uniforms(key: Word, first_job: int, widths: Integers, found: Floats) -> None:
    """Fill in a number in (0, 1) for each task of some jobs, of a stream that belongs to that task of that job.

    Args:
        key: key of the stream.
        first_job: number of the first job.
        widths: how many tasks each job has, shape (jobs,).
        found: of the tasks, job by job, shape (tasks,), written.
    """
    place = 0
    for job in range(widths.shape[0]):
        job_key = task_key(key, first_job + job)
        for rank in range(widths[job]):
            found[place] = uniform(job_key, OWN, rank, 0)
            place += 1


@kernel
def message_uniform(key: Word, number: int, message: int) -> float:
    """A number in (0, 1) of the stream that says which of an entity's messages get lost; message < 2**40."""
    return uniform(task_key(key, number), MESSAGE, message, 0)


@allocating_kernel
def lost_messages(key: Word, number: int, receiver: int, senders: int, share: float) -> Flags:
    """Draw which of the reports of one period get lost before they reach a receiver.

    Args:
        key: key of the stream of messages.
        number: number of the period.
        receiver: number of the node that they go to.
        senders: how many nodes report.
        share: share of the messages that get lost, 0..1.

    Returns:
        shape (senders,).
    """
    lost = np.zeros(senders, np.bool_)
    period_key = task_key(task_key(key, receiver), number)
    for sender in range(senders):
        lost[sender] = uniform(period_key, REPORT, sender, 0) < share
    return lost
