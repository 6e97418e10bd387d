"""Rankings by hand, and what must hold of any."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cluster_abm.study.statistics.paired import all_pairs, corrected, holm
from cluster_abm.study.statistics.ranking import ranking


def ranked(values, **options):
    means = {name: float(np.mean(seeds)) for name, seeds in values.items()}
    return {place.policy: place for place in ranking(means, corrected(all_pairs(values)), **options)}


def test_three_policies_by_hand():
    """c lies 10 above the others on every seed but for a little noise; a and b cross."""
    a = [1.0, 2.0, 3.0, 4.0]
    b = [1.2, 1.9, 3.1, 3.9]
    c = [11.0, 12.1, 13.0, 14.1]
    places = ranked({"c": c, "b": b, "a": a})
    assert list(places) == ["a", "b", "c"]
    assert (places["a"].best, places["a"].worst, places["a"].like) == (1, 2, ("b",))
    assert (places["b"].best, places["b"].worst, places["b"].like) == (1, 2, ("a",))
    assert (places["c"].best, places["c"].worst, places["c"].like) == (3, 3, ())
    turned = ranked({"c": c, "b": b, "a": a}, more_is_better=True)
    assert list(turned) == ["c", "b", "a"]
    assert (turned["c"].best, turned["c"].worst) == (1, 1)


def test_pairing_finds_what_the_means_hide():
    """The spread over seeds is 100 times the difference, which is the same on every seed but for a little noise."""
    rng = np.random.default_rng(1)
    seeds = rng.normal(100, 30, 8)
    places = ranked({"a": seeds + rng.normal(0, 0.01, 8), "b": seeds + 0.3})
    assert places["a"].worst == 1
    assert places["b"].best == 2


def test_a_policy_without_numbers_is_last_and_like_all():
    places = ranked({"none": [math.nan] * 3, "jsq": [1.0, 2.0, 3.0]})
    assert list(places) == ["jsq", "none"]
    assert places["none"].like == ("jsq",)
    assert places["none"].best == 1


samples = st.lists(st.lists(st.floats(0, 10), min_size=4, max_size=4), min_size=2, max_size=5)


@pytest.mark.slow
@given(samples)
@example([[1.0, 0.0, 0.0, 1.3e-163], [1.0, 0.0, 0.0, 0.0]])
def test_places_hold_the_order_and_each_other(rows):
    values = {f"p{number}": row for number, row in enumerate(rows)}
    places = ranked(values)
    assert [place.mean for place in places.values()] == sorted(np.mean(row) for row in rows)
    for number, place in enumerate(places.values(), start=1):
        assert 1 <= place.best <= number <= place.worst <= len(rows)
        assert all(place.policy in places[other].like for other in place.like)
        assert len(place.like) == place.worst - place.best


def test_the_family_is_what_is_passed():
    """.03 is real alone, and not as the least of two: .03 > .05/2."""
    rng = np.random.default_rng(0)
    base = rng.normal(0, 1, 6)
    pairs = all_pairs({"a": base, "b": base + rng.normal(1.0, 0.7, 6), "c": base + rng.normal(0, 1, 6)})
    alone = {key: corrected({key: pair})[key].significant for key, pair in pairs.items()}
    assert alone == {key: pair.p_value <= 0.05 for key, pair in pairs.items()}
    together = corrected(pairs)
    assert [pair.significant for pair in together.values()] == holm([pair.p_value for pair in pairs.values()])


@pytest.mark.slow
def test_holm_over_policies_that_are_the_same_is_wrong_in_at_most_five_of_a_hundred():
    """Family-wise: any false difference among ten pairs of five equal policies. Uncorrected it would be about 30 of
    100."""
    rng = np.random.default_rng(12)
    wrong = 0
    for _ in range(300):
        common = rng.normal(0, 5, 8)
        values = {name: common + rng.normal(0, 1, 8) for name in "abcde"}
        wrong += any(pair.significant for pair in corrected(all_pairs(values)).values())
    # Binomial(300, .05): four standard deviations above 15 are 30.
    assert wrong <= 30
