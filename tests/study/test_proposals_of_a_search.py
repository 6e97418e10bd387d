"""Proposals of a search: the trials that Optuna gets, the values that it proposes, and the steps of a race."""

from __future__ import annotations

import math

import pytest

from cluster_abm.study.tuning.proposals import Proposals
from cluster_abm.study.tuning.ranges import Over, Searched
from cluster_abm.study.tuning.search import metric_of, steps, without_metric

PERIOD = Searched(Over("cluster.exchange_period_ms", 10.0, 1000.0))
WEIGHTS = tuple(Searched(Over(f"policy.{name}_weight", 0.0, 1.0)) for name in ("cpu", "io"))


def trials_of(proposals):
    """Every trial in Optuna's study: state, value, parameters, and intermediate values."""
    trials = proposals._study.get_trials()
    return [(one.state.name, one.value, one.params, one.intermediate_values) for one in trials]


@pytest.mark.parametrize(("value", "is_held"), [
    (10.0, True), (1000.0, True), (500, True), (9.9, False), (1000.1, False), (None, False), (True, False),
    ("a", False),
])  # fmt: skip
def test_the_defaults_are_a_trial_if_the_ranges_hold_them(value, is_held):
    proposals = Proposals([PERIOD], 1)
    proposals.note({PERIOD.over.key: value}, {2: 0.5, 4: 0.25})
    expected = ("COMPLETE", 0.25, {PERIOD.over.key: value}, {2: 0.5, 4: 0.25})
    assert trials_of(proposals) == ([expected] if is_held else [])


@pytest.mark.parametrize(("cpu", "io", "is_held"), [(0.25, 0.75, True), (0.5, 0.6, False), (0.0, 0.0, False)])
def test_weights_are_a_trial_if_they_sum_to_one(cpu, io, is_held):
    keys = [one.over.key for one in WEIGHTS]
    proposals = Proposals(WEIGHTS, 1, keys)
    proposals.note(dict(zip(keys, (cpu, io), strict=True)), {2: 0.0})
    assert len(trials_of(proposals)) == is_held
    # Without the condition any weights are a trial.
    free = Proposals(WEIGHTS, 1)
    free.note(dict(zip(keys, (cpu, io), strict=True)), {2: 0.0})
    assert len(trials_of(free)) == 1


def test_the_value_of_a_finished_proposal_is_its_last_loss():
    proposals = Proposals([PERIOD], 1)
    trial, values = proposals.ask()
    proposals.tell(trial, {2: 0.5, 4: -0.25}, True)
    ((state, value, _, on_the_way),) = trials_of(proposals)
    assert (state, value, on_the_way) == ("COMPLETE", -0.25, {2: 0.5, 4: -0.25})
    assert 10.0 <= values[PERIOD.over.key] <= 1000.0


@pytest.mark.parametrize("losses", [{2: 0.5}, {}])
def test_a_proposal_that_was_stopped_or_refused_is_pruned(losses):
    proposals = Proposals([PERIOD], 1)
    trial, _ = proposals.ask()
    proposals.tell(trial, losses, False)
    ((state, _, _, on_the_way),) = trials_of(proposals)
    assert (state, on_the_way) == ("PRUNED", losses)


def test_proposed_values_have_four_digits_and_lie_in_their_ranges():
    """Whole numbers and choices are proposed as they are."""
    searched = [
        Searched(Over("a", 0.123456, 0.123463)), Searched(Over("b", 1, 9), whole=True),
        Searched(Over("c", choices=("x", True))), Searched(Over("d", 1e-3, 1e3, log=True)),
    ]  # fmt: skip
    proposals = Proposals(searched, 3)
    found = [proposals.ask()[1] for _ in range(40)]
    # With four digits 0.1235 lies above the range and 0.1234 below it: the end of the range is proposed.
    assert {one["a"] for one in found} == {0.123463}
    assert {one["b"] for one in found} <= set(range(1, 10))
    assert {type(one["b"]) for one in found} == {int}
    assert {one["c"] for one in found} == {"x", True}
    assert all(float(f"{one['d']:.4g}") == one["d"] for one in found)
    # On a logarithmic scale half of the values are below 1: 20 of 40, within 16, five standard deviations of sqrt(10).
    assert 4 <= sum(one["d"] < 1.0 for one in found) <= 36


def test_the_same_seed_proposes_the_same():
    first, second, other = (Proposals([PERIOD], seed).ask()[1] for seed in (5, 5, 6))
    assert first == second != other
    # numpy takes seeds below 2^32; a larger seed is taken modulo 2^32.
    assert Proposals([PERIOD], 2**32 + 5).ask()[1] == first


@pytest.mark.parametrize(("row", "value", "words"), [
    ({"x": 2.0}, 2.0, None), ({"x": 3}, 3.0, None),
    ({"x": 0.0}, None, "x is 0 in its run from seed 7, and a ratio takes numbers above 0"),
    ({"x": math.inf}, None, "x is inf in its run from seed 7, and a ratio takes numbers above 0"),
    ({"x": -1.5}, None, "x is -1.5 in its run from seed 7, and a ratio takes numbers above 0"),
    ({"x": math.nan}, None, "x is missing in its run from seed 7, and a ratio takes numbers above 0"),
    ({"y": 1.0}, None, "x is missing in its run from seed 7, and a ratio takes numbers above 0"),
    (None, None, "its run from seed 7 failed"),
])  # fmt: skip
def test_a_metric_without_a_ratio_is_explained(row, value, words):
    assert metric_of(row, "x") == value
    if words:
        assert without_metric(row, "x", 7) == words


@pytest.mark.parametrize(("seeds", "found"), [
    (2, (2,)), (3, (2, 3)), (4, (2, 4)), (5, (2, 4, 5)), (8, (2, 4, 8)), (9, (2, 4, 8, 9)),
    (12, (2, 4, 8, 12)), (16, (2, 4, 8, 16)),
])  # fmt: skip
def test_a_race_has_a_step_at_each_doubling_of_the_seeds(seeds, found):
    assert steps(seeds) == found
