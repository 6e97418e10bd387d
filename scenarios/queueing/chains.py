"""Few nodes: Markov chains, solved numerically."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from math import comb
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

# A state, and (rate, next state) of each of its transitions.
Moves = Callable[[Any], Iterable[tuple[float, Any]]]
# Tasks of the nodes, ascending.
Ranks = tuple[int, ...]
# The probability with which a rule sends an arrival to each place of the ascending order.
Rule = Callable[[Ranks], Sequence[float]]


def stationary(start: Hashable, moves: Moves) -> dict[Any, float]:
    """Stationary probabilities of all states that a Markov chain reaches."""
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


def mean_tasks(chances: dict[Any, float]) -> float:
    """Mean number of tasks in all, by the probabilities of (tasks of each node, ...)."""
    return sum(chance * sum(tasks) for (tasks, *_), chance in chances.items())


# ---- rules that look at the numbers of tasks alone: the state is these numbers, ascending ----------------------------


def shortest(tasks: Ranks) -> Sequence[float]:
    """Join the shortest queue: the first place."""
    return [1.0] + [0.0] * (len(tasks) - 1)


def shortest_of_two(tasks: Ranks) -> Sequence[float]:
    """Join the shorter of two different nodes drawn at random: a place is the shorter one with each after it."""
    nodes = len(tasks)
    return [(nodes - 1 - place) / comb(nodes, 2) for place in range(nodes)]


def idle_or_random(tasks: Ranks) -> Sequence[float]:
    """Join an idle queue where the one dispatcher knows all idle nodes: an idle node, else a random one."""
    idle = tasks.count(0)
    return [float(place < idle) / idle if idle else 1 / len(tasks) for place in range(len(tasks))]


def response_under(rule: Rule, nodes: int, load: float, most: int, spread: int | None = None) -> float:
    """Mean response on a few nodes with exponential demands, by Little's law.

    The chain is cut: an arrival that would make a queue longer than `most` is lost, and so is a move that would make
    the longest queue longer than the shortest by more than `spread`. Enough is where more changes nothing.

    Args:
        rule: where an arrival goes.
        nodes: how many there are; their order does not matter, so states are ascending.
        load: of a node.
        most: tasks of a node.
        spread: tasks; None: no such limit.
    """
    widest = most if spread is None else spread

    def moved(tasks: Ranks, place: int, by: int) -> Ranks | None:
        after = tuple(sorted((*tasks[:place], tasks[place] + by, *tasks[place + 1 :])))
        return after if after[-1] <= most and after[-1] - after[0] <= widest else None

    def moves(state: tuple[Ranks]) -> Iterable[tuple[float, tuple[Ranks]]]:
        (tasks,) = state
        rates = [(nodes * load * share, place, 1) for place, share in enumerate(rule(tasks)) if share]
        rates += [(1.0, place, -1) for place, count in enumerate(tasks) if count]
        for rate, place, by in rates:
            after = moved(tasks, place, by)
            if after is not None:
                yield rate, (after,)

    chances = stationary(((0,) * nodes,), moves)
    # What ends is what is let in: arrivals that are lost at the cut do not count in Little's law.
    ends = sum(chance * (nodes - tasks.count(0)) for (tasks,), chance in chances.items())
    return mean_tasks(chances) / ends


# ---- join idle queue -------------------------------------------------------------------------------------------------


def join_idle_queue(arrivals: float, nodes: int, probes: int, most: int) -> dict[Any, float]:
    """Probabilities of (tasks of each node, the idle nodes in the queue of each manager), under JIQ: every node is a
    manager too, and tasks arrive at all alike (Lu et al. 2011, with withdrawals).

    Args:
        arrivals: rate at each manager.
        nodes: how many there are.
        probes: 1: an idle node joins the queue of a manager drawn at random; as many as nodes: the shortest of all,
            of several one drawn at random.
        most: tasks on a node at which the chain is cut.
    """
    Queues = tuple[tuple[int, ...], ...]

    def added(tasks: Ranks, node: int, more: int) -> Ranks:
        return tuple(count + more * (place == node) for place, count in enumerate(tasks))

    def started(tasks: Ranks, queues: Queues, node: int) -> Any:
        return added(tasks, node, 1), tuple(tuple(one for one in queue if one != node) for queue in queues)

    def moves(state: tuple[Ranks, Queues]) -> Iterable[tuple[float, Any]]:
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
                yield 1.0, (added(tasks, node, -1), queues)
            elif tasks[node] == 1:
                fewest = min(map(len, queues)) if probes > 1 else nodes
                joined = [place for place, queue in enumerate(queues) if len(queue) <= fewest]
                for place in joined:
                    after = tuple((*queue, node) if one == place else queue for one, queue in enumerate(queues))
                    yield 1.0 / len(joined), (added(tasks, node, -1), after)

    return stationary(((1,) * nodes, ((),) * nodes), moves)


def response_of_idle_queues(nodes: int, load: float, most: int) -> float:
    """Mean response under JIQ-Random with a manager on every node, by Little's law (`join_idle_queue`)."""
    return mean_tasks(join_idle_queue(load, nodes, 1, most)) / (nodes * load)
