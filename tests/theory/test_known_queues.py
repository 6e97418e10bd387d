"""The formulas that the simulator is held against, held against each other and against forms known in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from known_queues import (
    chance_of_an_empty_station,
    erlang_c,
    pollaczek_khinchine,
    sharing_factor,
    throughput_of_a_closed_network,
    wait_by_the_embedded_chain,
    wait_of_equal_services,
    wait_of_exponential_services,
)

LOADS = (0.3, 0.6, 0.9)


@pytest.mark.parametrize("rho", LOADS)
def test_on_one_server_all_are_those_of_one_server(rho):
    assert wait_of_exponential_services(1, rho) == pytest.approx(pollaczek_khinchine(rho, 1.0))
    assert wait_of_equal_services(1, rho) == pytest.approx(pollaczek_khinchine(rho, 0.0))
    assert sharing_factor(1, rho) == pytest.approx(1 / (1 - rho))
    assert chance_of_an_empty_station(1, rho) == pytest.approx(1 - rho)


@pytest.mark.parametrize("rho", LOADS)
def test_two_servers_in_closed_form(rho):
    assert erlang_c(2, 2 * rho) == pytest.approx(2 * rho**2 / (1 + rho))
    assert sharing_factor(2, rho) == pytest.approx(1 / (1 - rho**2))
    assert chance_of_an_empty_station(2, rho) == pytest.approx((1 - rho) / (1 + rho))


@pytest.mark.parametrize(("cores", "rho", "factor"), [(2, 0.7, 1.9608), (4, 0.8, 1.7455), (8, 0.9, 1.8769)])
def test_sharing_factors_worked_by_hand(cores, rho, factor):
    assert sharing_factor(cores, rho) == pytest.approx(factor, abs=5e-5)


@pytest.mark.slow
@pytest.mark.parametrize("rho", LOADS)
@pytest.mark.parametrize("servers", [2, 4, 8, 16])
def test_the_wait_of_equal_services_by_two_ways(servers, rho):
    """By Spitzer's identity and by the embedded chain, which share nothing; and within 2 % of Cosmetatos (1976), whose
    approximation is meant for loads that are not low."""
    wait = wait_of_equal_services(servers, rho)
    assert wait == pytest.approx(wait_by_the_embedded_chain(servers, rho), rel=1e-6)
    if rho > 0.5:
        correction = (1 - rho) * (servers - 1) * (np.sqrt(4 + 5 * servers) - 2) / (16 * servers * rho)
        assert wait == pytest.approx((1 + correction) / 2 * wait_of_exponential_services(servers, rho), rel=0.02)


def test_closed_networks_in_closed_form():
    """n customers at two equal single servers: n/(n + 1); at a delay and a server: the finite-source queue, whose
    server is idle by Erlang's loss formula; with a server each, nothing is waited for."""
    assert throughput_of_a_closed_network(5, [(2.0, 1), (2.0, 1)]) == pytest.approx(5 / 6 / 2.0)
    sources, seek, transfer = 4, 8.0, 2.0
    loss = 1.0
    for count in range(1, sources + 1):
        loss = seek / transfer * loss / (count + seek / transfer * loss)
    assert throughput_of_a_closed_network(sources, [(seek, sources), (transfer, 1)]) == pytest.approx(
        (1 - loss) / transfer
    )
    assert throughput_of_a_closed_network(3, [(2.0, 3), (1.0, 3)]) == pytest.approx(1.0)


def mean_value_analysis(customers, first, second):
    """Throughput of a closed network of two single servers by exact mean value analysis."""
    queues = np.zeros(2)
    for population in range(1, customers + 1):
        residence = np.array([first, second]) * (1 + queues)
        throughput = population / residence.sum()
        queues = throughput * residence
    return throughput


@pytest.mark.parametrize("customers", [1, 3, 20])
def test_a_closed_network_by_two_ways(customers):
    expected = mean_value_analysis(customers, 5.0, 7.5)
    assert throughput_of_a_closed_network(customers, [(5.0, 1), (7.5, 1)]) == pytest.approx(expected)
