"""What the pictures of a study share: each policy's style, panels in rows, one legend for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from cluster_abm.results.figures.options import label_for
from cluster_abm.results.figures.picture import Picture
from cluster_abm.results.looks import looks_of
from cluster_abm.results.style import columns_of, panel_grid


class Looks:
    """Colour, marker and line of each policy: the same in every picture of a study."""

    def __init__(self, policies: Sequence[str]) -> None:
        self.policies = tuple(policies)
        self._looks = looks_of(self.policies)

    def __getitem__(self, policy: str) -> dict[str, Any]:
        return dict(self._looks[policy])

    def of(self, policies: Sequence[str]) -> Looks:
        """The same looks, of these policies in this order."""
        chosen = Looks(())
        chosen.policies, chosen._looks = tuple(policies), self._looks
        return chosen

    def handles(self, policies: Sequence[str], joined: bool = True, markers: bool = True) -> list[Line2D]:
        """Entries of a legend."""
        looks = [
            self[name] | ({} if joined else {"linestyle": "none"}) | ({} if markers else {"marker": ""})
            for name in policies
        ]
        found = zip(policies, looks, strict=True)
        return [Line2D([], [], label=label_for(name), markersize=6, **look) for name, look in found]


def grid_of(
    title: str, count: int, sharex: bool = False, sharey: bool = True, height: float = 3.3
) -> tuple[Picture, list[Axes]]:
    """A figure of `count` panels in rows, `height` inches each; panels that are left over are hidden."""
    columns = columns_of(max(1, count))
    width = max(7.5, 4.1 * columns)
    return panel_grid(title, max(1, count), columns, width, height, 1.2, sharex=sharex, sharey=sharey)


def outer_labels(grid: Sequence[Axes], count: int, x: str, y: str) -> None:
    """Labels of the axes at the left and below only; above a hidden panel too."""
    columns = columns_of(max(1, count))
    for number, axes in enumerate(grid[: max(1, count)]):
        axes.set_ylabel(y if number % columns == 0 else "")
        if number + columns >= count:
            axes.set_xlabel(x)
            axes.tick_params(labelbottom=True)
