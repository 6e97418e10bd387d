"""What a browser sends, checked: it may be of any type and size, and need not come from this page."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

# The longest window of which a browser may have detail [s]; the player asks for twice what it shows (asking.js).
MOST_DETAIL_S = 10.01
MOST_S = 1e9


def choice(sent: object, offered: Mapping[str, Collection[str]]) -> tuple[str, str] | None:
    """What was chosen, and in which list; None unless that list offers it.

    Args:
        sent: from the browser: {"name": list, "value": what was chosen in it}.
        offered: the values of each list.
    """
    name, value = _texts(sent, "name", "value")
    return (name, value) if value in offered.get(name, ()) else None


def entry(sent: object, fields: Collection[str]) -> tuple[str, str] | None:
    """The field and what was typed into it; None if there is no such field.

    Args:
        sent: from the browser: {"name": field, "text": what was typed}.
    """
    name, text = _texts(sent, "name", "text")
    return (name, text) if name in fields else None


def window(sent: object) -> tuple[float, float] | None:
    """The window of which detail is wanted [s]; None if it is none, or longer than the player's.

    Args:
        sent: from the browser: {"from_s": its beginning, "to_s": its end}.
    """
    given = sent if isinstance(sent, Mapping) else {}
    begin_s, end_s = (_seconds(given.get(name)) for name in ("from_s", "to_s"))
    return (begin_s, end_s) if 0 <= begin_s < end_s <= begin_s + MOST_DETAIL_S else None


def _seconds(value: object) -> float:
    """A time [s]; nan for what is none. JSON's whole numbers may have thousands of digits."""
    return float(value) if type(value) in (int, float) and abs(value) < MOST_S else math.nan  # type: ignore[arg-type]


def _texts(sent: object, *names: str) -> list[str]:
    """The texts of these names; "" for what is none."""
    given = sent if isinstance(sent, Mapping) else {}
    return [value if isinstance(value := given.get(name), str) else "" for name in names]
