"""Compared seeds: seeds and policies that are left out, reversed pairs, and infinity in plans."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from cluster_abm.errors import InputError
from cluster_abm.study.results_folder import _points
from cluster_abm.study.statistics.estimates import Estimate
from cluster_abm.study.statistics.paired import Contrast, PairedDifference, all_pairs, corrected, of_one_sample
from cluster_abm.study.statistics.pairs import Pairs, turned
from cluster_abm.study.statistics.seeds_compared import FAILED, NO_VALUE, compared

NAN, INF = math.nan, math.inf


def of_point(policies=None, **values):
    """Compare the values of each policy, for seeds 1, 2, ...; "x" is a failed run, None a seed without a run."""
    rows = [
        (name, seed, value) for name, own in values.items() for seed, value in enumerate(own, 1) if value is not None
    ]
    runs = pd.DataFrame({
        "policy": [name for name, _, _ in rows], "seed": [seed for _, seed, _ in rows],
        "status": ["failed" if value == "x" else "finished" for _, _, value in rows],
    })  # fmt: skip
    numbers = pd.Series([NAN if value == "x" else value for _, _, value in rows], dtype=float)
    return compared(runs, policies or list(values), numbers)


def table_of(frame):
    """The values by seed and policy, without NaN."""
    return {int(seed): row.dropna().to_dict() for seed, row in frame.iterrows()}


def words_of(found):
    return [(one["what"], one["policy"], None if one["seed"] != one["seed"] else one["seed"], one["why"])
            for one in found.left_out]  # fmt: skip


@pytest.mark.parametrize(("values", "own", "left_out"), [
    # All values are there.
    ({"a": [1, 2], "b": [3, 4]}, {1: {"a": 1, "b": 3}, 2: {"a": 2, "b": 4}}, []),
    # A seed is left out for all policies if one failed on it or has no finite value.
    ({"a": [1, 2, 3], "b": [3, "x", 5]}, {1: {"a": 1, "b": 3}, 3: {"a": 3, "b": 5}}, [("seed", "b", 2, FAILED)]),
    ({"a": [1, 2], "b": [NAN, 4]}, {2: {"a": 2, "b": 4}}, [("seed", "b", 1, NO_VALUE)]),
    ({"a": [1, INF], "b": [3, 4]}, {1: {"a": 1, "b": 3}}, [("seed", "a", 2, NO_VALUE)]),
    # A policy without any value is left out, and no seed is.
    ({"a": [1, 2], "b": ["x", "x"]}, {1: {"a": 1}, 2: {"a": 2}}, [("policy", "b", None, FAILED)]),
    ({"a": [1, 2], "b": ["x", NAN]}, {1: {"a": 1}, 2: {"a": 2}}, [("policy", "b", None, NO_VALUE)]),
    # Several problems are listed in the order of the policies.
    ({"a": [1, "x", 3], "b": [NAN, "x", 5]}, {3: {"a": 3, "b": 5}},
     [("seed", "a", 2, FAILED), ("seed", "b", 1, NO_VALUE), ("seed", "b", 2, FAILED)]),
])  # fmt: skip
def test_seeds_and_policies_without_a_value_are_left_out(values, own, left_out):
    found = of_point(**values)
    assert table_of(found.own) == own == table_of(found.common)
    assert words_of(found) == left_out


def test_a_seed_without_a_run_of_one_policy_is_not_common():
    """The other policies keep it for their own values."""
    found = of_point(a=[1, 2, 3], b=[4, 5, None])
    assert table_of(found.own) == {1: {"a": 1, "b": 4}, 2: {"a": 2, "b": 5}, 3: {"a": 3}}
    assert table_of(found.common) == {1: {"a": 1, "b": 4}, 2: {"a": 2, "b": 5}}
    assert found.left_out == []


def test_columns_are_in_the_given_order_of_policies():
    found = of_point(["c", "b", "nowhere", "a"], a=[1], b=[2], c=[3])
    assert list(found.own.columns) == ["c", "b", "a"]


# ---- pairs ----

PAIR = PairedDifference(4.0, Estimate(3.0, (1.0, 6.0)), 0.01, True, (2.0, 8.0), True, Contrast(1.4, 0.2, 5, True))


def test_a_reversed_pair():
    assert turned(PAIR) == PairedDifference(
        0.25, Estimate(-3.0, (-6.0, -1.0)), 0.01, True, (0.125, 0.5), True, Contrast(-1.4, 0.2, 5, True)
    )
    assert (PAIR.verdict(), turned(PAIR).verdict()) == ("typically worse", "typically better")
    assert turned(turned(PAIR)) == PAIR
    alone = turned(of_one_sample(3.0, 2.0))
    assert (alone.difference, alone.significant, alone.tested) == (Estimate(-1.0, None), None, None)
    assert math.isnan(turned(of_one_sample(0.0, 2.0)).ratio)
    assert math.isnan(of_one_sample(2.0, 0.0).ratio)


@pytest.mark.parametrize("pair", [("a", "c"), ("a",), "ab", ("a", "b", "c")])
def test_a_pair_that_was_not_compared_is_named(pair):
    with pytest.raises(InputError, match=r"not compared; allowed: two of a, b"):
        Pairs({("a", "b"): PAIR})[pair]


def test_a_pair_of_single_samples_does_not_count_in_the_correction():
    """Two of three pairs are tested: 0.0474 is above 5 %/2. If it is the only test, it is below 5 %. In logarithms a is
    1, 2, 3, 4, 5, b is 1, and c is 2."""
    values = {"a": [math.exp(v) for v in (1.0, 2.0, 3.0, 4.0, 5.0)], "b": [math.e] * 5, "c": [math.e**2] * 5}
    pairs = all_pairs(values, one_sample={"b", "c"})
    assert pairs["b", "c"].difference == Estimate(math.e - math.e**2, None)
    assert pairs["b", "c"].ratio == pytest.approx(1 / math.e)
    found = corrected(pairs)
    assert found["b", "c"] == pairs["b", "c"]
    # 3 - 1 = 2 has a standard error of sqrt(2.5/5): t = 2.83 with four degrees of freedom, p = 0.0474. 3 - 2: p = 0.23.
    assert pairs["a", "b"].p_value == pytest.approx(0.0474, abs=2e-4)
    assert [found["a", name].significant for name in "bc"] == [False, False]
    assert corrected({("a", "b"): pairs["a", "b"], ("b", "c"): pairs["b", "c"]})["a", "b"].significant is True


# ---- plans of studies ----


def test_infinity_comes_back_from_a_plan():
    assert _points([{"a": "inf", "b": "-inf"}, {"a": 1, "b": "word"}]) == [{"a": INF, "b": -INF}, {"a": 1, "b": "word"}]
