"""Verdicts on a machine just below, at, and just above each of their limits."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from cluster_abm.validation.judging import (
    INCONCLUSIVE,
    OUTSIDE,
    WITHIN,
    Conditions,
    ErrorQuantile,
    Goal,
    idle_reasons,
    noise_reasons,
    repeat_noise,
    verdict_of,
)

QUIET = Conditions(others=0.0, steal=0.0, delivered=1.0, drift=0.0)
GOAL, FLOOR = Goal(0.03, 0.08), Goal(0.01, 0.02)
SMALL, LARGE = ErrorQuantile(0.01, 0.0, 0.02), ErrorQuantile(0.5, 0.4, 0.6)


def above(value: float) -> float:
    return math.nextafter(value, 1.0)


@pytest.mark.parametrize(("condition", "limit", "beyond", "words"), [
    ("others", 0.05, above(0.05), "others used"), ("steal", 0.02, above(0.02), "the hypervisor"),
    ("delivered", 0.95, math.nextafter(0.95, 0.0), "the processes got"), ("drift", 0.03, above(0.03), "alone, changed"),
])  # fmt: skip
def test_a_condition_at_its_limit(condition, limit, beyond, words):
    assert noise_reasons(replace(QUIET, **{condition: limit}), FLOOR, GOAL) == []
    (reason,) = noise_reasons(replace(QUIET, **{condition: beyond}), FLOOR, GOAL)
    assert words in reason


@pytest.mark.parametrize(("floor", "is_quiet"), [
    (GOAL, True), (Goal(above(0.03), 0.0), False), (Goal(0.0, above(0.08)), False), (Goal(0.0, 0.0), True),
    (None, False),
])  # fmt: skip
def test_the_floor_at_the_goal(floor, is_quiet):
    assert (noise_reasons(QUIET, floor, GOAL) == []) == is_quiet


def test_every_reason_is_given():
    noisy = Conditions(others=1.0, steal=1.0, delivered=0.0, drift=1.0)
    assert len(noise_reasons(noisy, None, GOAL)) == 5
    assert len(idle_reasons((1.0, 1.0), (1.0, 1.0))) == 4


@pytest.mark.parametrize(("before", "after", "words"), [
    ((0.05, 0.02), (0.05, 0.02), []), ((above(0.05), 0.0), (0.0, 0.0), ["before the measurements others used"]),
    ((0.0, above(0.02)), (0.0, 0.0), ["before the measurements 2.0% of"]),
    ((0.0, 0.0), (above(0.05), 0.0), ["after the measurements others used"]),
    ((0.0, 0.0), (0.0, above(0.02)), ["after the measurements 2.0% of"]),
])  # fmt: skip
def test_what_others_did_while_it_slept(before, after, words):
    found = idle_reasons(before, after)
    assert len(found) == len(words)
    assert all(reason.startswith(word) for reason, word in zip(found, words, strict=True))


def ending(low: float, high: float) -> ErrorQuantile:
    return ErrorQuantile((low + high) / 2, low, high)


@pytest.mark.parametrize(("median", "p90", "verdict"), [
    # Both end at the goal or below it; one begins above it; one of them holds it.
    (ending(0.0, 0.03), ending(0.0, 0.08), WITHIN), (ending(0.0, above(0.03)), SMALL, INCONCLUSIVE),
    (SMALL, ending(0.0, above(0.08)), INCONCLUSIVE), (ending(0.03, 0.9), SMALL, INCONCLUSIVE),
    (ending(above(0.03), 0.9), SMALL, OUTSIDE), (SMALL, ending(0.08, 0.9), INCONCLUSIVE),
    (SMALL, ending(above(0.08), 0.9), OUTSIDE), (LARGE, LARGE, OUTSIDE), (LARGE, ending(0.0, 0.9), OUTSIDE),
])  # fmt: skip
def test_an_error_at_the_goal(median, p90, verdict):
    found, reasons = verdict_of(median, p90, GOAL, 8, [])
    assert found == verdict
    assert (reasons != []) == (verdict == INCONCLUSIVE)


@pytest.mark.parametrize(("sets", "reasons", "verdict", "said"), [
    (8, [], WITHIN, []), (7, [], INCONCLUSIVE, ["7 sets are too few (at least 8); give it more --seconds"]),
    (8, ["loud"], INCONCLUSIVE, ["loud"]), (7, ["loud"], INCONCLUSIVE, ["loud"]),
])  # fmt: skip
def test_noise_goes_first_then_the_number_of_sets(sets, reasons, verdict, said):
    assert verdict_of(SMALL, SMALL, GOAL, sets, reasons) == (verdict, said)


def test_the_worse_of_two_conditions():
    one, other = Conditions(0.1, 0.2, 0.8, 0.4), Conditions(0.3, 0.1, 0.9, 0.5)
    assert one.worst(other) == other.worst(one) == Conditions(0.3, 0.2, 0.8, 0.5)


def test_what_noise_makes_of_a_response():
    """Over their mean and sqrt(2): 2 of 4, twice the same, and in the other order."""
    found = repeat_noise(np.array([3.0, 7.0, 5.0]), np.array([5.0, 7.0, 3.0]))
    assert found == pytest.approx([0.5 / math.sqrt(2.0), 0.0, 0.5 / math.sqrt(2.0)])
