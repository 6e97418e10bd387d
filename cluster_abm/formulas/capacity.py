"""Floats of unlike nodes: how much there is to do per unit of what does it."""

from __future__ import annotations

from cluster_abm.arrays import Floats
from cluster_abm.formulas._formula import Number, formula


@formula
def relative_capacity(rates: Floats) -> Floats:
    """Capacities of the nodes relative to their mean, 1 each where all are alike.

    Args:
        rates: what serves on each node, above 0, shape (nodes,) in any unit: CPU speed, memory, requests per ms.
    """
    # By the first one: equal rates give exactly 1, whatever their mean is rounded to.
    times_the_first = rates / rates[0]
    return times_the_first / times_the_first.mean()


@formula
def relative_load(load: Number, joining: float, capacity: Number) -> Number:
    """A load with an arriving task in it, per unit of what serves it: (L + l)/c.

    The "conversion mechanism for relative load" that WAL-PM leaves open for unlike nodes. Where tasks share a CPU
    of speed mu it is the shortest expected delay's (n + 1)/mu (Selen et al. 2016).

    Args:
        load: load of the node L, in the index's unit.
        joining: what the arriving task would add to it, l; 0: the node as it is.
        capacity: of the node, relative to the mean (`relative_capacity`).
    """
    return (load + joining) / capacity
