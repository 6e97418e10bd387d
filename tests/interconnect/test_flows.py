"""Transfers in transit: schedules worked by hand, a slow simulation in fractions, and no bit lost by cutting time."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sharing import exact_rates, shared_links

from cluster_abm.interconnect import NEVER_NS, Flows

S = 1_000_000_000


def test_alone_it_takes_what_it_takes_without_contention():
    for mb, mb_per_s in ((1.0, 3.0), (37.2, 128.0), (1e-9, 7.0), (1e4, 12.5)):
        flows = Flows([mb_per_s, 1000.0])
        flows.start(1, (1, 0), mb, 5)
        assert flows.advance(NEVER_NS) == [(5 + math.floor(mb / mb_per_s * 1e9 + 0.5), 1)]


def test_two_share_until_one_is_through():
    # 10 MB/s. A: 40 MB from 0. B: 10 MB from 2 s. Both have 5 MB/s then; B ends at 4 s, when A has 40 - 20 - 10 to go.
    flows = Flows([10.0])
    flows.start(0, (0,), 40.0, 0)
    flows.start(1, (0,), 10.0, 2 * S)
    assert flows.advance(1 * S) == []
    assert (flows.rate_mb_per_s(0), flows.rate_mb_per_s(1)) == (10.0, 0.0)
    assert flows.next_ns == 2 * S
    assert flows.advance(3 * S) == []
    assert (flows.rate_mb_per_s(0), flows.rate_mb_per_s(1)) == (5.0, 5.0)
    assert flows.next_ns == 4 * S
    assert flows.advance(4 * S + 1) == [(4 * S, 1)]
    assert flows.rate_mb_per_s(0) == 10.0
    assert flows.in_transit == (0,)
    assert flows.advance(NEVER_NS) == [(5 * S, 0)]
    assert flows.next_ns == NEVER_NS


def test_a_third_elsewhere_gains_by_anothers_end():
    # Link 0 of 6, link 1 of 9 MB/s. A crosses both (3), B link 0 (3), C link 1 (6). B has 6 MB and ends at 2 s.
    # A: 15 MB: 6 by then, 9 more at 4.5 (half of link 1): ends at 4 s. C: 12 by 2 s, 9 more by 4 s, the rest at 9 MB/s.
    flows = Flows([6.0, 9.0])
    for key, path, mb in ((7, (0, 1), 15.0), (8, (0,), 6.0), (9, (1,), 39.0)):
        flows.start(key, path, mb, 0)
    assert flows.advance(NEVER_NS) == [(2 * S, 8), (4 * S, 7), (6 * S, 9)]


def test_those_of_one_instant_come_and_go_together():
    flows = Flows([8.0])
    for key in (3, 1, 2):
        flows.start(key, (0,), 8.0, S)
    # Comes as they leave, and never meets them.
    flows.start(0, (0,), 8.0, 4 * S)
    assert flows.advance(NEVER_NS) == [(4 * S, 1), (4 * S, 2), (4 * S, 3), (5 * S, 0)]


def test_who_is_through_within_the_nanosecond_in_which_another_ends_comes_in_order_too():
    # 5 ends at 2 s; 3 then has 3e-9 MB to go, 0.3 ns at the full rate.
    flows = Flows([10.0])
    flows.start(5, (0,), 10.0, 0)
    flows.start(3, (0,), 10.0 + 3e-9, 0)
    assert flows.advance(2 * S) == []
    assert flows.advance(2 * S + 1) == [(2 * S, 3), (2 * S, 5)]


def test_nothing_to_carry_and_nowhere_to_go():
    flows = Flows([1.0])
    flows.start(1, (0,), 0.0, 10)
    flows.start(2, (), 55.0, 10)
    flows.start(3, (0,), 2.0, 0)
    assert flows.advance(10) == []
    assert flows.next_ns == 10
    assert flows.advance(11) == [(10, 1), (10, 2)]
    assert flows.advance(NEVER_NS) == [(2 * S, 3)]


def test_who_is_taken_out_says_what_was_to_go_and_leaves_room():
    flows = Flows([10.0, 10.0])
    flows.start(1, (0,), 40.0, 0)
    flows.start(2, (0, 1), 40.0, 0)
    flows.start(3, (1,), 5.0, 9 * S)
    assert flows.crossing([1]) == [2, 3]
    assert flows.crossing([0, 5]) == [1, 2]
    # Two seconds at 5 MB/s.
    assert flows.cancel(2, 2 * S) == pytest.approx(30.0)
    assert flows.in_transit == (1, 3)
    assert flows.cancel(3, 2 * S) == 5.0
    assert flows.advance(NEVER_NS) == [(5 * S, 1)]
    with pytest.raises(KeyError):
        flows.cancel(1, NEVER_NS)


def test_who_ends_before_another_is_taken_out_is_still_told_of():
    flows = Flows([10.0])
    flows.start(1, (0,), 10.0, 0)
    flows.start(2, (0,), 30.0, 0)
    # 1 ends at 2 s, 2 has 20 MB then, and 10 at 3 s.
    assert flows.cancel(2, 3 * S) == pytest.approx(10.0)
    assert flows.in_transit == ()
    assert flows.advance(3 * S) == [(2 * S, 1)]


def test_due_at_the_instant_it_is_taken_out_nothing_is_left():
    flows = Flows([3.0])
    flows.start(1, (0,), 1.0, 0)
    due_ns = flows.advance(0) or 333_333_333
    assert flows.advance(due_ns) == []
    assert flows.cancel(1, due_ns) == 0.0


def test_what_cannot_be():
    flows = Flows([1.0])
    flows.start(1, (0,), 1.0, 0)
    flows.advance(5)
    for call in (
        lambda: flows.start(1, (0,), 1.0, 9),
        lambda: flows.start(2, (0,), 1.0, 4),
        lambda: flows.start(2, (0,), -1.0, 9),
        lambda: flows.start(2, (0,), math.nan, 9),
        lambda: flows.cancel(1, 4),
    ):
        with pytest.raises(ValueError, match=r"transfer|advanced"):
            call()
    with pytest.raises(KeyError):
        flows.rate_mb_per_s(2)


def exact_ends_s(capacities, transfers):
    """Ends of (start [s], path, MB) in exact fractions, nothing cancelled: one rate after another."""
    now, ends = Fraction(0), {}
    waiting = {key: (Fraction(start), path, Fraction(mb)) for key, (start, path, mb) in enumerate(transfers)}
    left = {}
    while waiting or left:
        rates = dict(zip(left, exact_rates(capacities, [transfers[key][1] for key in left]), strict=True))
        ahead = [start for start, _, _ in waiting.values()] + [now + mb / rates[key] for key, mb in left.items()]
        then = min(ahead)
        left = {key: mb - rates[key] * (then - now) for key, mb in left.items()}
        now = then
        for key in [key for key, mb in left.items() if mb == 0]:
            ends[key] = now
            del left[key]
        for key in [key for key, (start, _, _) in waiting.items() if start == now]:
            left[key] = waiting.pop(key)[2]
    return ends


@st.composite
def scripts(draw):
    """Links with whole capacities, and transfers (start [s], path, MB) over them."""
    capacities, paths = draw(shared_links())
    whole = [math.ceil(capacity) for capacity in capacities]
    starts = st.integers(0, 8).map(lambda eighths: eighths / 8)
    return whole, [(draw(starts), path, draw(st.integers(1, 40)) / 4) for path in paths]


@pytest.mark.slow
@given(scripts())
def test_as_an_exact_simulation_has_it(script):
    capacities, transfers = script
    flows = Flows(capacities)
    for key, (start_s, path, mb) in enumerate(transfers):
        flows.start(key, path, mb, int(start_s * S))
    ends = {key: end_ns for end_ns, key in flows.advance(NEVER_NS)}
    expected = exact_ends_s(capacities, transfers)
    # Each end is rounded by half a nanosecond, and what that gives or takes is passed on to others that may be slower.
    assert ends == {key: pytest.approx(float(end_s * S), abs=1000) for key, end_s in expected.items()}


@pytest.mark.slow
@given(scripts(), st.data())
def test_no_bit_depends_on_how_time_is_cut(script, data):
    capacities, transfers = script
    instants = st.integers(0, 4 * S)
    cancelled = data.draw(st.lists(st.tuples(instants, st.integers(0, len(transfers) - 1)), max_size=3))

    def ends_of(cuts):
        flows, found = Flows(capacities), []
        for key, (start_s, path, mb) in enumerate(transfers):
            flows.start(key, path, mb, int(start_s * S))
        for at_ns, key in sorted({(at_ns, -1) for at_ns in cuts} | set(cancelled)):
            found += flows.advance(at_ns)
            if key in flows.in_transit:
                found.append((at_ns, key, flows.cancel(key, at_ns)))
        return found + flows.advance(NEVER_NS)

    assert ends_of(data.draw(st.lists(instants, max_size=20))) == ends_of([])


@pytest.mark.slow
@given(scripts(), scripts())
def test_no_bit_depends_on_what_happens_elsewhere(script, elsewhere):
    def ends_of(capacities, transfers):
        flows = Flows(capacities)
        for key, (start_s, path, mb) in transfers.items():
            flows.start(key, path, mb, int(start_s * S))
        return flows.advance(NEVER_NS)

    links = len(script[0])
    here = dict(enumerate(script[1]))
    there = {
        1000 + key: (start_s, tuple(link + links for link in path), mb)
        for key, (start_s, path, mb) in enumerate(elsewhere[1])
    }
    capacities = [*script[0], *elsewhere[0]]
    apart = sorted(ends_of(capacities, here) + ends_of(capacities, there))
    assert ends_of(capacities, here | there) == apart


def test_many_events_elsewhere_move_no_end():
    # 46 simulated hours: accounting for it at every one of them would be off by nanoseconds.
    flows = Flows([6.1, 10.0])
    flows.start(0, (0,), 1e6 + 0.1, 0)
    for key in range(1, 400):
        flows.start(key, (1,), 3.0, key * S + key**3)
    assert flows.advance(NEVER_NS)[-1] == (math.floor((1e6 + 0.1) / 6.1 * 1e9 + 0.5), 0)


@pytest.mark.slow
@given(scripts(), st.data())
def test_no_bit_depends_on_the_order_of_the_calls(script, data):
    capacities, transfers = script

    def ends_of(order):
        flows = Flows(capacities)
        for key in order:
            start_s, path, mb = transfers[key]
            flows.start(key, path, mb, int(start_s * S))
        return flows.advance(NEVER_NS)

    keys = list(range(len(transfers)))
    assert ends_of(data.draw(st.permutations(keys))) == ends_of(keys)


@pytest.mark.slow
@given(scripts())
def test_at_every_event_rates_are_fair_and_all_is_carried(script):
    capacities, transfers = script
    flows, carried, before_ns, rates = Flows(capacities), dict.fromkeys(range(len(transfers)), 0.0), 0, {}
    for key, (start_s, path, mb) in enumerate(transfers):
        flows.start(key, path, mb, int(start_s * S))
    while flows.in_transit:
        now_ns = flows.next_ns
        for key, rate in rates.items():
            carried[key] += rate * (now_ns - before_ns) / 1e9
        flows.advance(now_ns + 1)
        rates = {key: flows.rate_mb_per_s(key) for key in flows.in_transit if flows.rate_mb_per_s(key) > 0}
        before_ns = now_ns
        expected = [float(rate) for rate in exact_rates(capacities, [transfers[key][1] for key in rates])]
        assert list(rates.values()) == pytest.approx(expected, rel=1e-9)
    # Half a nanosecond at the fastest rate there may be, at each event, is what rounding may lose.
    lost_mb = 2 * len(transfers) * max(capacities) * 1e-9
    assert carried == {key: pytest.approx(mb, rel=1e-9, abs=lost_mb) for key, (_, _, mb) in enumerate(transfers)}
