"""Agent-based simulation of load balancing in clusters under CPU-, memory- and I/O-intensive work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cluster_abm._version import __version__

if TYPE_CHECKING:
    from cluster_abm.errors import InputError
    from cluster_abm.model import ClusterModel
    from cluster_abm.policies import load, register
    from cluster_abm.scenario import Scenario, load_scenario
    from cluster_abm.study.compare import compare
    from cluster_abm.study.results_folder import load_results

__all__ = [
    "ClusterModel",
    "InputError",
    "Scenario",
    "__version__",
    "compare",
    "load",
    "load_results",
    "load_scenario",
    "register",
]

_HOMES = {
    "ClusterModel": "cluster_abm.model",
    "InputError": "cluster_abm.errors",
    "Scenario": "cluster_abm.scenario",
    "compare": "cluster_abm.study.compare",
    "load": "cluster_abm.policies",
    "load_results": "cluster_abm.study.results_folder",
    "load_scenario": "cluster_abm.scenario",
    "register": "cluster_abm.policies",
}


def __getattr__(name: str) -> Any:
    """Import on first use: `cluster-abm --help` must not wait for Mesa and the compiler."""
    if name not in _HOMES:
        raise AttributeError(f"module 'cluster_abm' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
