"""The project's components for Mesa's own page, and what Mesa's own drawing of a model's `space` takes.

    from mesa.visualization import SolaraViz, make_space_component
    from cluster_abm import ClusterModel
    from cluster_abm.components import heat_map, load_portrayal, negotiations, network, places, player

    page = SolaraViz(
        ClusterModel("quickstart", record=True),
        components=[network, heat_map, negotiations],
        model_params={"scenario": "quickstart", "record": True},
    )
    drawn_by_mesa = make_space_component(load_portrayal, layout_alg=places, layout_kwargs={})

`network`, `heat_map` and `negotiations` are parts of `player`: they show a recording of the model so far, so the model
has to be recorded. They need the extra `viz`; nothing of it is imported before a component is drawn.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from cluster_abm.model import ClusterModel, Node

__all__ = ["heat_map", "load_portrayal", "negotiations", "network", "places", "player"]
# The package of the page.
PAGE = "viz"


def network(model: ClusterModel) -> Any:
    """The nodes with their tasks, and what moves (of a model with record=True)."""
    return _components().Network(model)


def heat_map(model: ClusterModel) -> Any:
    """The load of the nodes over time (of a model with record=True)."""
    return _components().HeatMap(model)


def negotiations(model: ClusterModel) -> Any:
    """The decisions of the load managers, and why (of a model with record=True)."""
    return _components().Negotiations(model)


def player(model: ClusterModel) -> Any:
    """The whole player of the run so far (of a model with record=True)."""
    return _components().PlayerOf(model)


def load_portrayal(node: Node) -> Any:
    """How Mesa draws a node, coloured by load, or as failed (an `agent_portrayal`)."""
    return _components().load_portrayal(node)


def places(graph: Any) -> dict[int, Any]:
    """Where the vertices of a model's `space` stand (a `layout_alg`)."""
    return {vertex: np.array(graph.nodes[vertex]["pos"]) for vertex in graph}


@cache
def _components() -> Any:
    """The page's components, by where the page lies: `viz` may be a module of the user's, too, and stays that."""
    # The page ships inside the package; in a checkout it stands beside it.
    package = Path(__file__).resolve().parent
    inside = package / "shipped" / "viz"
    home = inside if inside.is_dir() else package.parent / "viz"
    known = {name: sys.modules[name] for name in list(sys.modules) if name.partition(".")[0] == PAGE}
    if str(home / "__init__.py") == getattr(known.get(PAGE), "__file__", None):
        # The page's own process.
        return importlib.import_module(f"{PAGE}.components")
    spec = importlib.util.spec_from_file_location(PAGE, home / "__init__.py", submodule_search_locations=[str(home)])
    assert spec is not None
    assert spec.loader is not None
    for name in known:
        del sys.modules[name]
    try:
        sys.modules[PAGE] = page = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(page)
        return importlib.import_module(f"{PAGE}.components")
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == PAGE]:
            del sys.modules[name]
        sys.modules.update(known)
