"""What a browser sends, checked: it may be of any type and size, and need not come from this page."""

from __future__ import annotations

from collections.abc import Collection, Mapping


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


def _texts(sent: object, *names: str) -> list[str]:
    """The texts of these names; "" for what is none."""
    given = sent if isinstance(sent, Mapping) else {}
    return [value if isinstance(value := given.get(name), str) else "" for name in names]
