"""Waits in queues with several servers."""

from __future__ import annotations

from cluster_abm.formulas._formula import formula


@formula
def erlang_c(servers: int, rho: float) -> float:
    """Chance that an arrival waits in M/M/c: Erlang's C formula.

    Args:
        servers: c, at least 1.
        rho: load of one server, 0 <= rho < 1.
    """
    offered = servers * rho
    # Erlang's B formula, by its recursion, which neither overflows nor cancels.
    blocked = 1.0
    for server in range(1, servers + 1):
        blocked = offered * blocked / (server + offered * blocked)
    return blocked / (1.0 - rho * (1.0 - blocked))


@formula
def wait_at_servers_ms(
    rate_per_ms: float, mean_ms: float, square_ms2: float, servers: int, highest_rho: float
) -> float:
    """Mean wait in M/G/c as Allen and Cunneen approximate it [ms]: (1 + C_s^2)/2 times that of M/M/c.

    On one server it is Pollaczek and Khinchine's, and exact.

    Args:
        rate_per_ms: arrivals [1/ms].
        mean_ms, square_ms2: first and second moment of service [ms, ms^2].
        servers: c.
        highest_rho: the highest load of a server that is reckoned with, below 1: at 1 the wait has no end.
    """
    if mean_ms <= 0.0:
        return 0.0
    rho = min(rate_per_ms * mean_ms / servers, highest_rho)
    variation = square_ms2 / (mean_ms * mean_ms)
    return variation / 2.0 * erlang_c(servers, rho) * mean_ms / (servers * (1.0 - rho))
