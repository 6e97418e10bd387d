"""How many tasks share a core, on a node of many: n runnable tasks on c cores progress at min(1, c/n) each."""

from __future__ import annotations

import numpy as np

from cluster_abm.formulas._formula import Number, formula


@formula
def sharing(tasks: float, cores: float) -> float:
    """How much longer CPU takes than alone where n tasks share c cores, max(1, n/c).

    Args:
        tasks: tasks at the CPU with the one that asks, n; expected numbers need not be whole.
        cores: cores of the node, c.
    """
    return max(1.0, tasks / cores)


@formula
def tasks_per_core(tasks: Number, cores: Number) -> Number:
    """Tasks that share a core, themselves included: max(1, n/c) of a node that has any, for a task has but one core.

    On one core, and where there is less than one task, it is n.

    Args:
        tasks: tasks at the CPU, n.
        cores: cores of the node, c. Both numbers, or arrays over the nodes.
    """
    return np.maximum(np.minimum(1.0, tasks), tasks / cores)


@formula
def others_per_core(tasks: float, cores: float) -> float:
    """Tasks that a newcomer shares a core with, itself left out, in the measure of `tasks_per_core`: max(1 - 1/c, m/c).

    With the newcomer, whose part is 1/c, it is max(1, (m + 1)/c). On one core it is m: Harchol-Balter and Downey 1997.

    Args:
        tasks: tasks at the CPU without the newcomer, m.
        cores: cores of the node, c.
    """
    return max(1.0 - 1.0 / cores, tasks / cores)
