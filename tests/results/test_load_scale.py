"""The scale of loads: round at its end, even, and one for all pictures."""

import pytest

from cluster_abm.results.colours import PAPER, RAMP
from cluster_abm.results.load_scale import round_full, shade_of


@pytest.mark.parametrize(
    ("largest", "full"), [(0, 2), (2, 2), (2.1, 4), (9, 10), (11, 20), (21, 40), (190, 200), (float("nan"), 2)]
)
def test_the_end_is_round(largest, full):
    assert round_full(largest, 2.0) == pytest.approx(full)


@pytest.mark.parametrize(("load", "shade"), [
    # Nine shades lie evenly from 0 to the end; nothing has none of them, and more than the end has the last one.
    (0.0, PAPER), (1e-9, RAMP[8]), (2.0, RAMP[6]), (4.0, RAMP[4]), (8.0, RAMP[0]), (9.0, RAMP[0]),
])  # fmt: skip
def test_the_shade_of_a_load_lies_evenly_between_nothing_and_the_end(load, shade):
    found = [int(shade_of(load, 8.0)[at : at + 2], 16) for at in (1, 3, 5)]
    # Matplotlib's maps have 256 steps.
    assert found == pytest.approx([int(shade[at : at + 2], 16) for at in (1, 3, 5)], abs=1)
