"""Jain's index by hand: equal values, one user with everything, and other units."""

from __future__ import annotations

import numpy as np
import pytest

from cluster_abm.formulas import jain_index


@pytest.mark.parametrize(("values", "index"), [
    ([7.0], 1.0),
    ([3.0, 3.0, 3.0], 1.0),
    # The paper's own example: k of n users share equally, the others have nothing: k/n.
    ([5.0, 5.0, 0.0, 0.0, 0.0], 2 / 5),
    ([0.0, 0.0, 4.0], 1 / 3),
    # (1 + 2 + 3)^2 / (3 (1 + 4 + 9)).
    ([1.0, 2.0, 3.0], 36 / 42),
    # As the same ratios are in any unit; squares of these would be infinite, or 0.
    ([1e200, 2e200, 3e200], 36 / 42),
    ([1e-200, 2e-200, 3e-200], 36 / 42),
    # Nothing at all, evenly.
    ([0.0, 0.0], 1.0),
])  # fmt: skip
def test_the_index(values: list[float], index: float) -> None:
    assert jain_index(np.array(values)) == pytest.approx(index, rel=1e-12)
