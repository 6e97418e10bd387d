"""What queueing theory says of the queues that the simulator is held against, written down from the theory alone.

Mean waits are in units of the mean service time, unless a service time is given; `rho` is the load of one server.
"""

from __future__ import annotations

import math

import numpy as np
from queueing.stations import erlang_c, pollaczek_khinchine, wait_of_exponential_services
from scipy import stats

# What tests take from here. The first of these are also what scenarios/theory.py holds runs against.
__all__ = [
    "chance_of_an_empty_station", "erlang_c", "pollaczek_khinchine", "sharing_factor", "throughput_of_a_closed_network",
    "wait_by_the_embedded_chain", "wait_of_equal_services", "wait_of_exponential_services",
]  # fmt: skip


def sharing_factor(servers, rho):
    """E[T | x]/x in M/G/n processor sharing, whatever the law of the demands x.

    Tasks in it are as many as in M/M/n, and each x is slowed down alike: the queue is symmetric (Kelly).
    """
    return 1 + wait_of_exponential_services(servers, rho)


def wait_of_equal_services(servers, rho):
    """Mean wait in M/D/n (Crommelin 1932), by Spitzer's identity.

    A service later, all that are in service have left: Q tasks that wait become (Q + Poisson(n rho) - n)^+. In the long
    run that is the maximum of a random walk from 0, so its mean is the sum over m of E[(A_m - m n)^+]/m, where A_m is
    Poisson of mean m n rho; by Little's law the wait is that over n rho. For a Poisson A of mean a, E[(A - k)^+] is
    a P(A >= k) - k P(A > k).
    """
    waits, steps = 0.0, np.arange(1, 1001)
    while True:
        arrivals = stats.poisson(steps * servers * rho)
        part = arrivals.sf(steps * servers - 1) - arrivals.sf(steps * servers) / rho
        waits += part.sum()
        if part[-1] < 1e-12 * waits:
            return waits
        steps += len(steps)


def wait_by_the_embedded_chain(servers, rho, most=400):
    """Mean wait in M/D/n from the stationary law of the number in it, observed once a service; cut at `most`."""
    arrivals = stats.poisson(servers * rho).pmf(np.arange(most))
    stays = np.arange(most) - np.maximum(np.arange(most)[:, None] - servers, 0)
    steps = np.where(stays >= 0, arrivals[np.maximum(stays, 0)], 0.0)
    balance = steps.T - np.eye(most)
    balance[0] = 1.0  # one equation is redundant: in its place, all add up to 1
    chances = np.linalg.solve(balance, np.eye(most, 1).ravel())
    return float(chances @ np.maximum(np.arange(most) - servers, 0)) / (servers * rho)


def chance_of_an_empty_station(servers, rho):
    """Share of time in which M/M/n is empty."""
    offered = servers * rho
    below = sum(offered**count / math.factorial(count) for count in range(servers))
    return 1 / (below + offered**servers / (math.factorial(servers) * (1 - rho)))


def throughput_of_a_closed_network(customers, stations):
    """Of a closed product-form network that each customer goes round, by Buzen's convolution [1/time].

    Args:
        customers: how many go round.
        stations: (mean service, servers) of each; exponential and first-come first-served, or processor sharing. With
            as many servers as customers it is a delay, whatever its law.
    """
    chances = np.eye(customers + 1, 1).ravel()
    for mean, servers in stations:
        # Relative weight of so many customers at the station: each next one raises its rate, until all servers work.
        rates = np.minimum(np.arange(1, customers + 1), servers) / mean
        weights = np.concatenate([[1.0], np.cumprod(1 / rates)])
        chances = np.convolve(chances, weights)[: customers + 1]
    return chances[-2] / chances[-1]
