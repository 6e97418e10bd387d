"""A recording, or two on one clock, as a film of the nodes, which needs no browser."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

import numpy as np

from cluster_abm.arrays import Array, Floats
from cluster_abm.clock import NS_PER_MS
from cluster_abm.engine.tables import FINISHED
from cluster_abm.errors import InputError
from cluster_abm.recording.recording import Recording
from cluster_abm.results.films.film import FilmPicture, Scene, scale_of
from cluster_abm.results.films.film_files import PER_SECOND, write_film
from cluster_abm.results.frames import isolated_ns, slowdowns

# Of a run of whatever length, where no speed is given.
MOST_PICTURES = 180
# Of any film: at 20 a second a quarter of an hour.
LONGEST = 20_000
NS_PER_S = 1_000_000_000


def film_of(
    recordings: Sequence[Recording],
    path: Path,
    speed: float | None = None,
    from_s: float = 0.0,
    to_s: float | None = None,
    progress: Callable[[float], object] = lambda share: None,
) -> int:
    """Write a film of one recording, or of two side by side.

    Args:
        path: ends in .gif, .mp4 or .webm.
        speed: simulated seconds in a second of the film; None: the whole in 15 s at most.
        from_s, to_s: the part of the run that it shows [s]; None: to the end of the longest.
        progress: called after each picture with the fraction done, 0..1.

    Returns:
        how many pictures it has.

    Raises InputError: it cannot be written, or would be too long.
    """
    times_ns = picture_times(*ends_of(recordings, from_s, to_s), recordings[0].meta["slice_ns"], speed)
    index = recordings[0].meta["telling_index"]
    shown = [_Shown(one, index, times_ns[0], times_ns[-1]) for one in recordings]
    pictures = [[one.picture(at_ns) for at_ns in times_ns] for one in shown]
    scale = scale_of(
        index, [picture.loads for of_one in pictures for picture in of_one], any(x.per_core for x in shown)
    )
    scenes, done = [one.scene for one in shown], count(1)
    write_film(
        path, scenes, list(zip(*pictures, strict=True)), scale, lambda: progress(next(done) / len(times_ns))
    )  # fmt: skip
    return len(times_ns)


def ends_of(recordings: Sequence[Recording], from_s: float, to_s: float | None) -> tuple[int, int]:
    """When a film begins and ends [ns].

    Raises InputError: no run is there any more when it would begin.

    Args:
        from_s, to_s: the part of the run that it shows [s]; None: to the end of the longest.
    """
    end_ns = max(one.meta["end_ns"] for one in recordings)
    first_ns, last_ns = round(from_s * NS_PER_S), end_ns if to_s is None else min(end_ns, round(to_s * NS_PER_S))
    if not 0 <= first_ns < max(1, last_ns):
        raise InputError(
            f"the film: from {from_s:g} to {last_ns / NS_PER_S:g} s there is nothing to show; the run has "
            f"{end_ns / NS_PER_S:g} s"
        )
    return first_ns, last_ns


def picture_times(first_ns: int, last_ns: int, slice_ns: int, speed: float | None) -> list[int]:
    """When the pictures of a film are taken, evenly spaced [ns].

    Args:
        first_ns, last_ns: the part of the run that it shows [ns].
        slice_ns: the length of a slice, below which no two pictures are apart [ns].
        speed: simulated seconds in a second of the film; None: MOST_PICTURES pictures at most.

    >>> picture_times(0, 2_000_000_000, 10_000_000, 6.0)
    [0, 500000000, 1000000000, 1500000000, 2000000000]
    """
    every_ns = (last_ns - first_ns) / (MOST_PICTURES - 1) if speed is None else speed * NS_PER_S / PER_SECOND
    every_ns = max(every_ns, slice_ns)
    pictures = max(1, math.floor((last_ns - first_ns) / every_ns + 1e-9) + 1)
    check_length(pictures)
    return [first_ns + round(place * every_ns) for place in range(pictures)]


def check_length(pictures: int) -> None:
    """Raise InputError if a film of that number of pictures is too long."""
    if pictures > LONGEST:
        raise InputError(f"the film: {pictures:,} pictures, allowed {LONGEST:,}: a higher --speed, or --from and --to")


class _Shown:
    """A recording as a film shows it.

    Args:
        index: the load by which nodes are coloured, "cpu" or "io".
        first_ns, last_ns: when the film begins and ends [ns].
    """

    def __init__(self, recording: Recording, index: str, first_ns: int, last_ns: int) -> None:
        nodes, loads = recording.tables["nodes"], recording.tables["loads"]
        self._at = list(zip(*(nodes[name].to_pylist() for name in ("x", "y")), strict=True))
        cores = nodes["cores"].to_numpy()
        self.per_core = bool((cores > 1).any())
        links = (recording.tables["links"][name].to_pylist() for name in ("x1", "y1", "x2", "y2"))
        wires = [((x1, y1), (x2, y2)) for x1, y1, x2, y2 in zip(*links, strict=True)]
        names = nodes["vertex"].to_pylist()
        self.scene = Scene(recording.title, self._at, wires, cores, names if any(names) else ())
        nodes_there, self._first_ns, self._whole_ns = len(self._at), first_ns, max(1, last_ns - first_ns)
        self._measured_ns = loads["at_ns"].to_numpy()[::nodes_there]
        column = loads["cpu_queue"].to_numpy() / np.tile(cores, len(self._measured_ns)) if index == "cpu" else None
        column = loads["io_ms"].to_numpy() / 1000.0 if column is None else column
        self._loads: Floats = column.reshape(-1, nodes_there)
        self._tasks = loads["tasks"].to_numpy().reshape(-1, nodes_there)
        self._moves = self._moves_of(recording)
        self._ups = self._ups_of(recording, nodes_there)
        self._totals_of(recording)
        self._before_ns = -1

    def _moves_of(self, recording: Recording) -> tuple[Array, Array, Array]:
        table = recording.tables["decisions"]
        leaves, source, target = (table[name].to_numpy() for name in ("leaves_ns", "source", "target"))
        moved = np.flatnonzero((leaves >= 0) & (source != target))
        moved = moved[np.argsort(leaves[moved], kind="stable")]
        return leaves[moved], source[moved], target[moved]

    def _ups_of(self, recording: Recording, nodes: int) -> list[tuple[int, Array]]:
        up, found = np.ones(nodes, bool), []
        rows = recording.tables["failures"].to_pylist()
        for row in rows:
            if row["what"] in ("node fails", "node recovers"):
                up = up.copy()
                up[row["node"]] = row["what"] == "node recovers"
                found.append((row["at_ns"], up))
        return [(-1, np.ones(nodes, bool)), *found]

    def _totals_of(self, recording: Recording) -> None:
        tasks = recording.tables["tasks"]
        columns = {name: tasks[name].to_numpy() for name in tasks.column_names}
        ended = columns["outcome"] == FINISHED
        rows = {name: values[ended] for name, values in columns.items()}
        order = np.argsort(rows["finish_ns"], kind="stable")
        wall = (rows["finish_ns"] - rows["arrival_ns"]).astype(float)
        found = slowdowns(wall, isolated_ns(rows))[order]  # type: ignore[arg-type]
        self._finish_ns = rows["finish_ns"][order]
        self._slowdowns = np.concatenate([[0.0], np.cumsum(np.nan_to_num(found))])
        self._submitted_ns = np.sort(columns["arrival_ns"])

    def picture(self, at_ns: int) -> FilmPicture:
        """What it shows at an instant [ns]; asked for in the order of time."""
        place = max(0, int(np.searchsorted(self._measured_ns, at_ns, "right")) - 1)
        leaves, source, target = self._moves
        first, last = np.searchsorted(leaves, [self._before_ns, at_ns], "right")
        self._before_ns = at_ns
        pairs = dict.fromkeys(zip(source[first:last].tolist(), target[first:last].tolist(), strict=True))
        up = next(up for since_ns, up in reversed(self._ups) if since_ns <= at_ns)
        finished = int(np.searchsorted(self._finish_ns, at_ns, "right"))
        submitted = int(np.searchsorted(self._submitted_ns, at_ns, "right"))
        slowdown = f", mean slowdown {self._slowdowns[finished] / finished:.3g}" if finished else ""
        nothing = np.zeros(len(self._at))
        return FilmPicture(
            at_ns / NS_PER_MS,
            self._loads[place] if len(self._loads) else nothing,
            self._tasks[place] if len(self._tasks) else nothing,
            up,
            [[[self._at[one], self._at[other]]] for one, other in pairs],
            share=(at_ns - self._first_ns) / self._whole_ns,
            totals=f"{finished:,} of {submitted:,} tasks finished{slowdown}, {last:,} moved",
        )
