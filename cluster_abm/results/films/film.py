"""The network as a picture, and what the pictures of a film show."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cluster_abm.arrays import Flags, Floats
from cluster_abm.results.colours import DOWN, FILM_LINK, MOVE, NODE, RIM, ink_on
from cluster_abm.results.films.lanes import along
from cluster_abm.results.load_scale import LEAST_FULL, round_full, scale_to, shades_of_loads
from cluster_abm.results.node_sizes import are_unlike, shares_by_cores, shown_in_legend
from cluster_abm.results.style import new_figure, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Point = tuple[float, float]

# More lines than this are a grey disc; the more there are the fainter they are.
MOST_WIRES = 1200
FAINT_FROM = 150
MOST_ARROWS = 60
# Arrows in the unit square: how far beside the links, how far from a node's rim, how round their corners are.
ASIDE, GAP, ROUND = 0.006, 0.004, 0.07
MARGIN = 0.06
# Tasks a core from which on a node has its full size, and the share of that surface that it has without any task.
MOST_TASKS, LEAST_SHARE = 12, 0.25
# A number stands in a node as long as the nodes are no more than that.
MOST_NUMBERED = 80
# A name stands beneath a node as long as the nodes are no more than that; how far beneath its rim [points].
MOST_NAMED, NAME_BELOW, LONGEST_NAME = 40, 1, 14


@dataclass(frozen=True)
class Scale:
    """What the colours of the nodes mean."""

    words: str  # the load, with its unit
    full: float  # the load of the last shade


def shortest(name: str) -> str:
    """A name of a node as it has room beneath it.

    >>> shortest("Lyon"), shortest("a rather long name")
    ('Lyon', 'a rather long…')
    """
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def scale_of(index: str, loads: npt.ArrayLike, per_core: bool = False) -> Scale:
    """Return the scale of a film.

    Args:
        index: the load that it shows, "cpu" or "io".
        loads: all that it shows, of whatever shape.
        per_core: whether some node has several cores.
    """
    words = {"cpu": f"tasks running or ready{' per core' if per_core else ''}", "io": "I/O processing ahead [s]"}
    return Scale(words[index], round_full(float(np.max(loads, initial=0.0)), LEAST_FULL[index]))


@dataclass(frozen=True, eq=False)
class Scene:
    """What all pictures of a run have in common."""

    title: str  # stands above
    places: Sequence[Point]  # of each node in the unit square, y downwards
    wires: Sequence[tuple[Point, Point]]  # ends of each line
    # Of each node, shape (nodes,); empty: one each.
    cores: npt.NDArray[np.integer] = field(default_factory=lambda: np.zeros(0, np.int64))
    # What the nodes are called besides their numbers; none: nothing.
    names: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class FilmPicture:
    """What one picture shows."""

    now_ms: float  # simulated time [ms]
    # loads, tasks: of each node, shape (nodes,) each.
    loads: Floats
    tasks: Floats
    up: Flags  # which nodes are up, shape (nodes,)
    # Routes of the tasks that have moved since the last picture, each the pieces of a line
    # (interconnect.layout.course).
    ways: Sequence[Sequence[Sequence[Point]]]
    share: float = 0.0  # how much of the film has passed, 0..1
    totals: str = ""  # what has happened until then, in words


def png(shown: Sequence[tuple[Scene, FilmPicture]], scale: Scale) -> bytes:
    """One picture of a run, or of several side by side by one scale, as the bytes of a PNG."""
    figure, stages = staged([scene for scene, _ in shown], scale, any(not picture.up.all() for _, picture in shown))
    for stage, (_, picture) in zip(stages, shown, strict=True):
        stage.show(picture)
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=130, metadata={"Software": None})
    return file.getvalue()


def staged(scenes: Sequence[Scene], scale: Scale, some_fail: bool) -> tuple[Figure, list[Stage]]:
    """A figure with a stage a scene, side by side, and one legend."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = new_figure(1.4 + 5.6 * len(scenes), 5.6, scenes[0].title if len(scenes) == 1 else "")
    FigureCanvasAgg(figure)
    every = figure.subplots(1, len(scenes), squeeze=False)[0]
    stages = [Stage(axes, scene, scale) for axes, scene in zip(every, scenes, strict=True)]
    for axes, scene in zip(every if len(scenes) > 1 else (), scenes, strict=False):
        # In the line below it stands the time, at the left.
        axes.set_title(f"{scene.title}\n ", fontsize=11, fontweight="bold", loc="center", y=1.0)
    bar = figure.colorbar(stages[0].nodes, ax=list(every), label=scale.words, shrink=0.7)
    ticks = [0.0, scale.full / 2, scale.full]
    bar.set_ticks(ticks, labels=[plain(tick, 3) for tick in ticks])
    bar.minorticks_off()
    handles = _handles(stages[0].room, scenes[0].cores, some_fail)
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
    # Everything has its place now, and keeps it.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure, stages


def _handles(room: float, cores: npt.NDArray[np.integer], some_fail: bool) -> list[Line2D]:
    """Entries of the legend: what sizes, arrows, and where there are some crosses mean."""
    from matplotlib.lines import Line2D

    if are_unlike(cores):
        sizes = shown_in_legend(cores)
    else:
        per_core = " per core" if (cores > 1).any() else ""
        sizes = [("no task", LEAST_SHARE), (f"{MOST_TASKS} tasks{per_core} or more", 1.0)]
    look: dict[str, Any] = {"linestyle": "none", "marker": "o", "markerfacecolor": NODE, "markeredgecolor": RIM}
    handles = [Line2D([], [], label=words, markersize=math.sqrt(room * share), **look) for words, share in sizes]
    handles.append(Line2D([], [], color=MOVE, marker=">", markersize=5, label="task moved"))
    if some_fail:
        handles.append(Line2D([], [], color=DOWN, linestyle="none", marker="x", markersize=8, label="node out"))
    return handles


class Stage:
    """Axes with the nodes, which change colour and size from picture to picture."""

    def __init__(self, axes: Axes, scene: Scene, scale: Scale) -> None:
        from matplotlib.collections import LineCollection

        self._axes = axes
        self._at = np.array(scene.places)
        self.room = 12_000.0 / max(24, len(scene.places))
        self._cores = scene.cores if len(scene.cores) else np.ones(len(scene.places), np.int64)
        if len(scene.wires) <= MOST_WIRES:
            strength = min(1.0, max(0.3, FAINT_FROM / max(1, len(scene.wires))))
            wires = LineCollection(
                list(scene.wires), colors=FILM_LINK, linewidths=0.3 + 0.5 * strength, alpha=strength, zorder=1
            )
            axes.add_collection(wires)
        look: dict[str, Any] = {"c": np.zeros(len(scene.places)), "edgecolors": RIM, "linewidths": 0.8, "zorder": 3}
        look |= {"cmap": shades_of_loads(), "norm": scale_to(scale.full)}
        self.nodes = axes.scatter(self._at[:, 0], self._at[:, 1], **look)
        words: dict[str, Any] = {"ha": "center", "va": "center_baseline", "zorder": 5}
        numbered = scene.places if len(scene.places) <= MOST_NUMBERED else []
        words["fontsize"] = 7 if len(numbered) <= 40 else 6
        self._numbers = [axes.text(x, y, str(node), **words) for node, (x, y) in enumerate(numbered)]
        for name, place in zip(scene.names if len(numbered) <= MOST_NAMED else (), numbered, strict=False):
            below = -(math.sqrt(self.room) / 2 + NAME_BELOW)
            beneath: dict[str, Any] = {"xytext": (0, below), "textcoords": "offset points", "ha": "center"}
            axes.annotate(shortest(name), place, va="top", zorder=6, fontsize=6, parse_math=False, **beneath)
        self._out = axes.scatter([], [], marker="x", c=[DOWN], s=60, zorder=4)
        self._arrows: list[Any] = []
        axes.set(xlim=(-MARGIN, 1 + MARGIN), ylim=(1 + MARGIN, -MARGIN), xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
        # At a place of its own: Matplotlib would look for one while the text is not shown, and find it beyond the edge.
        self._time = axes.set_title("0 s", fontsize=11, loc="left", y=1.0)
        (self._bar,) = axes.plot([-MARGIN, -MARGIN], [-MARGIN, -MARGIN], color=MOVE, linewidth=3, clip_on=False)

    def show(self, picture: FilmPicture) -> None:
        """Make it show this picture."""
        self.nodes.set_array(picture.loads)
        fills = self.nodes.to_rgba(picture.loads)
        for node, number in enumerate(self._numbers):
            number.set(color=ink_on(fills[node]), visible=bool(picture.up[node]))
        sizes = self.room * self._shares(picture.tasks)
        self.nodes.set_sizes(sizes)
        self._out.set_offsets(self._at[~picture.up])
        for arrow in self._arrows:
            arrow.remove()
        rims = np.sqrt(sizes) / 2 / self._points_a_unit + GAP
        self._arrows = [
            self._axes.add_patch(_arrow(way, *(float(rims[self._nearest(end)]) for end in (way[0][0], way[-1][-1]))))
            for way in picture.ways[:MOST_ARROWS]
        ]
        words = f" ({picture.totals})" if picture.totals else ""
        self._time.set_text(f"{picture.now_ms / 1000:,.1f} s{words}")
        self._bar.set_xdata([-MARGIN, -MARGIN + picture.share * (1 + 2 * MARGIN)])

    @property
    def _what_changes(self) -> list[Any]:
        return [*self._arrows, self.nodes, self._out, *self._numbers, self._time, self._bar]

    def set_changing_visible(self, are_visible: bool) -> None:
        """Show or hide what changes."""
        for artist in self._what_changes:
            artist.set_visible(are_visible)

    def draw_what_changes(self) -> None:
        """Draw it onto the canvas as it is, from the ground up."""
        for artist in self._what_changes:
            self._axes.draw_artist(artist)

    def _shares(self, tasks: Floats) -> Floats:
        """Each node's surface as a share of the full one."""
        if are_unlike(self._cores):
            return shares_by_cores(self._cores)
        full = MOST_TASKS * self._cores
        return np.asarray(np.minimum(1.0, LEAST_SHARE + (1 - LEAST_SHARE) * tasks / full))

    @property
    def _points_a_unit(self) -> float:
        """Points in a side of the unit square, the mean of both sides."""
        box = self._axes.get_position()
        inches = self._axes.figure.get_size_inches()  # type: ignore[union-attr]
        return float((box.width * inches[0] + box.height * inches[1]) / 2 * 72 / (1 + 2 * MARGIN))

    def _nearest(self, point: Point) -> int:
        return int(np.argmin(((self._at - np.array(point)) ** 2).sum(axis=1)))


def background_of(stages: Sequence[Stage], canvas: Any) -> Any:
    """What does not change, as the canvas keeps it."""
    for stage in stages:
        stage.set_changing_visible(False)
    canvas.draw()
    for stage in stages:
        stage.set_changing_visible(True)
    return canvas.copy_from_bbox(canvas.figure.bbox)


def _arrow(way: Sequence[Sequence[Point]], before: float, after: float) -> Any:
    """Return an arrow along the pieces of a route, its head at the end; `before` and `after` are left free there."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Line

    strokes = along(way, ASIDE, before, after, ROUND)
    codes = {"M": [Line.MOVETO], "L": [Line.LINETO], "Q": [Line.CURVE3] * 2}
    line = Line([at for _, points in strokes for at in points], [code for pen, _ in strokes for code in codes[pen]])
    return FancyArrowPatch(path=line, arrowstyle="-|>", color=MOVE, mutation_scale=9, zorder=2, fill=False)
