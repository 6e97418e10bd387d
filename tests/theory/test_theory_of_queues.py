"""What scenarios/queueing says: values worked by hand, and different derivations of the same number."""

from __future__ import annotations

import math

import numpy as np
import pytest
from queueing import chains, limits, old_news, sizes, stations
from queueing.intervals import controlled
from scipy import stats

LOADS = (0.3, 0.8)


# ---- one station -----------------------------------------------------------------------------------------------------


def test_two_servers_at_half_load_by_hand():
    """p0 = 1/3, all busy: (1/2)/(1 - 1/2) x 2/3 x 1/2 = 1/3; the wait is a third over 2 (1 - 1/2)."""
    assert stations.erlang_c(2, 1.0) == pytest.approx(1 / 3)
    assert stations.response_of_servers(2, 0.5) == pytest.approx(4 / 3)


@pytest.mark.parametrize("load", LOADS)
def test_special_cases_are_one_queue(load):
    one = 1 / (1 - load)
    assert stations.response_of_sharing(load) == pytest.approx(one)
    assert stations.response_of_servers(1, load) == pytest.approx(one)
    assert stations.response_in_order(load, 1.0) == pytest.approx(one)
    assert stations.response_in_turn(1, load) == pytest.approx(one)
    assert limits.response_of_choices(load, 1) == pytest.approx(one)
    assert chains.response_under(chains.shortest, 1, load, 150) == pytest.approx(one)
    assert sizes.response_by_size(sizes.Exponential(), 1, load) == pytest.approx(one)


def test_equal_demands_wait_half_as_long():
    """M/D/1 at load 1/2 waits half a demand; twice the demand, twice the response; sharing does not depend on C^2."""
    assert stations.response_in_order(0.5, 0.0) == pytest.approx(1.5)
    assert stations.response_in_order(0.5, 0.0, mean=2.0) == pytest.approx(3.0)
    assert stations.response_of_sharing(0.5, mean=2.0) == pytest.approx(4.0)


def test_every_second_arrival_by_hand():
    """E_2/M/1 at load 1/2: s = 1/(2 - s)^2 has the root (3 - sqrt(5))/2, so the response is the golden ratio."""
    assert stations.response_in_turn(2, 0.5) == pytest.approx((1 + 5**0.5) / 2)


def test_ever_more_nodes_in_turn_are_even_arrivals():
    """D/M/1: s = exp(-(1 - s)/load)."""
    ratio = 1 - 1 / stations.response_in_turn(100_000, 0.8)
    assert ratio == pytest.approx(math.exp(-(1 - ratio) / 0.8), rel=1e-4)


# ---- sizes -----------------------------------------------------------------------------------------------------------


class Uniform:
    """Demands from 0 to 2."""

    least, most = 0.0, 2.0

    def part(self, power, low, high):
        return (high ** (power + 1) - low ** (power + 1)) / (power + 1) / 2


def test_two_size_classes_of_a_uniform_law_by_hand():
    """Half of the work is below sqrt(2). Waits are sqrt(2)/3 and (4 - sqrt(2))/3, the mean response 3 - sqrt(2)."""
    law, root = Uniform(), 2**0.5
    assert sizes.squared_variation(law) == pytest.approx(1 / 3)
    assert sizes.cutoffs_of(law, 2) == pytest.approx([root])
    assert sizes.waits_of_classes(law, 1.0, [0.0, root, 2.0]) == pytest.approx([root / 3, (4 - root) / 3])
    assert sizes.response_by_size(law, 2, 0.5) == pytest.approx(3 - root)


@pytest.mark.parametrize("law", [sizes.Exponential(2.0), sizes.BoundedPareto(0.1, 20.0, 1.1)])
def test_parts_of_a_law_are_its_moments(law):
    """By numerical integration of its tail: E[X^k] is the integral of k x^(k-1) P(X > x)."""
    grid = np.concatenate([[0.0], np.geomspace(1e-4, min(law.most, 200.0), 1000)])
    above = np.array([law.part(0, max(x, law.least), law.most) for x in grid])
    assert law.part(0, law.least, law.most) == pytest.approx(1.0)
    for power in (1, 2):
        found = np.trapezoid(power * grid ** (power - 1) * above, grid)
        assert law.part(power, law.least, law.most) == pytest.approx(found, rel=1e-3)
    cut = sizes.cutoffs_of(law, 3)
    work = [law.part(1, low, high) for low, high in zip([law.least, *cut], [*cut, law.most], strict=True)]
    assert work == pytest.approx([law.part(1, law.least, law.most) / 3] * 3)


# ---- few nodes -------------------------------------------------------------------------------------------------------


def test_queues_of_one_task_are_a_loss_system():
    """Cut at one task a node nothing waits, whatever the rule; two such nodes in a row take two at most."""
    for rule in (chains.shortest, chains.shortest_of_two, chains.idle_or_random):
        assert chains.response_under(rule, 2, 0.5, 1) == pytest.approx(1.0)


def test_two_nodes_of_two_tasks_by_hand():
    """JSQ, one arrival in a service, at two nodes of at most two tasks: in units of p(0,2) the balance equations give
    p(0,0) = p(0,1) = 7, p(1,1) = 3, p(1,2) = 2 and p(2,2) = 1: 25 tasks for 20 ends.
    """
    assert chains.response_under(chains.shortest, 2, 0.5, 2) == pytest.approx(25 / 20)


@pytest.mark.slow
@pytest.mark.parametrize("load", LOADS)
def test_rules_on_two_nodes_are_ordered(load):
    """M/M/2 < JSQ = JSQ(2) < JIQ with one dispatcher < JIQ with two < random."""
    shortest, two, idle = (
        chains.response_under(rule, 2, load, 60)
        for rule in (chains.shortest, chains.shortest_of_two, chains.idle_or_random)
    )
    assert shortest == pytest.approx(two)
    both = chains.response_of_idle_queues(2, load, 40)
    assert stations.response_of_servers(2, load) < shortest < idle < both < 1 / (1 - load)


# ---- many nodes ------------------------------------------------------------------------------------------------------


def test_two_choices_at_half_load_by_hand():
    """1 + 1/4 + 1/64 + 1/16384 + ...: the exponents of 1/2 are 0, 2, 6, 14."""
    assert limits.response_of_choices(0.5, 2) == pytest.approx(1 + 2**-2 + 2**-6 + 2**-14, abs=1e-8)
    assert limits.tails_of_choices(0.5, 2, 3) == pytest.approx([1, 0.5, 0.125, 2**-7])


@pytest.mark.slow
@pytest.mark.parametrize("load", [0.5, 0.8])
def test_what_the_term_of_1_over_n_leaves_falls_with_n_squared(load):
    """Beside the chains of 3 and 4 nodes: n^2 (chain - approximation) is nearly the same."""
    many = limits.shortest_of_two(load)
    left = [
        (chains.response_under(chains.shortest_of_two, n, load, most) - many.response(n)) * n**2
        for n, most in ((3, 25), (4, 12 if load < 0.6 else 16))
    ]
    assert left[1] == pytest.approx(left[0], rel=0.1)
    # Without the term this would be n times as much, a third more on 4 nodes than on 3.
    assert abs(many.of_1_over_n) > 0.1


def test_a_node_drawn_twice_is_worth_less():
    for load in LOADS:
        once, twice = limits.shortest_of_two(load), limits.shortest_of_two(load, with_repetition=True)
        assert once.limit == twice.limit
        assert 0 < once.of_1_over_n < twice.of_1_over_n


def test_idle_queues_at_half_load_by_hand():
    """Lu et al.: q = 1/(2 - 1/2) = 2/3, so the response is 1/(1 - 1/3); with withdrawals it is less."""
    assert limits.response_with_idle_queues(0.5, withdraws=False) == pytest.approx(1.5)
    assert limits.response_with_idle_queues(0.5) < 1.5


# ---- stale information -----------------------------------------------------------------------------------------------


def test_where_a_board_sends_arrivals_by_hand():
    """Half of the nodes show no task, half one: of two nodes both show one in a quarter of the draws."""
    shares = np.array([0.5, 0.5])
    assert old_news.shorter_on_the_board(shares) == pytest.approx([1.5, 0.5])
    assert old_news.shortest_on_the_board(shares) == pytest.approx([2.0, 0.0])
    assert old_news.shortest_on_the_board(np.array([0.0, 0.25, 0.75])) == pytest.approx([0.0, 4.0, 0.0])
    for rule in (old_news.any_node, old_news.shorter_on_the_board, old_news.shortest_on_the_board):
        uneven = np.array([0.2, 0.5, 0.3])
        assert rule(uneven) @ uneven == pytest.approx(1.0)


def board(rule, period):
    return old_news.response_by_the_board(rule, 0.5, period, levels=25)


@pytest.mark.slow
def test_a_board_between_fresh_and_never():
    """Random is M/M/1 whatever the period. Two choices begin at the fixed point, and lose with the period."""
    assert board(old_news.any_node, 1.0) == pytest.approx(2.0, rel=1e-3)
    assert board(old_news.shorter_on_the_board, 0.02) == pytest.approx(limits.response_of_choices(0.5, 2), rel=0.01)
    two = [board(old_news.shorter_on_the_board, period) for period in (0.1, 1.0, 10.0)]
    all_of = [board(old_news.shortest_on_the_board, period) for period in (0.1, 1.0, 10.0)]
    assert two == sorted(two)
    assert all_of == sorted(all_of)
    # Fresh the shortest is better than the shorter of two; stale it is worse, and than random, too.
    assert all_of[0] < two[0]
    assert all_of[2] > max(two[2], 2.0)


# ---- intervals -------------------------------------------------------------------------------------------------------


def test_an_interval_without_controls_is_students():
    values = [1.0, 2.0, 4.0, 5.0]
    mean = controlled(values)
    assert mean.value == pytest.approx(3.0)
    low, high = mean.interval(0.95)
    found = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert (low, high) == pytest.approx((found.low, found.high))


def test_what_a_control_explains_is_taken_out():
    """Values are 10 + 3 (control - 2) but for noise that the control does not know."""
    control, noise = np.array([1.0, 2.0, 4.0, 6.0, 2.0]), np.array([0.1, -0.1, 0.0, 0.1, -0.1])
    exact = controlled(10 + 3 * (control - 2), [(control, 2.0)])
    assert exact.value == pytest.approx(10.0)
    assert exact.error == pytest.approx(0.0, abs=1e-9)
    near = controlled(10 + 3 * (control - 2) + noise, [(control, 2.0)])
    assert near.value == pytest.approx(10.0, abs=0.1)
    assert near.freedom == 3
