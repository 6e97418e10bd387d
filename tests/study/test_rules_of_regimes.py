"""Rules and verdicts of the arena, by hand: number of regimes, crossings, gains, and number of rules."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from cluster_abm.study.arena.regimes import BY_NAME, in_words
from cluster_abm.study.arena.rules import RegimeRule, chance_of, held_rules, measured, rule_at, rules
from cluster_abm.study.arena.verdicts import RegimeVerdict as Found
from cluster_abm.study.arena.verdicts import gap_closed, regrets_by_third


def factor(name, values):
    return pd.Series(np.array(values, float), name=name)


@pytest.mark.parametrize(("regimes", "is_rule"), [(15, True), (14, False), (17, True)])
def test_a_rule_needs_five_regimes_in_each_third(regimes, is_rule):
    places = np.linspace(0.3, 0.9, regimes)
    assert (rule_at(factor("load", places), places - 0.6, "a", "b") is not None) is is_rule


def test_a_rule_on_a_straight_line():
    """Differences rise from -0.3 to 0.3 over loads of 0.3 to 0.9: they cross at 0.6, and a is better below.

    The first third has five regimes, from -0.3 to -0.3 + 4 x 0.6/14, with the mean -0.3 + 1.2/14.
    """
    places = np.linspace(0.3, 0.9, 15)
    found = rule_at(factor("load", places), places - 0.6, "a", "b")
    assert (found.factor, found.below, found.above) == ("load", "a", "b")
    assert found.value == pytest.approx(0.6)
    gain = math.expm1(0.3 - 1.2 / 14)
    assert (found.gain_below, found.gain_above) == pytest.approx((gain, gain))
    assert found.stake == pytest.approx(gain)
    low, high = found.ci_below
    # Five values 0.6/14 apart have a standard deviation of sqrt(2.5) x 0.6/14; Student's t with 4 degrees is 2.776445.
    arm = 2.776445 * math.sqrt(2.5 / 5) * 0.6 / 14
    assert (low, high) == pytest.approx((math.expm1(0.3 - 1.2 / 14 - arm), math.expm1(0.3 - 1.2 / 14 + arm)))
    assert found.ci_above == pytest.approx(found.ci_below)
    # With the opposite sign b is better below.
    turned = rule_at(factor("load", places), 0.6 - places, "a", "b")
    assert (turned.below, turned.above, turned.value) == ("b", "a", pytest.approx(0.6))
    # The order of the regimes does not matter.
    order = np.random.default_rng(1).permutation(15)
    assert rule_at(factor("load", places[order]), (places - 0.6)[order], "a", "b").gain_below == pytest.approx(gain)


def test_the_crossing_of_a_logarithmic_factor_is_found_on_its_logarithm():
    places = np.geomspace(0.1, 10.0, 15)
    found = rule_at(factor("age", places), np.log10(places), "a", "b")
    assert found.value == pytest.approx(1.0)


@pytest.mark.parametrize("differences", [
    # One sign; no differences; a last third of which the mean, 0.1, is not significant.
    np.linspace(0.1, 0.4, 15), np.zeros(15),
    np.concatenate([np.linspace(-0.6, -0.4, 10), 0.1 + np.array([-2.0, 2.0, -2.0, 2.0, 0.0])]),
])  # fmt: skip
def test_without_a_significant_crossing_there_is_no_rule(differences):
    assert rule_at(factor("load", np.linspace(0.3, 0.9, 15)), differences, "a", "b") is None


@pytest.mark.parametrize(("values", "differences", "chance"), [
    ([1, 2, 3, 4], [1, 1, 1, 1], 1.0), ([2, 2, 2, 2], [1, 2, 3, 4], 1.0), ([1, 2, 3, 4], [10, 20, 30, 40], 0.0),
])  # fmt: skip
def test_the_chance_of_as_strong_a_correlation(values, differences, chance):
    assert chance_of(factor("load", values), factor("x", differences)) == pytest.approx(chance, abs=1e-12)


def test_each_policy_is_in_three_rules_at_most():
    """Policy a crosses five others. Its difference to f is the steepest, then those to e and d."""
    places = np.linspace(0.3, 0.9, 30)
    rng = np.random.default_rng(2)
    wide = {"a": np.zeros(30)} | {name: (0.6 - places) * (1 + 0.1 * k) + 0.01 * rng.normal(size=30)
                                  for k, name in enumerate("bcdef")}  # fmt: skip
    index = pd.MultiIndex.from_tuples([(number, 1) for number in range(30)], names=["regime", "seed"])
    logs = pd.DataFrame(wide, index=index)
    regimes = pd.DataFrame({"load": places}, index=pd.RangeIndex(30, name="regime"))
    of_a = [rule for rule in rules(regimes, logs, list("abcdef")) if "a" in (rule.below, rule.above)]
    assert len(of_a) == 3
    # Rules with the highest stake are kept, in descending order.
    assert [rule.stake for rule in of_a] == sorted((rule.stake for rule in of_a), reverse=True)
    assert {rule.above for rule in of_a} == set("def")
    assert len(rules(regimes, logs, list("abcdef"), most=2)) == 2


def test_a_factor_of_two_values_has_no_thirds():
    """Of fifteen regimes six have tasks that differ: all of them are one side. The line through both means crosses
    between them, at -0.2 + 0.5 x = 0."""
    values = np.array([0.0] * 9 + [1.0] * 6)
    noise = np.array([0.01, -0.01, 0.0] * 5)
    found = rule_at(factor("task_cpu", values), np.where(values > 0, 0.3, -0.2) + noise, "a", "b")
    assert (found.below, found.above, found.value) == ("a", "b", pytest.approx(0.4))
    assert (found.gain_below, found.gain_above) == pytest.approx((math.expm1(0.2), math.expm1(0.3)))
    assert found.in_words.startswith(
        "tasks of a job that differ: b rather than a (+35%); tasks of a job that are alike"
    )


# ---- the other half ----


def found_rule(value=0.6):
    return RegimeRule("load", value, "a", "b", 9.0, 9.0, (9.0, 9.0), (9.0, 9.0))


def test_a_rule_is_measured_above_and_below_its_value():
    """Five regimes at loads of 0.3 to 0.6, and five above. Logarithms of b over a are 0.1 to 0.5, and -0.2 each but one
    of 0.3: their mean is -0.1."""
    loads = [0.3, 0.4, 0.5, 0.55, 0.6, 0.61, 0.7, 0.8, 0.85, 0.9]
    gaps = [0.1, 0.2, 0.3, 0.4, 0.5, -0.2, -0.2, -0.2, -0.2, 0.3]
    regimes = pd.DataFrame({"load": loads}, index=pd.RangeIndex(10, name="regime"))
    means = pd.DataFrame({"a": np.zeros(10), "b": gaps}, index=regimes.index)
    told = measured(found_rule(), regimes, means)
    assert (told.gain_below, told.gain_above) == pytest.approx((math.expm1(0.3), math.expm1(0.1)))
    # t = 0.1 / (sqrt(5) x 0.1 / sqrt(5)) = 1 on 4 degrees of freedom: one-sided 0.187 (tables).
    assert told.chance == pytest.approx(0.18695, abs=1e-5)
    # Student's t on 4 degrees of freedom is 2.776445 at 97.5 %, and the standard error of the second side 0.1.
    assert told.ci_above == pytest.approx((math.expm1(0.1 - 0.2776445), math.expm1(0.1 + 0.2776445)))
    # A side of four regimes is too few.
    assert measured(found_rule(0.61), regimes, means) is None
    assert measured(found_rule(0.59), regimes, means) is None


def halves_of(first, second):
    """Differences of two policies over load: one rule in the regimes of even number, another one in the odd ones."""
    loads, noise = np.repeat(np.linspace(0.3, 0.9, 30), 2), np.random.default_rng(2).normal(0.0, 0.02, 60)
    gaps = np.where(np.arange(60) % 2 == 0, first * (loads - 0.6), second * (loads - 0.6)) + noise
    index = pd.MultiIndex.from_tuples([(number, 1) for number in range(60)], names=["regime", "seed"])
    regimes = pd.DataFrame({"load": loads}, index=pd.RangeIndex(60, name="regime"))
    return regimes, pd.DataFrame({"a": gaps, "b": np.zeros(60)}, index=index)


def test_a_rule_is_printed_with_the_gains_of_the_other_half():
    """The other half shows half the slope: means over each side of 15 loads are 0.155 from the crossing, halved."""
    told = held_rules(*halves_of(1.0, 0.5), ["a", "b"])
    (found,), (held,) = told
    assert (held.below, held.above, held.value) == ("a", "b", found.value)
    assert held.value == pytest.approx(0.6, abs=0.02)
    assert (held.gain_below, held.gain_above) == pytest.approx((math.expm1(0.0776),) * 2, abs=0.02)
    assert min(found.gain_below, found.gain_above) > 0.15
    assert told.in_words == "1 found, 1 held"


@pytest.mark.parametrize("second", [0.0, -1.0])
def test_a_rule_that_the_other_half_does_not_show_is_counted_alone(second):
    told = held_rules(*halves_of(1.0, second), ["a", "b"])
    assert (len(told.found), told.held) == (1, [])
    assert told.in_words == "1 found, 0 held"


@pytest.mark.slow
def test_noise_is_rarely_held_as_a_rule():
    """Made-up rules held against noise need luck on both sides, 5 % each; where one side is true, luck on the other."""
    rng = np.random.default_rng(5)
    regimes = pd.DataFrame({"load": np.linspace(0.3, 0.9, 30)}, index=pd.RangeIndex(30, name="regime"))
    for gain, chance in ((0.0, 0.05**2), (1.0, 0.05)):
        held = 0
        for _ in range(1000):
            noise = rng.normal(0.0, 0.2, (30, 2)) + np.outer(regimes["load"] <= 0.6, [-gain, 0.0])
            held += measured(found_rule(), regimes, pd.DataFrame(noise, columns=["a", "b"], index=regimes.index)).holds
        assert abs(held / 1000 - chance) < 3 * (chance * (1 - chance) / 1000) ** 0.5


# ---- tables ----


def test_the_gap_closed_is_the_median_over_regimes_with_a_gap():
    """With none at 10 and pooled at 2, a closes 1/2, 3/4 and 1/8. In the fourth regime the gap is below a hundredth."""
    rows = [(regime, name, value) for regime, a in enumerate((6.0, 4.0, 9.0, 1.0))
            for name, value in (("none", 10.0), ("pooled", 2.0 if regime < 3 else 9.95), ("a", a))]  # fmt: skip
    runs = pd.DataFrame(rows, columns=["regime", "policy", "mean_slowdown"])
    assert gap_closed(runs)["a"] == pytest.approx(0.5)
    assert gap_closed(runs[runs["policy"] != "pooled"]) == {}


def test_regret_in_thirds_of_a_factor():
    """Regrets are averaged geometrically: 0.1 and 0.3 give sqrt(1.1 x 1.3) - 1."""
    regimes = pd.DataFrame({"load": [0.9, 0.1, 0.5, 0.2, 0.6, 0.8]}, index=pd.RangeIndex(6, name="regime"))
    regrets = {0: 0.5, 1: 0.1, 2: 0.2, 3: 0.3, 4: 0.2, 5: 0.5}
    found = {number: Found("x", ("x",), {"a": regret}) for number, regret in regrets.items()}
    table = regrets_by_third(regimes, found, "a", ["load"])
    assert table.loc["load"].to_dict() == pytest.approx({"low": math.sqrt(1.43) - 1, "middle": 0.2, "high": 0.5})


# ---- factors ----


@pytest.mark.parametrize(("name", "share", "value"), [
    ("load", 0.0, 0.3), ("load", 0.5, 0.625), ("load", 1.0, 0.95),
    # Half of the way on a logarithmic scale: sqrt(0.1 x 30) to three digits, sqrt(4 x 48) = 13.9 to whole nodes.
    ("age", 0.5, 1.73), ("nodes", 0.5, 14.0), ("nodes", 1.0, 48.0), ("cores", 0.0, 1.0), ("parallel", 0.25, 0.25),
    ("announced_error", 0.5, 2.0), ("task_cpu", 0.49, 0.0), ("task_cpu", 0.51, 1.0),
])  # fmt: skip
def test_values_of_a_factor(name, share, value):
    assert BY_NAME[name].at(share) == pytest.approx(value)


def test_a_regime_in_words():
    regime = dict.fromkeys(BY_NAME, 2.0) | {"load": 0.5, "task_cpu": 1.0}
    assert in_words(regime, ("load", "nodes")) == "load 0.5, nodes 2"
    assert in_words(regime).count(",") == len(BY_NAME) - 1
    assert in_words(regime, ("task_cpu",)) == "task_cpu each"
