"""How evenly something is shared out."""

from __future__ import annotations

import numpy as np

from cluster_abm.arrays import Floats


def jain_index(values: Floats) -> float:
    """Return (sum x)^2 / (n sum x^2): Jain, Chiu and Hawe 1984, DEC-TR-301.

    1: all have the same; 1/n: one of them has everything. Values that are all 0 are the same, too.

    Args:
        values: what each has, at least 0, in any unit, shape (n,), n at least 1.
    """
    largest = float(np.max(values))
    if not largest:
        return 1.0
    # Of values between 0 and 1 no square is infinite; the index does not depend on the unit.
    scaled = np.asarray(values, float) / largest
    return float(scaled.sum() ** 2 / (len(scaled) * np.square(scaled).sum()))
