"""What the graph of a scenario says of its nodes: how many there are, and what their hardware is."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from cluster_abm.bounded_files import NETWORK_MB
from cluster_abm.errors import InputError
from cluster_abm.scenario.cluster import NodeGroup
from cluster_abm.scenario.shipped import shipped_file

if TYPE_CHECKING:
    import networkx as nx


class OfVertices(NamedTuple):
    """What a graph says of a cluster: the number of nodes, and its groups ([[cluster.group]]); none: all are alike."""

    where: str
    nodes: int
    groups: tuple[dict[str, Any], ...]


def fill_nodes(tree: dict[str, Any], overrides: Mapping[str, object]) -> OfVertices | None:
    """Set `cluster.nodes` and `cluster.group` in a scenario's tables to what the graph of its network says of its
    vertices; return that, None where there is no such graph.

    `cluster.nodes` is set where it is not given. A graph that an override names brings its number, whatever the tables
    under it say, unless an override gives that too. A file that does not exist or holds no graph is left to the
    network, which says what is wrong with it.

    Raises InputError: a graph that was handed over says what is not allowed; groups beside vertices that say what their
    nodes are, or groups of more nodes than the graph has.
    """
    cluster, network = tree.get("cluster", {}), tree.get("interconnect")
    if not isinstance(cluster, dict) or not isinstance(network, dict):
        return None
    if not (isinstance(network.get("file"), str) or isinstance(network.get("graph"), str)):
        return None
    found = of_vertices(network)
    _fill_number(tree, cluster, found, overrides)
    if found is not None and found.groups:
        _fill_groups(tree, found)
    return found


def _fill_number(
    tree: dict[str, Any], cluster: dict[str, Any], found: OfVertices | None, overrides: Mapping[str, object]
) -> None:
    says = [_says(key, value, "interconnect", name) for key, value in overrides.items() for name in ("file", "graph")]
    is_given = any(_says(key, value, "cluster", "nodes") for key, value in overrides.items())
    if is_given or ("nodes" in cluster and not any(says)):
        return
    grouped = _grouped(cluster.get("group"))
    nodes = None if found is None else found.nodes
    if nodes is None and "nodes" not in cluster:
        # Enough for the groups, so that the message is the network's: that there is no such file, or no graph in it.
        nodes = grouped or None
    if nodes is not None:
        if found is not None and not found.groups and grouped > nodes:
            raise InputError(
                f"cluster.group: counts add up to {grouped}, but cluster.nodes is {nodes}, the number of nodes at the "
                f"vertices of {found.where}: leave [[cluster.group]] out"
            )
        tree["cluster"] = cluster | {"nodes": nodes}


def _grouped(groups: object) -> int:
    """How many nodes the groups count, as far as that can be told."""
    counts = [group.get("count") for group in groups if isinstance(group, Mapping)] if isinstance(groups, list) else []
    return sum(count for count in counts if isinstance(count, int) and not isinstance(count, bool))


def _fill_groups(tree: dict[str, Any], found: OfVertices) -> None:
    cluster = tree["cluster"]
    given = cluster.get("group")
    if given and not _are_alike(given, found.groups):
        keys = ", ".join(sorted({key for group in found.groups for key in group} - {"count"}))
        raise InputError(
            f"{found.where}: its vertices say the {keys} of their nodes, and so does cluster.group: leave "
            "[[cluster.group]] out, or these attributes"
        )
    # Where the numbers do not fit, the network says so.
    if not given and cluster.get("nodes") == found.nodes:
        tree["cluster"] = cluster | {"group": [dict(group) for group in found.groups]}


def _are_alike(given: Any, groups: tuple[dict[str, Any], ...]) -> bool:
    """Whether groups are those of the graph: of a scenario that was written with them."""
    try:
        return [NodeGroup.model_validate(group) for group in given] == [NodeGroup(**group) for group in groups]
    except (ValidationError, TypeError):
        return False


def of_vertices(network: Mapping[str, Any]) -> OfVertices | None:
    """What the graph of an interconnect's section says of its nodes; None: that cannot be told."""
    at_each, max_mb = network.get("nodes_per_vertex") or 1, network.get("max_mb", NETWORK_MB)
    if any(isinstance(value, bool) or not isinstance(value, int) or value < 1 for value in (at_each, max_mb)):
        return None
    gflops = network.get("gflops_per_speed", 1.0)
    if isinstance(gflops, bool) or not isinstance(gflops, int | float) or not 0.0 < gflops < math.inf:
        return None
    is_largest = network.get("part") == "largest"
    graph = network.get("graph")
    if isinstance(graph, str):
        # Handed over by a caller, who sees at once what is wrong with it.
        return _of_text(graph, at_each, is_largest)
    with suppress(InputError, ValueError, OSError):
        file = network["file"]
        path = shipped_file("networks", file, ".json") or Path(file)
        found = os.stat(path)
        reading = (max_mb, float(gflops))
        return _of_file(path, file, reading, at_each, is_largest, (found.st_mtime_ns, found.st_size))
    return None


# A study builds a scenario for each of its points, mostly on one graph.
@lru_cache(maxsize=16)
def _of_file(
    path: Path, where: str, reading: tuple[int, float], at_each: int, is_largest: bool, _modified: tuple[int, int]
) -> OfVertices | None:
    from cluster_abm.graphs.reading import read_graph

    return _described(read_graph(path, *reading), where, at_each, is_largest)


@lru_cache(maxsize=16)
def _of_text(text: str, at_each: int, is_largest: bool) -> OfVertices | None:
    from cluster_abm.graphs.reading import HANDED, read_text

    return _described(read_text(text), HANDED, at_each, is_largest)


def _described(graph: nx.Graph, where: str, at_each: int, is_largest: bool) -> OfVertices | None:
    from cluster_abm.graphs.hosts import hosts_of, keep_largest_part
    from cluster_abm.scenario.filling.vertices import files_of, groups_of, hardware_of

    if is_largest:
        keep_largest_part(graph)
    hosts: list[Hashable] = hosts_of(graph, where)
    groups = groups_of(hardware_of(graph, hosts, where), at_each)
    files_of(graph, hosts, where)
    return OfVertices(where, len(hosts) * at_each, tuple(groups)) if hosts else None


def _says(key: str, value: object, section: str, name: str) -> bool:
    """Whether an override gives a key, by itself or in a table."""
    return key == f"{section}.{name}" or (key == section and isinstance(value, Mapping) and name in value)
