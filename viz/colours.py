"""One colour for one thing, here and in the pictures of `--out`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cluster_abm.formulas.load_class import CLASS_NAMES
from cluster_abm.results.colours import (
    BREAKDOWN_COLOURS,
    CLASS_COLOURS,
    DOWN,
    FAINT,
    INK,
    LIGHTEST,
    LINE,
    LINK,
    LOAD_CLASS,
    MOVE,
    PAPER,
    RIM,
    WEIGHTED,
)
from cluster_abm.results.film import Scale

CPU, DISK = BREAKDOWN_COLOURS["cpu"], BREAKDOWN_COLOURS["io"]
__all__ = ["DOWN", "FAINT", "INK", "LIGHTEST", "LINE", "LINK", "MOVE", "PAPER", "RIM"]
Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Index:
    """A load index by which nodes are coloured.

    Attributes:
        name: its name in a frame.
        words: what it is, with its unit.
        unit: its unit, in a tooltip.
        full: the value that has at least the full colour; above it the largest value seen has.
        colour: the full colour.
    """

    name: str
    words: str
    unit: str
    full: float
    colour: str

    @property
    def short(self) -> str:
        """Its first words, where there is little room."""
        return self.words.partition(":")[0]


INDICES = {
    index.name: index
    for index in (
        Index("cpu", "CPU: tasks running or ready", "tasks", 2.0, CPU),
        Index("memory", "Memory: demand of what there is [%]", "%", 100.0, BREAKDOWN_COLOURS["paging"]),
        Index("io", "I/O: processing ahead [s]", "s", 1.0, DISK),
        Index("weighted", "Weighted: loads by their means", "× mean", 2.0, WEIGHTED),
        Index("class", "Load class", "", 3.0, LOAD_CLASS),
    )
}


def index_of(name: str, per_core: bool) -> Index:
    """A load index by its name; where nodes have several cores, tasks at the CPU are counted per core."""
    index = INDICES[name]
    if name != "cpu" or not per_core:
        return index
    return replace(index, words=f"{index.words} per core", unit="tasks/core")


CLASSES = tuple(zip(CLASS_NAMES, CLASS_COLOURS, strict=True))


def scale_of(index: Index, largest: float) -> float:
    """The value of the full colour, where the largest one seen is this: of a class its own, else 1, 2, 5, 10 ... times
    the index's."""
    if index.name == "class":
        return index.full
    full = index.full
    for factor in (1, 2, 5) * 9:
        if largest <= full * factor:
            return full * factor
        if factor == 5:
            full *= 10
    return max(largest, full)


def film_scale(index: Index, largest: float) -> Scale:
    """The same colours for a picture that leaves the page."""
    if index.name == "class":
        return Scale(index.words, CLASS_COLOURS, index.full, tuple(CLASS_NAMES))
    full, steps = scale_of(index, largest), 64
    shades = tuple(hexed(colour_of(index, full * step / steps, full)) for step in range(steps + 1))
    return Scale(index.words, shades, full)


def colour_of(index: Index, value: float, full: float) -> Colour:
    """Red, green and blue of a value (0..255 each), between the lightest and the index's own colour."""
    if index.name == "class":
        return rgb(CLASS_COLOURS[min(3, max(0, round(value)))])
    share = min(1.0, max(0.0, value / full)) if full > 0 else 0.0
    # The eye tells light colours apart worse than dark ones: they get more of the scale.
    share = share**0.7
    light, dark = rgb(LIGHTEST), rgb(index.colour)
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(light, dark, strict=True))
    return red, green, blue


def rgb(text: str) -> Colour:
    """Red, green and blue of "#rrggbb"."""
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def hexed(colour: Colour) -> str:
    """The colour as "#rrggbb"."""
    return "#{:02x}{:02x}{:02x}".format(*colour)
