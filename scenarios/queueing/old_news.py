"""Many nodes and stale information: a bulletin board that shows every node's queue as it was at its last update."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.integrate import solve_ivp

from queueing.limits import tails_of_choices

Floats = npt.NDArray[np.float64]
# From shares of nodes by what the board shows, (levels,), to arrivals at one such node in a mean demand for each unit
# of load, (levels,).
Board = Callable[[Floats], Floats]


def any_node(shares: Floats) -> Floats:
    """A node drawn at random: the board is not read."""
    return np.ones_like(shares)


def shorter_on_the_board(shares: Floats) -> Floats:
    """Of two nodes drawn at random the one that the board shows as shorter; ties at random."""
    longer = np.concatenate([np.cumsum(shares[::-1])[::-1], [0.0]])
    # (a^2 - b^2)/(a - b): nodes that show so many tasks are in it with all that show as many, and twice with longer.
    return longer[:-1] + longer[1:]


def shortest_on_the_board(shares: Floats) -> Floats:
    """A node that the board shows as shortest, one of these drawn at random; in the limit some are idle."""
    rates = np.zeros_like(shares)
    least = int(np.flatnonzero(shares > 1e-9)[0])
    rates[least] = 1 / shares[least]
    return rates


def response_by_the_board(rule: Board, load: float, period: float, levels: int = 80, close: float = 1e-5) -> float:
    """Mean response in the limit of many nodes, with exponential demands and an update of the board every `period`.

    Between updates a node that the board shows with i tasks is M/M/1 with the arrival rate that the rule gives it. At
    an update shares by true length become shares by board. The phases settle to a fixed point (Mitzenmacher 2000, IEEE
    TPDS 11:6, section 3, periodic updates); the response is the mean number of tasks in a phase over the load.

    Args:
        rule: what share of the arrivals goes where.
        load: of a node.
        period: from one update to the next, in mean demands.
        levels: tasks of a node that are reckoned with.
        close: relative change from one phase to the next, per unit of time, at which it has settled.
    """
    tails = tails_of_choices(load, 2, levels)
    true = tails[:-1] - tails[1:]
    before, counts = np.inf, np.arange(levels)
    while True:
        arrivals = load * rule(true)[:, None]

        def flow(_: float, state: Floats, arrivals: Floats = arrivals) -> Floats:
            shares = state[:-1].reshape(levels, levels)
            up, down = arrivals * shares[:, :-1], shares[:, 1:]
            found = np.zeros_like(shares)
            found[:, :-1] += down - up
            found[:, 1:] += up - down
            return np.append(found.ravel(), shares.sum(axis=0) @ counts)

        start = np.append(np.diag(true).ravel(), 0.0)
        end = solve_ivp(flow, (0.0, period), start, rtol=1e-7, atol=1e-10).y[:, -1]
        true = end[:-1].reshape(levels, levels).sum(axis=0)
        tasks = float(end[-1]) / period
        if abs(tasks - before) < close * tasks * min(1.0, period):
            return tasks / load
        before = tasks
