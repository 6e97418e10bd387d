"""What theory says of policies whose load managers talk, derived from the rules as the papers state them.

Demands have the mean 1 unless they are given. Every function but the first two is for exponential demands or, where it
says so, for processor sharing; `load` is that of a node.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from scipy import integrate, sparse
from scipy.optimize import brentq
from scipy.sparse.linalg import spsolve

# A state, and (rate, next state) of each of its transitions.
Moves = Callable[[Any], Iterable[tuple[float, Any]]]


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


class BoundedPareto:
    """P(X > x) = (least/x)^shape, given that X < most."""

    def __init__(self, least: float, most: float, shape: float) -> None:
        self.least, self.most, self.shape = least, most, shape

    def part(self, power: int, low: float, high: float) -> float:
        """E[X^power; low < X < high]."""
        scale = self.shape * self.least**self.shape / (1 - (self.least / self.most) ** self.shape)
        value, _ = integrate.quad(lambda x: scale * x ** (power - self.shape - 1), low, high, epsrel=1e-10)
        return float(value)

    def cutoffs(self, classes: int) -> list[float]:
        """Sizes that part it into classes of the same work."""
        mean = self.part(1, self.least, self.most)
        return [
            brentq(
                lambda size, share=place / classes: self.part(1, self.least, size) - share * mean, self.least, self.most
            )
            for place in range(1, classes)
        ]

    def waits(self, rate: float, bounds: Sequence[float]) -> list[float]:
        """Mean wait in M/G/1 for each class: rate E[X^2; class] / (2 (1 - rate E[X; class])), Pollaczek-Khinchine.

        Args:
            rate: of all arrivals.
            bounds: the classes' bounds, ascending, the outer ones included.
        """
        return [
            rate * self.part(2, low, high) / (2 * (1 - rate * self.part(1, low, high)))
            for low, high in itertools.pairwise(bounds)
        ]


# ---- many nodes ------------------------------------------------------------------------------------------------------


def managers_without_idle(load: float, probes: int = 1) -> float:
    """Share q of managers without an idle node under JIQ with as many managers as nodes, in the limit of many.

    A manager's idle queue of length k grows at the rate at which nodes fall idle and choose it (a for each in the mean;
    with d probes the shortest of d is joined), and shrinks at the rate load at which tasks arrive there, and at that at
    which tasks of managers without an idle node are sent at random to one of its k nodes, k load q: these withdraw.
    What is cut between k and k + 1 balances. All idle nodes, a share 1 - load, are in one idle queue each.

    Lu et al. (2011, theorem 1) leave the withdrawals out: then lengths are geometric, (1 - q)/q = 1 - load. Van Houdt
    (2024, Performance Evaluation: distributed join-idle-queue load balancing with and without token withdrawals) says
    why that is not exact in the limit. What is above is the variant with withdrawals.
    """

    def chances(without: float, joining: float) -> np.ndarray:
        found, at_least = [without], 1.0
        for length in range(1, 200):
            longer = max(0.0, at_least - found[-1])
            found.append(joining * (at_least**probes - longer**probes) / (load * (1 + length * without)))
            at_least = longer
        return np.array(found)

    def excess(without: float) -> float:
        joining = brentq(lambda rate: chances(without, rate).sum() - 1.0, 0.0, 50.0)
        return float(chances(without, joining) @ np.arange(200)) - (1 - load)

    return float(brentq(excess, 0.02, 0.999))


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


def stationary(start: Hashable, moves: Moves) -> dict[Any, float]:
    """Stationary chances of all states that a Markov chain reaches."""
    numbers, frontier, entries = {start: 0}, [start], []
    while frontier:
        state = frontier.pop()
        for rate, after in moves(state):
            if after not in numbers:
                numbers[after] = len(numbers)
                frontier.append(after)
            entries += [(numbers[after], numbers[state], rate), (numbers[state], numbers[state], -rate)]
    rows, columns, rates = zip(*entries, strict=True)
    balance = sparse.csr_matrix((rates, (rows, columns)), shape=(len(numbers), len(numbers)))
    # One equation is redundant: in its place, all add up to 1.
    ones = sparse.csr_matrix(np.ones((1, len(numbers))))
    chances = spsolve(sparse.vstack([ones, balance[1:]]).tocsc(), np.eye(len(numbers), 1).ravel())
    return dict(zip(numbers, chances.tolist(), strict=True))


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


def join_idle_queue(arrivals: float, nodes: int, probes: int, most: int) -> dict[Any, float]:
    """Chances of (tasks of each node, the idle nodes in the queue of each manager), under JIQ: every node is a manager
    too, and tasks arrive at all alike.

    Args:
        arrivals: rate at each manager.
        nodes: how many there are.
        probes: 1: an idle node joins the queue of a manager drawn at random; as many as nodes: the shortest of all,
            of several one drawn at random.
        most: tasks on a node at which the chain is cut.
    """
    Queues = tuple[tuple[int, ...], ...]

    def started(tasks: tuple[int, ...], queues: Queues, node: int) -> Any:
        return _with(tasks, node, 1), tuple(tuple(one for one in queue if one != node) for queue in queues)

    def moves(state: tuple[tuple[int, ...], Queues]) -> Iterable[tuple[float, Any]]:
        tasks, queues = state
        for queue in queues:
            if queue:
                yield arrivals, started(tasks, queues, queue[0])
                continue
            for node in range(nodes):
                if tasks[node] < most:
                    yield arrivals / nodes, started(tasks, queues, node)
        for node in range(nodes):
            if tasks[node] > 1:
                yield 1.0, (_with(tasks, node, -1), queues)
            elif tasks[node] == 1:
                shortest = min(map(len, queues)) if probes > 1 else nodes
                joined = [place for place, queue in enumerate(queues) if len(queue) <= shortest]
                for place in joined:
                    after = tuple((*queue, node) if one == place else queue for one, queue in enumerate(queues))
                    yield 1.0 / len(joined), (_with(tasks, node, -1), after)

    return stationary(((1,) * nodes, ((),) * nodes), moves)


def mean_tasks(chances: dict[Any, float]) -> float:
    """Mean number of tasks in all, by the chances of (tasks of each node, ...)."""
    return sum(chance * sum(tasks) for (tasks, *_), chance in chances.items())
