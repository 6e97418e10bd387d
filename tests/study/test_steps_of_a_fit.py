"""Steps of a fit, by hand: costs of points, the points of a surface, its minimum, and the noise of the seeds."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from cluster_abm.study.calibration import fitting
from cluster_abm.study.calibration.fitting import BudgetSpent, fit, starting_points

NAN = math.nan


def box(centre, half):
    return fitting._Region(np.array(centre), np.array(half))


def evaluations(predict, observed=(0.0,)):
    """Evaluations of points; `predict` gives the logarithms at a point, shape (seeds, rows)."""
    return fitting._Evaluations(lambda points: np.array([predict(one) for one in points]), np.array(observed))


# ---- points ----


def test_no_point_is_run_twice():
    asked = []

    def predict(point):
        asked.append(float(point[0]))
        return [[point[0]], [point[0]]]

    seen = evaluations(predict)
    found = seen.logs([np.array([0.1]), np.array([0.2]), np.array([0.1])])
    assert [one[0, 0] for one in found] == [0.1, 0.2, 0.1]
    assert [one[0, 0] for one in seen.logs([np.array([0.2]), np.array([0.3])])] == [0.2, 0.3]
    assert asked == [0.1, 0.2, 0.3]
    assert (len(seen), [one.tolist() for one in seen.points]) == (3, [[0.1], [0.2], [0.3]])


def test_the_variance_of_the_seeds_is_subtracted_from_the_cost_of_a_point():
    """Seeds 1 and 3: mean 2, which is 0.5 from 2.5, and variance 2/2. A row without a mean counts as 5 away."""
    seen = evaluations(lambda point: [[1.0, NAN], [3.0, NAN]], (2.5, 0.0))
    point = np.array([0.5])
    assert seen.residuals(point).tolist() == [0.5, 5.0]
    assert seen.cost(point, np.array([2.0, 0.0])) == pytest.approx(4 * (0.25 - 1.0))
    assert seen.cost(point, np.array([0.0, 3.0])) == pytest.approx(9 * 25.0)


def test_the_best_point_has_the_least_residual_and_the_earlier_of_two_wins():
    seen = evaluations(lambda point: [[point[0]], [point[0]]], (0.5,))
    seen.logs([np.array([one]) for one in (0.0, 0.75, 0.25, 1.0)])
    assert seen.best(np.ones(1)).tolist() == [0.75]


@pytest.mark.parametrize(("own", "most", "count"), [
    # Four points for each of two keys and the scenario's own point, but no more than the maximum.
    (None, 100, 8), ([0.3, 0.4], 100, 9), (None, 5, 5), ([0.3, 0.4], 5, 5), ([0.3, 0.4], 1, 1), (None, 0, 0),
])  # fmt: skip
def test_starting_points(own, most, count):
    found = starting_points(2, None if own is None else np.array(own), 7, most)
    assert len(found) == count
    assert len({one.tobytes() for one in found}) == count
    assert all(((one >= 0) & (one < 1)).all() for one in found)
    if own is not None:
        assert found[0].tolist() == own


# ---- points of a surface ----


def at_corners(point):
    """A quadratic function of two keys, the same for both seeds."""
    x, y = point
    value = 1 + 2 * x - y + 3 * x * x - x * y + 0.5 * y * y
    return np.array([[value], [value]])


CENTRE, HALF = np.array([0.5, 0.5]), np.array([0.2, 0.02])
# Five points of the box; a quadratic function of two keys has six coefficients.
FIVE = [CENTRE + HALF * np.array(one) for one in ([0, 0], [1, 0], [-1, 0], [0, 1], [0, -1])]
# Outside the box by 1.5 half-widths in the long direction, and by five in the short one.
NEAR, FAR = np.array([0.8, 0.51]), np.array([0.49, 0.6])


def surface_of_points(points, predict):
    seen = evaluations(predict)
    seen.logs(points)
    return fitting._surface_over(fitting._Region(CENTRE, HALF), seen)


def is_exact(surface):
    return all(surface(one) == pytest.approx(at_corners(one), abs=1e-9) for one in (CENTRE, NEAR, CENTRE + HALF))


def test_if_a_region_has_too_few_points_the_nearest_outside_in_half_widths_is_added():
    def predict(point):
        return at_corners(point) + (100.0 if point[1] == FAR[1] else 0.0)

    assert is_exact(surface_of_points([FAR, *FIVE, NEAR], predict))
    # Without NEAR the surface takes FAR.
    assert not is_exact(surface_of_points([FAR, *FIVE], predict))


def test_if_a_region_has_enough_points_none_outside_is_added():
    def predict(point):
        return at_corners(point) + (100.0 if abs(point[0] - 0.5) > 0.21 else 0.0)

    assert is_exact(surface_of_points([NEAR, *FIVE, CENTRE + HALF], predict))


def test_a_point_without_prediction_is_left_out_and_a_missing_seed_gets_the_mean_of_the_others():
    inside = CENTRE + HALF / 2

    def predict(point):
        found = at_corners(point)
        if (point == inside).all():
            return found * NAN
        return np.array([found[0], [NAN]]) if (point == FIVE[1]).all() else found

    assert is_exact(surface_of_points([inside, *FIVE, NEAR], predict))


def test_a_region_without_any_prediction_has_a_flat_surface():
    surface = surface_of_points([CENTRE, *FIVE], lambda point: at_corners(point) * NAN)
    assert surface(NEAR).tolist() == [[0.0], [0.0]]


# ---- minimum of a surface ----


def least(functions, observed, weights, region=None, best=(0.5,)):
    """The minimum of a surface; each seed and row is a linear function (value at 0, slope) of one key."""
    region = region or box([0.5], [0.5])
    points = region.design()
    logs = [[[at + slope * float(point[0]) for at, slope in rows] for rows in functions] for point in points]
    surface = fitting._Surface(region, np.array(points), np.array(logs))
    return float(fitting._least(surface, region, np.array(observed), np.array(weights), np.array(best))[0])


def test_the_variance_of_the_seeds_is_subtracted_before_the_minimum_is_sought():
    """Seeds u and 0.2 + 1.4 u, observed 0.7: (0.7 - 0.1 - 1.2 u)^2 minus half of 2 (0.1 + 0.2 u)^2.

    The derivative is 0 where 1.2 (0.6 - 1.2 u) + 0.2 (0.1 + 0.2 u) = 0: u = 0.74/1.4, and not 0.5.
    """
    seeds = [[(0.0, 1.0)], [(0.2, 1.4)]]
    assert least(seeds, [0.7], [1.0]) == pytest.approx(0.74 / 1.4, abs=1e-5)
    assert least(seeds, [0.7], [3.0]) == pytest.approx(0.74 / 1.4, abs=1e-5)


def test_with_three_seeds_a_sixth_of_their_squares_is_subtracted():
    """Seeds 0.9 u, u and 1.1 u, observed 0.4: (0.4 - u)^2 - 0.02 u^2/6 has its minimum at 0.4/(1 - 0.02/6)."""
    seeds = [[(0.0, 0.9)], [(0.0, 1.0)], [(0.0, 1.1)]]
    assert least(seeds, [0.4], [1.0]) == pytest.approx(0.4 / (1 - 0.02 / 6), abs=1e-6)


def test_rows_count_by_the_squares_of_their_weights():
    """One row gives 0.3 with weight 2, the other 0.6 with weight 1: (4 x 0.3 + 0.6)/5 = 0.36."""
    seeds = [[(0.0, 1.0), (0.0, 1.0)]] * 2
    assert least(seeds, [0.3, 0.6], [2.0, 1.0]) == pytest.approx(0.36, abs=1e-5)


@pytest.mark.parametrize(("observed", "found"), [(0.3, 0.3), (0.5, 0.4), (0.1, 0.2)])
def test_the_minimum_is_within_the_region(observed, found):
    seeds = [[(0.0, 1.0)]] * 2
    assert least(seeds, [observed], [1.0], box([0.3], [0.1]), (0.3,)) == pytest.approx(found, abs=1e-5)


# ---- whole fits ----


def linear(points):
    """Two rows; both are u with the first seed and 1.4 u with the second."""
    return np.array([[[1.0 * point[0]] * 2, [1.4 * point[0]] * 2] for point in points])


def test_noise_and_weights_of_a_fit_with_two_seeds():
    """The slopes are 0.2 to either side of their mean: 2 x 0.04 over 2 (2 - 1) for each row."""
    found = fit(linear, np.array([0.6, 0.6]), np.array([0.1, 0.2]), [np.array([0.2])])
    assert found.jacobian == pytest.approx(np.array([[1.2], [1.2]]))
    assert found.noise == pytest.approx(np.array([[0.04 * (found.weights**2).sum()]]))
    assert found.measured_var == pytest.approx([0.01, 0.04])
    assert found.predicted == pytest.approx(1.2 * found.point[[0, 0]])
    # At 0.5 the seeds are 0.1 from their mean: variance 0.02, and 1 + 1/2 times that for the residual.
    variances = np.array([0.01, 0.04]) + 0.02 * (found.point[0] / 0.5) ** 2 * 1.5
    assert found.weights == pytest.approx(variances**-0.5, rel=0.2)


def test_if_the_budget_lacks_the_last_point_the_best_point_so_far_is_the_answer(monkeypatch):
    # Two minima of one surface may agree to the last bit, and then the last point is none that was not run yet.
    least, found_so_far = fitting._least, itertools.count(1)
    monkeypatch.setattr(fitting, "_least", lambda *given: least(*given) + 1e-9 * next(found_so_far))

    def predict(points):
        x = np.linspace(0.2, 1.0, 9)
        values = np.array([np.log(1 + 3 * point[0] * x) for point in points])
        return np.stack([values + 0.01 * np.sin(40 * x), values - 0.01 * np.sin(40 * x)], axis=1)

    observed = np.log(1 + 3 * 0.37 * np.linspace(0.2, 1.0, 9)) + 0.01 * np.cos(30 * np.linspace(0.2, 1.0, 9))

    def fitted(budget):
        asked = []

        def limited(points):
            if len(asked) + len(points) > budget:
                raise BudgetSpent
            asked.extend(point.tobytes() for point in points)
            return predict(points)

        return fit(limited, observed, np.full(9, 0.02), [np.array([0.9])]), asked

    whole, asked = fitted(1000)
    assert (whole.is_converged, whole.points) == (True, len(asked))
    short, asked = fitted(whole.points - 1)
    assert (short.is_converged, short.points) == (True, len(asked))
    assert short.point.tobytes() in asked
    assert short.point == pytest.approx(whole.point, abs=0.02)
