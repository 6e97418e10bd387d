"""Power of a node, linear in what it does."""

from __future__ import annotations

from cluster_abm.formulas._formula import Number, formula


@formula
def energy_j(
    idle_watts: Number, cpu_watts: Number, disk_watts: Number, up_s: Number, cpu_busy_s: Number, disk_busy_s: Number
) -> Number:
    """Energy of a node [J], the integral of P = idle + cpu_watts u_CPU + disk_watts u_disk: Fan, Weber, Barroso 2007.

    Args:
        idle_watts: power of the node that does nothing [W].
        cpu_watts: what all cores busy add to it [W].
        disk_watts: what a busy disk adds to it [W].
        up_s: time in which the node was not down; a node that is down draws nothing [s].
        cpu_busy_s: CPU given, of all cores, divided by their number [s].
        disk_busy_s: time with a request in the disk's device [s].
    """
    return idle_watts * up_s + cpu_watts * cpu_busy_s + disk_watts * disk_busy_s
