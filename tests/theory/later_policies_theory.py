"""What theory says of policies whose load managers talk, derived from the rules as the papers state them.

Demands have the mean 1 unless they are given. Every function but the first two is for exponential demands or, where it
says so, for processor sharing; `load` is that of a node.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from queueing.chains import stationary
from scipy.optimize import brentq


def central_queue_starts(
    arrivals: Sequence[int], services: Sequence[int], servers: int, slice_length: int = 1
) -> np.ndarray:
    """When each task starts in G/G/k, first come first served (Kiefer and Wolfowitz's recursion), shape (tasks,).

    Args:
        arrivals: ascending.
        services: of each task.
        servers: how many there are.
        slice_length: a server takes its next task at the first multiple of this that is not before the end of its last
            one; 1: at that end itself.
    """
    free, starts = [0] * servers, []
    for arrival, service in zip(arrivals, services, strict=True):
        start = max(arrival, heapq.heappop(free))
        end = start + service
        heapq.heappush(free, -(-end // slice_length) * slice_length)
        starts.append(start)
    return np.array(starts)


# ---- many nodes ------------------------------------------------------------------------------------------------------


def tails_with_memory(load: float, most: int = 60) -> np.ndarray:
    """u_i: share of nodes with i tasks or more, if each task probes a random node and the one that is remembered.

    The length J of the remembered queue is a Markov chain that is fast: nodes change once in n arrivals. Of a random
    length K and J the task joins the least, and the least afterwards is remembered: J' = min(J, K) + [J != K]. With
    v_i = P(J >= i) in its equilibrium, J' >= i needs both to be i - 1 or more, and not both i - 1: v_i =
    v_{i-1} u_{i-1} - (v_{i-1} - v_i) (u_{i-1} - u_i). In balance u_i = load P(min(J, K) >= i - 1) (Mitzenmacher,
    Prabhakar, Shah 2002; at low loads the exponents 1, 2, 5, 13 of the tail are every other Fibonacci number, which
    grow by the golden ratio squared).
    """
    tails, remembered = [1.0], [1.0]
    for _ in range(most):
        tail = load * remembered[-1] * tails[-1]
        remembered.append(remembered[-1] * tail / (1.0 - tails[-1] + tail))
        tails.append(tail)
    return np.array(tails)


def tails_with_stealing(load: float, most: int = 60) -> np.ndarray:
    """s_i: share of nodes with i tasks or more, if a node that empties takes one task from one that is drawn once.

    Nodes without any come and go at the rates load (1 - s_1) = (s_1 - s_2)(1 - s_2), and s_1 = load, since all work is
    done: s_2 is the least root of x^2 - (1 + load) x + load^2. Of two tasks or more one also leaves at the rate
    s_1 - s_2 at which nodes empty and ask: load (s_{i-1} - s_i) = (s_i - s_{i+1})(1 + load - s_2) for i >= 2, which is
    geometric (Mitzenmacher 1998).
    """
    two = ((1 + load) - (1 + 2 * load - 3 * load**2) ** 0.5) / 2
    return np.array([1.0, load, *(two * (load / (1 + load - two)) ** np.arange(most))])


def sparse_feedback(load: float, updates: float) -> tuple[float, float]:
    """Share of the tasks that wait, and mean tasks of a node, under JSQ by estimates that nodes correct.

    In the limit of many nodes estimates are m or m + 1: a node of a lower one is filled up to m immediately, and one at
    m is chosen at some rate (van der Boor, Borst, van Leeuwaarden 2019, asynchronous exponential updates). A node of
    actual length q and estimate e is a Markov chain: it serves at rate 1; at m it is chosen; at rate `updates` e
    becomes q, or (q, e) becomes (m, m) by m - q tasks at once. m and the rate follow from the load. With m = 0 no task
    waits: the load is below updates / (1 + updates), for a node is chosen once in a service and an update.

    Args:
        load: of a node.
        updates: of a node in a mean demand.
    """

    def at(level: int, rate: float) -> tuple[float, float, float]:
        """Load, share that waits, and mean tasks."""

        def moves(state: tuple[int, int]) -> Iterable[tuple[float, tuple[int, int]]]:
            tasks, estimate = state
            if tasks:
                yield 1.0, (tasks - 1, estimate)
            if estimate == level:
                yield rate, (tasks + 1, level + 1)
            yield updates, (max(tasks, level), max(tasks, level))

        chances = stationary((level, level), moves)
        starts = waits = mean = 0.0
        for (tasks, estimate), chance in chances.items():
            mean += chance * tasks
            one_by_one = rate * chance * (estimate == level)
            at_once = updates * chance * max(0, level - tasks)
            starts += one_by_one + at_once
            waits += one_by_one * (tasks > 0) + at_once - updates * chance * (tasks == 0 < level)
        return starts, waits / starts, mean

    level = 0
    while at(level + 1, 1e-9)[0] < load:
        level += 1
    rate = brentq(lambda rate: at(level, rate)[0] - load, 1e-9, 1e9)
    _, share, mean = at(level, rate)
    return share, mean


# ---- small Markov chains ---------------------------------------------------------------------------------------------


def _with(tasks: tuple[int, ...], node: int, more: int) -> tuple[int, ...]:
    return tuple(count + more * (place == node) for place, count in enumerate(tasks))


def persistent_idle(arrivals: float, speeds: Sequence[float], most: int) -> dict[Any, float]:
    """Chances of (tasks of each node, the node that was idle last), if one dispatcher sends to an idle node drawn at
    random, else to the one to which it sent last as to an idle one (Atar et al. 2019).

    Args:
        arrivals: rate.
        speeds: of the nodes.
        most: tasks on a node at which the chain is cut.
    """

    def moves(state: tuple[tuple[int, ...], int]) -> Iterable[tuple[float, Any]]:
        tasks, last = state
        idle = [node for node, count in enumerate(tasks) if not count]
        for node in idle:
            yield arrivals / len(idle), (_with(tasks, node, 1), node)
        if not idle and tasks[last] < most:
            yield arrivals, (_with(tasks, last, 1), last)
        for node, speed in enumerate(speeds):
            if tasks[node]:
                yield speed, (_with(tasks, node, -1), last)

    return stationary(((0,) * len(speeds), 0), moves)
