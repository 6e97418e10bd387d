"""How far draws are from a log, by hand: pairs of numbers, shares of nodes, windows that can be counted, courses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cluster_abm.scenario.distributions import Distribution
from cluster_abm.study.fitting import distances
from cluster_abm.study.fitting.courses import fit_course
from cluster_abm.study.fitting.distances import Distances, Pair, as_quantiles, hours_of, widths_law
from cluster_abm.study.fitting.log import Jobs

NAN = math.nan
DAY = 86_400.0


def jobs(times=(0.0,), window_s=100.0, homes=None, **columns):
    values = {name: np.array(column, float) for name, column in columns.items()}
    return Jobs(np.array(times, float), window_s, values, None if homes is None else np.array(homes))


# ---- pairs ----


def test_a_number_of_the_log_is_beside_mean_least_and_largest_of_the_draws():
    draws = [jobs(range(count)) for count in (4, 1, 7)]
    assert distances._beside(jobs(range(5)), draws, lambda one: float(len(one))) == Pair(5.0, 4.0, 1.0, 7.0)


def test_what_a_draw_lacks_is_0_and_what_the_log_lacks_is_left_out():
    log, *draws = ({"a": 0.5, "b": 0.25}, {"a": 0.75, "c": 1.0}, {"a": 0.25, "b": 0.5})
    found = distances._by_key(log, draws, lambda one: one)
    assert found == {"a": Pair(0.5, 0.5, 0.25, 0.75), "b": Pair(0.25, 0.25, 0.0, 0.5)}


def test_a_mean_of_no_draws_is_not_known():
    assert distances._mean([1.0, 4.0]) == 2.5
    assert math.isnan(distances._mean([]))


def test_what_is_no_number_is_none_in_the_document():
    pair = Pair(1.0, NAN, math.inf, 2.0)
    columns = {"cpu_ms": 0.5}, {"cpu_ms": NAN}, {"cpu_ms": 1.0}
    found = Distances((3, 4), *columns, {60.0: pair}, {"a,b": pair}, {10: pair}, {0: pair}, {}, pair, pair).as_json()
    plain = {"log": 1.0, "model": None, "low": None, "high": 2.0}
    assert found == {
        "seeds": [3, 4], "columns": {"cpu_ms": {"ks_law": 0.5, "ks_drawn": None, "mean_ratio": 1.0}},
        "dispersions": {"60": plain}, "correlations": {"a,b": plain}, "repeats": {"10": plain},
        "homes": {"0": plain},
        "homes_cpu": {}, "jobs": plain, "work_ms": plain,
    }  # fmt: skip


# ---- nodes ----


def test_shares_of_nodes_in_jobs_and_in_work():
    """Jobs at nodes 0, 2, 2 and 0: CPU times 1, 2, 3 and none, of 1, 2, 1 and 4 tasks: 1, 4 and 3 of 8."""
    log = jobs(range(4), homes=[0, 2, 2, 0], cpu_ms=[1.0, 2.0, 3.0, NAN], tasks=[1, 2, 1, 4])
    assert distances._by_home(log, np.ones(4)) == {0: 0.5, 1: 0.0, 2: 0.5}
    assert distances._work_of(log).tolist() == [1.0, 4.0, 3.0, 0.0]
    assert distances._by_home(log, distances._work_of(log)) == {0: 0.125, 1: 0.0, 2: 0.875}
    assert log.work_ms == 8.0


def test_without_homes_or_work_there_are_no_shares():
    assert distances._by_home(jobs(range(4)), np.ones(4)) == {}
    assert distances._by_home(jobs(range(2), homes=[0, 1]), np.zeros(2)) == {}
    assert distances._work_of(jobs(range(3), tasks=[1, 2, 3])).tolist() == [0.0, 0.0, 0.0]
    assert distances._work_of(jobs(range(2), cpu_ms=[1.0, 2.0])).tolist() == [1.0, 2.0]


# ---- windows ----


@pytest.mark.parametrize(("count", "piece_s", "resolution_s", "is_countable"), [
    # Eight windows at least, 0.02 jobs in each in the mean, and no shorter than a tick.
    (100, 100.0, 1.0, True), (100, 100.1, 1.0, False), (100, 10.0, 10.0, True), (100, 10.0, 10.1, False),
    (2, 8.0, 1.0, True), (2, 7.9, 1.0, False),
])  # fmt: skip
def test_windows_that_can_be_counted(count, piece_s, resolution_s, is_countable):
    assert distances._countable(jobs(range(count), 800.0), piece_s, resolution_s) is is_countable


def test_repeats_are_looked_for_where_there_are_jobs_enough():
    """Two hundred jobs and one; a column that goes to and fro is turned round by one, and the same by 10 and by 100."""
    column = np.tile([1.0, 2.0], 101)
    assert distances._apart(jobs(range(200), cpu_ms=column[:200])) == {}
    assert distances._apart(jobs(range(202), other=column)) == {}
    found = distances._apart(jobs(range(202), cpu_ms=column, memory_mb=column))
    assert found == {1: pytest.approx(-1.0), 10: pytest.approx(1.0), 100: pytest.approx(1.0)}


def test_hours_are_of_a_whole_day_at_least():
    """Jobs of the first hour of two alone: 24 times the mean; an hour later in the week it is the second."""
    log = jobs([10.0, 20.0, DAY + 30.0], 2 * DAY)
    assert hours_of(log, 0.0).tolist() == pytest.approx([24.0] + [0.0] * 23)
    assert hours_of(log, 25.0).tolist() == pytest.approx([0.0, 24.0] + [0.0] * 22)
    assert hours_of(jobs([10.0], DAY), 0.0)[0] == pytest.approx(24.0)
    assert np.isnan(hours_of(jobs([10.0], DAY - 1.0), 0.0)).all()


# ---- laws ----


def test_a_fixed_law_is_a_step():
    law = as_quantiles(Distribution(kind="fixed", mean=3.0))
    assert law.below(np.array([2.9, 3.0, 3.1])).tolist() == [0.0, 1.0, 1.0]
    assert law.below(np.array([3.0]), or_equal=False).tolist() == [0.0]


def test_widths_are_steps_of_their_shares():
    """One of four jobs has width 1, one 2, two have 8: mean 19/4."""
    law = widths_law([(1, 2.0), (2, 2.0), (8, 4.0)])
    assert law.below(np.array([0.5, 1.0, 1.5, 2.0, 7.9, 8.0])).tolist() == [0.0, 0.25, 0.25, 0.5, 0.5, 1.0]
    assert law.mean == pytest.approx(19 / 4)


# ---- courses ----


def by_the_clock(days, of_day):
    """So many jobs in each hour, every day alike but for the day of the week."""
    return np.array([
        DAY * day + 3600.0 * hour + 10.0 * number
        for day in range(days) for hour in range(24) for number in range(of_day(day % 7, hour))
    ])  # fmt: skip


@pytest.mark.parametrize(("days", "daily", "weekly"), [
    # Three days show a course of the day, three weeks one of the week; a moment less does not.
    (3, True, False), (20, True, False), (21, True, True),
])  # fmt: skip
def test_so_long_a_log_shows_a_course(days, daily, weekly):
    times = by_the_clock(days, lambda day, hour: (2 if hour >= 12 else 1) * (3 if day < 5 else 1))
    found = fit_course(times, days * DAY, {}, 0.0)
    assert (bool(found.daily), bool(found.weekly)) == (daily, weekly)
    if weekly:
        # Of 17 in seven days 3 and 1; of an hour after noon twice as many as before.
        assert found.weekly == pytest.approx([3 * 7 / 17] * 5 + [7 / 17] * 2, rel=1e-3)
        assert found.daily == pytest.approx([2 / 3] * 12 + [4 / 3] * 12, rel=1e-3)


def test_a_log_of_less_than_three_days_shows_none():
    times = by_the_clock(3, lambda day, hour: 2 if hour >= 12 else 1)
    assert fit_course(times, 3 * DAY, {}, 0.0).daily
    assert fit_course(times[times < 2.99 * DAY], 2.99 * DAY, {}, 0.0) == ((), (), 0.0, "")


def test_hours_that_are_alike_show_none():
    found = fit_course(by_the_clock(21, lambda day, hour: 2), 21 * DAY, {}, 0.0)
    assert (found.daily, found.weekly) == ((), ())
