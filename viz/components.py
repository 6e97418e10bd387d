"""Components of Mesa's own page: SolaraViz(model, components=[network, heat_map, negotiations])."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import solara
from mesa.visualization.components import AgentPortrayalStyle
from mesa.visualization.utils import update_counter

from cluster_abm import ClusterModel
from cluster_abm.model import Node
from cluster_abm.model.observing.watching import telling_index
from cluster_abm.results.load_scale import LoadScale
from viz import charts, colours, talk
from viz import network as networks
from viz.colours import Index, index_of
from viz.run import Watched

WIDTH, HEIGHT = 560.0, 420.0
# Mesa's page has none for tables.
STYLE = (
    ".cluster-abm table{border-collapse:collapse;font-size:12px}"
    ".cluster-abm td,.cluster-abm th{padding:1px 8px 1px 0;text-align:left}.cluster-abm .faint{color:#5b6770}"
)
_watched: WeakKeyDictionary[Any, Watched] = WeakKeyDictionary()


def watched(model: ClusterModel) -> Watched:
    """What the components show of a model; all of them share it."""
    run = _watched.get(model)
    if run is None:
        run = _watched[model] = Watched(model, WIDTH, HEIGHT)
    run.look()
    return run


def _index_of(model: ClusterModel, of: Watched) -> tuple[Index, LoadScale]:
    """The load that tells most of the model's scenario, and its scale."""
    kind = index_of(telling_index(model.setup), of.per_core)
    return kind, of.scale(kind.name)


def load_portrayal(node: Node) -> AgentPortrayalStyle:
    """How Mesa draws a node, coloured by load, or as failed, as in `Network`."""
    of = watched(node.model)
    kind, scale = _index_of(node.model, of)
    colour = colours.DOWN
    if of.frame.up[node.index]:
        colour = colours.hexed(colours.colour_of(kind, of.frame.loads[kind.name][node.index], scale))
    # Its area in square points: many nodes are small ones.
    size = min(300.0, max(12.0, 20_000.0 / len(of.frame.up)))
    return AgentPortrayalStyle(color=colour, edgecolors=colours.RIM, size=size)


@solara.component
def Network(model: ClusterModel) -> None:
    """The interconnect with its nodes, coloured by load, and the moves since the last frame."""
    update_counter.get()
    of = watched(model)
    kind, scale = _index_of(model, of)
    label = f"network, nodes coloured by {kind.words}"
    drawn = networks.draw(of.map, of.frame, model.network, kind, scale, label)
    _shown("network", f"<h3>{kind.words}, at {of.frame.now_ms / 1000:,.2f} s</h3>{drawn}")


@solara.component
def HeatMap(model: ClusterModel) -> None:
    """The load of the nodes over time."""
    update_counter.get()
    of = watched(model)
    kind, scale = _index_of(model, of)
    title = f"{kind.words.partition(':')[0]} of the nodes over time"
    drawn = charts.heat_map(title, of.times_s, of.column(kind.name), kind, scale, WIDTH, HEIGHT / 2)
    _shown("heat-map", str(drawn))


@solara.component
def Negotiations(model: ClusterModel) -> None:
    """The newest decisions of the load managers."""
    update_counter.get()
    drawn = talk.negotiations([watched(model)], (WIDTH, HEIGHT / 2), can_pick=False)
    _shown("negotiations", f"<h3>Last negotiations</h3>{drawn}")


def _shown(name: str, html: str) -> None:
    # Markup escapes what it is made of.
    solara.HTML("div", unsafe_innerHTML=f"<style>{STYLE}</style>{html}", classes=["cluster-abm", name])
