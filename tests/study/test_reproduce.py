"""Claims and verdicts on curves made up for the purpose; the real tables are run by `reproduce`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cluster_abm.errors import InputError
from cluster_abm.scenario import load_scenario, shipped_path
from cluster_abm.study.plan import Claim, load_plan, reproduction_names
from cluster_abm.study.reproduce import Point, Reproduction, check_claim, reproduce
from cluster_abm.study.runs import Outcome
from cluster_abm.study.statistics import Estimate

X = np.array([1.0, 2.0, 3.0, 4.0])


def holds(claim, **curves):
    return check_claim(claim, lambda name: (X[: len(curves[name])], None, np.array(curves[name], float)))[1]


def test_claims():
    below = Claim(kind="below", a="a", b="b")
    assert holds(below, a=[1, 2, 3, 4], b=[2, 3, 4, 5])
    assert not holds(below, a=[1, 3, 3, 4], b=[2, 3, 4, 5])
    rising = Claim(kind="rising", a="a")
    assert holds(rising, a=[1, 2, 3, 4])
    assert not holds(rising, a=[1, 3, 2, 4])  # rank correlation .8
    assert not holds(rising, a=[4, 3, 2, 1])
    assert not holds(rising, a=[2, 2, 2, 2])
    within = Claim(kind="within", a="a", b="b", percent=5)
    assert holds(within, a=[1.04, 2, 3, 4], b=[1, 2, 3, 4.1])
    assert not holds(within, a=[1.06, 2, 3, 4], b=[1, 2, 3, 4])
    ratio = Claim(kind="ratio", a="a", b="b", minimum=1.5, maximum=3)
    assert holds(ratio, a=[3, 4, 6, 12], b=[1, 2, 4, 8])
    assert not holds(ratio, a=[3, 4, 6, 10], b=[1, 2, 4, 8])
    assert not holds(below, a=[1, 2], b=[2, 3, 4])  # not measured at the same points
    assert not holds(below, a=[], b=[])


def made_up(factor):
    plan = load_plan("iolb-table-1")
    table = pd.read_csv(shipped_path("published", plan.published))
    points = [
        Point(
            row[plan.axis.column],
            series.name,
            row[series.column],
            Estimate(row[series.column] * factor(series.name), None),
        )
        for _, row in table.iterrows()
        for series in plan.series
    ]
    return Reproduction(plan, 1, tuple(points), Outcome([None]), quick=False)


def test_verdicts_and_errors():
    exact = made_up(lambda name: 1.0)
    assert exact.verdict == "reproduced"
    assert exact.mape_percent() == {"clb": 0, "mlb": 0, "iolb": 0}
    far = made_up(lambda name: 1.5)
    assert far.verdict == "shape"
    assert far.mape_percent()["mlb"] == pytest.approx(50)
    turned = made_up(lambda name: 2.0 if name == "iolb" else 1.0)
    assert turned.verdict == "not reproduced"
    assert "FAILS: iolb below clb at 0 of 10 points" in turned.notes


@pytest.mark.parametrize("name", reproduction_names())
def test_shipped_plans_fit_their_scenarios_and_published_numbers(name):
    plan = load_plan(name)
    table = pd.read_csv(shipped_path("published", plan.published))
    assert {plan.axis.column, *(series.column for series in plan.series)} <= set(table.columns)
    assert set(plan.quick_points) <= set(table[plan.axis.column])
    for value in table[plan.axis.column]:
        load_scenario(plan.scenario, {plan.axis.key: float(value)})


def test_the_published_numbers_are_the_papers():
    """First and last columns of Tables 1 and 2, read off the paper."""
    one = pd.read_csv(shipped_path("published", "iolb-table-1.csv"))
    assert one.iloc[0].tolist() == [0.80, 62, 62, 47]
    assert one.iloc[-1].tolist() == [1.25, 210, 218, 172]
    two = pd.read_csv(shipped_path("published", "iolb-table-2.csv"))
    assert two.iloc[0].tolist() == [2.6, 22, 8.5, 8.5]
    assert two.iloc[-1].tolist() == [3.5, 28, 14.3, 14]


def test_a_quick_reproduction_runs_and_fills_the_document():
    found = reproduce("iolb-table-2", seeds=2, quick=True, overrides={"workload.duration_s": 30.0}, workers=1)
    document = found.as_json()
    assert {"name", "paper", "seeds", "rows", "mape", "verdict", "notes"} == set(document)
    assert len(document["rows"]) == 3 * len(found.plan.quick_points)
    assert {"x", "series", "published", "measured", "ci95"} == set(document["rows"][0])
    assert "smoke run" in document["notes"]


def test_unknown_names_suggest_the_nearest():
    with pytest.raises(InputError, match="did you mean 'iolb-table-1'"):
        reproduce("iolb-tabel-1")
