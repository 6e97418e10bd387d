"""Which runs a reproduction asks for, and which of them its points are made of; nothing is carried out."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from cluster_abm.errors import InputError
from cluster_abm.study.papers import reproduce as module
from cluster_abm.study.papers.cells import axis_of, cells_of
from cluster_abm.study.papers.plan import PaperPlan, load_plan
from cluster_abm.study.papers.reproduce import reproduce
from cluster_abm.study.runner.tasks import RunsOutcome


class EveryMetric(dict):
    """A run's row in which every metric has one value."""

    def __init__(self, value):
        super().__init__()
        self.value = value

    def get(self, key, default=None):
        return self.value


def value_of(scenario, seed):
    """A number that no other run has."""
    return float(hash((scenario.model_dump_json(), seed)) % 1_000_003)


@pytest.fixture
def asked(monkeypatch):
    """The tasks of the latest call; each run's metrics are `value_of` it."""
    tasks = []

    def run_all(given, *_, **__):
        tasks[:] = given
        return RunsOutcome([EveryMetric(value_of(task.scenario, task.seed)) for task in given])

    monkeypatch.setattr(module, "run_all", run_all)
    return tasks


def runs_of(plan, seeds):
    cells = cells_of(plan, True, {})
    return {(cell.scenario.model_dump_json(), cell.scenario.run.seed + n) for cell in cells for n in range(seeds)}


# Of each kind one: alone, with further numbers of all points and series or of some, with curves of the same runs.
PLANS = ("iolb-table-1", "lmip-mixed", "memory-centric-fig2", "memory-centric-fig5", "memory-centric-table2")


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANS)
def test_each_run_is_asked_for_once(asked, name):
    reproduce(name, quick=True, seeds=3, quiet=True)
    names = [(task.scenario.model_dump_json(), task.seed) for task in asked]
    assert len(set(names)) == len(names)
    assert set(names) == runs_of(load_plan(name), 3)


def test_curves_of_the_same_runs_share_them(asked):
    # Five measured columns of three programs: three scenarios.
    assert len(reproduce("memory-centric-table2", quick=True, seeds=2, quiet=True).points) == 15
    assert len(asked) == 3 * 2


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANS)
def test_each_point_is_made_of_its_own_runs(asked, name):
    plan = load_plan(name)
    found = reproduce(name, quick=True, seeds=2, quiet=True)
    points = {(point.x, point.series): point.by_seed for point in found.points}
    cells = cells_of(plan, True, {})
    for cell in cells:
        metric, scale = (cell.series.metric, 1.0) if cell.series.metric else (plan.metric, plan.scale)
        # A sum of metrics is a sum of equal values here.
        times = scale * len(metric.split("+"))
        values = [value_of(cell.scenario, cell.scenario.run.seed + number) for number in range(2)]
        assert points[cell.x, cell.series.name] == pytest.approx([times * value for value in values])
    # Further numbers stand at their points and series only.
    expected = {
        (cell.x, f"{cell.series.name}: {also.name}") for cell in cells for also in plan.also
        if (cell.x in also.at if also.at else True) and (cell.series.name in also.of if also.of else True)
    }  # fmt: skip
    assert set(points) - {(cell.x, cell.series.name) for cell in cells} == expected


def test_so_many_seeds_as_the_plan_says(asked):
    plan = load_plan("iolb-table-1")
    for quick, seeds, expected in (
        (True, None, plan.quick_seeds), (False, None, plan.seeds), (True, 5, 5), (False, 1, 1),
    ):  # fmt: skip
        found = reproduce("iolb-table-1", seeds, quick, quiet=True)
        assert found.seeds == expected
        first = min(task.seed for task in asked)
        assert {task.seed for task in asked} == set(range(first, first + expected))
        assert found.axis_points == 10


def test_more_runs_than_anyone_waits_for_are_refused(asked):
    with pytest.raises(InputError, match="seeds of iolb-table-1"):
        reproduce("iolb-table-1", 10**9, quiet=True)


def test_what_a_plan_is_that_says_no_more_than_it_must():
    """A whole run has 32 seeds and a smoke run two; numbers are near within 25 %."""
    given = {"paper": "P", "title": "T", "scenario": "quickstart", "quick_points": [1.0]}
    axis, series = {"column": "x", "label": "x", "points": [1.0, 2.0]}, [{"name": "a", "policy": "jsq"}]
    plan = PaperPlan(name="mine", **given, axis=axis, series=series)
    assert (plan.seeds, plan.quick_seeds, plan.number_percent, plan.scale) == (32, 2, 25.0, 1.0)
    assert (plan.metric, plan.takes_trace, plan.claim, plan.number) == ("mean_slowdown", False, (), ())
    assert [x for x, _ in axis_of(plan, quick=True)] == [1.0]
    assert [x for x, _ in axis_of(plan, quick=False)] == [1.0, 2.0]
    for wrong in ({"seeds": 0}, {"quick_seeds": 0}):
        with pytest.raises(ValidationError, match="greater than or equal to 1"):
            PaperPlan(name="mine", **given, axis=axis, series=series, **wrong)
    PaperPlan(name="mine", **given, axis=axis, series=series, seeds=1, quick_seeds=1)
