"""When sessions of users begin: each group at its own hours, with its share of all sessions and of the load."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cluster_abm.clock import DAY_S, HOUR_S
from cluster_abm.scenario import Scenario, scenario_from
from cluster_abm.scenario.unused import keys_without_effect
from cluster_abm.workload import jobs_per_second, work_of
from cluster_abm.workload.sessions import drawn_sessions, session_means
from cluster_abm.workload.sessions.hours import begins_of

SEED = int(os.environ.get("CLUSTER_ABM_TEST_SEED", "20261130"))
# Of intervals and tests: a false alarm in a million.
Z, ALARM = 4.9, 1e-6
DRAWS = 60


def made(*groups: dict[str, Any], **more: Any) -> Scenario:
    keys = {f"workload.{key.replace('__', '.')}": value for key, value in more.items()}
    given = {
        "cluster.nodes": 8, "workload.kind": "sessions", "workload.duration_s": 7 * DAY_S,
        "workload.sessions.group": list(groups),
    }  # fmt: skip
    return scenario_from({}, "test", given | keys)


def holds_mean(sample: np.ndarray, mean: float) -> bool:
    return abs(sample.mean() - mean) < Z * sample.std(ddof=1) / math.sqrt(len(sample))


# ---- the rate and the load ----
ONE_HOUR = [1.0, *[0.0] * 23]
NIGHT = [*[3.0] * 8, *[1.0] * 16]


@pytest.mark.slow
@pytest.mark.parametrize(("daily", "hours", "more"), [
    (ONE_HOUR, 7 * 24, {}),
    (NIGHT, 7 * 24, {}),
    (NIGHT, 5, {"arrivals__starts_h": 1.0}),
    (ONE_HOUR, 5, {"arrivals__starts_h": 22.0}),
    (NIGHT, 60, {"arrivals__starts_h": 30.0, "arrivals__weekly": [1.0, 5.0, 1.0, 0.0, 1.0, 1.0, 1.0]}),
    (NIGHT, 30, {"arrivals__starts_h": 90.0, "arrivals__daily": [1.0, 0.0, 2.0]}),
    (NIGHT, 48, {"sessions__hold_back_s": 3600.0}),
])  # fmt: skip
def test_a_group_of_other_hours_leaves_the_rate_and_the_load_as_they_are(daily, hours, more):
    """Large sessions at some hours and small ones at all: of 60 draws the mean load is 0.6, and the rate of jobs is
    what that needs, within the interval that a false alarm in a million leaves."""
    groups = (
        {"daily": daily, "work_s": {"kind": "exponential", "mean": 1000.0}, "jobs": {"mean": 3.0}},
        {"work_s": {"kind": "exponential", "mean": 100.0}},
    )
    scenario = made(*groups, utilisation=0.6, duration_s=hours * HOUR_S, **more)
    rate = jobs_per_second(scenario)
    draws = [drawn_sessions(scenario, SEED + place, rate) for place in range(DRAWS)]
    counts = np.array([len(one.arrival_ms) for one in draws])
    loads = np.array([one.columns["cpu_ms"] @ one.columns["tasks"] for one in draws]) / (8 * hours * HOUR_S * 1000.0)
    assert loads.std(ddof=1) / math.sqrt(DRAWS) < 0.02
    assert holds_mean(loads, 0.6)
    assert holds_mean(counts / hours / HOUR_S, rate)


def test_means_are_those_of_the_window_by_hand():
    """From 10 to 15 h a group of mornings comes at twice its mean rate for two hours, one of all hours at its mean rate
    for five: 4 and 5 of 9 sessions. Work 4/9 * 90 + 5/9 * 9 = 45 s, jobs 4/9 * 2 + 5/9 = 13/9."""
    groups = ({"daily": [1.0, 0.0], "jobs": {"mean": 2.0}, "work_s": {"mean": 90.0}}, {"work_s": {"mean": 9.0}})
    part = made(*groups, utilisation=0.5, duration_s=5 * HOUR_S, arrivals__starts_h=10.0)
    assert session_means(part) == pytest.approx((13 / 9, 1.0, 45.0))
    # 8 nodes busy to a half: 4 CPU seconds per second.
    assert jobs_per_second(part) == pytest.approx(4.0 * 13 / 9 / 45.0)
    # Over whole days: half of each.
    assert session_means(made(*groups, utilisation=0.5)) == pytest.approx((1.5, 1.0, 49.5))


def test_the_days_of_the_week_count_in_a_window_by_hand():
    """From Monday noon to Tuesday noon, Tuesday at twice the rate. A group of mornings: 12 h at 2 * 2; the other one:
    12 h at 1 and 12 h at 2. So 48 and 36 of 84 sessions."""
    weekly = [1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    groups = ({"daily": [1.0, 0.0]}, {})
    more = {"duration_s": DAY_S, "arrivals__starts_h": 12.0, "arrivals__weekly": weekly}
    assert begins_of(made(*groups, jobs_per_s=1.0, **more).workload).shares == pytest.approx([4 / 7, 3 / 7])


def test_a_window_without_any_hour_of_a_session_has_each_group_by_its_share():
    """As the rate is then the same at all its instants."""
    groups = ({"daily": [1.0, 0.0], "share": 3.0}, {"daily": [1.0, 0.0]})
    for more in ({"starts_h": 13.0}, {"starts_h": 1.0, "weekly": [0.0, *[1.0] * 6]}):
        keys = {f"arrivals__{name}": value for name, value in more.items()}
        scenario = made(*groups, jobs_per_s=1.0, duration_s=HOUR_S, **keys)
        begins = begins_of(scenario.workload)
        assert begins.shares == pytest.approx([0.75, 0.25])
        assert len(drawn_sessions(scenario, 1, 1.0).arrival_ms) > 3000
        assert np.allclose(begins.rates[0], 3.0 * begins.rates[1])


# ---- hours ----
@pytest.mark.slow
def test_groups_come_at_their_hours_and_keep_their_shares():
    """Mornings 3:1 and, by workload.arrivals.daily, 1:3; shares of 2 and 1. Three quarters of 2/3 and a quarter of 1/3
    of the sessions begin in the morning."""
    groups = ({"daily": [3.0, 1.0], "share": 2.0}, {"widths": {"2": 1.0}})
    scenario = made(*groups, jobs_per_s=0.1, arrivals__daily=[1.0, 3.0])
    drawn = drawn_sessions(scenario, SEED, 0.1)
    is_second, is_morning = drawn.columns["tasks"] == 2.0, np.mod(drawn.arrival_ms / 1000.0, DAY_S) < DAY_S / 2
    counts = np.array([[np.sum((is_second == group) & (is_morning == half)) for half in (1, 0)] for group in (0, 1)])
    shares = np.array([[6.0, 2.0], [1.0, 3.0]]) / 12.0
    assert stats.chisquare(counts.ravel(), shares.ravel() * counts.sum()).pvalue > ALARM


def test_the_rates_of_one_group_are_its_own():
    """A group alone may have its hours, too, and workload.arrivals.daily is then not used."""
    scenario = made({"daily": [0.0, 1.0]}, jobs_per_s=0.001, arrivals__daily=[1.0, 0.0])
    at_s = np.mod(drawn_sessions(scenario, 1, 0.001).arrival_ms / 1000.0, DAY_S)
    assert len(at_s) > 400
    assert (at_s >= DAY_S / 2).all()
    unused = keys_without_effect(scenario)
    assert "workload.arrivals.daily" in unused
    assert "workload.sessions.group.0.daily" not in unused


@pytest.mark.parametrize(("groups", "is_unused"), [
    (({"daily": [1.0, 2.0]}, {"daily": [1.0]}), True), (({"daily": [1.0, 2.0]}, {}), False), (({}, {}), False),
])  # fmt: skip
def test_the_course_of_all_has_an_effect_where_a_group_has_none_of_its_own(groups, is_unused):
    one, other = (made(*groups, jobs_per_s=0.01, arrivals__daily=daily) for daily in ([1.0, 2.0], [2.0, 1.0]))
    assert ("workload.arrivals.daily" in keys_without_effect(one)) == is_unused
    assert (work_of(one, 1).jobs.tobytes() == work_of(other, 1).jobs.tobytes()) == is_unused


WEIGHTS = st.lists(st.floats(0.0, 1e12), min_size=1, max_size=60).filter(any).map(tuple)
OF_GROUPS = st.sampled_from([1, 2, 24, 36, 1440]).flatmap(lambda count: st.tuples(*[st.floats(0.0, 9.0)] * count))


@pytest.mark.slow
@given(
    WEIGHTS, st.lists(st.tuples(st.one_of(st.just(()), OF_GROUPS.filter(any)), st.floats(1e-3, 1e3)), min_size=1,
                      max_size=4), st.integers(1, 20), st.floats(0.0, 167.9),
)  # fmt: skip
def test_each_group_has_its_share_over_whole_days(daily, groups, days, starts_h):
    """Whatever courses are laid over each other."""
    tables = [{"daily": list(own), "share": share} for own, share in groups]
    scenario = made(
        *tables, jobs_per_s=1.0, duration_s=days * DAY_S, arrivals__daily=list(daily), arrivals__starts_h=starts_h
    )
    begins = begins_of(scenario.workload)
    wanted = np.array([share for _, share in groups])
    wanted /= wanted.sum()
    assert begins.rates.mean(axis=1) == pytest.approx(wanted)
    assert begins.shares == pytest.approx(wanted)
    assert begins.rates.min() >= 0.0


# ---- users who hold back, in windows that are no whole days ----
@pytest.mark.parametrize("days", [4.0, 4.5])
def test_sessions_that_are_put_off_keep_their_hour(days):
    """Open from 8 to 16 h: no session begins at another hour."""
    work_s = {"kind": "lognormal", "mean": 20_000.0, "sd": 90_000.0}
    keys = {"jobs_per_s": 0.0005, "duration_s": days * DAY_S, "arrivals__daily": [0.0, 1.0, 0.0]}
    free, held = (made({"work_s": work_s}, **keys, sessions__hold_back_s=one) for one in (0.0, 1800.0))
    times = [drawn_sessions(scenario, 3, 0.0005).arrival_ms / 1000.0 for scenario in (free, held)]
    assert len(times[0]) == len(times[1]) > 100
    assert (times[0] != times[1]).any()
    hours = np.mod(times[1], DAY_S) / HOUR_S
    assert ((hours >= 8.0) & (hours <= 16.0)).all()


@pytest.mark.parametrize(("duration_s", "is_unused"), [
    (600.0, True), (700.0, True), (DAY_S, True), (1.5 * DAY_S, False),
])  # fmt: skip
def test_no_session_is_put_off_where_there_is_no_later_day(duration_s, is_unused):
    """A session comes back to where it was: the key is named."""
    group = {"work_s": {"kind": "lognormal", "mean": 20_000.0, "sd": 90_000.0}}
    rate = 300.0 / duration_s
    held, free = (
        made(group, jobs_per_s=rate, duration_s=duration_s, sessions__hold_back_s=one, sessions__reference_load=3.0)
        for one in (1800.0, 0.0)
    )
    unused = keys_without_effect(held)
    assert ("workload.sessions.hold_back_s" in unused) == is_unused
    assert ("workload.sessions.reference_load" in unused) == is_unused
    assert (work_of(held, 1).jobs.tobytes() == work_of(free, 1).jobs.tobytes()) == is_unused
