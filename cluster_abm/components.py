"""The project's components for Mesa's own page.

    from mesa.visualization import SolaraViz
    from cluster_abm import ClusterModel
    from cluster_abm.components import heat_map, negotiations, network

    page = SolaraViz(ClusterModel("quickstart"), components=[network, heat_map, negotiations])

They need the extra `viz`; nothing of it is imported before a component is drawn.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from functools import cache
from pathlib import Path
from typing import Any

from cluster_abm.model import ClusterModel

__all__ = ["heat_map", "negotiations", "network"]
# The package of the page.
PAGE = "viz"


def network(model: ClusterModel) -> Any:
    """The interconnect with its nodes, coloured by load, and the moves since the last frame."""
    return _components().Network(model)


def heat_map(model: ClusterModel) -> Any:
    """The load of the nodes over time."""
    return _components().HeatMap(model)


def negotiations(model: ClusterModel) -> Any:
    """The newest decisions of the load managers."""
    return _components().Negotiations(model)


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
