"""The parts of a calibration by hand: surfaces and their slopes, regions, spreads over seeds, and rows without one."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from support import scenario

from cluster_abm.study.calibration import fitting
from cluster_abm.study.calibration.fitting import BudgetSpent, mean_of, variance_of
from cluster_abm.study.calibration.observed import Row
from cluster_abm.study.calibration.predictions import Predictions
from cluster_abm.study.runner.measuring import RESPONSES

NAN, INF = math.nan, math.inf


def surface_of(keys, seeds=3, rows=2):
    """A surface through random quadratic functions of the keys over a box that is not in the middle."""
    region = fitting._Region(np.linspace(0.25, 0.7, keys), np.linspace(0.2, 0.05, keys))
    points = np.array(region.design())
    rng = np.random.default_rng(keys)
    pairs = [(one, other) for one in range(keys) for other in range(one, keys)]
    parts = rng.normal(size=(1 + keys + len(pairs), seeds, rows))

    def true(point):
        basis = [1.0, *point, *(point[one] * point[other] for one, other in pairs)]
        return np.tensordot(basis, parts, 1)

    return fitting._Surface(region, points, np.array([true(point) for point in points])), true


@pytest.mark.parametrize("keys", [1, 2, 3, 4])
def test_a_surface_is_the_function_and_its_slopes_the_differences(keys):
    """Central differences of a quadratic function are exact, wherever they are taken."""
    surface, true = surface_of(keys)
    for place in (0.0, 0.13, 0.5, 0.9, 1.0):
        point = np.linspace(place, 1.0 - place / 2, keys)
        assert surface(point) == pytest.approx(true(point), abs=1e-8)
        slopes = surface.slopes(point)
        assert slopes.shape == (3, 2, keys)
        for key in range(keys):
            step = 0.01 * np.eye(keys)[key]
            differences = (true(point + step) - true(point - step)) / 0.02
            assert slopes[:, :, key] == pytest.approx(differences, abs=1e-6)
        assert surface.jacobian(point) == pytest.approx(slopes.mean(axis=0))


@pytest.mark.parametrize(("keys", "points"), [
    # The middle, two faces a key, and two quarters of one key, all corners of up to three, k (k + 1) points of more.
    (1, 1 + 2 + 2), (2, 1 + 4 + 4), (3, 1 + 6 + 8), (4, 1 + 8 + 20), (5, 1 + 10 + 30),
])  # fmt: skip
def test_a_region_takes_so_many_points_all_of_them_its_own(keys, points):
    assert fitting.design_size(keys) == points
    region = fitting._Region(np.full(keys, 0.9), np.full(keys, 0.2))
    design = np.array(region.design())
    # It ends at the end of the range.
    assert design.min() >= 0.7 - 1e-12
    assert design.max() <= 1.0
    assert all(map(region.holds, design))
    assert len({point.tobytes() for point in design}) == points


@pytest.mark.parametrize(("point", "is_held"), [
    # Of 0.2 to either side, and a thousandth of that.
    ([0.5, 0.5], True), ([0.7, 0.3], True), ([0.7001, 0.5], True), ([0.7003, 0.5], False), ([0.5, 0.2997], False),
    ([0.71, 0.71], False),
])  # fmt: skip
def test_what_a_region_holds(point, is_held):
    assert fitting._Region(np.full(2, 0.5), np.full(2, 0.2)).holds(np.array(point)) == is_held


@pytest.mark.parametrize(("best", "slope", "centre", "half"), [
    # Inside it shrinks to 0.4 of its half, around the best; at an edge it stays as wide.
    (0.5, 1e9, 0.5, 0.08), (0.6, 1e9, 0.6, 0.08), (0.7, 1e9, 0.7, 0.2), (0.6999, 1e9, 0.6999, 0.2),
    (0.699, 1e9, 0.699, 0.08),
    # No narrower than 2.5 standard errors, 2.5/20 each; no wider than before, though nothing tells the key.
    (0.5, 20.0, 0.5, 0.125), (0.5, 0.0, 0.5, 0.2),
    # Moved inside of the range.
    (0.99, 1e9, 0.8, 0.2), (0.02, 1e9, 0.2, 0.2),
])  # fmt: skip
def test_the_next_region(best, slope, centre, half):
    region = fitting._Region(np.array([0.5]), np.array([0.2]))
    found = fitting._next_region(region, np.array([best]), np.array([[slope]]), np.ones(1))
    assert (found.centre, found.half) == (pytest.approx([centre]), pytest.approx([half]))


@pytest.mark.parametrize(("half", "is_small"), [(0.1, True), (0.162, True), (0.163, False), (0.3, False)])
def test_a_region_is_small_at_so_many_standard_errors(half, is_small):
    """1.3 times 2.5 errors of 1/20 are 0.1625."""
    region = fitting._Region(np.array([0.5]), np.array([half]))
    assert fitting._is_small(region, np.array([[20.0]]), np.ones(1)) == is_small


def test_over_the_seeds():
    """Rows of three seeds: all there; one missing; one there; none."""
    logs = np.array([[1.0, 2.0, NAN, NAN], [2.0, NAN, 5.0, NAN], [6.0, 4.0, INF, NAN]])
    assert mean_of(logs)[:3].tolist() == [3.0, 3.0, 5.0]
    assert math.isnan(mean_of(logs)[3])
    # (4 + 1 + 9)/2; (1 + 1)/1; one value has none that is known.
    assert variance_of(logs).tolist() == [7.0, 2.0, 0.0, 0.0]


def test_weights_by_hand():
    # No spread known of the seeds, and 0.5 and 0.25 of the rows: 2 and 4.
    assert fitting._weights(np.array([0.5, 0.25]), np.zeros(2), 4).tolist() == [2.0, 4.0]
    # A row of which none is known counts as the most exact; where nothing is known all alike.
    assert fitting._weights(np.array([0.5, 0.25, NAN]), np.zeros(3), 4).tolist() == [2.0, 4.0, 4.0]
    assert fitting._weights(np.array([NAN, 0.0]), np.zeros(2), 4).tolist() == [1.0, 1.0]
    # Four seeds of mean variance 0.08: 0.08 (1 + 1/4) = 0.1; with 0.3^2 = 0.09 besides 0.19.
    found = fitting._weights(np.array([NAN, 0.3]), np.array([0.02, 0.14]), 4)
    assert found == pytest.approx([0.1**-0.5, 0.19**-0.5])


def test_the_variance_of_a_measurement_is_what_the_seeds_leave():
    residuals, logs = np.array([0.3, -0.4, 0.5, 0.1]), np.zeros((2, 4))
    known = np.array([NAN, NAN, NAN, 0.2])
    # Of four rows and one key: 3 (1 - 1/4) = 2.25 degrees of freedom of 0.09 + 0.16 + 0.25.
    found = fitting._measured_var(residuals, logs, known, 1)
    assert found == pytest.approx([0.5 / 2.25] * 3 + [0.04])
    # Two seeds 0.2 to either side of each other: variance 0.02, times 1 + 1/2.
    logs = np.array([[0.1] * 4, [-0.1] * 4])
    assert fitting._measured_var(residuals, logs, known, 1)[0] == pytest.approx(0.5 / 2.25 - 0.03)
    assert fitting._measured_var(residuals, 10 * logs, known, 1)[0] == 0.0


# ---- predictions ----


class Runs:
    """What runs come to, by seed; `asked` has the seeds in their order."""

    def __init__(self, rows):
        self.rows, self.asked, self.errors = rows, [], []

    def __call__(self, wanted):
        self.asked += [seed for _, seed in wanted]
        return [self.rows[seed] for _, seed in wanted]


def predictions(rows, kind="metrics", names=("mean_response_ms",), runs_each=2):
    setup = scenario()
    question = SimpleNamespace(
        budget=4, runs_each=runs_each, seeds_used=[1, 2], of_runs={"a": setup},
        observed=SimpleNamespace(kind=kind), settings=lambda point: {"cluster.memory_mb": 300.0 + float(point[0])},
    )  # fmt: skip
    made = Runs(rows)
    columns = [Row(2, "a", name, 1.0, NAN) for name in names]
    return Predictions(question, made, columns), made


@pytest.mark.parametrize(("value", "log"), [
    (math.e, 1.0), (1, 0.0), (5e-324, math.log(5e-324)), (1e308, math.log(1e308)), (0.0, NAN), (-1.0, NAN), (INF, NAN),
    (NAN, NAN), (None, NAN), ("2", NAN),
])  # fmt: skip
def test_what_has_a_logarithm(value, log):
    of_run, _ = predictions({1: {"mean_response_ms": value}, 2: None})
    found = of_run.of_points([np.array([0.5])])
    assert found.shape == (1, 2, 1)
    # The policy ended the second run by itself.
    assert found[0, :, 0].tolist() == pytest.approx([log, NAN], nan_ok=True)


def test_rows_by_job_and_a_metric_that_a_run_has_not():
    by_job, _ = predictions({1: {RESPONSES: [math.e, 1.0]}, 2: {RESPONSES: [1.0, 0.0]}}, "jobs", (1, 0))
    assert by_job.of_points([np.zeros(1)])[0] == pytest.approx(np.array([[0.0, 1.0], [NAN, 0.0]]), nan_ok=True)
    other, _ = predictions({1: {"x": 1.0}, 2: {"mean_response_ms": 1.0}})
    assert other.of_points([np.zeros(1)])[0, :, 0].tolist() == pytest.approx([NAN, 0.0], nan_ok=True)


def test_the_budget_is_spent_to_the_last_run_and_none_is_made_twice():
    row = {"mean_response_ms": 1.0}
    some, made = predictions({1: row, 2: row})
    some.of_points([np.array([0.1])])
    assert (some.budget, made.asked) == (2, [1, 2])
    some.of_points([np.array([0.1])])
    assert (some.budget, made.asked) == (0, [1, 2])
    with pytest.raises(BudgetSpent):
        some.of_points([np.array([0.3])])
    assert (some.budget, made.asked) == (0, [1, 2])
    some.of_settings([{"cluster.memory_mb": 300.4}])
    assert made.asked == [1, 2, 1, 2]
    # Two points are 4 runs, three 6.
    assert len(predictions({1: row, 2: row})[0].of_points([np.zeros(1), np.ones(1)])) == 2
    with pytest.raises(BudgetSpent):
        predictions({1: row, 2: row})[0].of_points([np.zeros(1), np.ones(1), 2 * np.ones(1)])


def test_values_that_do_not_go_together_have_no_prediction():
    some, made = predictions({1: {"mean_response_ms": 1.0}, 2: {"mean_response_ms": 1.0}})
    # A buffer of 160 MB is taken from the memory.
    found = some.of_settings([{"cluster.memory_mb": 100.0}, {"cluster.memory_mb": 300.0}])
    assert np.isnan(found[0]).all()
    assert (found[1] == 0.0).all()
    assert made.asked == [1, 2]


def test_an_error_in_a_run_ends_the_fit():
    some, made = predictions({1: {"mean_response_ms": 1.0}, 2: {"mean_response_ms": 1.0}})
    made.errors = ["one went wrong", "another one, too"]
    with pytest.raises(RuntimeError, match="one went wrong\nanother one, too"):
        some.of_points([np.zeros(1)])
