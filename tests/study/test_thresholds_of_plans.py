"""Plans at their thresholds: values just below a bound, at it, and just above; steps and middles by hand; seeds."""

from __future__ import annotations

import math

import pytest
from support import scenario

from cluster_abm import ClusterModel
from cluster_abm.study.planning.bracketing import KeyRange, search, significant
from cluster_abm.study.planning.needs import Need, judged
from cluster_abm.study.planning.plan import PlanningQuestion, plan
from cluster_abm.study.statistics.estimates import Estimate

INF = math.inf
BELOW, AT, ABOVE = math.nextafter(3.0, 0.0), 3.0, math.nextafter(3.0, 4.0)


@pytest.mark.parametrize(("relation", "kept"), [
    # Just below 3, at 3, just above.
    ("<=", [True, True, False]), ("<", [True, False, False]), (">=", [False, True, True]), (">", [False, False, True]),
])  # fmt: skip
def test_a_need_at_its_bound(relation, kept):
    need = Need("p95_slowdown", relation, 3.0)
    assert [need.holds(value) for value in (BELOW, AT, ABOVE)] == kept
    assert not need.holds(math.nan)
    assert need.is_ceiling == relation.startswith("<")


@pytest.mark.parametrize(("relation", "bound", "value", "margin"), [
    # In bounds: 2 of 4 below it is half of it; on the wrong side it is negative; at it none.
    ("<=", 4.0, 2.0, 0.5), ("<=", 4.0, 8.0, -1.0), ("<", 4.0, 4.0, 0.0), (">=", 4.0, 6.0, 0.5), (">", 4.0, 1.0, -0.75),
    # Of a negative bound its size counts; of 0 the unit of the metric.
    ("<=", -4.0, -6.0, 0.5), (">=", -4.0, -6.0, -0.5), ("<=", 0.0, 2.5, -2.5), (">=", 0.0, 2.5, 2.5),
    ("<=", 1e-9, 3e-9, -2.0), ("<=", 1e12, 5e11, 0.5), ("<=", 4.0, INF, -INF), (">=", 4.0, math.nan, -INF),
])  # fmt: skip
def test_how_far_from_its_bound(relation, bound, value, margin):
    assert Need("x", relation, bound).margin(value) == pytest.approx(margin)


@pytest.mark.parametrize(("mean", "ci95", "kept", "sure", "doomed"), [
    # An interval that ends at the bound keeps "<= 3" with all of it; one that begins there does not fail for sure.
    (2.0, (1.0, AT), True, True, False), (2.0, (1.0, ABOVE), True, False, False), (2.0, None, True, False, False),
    (4.0, (AT, 5.0), False, False, False), (4.0, (ABOVE, 5.0), False, False, True), (4.0, None, False, False, False),
    (AT, (AT, AT), True, True, False), (math.nan, None, False, False, True),
])  # fmt: skip
def test_intervals_at_the_bound(mean, ci95, kept, sure, doomed):
    found = judged([Need("x", "<=", 3.0)], 7.0, {"x": Estimate(mean, ci95)})
    assert (found.is_kept, found.is_sure, found.is_doomed) == (kept, sure, doomed)


def test_of_two_needs_both_count_and_the_worse_margin():
    needs = [Need("x", "<=", 3.0), Need("y", ">=", 0.5)]
    kept = judged(needs, 1.0, {"x": Estimate(2.4, (2.0, 2.8)), "y": Estimate(1.0, (0.4, 1.6))})
    # (3 - 2.4)/3 and (1 - 0.5)/0.5.
    assert (kept.is_kept, kept.is_sure, kept.is_doomed) == (True, False, False)
    assert kept.margin == pytest.approx(0.2)
    one = judged(needs, 1.0, {"x": Estimate(2.4, (2.0, 2.8)), "y": Estimate(0.3, (0.2, 0.4))})
    assert (one.is_kept, one.is_sure, one.is_doomed) == (False, False, True)
    assert one.margin == pytest.approx(-0.4)


WHOLE, REAL = KeyRange(1.0, 20.0, True), KeyRange(0.001, 20.0, False)


@pytest.mark.parametrize(("axis", "value", "up", "then"), [
    # Half as much again, rounded up; at least the next whole number, and no further than the end.
    (WHOLE, 1.0, True, 2.0), (WHOLE, 2.0, True, 3.0), (WHOLE, 5.0, True, 8.0), (WHOLE, 14.0, True, 20.0),
    # 1.5 times less, rounded down: 5/1.5 = 3.3, 2/1.5 = 1.3, 3/1.5 = 2.
    (WHOLE, 5.0, False, 3.0), (WHOLE, 3.0, False, 2.0), (WHOLE, 2.0, False, 1.0), (WHOLE, 1.0, False, 1.0),
    # Four significant digits: 1.2345 * 1.5 = 1.85175, 1.2345 / 1.5 = 0.823.
    (REAL, 1.2345, True, 1.852), (REAL, 1.2345, False, 0.823), (REAL, 0.001, False, 0.001), (REAL, 19.0, True, 20.0),
])  # fmt: skip
def test_the_next_value(axis, value, up, then):
    assert axis.next(value, up) == then


@pytest.mark.parametrize(("axis", "one", "other", "between"), [
    # Twice or less apart: the arithmetic middle; more: the geometric one, sqrt(4 * 16) = 8; from 0 on there is none.
    (WHOLE, 4.0, 8.0, 6.0), (WHOLE, 16.0, 4.0, 8.0), (WHOLE, 0.0, 9.0, 4.0), (WHOLE, 7.0, 8.0, None),
    (WHOLE, 8.0, 8.0, None), (WHOLE, 1.0, 3.0, 2.0), (WHOLE, 7.0, 9.0, 8.0),
    (REAL, 2.0, 1.0, 1.5), (REAL, 1.0, 2.25, 1.5), (REAL, 0.0, 3.0, 1.5), (REAL, -1.0, 2.0, 0.5),
    # Half a per cent apart, of the larger one, is close enough: 1.000 and 1.005 (of which it is 0.00498); 1.006 not.
    (REAL, 1.0, 1.005, None), (REAL, 1.0, 1.006, 1.003), (REAL, 2.0, 2.0, None),
    (REAL, -2.0, -1.98, -1.99), (REAL, -2.0, -1.995, None), (REAL, 199.0, 200.0, None), (REAL, 198.8, 200.0, 199.4),
])  # fmt: skip
def test_the_value_between(axis, one, other, between):
    assert axis.between(one, other) == between


@pytest.mark.parametrize(("value", "digits"), [
    (0.0, 0.0), (123456.0, 123500.0), (0.00123456, 0.001235), (-1.23456, -1.235), (1e-300, 1e-300), (2.0, 2.0),
])  # fmt: skip
def test_four_digits(value, digits):
    assert significant(value) == digits


def crossing(axis, kept, jobs=0.0, arm=0.0):
    """The crossing where 10 is the metric's bound, and `kept` gives its value."""
    one, need = search(axis), Need("x", "<=", 10.0)
    wanted = next(one)
    while True:
        points = {
            at: judged([need], at, {"x": Estimate(kept(at), (kept(at) - arm, kept(at) + arm))}, jobs) for at in wanted
        }
        try:
            wanted = one.send(points)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize(("arm", "words"), [
    # Not kept at 64 with 10.4 after all: 10.4 +- 1 holds 10, 10.4 +- 0.3 does not.
    (1.0, "within noise: more seeds tell)"), (0.3, "by more than noise)"),
])  # fmt: skip
def test_whether_it_is_not_monotone_for_sure_is_said(arm, words):
    found = crossing(KeyRange(1.0, 64.0, True), lambda at: 9.2 if 18 <= at < 40 else 10.5 - at / 640, arm=arm)
    assert found.value == 18.0
    assert found.note == f"not monotone (not kept at 64; {words}"


def test_jobs_that_did_not_finish_are_said_and_none_are_not():
    assert crossing(KeyRange(1.0, 16.0, True, 4.0), lambda at: 40.0 / at, jobs=2.5).note == (
        "2.5 jobs did not finish there, and metrics of jobs count those that did"
    )
    assert crossing(KeyRange(1.0, 16.0, True, 4.0), lambda at: 40.0 / at).note == ""


def test_an_estimate_is_the_mean_of_the_runs_from_all_seeds():
    """Against runs of the model itself, one a seed; the same of jobs that a run up to a time leaves behind."""
    setup = scenario(cluster__nodes=3, workload__jobs=12, workload__duration_s=4.0, run__until=4000.0, run__seed=5)
    asked = PlanningQuestion(setup, ("mean_slowdown<=1e9",), "cluster.cpu_speed", ("none",), low=1.0, high=2.0, seeds=3)
    point = plan(asked, workers=1, quiet=True).crossings["none"].points[0]
    runs = []
    for seed in (5, 6, 7):
        model = ClusterModel(setup, seed=seed, cluster__cpu_speed=point.value)
        model.run()
        runs.append(model.summary())
    slowdowns = [run["metrics"]["mean_slowdown"] for run in runs]
    left = [run["jobs"]["submitted"] - run["jobs"]["finished"] for run in runs]
    assert point.estimates["mean_slowdown"].mean == pytest.approx(sum(slowdowns) / 3)
    assert sum(left) > 0
    assert point.unfinished == pytest.approx(sum(left) / 3)
    assert not point.one_sample
