"""Quantiles of errors, the noise floor, and verdicts: noise is looked at first, and apart from the error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cluster_abm.validation.judging import (
    CPU_GOAL,
    FEWEST_SETS,
    Conditions,
    ErrorQuantile,
    Goal,
    idle_reasons,
    noise_reasons,
    quantiles_of_errors,
    repeat_noise,
    verdict_of,
)

QUIET = Conditions(others=0.01, steal=0.0, delivered=0.99, drift=0.01)
FLOOR = Goal(0.005, 0.02)


def test_quantiles_by_hand():
    errors = np.arange(11) / 100
    found, upper = quantiles_of_errors(errors, np.arange(11), [0.5, 0.9])
    assert found.value == 0.05
    assert found.low < 0.05 < found.high
    assert upper.value == pytest.approx(0.09)
    assert quantiles_of_errors(np.full(6, 0.02), np.arange(6), [0.9]) == [ErrorQuantile(0.02, 0.02, 0.02)]


@pytest.mark.slow
def test_processes_of_one_set_are_no_independent_evidence():
    """Every set ten times: the interval is that of the sets."""
    errors = np.random.default_rng(3).exponential(0.02, 20)
    sets = np.arange(20)
    (single,) = quantiles_of_errors(errors, sets, [0.5])
    (repeated,) = quantiles_of_errors(np.repeat(errors, 10), np.repeat(sets, 10), [0.5])
    (as_if_independent,) = quantiles_of_errors(np.repeat(errors, 10), np.arange(200), [0.5])
    assert repeated.high - repeated.low > 0.7 * (single.high - single.low)
    assert as_if_independent.high - as_if_independent.low < 0.6 * (repeated.high - repeated.low)


@pytest.mark.slow
@pytest.mark.long
def test_intervals_cover_the_truth():
    rng = np.random.default_rng(11)
    truth = 0.6744897501960817  # the median of |N(0, 1)|
    covered = 0
    for _ in range(100):
        errors = np.abs(rng.standard_normal(120))
        (found,) = quantiles_of_errors(errors, np.repeat(np.arange(40), 3), [0.5], seed=int(rng.integers(1 << 30)))
        covered += found.low <= truth <= found.high
    # Of 100 at 95 %: fewer than 87 with probability 0.001.
    assert covered >= 87


def test_noise_from_repeats_is_that_of_one_measurement():
    rng = np.random.default_rng(2)
    first, second = 100 * np.exp(0.02 * rng.standard_normal((2, 20_000)))
    noise, error = repeat_noise(first, second), np.abs(first / 100 - 1)
    for share in (0.5, 0.9):
        assert np.quantile(noise, share) == pytest.approx(np.quantile(error, share), rel=0.05)


@pytest.mark.parametrize(("change", "words"), [
    ({"others": 0.06}, "others used 6.0% of the cores meanwhile"),
    ({"steal": 0.03}, "the hypervisor gave 3.0%"),
    ({"delivered": 0.9}, "the processes got 90.0%"),
    ({"drift": 0.04}, "changed by 4.0%"),
])  # fmt: skip
def test_each_condition_by_itself_makes_a_machine_noisy(change, words):
    assert noise_reasons(QUIET, FLOOR, CPU_GOAL) == []
    (reason,) = noise_reasons(replace(QUIET, **change), FLOOR, CPU_GOAL)
    assert words in reason


def test_repeats_that_differ_by_more_than_the_goal_make_a_machine_noisy():
    assert "4.0% / 5.0%" in noise_reasons(QUIET, Goal(0.04, 0.05), CPU_GOAL)[0]
    assert noise_reasons(QUIET, Goal(0.01, 0.09), CPU_GOAL)
    assert noise_reasons(QUIET, None, CPU_GOAL) == ["no set was repeated, so that the noise is not known"]


def test_what_is_seen_while_the_validation_sleeps():
    assert idle_reasons((0.01, 0.0), (0.02, 0.01)) == []
    before, after = idle_reasons((0.2, 0.0), (0.0, 0.5))
    assert before.startswith("before the measurements others used 20.0%")
    assert after.startswith("after the measurements 50.0% of the cores' time was stolen")


def test_verdicts():
    good, bad = ErrorQuantile(0.02, 0.015, 0.025), ErrorQuantile(0.05, 0.04, 0.06)
    p90 = ErrorQuantile(0.06, 0.05, 0.07)
    assert verdict_of(good, p90, CPU_GOAL, 50, []) == ("within the goal", [])
    assert verdict_of(bad, p90, CPU_GOAL, 50, []) == ("outside the goal", [])
    assert verdict_of(good, ErrorQuantile(0.2, 0.1, 0.3), CPU_GOAL, 50, []) == ("outside the goal", [])
    # Neither a bad nor a good error counts on a noisy machine, or from few sets.
    for median in (good, bad):
        assert verdict_of(median, p90, CPU_GOAL, 50, ["noise"]) == ("inconclusive", ["noise"])
        assert verdict_of(median, p90, CPU_GOAL, FEWEST_SETS - 1, [])[0] == "inconclusive"
    straddling = verdict_of(ErrorQuantile(0.029, 0.02, 0.04), p90, CPU_GOAL, 50, [])
    assert straddling[0] == "inconclusive"
    assert "contains its goal" in straddling[1][0]
