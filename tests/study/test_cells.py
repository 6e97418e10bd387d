"""Cells of runs, and ratios of policies: a table made up by hand, and two tiny cells."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from cluster_abm.study.cells import Cell, Ratio, means, ratio_of, run_cells

TINY = {"workload.duration_s": 20.0, "cluster.nodes": 4}


def test_a_row_a_run_with_labels_seed_and_metrics():
    cells = [Cell({"policy": name, "point": place}, "quickstart", TINY | {"policy.name": name})
             for place, name in enumerate(("none", "jsq"))]  # fmt: skip
    found = run_cells(cells, (5, 6), ("mean_slowdown", "jobs.finished", "no such"), "tiny", workers=1)
    assert found.columns.tolist() == ["policy", "point", "seed", "mean_slowdown", "jobs.finished", "no such"]
    assert found["policy"].tolist() == ["none", "none", "jsq", "jsq"]
    assert found["seed"].tolist() == [5, 6, 5, 6]
    assert found["no such"].isna().all()
    assert found["mean_slowdown"].nunique() == 4


def test_means_over_seeds_with_their_interval():
    """2 and 4: mean 3, s = sqrt 2, and t = 12.706 of one degree of freedom, over sqrt 2."""
    table = pd.DataFrame({"policy": ["a", "a", "b", "b", "b"], "seed": [1, 2, 1, 2, 3], "x": [2, 4, 7, math.nan, 7]})
    found = means(table, ["policy"], "x").set_index("policy")
    assert found.loc["a"].tolist() == pytest.approx([3.0, 3.0 - 12.706, 3.0 + 12.706], abs=1e-3)
    assert found.loc["b"].tolist() == [7.0, 7.0, 7.0]
    one = means(table[:1], ["policy"], "x")
    assert one.columns.tolist() == ["policy", "mean", "low", "high"]
    assert one["mean"].tolist() == [2.0]
    assert one[["low", "high"]].isna().all(axis=None)


def ratio(a, b, points=()):
    """Policies a and b of these values: one a seed, or (seed, point) in turn."""
    rows = []
    for policy, values in (("a", a), ("b", b)):
        for place, value in enumerate(values):
            seed, point = divmod(place, 2) if points else (place, 0)
            rows.append({"policy": policy, "seed": seed, "point": point, "x": value})
    return ratio_of(pd.DataFrame(rows).sample(frac=1.0, random_state=1), "a", "b", "x", points)


def test_the_geometric_mean_of_ratios_on_the_same_seeds():
    """1/2 and 1/8: their logarithms' mean is that of 1/4, s = ln 4/sqrt 2, so t s/sqrt 2 = 12.706 ln 2."""
    found = ratio([1.0, 10.0], [2.0, 80.0])
    assert found.mean == pytest.approx(1 / 4)
    assert math.log(found.high / found.mean) == pytest.approx(12.706 * math.log(2), rel=1e-4)
    assert found.low * found.high == pytest.approx(found.mean**2)
    assert found.word == "not told"


def test_points_of_one_seed_count_together():
    """Each seed has 1/2 and 1/8, which is 1/4 for certain; seeds alone would differ."""
    found = ratio([1.0, 1.0, 3.0, 3.0], [2.0, 8.0, 24.0, 6.0], points=["point"])
    assert (found.mean, found.low, found.high) == pytest.approx((1 / 4, 1 / 4, 1 / 4))
    assert found.word == "yes"


def test_one_seed_tells_nothing():
    found = ratio([1.0], [4.0])
    assert (found.mean, found.low, found.high) == (pytest.approx(1 / 4), 0.0, math.inf)
    assert found.word == "not told"


@pytest.mark.parametrize(("low", "high", "word"), [
    (0.8, 0.99, "yes"), (0.8, 1.0, "not told"), (1.0, 1.2, "not told"), (1.01, 1.2, "no"),
])  # fmt: skip
def test_words(low, high, word):
    assert Ratio(0.9, low, high).word == word


def test_a_ratio_as_text():
    assert str(Ratio(0.5, 0.25, 1.125)) == "0.50 [0.25, 1.12]"
