"""One station: mean responses of M/M/1, M/G/1, M/M/c and E_n/M/1."""

from __future__ import annotations

from scipy.optimize import brentq


def erlang_c(servers: int, offered: float) -> float:
    """Probability that all servers of M/M/c are busy (Erlang 1917), by the recursion for the loss system.

    Args:
        servers: c, at least 1.
        offered: arrivals in a mean demand, below c.
    """
    loss = 1.0
    for count in range(1, servers + 1):
        loss = offered * loss / (count + offered * loss)
    return loss / (1 - (offered / servers) * (1 - loss))


def wait_of_exponential_services(servers: int, load: float) -> float:
    """Mean wait in M/M/c: Erlang's C over the rate at which c busy servers clear what exceeds the arrivals."""
    return erlang_c(servers, servers * load) / (servers * (1 - load))


def response_of_servers(servers: int, load: float) -> float:
    """Mean response in M/M/c, first come first served, and of c-server processor sharing.

    With exponential demands both have the same number of tasks: the rate of ends depends on that number alone.
    """
    return 1 + wait_of_exponential_services(servers, load)


def response_of_sharing(load: float, mean: float = 1.0) -> float:
    """Mean response in M/G/1 processor sharing: E[S]/(1 - load), whatever the law (Kleinrock 1976, vol. 2, 4.18)."""
    return mean / (1 - load)


def pollaczek_khinchine(load: float, squared_variation: float) -> float:
    """Mean wait in M/G/1, first come first served, in mean demands: load (1 + C^2) / (2 (1 - load)).

    Args:
        load: of the server.
        squared_variation: C^2, the variance of the demands over their squared mean.
    """
    return load * (1 + squared_variation) / (2 * (1 - load))


def response_in_order(load: float, squared_variation: float, mean: float = 1.0) -> float:
    """Mean response in M/G/1, first come first served: the mean demand and Pollaczek and Khinchine's wait."""
    return mean * (1 + pollaczek_khinchine(load, squared_variation))


def response_in_turn(nodes: int, load: float) -> float:
    """Mean response of a node to which one dispatcher sends each n-th arrival of a Poisson stream: E_n/M/1.

    Gaps are sums of n exponential ones. In GI/M/1 an arrival finds a geometric number of tasks, of ratio s, the root in
    (0, 1) of s = A*(1 - s); the mean response is 1/(1 - s). A* is the gaps' transform, (n load/(n load + x))^n
    (Kleinrock 1975, vol. 1, section 6.4).

    Args:
        nodes: n.
        load: of a node.
    """
    rate = nodes * load

    def excess(ratio: float) -> float:
        return (rate / (rate + 1 - ratio)) ** nodes - ratio

    # At 1 there is a root for any load; the curve is convex, so below 1 there is one more.
    return 1 / (1 - brentq(excess, 0.0, 1 - 1e-9 * (1 - load), xtol=1e-14))


def relaxation(load: float, servers: int = 1) -> float:
    """Relaxation time of M/M/c at high load: 1/(c (1 - sqrt(load))^2) (M/M/1: Cohen 1982, III.2)."""
    return 1 / (servers * (1 - load**0.5) ** 2)
