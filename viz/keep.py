"""Files of what the page shows."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pandas as pd

from cluster_abm.model.observing.watching import picture_of
from cluster_abm.results.film import Scene, png
from cluster_abm.results.load_scale import joint
from viz.colours import film_scale, index_of
from viz.run import WatchedRun
from viz.talk import NAMES


def picture(runs: Sequence[WatchedRun], index: str) -> bytes:
    """What the maps of all runs show, as a PNG; nothing if there is no run."""
    if not runs:
        return b""
    kind = index_of(index, any(run.per_core for run in runs))
    shown = []
    for run in runs:
        model, at = run.model, run.map.places
        places = [at[node] for node in range(model.network.nodes)]
        scene = Scene(model.title, places, run.map.wires, run.map.cores, model.network.node_names)
        shown.append((scene, picture_of(run.frame, kind.name, model.network, at)))
    return png(shown, film_scale(kind, joint([run.scale(kind.name) for run in runs])))


def jobs(runs: Sequence[WatchedRun]) -> bytes:
    """The finished tasks so far, as `run --out` writes them, as Parquet; nothing if there is no run.

    Of two runs both, one after the other; `run` (A, B) and `policy` come first and tell them apart.
    """
    if not runs:
        return b""
    frames = [run.model.jobs_frame() for run in runs]
    if len(frames) > 1:
        for name, run, frame in zip(NAMES, runs, frames, strict=True):
            frame.insert(0, "run", name)
            frame.insert(1, "policy", run.model.policy_name)
    file = io.BytesIO()
    pd.concat(frames).to_parquet(file, engine="pyarrow", index=False, compression="zstd")
    return file.getvalue()
