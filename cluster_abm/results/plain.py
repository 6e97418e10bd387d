"""Numbers and times as people write them, in pictures, reports and on the command line."""

from __future__ import annotations

import math

TIME_UNITS_S = {"ms": 0.001, "s": 1.0, "h": 3600.0, "days": 86400.0}


def plain(value: float, digits: int = 4) -> str:
    """A number as people write it: significant digits, thousands separators, an exponent only where nothing else fits.

    >>> plain(34462.7), plain(0.0089), plain(3.0)
    ('34,463', '0.0089', '3')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    magnitude = math.floor(math.log10(abs(value)))
    if not -6 <= magnitude < 12:
        return f"{value:.{digits - 1}e}"
    text = f"{value:,.{max(0, digits - 1 - magnitude)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def time_unit(longest_s: float) -> str:
    """The unit of TIME_UNITS_S in which an axis up to that time has short numbers."""
    if longest_s < 0.5:
        return "ms" if longest_s > 0 else "s"
    if longest_s <= 2 * 3600:
        return "s"
    return "h" if longest_s <= 4 * 86400 else "days"
