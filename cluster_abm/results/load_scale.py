"""Loads as shades: one even map for all pictures, from nothing to a round load; and one of ratios."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cluster_abm.results.colours import AGAINST, FOR, PAPER, RAMP

if TYPE_CHECKING:
    from matplotlib.colors import Colormap, Normalize

# By load index where a scale ends at least: tasks, or tasks per core; disk work waiting [s].
LEAST_FULL = {"cpu": 2.0, "io": 1.0}


def round_full(largest: float, least: float) -> float:
    """The least of 1, 2, 5, 10 ... times `least` that is not below the largest load."""
    if not largest > least:
        return least
    power = 10.0 ** math.floor(math.log10(largest / least) + 1e-12)
    return next(least * step * power for step in (1, 2, 5, 10, 20) if largest <= least * step * power * (1 + 1e-12))


def shades_of_loads() -> Colormap:
    """Matplotlib's map of the shades, from little to much; a load of 0 has none of them."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("loads", list(reversed(RAMP))).with_extremes(under=PAPER)


def shades_of_ratios() -> Colormap:
    """Matplotlib's map of ratios: from those that speak against what is asked about, over none, to those for it."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("ratios", [AGAINST, PAPER, FOR])


def scale_to(full: float) -> Normalize:
    """The even scale of the shades up to `full`; 0 lies just below it."""
    from matplotlib.colors import Normalize

    return Normalize(1e-12 * full, full)


def shade_of(load: float, full: float) -> str:
    """The colour of a load on the scale up to `full`, as "#rrggbb"."""
    from matplotlib.colors import to_hex

    return to_hex(shades_of_loads()(scale_to(full)(load)))
