"""How long a queue remembers its state."""

from __future__ import annotations

import math

from cluster_abm.formulas._formula import formula


@formula
def relaxation_s(rho: float, mean_s: float, square_s2: float) -> float:
    """Relaxation time of the work in an M/G/1 queue [s]: 2 rho E[S^2] / (E[S] (1 - rho)^2).

    The work that waits is close to a Brownian motion with drift -(1 - rho) and variance lambda E[S^2] = rho E[S^2]/E[S]
    per unit of time, reflected at 0. What it remembers of its start fades as exp(-t/T), where T is twice the variance
    over the square of the drift (Abate and Whitt 1987, Adv. Appl. Prob. 19:560; Whitt 1989, Management Science
    35:1341). M/M/1's own is E[S]/(1 - sqrt(rho))^2, which is nearly the same at high load.

    Args:
        rho: load of the server.
        mean_s, square_s2: first and second moment of service [s, s^2].

    Returns:
        Infinite where rho >= 1, or where the second moment is.
    """
    if rho >= 1.0:
        return math.inf
    if mean_s <= 0.0:
        return 0.0
    return 2.0 * rho * square_s2 / (mean_s * (1.0 - rho) ** 2)
