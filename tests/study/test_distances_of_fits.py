"""Distances between draws and a log, by hand: pairs, shares of nodes, countable windows, laws and daily courses."""

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


def test_a_pair_holds_the_log_and_mean_least_and_largest_of_the_draws():
    draws = [jobs(range(count)) for count in (4, 1, 7)]
    assert distances._beside(jobs(range(5)), draws, lambda one: float(len(one))) == Pair(5.0, 4.0, 1.0, 7.0)


def test_a_key_that_a_draw_lacks_counts_0_and_a_key_that_the_log_lacks_is_left_out():
    log, *draws = ({"a": 0.5, "b": 0.25}, {"a": 0.75, "c": 1.0}, {"a": 0.25, "b": 0.5})
    found = distances._by_key(log, draws, lambda one: one)
    assert found == {"a": Pair(0.5, 0.5, 0.25, 0.75), "b": Pair(0.25, 0.25, 0.0, 0.5)}


def test_the_mean_of_no_draws_is_nan():
    assert distances._mean([1.0, 4.0]) == 2.5
    assert math.isnan(distances._mean([]))


def test_nan_and_infinity_are_none_in_the_document():
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
    """Jobs at nodes 0, 2, 2, 0 have CPU times 1, 2, 3, unknown and 1, 2, 1, 4 tasks: work 1, 4, 3 and 0 of 8."""
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
    # A window is at most an eighth of 800 s, holds 0.02 jobs on average (2/100 at 8 s), and lasts a tick at least.
    (100, 100.0, 1.0, True), (100, 100.1, 1.0, False), (100, 10.0, 10.0, True), (100, 10.0, 10.1, False),
    (2, 8.0, 1.0, True), (2, 7.9, 1.0, False),
])  # fmt: skip
def test_windows_in_which_jobs_can_be_counted(count, piece_s, resolution_s, is_countable):
    assert distances._countable(jobs(range(count), 800.0), piece_s, resolution_s) is is_countable


def test_repeats_need_more_than_two_hundred_jobs():
    """1 2 1 2 ...: the correlation of jobs one apart is -1, of jobs 10 and 100 apart it is 1."""
    column = np.tile([1.0, 2.0], 101)
    assert distances._apart(jobs(range(200), cpu_ms=column[:200])) == {}
    assert distances._apart(jobs(range(202), other=column)) == {}
    found = distances._apart(jobs(range(202), cpu_ms=column, memory_mb=column))
    assert found == {1: pytest.approx(-1.0), 10: pytest.approx(1.0), 100: pytest.approx(1.0)}


def test_hours_need_a_log_of_a_whole_day():
    """All jobs of two days come in the first hour: 24 times the mean. A log that begins at 1:00 has them in hour 1."""
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


def test_a_law_of_widths_is_a_step_function():
    """Of four jobs one has width 1, one 2 and two 8: mean (1 + 2 + 8 + 8)/4 = 19/4."""
    law = widths_law([(1, 2.0), (2, 2.0), (8, 4.0)])
    assert law.below(np.array([0.5, 1.0, 1.5, 2.0, 7.9, 8.0])).tolist() == [0.0, 0.25, 0.25, 0.5, 0.5, 1.0]
    assert law.mean == pytest.approx(19 / 4)


# ---- courses ----


def by_the_clock(days, of_day):
    """Arrivals of `of_day(day of the week, hour)` jobs in each hour of these days [s]."""
    return np.array([
        DAY * day + 3600.0 * hour + 10.0 * number
        for day in range(days) for hour in range(24) for number in range(of_day(day % 7, hour))
    ])  # fmt: skip


@pytest.mark.parametrize(("days", "daily", "weekly"), [
    # Three days show a daily course, three weeks a weekly one, and 20 days do not.
    (3, True, False), (20, True, False), (21, True, True),
])  # fmt: skip
def test_a_course_needs_three_days_or_three_weeks(days, daily, weekly):
    times = by_the_clock(days, lambda day, hour: (2 if hour >= 12 else 1) * (3 if day < 5 else 1))
    found = fit_course(times, days * DAY, {}, 0.0)
    assert (bool(found.daily), bool(found.weekly)) == (daily, weekly)
    if weekly:
        # Weights of days are 3 and 1, in all 17: 3 and 1 x 7/17. Hours after noon have twice the jobs: 4/3 and 2/3.
        assert found.weekly == pytest.approx([3 * 7 / 17] * 5 + [7 / 17] * 2, rel=1e-3)
        assert found.daily == pytest.approx([2 / 3] * 12 + [4 / 3] * 12, rel=1e-3)


def test_a_log_of_less_than_three_days_has_no_course():
    times = by_the_clock(3, lambda day, hour: 2 if hour >= 12 else 1)
    assert fit_course(times, 3 * DAY, {}, 0.0).daily
    assert fit_course(times[times < 2.99 * DAY], 2.99 * DAY, {}, 0.0) == ((), (), 0.0, "")


def test_equal_hours_are_no_course():
    found = fit_course(by_the_clock(21, lambda day, hour: 2), 21 * DAY, {}, 0.0)
    assert (found.daily, found.weekly) == ((), ())
