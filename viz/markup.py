"""HTML and SVG as text. Whatever goes into an element is escaped here, and nowhere else."""

from __future__ import annotations

from html import escape


class Markup(str):
    """Text that is HTML or SVG already."""

    __slots__ = ()


def tag(name: str, *inside: object, **attributes: object) -> Markup:
    """An element with attributes and what is inside it; what is no Markup is escaped.

    `_` in an attribute's name stands for `-`, a last one is dropped (`class_`); attributes that are None are left out.
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_attribute(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{given}>{joined(*inside)}</{name}>")


def joined(*parts: object) -> Markup:
    """One after another; what is no Markup is escaped."""
    return Markup("".join(part if isinstance(part, Markup) else escape(str(part)) for part in parts))


def svg(width: float, height: float, *inside: object, label: str) -> Markup:
    """A picture of that size, which a screen reader calls `label`; it shrinks with its panel."""
    box = f"0 0 {width:g} {height:g}"
    return tag("svg", *inside, viewBox=box, role="img", aria_label=label, preserveAspectRatio="xMidYMid meet")


def text(x: float, y: float, words: object, /, **attributes: object) -> Markup:
    """Words at a place."""
    return tag("text", words, x=x, y=y, **attributes)


def _attribute(value: object) -> str:
    return f"{round(value, 1):g}" if isinstance(value, float) else escape(str(value))
