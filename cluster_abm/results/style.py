"""One look for all pictures: a colour per policy, axes with units, no state shared with the user's own plots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette: told apart by colour-blind readers too.
POLICY_COLOURS = {
    "none": "#999999",
    "clb": "#E69F00",
    "mlb": "#009E73",
    "iolb": "#0072B2",
    "random": "#CC79A7",
    "round-robin": "#D55E00",
    "jsq": "#56B4E9",
    "power-of-d": "#8C6D1F",
}
SPARE_COLOURS = ("#332288", "#882255", "#117733", "#AA4499", "#44AA99", "#661100")
BREAKDOWN_COLOURS = {
    "cpu": "#009E73",
    "cpu_queue": "#99D8C9",
    "io": "#0072B2",
    "io_queue": "#A6CEE3",
    "paging": "#D55E00",
    "migration": "#CC79A7",
    "barrier": "#F0E442",
    "blocked": "#666666",
}


def colour_of(policy: str) -> str:
    """The policy's colour, the same in every picture."""
    if policy in POLICY_COLOURS:
        return POLICY_COLOURS[policy]
    return SPARE_COLOURS[sum(policy.encode()) % len(SPARE_COLOURS)]


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of that size [inches]."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def tidy(axes: Axes, title: str, x: str, y: str) -> None:
    """Title, axis labels, a light grid, no box."""
    axes.set_title(title, fontsize=11, loc="left")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.3, linewidth=0.6)
    axes.set_axisbelow(True)


def save(figure: Figure, path: Path) -> Path:
    """Write a PNG; no date or version in it, so that equal runs give equal bytes."""
    figure.savefig(path, dpi=130, metadata={"Software": None})
    return path
