"""Colours of loads in what Mesa draws, the same as in the pictures of `--out`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cluster_abm.results.colours import BREAKDOWN_COLOURS, CLASS_COLOURS, DOWN, LIGHTEST, LOAD_CLASS, RIM, WEIGHTED
from cluster_abm.results.load_scale import LoadScale

CPU, DISK = BREAKDOWN_COLOURS["cpu"], BREAKDOWN_COLOURS["io"]
__all__ = ["DOWN", "LIGHTEST", "RIM"]
Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Index:
    """A load index by which nodes are coloured."""

    name: str  # its name in a frame
    words: str  # what it is, with its unit
    unit: str  # its unit, in a tooltip
    full: float  # the scale ends there at least
    low: float  # where it is logarithmic, it does not begin below that
    colour: str  # the full colour
    tip: str  # what it is, in a sentence

    @property
    def short(self) -> str:
        """Its first words, where there is little room."""
        return self.words.partition(":")[0]


INDICES = {
    index.name: index
    for index in (
        Index("cpu", "CPU: tasks running or ready", "tasks", 2.0, 1.0, CPU,
              "Tasks on the node that run or wait for its CPU."),
        Index("memory", "Memory: demand of what there is [%]", "%", 100.0, 1.0, BREAKDOWN_COLOURS["paging"],
              "Memory that the tasks on the node ask for, over its memory for programs; above 100 % it pages."),
        Index("io", "I/O: processing ahead [s]", "s", 1.0, 0.01, DISK,
              "Time that the node's disk needs for the accesses still to come of all tasks on it."),
        Index("weighted", "Weighted: loads by their means", "× mean", 2.0, 0.01, WEIGHTED,
              "WAL-PM's index: CPU, memory and I/O load over their means in the cluster, by the policy's weights."),
        Index("class", "Load class", "", 3.0, 0.0, LOAD_CLASS,
              "LMIP's class by CPU utilisation, CPU queue and memory: idle, low, normal or high."),
    )
}  # fmt: skip


def index_of(name: str, per_core: bool) -> Index:
    """A load index by its name; where nodes have several cores, tasks at the CPU are counted per core."""
    index = INDICES[name]
    if name != "cpu" or not per_core:
        return index
    return replace(
        index, words=f"{index.words} per core", unit="tasks/core", low=0.1, tip=f"{index.tip[:-1]}, over its cores."
    )


def colour_of(index: Index, value: float, scale: LoadScale) -> Colour:
    """Red, green and blue of a value (0..255 each), between the lightest and the index's own colour."""
    if index.name == "class":
        return rgb(CLASS_COLOURS[min(3, max(0, round(value)))])
    return shade(index, float(scale.share(value)))


def shade(index: Index, share: float) -> Colour:
    """The colour at a place of the scale, 0..1; of a class index the nearest class's."""
    if index.name == "class":
        return rgb(CLASS_COLOURS[round(3 * share)])
    light, dark = rgb(LIGHTEST), rgb(index.colour)
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(light, dark, strict=True))
    return red, green, blue


def rgb(text: str) -> Colour:
    """Red, green and blue of "#rrggbb"."""
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def hexed(colour: Colour) -> str:
    """The colour as "#rrggbb"."""
    return "#{:02x}{:02x}{:02x}".format(*colour)
