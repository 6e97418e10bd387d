"""A law given by its quantiles: its mean against integration, its draws against its own description."""

from __future__ import annotations

import math
import os
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy import integrate

from cluster_abm.scenario.distributions import Distribution
from cluster_abm.workload.drawing.draws import draw, mean_of, quantile, square_of

SEED = int(os.environ.get("CLUSTER_ABM_TEST_SEED", "20261121"))
COUNT = 100_000
# A false alarm at 5 standard errors has a chance of 6e-7.
ERRORS = 5.0


def law(values, probabilities=(), **more):
    return Distribution(kind="quantiles", values=values, probabilities=probabilities, **more)


@pytest.mark.slow
@given(
    values=st.lists(st.just(0.0) | st.floats(1e-9, 1e6), min_size=2, max_size=8).map(sorted),
    # None, or enough for the numerical integral, which is what is exact to six digits at most.
    steps=st.lists(st.integers(0, 1000).map(lambda thousandths: thousandths / 1000), min_size=7, max_size=7),
    scale=st.floats(0.1, 10.0),
)
def test_its_mean_is_the_integral_of_its_quantile_function(values, steps, scale):
    ends = np.cumsum(steps[: len(values) - 1])
    shares = [0.0, *(ends / ends[-1])] if ends[-1] > 1e-9 else list(np.linspace(0, 1, len(values)))
    shares[-1] = 1.0
    found = law(values, shares, scale=scale)

    def at(u, low, high, left, right):
        part = (u - left) / (right - left)
        return high * part if low == 0 else low * math.exp(part * (math.log(high) - math.log(low)))

    whole = 0.0
    for (low, high), (left, right) in zip(pairwise(values), pairwise(shares), strict=True):
        # Wide pieces are concentrated at their right end: by the number in which they are even.
        if right > left:
            ratio = math.log(high) - math.log(low) if low > 0 else 0.0
            cuts = [right - (right - left) * 2.0**-k for k in range(1, 40)] if ratio > 10 else None
            whole += integrate.quad(at, left, right, args=(low, high, left, right), points=cuts, limit=200)[0]
    assert mean_of(found) == pytest.approx(scale * whole, rel=1e-6, abs=1e-12)


def test_atoms_keep_their_values_and_shares():
    # 5 with a share of 0.3, nothing between 5 and 20, 20 with 0.25, and a curve to 640.
    found = law([5.0, 5.0, 20.0, 20.0, 640.0], [0.0, 0.3, 0.3, 0.55, 1.0])
    values = draw(found, np.random.default_rng(SEED), COUNT)
    for atom, share in ((5.0, 0.3), (20.0, 0.25)):
        among = np.count_nonzero(values == atom) / COUNT
        assert abs(among - share) < ERRORS * math.sqrt(share * (1 - share) / COUNT)
    assert not ((values > 5) & (values < 20)).any()
    # Half of the curve's share lies below its geometric middle: sqrt(20 x 640).
    middle = np.count_nonzero(values <= math.sqrt(20 * 640)) / COUNT
    assert abs(middle - 0.775) < ERRORS * math.sqrt(0.775 * 0.225 / COUNT)
    assert values.max() <= 640.0


def test_a_zero_can_be_an_atom_and_a_piece_from_it_is_straight():
    found = law([0.0, 0.0, 8.0], [0.0, 0.5, 1.0])
    assert quantile(found, np.array([0.1, 0.5, 0.75])).tolist() == [0.0, 0.0, 4.0]
    assert mean_of(found) == 2.0
    # Half of the time uniform on 0..8: 64/3.
    assert square_of(found) == pytest.approx(32 / 3)


def test_its_scale_multiplies_it():
    once, twice = (draw(law([1.0, 3.0, 10.0], scale=scale), np.random.default_rng(SEED), 100) for scale in (1.0, 2.0))
    assert (twice == 2 * once).all()


@pytest.mark.parametrize(("keys", "said"), [
    ({"values": [1.0]}, "needs two or more"),
    ({"values": [2.0, 1.0]}, "values: 1.0 after 2.0 (number 2): must ascend"),
    ({"values": [1.0, 2.0], "probabilities": [0.0, 0.5, 1.0]}, "3 of them for 2 values"),
    ({"values": [1.0, 2.0], "probabilities": [0.1, 1.0]}, "must go from 0 to 1"),
    ({"values": [1.0, 2.0, 3.0], "probabilities": [0.0, 1.0, 0.5]}, "probabilities: 0.5 after 1.0"),
    ({"values": [1.0, 2.0], "mean": 3.0}, "takes values, probabilities, scale only"),
    ({"values": [-1.0, 2.0]}, "greater than or equal to 0"),
])  # fmt: skip
def test_what_is_no_law_is_refused(keys, said):
    with pytest.raises(ValidationError) as caught:
        Distribution(kind="quantiles", **keys)
    assert said in str(caught.value)


@pytest.mark.parametrize("kind", ["exponential", "uniform", "gamma", "lognormal", "pareto", "lifetime", "hbd97"])
def test_quantiles_of_every_kind_are_those_of_its_draws(kind):
    """What dependent columns are made of: at each probability, that share of the independent draws lies below."""
    keys = {"mean": 40.0} if kind != "lifetime" else {}
    keys |= {"sd": 60.0} if kind in ("gamma", "lognormal") else {}
    found = Distribution(kind=kind, **keys)
    values = draw(found, np.random.default_rng([SEED, len(kind)]), COUNT)
    shares = np.array([0.01, 0.2, 0.5, 0.9, 0.95, 0.999])
    below = (values[:, None] <= quantile(found, shares)).mean(axis=0)
    assert (np.abs(below - shares) < ERRORS * np.sqrt(shares * (1 - shares) / COUNT)).all()
