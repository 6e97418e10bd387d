"""The parts of a fit to a log by hand: widths, ranks, courses, the work of a job, and policies ranked on both."""

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
    # Of 2 a third goes to 4 and the rest to 1; of 5 a quarter to 8: 10 + 2/3, 6 + 1/3 + 3/4, 5 + 1/4.
    (4, {"1": 10 + 2 / 3, "4": 6 + 1 / 3 + 3 / 4, "8": 5.25}),
    # Only the ends: a width w goes by (8 - w)/7 to 1 and the rest to 8: 2 by 6/7, 4 by 4/7, 5 by 3/7.
    (2, {"1": 10 + (6 + 6 * 4 + 3) / 7, "8": 5 + (1 + 6 * 3 + 4) / 7}),
    (5, {"1": 10, "2": 1, "4": 6, "5": 1, "8": 5}), (40, {"1": 10, "2": 1, "4": 6, "5": 1, "8": 5}),
])  # fmt: skip
def test_rare_widths_go_to_the_two_nearest(most, kept):
    tasks = np.repeat([1.0, 2.0, 4.0, 5.0, 8.0], [10, 1, 6, 1, 5])
    found = fit_widths(tasks, most)
    assert found == pytest.approx(kept)
    assert list(found) == list(kept)
    # Their number and their mean stay.
    assert sum(found.values()) == pytest.approx(23)
    assert sum(int(width) * count for width, count in found.items()) == pytest.approx(tasks.sum())


def test_the_distance_of_a_law_is_the_larger_of_both_sides_of_each_step():
    """A law even from 0 to 4, and a sample of 1, 1, 2, 4: F is 1/4, 1/2, 1; the sample goes to 1/2, 3/4, 1."""
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
    # Rows that lack one are left out; of fewer than three, or a constant, nothing is known.
    ([1, 2, NAN, 3, 4], [2, 1, 7, 9, 5], 0.6), ([1, 2, 3, 4], [2, 1, NAN, NAN], NAN), ([1, 2, 3], [1, 2, 4], 1.0),
    ([1, 1, 1, 1], [1, 2, 3, 4], NAN), ([1, 2, 3, 4], [5, 5, 5, 5], NAN),
])  # fmt: skip
def test_a_rank_correlation(first, second, found):
    assert spearman(np.array(first, float), np.array(second, float)) == pytest.approx(found, nan_ok=True)


def test_rank_correlations_are_of_all_pairs_that_vary():
    rising, constant = np.arange(5.0), np.ones(5)
    found = rank_correlations({"cpu_ms": rising, "io_per_ms": -rising, "memory_mb": constant, "homes": rising})
    assert found == {"cpu_ms,io_per_ms": pytest.approx(-1.0)}


def test_how_alike_jobs_are_with_those_before():
    """1 2 1 2 ...: one apart always the other one, two apart the same; a column that does not vary says nothing."""
    column = np.tile([1.0, 2.0], 6)
    assert autocorrelations([column], (1, 2)) == pytest.approx([-1.0, 1.0])
    assert autocorrelations([column, np.ones(12)], (1, 2)) == pytest.approx([-1.0, 1.0])
    # 1 2 3 four times: around their mean -1 0 1, of variance 2/3. Of 11 products one job apart three are -1, so
    # -3/11/(2/3) = -9/22; of 10 two jobs apart four are -1, so -4/10/(2/3) = -3/5. Each is averaged with -1 and 1.
    by_threes = np.tile([1.0, 2.0, 3.0], 4)
    assert autocorrelations([column, by_threes], (1, 2)) == pytest.approx([-31 / 44, 1 / 5])
    # Jobs that lack the value are left out; of fewer than twice the lag nothing is known.
    assert autocorrelations([np.insert(column, 3, NAN)], (1, 2)) == pytest.approx([-1.0, 1.0])
    assert autocorrelations([column], (1, 6)).tolist() == [0.0, 0.0]


# ---- counts ----


def test_windows_are_halves_of_the_eighth_part():
    """From an eighth of 800 s down to ten ticks, or to a fiftieth of a job, whichever is longer."""
    assert windows_of(800.0, 1000, 1.0) == pytest.approx([12.5, 25.0, 50.0, 100.0])
    assert windows_of(800.0, 1000, 0.0)[0] == pytest.approx(100 / 2**12)
    assert windows_of(800.0, 1000, 0.1) == pytest.approx([100 / 2**place for place in range(6, -1, -1)])
    # Where even that is too short there is one.
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
    # A hundred pieces: chi-square of 99 over 99 is about within 0.57 and 1.57 but for a thousandth.
    ([1.0, 1.0], True), ([0.8, 1.2], True), ([1.0, 1.8], False), ([0.4, 1.0], False), ([1.8, 1.0], False),
])  # fmt: skip
def test_what_lies_in_a_poisson_process_interval(found, is_one):
    assert is_poisson(found, [1.0, 1.0], 100.0) is is_one


# ---- courses ----


def test_jobs_by_hour_over_the_time_there_is_of_it():
    """From 22:30 on for three hours: half an hour of 22 and of 1, whole ones of 23 and 0; two jobs in each of them."""
    times = np.array([0.1, 0.4, 0.6, 1.4, 1.6, 2.4, 2.6, 2.9]) * HOUR
    found = hourly(times, 3 * HOUR, 22.5)
    expected = np.zeros(24)
    # Of 8/3 jobs an hour in the mean: 4 and 2.
    expected[[22, 1]], expected[[23, 0]] = 1.5, 0.75
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(("begin_s", "hours"), [(0.0, 0.0), (26 * HOUR, 26.0), (169.5 * HOUR, 1.5), (168 * HOUR, 0.0)])
def test_a_log_without_a_header_has_its_own_week(begin_s, hours):
    for header in ({}, {"TimeZoneString": "Europe/Rome"}, {"TimeZoneString": "no/where", "UnixStartTime": "0"},
                   {"TimeZoneString": "UTC", "UnixStartTime": "then"}):  # fmt: skip
        found, words = _begin(header, begin_s)
        assert found == pytest.approx(hours)
        assert "does not say" in words


def test_a_log_begins_at_the_hour_of_its_zone():
    """2000-01-03 was a Monday: 946,857,600 s in Greenwich; 10:20:30 later in Rome is 11:20:30 of that day."""
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
def test_arrivals_as_the_workload_has_them(bursts, course, found):
    assert fitting._arrivals(bursts, course) == found


# ---- the load of a log ----


def log_of(columns, window_s=100.0, homes=None, work_ms=0.0):
    jobs = SimpleNamespace(columns=columns, homes=homes, window_s=window_s, work_ms=work_ms)
    return SimpleNamespace(file="log.csv", jobs=jobs)


@pytest.mark.parametrize(("work_s", "nodes"), [(140.0, 2), (139.0, 2), (141.0, 3), (1.0, 1), (0.0, 1)])
def test_the_nodes_that_a_log_keeps_busy_to_seven_tenths(work_s, nodes):
    """In 100 s two nodes have 140 s of work at 0.7; one there is at least."""
    assert fitting.nodes_for(log_of({"cpu_ms": np.ones(3)}, work_ms=1000.0 * work_s)) == nodes


def test_nodes_are_not_counted_where_the_log_says_its_homes_or_no_times():
    assert fitting.nodes_for(log_of({"cpu_ms": np.ones(3)}, homes=np.zeros(3), work_ms=1e5)) is None
    assert fitting.nodes_for(log_of({"tasks": np.ones(3)}, work_ms=1e5)) is None


def test_what_a_log_lacks_is_said():
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


# ---- policies on both ----


def test_policies_are_ranked_on_both_unless_there_is_nothing_to_compare(monkeypatch):
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
