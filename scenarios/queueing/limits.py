"""Many nodes: fixed points of the fluid limit, and what remains of finitely many nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_continuous_lyapunov
from scipy.optimize import brentq

Floats = npt.NDArray[np.float64]
# Levels of a queue that are reckoned with: at load .99 a share .99^(2^12) of the nodes has more than a dozen tasks.
LEVELS = 14


def tails_of_choices(load: float, choices: int, most: int) -> Floats:
    """u_i, i = 0..most: share of nodes with i tasks or more if each task joins the shortest of d random queues.

    load^((d^i - 1)/(d - 1)): Mitzenmacher 2001 (IEEE TPDS 12:1094), lemma 2; Vvedenskaya, Dobrushin, Karpelevich 1996.
    """
    if choices == 1:
        return load ** np.arange(most + 1.0)
    return load ** ((float(choices) ** np.arange(most + 1) - 1) / (choices - 1))


def response_of_choices(load: float, choices: int) -> float:
    """Mean response under JSQ(d) in the limit of many nodes: the sum of the tails from 1 on, over the load.

    That is the sum over i of load^((d^i - d)/(d - 1)) (Mitzenmacher 2001, corollary 1).
    """
    if choices == 1:
        return 1 / (1 - load)
    return float(tails_of_choices(load, choices, 60)[1:].sum()) / load


class ManyNodes(NamedTuple):
    """A mean response in the limit of many nodes, its term of order 1/n, and how fast the limit's flow settles.

    Attributes:
        limit: mean response as n grows, in mean demands.
        of_1_over_n: what one over n is multiplied by.
        relaxation: the slowest time constant of the linearised flow, in mean demands.
    """

    limit: float
    of_1_over_n: float
    relaxation: float

    def response(self, nodes: int) -> float:
        """Mean response on n nodes, up to terms of order 1/n^2."""
        return self.limit + self.of_1_over_n / nodes


def shortest_of_two(load: float, with_repetition: bool = False) -> ManyNodes:
    """JSQ(2) on many but finitely many nodes: the refined mean field (Gast, Van Houdt 2017, POMACS 1:33, theorem 1).

    x_i is the share of nodes with i tasks or more, f(x)_i = load (p_{i-1} - p_i) - (x_i - x_{i+1}) its drift, with p_i
    the probability that both drawn nodes have i or more: x_i^2 if a node can be drawn twice, else
    x_i (n x_i - 1)/(n - 1) = x_i^2 - x_i (1 - x_i)/n + O(1/n^2). With A the Jacobian at the fixed point, Q the rates of
    the squared jumps (a jump moves one x_i), W the root of A W + W A' + Q = 0, and C the drift's own term of order 1/n,
    E[x] is the fixed point + V/n, and A V + C + (1/2) sum over j, k of W_jk d^2 f/dx_j dx_k = 0.

    Args:
        load: of a node.
        with_repetition: whether the second node may be the first one again.
    """
    tails = tails_of_choices(load, 2, LEVELS + 1)
    x, before, after = tails[1:-1], tails[:-2], tails[2:]
    jacobian = np.diag(-2 * load * x - 1) + np.diag(2 * load * x[:-1], -1) + np.diag(np.ones(LEVELS - 1), 1)
    jumps = np.diag(load * (before**2 - x**2) + (x - after))
    spread = solve_continuous_lyapunov(jacobian, -jumps)
    variances = np.concatenate([[0.0], np.diag(spread)])
    drift = load * (variances[:-1] - variances[1:])
    if not with_repetition:
        drift += load * (x * (1 - x) - before * (1 - before))
    moved = -np.linalg.solve(jacobian, drift)
    slowest = float(-1 / np.linalg.eigvals(jacobian).real.max())
    return ManyNodes(response_of_choices(load, 2), float(moved.sum()) / load, slowest)


def managers_without_idle(load: float, probes: int = 1) -> float:
    """Share q of managers without an idle node under JIQ with as many managers as nodes, in the limit of many.

    A manager's idle queue of length k grows at the rate at which nodes fall idle and choose it (a for each on average;
    with d probes the shortest of d is joined), and shrinks at the rate load at which tasks arrive there, and at that at
    which tasks of managers without an idle node are sent at random to one of its k nodes, k load q: these withdraw.
    What is cut between k and k + 1 balances. All idle nodes, a share 1 - load, are in one idle queue each.

    Lu et al. (2011, theorem 1) leave the withdrawals out: then lengths are geometric, (1 - q)/q = 1 - load. Van Houdt
    (2024, Performance Evaluation: distributed join-idle-queue load balancing with and without token withdrawals) says
    why that is not exact in the limit. What is above is the variant with withdrawals.
    """

    def chances(without: float, joining: float) -> Floats:
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


def response_with_idle_queues(load: float, withdraws: bool = True) -> float:
    """Mean response under JIQ-Random in the limit of many nodes, each of them a manager: 1/(1 - load q).

    A node that is not idle gets tasks at the rate load q, from managers without an idle node (Lu et al. 2011, section
    4.2: the response is that of M/M/1 at that load).

    Args:
        load: of a node.
        withdraws: whether a node that gets a task from elsewhere leaves its idle queue; False: as Lu et al. have it.
    """
    without = managers_without_idle(load) if withdraws else 1 / (2 - load)
    return 1 / (1 - load * without)
