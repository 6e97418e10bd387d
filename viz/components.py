"""Components of Mesa's own page: SolaraViz(model, components=[network, heat_map, negotiations, player])."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import solara
from mesa.visualization.components import AgentPortrayalStyle
from mesa.visualization.utils import update_counter

from cluster_abm import ClusterModel, InputError
from cluster_abm.model import Frame, Node, Watcher
from cluster_abm.model.observing.watching import telling_index
from cluster_abm.recording.payload import payload_of
from cluster_abm.results.colours import DOWN, RIM
from cluster_abm.results.load_scale import LEAST_FULL, round_full, shade_of
from viz.widget import PartWidget

NOT_RECORDED = (
    "The model is not recorded: give ClusterModel record=True, and SolaraViz model_params={..., 'record': True}."
)


class Watched:
    """What the components show of a model; all of them share it."""

    def __init__(self, model: ClusterModel) -> None:
        self._watcher = Watcher(model)
        # The load that tells most of the scenario: nodes are coloured by it.
        self._index = telling_index(model.setup)
        self._largest = 0.0
        self.frame: Frame = self._watcher.frame()
        self._keep()
        self._at_ns, self._payload = -1, b""

    def look(self, now_ms: float) -> None:
        """Take a frame, if the model has gone on since the last one."""
        if now_ms != self.frame.now_ms:
            self.frame = self._watcher.frame()
            self._keep()

    def shade(self, node: int) -> str:
        """The colour of a node: its load on the scale of all loads seen so far, or that of a node that is down."""
        if not self.frame.up[node]:
            return DOWN
        return shade_of(self.frame.loads[self._index][node], round_full(self._largest, LEAST_FULL[self._index]))

    def payload(self, model: ClusterModel) -> bytes:
        """The recording of the model so far, as the player reads it. Raises InputError: it is not recorded."""
        if model.now_ns != self._at_ns:
            self._payload = payload_of(model.recording())
            self._at_ns = model.now_ns
        return self._payload

    def _keep(self) -> None:
        self._largest = max(self._largest, float(self.frame.loads[self._index].max()))


_watched: WeakKeyDictionary[Any, Watched] = WeakKeyDictionary()


def watched(model: ClusterModel) -> Watched:
    """What is known of a model up to now."""
    run = _watched.get(model)
    if run is None:
        run = _watched[model] = Watched(model)
    run.look(model.now_ms)
    return run


def load_portrayal(node: Node) -> AgentPortrayalStyle:
    """How Mesa draws a node, coloured by load, or as failed."""
    of = watched(node.model)
    # Its area in square points: many nodes are small ones.
    size = min(300.0, max(12.0, 20_000.0 / len(of.frame.up)))
    return AgentPortrayalStyle(color=of.shade(node.index), edgecolors=RIM, size=size)


@solara.component
def Network(model: ClusterModel) -> None:
    """The nodes with their tasks, and what moves."""
    _part(model, "stage")


@solara.component
def HeatMap(model: ClusterModel) -> None:
    """The load of the nodes over time: the timeline."""
    _part(model, "timeline")


@solara.component
def Negotiations(model: ClusterModel) -> None:
    """The decisions of the load managers, and why."""
    _part(model, "decisions")


@solara.component
def PlayerOf(model: ClusterModel) -> None:
    """The whole player."""
    _part(model, "player")


def _part(model: ClusterModel, part: str) -> None:
    update_counter.get()
    try:
        recordings, words = [watched(model).payload(model)], ""
    except InputError as problem:
        recordings, words = [], NOT_RECORDED if "record=True" in str(problem) else str(problem)
    with solara.Div(classes=["cluster-abm", part]):
        PartWidget.element(recordings=recordings, part=part, words=words)
