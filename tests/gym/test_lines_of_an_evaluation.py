"""The lines of an evaluation by hand, and arguments that are refused before a run."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support import scenario

from cluster_abm.errors import InputError
from cluster_abm.gym import FEATURES, HELD_OUT, Scorer, evaluate
from cluster_abm.gym.evaluation import Evaluation, by_scores

# What they share is compiled for ten seconds.
pytestmark = pytest.mark.slow

UP = math.exp(0.3)
VALUES = {
    "me": [1.0, 2.0, 3.0], "worse": [10.0, 20.0 * UP, 30.0], "better": [0.25, 0.5 / UP, 0.75], "like": [1.1, 1.9, 3.0],
}  # fmt: skip


def test_each_policy_has_a_line():
    """Ratios of 0.1, 0.1 exp(-.3) and 0.1: in logarithms a mean of ln .1 - .1 with a standard error of .3/3 = .1.

    Intervals against three opponents are at 1 - 5 % / 3. The quantile of t with two degrees of freedom is 7.649: a
    factor of exp(.7649) about .1 exp(-.1) = .0905. Ratios of 4, 4 exp(.3) and 4 are the same about 4 exp(.1) = 4.421.
    """
    found = Evaluation("small", "me", (4, 5, 6), VALUES, {"pooled": "it pools"})
    assert found.lines()[:4] == [
        "small, 3 seeds",
        "  me                2.000",
        "  worse            22.332    0.090  [0.042, 0.194]  me is better",
        "  better            0.457    4.421  [2.057, 9.499]  me is worse",
    ]
    assert found.lines()[4].startswith("  like              2.000   ")
    assert found.lines()[4].endswith("]  not significant")
    assert found.lines()[5:] == ["  pooled        cannot run here: it pools"]
    assert list(found.differences()) == ["worse", "better", "like"]
    assert {name: one.mean for name, one in found.estimates().items()} == pytest.approx(
        {"me": 2.0, "worse": (40 + 20 * UP) / 3, "better": (1 + 0.5 / UP) / 3, "like": 2.0}
    )


def test_one_seed_gives_no_interval():
    found = Evaluation("small", "me", (4,), {"me": [1.0], "a": [3.0]}, {})
    assert found.lines()[2] == "  a                 3.000    0.333  [nan, nan]  not significant"


@pytest.mark.slow
def test_a_scorer_chooses_the_node_of_its_highest_score():
    weights = [1.0 if name == "tasks" else 0.0 for name in FEATURES]
    observation = np.zeros((3, len(FEATURES)), np.float32)
    observation[:, list(FEATURES).index("tasks")] = [0.25, 0.75, 0.5]
    assert by_scores(Scorer.linear(weights))(observation) == 1
    assert by_scores(Scorer.linear([-weight for weight in weights]))(observation) == 0


def test_a_learner_has_not_the_name_of_an_opponent():
    with pytest.raises(InputError, match="name = 'jsq': an opponent is called so"):
        evaluate(lambda _: 0, scenario(), ["none", "jsq"], seeds=1, name="jsq")
    with pytest.raises(InputError, match="name = 'iolb': an opponent is called so"):
        evaluate(lambda _: 0, scenario(), None, seeds=1, name="iolb")


@pytest.mark.parametrize("name", HELD_OUT)
def test_a_scenario_has_a_largest_number_of_seeds(name):
    most = len(HELD_OUT[name].seeds)
    with pytest.raises(InputError, match=f"seeds = {most + 1}: {name} has {most}"):
        evaluate("none", name, ["jsq"], seeds=most + 1)
