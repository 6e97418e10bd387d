"""Reproductions of papers: stated and measured numbers, claims on curves, pictures, and runs of conclusions."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conclusions import Conclusion, distinct

from cluster_abm.study.papers.claims import check_claim, statistic
from cluster_abm.study.papers.drawing import measured_words, picture_names, stacked_parts, stacked_where, value_words
from cluster_abm.study.papers.plan import Claim, Number
from cluster_abm.study.papers.points import Point, StatedNumber
from cluster_abm.study.papers.reproduce import _values
from cluster_abm.study.statistics.estimates import Estimate

NAN = float("nan")


# ---- stated numbers ----


@pytest.mark.parametrize(("measured", "percent", "is_near"), [
    (10.0, 0.0, True), (12.5, 25.0, True), (12.6, 25.0, False), (7.5, 25.0, True), (7.4, 25.0, False),
])  # fmt: skip
def test_a_measured_number_is_near_if_it_differs_by_at_most_the_given_per_cent(measured, percent, is_near):
    number = Number(claim="c", statistic="largest ratio", old=["a"], new=["b"])
    assert StatedNumber(number, 10.0, "1", Estimate(measured, None)).is_near(percent) is is_near
    assert not StatedNumber(number, 10.0, "1", None).is_near(1e9)


@pytest.mark.parametrize(("paired", "words"), [(True, "a / c or b / d"), (False, "a or b / c or d")])
def test_a_number_names_the_series_that_it_compares(paired, words):
    number = Number(claim="c", statistic="largest ratio", old=["a", "b"], new=["c", "d"], paired=paired)
    assert StatedNumber(number, 1.0, "1", None).series == words


@pytest.mark.parametrize(("name", "value"), [
    # Ratios of old to new of 2, 4 and 1.25 are reductions of 50, 75 and 20 % and improvements of 100, 300 and 25 %.
    ("largest ratio", 4.0), ("smallest ratio", 1.25), ("mean improvement", 425 / 3), ("largest improvement", 300.0),
    ("smallest improvement", 25.0), ("mean reduction", 145 / 3), ("largest reduction", 75.0),
])  # fmt: skip
def test_statistics_of_ratios(name, value):
    assert statistic(name, np.array([[2.0, 4.0, 1.25]])) == pytest.approx(value)


def test_values_are_scaled_and_a_failed_run_has_none():
    row = {"a": 2.0}
    assert _values([row, None, row], "a", 10.0) == pytest.approx((20.0, NAN, 20.0), nan_ok=True)


def test_a_point_is_the_mean_over_the_seeds_that_finished():
    assert Point(1.0, "a", None, (2.0, NAN, 4.0)).measured.mean == 3.0


@pytest.mark.parametrize(("found", "words"), [
    (None, "not measured"), (Estimate(1.23456, None), "1.235"), (Estimate(1.23456, (1.0, 2.00001)), "1.235 [1, 2]"),
])  # fmt: skip
def test_a_measured_number_in_words(found, words):
    assert measured_words(found) == words


def test_a_place_on_the_axis_in_words():
    assert [value_words(x) for x in (2.0, 0.25, "both")] == ["2", "0.25", "both"]


# ---- claims ----


@pytest.mark.parametrize("kind", ["better", "equal", "widens"])
def test_curves_with_different_seeds_are_not_compared(kind):
    curves = {"a": ([1.0, 2.0], np.ones((2, 3))), "b": ([1.0, 2.0], np.ones((2, 4)))}
    assert check_claim(Claim(kind=kind, a="a", b="b", percent=10.0), curves.get) == (
        "a and b: not the same seeds finished", False
    )  # fmt: skip


@pytest.mark.parametrize(("kind", "a", "b", "more", "holds"), [
    # 9 and 11 are within 10 % of 10; equal points are not below each other.
    ("within", [9.0, 11.0], [10.0, 10.0], {"percent": 10.001}, True),
    ("within", [9.0, 11.0], [10.0, 10.0], {"percent": 9.99}, False),
    ("below", [1.0, 2.0], [1.001, 2.001], {}, True), ("below", [1.0, 2.0], [1.001, 2.0], {}, False),
    ("ratio", [1.0, 4.0], [2.0, 2.0], {"minimum": 0.5, "maximum": 2.0}, True),
    ("ratio", [1.0, 4.0], [2.0, 2.0], {"minimum": 0.51, "maximum": 2.0}, False),
    ("ratio", [1.0, 4.0], [2.0, 2.0], {"minimum": 0.5, "maximum": 1.99}, False),
    # The geometric mean of 1/2 and 2 is 1.
    ("equal", [1.0, 4.0], [2.0, 2.0], {"percent": 0.01}, True),
    ("equal", [1.0, 4.0], [2.0, 2.2], {"percent": 4.0}, False),
])  # fmt: skip
def test_claims_at_their_borders(kind, a, b, more, holds):
    curves = {
        name: ([1.0, 2.0], np.repeat(np.array(values)[:, None], 3, axis=1)) for name, values in (("a", a), ("b", b))
    }
    assert check_claim(Claim(kind=kind, a="a", b="b", **more), curves.get)[1] is holds


def test_a_claim_on_some_points_ignores_the_others():
    curves = {"a": ([1.0, 2.0, 3.0], np.array([[1.0], [9.0], [1.0]])), "b": ([1.0, 2.0, 3.0], np.full((3, 1), 2.0))}
    assert not check_claim(Claim(kind="below", a="a", b="b"), curves.get)[1]
    text, holds = check_claim(Claim(kind="below", a="a", b="b", at=(1.0, 3.0)), curves.get)
    assert (text, holds) == ("a below b at 2 of 2 points (ratio 0.5..0.5)", True)
    assert check_claim(Claim(kind="below", a="a", b="b", at=(7.0,)), curves.get) == ("a: nothing measured", False)


# ---- pictures ----


def plan(*also, column="nodes"):
    series = [SimpleNamespace(name="one"), SimpleNamespace(name="two")]
    return SimpleNamespace(series=series, also=also, axis=SimpleNamespace(column=column))


def number(name, stacked=False, at=(), label="ms"):
    return SimpleNamespace(name=name, stacked=stacked, at=at, label=label)


def test_pictures_are_made_only_of_measured_series():
    points = [
        Point(1.0, "one: x", None, (1.0,)),
        Point(1.0, "two: cpu", None, (1.0,)),
        Point(1.0, "one: io", None, (2.0,)),
    ]
    also = number("x"), number("y"), number("cpu", True), number("io", True)
    assert picture_names(plan(*also), points) == ("", "x", "breakdown")
    assert picture_names(plan(*also), []) == ("",)


def test_a_stacked_picture_has_a_row_for_each_series_and_a_column_for_each_part():
    values = {"one: cpu": (1.0, 3.0), "two: cpu": (5.0,), "one: x": (7.0,), "one: io": (4.0,)}
    points = [Point(1.0, name, None, by_seed) for name, by_seed in values.items()]
    also = number("x", label="jobs"), number("cpu", True, (4.0, "all")), number("io", True)
    table = stacked_parts(plan(*also), points)
    assert table.attrs["label"] == "ms"
    pd.testing.assert_frame_equal(
        table, pd.DataFrame({"cpu": [2.0, 5.0], "io": [4.0, NAN]}, index=["one", "two"]), check_like=True
    )
    assert stacked_where(plan(*also)) == "where the time went, nodes 4, all"


# ---- conclusions ----


CONCLUSION = Conclusion(
    paper="p", says="s", scenario="quickstart", key="cluster.nodes", points=(4.0, 8.0), better="jsq", worse="none",
    settings={"cluster.cores": 2}, settings_of={"jsq": {"cluster.quantum_ms": 5.0}},
)  # fmt: skip


def test_a_conclusion_runs_both_policies_at_each_point():
    cells = CONCLUSION.cells({"case": "x"}, {"workload.duration_s": 9.0}, CONCLUSION.points)
    assert [(cell.labels["policy"], cell.labels["point"]) for cell in cells] == [
        ("jsq", 4.0), ("jsq", 8.0), ("none", 4.0), ("none", 8.0)
    ]  # fmt: skip
    assert cells[0].settings == {
        "policy.name": "jsq", "cluster.cores": 2, "cluster.quantum_ms": 5.0, "workload.duration_s": 9.0,
        "cluster.nodes": 4.0,
    }  # fmt: skip
    assert cells[3].settings == {
        "policy.name": "none", "cluster.cores": 2, "workload.duration_s": 9.0, "cluster.nodes": 8.0
    }  # fmt: skip
    assert {cell.labels["case"] for cell in cells} == {"x"}
    # Without points each policy runs once, with the scenario's own value.
    cells = CONCLUSION.cells({}, {}, ())
    assert [("cluster.nodes" in cell.settings, cell.labels["point"]) for cell in cells] == [(False, 0.0)] * 2
    # Cells that several conclusions share run once.
    assert len(distinct([*cells, *CONCLUSION.cells({}, {}, ()), *CONCLUSION.cells({}, {}, (4.0,))])) == 4


def test_the_ratio_of_a_conclusion_uses_its_own_runs_and_policies():
    """On each seed the ratios at the two points are 1/2 and 1/8: geometric mean 1/4."""
    rows = [(CONCLUSION.runs, policy, point, seed, value)
            for policy, values in (("jsq", (1.0, 1.0)), ("none", (2.0, 8.0)), ("age", (0.1, 0.1)))
            for point, value in enumerate(values) for seed in (1, 2)]  # fmt: skip
    rows += [("other", policy, point, seed, 7.0) for policy in ("jsq", "none") for point in (0, 1) for seed in (1, 2)]
    table = pd.DataFrame(rows, columns=["runs", "policy", "point", "seed", "mean_slowdown"])
    assert CONCLUSION.ratio(table).mean == pytest.approx(0.25)
