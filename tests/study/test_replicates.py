"""Seeds that are draws of one log: intervals by the spread of the draws, and what a comparison says of them."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from studies import study, study_path

from cluster_abm import compare, load_scenario
from cluster_abm.errors import InputError
from cluster_abm.study.comparison_words import resample_hint
from cluster_abm.study.design.expansion import expand
from cluster_abm.study.design.study_file import load_study
from cluster_abm.study.report.findings import find
from cluster_abm.study.statistics.bounds import Bounds
from cluster_abm.study.statistics.estimates import estimate, standard_error
from cluster_abm.study.statistics.gap import share_of_gap
from cluster_abm.study.statistics.needed import seeds_needed
from cluster_abm.study.statistics.paired import corrected, paired
from cluster_abm.study.tuning.tune import judgement_of
from cluster_abm.workload import work_of

# Student's t of 3 degrees of freedom at 97.5 % (tables).
T3 = 3.182446
WEEK_MS = 604_800_000
SAMPLES = st.lists(st.floats(0.1, 100.0), min_size=2, max_size=12)


def test_an_interval_by_hand():
    """Of 2, 4, 6, 8: mean 5, deviation sqrt(20/3); the error is sqrt(20/3) sqrt(1 + 1/4) = sqrt(25/3)."""
    arm = T3 * math.sqrt(25 / 3)
    found = estimate([2.0, 4.0, 6.0, 8.0], are_replicates=True)
    assert found.mean == 5.0
    assert found.ci95 == pytest.approx((5 - arm, 5 + arm), rel=1e-6)
    # Kept above 0 on the scale of the logarithm.
    kept = estimate([2.0, 4.0, 6.0, 8.0], Bounds(0.0), are_replicates=True)
    assert kept.ci95 == pytest.approx((5 * math.exp(-arm / 5), 5 * math.exp(arm / 5)), rel=1e-6)


def test_more_draws_do_not_narrow_it():
    """The error of n draws goes to their deviation; that of a mean goes to 0."""
    draws = np.random.default_rng(1).normal(10.0, 2.0, 40_000)
    assert standard_error(draws, are_replicates=True) == pytest.approx(2.0, rel=0.02)
    assert standard_error(draws) == pytest.approx(0.01, rel=0.02)


@pytest.mark.slow
def test_it_holds_the_mean_of_the_law_that_the_sample_is_from():
    """2,000 samples of 60 normal values, each drawn anew ten times with replacement; the statistic is the mean.

    Coverage by theory: the deviation of draws is low by sqrt(59/60), so 94.6 %, with a standard error of 0.5 %.
    Student's interval of the mean of ten draws holds 0 with P(|T9| < 2.262/sqrt(11)) = 49 %.
    """
    random, both = np.random.default_rng(7), []
    for _ in range(2000):
        sample = random.normal(size=60)
        draws = sample[random.integers(60, size=(10, 60))].mean(axis=1).tolist()
        intervals = [estimate(draws, are_replicates=are).ci95 for are in (True, False)]
        both.append([low <= 0.0 <= high for low, high in filter(None, intervals)])
    covered, naive = np.mean(both, axis=0)
    assert abs(covered - 0.946) < 0.02
    assert abs(naive - 0.49) < 0.05


@pytest.mark.slow
@given(SAMPLES, st.floats(0.5, 2.0), st.randoms())
def test_pairs_are_tested_by_the_spread(values, factor, random):
    other = [value * factor * random.uniform(0.8, 1.25) for value in values]
    plain, found = paired(values, other), paired(values, other, are_replicates=True)
    assert found.ratio == plain.ratio
    assert found.difference.mean == plain.difference.mean
    assert plain.tested is not None
    assert found.tested is not None
    assert found.tested.error == pytest.approx(plain.tested.error * math.sqrt(len(values) + 1))
    assert found.p_value >= plain.p_value
    for pair in (found, corrected({"pair": found})["pair"]):
        assert pair.ratio_ci95 is not None
        assert (pair.ratio_ci95[0] <= 1.0 <= pair.ratio_ci95[1]) == (not pair.significant)


def test_a_pair_by_hand():
    """Logarithms of the ratios are 1, 2, 3: mean 2, deviation 1, error sqrt(4/3); t = 2/sqrt(4/3) = sqrt(3) with 2."""
    b = [1.0, 1.0, 1.0]
    found = paired([math.e, math.e**2, math.e**3], b, are_replicates=True)
    # Student's t with two degrees of freedom: p = 1 - t / sqrt(2 + t^2).
    assert found.p_value == pytest.approx(1 - math.sqrt(3 / 5))
    assert found.significant is False
    # As the seeds of drawn jobs the same values are significant: t = 2 sqrt(3).
    assert paired([math.e, math.e**2, math.e**3], b).p_value == pytest.approx(1 - math.sqrt(12 / 14))
    # Differences: Student's, of the draws.
    values = np.array([math.e, math.e**2, math.e**3]) - 1.0
    arm = 4.302653 * values.std(ddof=1) * math.sqrt(4 / 3)
    assert found.difference.ci95 == pytest.approx((values.mean() - arm, values.mean() + arm), rel=1e-6)


def test_no_number_of_draws_shows_more():
    found = paired([2.0, 4.0, 3.0], [1.0, 3.9, 4.0], are_replicates=True)
    assert found.tested is not None
    assert seeds_needed(found.tested) is None
    assert seeds_needed(found.tested._replace(are_replicates=False)) is not None


def test_a_share_of_the_gap_by_hand():
    """A gap of 10 on every draw: Fieller's interval is that of the mean of (10 - value)/10."""
    values = [2.0, 4.0, 6.0, 8.0]
    found = share_of_gap([10.0] * 4, values, [0.0] * 4, are_replicates=True)
    assert found is not None
    arm = T3 * math.sqrt(25 / 3) / 10
    assert found.ci95 == pytest.approx((0.5 - arm, 0.5 + arm), rel=1e-6)


def test_a_search_is_judged_by_the_spread():
    plain, drawn = (judgement_of((1, 2, 3), (2.0, 4.0, 3.0), (1.0, 3.0, 2.5), are) for are in (False, True))
    widths = [math.log(one.ratio.high / one.ratio.low) for one in (plain, drawn)]
    assert widths[1] == pytest.approx(2 * widths[0])
    assert drawn.pair.p_value > plain.pair.p_value


# Six weeks in steps of a minute.
COARSE = {"cluster.slice_ms": 60_000.0, "cluster.exchange_period_ms": 3.6e6, "measure.period_ms": 1e9}


def of_log(tmp_path, rows, head="arrival_ms,cpu_ms,user", **more):
    path = tmp_path / "jobs.csv"
    path.write_text("\n".join([head, *rows]) + "\n")
    return load_scenario("replay", {"workload.trace.file": str(path), "cluster.nodes": 2, **COARSE, **more})


def weekly(weeks=6):
    """Three jobs of each of two users in each week, of unlike lengths."""
    return [
        f"{week * WEEK_MS + at},{100 * (1 + (7 * week + at) % 5) * (1 + week % 3)},u{at % 2}"
        for week in range(weeks)
        for at in range(6)
    ]


@pytest.mark.slow
def test_what_a_comparison_of_draws_says(tmp_path):
    drawn = of_log(tmp_path, weekly(), **{"workload.trace.resample": "users"})
    found = compare(drawn, ["none", "jsq"], seeds=6, workers=1, quiet=True)
    assert found.as_json()["intervals_about"] == "logs like it"
    assert "each draws another log, of this one's users and weeks" in found.seeds_words
    assert "are about logs like it: by the spread of the draws, which more seeds do not narrow" in found.seeds_words
    values = found.values("none", "mean_response_ms")
    assert len(set(values)) > 1
    by_draws = estimate(values, Bounds(0.0), are_replicates=True)
    assert found.estimate("none", "mean_response_ms") == by_draws
    pair = found.pairs("mean_response_ms")["jsq", "none"]
    assert pair.tested is not None
    assert pair.tested.are_replicates


@pytest.mark.slow
def test_what_a_comparison_of_shaken_draws_says(tmp_path):
    drawn = of_log(tmp_path, weekly(), **{"workload.trace.resample": "shake", "workload.trace.shake_s": 7.0})
    found = compare(drawn, ["none", "jsq"], seeds=3, workers=1, quiet=True)
    assert found.as_json()["intervals_about"] == "this log, shaken"
    assert "each draws this log with each session up to 7 s earlier or later" in found.seeds_words
    assert "about this log, shaken" in found.seeds_words
    alone = compare(drawn, ["none"], seeds=1, workers=1, quiet=True)
    assert alone.seeds_words.endswith("its jobs: this log with each session up to 7 s earlier or later")
    assert alone.as_json()["intervals_about"] is None


@pytest.mark.slow
def test_what_a_comparison_on_the_log_itself_says(tmp_path):
    """Homes are drawn: seeds differ, and intervals are about this log."""
    found = compare(of_log(tmp_path, weekly()), ["none", "jsq"], seeds=3, workers=1, quiet=True)
    assert found.as_json()["intervals_about"] == "this log"
    assert found.seeds_words.endswith('; workload.trace.resample = "users" draws other logs like it')


HINT = '; workload.trace.resample = "users" draws other logs like it'


START, DURATION, KEPT = (f"workload.trace.{key}" for key in ("start_s", "duration_s", "keep_share"))


@pytest.mark.parametrize(("more", "can_be_set"), [
    ({}, True),
    ({DURATION: 1e5}, False),
    ({DURATION: 2.5 * 604_800}, True),
    ({DURATION: 604_800 * 1.99}, False),
    ({START: 3.5 * 604_800}, False),  # the last job is in the sixth week, 1.5 weeks on
    ({START: 3 * 604_800, DURATION: 3 * 604_800}, True),
    ({START: 1e9}, False),
    ({KEPT: 0.01}, False),
])  # fmt: skip
def test_the_key_is_named_where_the_chosen_part_allows_it(tmp_path, more, can_be_set):
    """What is said, and what happens if the key is then set."""
    assert resample_hint(of_log(tmp_path, weekly(), **more)) == (HINT if can_be_set else "")
    setup = of_log(tmp_path, weekly(), **more, **{"workload.trace.resample": "users"})
    if can_be_set:
        assert len(work_of(setup, setup.run.seed).jobs)
    else:
        with pytest.raises(InputError):
            work_of(setup, setup.run.seed)


@pytest.mark.parametrize(("rows", "head", "hint"), [
    (weekly(3), "arrival_ms,cpu_ms,user", HINT),
    # A column without any user.
    ([row.rpartition(",")[0] + "," for row in weekly(3)], "arrival_ms,cpu_ms,user", ""),
    # Not two weeks; no users; jobs that wait.
    (weekly(2), "arrival_ms,cpu_ms,user", ""),
    ([row.rpartition(",")[0] for row in weekly(3)], "arrival_ms,cpu_ms", ""),
    (["0,5,u,a,", f"{3 * WEEK_MS},5,u,b,a"], "arrival_ms,cpu_ms,user,job,after", ""),
])  # fmt: skip
def test_the_key_is_named_where_it_can_be_set(tmp_path, rows, head, hint):
    assert resample_hint(of_log(tmp_path, rows, head)) == hint


def test_of_a_log_that_is_gone_nothing_is_hinted(tmp_path):
    setup = of_log(tmp_path, weekly())
    (tmp_path / "jobs.csv").unlink()
    assert resample_hint(setup) == ""


def test_more_seeds_of_the_reference_are_refused(tmp_path):
    drawn = of_log(tmp_path, weekly(), **{"workload.trace.resample": "users"})
    with pytest.raises(InputError, match="reference_seeds 40") as caught:
        compare(drawn, ["jsq"], seeds=6, workers=1, quiet=True, reference_seeds=40)
    assert 'workload.trace.resample is "users"' in str(caught.value)


def test_a_study_cannot_ask_draws_to_be_precise(tmp_path):
    log = {"workload.kind": "trace", "workload.trace.file": "jobs.csv", "workload.trace.resample": "users"}
    (tmp_path / "jobs.csv").write_text("\n".join(["arrival_ms,cpu_ms,user", *weekly()]) + "\n")
    path = study_path(tmp_path, grid={"cluster.nodes": [2, 3]}, overrides=log, precision=0.05)
    with pytest.raises(InputError, match=r"precision = 0\.05") as caught:
        expand(load_study(path))
    assert "workload.trace.resample is set" in str(caught.value)
    expand(load_study(study_path(tmp_path, grid={"cluster.nodes": [2, 3]}, overrides=log)))
    expand(study(tmp_path / "drawn", precision=0.05))


def findings(points, is_resampled):
    rows = [
        {"point": number, **keys, "policy": policy, "seed": seed, "status": "finished", "error": None,
         "mean_wait_ms": value + (policy == "b") * (1 + seed % 2)}
        for number, keys in enumerate(points)
        for policy in "ab"
        for seed, value in enumerate([2.0, 4.0, 6.0, 8.0, 5.0, 5.0])
    ]  # fmt: skip
    return find(pd.DataFrame(rows), list(points[0]), ["a", "b"], ["mean_wait_ms"], is_resampled)


@pytest.mark.slow
def test_a_report_takes_the_spread_at_points_that_draw():
    key = "workload.trace.resample"
    swept = findings([{key: "none"}, {key: "users"}], False)
    assert swept.resampled == {1}
    first, second = (swept.estimates[swept.estimates["point"] == point].iloc[0] for point in (0, 1))
    # On the scale of log(mean): sqrt(n + 1) times as far.
    assert math.log(second["high"] / 5) == pytest.approx(math.sqrt(7) * math.log(first["high"] / 5))
    assert math.isfinite(first["median_low"])
    assert math.isnan(second["median_low"])
    p_values = swept.differences["p_value"].tolist()
    assert p_values[1] > p_values[0]
    assert findings([{}], True).resampled == {0}
    assert findings([{}], False).resampled == frozenset()
