"""Formulas of nodes with several cores and disk channels, against numbers worked by hand (8 ms + size / 40 MB/s)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_abm.formulas import (
    closed_response_ms,
    cpu_response_ms,
    disk_response_ms,
    disk_work_ms,
    erlang_c,
    mg1_response_ms,
    mgq_response_ms,
    open_disk,
    others_per_core,
    sharing,
    tasks_per_core,
    wait_at_servers_ms,
)

tasks_at_cpu = st.floats(0.0, 1e4)


# ---- cores -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tasks", "cores", "stretched", "own", "others"),
    [
        # On one core as before there were several: max(1, n), n and m.
        (0.0, 1.0, 1.0, 0.0, 0.0),
        (0.5, 1.0, 1.0, 0.5, 0.5),
        (3.0, 1.0, 3.0, 3.0, 3.0),
        # Of four cores three are taken: a newcomer, itself a quarter of what fills them, finds at least 3/4.
        (3.0, 4.0, 1.0, 1.0, 0.75),
        (4.0, 4.0, 1.0, 1.0, 1.0),
        (6.0, 4.0, 1.5, 1.5, 1.5),
        # No task: nothing is shared; a newcomer finds 1 - 1/4, with itself it is 1.
        (0.0, 4.0, 1.0, 0.0, 0.75),
        (5.0, 2.0, 2.5, 2.5, 2.5),
    ],
)
def test_tasks_share_cores_once_there_are_more_tasks_than_cores(tasks, cores, stretched, own, others):
    assert sharing(tasks, cores) == stretched
    assert tasks_per_core(tasks, cores) == own
    assert others_per_core(tasks, cores) == others


def test_columns_of_nodes_are_divided_node_by_node():
    found = tasks_per_core(np.array([0.0, 1.0, 3.0, 9.0]), np.array([4.0, 4.0, 2.0, 4.0]))
    assert found.tolist() == [0.0, 1.0, 1.5, 2.25]


@given(st.integers(0, 500), st.integers(1, 64))
def test_a_newcomer_and_the_others_are_what_the_cores_share_with_it(others, cores):
    """max(1 - 1/c, m/c) + 1/c = max(1, (m + 1)/c)."""
    assert others_per_core(others, cores) + 1 / cores == pytest.approx(tasks_per_core(others + 1.0, float(cores)))


def test_cpu_response_on_several_cores():
    """Three others and 400 ms: on one core four share it; on two, two each; on four and more none waits."""
    assert [cpu_response_ms(400.0, 3.0, cores) for cores in (1.0, 2.0, 4.0, 8.0)] == [1600, 800, 400, 400]


# ---- queues of several servers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("servers", "rho", "chance"),
    [
        (1, 0.7, 0.7),
        # Two: 2 rho^2/(1 + rho).
        (2, 0.5, 1 / 3),
        (2, 0.75, 1.125 / 1.75),
        # Offered 2 on three: (8/6)/(1/3) = 4 over 1 + 2 + 2 + 4.
        (3, 2 / 3, 4 / 9),
        # Offered 2 on four: (16/24)/(1/2) = 4/3 over 1 + 2 + 2 + 4/3 + 4/3.
        (4, 0.5, 4 / 23),
        (5, 0.0, 0.0),
    ],
)
def test_erlangs_c_worked_by_hand(servers, rho, chance):
    assert erlang_c(servers, rho) == pytest.approx(chance)


@given(st.integers(1, 40), st.floats(0.01, 0.99))
def test_erlangs_c_is_the_sum_of_the_textbook(servers, rho):
    offered = servers * rho
    all_taken = offered**servers / math.factorial(servers) / (1 - rho)
    some_free = sum(offered**taken / math.factorial(taken) for taken in range(servers))
    assert erlang_c(servers, rho) == pytest.approx(all_taken / (some_free + all_taken))


@pytest.mark.parametrize(
    ("rate_per_ms", "square_ms2", "servers", "wait_ms"),
    [
        # One server of 10 ms at rho 0.5: equal services 0.05 * 100/(2 * 0.5), exponential ones twice that.
        (0.05, 100.0, 1, 5.0),
        (0.05, 200.0, 1, 10.0),
        # Two at rho 0.5: 1/3 * 10/(2 * 0.5); equal services half of it.
        (0.1, 200.0, 2, 10 / 3),
        (0.1, 100.0, 2, 5 / 3),
        # Squared coefficient of variation 3: (1 + 3)/2 times that of exponential services.
        (0.1, 400.0, 2, 20 / 3),
        # Above 0.9 of a server's time counts as 0.9: 2 * 0.81/1.9 * 10/(2 * 0.1).
        (5.0, 200.0, 2, 1.62 / 1.9 * 50),
        (0.0, 100.0, 3, 0.0),
    ],
)
def test_waits_for_servers_worked_by_hand(rate_per_ms, square_ms2, servers, wait_ms):
    assert wait_at_servers_ms(rate_per_ms, 10.0, square_ms2, servers, 0.9) == pytest.approx(wait_ms)


def test_services_of_no_time_make_none_wait():
    assert wait_at_servers_ms(3.0, 0.0, 0.0, 1, 0.99) == 0.0


# ---- the disk ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("channels", "work_ms"), [(1, 30), (2, 15), (3, 10), (4, 10), (1024, 10)])
def test_work_ahead_is_what_channels_or_the_bus_have_to_do(channels, work_ms):
    """30 ms of which 10 are transfers: from three channels on the bus is what is short."""
    assert disk_work_ms(30.0, 10.0, channels) == work_ms


@pytest.mark.parametrize(
    ("others", "channels", "response_ms"),
    [
        # 8 ms of seek and 2 of transfer. One channel: 10 (1 + O).
        (0.0, 1, 10),
        (3.0, 1, 40),
        (0.5, 1, 15),
        # Channels: 10 * 4/2 = 20; bus: 8 + 2 * 4 = 16.
        (3.0, 2, 20),
        # A channel for each: 10; bus: 16.
        (3.0, 4, 16),
        (3.0, 64, 16),
        (0.0, 2, 10),
        # Half a task more: 10 * max(1, 1.5/2) against 8 + 2 * 1.5.
        (0.5, 2, 11),
    ],
)
def test_a_request_is_held_up_by_channels_or_by_the_bus(others, channels, response_ms):
    assert disk_response_ms(10.0, 2.0, others, channels) == pytest.approx(response_ms)


# ---- the estimators ----------------------------------------------------------------------------------------------


def test_closed_on_two_cores_and_two_channels():
    """1500 ms, E(L) 2.7: 1500 * 1.35 = 2025. 30 requests of 8 + 2.5 ms, half a task besides: 240 + 75 * 1.5 = 352.5."""
    response_ms = closed_response_ms(1500.0, 0.02, 10.5, 0.0, 2.7, 0.5, 75.0, 2.0, 2.0)
    assert response_ms == pytest.approx(2025 + 352.5)


def test_closed_counts_page_faults_as_requests_of_their_own():
    """100 faults of 8 + 0.1 ms besides: 315 + 810 on the channels, 240 + 800 + (75 + 10) * 1.5 by the bus; with three
    others (315 + 810) * 4/2 on the channels."""
    by_bus = closed_response_ms(1500.0, 0.02, 10.5, 810.0, 2.7, 0.5, 85.0, 2.0, 2.0)
    by_channels = closed_response_ms(1500.0, 0.02, 10.5, 810.0, 2.7, 3.0, 85.0, 2.0, 2.0)
    assert by_bus == pytest.approx(2025 + 1040 + 127.5)
    assert by_channels == pytest.approx(2025 + 2250)


def test_closed_on_more_cores_than_tasks_is_the_time_alone():
    assert closed_response_ms(1500.0, 0.02, 10.5, 0.0, 2.7, 0.0, 75.0, 4.0, 8.0) == pytest.approx(1500 + 315)


def mgq(disk_per_ms, disk_square_ms, seek_ms, channels=4):
    """1000 ms with 50 requests, two tasks to a core, 0.4 requests per ms of the tasks' CPU: 0.2 per ms."""
    return mgq_response_ms(1000.0, 0.05, 2.0, 0.4, disk_per_ms, disk_square_ms, seek_ms, channels, 0.99)


def test_mg1_on_several_channels_waits_for_the_bus_where_that_is_longer():
    """Requests of 8 + 2 ms on four channels: rho 0.5, 4/23 * 10/(4 * 0.5)/2 = 10/23.

    The bus: rho 0.4, 0.2 * 4/(2 * 0.6) = 2/3, which is more.
    """
    assert mgq(4.0, 40.0, 8.0) == pytest.approx(2000 + 50 * (10 + 2 / 3))


def test_mg1_on_several_channels_waits_for_these_where_that_is_longer():
    """The same with requests of nothing but a seek: 10/23. On two channels rho is 1 and counts as 0.99: half of
    2 * 0.99^2/1.99 * 10/(2 * 0.01)."""
    assert mgq(4.0, 40.0, 10.0) == pytest.approx(2000 + 50 * (10 + 10 / 23))
    assert mgq(4.0, 40.0, 10.0, channels=2) == pytest.approx(2000 + 50 * (10 + 0.99**2 / 1.99 * 500))


def test_mg1_on_several_channels_takes_the_moments_of_unlike_requests():
    """Half of the requests 8 + 1 ms, half 8 + 3: the bus has a mean of 2 and a second moment of 5: 0.2 * 5/(2 * 0.6).

    On the channels (81 + 121)/2 = 101 against 100: C_s^2 = 0.01, 1.01/2 * 4/23 * 5.
    """
    by_bus, by_channels = 5 / 6, 1.01 / 2 * 4 / 23 * 5
    assert by_bus > by_channels
    assert mgq(0.2 * 9 + 0.2 * 11, 0.2 * 81 + 0.2 * 121, 8.0) == pytest.approx(2000 + 50 * (10 + by_bus))


def test_mg1_without_seeks_is_one_server_however_many_channels():
    """Services of 10 ms at a rate of 0.04: 0.04 * 100/(2 * 0.6), as on one channel."""
    rate, rho, mean_ms, square_ms2 = open_disk(0.08, 0.8, 8.0, 2.0)
    alone = mg1_response_ms(1000.0, 0.02, 2.0, rate, rho, mean_ms, square_ms2)
    assert alone == pytest.approx(2000 + 20 * (10 + 10 / 3))
    for channels in (2, 5, 1024):
        found = mgq_response_ms(1000.0, 0.02, 2.0, 0.08, 0.8, 8.0, 0.0, channels, 0.99)
        assert found == pytest.approx(alone)


def test_mg1_on_several_channels_without_io_is_the_cpu_alone():
    assert mgq_response_ms(1000.0, 0.0, 1.5, 0.0, 0.0, 0.0, 8.0, 4, 0.99) == 1500
