"""Parts of a fit to a log, by hand: widths, ranks, counts, daily courses, load, and policies ranked on log and fit."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from support import scenario
from test_sentences_of_comparisons import comparison

from cluster_abm.study.fitting import fit as fitting
from cluster_abm.study.fitting import rankings
from cluster_abm.study.fitting.counts import Bursts, dispersion, is_poisson, windows_of
from cluster_abm.study.fitting.courses import Course, _begin, hourly
from cluster_abm.study.fitting.joint import autocorrelations, rank_correlations, spearman
from cluster_abm.study.fitting.marginals import Quantiles, distance, fit_widths, sample_of

NAN = math.nan
HOUR = 3600.0

# ---- widths ----


@pytest.mark.parametrize(("most", "kept"), [
    # Rare widths 2 and 5 go to their neighbours so that the mean stays: 2 = 2/3 x 1 + 1/3 x 4, 5 = 3/4 x 4 + 1/4 x 8.
    (4, {"1": 10 + 2 / 3, "4": 6 + 1 / 3 + 3 / 4, "8": 5.25}),
    # With two widths only the ends stay. Of a width w the share (8 - w)/7 goes to 1: 6/7 of 2, 4/7 of 4, 3/7 of 5.
    (2, {"1": 10 + (6 + 6 * 4 + 3) / 7, "8": 5 + (1 + 6 * 3 + 4) / 7}),
    (5, {"1": 10, "2": 1, "4": 6, "5": 1, "8": 5}), (40, {"1": 10, "2": 1, "4": 6, "5": 1, "8": 5}),
])  # fmt: skip
def test_rare_widths_go_to_the_two_nearest(most, kept):
    tasks = np.repeat([1.0, 2.0, 4.0, 5.0, 8.0], [10, 1, 6, 1, 5])
    found = fit_widths(tasks, most)
    assert found == pytest.approx(kept)
    assert list(found) == list(kept)
    # The number of jobs and of tasks stays.
    assert sum(found.values()) == pytest.approx(23)
    assert sum(int(width) * count for width, count in found.items()) == pytest.approx(tasks.sum())


def test_the_distance_to_a_law_is_taken_on_both_sides_of_each_step():
    """A uniform law from 0 to 4, and the sample 1, 1, 2, 4: F is 1/4, 1/2, 1 and the sample rises to 1/2, 3/4, 1."""
    law = Quantiles((0.0, 4.0), (0.0, 1.0))
    sample = sample_of(np.array([4.0, 1.0, 2.0, 1.0]))
    assert sample.values.tolist() == [1.0, 2.0, 4.0]
    assert (sample.below.tolist(), sample.upto.tolist()) == ([0.0, 0.5, 0.75], [0.5, 0.75, 1.0])
    assert sample.mean == 2.0
    assert distance(law, sample) == pytest.approx([0.25, 0.25, 0.25])


# ---- ranks ----


@pytest.mark.parametrize(("first", "second", "found"), [
    ([1, 2, 3, 4], [10, 20, 30, 41], 1.0), ([1, 2, 3, 4], [4, 3, 2, 1], -1.0),
    # Ranks 1 to 4 and 2, 1, 4, 3: 1 - 6 x 4/(4 x 15).
    ([1, 2, 3, 4], [2, 1, 9, 5], 0.6),
    # Rows that lack a value are left out. Fewer than three rows or a constant column have no correlation.
    ([1, 2, NAN, 3, 4], [2, 1, 7, 9, 5], 0.6), ([1, 2, 3, 4], [2, 1, NAN, NAN], NAN), ([1, 2, 3], [1, 2, 4], 1.0),
    ([1, 1, 1, 1], [1, 2, 3, 4], NAN), ([1, 2, 3, 4], [5, 5, 5, 5], NAN),
])  # fmt: skip
def test_a_rank_correlation(first, second, found):
    assert spearman(np.array(first, float), np.array(second, float)) == pytest.approx(found, nan_ok=True)


def test_rank_correlations_are_of_all_pairs_that_vary():
    rising, constant = np.arange(5.0), np.ones(5)
    found = rank_correlations({"cpu_ms": rising, "io_per_ms": -rising, "memory_mb": constant, "homes": rising})
    assert found == {"cpu_ms,io_per_ms": pytest.approx(-1.0)}


def test_autocorrelations_of_periodic_columns():
    """1 2 1 2 ...: -1 for jobs one apart, 1 for jobs two apart. A constant column does not count."""
    column = np.tile([1.0, 2.0], 6)
    assert autocorrelations([column], (1, 2)) == pytest.approx([-1.0, 1.0])
    assert autocorrelations([column, np.ones(12)], (1, 2)) == pytest.approx([-1.0, 1.0])
    # 1 2 3 four times: around their mean -1 0 1, of variance 2/3. Of 11 products one job apart three are -1, so
    # -3/11/(2/3) = -9/22; of 10 two jobs apart four are -1, so -4/10/(2/3) = -3/5. Each is averaged with -1 and 1.
    by_threes = np.tile([1.0, 2.0, 3.0], 4)
    assert autocorrelations([column, by_threes], (1, 2)) == pytest.approx([-31 / 44, 1 / 5])
    # Jobs that lack the value are left out. Twice as many jobs as the lag are not enough: 0.
    assert autocorrelations([np.insert(column, 3, NAN)], (1, 2)) == pytest.approx([-1.0, 1.0])
    assert autocorrelations([column], (1, 6)).tolist() == [0.0, 0.0]


# ---- counts ----


def test_windows_halve_from_an_eighth_of_the_log():
    """They go from 100 s down to ten ticks, or to 0.02 jobs per window (0.016 s), whichever is longer."""
    assert windows_of(800.0, 1000, 1.0) == pytest.approx([12.5, 25.0, 50.0, 100.0])
    assert windows_of(800.0, 1000, 0.0)[0] == pytest.approx(100 / 2**12)
    assert windows_of(800.0, 1000, 0.1) == pytest.approx([100 / 2**place for place in range(6, -1, -1)])
    # If an eighth is already shorter than ten ticks, it is the only window.
    assert windows_of(800.0, 1000, 20.0) == [100.0]


def test_the_dispersion_of_jobs_in_pairs():
    """Two jobs at 9 s, 29 s ...: counts in pieces of 10 s, over six places at which the pieces may begin.

    From 0 s there are ten pieces, 2 0 2 0 ...: mean 1, variance 10/9. From the five later places there are nine,
    2 0 ... 2: mean 10/9, variance (20 - 9 x 100/81)/8 = 10/9, quotient 1. In all (10/9 + 5)/6.
    """
    times = np.repeat(np.arange(10) * 20.0 + 9.0, 2)
    assert dispersion(times, 100.0, 10.0) == pytest.approx(55 / 54)
    assert math.isnan(dispersion(np.array([]), 100.0, 10.0))
    assert math.isnan(dispersion(times, 100.0, 60.0))


@pytest.mark.parametrize(("found", "is_one"), [
    # For a hundred windows chi-square(99)/99 lies within about 0.6 and 1.5 in all but a thousandth of the cases.
    ([1.0, 1.0], True), ([0.8, 1.2], True), ([1.0, 1.8], False), ([0.4, 1.0], False), ([1.8, 1.0], False),
])  # fmt: skip
def test_dispersions_near_one_are_poisson(found, is_one):
    assert is_poisson(found, [1.0, 1.0], 100.0) is is_one


# ---- courses ----


def test_jobs_of_an_hour_are_divided_by_the_time_that_the_log_covers():
    """A log of three hours from 22:30 on has half of hours 22 and 1, all of hours 23 and 0, and two jobs in each."""
    times = np.array([0.1, 0.4, 0.6, 1.4, 1.6, 2.4, 2.6, 2.9]) * HOUR
    found = hourly(times, 3 * HOUR, 22.5)
    expected = np.zeros(24)
    # Half hours have 4 jobs per hour, whole ones 2, over a mean of 8/3.
    expected[[22, 1]], expected[[23, 0]] = 1.5, 0.75
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(("begin_s", "hours"), [(0.0, 0.0), (26 * HOUR, 26.0), (169.5 * HOUR, 1.5), (168 * HOUR, 0.0)])
def test_a_log_without_a_known_start_begins_its_week_at_zero(begin_s, hours):
    for header in ({}, {"TimeZoneString": "Europe/Rome"}, {"TimeZoneString": "no/where", "UnixStartTime": "0"},
                   {"TimeZoneString": "UTC", "UnixStartTime": "then"}):  # fmt: skip
        found, words = _begin(header, begin_s)
        assert found == pytest.approx(hours)
        assert "does not say" in words


def test_a_log_begins_at_the_hour_of_its_zone():
    """946,857,600 s is Monday 2000-01-03, 0:00 in Greenwich and 1:00 in Rome; 34:20:30 later it is Tuesday 11:20:30."""
    header = {"TimeZoneString": "Europe/Rome", "UnixStartTime": "946857600"}
    found, words = _begin(header, 24 * HOUR + 10 * HOUR + 20 * 60 + 30)
    assert found == pytest.approx(24 + 11 + 20 / 60 + 30 / 3600)
    assert words == "Europe/Rome, the first day of weekly being Monday"


@pytest.mark.parametrize(("bursts", "course", "found"), [
    (Bursts(), Course(), {"kind": "poisson"}),
    (Bursts(2.5, 0.5), Course(), {"kind": "poisson", "batch_mean": 2.5, "batch_gap_s": 0.5}),
    (Bursts(1.0, 0.0, (2.0,), (0.5,)), Course(), {"kind": "multiscale", "scales_s": [2.0], "variations": [0.5]}),
    (Bursts(), Course((1.0, 2.0), (), 3.0), {"kind": "poisson", "daily": [1.0, 2.0], "starts_h": 3.0}),
    (Bursts(), Course((), (1.0, 2.0), 3.0), {"kind": "poisson", "weekly": [1.0, 2.0], "starts_h": 3.0}),
])  # fmt: skip
def test_bursts_and_courses_as_settings_of_arrivals(bursts, course, found):
    assert fitting._arrivals(bursts, course) == found


# ---- the load of a log ----


def log_of(columns, window_s=100.0, homes=None, work_ms=0.0):
    jobs = SimpleNamespace(columns=columns, homes=homes, window_s=window_s, work_ms=work_ms)
    return SimpleNamespace(file="log.csv", jobs=jobs)


@pytest.mark.parametrize(("work_s", "nodes"), [(140.0, 2), (139.0, 2), (141.0, 3), (1.0, 1), (0.0, 1)])
def test_a_log_gets_the_nodes_that_it_loads_to_seventy_per_cent(work_s, nodes):
    """In 100 s two nodes do 140 s of work at a load of 0.7. The least number is 1."""
    assert fitting.nodes_for(log_of({"cpu_ms": np.ones(3)}, work_ms=1000.0 * work_s)) == nodes


def test_a_log_with_homes_or_without_cpu_times_gives_no_number_of_nodes():
    assert fitting.nodes_for(log_of({"cpu_ms": np.ones(3)}, homes=np.zeros(3), work_ms=1e5)) is None
    assert fitting.nodes_for(log_of({"tasks": np.ones(3)}, work_ms=1e5)) is None


def test_missing_columns_of_a_log_are_reported():
    columns = {"cpu_ms": np.array([1.0, NAN, 3.0, 4.0]), "tasks": np.full(4, 2.0)}
    lines = list(fitting._missing(log_of(columns)))
    assert lines == [
        "not in the log, as the base scenario has it: memory_mb, io_per_ms",
        "cpu_ms: 25.0% of the jobs lack it; fitted to the others", "tasks: the same for all jobs, 2",
        "homes: not in the log, as the base scenario has them",
    ]  # fmt: skip
    rising = np.arange(1.0, 5.0)
    whole = dict.fromkeys(("cpu_ms", "memory_mb", "io_per_ms", "tasks"), rising)
    assert list(fitting._missing(log_of(whole, homes=np.zeros(4)))) == []


# ---- policies on log and fit ----


def test_policies_are_ranked_on_log_and_fit_unless_one_of_them_has_no_seed(monkeypatch):
    log, fitted = scenario(), scenario(cluster__nodes=5)
    whole, nothing = comparison({"a": [1.0, 2.0]}), comparison({"a": [1.0, 2.0]})
    object.__setattr__(nothing, "seeds", ())
    stopped = SimpleNamespace(outcome=SimpleNamespace(interrupted=True), seeds=())

    def ranked(*found):
        left, asked = list(found), []

        def compare(setup, policies, seeds, workers=None):
            asked.append((setup, policies, seeds, workers))
            return left.pop(0)

        monkeypatch.setattr(rankings, "compare", compare)
        return rankings.rank_on_both(log, fitted, ["a"], 3, 1), asked

    found, asked = ranked(whole, whole)
    assert (found.log, found.fitted) == (whole, whole)
    assert asked == [(log, ["a"], 3, 1), (fitted, ["a"], 3, 1)]
    assert ranked(nothing, whole)[0] is None
    assert ranked(whole, nothing)[0] is None
    # After an interrupt the other comparison is not begun.
    found, asked = ranked(stopped)
    assert (found, len(asked)) == (None, 1)
