"""Numbers as the player writes them: the same as in viz/player/words.js, which a test compares."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal


def duration(ms: float) -> str:
    """A duration.

    >>> duration(9_812.0), duration(85.2), duration(723_000.0)
    ('9.81 s', '85 ms', '12 min 3 s')
    """
    if not math.isfinite(ms):
        return "unknown"
    size = abs(ms)
    if size == 0:
        return "0 s"
    if size < 1:
        return f"{_trimmed(ms, 2)} ms"
    if size < 99.5:
        return f"{_trimmed(ms, 1 if size < 10 else 0)} ms"
    if size < 9_950:
        return f"{_trimmed(ms / 1000, 2 if size < 995 else 1)} s"
    if size < 600_000:
        return f"{_trimmed(ms / 1000, 1)} s"
    # Rounded to a second first: no minute has 60 s.
    minutes, rest = divmod(math.floor(size / 1000 + 0.5), 60)
    return f"{'-' if ms < 0 else ''}{minutes:,} min{f' {rest} s' if rest else ''}"


def moment(ms: float) -> str:
    """A moment, to the hundredth of a second.

    >>> moment(54_200.0)
    '54.20 s'
    """
    # As toLocaleString does it, from the shortest digits that stand for the number.
    return f"{Decimal(repr(float(ms) / 1000)).quantize(Decimal('0.01'), ROUND_HALF_UP):,.2f} s"


def amount(value: float) -> str:
    """A number of about three digits.

    >>> amount(33.68), amount(1_234.5), amount(0.25)
    ('33.7', '1,235', '0.25')
    """
    if not math.isfinite(value):
        return "unknown"
    size = abs(value)
    if size != 0 and size < 0.001:
        return f"{value:.1e}".replace("e-0", "e-").replace("e+0", "e+")
    digits = 0 if size >= 100 or value == int(value) else 1 if size >= 10 else 2 if size >= 1 else 3
    text = f"{_fixed(value, digits):,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _trimmed(value: float, digits: int) -> str:
    text = f"{_fixed(value, digits):.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _fixed(value: float, digits: int) -> Decimal:
    """Rounded as JavaScript's toFixed does it: of the exact value, halves away from zero."""
    return Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
