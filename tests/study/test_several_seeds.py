"""Where numbers of several seeds are put together: means and counts by hand, and decisions at their thresholds."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from reality.sizing import mean_load, nodes_for
from studies import study

from cluster_abm.study.arena.verdicts import gap_closed, table_of_regret, verdicts
from cluster_abm.study.cells import Ratio
from cluster_abm.study.design.expansion import points_of
from cluster_abm.study.papers.claims import check_claim
from cluster_abm.study.papers.plan import Claim
from cluster_abm.study.statistics.estimates import Estimate
from cluster_abm.study.statistics.paired import Contrast, PairedDifference
from cluster_abm.study.statistics.precision import enough, more_seeds
from cluster_abm.study.statistics.ranking import ranking
from cluster_abm.study.statistics.sensitivity import analyse
from cluster_abm.study.tuning.search import metric_of, steps, without_metric
from cluster_abm.workload import OfferedLoad

KEYS = ("workload.cpu_ms.mean", "workload.io_per_ms.mean")
NAN, INF = math.nan, math.inf


# ---- sensitivity ----


@pytest.mark.parametrize("luck", [(0.0,), (-1.0, 1.0), (-3.0, 1.0, 2.0), (9.0, 0.0, 0.0, 0.0)])
def test_effects_are_of_the_mean_over_the_seeds_however_many(tmp_path, luck):
    """3 x + 5 y over [2, 4] and [0, 10], and luck that is that of its seed everywhere: effects of 6 and 50."""
    ranges = {KEYS[0]: {"low": 2.0, "high": 4.0}, KEYS[1]: {"low": 0.0, "high": 10.0}}
    found = study(tmp_path, grid=None, policies=["none"], sensitivity={"method": "morris", "samples": 4} | ranges)
    table = pd.DataFrame(
        {"point": number, **point, "policy": "none", "seed": seed, "status": "finished",
         "metric": 3.0 * point[KEYS[0]] + 5.0 * point[KEYS[1]] + shift}
        for number, point in enumerate(points_of(found)) for seed, shift in enumerate(luck, 1)
    )  # fmt: skip
    # The last seeds first: the order of rows is of no account.
    analysis = analyse(table.iloc[::-1], found.sensitivity, range(1, 1 + len(luck)), ("none",), ("metric",))
    assert not analysis.refused
    effects = analysis.table.set_index(["factor", "index"])["value"]
    assert effects[KEYS[0], "mu_star"] == pytest.approx(6.0)
    assert effects[KEYS[1], "mu_star"] == pytest.approx(50.0)


# ---- arena ----


def arena(values):
    """Runs by regime and policy: slowdowns and messages of each seed."""
    return pd.DataFrame(
        {"regime": regime, "policy": policy, "seed": seed, "bounded_slowdown": slowdown, "mean_slowdown": slowdown**2,
         "messages_per_job": messages}
        for regime, own in values.items() for policy, pairs in own.items() for seed, (slowdown, messages) in
        enumerate(pairs, 1)
    )  # fmt: skip


def test_regret_is_of_geometric_means_over_seeds_and_messages_of_means():
    """x: sqrt(2 * 8) = 4 against y's sqrt(1 * 4) = 2, and 3 against 6. So x is twice y's in the first regime, where
    its regret is 1, and y twice x's in the second. Messages of x: means of 2 and 6, and of 1 and 1; in the middle 2.5.
    """
    runs = arena({
        0: {"x": [(2.0, 2.0), (8.0, 6.0)], "y": [(1.0, 0.0), (4.0, 0.0)]},
        1: {"x": [(3.0, 1.0), (3.0, 1.0)], "y": [(4.0, 0.0), (9.0, 8.0)]},
    })  # fmt: skip
    found = verdicts(runs, "bounded_slowdown")
    assert [found[0].best, found[1].best] == ["y", "x"]
    assert found[0].regret == pytest.approx({"x": 1.0, "y": 0.0})
    table = table_of_regret(runs, found).set_index("policy")
    assert table["messages"].to_dict() == {"x": 2.5, "y": 2.0}
    # Over two regimes the geometric mean of 2 and 1.
    assert table["regret"].to_dict() == pytest.approx({"x": math.sqrt(2.0) - 1.0, "y": math.sqrt(2.0) - 1.0})
    # Mean slowdowns are the squares here: 4 and 1 times the other's.
    assert table["regret_of_mean_slowdown"].tolist() == pytest.approx([1.0, 1.0])
    assert table["worst_in"].to_dict() == {"x": 0, "y": 1}


@pytest.mark.parametrize(("pooled", "share"), [
    # A hundredth of 100 is the least gap: none of 99 counts, 98.9 does, of which 0.55 is half.
    (99.0, NAN), (98.9, 0.5), (100.0, NAN), (101.0, NAN),
])  # fmt: skip
def test_a_gap_of_a_hundredth(pooled, share):
    half = 100.0 - 0.55
    runs = arena(
        {0: {"none": [(90.0, 0), (110.0, 0)], "x": [(half - 1, 0), (half + 1, 0)], "pooled": [(pooled, 0)] * 2}}
    )
    runs["mean_slowdown"] = runs["bounded_slowdown"]
    assert gap_closed(runs)["x"] == pytest.approx(share, nan_ok=True)
    assert gap_closed(runs[runs["policy"] != "pooled"]) == {}
    assert gap_closed(runs[runs["policy"] != "none"]) == {}


# ---- what papers claim ----


def claim_holds(claim, a, b=None):
    curves = {"a": a, "b": b}
    points = [*range(1, 1 + len(a))]
    return check_claim(Claim(a="a", **claim), lambda name: (points, np.array(curves[name], float)))[1]


@pytest.mark.parametrize(("claim", "a", "b", "holds"), [
    # Means over two seeds: 2 against 2 is not below, though each seed scatters.
    ({"kind": "below", "b": "b"}, [[1, 3]], [[2, 2]], False), ({"kind": "below", "b": "b"}, [[1, 2.9]], [[2, 2]], True),
    ({"kind": "within", "b": "b", "percent": 25}, [[2, 3]], [[2, 2]], True),
    ({"kind": "within", "b": "b", "percent": 25}, [[2, 3.01]], [[2, 2]], False),
    ({"kind": "within", "b": "b", "percent": 25}, [[1, 2]], [[2, 2]], True),
    ({"kind": "within", "b": "b", "percent": 25}, [[1, 1.99]], [[2, 2]], False),
    ({"kind": "flat", "percent": 50}, [[0, 2], [3, 3]], None, True),
    ({"kind": "flat", "percent": 50}, [[0, 1.99], [3, 3]], None, False),
    ({"kind": "ratio", "b": "b", "minimum": 2, "maximum": 4}, [[3, 5], [8, 8]], [[2, 2], [1, 3]], True),
    ({"kind": "ratio", "b": "b", "minimum": 2, "maximum": 4}, [[3, 4.9], [8, 8]], [[2, 2], [1, 3]], False),
    ({"kind": "ratio", "b": "b", "minimum": 2, "maximum": 4}, [[3, 5], [8, 8.1]], [[2, 2], [1, 3]], False),
    # A rank correlation of 0.9 rises, one of 0.8 does not: of five values one pair, or two, stand the wrong way.
    ({"kind": "rising"}, [[1], [2], [3], [5], [4]], None, True),
    ({"kind": "rising"}, [[2], [1], [3], [5], [4]], None, False),
    ({"kind": "falling"}, [[5], [4], [3], [1], [2]], None, True),
    ({"kind": "falling"}, [[4], [5], [3], [1], [2]], None, False),
    ({"kind": "falling"}, [[1], [2], [3], [5], [4]], None, False),
    # In the geometric mean over points, and then over seeds: 2 * 0.5 on each seed is 1.
    ({"kind": "equal", "b": "b", "percent": 1}, [[2, 4], [1, 2]], [[1, 2], [2, 4]], True),
    ({"kind": "equal", "b": "b", "percent": 1}, [[2, 4], [1, 2]], [[1, 2], [2, 3.8]], False),
    # 0.5 on each of three seeds is better for sure; 1 on each is no better, and of one seed nothing is sure.
    ({"kind": "better", "b": "b"}, [[1, 2, 3]], [[2, 4, 6]], True),
    ({"kind": "better", "b": "b"}, [[2, 4, 6]], [[2, 4, 6]], False),
    ({"kind": "better", "b": "b"}, [[1]], [[2]], False),
    ({"kind": "better", "b": "b"}, [[4, 8, 12]], [[2, 4, 6]], False),
    ({"kind": "widens", "b": "b"}, [[1, 1], [1, 1]], [[2, 4], [3, 6]], True),
    ({"kind": "widens", "b": "b"}, [[1, 1], [1, 1]], [[2, 4], [2, 4]], False),
    ({"kind": "widens", "b": "b"}, [[1, 1], [1, 1]], [[3, 6], [2, 4]], False),
    ({"kind": "minimum", "at": [2]}, [[1, 5], [2, 3], [4, 4]], None, True),
    ({"kind": "minimum", "at": [2]}, [[1, 3], [2, 3], [4, 4]], None, False),
    ({"kind": "steepest", "at": [2, 3]}, [[1, 1], [1, 2], [2, 4]], None, True),
    ({"kind": "steepest", "at": [2, 3]}, [[1, 1], [3, 2], [2, 4]], None, False),
    ({"kind": "steepest", "at": [2, 3]}, [[3, 3], [1, 1], [1, 1]], None, False),
])  # fmt: skip
def test_claims_at_their_thresholds(claim, a, b, holds):
    assert claim_holds(claim, a, b) == holds


# ---- enough seeds, ranks, ratios ----


@pytest.mark.parametrize(("values", "precision", "is_enough"), [
    ([3, 4, 4, 4, 5], 0.2196, True), ([3, 4, 4, 4, 5], 0.2194, False), ([3, 4, 4, 5], 9.0, False),
    ([4, 4, 4, 4, 4], 0.0, True), ([-3, -4, -4, -4, -5], 0.2196, True), ([-1, 0, 0, 0, 1], 99.0, False),
    ([0, 0, 0, 0, 0], 0.0, True), ([3, 4, 4, NAN, 5], 9.0, False), ([1e-300] * 5, 0.0, True), ([], 1.0, False),
])  # fmt: skip
def test_enough(values, precision, is_enough):
    """Of 3, 4, 4, 4, 5: standard deviation sqrt(2/4), so 2.77645 * sqrt(0.5/5) = 0.87799, and over 4 0.21950."""
    assert enough(values, precision) == is_enough
    assert (more_seeds(values, precision, 100) == 0) == is_enough
    # At the cap there are no more, one below it there is one.
    assert more_seeds(values, precision, len(values)) == 0
    if not is_enough and len(values) >= 5:
        assert more_seeds(values, precision, len(values) + 1) == 1


def test_a_tie_of_means_is_no_better_place():
    """Told apart by the test, and the same to the last digit in the mean: none is before the other."""
    sure = PairedDifference(2.0, Estimate(1.0, None), 0.0, True, tested=Contrast(math.log(2.0), 0.1, 8, True))
    places = ranking({"a": 2.0, "b": 2.0}, {("a", "b"): sure})
    assert [(one.policy, one.best, one.worst, one.like) for one in places] == [("a", 1, 2, ("b",)), ("b", 1, 2, ("a",))]
    apart = ranking({"a": 2.0, "b": math.nextafter(2.0, 1.0)}, {("a", "b"): sure})
    assert [(one.policy, one.best, one.worst) for one in apart] == [("b", 1, 1), ("a", 2, 2)]
    more = ranking({"a": 2.0, "b": 3.0, "c": NAN}, dict.fromkeys([("b", "a"), ("c", "a"), ("c", "b")], sure), True)
    assert [(one.policy, one.best, one.worst) for one in more] == [("b", 1, 2), ("a", 2, 3), ("c", 1, 3)]


@pytest.mark.parametrize(("low", "high", "word"), [
    (0.5, 0.99, "yes"), (0.5, 1.0, "not told"), (1.0, 2.0, "not told"), (1.01, 2.0, "no"), (0.5, 2.0, "not told"),
])  # fmt: skip
def test_a_ratio_at_1(low, high, word):
    assert Ratio(math.sqrt(low * high), low, high).word == word


# ---- windows of logs, tuning ----


def test_the_load_of_windows_is_their_mean():
    windows = [(0.2, 0.9, 1.0), (0.4, 0.1, 1.0), (0.9, 0.2, 1.0)]
    loads = [OfferedLoad(*window, window_s=60.0, largest_task=0.1) for window in windows]
    assert mean_load(loads) == pytest.approx({"cpu": 0.5, "disk": 0.4, "memory": 1.0})


@pytest.mark.parametrize(("load", "nodes", "target", "fewest"), [
    # On 10 nodes 0.6 of one resource: 6 nodes' work, on 12 of 0.5 each.
    ({"cpu": 0.6, "disk": 0.1}, 10, 0.5, 12), ({"cpu": 0.1, "disk": 0.6}, 10, 0.5, 12), ({"cpu": 0.61}, 10, 0.5, 13),
    ({"cpu": 0.1}, 10, 0.5, 2), ({"cpu": 0.15}, 10, 0.5, 3), ({"cpu": 0.0}, 10, 0.5, 2), ({"cpu": 0.3}, 10, 0.1, 30),
])  # fmt: skip
def test_the_fewest_nodes(load, nodes, target, fewest):
    assert nodes_for(load, nodes, target) == fewest


@pytest.mark.parametrize(("seeds", "stages"), [
    (2, (2,)), (3, (2, 3)), (4, (2, 4)), (5, (2, 4, 5)), (8, (2, 4, 8)), (9, (2, 4, 8, 9)),
])  # fmt: skip
def test_a_race_is_decided_after_so_many_seeds(seeds, stages):
    assert steps(seeds) == stages


@pytest.mark.parametrize(("value", "is_taken", "word"), [
    (2.5, True, ""), (1, True, ""), (5e-324, True, ""), (0.0, False, "is 0"), (-1.0, False, "is -1"),
    (INF, False, "is inf"), (NAN, False, "is missing"), (None, False, "is missing"),
])  # fmt: skip
def test_a_ratio_takes_numbers_above_0(value, is_taken, word):
    assert metric_of({"x": value}, "x") == (value if is_taken else None)
    assert metric_of(None, "x") is metric_of({}, "x") is None
    if not is_taken:
        assert without_metric({"x": value}, "x", 7).startswith(f"x {word} in its run from seed 7")
    assert without_metric(None, "x", 7) == "its run from seed 7 failed"
