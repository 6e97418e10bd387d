"""`run --animate`: a run that is looked at as often as a film needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cluster_abm.cli.output import tell

if TYPE_CHECKING:
    from cluster_abm.model import ClusterModel
    from cluster_abm.results.film import FilmPicture

# Of a run of whatever length: then every second picture is left out, and the steps are twice as long.
MOST_PICTURES = 180


class Cameraman:
    """Takes pictures of a run, evenly spaced over all of it, however long it gets.

    Args:
        model: at its start.
        driver: what runs it (cli.recording.driver_of); None: the model itself.
    """

    def __init__(self, model: ClusterModel, driver: Any = None) -> None:
        from cluster_abm.interconnect.layout import positions
        from cluster_abm.model import Watcher
        from cluster_abm.model.observing.watching import telling_index

        self._model, self._watcher = model, Watcher(model)
        self._driver = model if driver is None else driver
        self._index = telling_index(model.setup)
        self._every_ms = model.setup.cluster.slice_ms
        self._whole_network, self._at = model.network, positions(model.network)
        self._kept: list[FilmPicture] = []

    def run(self, progress: Callable[[float], None]) -> None:
        """The run to its end; the same as `model.run`, but for the pictures."""
        model = self._model
        self._take()
        while model.running:
            self._driver.run(until_ms=model.now_ms + self._every_ms)
            self._take()
            ended = model.engine.finished / max(1, model.engine.total_tasks)
            progress(min(1.0, ended))

    def write(self, path: Path, title: str) -> None:
        """The film of what was taken, under a title."""
        from cluster_abm.interconnect.layout import wires
        from cluster_abm.progress import Progress
        from cluster_abm.results.film import Scene, scale_of
        from cluster_abm.results.film_files import write_film

        model, at = self._model, self._at
        cores = model.engine.nodes["cores"].copy()
        places = [at[node] for node in range(model.network.nodes)]
        scene = Scene(title, places, wires(self._whole_network, at), cores, model.network.node_names)
        loads = [one.loads for one in self._kept]
        scale = scale_of(self._index, loads, per_core=bool((cores > 1).any()))
        with Progress(len(self._kept), "film", "picture") as bar:
            write_film(path, [scene], [[one] for one in self._kept], scale, bar.update)
        tell(f"film in {path}: a picture every {self._every_ms / 1000:g} s")

    def _take(self) -> None:
        from cluster_abm.model.observing.watching import picture_of

        self._kept.append(picture_of(self._watcher.frame(), self._index, self._model.network, self._at))
        if len(self._kept) > MOST_PICTURES:
            self._kept = self._kept[::2]
            self._every_ms *= 2
