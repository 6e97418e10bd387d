"""One run that is watched: its model, its frames so far, and its map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from cluster_abm import ClusterModel, Scenario
from cluster_abm.arrays import Floats
from cluster_abm.model import Frame, Watcher
from cluster_abm.results.load_scale import LoadScale, SeenLoads
from cluster_abm.workload.offered import in_words, warnings_of
from viz.colours import INDICES, index_of
from viz.network import Map, map_of

# The most and the fewest frames that are kept for the lines and the heat map: a chart shows no more of them.
MOST_KEPT, LEAST_KEPT = 300, 60
# The most loads in the frames kept: of many nodes fewer frames are kept, so that all tabs fit into the memory.
MOST_VALUES = 300_000


class Watched:
    """A model that is watched: its frames so far, and its map of that width and height [pixels]."""

    def __init__(self, model: ClusterModel, width: float, height: float) -> None:
        self.model = model
        self._cores = self.model.engine.nodes["cores"].copy()
        self.map: Map = map_of(self.model.network, width, height, self._cores)
        # Tasks are counted per core where some node has several.
        self.per_core = bool((self._cores > 1).any())
        kinds = [index_of(name, self.per_core) for name in INDICES]
        self._seen_loads = {kind.name: SeenLoads(kind.full, kind.low) for kind in kinds}
        load = self.model.offered_load
        # The load that the run's jobs offer, in words, "" where no window is known; and the warnings about it.
        self.offered = "" if load is None else in_words(load.as_dict())
        self.warnings = warnings_of(self.model.setup, load)
        self._watcher = Watcher(self.model)
        self._kept: list[tuple[float, Frame]] = []
        self._clock_ms = 0.0
        # One of `_stride` frames is kept, so that the frames kept go back to the beginning, evenly spaced.
        self._stride, self._seen = 1, 0
        self._most_kept = max(LEAST_KEPT, min(MOST_KEPT, MOST_VALUES // self.model.network.nodes))
        self.frame = self._watcher.frame()
        self._keep()

    def look(self) -> None:
        """Take a frame, if the model has gone on since the last one."""
        if self.model.now_ms != self.frame.now_ms:
            self._clock_ms = self.model.now_ms
            self.frame = self._watcher.frame()
            self._keep()

    def resize(self, width: float, height: float) -> None:
        """The map in a picture of another size [pixels]."""
        if (width, height) != (self.map.width, self.map.height):
            self.map = map_of(self.model.network, width, height, self._cores, self.map)

    def pick(self, job: int | None) -> None:
        """The newest frame, with the life of another job."""
        before = self.frame
        self.frame = replace(before, life=None if job is None else self._watcher.life(job))
        self._kept = [(at, self.frame if frame is before else frame) for at, frame in self._kept]

    @property
    def frames(self) -> list[Frame]:
        """The frames kept, and the newest one."""
        return [frame for _, frame in self._shown]

    def column(self, index: str) -> Floats:
        """A load of all nodes over the frames kept, shape (times, nodes)."""
        return np.array([frame.loads[index] for frame in self.frames])

    @property
    def times_s(self) -> list[float]:
        """Simulated time of the frames [s]."""
        return [at_ms / 1000.0 for at_ms, _ in self._shown]

    def series(self, name: str) -> list[float]:
        """A number of the frames kept, e.g. "mean_slowdown"; NaN where there is none."""
        return [float(getattr(frame, name)) for frame in self.frames]

    def scale(self, index: str) -> LoadScale:
        """The scale by all loads of that index seen so far."""
        return self._seen_loads[index].scale

    @property
    def _shown(self) -> list[tuple[float, Frame]]:
        newest = [] if self._kept[-1][1] is self.frame else [(self._clock_ms, self.frame)]
        return self._kept + newest

    def _keep(self) -> None:
        for name, seen in self._seen_loads.items():
            seen.add(self.frame.loads[name])
        if self._seen % self._stride == 0:
            self._kept.append((self._clock_ms, self.frame))
        self._seen += 1
        if len(self._kept) > self._most_kept:
            self._kept = self._kept[::2]
            self._stride *= 2


class WatchedRun(Watched):
    """A model that goes on frame by frame. Raises InputError: the scenario cannot be run."""

    def __init__(self, scenario: Scenario, width: float, height: float) -> None:
        # What the page shows of decisions the watcher keeps; and it shows no agent's step.
        super().__init__(ClusterModel(scenario, keep_decisions=False, agents_step=False), width, height)

    def advance(self, until_ms: float, job: int | None = None, goes_on: Callable[[], bool] = lambda: True) -> None:
        """Slice after slice up to a time, or to the run's end; then a frame, with the life of a job.

        A run that has ended stays as it is while the clock of the one beside it goes on.

        Args:
            job: of which the life is given; None: of no job.
            goes_on: asked at each slice boundary; the frame ends there if it does not.
        """
        was_running = self.model.running
        while self.model.running and self.model.now_ms < until_ms - 1e-9 and goes_on():
            self.model.step()
        self._clock_ms = self.model.now_ms if was_running else until_ms
        self.frame = self._watcher.frame(job)
        self._keep()
