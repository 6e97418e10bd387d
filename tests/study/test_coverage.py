"""How often intervals and words are right, on 400 stored runs of five scenarios under eight policies.

coverage_runs.py made them. Means and typical ratios of all 400 stand for the truth. Draws are of eight seeds and more,
without repetition.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from coverage_of_intervals import SAMPLES, coverage_of_means, coverage_of_ratios, false_words, stored

HEADLINE = stored("bounded_slowdown")
DRAWS = 250


def beyond(share: float, draws: int) -> float:
    """Four standard deviations of a share of independent draws."""
    return 4 * math.sqrt(share * (1 - share) / draws)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("scenario", HEADLINE)
def test_ratios_of_eight_seeds_are_held_by_93_of_100_intervals(scenario):
    found = coverage_of_ratios(HEADLINE[scenario], 8)
    assert len(found) == 7
    assert min(found.values()) >= 0.93 - beyond(0.93, SAMPLES), found
    assert np.mean([*found.values()]) >= 0.93


@pytest.mark.slow
@pytest.mark.parametrize("scenario", HEADLINE)
def test_own_means_of_eight_seeds_are_held_by_90_of_100_intervals(scenario):
    found = coverage_of_means("bounded_slowdown", HEADLINE[scenario], 8)
    assert len(found) == 8
    assert min(found.values()) >= 0.9 - beyond(0.9, SAMPLES), found
    assert np.mean([*found.values()]) >= 0.9


@pytest.mark.slow
def test_means_that_do_not_exist_are_held_less_often():
    """Of plain slowdowns with exponential demands: a test above could fail."""
    assert min(coverage_of_means("mean_slowdown", stored("mean_slowdown")["quickstart"], 8).values()) < 0.85


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("scenario", HEADLINE)
@pytest.mark.parametrize("count", [16, 32])
def test_of_equal_means_words_are_false_at_most_8_of_100_times(scenario, count):
    """Each policy is scaled to the same mean: "better", "worse" and "means differ" are false whichever pair it is.

    Typical ratios of such pairs may differ all the same: what is significant is no word about means.
    """
    found = false_words(HEADLINE[scenario], count, DRAWS)
    assert len(found) == 28
    called, differ = (np.array([one[place] for one in found.values()]) for place in (1, 2))
    assert max(called.mean(), differ.mean()) <= 0.08
    assert max(called.max(), differ.max()) <= 0.08 + beyond(0.08, DRAWS)


def test_of_fewer_than_sixteen_seeds_no_word_is_said_about_means():
    found = false_words(HEADLINE["quickstart"], 15, 10)
    assert not any(differ for _, _, differ in found.values())


@pytest.mark.slow
def test_of_equal_means_with_unlike_tails_the_riskier_policy_is_not_called_better():
    """Rare bad runs decide about means here: of pairs whose typical ratios differ a word is seldom said."""
    found = false_words(HEADLINE["arena, varied"], 32, DRAWS)
    unlike = [one for one in found.values() if one[0] > 0.3]
    assert len(unlike) >= 3
    assert max(called for _, called, _ in unlike) <= 0.08 + beyond(0.08, DRAWS)
