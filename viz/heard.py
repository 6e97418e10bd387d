"""What a browser sends, checked: it may be of any type and size, and need not come from this page."""

from __future__ import annotations

from collections.abc import Collection, Mapping

# What a browser measures is taken if it is of this range [pixels].
LEAST_SIZE, MOST_SIZE = 40.0, 6000.0
MOST_SIZES = 20
Size = tuple[float, float]


def button(sent: object, buttons: Collection[str]) -> str | None:
    """The button that was pressed; None if there is none of that name."""
    return sent if isinstance(sent, str) and sent in buttons else None


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


def whole(sent: object) -> int | None:
    """A whole number, 0 or more; None if it is none."""
    return sent if isinstance(sent, int) and not isinstance(sent, bool) and sent >= 0 else None


def sizes(sent: object) -> dict[str, Size]:
    """The room in panels by name, width and height each [pixels]; what can be none is left out."""
    if not isinstance(sent, Mapping):
        return {}
    room = {}
    for name, size in list(sent.items())[:MOST_SIZES]:
        if isinstance(size, list | tuple) and len(size) == 2 and all(map(_is_side, size)):
            room[str(name)] = (float(size[0]), float(size[1]))
    return room


def _is_side(side: object) -> bool:
    if isinstance(side, bool) or not isinstance(side, int | float):
        return False
    # Neither nan nor inf is between them.
    return LEAST_SIZE <= side <= MOST_SIZE


def _texts(sent: object, *names: str) -> list[str]:
    """The texts of these names; "" for what is none."""
    given = sent if isinstance(sent, Mapping) else {}
    return [value if isinstance(value := given.get(name), str) else "" for name in names]
