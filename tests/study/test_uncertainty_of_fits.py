"""Uncertainty of a fit, by hand: standard errors by three causes, degrees of freedom, correlation, and sentences."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cluster_abm.study.calibration.fitting import Fit
from cluster_abm.study.calibration.uncertainty import NamedKey, Uncertainty, uncertainty_of, what_cannot_be_told

INF = math.inf


def known_of(jacobian, logs=None, runs=None, weights=None, measured=None, noise=0.0):
    """The uncertainty of a fit with these derivatives, shape (rows, keys)."""
    jacobian = np.array(jacobian, float)
    rows, keys = jacobian.shape
    found = Fit(
        np.full(keys, 0.5), np.zeros((3, rows)) if logs is None else np.array(logs), jacobian, noise * np.eye(keys),
        np.ones(rows) if weights is None else np.array(weights),
        np.full(rows, 0.01) if measured is None else np.array(measured), True, 9,
    )  # fmt: skip
    return uncertainty_of(found, np.zeros(rows, int) if runs is None else np.array(runs))


# Rows are seeds. Deviations from the mean: 0.1, -0.1, 0 in the first column; 0.3, -0.1, -0.2 in the second.
LOGS = [[1.1, 2.3], [0.9, 1.9], [1.0, 1.8]]


@pytest.mark.parametrize(("runs", "of_run", "freedom"), [
    # One run: the seeds move the key by (0.1 + 0.3)/2, -0.2/2 and -0.2/2, squares 0.06 over 3 - 1.
    ([0, 0], 0.03, 0.06**2 / (0.02**2 / 1 + 0.03**2 / 2 + 0.01**2 / 2)),
    # Two runs: half of each deviation. The squares sum to 0.005 and 0.035, over 3 - 1; degrees of freedom are twice 2.
    ([0, 1], 0.02, 0.05**2 / (0.02**2 / 1 + 0.02**2 / 4 + 0.01**2 / 2)),
])  # fmt: skip
def test_one_key_by_two_rows(runs, of_run, freedom):
    """The key is the mean of two rows, A = (1/2, 1/2): by measurement its variance is (0.02 + 0.06)/4 = 0.02.

    By the mean of three seeds it is 0.06/2/3 = 0.01. The degrees of freedom of the sum are Satterthwaite's.
    """
    known = known_of([[1.0], [1.0]], LOGS, runs, measured=[0.02, 0.06])
    total = 0.02 + of_run + 0.01
    assert known.errors == pytest.approx([math.sqrt(total)])
    assert known.shares == pytest.approx(np.array([[0.02, of_run, 0.01]]) / total)
    assert known.freedom == pytest.approx([freedom])
    assert (known.flat, known.singular.shape) == ((), (0, 1))


def test_rows_count_by_the_squares_of_their_weights():
    """With weights 2 and 1, A = (4, 1)/5: the variance is 0.01 (16 + 1)/25."""
    assert known_of([[1.0], [1.0]], weights=[2.0, 1.0]).errors == pytest.approx([math.sqrt(0.01 * 17 / 25)])


@pytest.mark.parametrize(("noise", "information"), [
    # J'J is 2. The noise is subtracted if at least 0.3 of J'J is left, 0.6.
    (0.0, 2.0), (0.5, 1.5), (1.39, 0.61), (1.41, 2.0), (3.0, 2.0),
])  # fmt: skip
def test_noise_of_the_derivatives_is_subtracted_from_the_information(noise, information):
    known = known_of([[1.0], [1.0]], noise=noise)
    assert known.errors == pytest.approx([math.sqrt(0.02) / information])


def test_degrees_of_freedom_are_rows_minus_keys():
    """With measurement errors alone, five rows and two keys leave 3."""
    known = known_of([[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 2)
    assert known.freedom == pytest.approx([3.0, 3.0])
    assert known.errors == pytest.approx([math.sqrt(0.01 / 3), math.sqrt(0.01 / 2)])
    assert known.shares.tolist() == [[1.0, 0.0, 0.0]] * 2


def test_without_variance_all_shares_are_zero():
    known = known_of([[1.0], [1.0]], measured=[0.0, 0.0])
    assert (known.errors.tolist(), known.shares.tolist()) == ([0.0], [[0.0, 0.0, 0.0]])


def test_two_keys_that_pull_at_the_same_row():
    """J'J is (2 1; 1 2), its inverse (2 -1; -1 2)/3: correlation -1/2, variances 0.01 x 2/3."""
    known = known_of([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    assert known.correlation == pytest.approx(np.array([[1.0, -0.5], [-0.5, 1.0]]))
    assert known.errors == pytest.approx([math.sqrt(0.01 * 2 / 3)] * 2)


def test_two_keys_of_which_only_the_sum_is_known_have_infinite_errors():
    known = known_of([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    assert known.errors == pytest.approx([0.1, INF, INF])
    assert np.abs(known.singular) == pytest.approx(np.array([[0.0, 0.5**0.5, 0.5**0.5]]))
    assert known.correlation[1, 2] == pytest.approx(-1.0, abs=1e-9)
    assert known.flat == ()


@pytest.mark.parametrize(("second", "flat", "error"), [
    # A key is flat if it changes the rows by less than a millionth of what the other key does.
    (0.0, (1,), INF), (0.9e-6, (1,), INF), (1.1e-6, (), 0.1 / 1.1e-6), (1.0, (), 0.1),
])  # fmt: skip
def test_a_key_with_hardly_any_effect_is_flat(second, flat, error):
    known = known_of([[1.0, 0.0], [0.0, second]])
    assert known.flat == flat
    assert known.errors == pytest.approx([0.1, error])


def test_keys_without_effect_are_all_flat():
    known = known_of([[0.0, 0.0]] * 3)
    assert (known.flat, known.errors.tolist()) == ((0, 1), [INF, INF])


def test_half_of_an_interval():
    """With 4 degrees of freedom Student's t is 2.131847 at 95 % and 2.776445 at 97.5 % (tables)."""
    known = made((0.1, 0.2), freedom=4.0)
    assert known.arms(0.90) == pytest.approx([0.2131847, 0.4263694], rel=1e-6)
    assert known.arms(0.95) == pytest.approx([0.2776445, 0.5552890], rel=1e-6)


# ---- sentences ----


def made(errors, r=0.0, singular=(), flat=(), freedom=1e6):
    """An uncertainty in which all pairs of keys have the same correlation."""
    keys = len(errors)
    correlation = np.full((keys, keys), r) + (1.0 - r) * np.eye(keys)
    directions = np.array(singular, float).reshape(len(singular), keys)
    return Uncertainty(np.array(errors), np.full(keys, freedom), np.zeros((keys, 3)), correlation, directions, flat)


def said(known, *keys, point=None):
    """The sentences on keys a, b, c, each given by its value and slope."""
    named = [NamedKey(name, *one) for name, one in zip("abc", keys, strict=False)]
    return what_cannot_be_told(known, np.full(len(named), 0.5) if point is None else np.array(point), named)


@pytest.mark.parametrize(("errors", "r", "a", "b", "kind", "move"), [
    # Along the ridge b moves by r x (error of b/error of a) x (slope of b/slope of a). A product or a ratio is
    # named if both keys move by the same per cent ...
    ((0.01, 0.01), -1.0, (5.0, 10.0), (5.0, 10.0), "the product", "a 0.5 higher with b 0.5 lower"),
    ((0.01, 0.02), -1.0, (5.0, 10.0), (20.0, 20.0), "the product", "a 0.5 higher with b 2 lower"),
    ((0.01, 0.01), 1.0, (5.0, 10.0), (5.0, 10.0), "the ratio", "a 0.5 higher with b 0.5 higher"),
    # ... and a sum or a difference if both move by the same amount, within a fifth.
    ((0.01, 0.01), -1.0, (10.0, 10.0), (2.0, 10.0), "the sum", "a 1 higher with b 1 lower"),
    ((0.01, 0.01), 1.0, (10.0, 10.0), (2.0, 10.0), "the difference", "a 1 higher with b 1 higher"),
    ((0.01, 0.01), -1.0, (10.0, 10.0), (2.0, 11.9), "the sum", "a 1 higher with b 1.19 lower"),
    ((0.01, 0.01), -1.0, (10.0, 10.0), (2.0, 12.1), "a combination", "a 1 higher with b 1.21 lower"),
    ((0.01, 0.01), 1.0, (10.0, 10.0), (2.0, 8.1), "the difference", "a 1 higher with b 0.81 higher"),
    ((0.01, 0.01), 1.0, (10.0, 10.0), (2.0, 7.9), "a combination", "a 1 higher with b 0.79 higher"),
    ((0.01, 0.01), -1.0, (10.0, 10.0), (10.0, 11.9), "the product", "a 1 higher with b 1.19 lower"),
    ((0.01, 0.01), 1.0, (10.0, 10.0), (10.0, 8.1), "the ratio", "a 1 higher with b 0.81 higher"),
    # A value of 0 has no per cent.
    ((0.01, 0.01), -1.0, (0.0, 10.0), (5.0, 10.0), "a combination", "a 1 higher with b 1 lower"),
    ((0.01, 0.01), -1.0, (5.0, 10.0), (0.0, 10.0), "a combination", "a 0.5 higher with b 0.5 lower"),
])  # fmt: skip
def test_two_correlated_keys_are_named_with_their_combination(errors, r, a, b, kind, move):
    assert said(made(errors, r), a, b) == [
        f"the data tell only {kind} of a and b well: {move} predicts much the same (correlation {r:+.3f})"
    ]


@pytest.mark.parametrize(("r", "count"), [(0.949, 0), (0.951, 1), (-0.949, 0), (-0.951, 1)])
def test_a_pair_is_named_from_a_correlation_of_95_per_cent_on(r, count):
    assert len(said(made((0.01, 0.01), r), (5.0, 10.0), (5.0, 10.0))) == count


def test_the_ridge_is_the_singular_direction():
    """In the unit cube b moves by -0.8 when a moves by 0.6. In values it is -0.8/0.6 x 4.5/3 = -2 per unit of a."""
    known = made((INF, INF), -1.0, [(0.6, -0.8)])
    (line,) = said(known, (10.0, 3.0), (1.0, 4.5))
    assert "only a combination of a and b well: a 1 higher with b 2 lower" in line
    # A singular direction of c alone does not count for a and b: their errors and correlation do.
    known = made((0.01, 0.02, INF), 0.0, [(0.0, 0.0, 1.0)], (2,))
    known.correlation[0, 1] = known.correlation[1, 0] = 1.0
    assert "a 1 higher with b 2 higher" in said(known, (10.0, 1.0), (3.0, 1.0), (1.0, 1.0))[1]


def test_a_flat_key_is_named_once():
    """It is named neither as one of a pair nor for its wide interval."""
    assert said(made((0.01, INF), 1.0, [(0.0, 1.0)], (1,)), (1.0, 1.0), (1.0, 1.0)) == [
        "b changes nothing that was observed"
    ]


def test_a_singular_direction_of_three_keys_is_one_sentence():
    direction = (0.6, -0.6, 0.53)
    assert said(made((INF, INF, INF), 0.0, [direction]), *[(1.0, 1.0)] * 3) == [
        "the data tell only a combination of a, b, c: one of them has to be known otherwise"
    ]
    # If the part of c is close to 0, the sentence is not on three keys.
    lines = said(made((INF, INF, 0.01), 0.0, [(0.7, -0.7, 0.04)]), *[(1.0, 1.0)] * 3)
    assert not any("a, b, c" in line for line in lines)


@pytest.mark.parametrize(("point", "error", "is_known"), [
    # The interval reaches 1.6449 errors to either side, and has to cover 0.9 of the range. In the middle an error of
    # 0.28 covers 2 x 0.4606 = 0.92, one of 0.27 covers 0.888.
    (0.5, 0.28, False), (0.5, 0.27, True),
    # At 0.1 the interval is cut at 0: an error of 0.28 covers 0.1 + 0.46, one of 0.49 covers 0.1 + 0.806.
    (0.1, 0.28, True), (0.1, 0.49, False), (0.1, 0.48, True), (0.9, 0.49, False), (0.9, 0.48, True),
])  # fmt: skip
def test_a_key_whose_interval_covers_its_range_is_named(point, error, is_known):
    lines = said(made((error,)), (1.0, 1.0), point=[point])
    assert lines == ([] if is_known else ["a is not told within its range: its 90 % interval covers it"])
