"""`interconnect.file` without `cluster.nodes`: there are as many nodes as the graph has vertices for them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cluster_abm.bounded_files import NETWORK_MB
from cluster_abm.errors import InputError
from cluster_abm.scenario.shipped import shipped_file


def fill_nodes(tree: dict[str, Any], overrides: Mapping[str, object]) -> None:
    """Set `cluster.nodes` in a scenario's tables to what the graph of `interconnect.file` holds, where it is not given.

    A file that an override names brings its number, whatever the tables under it say, unless an override gives that
    too. A file that is none, or is no graph, is left to the network, which says what is wrong with it.
    """
    cluster, network = tree.get("cluster", {}), tree.get("interconnect")
    if not isinstance(cluster, dict) or not isinstance(network, dict) or not isinstance(network.get("file"), str):
        return
    is_new = any(_says(key, value, "interconnect", "file") for key, value in overrides.items())
    is_given = any(_says(key, value, "cluster", "nodes") for key, value in overrides.items())
    if is_given or ("nodes" in cluster and not is_new):
        return
    nodes = nodes_in(network)
    if nodes is None and "nodes" not in cluster:
        # Enough for the groups, so that the message is the network's: that its file is none, or is no graph.
        groups = cluster.get("group")
        counts = (
            [group.get("count") for group in groups if isinstance(group, Mapping)] if isinstance(groups, list) else []
        )
        nodes = sum(count for count in counts if isinstance(count, int) and not isinstance(count, bool)) or None
    if nodes is not None:
        tree["cluster"] = cluster | {"nodes": nodes}


def nodes_in(network: Mapping[str, Any]) -> int | None:
    """How many nodes the graph of an interconnect's section holds; None: that cannot be told."""
    from cluster_abm.graphs.hosts import hosts_of, keep_largest_part
    from cluster_abm.graphs.reading import read_graph

    file, at_each, max_mb = network["file"], network.get("nodes_per_vertex") or 1, network.get("max_mb", NETWORK_MB)
    if any(isinstance(value, bool) or not isinstance(value, int) or value < 1 for value in (at_each, max_mb)):
        return None
    try:
        graph = read_graph(shipped_file("networks", file, ".json") or Path(file), max_mb)
        if network.get("part") == "largest":
            keep_largest_part(graph)
        return len(hosts_of(graph, file)) * at_each or None
    except (InputError, ValueError, OSError):
        return None


def _says(key: str, value: object, section: str, name: str) -> bool:
    """Whether an override gives a key, by itself or in a table."""
    return key == f"{section}.{name}" or (key == section and isinstance(value, Mapping) and name in value)
