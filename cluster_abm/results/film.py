"""The network as a picture, and a run as a film: GIF, or MP4 where ffmpeg is installed."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cluster_abm.errors import InputError
from cluster_abm.results.style import BREAKDOWN_COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]
Point = tuple[float, float]

WORDS = {"cpu": "tasks running or ready", "io": "I/O processing ahead [s]"}
PER_SECOND = 12
# More lines than this are a grey disc, and most of the bytes of a film.
MOST_WIRES = 300
FORMATS = (".gif", ".mp4")


@dataclass(frozen=True, eq=False)
class Picture:
    """What one picture shows.

    Attributes:
        now_ms: simulated time [ms].
        loads, tasks: of each node, shape (nodes,) each.
        up: which nodes are not out, shape (nodes,).
        moves: (from, to) of tasks that have moved since the last picture.
    """

    now_ms: float
    loads: Floats
    tasks: Floats
    up: npt.NDArray[np.bool_]
    moves: Sequence[tuple[int, int]]


def check_film(path: Path) -> None:
    """Make sure, before the run, that a film can be written there.

    Raises:
        InputError: neither .gif nor .mp4, no ffmpeg for the latter, or no such folder.
    """
    from matplotlib.animation import FFMpegWriter

    if path.suffix.lower() not in FORMATS:
        raise InputError(f"--animate {str(path)!r}: allowed are files that end in {' or '.join(FORMATS)}")
    if path.suffix.lower() == ".mp4" and not FFMpegWriter.isAvailable():
        raise InputError(f"--animate {str(path)!r}: an MP4 needs ffmpeg, which is not installed; a .gif does not")
    if not path.parent.is_dir():
        raise InputError(f"--animate {str(path)!r}: there is no folder {str(path.parent)!r}")


def write_film(
    path: Path,
    places: Sequence[Point],
    wires: Sequence[tuple[Point, Point]],
    pictures: Sequence[Picture],
    index: str,
    title: str,
    progress: Callable[[], object] = lambda: None,
) -> None:
    """Write a film, PER_SECOND pictures a second.

    Args:
        path: ends in .gif or .mp4.
        places: of each node in the unit square, y downwards.
        wires: ends of each link.
        pictures: in their order.
        index: by which load nodes are coloured, a key of WORDS.
        title: stands above.
        progress: called after each picture.
    """
    from matplotlib.animation import FFMpegWriter, PillowWriter

    stage = _Stage(places, wires, index, title, max(float(one.loads.max()) for one in pictures))
    is_film = path.suffix.lower() == ".mp4"
    writer = FFMpegWriter(fps=PER_SECOND) if is_film else PillowWriter(fps=PER_SECOND)
    with writer.saving(stage.figure, str(path), dpi=100):
        for picture in pictures:
            stage.show(picture)
            writer.grab_frame()
            progress()


def png(
    places: Sequence[Point], wires: Sequence[tuple[Point, Point]], picture: Picture, index: str, title: str
) -> bytes:
    """One picture as the bytes of a PNG; arguments as of `write_film`."""
    stage = _Stage(places, wires, index, title, float(picture.loads.max()))
    stage.show(picture)
    file = io.BytesIO()
    stage.figure.savefig(file, format="png", dpi=130, metadata={"Software": None})
    return file.getvalue()


class _Stage:
    """A figure whose nodes change colour and size from picture to picture."""

    def __init__(
        self, places: Sequence[Point], wires: Sequence[tuple[Point, Point]], index: str, title: str, largest: float
    ) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.collections import LineCollection
        from matplotlib.colors import LinearSegmentedColormap, Normalize

        self.figure: Figure = new_figure(7.0, 5.6, title)
        FigureCanvasAgg(self.figure)
        self._axes = axes = self.figure.add_subplot()
        self._at = np.array(places)
        self._room = 12_000.0 / max(24, len(places))
        if len(wires) <= MOST_WIRES:
            axes.add_collection(LineCollection(list(wires), colors="#c5ccd2", linewidths=0.8, zorder=1))
        colours = LinearSegmentedColormap.from_list(index, ["#eef1f3", BREAKDOWN_COLOURS[index]])
        self._nodes = axes.scatter(
            self._at[:, 0], self._at[:, 1], c=np.zeros(len(places)), cmap=colours, zorder=3,
            norm=Normalize(0, largest or 1.0), edgecolors="#51606b", linewidths=0.8,
        )  # fmt: skip
        self._out = axes.scatter([], [], marker="x", c=["#7d2a22"], s=60, zorder=4)
        self._arrows: list[Any] = []
        axes.set(xlim=(-0.06, 1.06), ylim=(1.06, -0.06), xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
        self.figure.colorbar(self._nodes, ax=axes, label=WORDS[index], shrink=0.7)
        axes.set_title("0 s", loc="left")
        # Everything has its place now, and keeps it.
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")

    def show(self, picture: Picture) -> None:
        """Make it show this picture."""
        self._nodes.set_array(picture.loads)
        self._nodes.set_sizes(self._room * np.minimum(1.0, 0.25 + picture.tasks / 16.0))
        self._out.set_offsets(self._at[~picture.up])
        for arrow in self._arrows:
            arrow.remove()
        look = {"arrowstyle": "-|>", "color": "#b0307a", "connectionstyle": "arc3,rad=0.12", "shrinkA": 8, "shrinkB": 8}
        self._arrows = [
            self._axes.annotate("", self._at[target], self._at[source], arrowprops=look, zorder=2)
            for source, target in list(dict.fromkeys(picture.moves))[:60]
        ]
        self._axes.set_title(f"{picture.now_ms / 1000:,.1f} s", fontsize=11, loc="left")
