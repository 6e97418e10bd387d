"""A networkx graph in the place of a scenario's network: handed over in Python, or kept in a file beside a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cluster_abm.bounded_files import NETWORK_MB, Limit, whole
from cluster_abm.errors import InputError
from cluster_abm.scenario.filling.toml_file import is_there
from cluster_abm.scenario.interconnect import Interconnect

GRAPH = "interconnect.graph"
# A file of this ending, beside the scenario that names it, is a part of it.
BESIDE = ".network.json"


def with_graph(overrides: dict[str, object], network: object) -> dict[str, object]:
    """Keys to lay over a scenario, and a graph that is handed over; None: none is.

    Raises InputError: it is no graph that can be taken, or the keys name another network.
    """
    if network is None:
        return overrides
    from cluster_abm.graphs.handed import text_of

    for key in ("interconnect.kind", "interconnect.file", GRAPH):
        section, _, name = key.partition(".")
        table = overrides.get(section)
        if key in overrides or (isinstance(table, Mapping) and name in table):
            raise InputError(f"network = a graph, and {key}: give one of them")
    # After a whole section, so that this key is laid over it.
    return overrides | {GRAPH: text_of(network)}


def hand_over(tree: dict[str, Any]) -> None:
    """Take out of a scenario's tables what says another network: a graph is about to be laid over them."""
    network = tree.get("interconnect")
    if not isinstance(network, dict):
        return
    others = {key for keys in Interconnect.USES.values() for key in keys} - {
        "trunk_bandwidth_mbps", "trunk_latency_ms",
    }  # fmt: skip
    tree["interconnect"] = {key: value for key, value in network.items() if key not in others | {"kind"}}


def give_way(tree: dict[str, Any], overrides: Mapping[str, object]) -> None:
    """Take the graph that was handed over out of a scenario's tables where overrides name another network."""
    network = tree.get("interconnect")
    if not isinstance(network, dict) or network.get("graph") is None or GRAPH in overrides:
        return
    kind = overrides.get("interconnect.kind")
    if kind is not None and kind != "file":
        hand_over(tree)
    elif overrides.get("interconnect.file") is not None:
        tree["interconnect"] = {key: value for key, value in network.items() if key != "graph"}


def beside(path: Path, data: dict[str, Any]) -> dict[str, Any]:
    """A scenario's tables, with the graph that they name taken in if it lies beside the scenario as NAME.network.json.

    Raises InputError: that file holds no graph.

    Args:
        path: the scenario's file.
        data: its tables.
    """
    network = data.get("interconnect")
    file = network.get("file") if isinstance(network, dict) else None
    if not isinstance(network, dict) or not isinstance(file, str) or not file.endswith(BESIDE):
        return data
    neighbour = path.parent / file
    if Path(file).name != file or not is_there(neighbour):
        return data
    from cluster_abm.graphs.handed import canonical

    max_mb = network.get("max_mb", NETWORK_MB)
    limit = Limit(max_mb if isinstance(max_mb, int) and max_mb > 0 else NETWORK_MB, "interconnect.max_mb")
    text = canonical(whole(neighbour, limit), str(neighbour))
    rest = {key: value for key, value in network.items() if key != "file"}
    return data | {"interconnect": rest | {"graph": text}}
