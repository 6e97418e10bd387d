"""The project's components for Mesa's own page.

    from mesa.visualization import SolaraViz
    from cluster_abm import ClusterModel
    from cluster_abm.components import heat_map, negotiations, network

    page = SolaraViz(ClusterModel("quickstart"), components=[network, heat_map, negotiations])

They need the extra `viz`; nothing of it is imported before a component is drawn.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from cluster_abm.model import ClusterModel

__all__ = ["heat_map", "negotiations", "network"]


def network(model: ClusterModel) -> Any:
    """The interconnect with its nodes, coloured by load, and the moves since the last frame."""
    return _components().Network(model)


def heat_map(model: ClusterModel) -> Any:
    """The load of the nodes over time."""
    return _components().HeatMap(model)


def negotiations(model: ClusterModel) -> Any:
    """The newest decisions of the load managers."""
    return _components().Negotiations(model)


def _components() -> Any:
    # The page ships inside the package; in a checkout it stands beside it.
    package = Path(__file__).resolve().parent
    home = package / "shipped" if (package / "shipped" / "viz").is_dir() else package.parent
    if str(home) not in sys.path:
        sys.path.append(str(home))
    return importlib.import_module("viz.components")
