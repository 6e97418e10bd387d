"""A recording as one picture: what stands where no player can run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cluster_abm.arrays import Array, Floats
from cluster_abm.clock import NS_PER_MS
from cluster_abm.recording.recorded_run import RecordedRun
from cluster_abm.recording.segments import WHAT
from cluster_abm.results.figures.picture import Picture
from cluster_abm.results.load_scale import scale_to, shades_of_loads

# Moments that the picture shows, and inches of a run.
MOMENTS, WIDTH, HEIGHT = 600, 10.0, 3.0
_HERE = [WHAT.index(name) for name in ("waits", "runs")]


def still_of(recordings: Sequence[RecordedRun]) -> Picture:
    """Tasks on each node over time, of one recording or of two on one scale, one above the other."""
    end_ns = max(1, *(int(one.meta["end_ns"]) for one in recordings))
    counts = [tasks_on_nodes(one, (np.arange(MOMENTS) + 0.5) * end_ns / MOMENTS) for one in recordings]
    most = max(1.0, *(float(one.max(initial=0)) for one in counts))
    figure = Picture(figsize=(WIDTH, 0.6 + HEIGHT * len(recordings)), layout="constrained")
    rows = figure.subplots(len(recordings), 1, sharex=True, squeeze=False)[:, 0]
    end_s = end_ns / NS_PER_MS / 1000.0
    for axes, one, count in zip(rows, recordings, counts, strict=True):
        image = axes.imshow(
            count, aspect="auto", cmap=shades_of_loads(), norm=scale_to(most), interpolation="nearest",
            extent=(0, end_s, len(count) - 0.5, -0.5),
        )  # fmt: skip
        axes.set_title(one.title, loc="left", fontsize=10)
        axes.set_ylabel("node")
    rows[-1].set_xlabel("simulated time [s]")
    figure.colorbar(image, ax=list(rows), label="tasks on the node")
    return figure


def tasks_on_nodes(recording: RecordedRun, at_ns: Floats) -> Array:
    """How many tasks run or wait on each node at these times, shape (nodes, times)."""
    segments = recording.tables["segments"]
    node, what = segments["node"].to_numpy(), segments["what"].to_numpy()
    begins, ends = segments["from_ns"].to_numpy(), segments["to_ns"].to_numpy()
    nodes = recording.tables["nodes"].num_rows
    found = np.zeros((nodes, len(at_ns)))
    here = np.isin(what, _HERE)
    for number in range(nodes):
        rows = here & (node == number)
        begun = np.searchsorted(np.sort(begins[rows]), at_ns, "right")
        found[number] = begun - np.searchsorted(np.sort(ends[rows]), at_ns, "right")
    return found
