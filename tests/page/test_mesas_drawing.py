"""Mesa's own drawing of a model's space, on whatever Mesa is here."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from support import busy, scenario

from cluster_abm import ClusterModel
from cluster_abm.model.observing.watching import telling_index
from cluster_abm.results.colours import DOWN, RIM
from cluster_abm.results.load_scale import LEAST_FULL, round_full, shade_of

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("solara") is None, reason="there is no solara here"),
    # Mesa's own.
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(params=["complete", "tree", "bus"])
def model(request):
    model = ClusterModel(scenario(**busy(policy__name="none"), interconnect__kind=request.param), seed=1)
    model.run(until_ms=3000.0)
    model.node_agents[2].fail()
    return model


def colours_of(model):
    """The colours that the project's own network has for the nodes."""
    from viz.components import watched

    loads = watched(model).frame.loads[telling_index(model.setup)]
    full = round_full(loads.max(), LEAST_FULL[telling_index(model.setup)])
    # Node 2 is down.
    return [DOWN if node == 2 else shade_of(load, full) for node, load in enumerate(loads)]


def drawn_nodes(axes):
    """Colours and places of the nodes in a picture by Mesa: what has an edge in the colour of rims."""
    (found,) = [
        one for one in axes.collections if len(one.get_offsets()) and to_hex(one.get_edgecolors()[0]) == RIM.lower()
    ]
    return [to_hex(colour) for colour in found.get_facecolors()], np.asarray(found.get_offsets())


def test_nodes_have_the_colours_of_their_loads(model):
    from mesa.visualization.mpl_space_drawing import draw_space

    from cluster_abm.components import load_portrayal, places

    axes = Figure().add_subplot()
    draw_space(model.space, load_portrayal, ax=axes, layout_alg=places, layout_kwargs={})
    shades, at = drawn_nodes(axes)
    assert shades == [colour.lower() for colour in colours_of(model)]
    assert len(set(shades)) > 1
    graph = model.space.G
    assert at.tolist() == [list(graph.nodes[node]["pos"]) for node in range(4)]
    # Links are there, under the nodes.
    (links,) = [one for one in axes.collections if not len(one.get_offsets()) or hasattr(one, "get_segments")]
    assert len(links.get_segments()) == graph.number_of_edges()


def test_mesas_defaults_draw_all_nodes(model):
    from mesa.visualization import SpaceRenderer

    from cluster_abm.components import load_portrayal

    renderer = SpaceRenderer(model, backend="matplotlib")
    renderer.draw_structure()
    renderer.draw_agents(load_portrayal)
    shades, _ = drawn_nodes(renderer.canvas)
    assert shades == [colour.lower() for colour in colours_of(model)]
