"""Which vertices of a graph are nodes, and which of its parts hang together."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import networkx as nx

from cluster_abm.errors import InputError
from cluster_abm.graphs.checks import brief

TRUTHS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def hosts_of(graph: nx.Graph, where: str) -> list[Hashable]:
    """The vertices that are nodes, in the order of the file.

    Raises InputError: an attribute that says so has no such value.

    Args:
        graph: of `read_graph`.
        where: names the file in messages.
    """
    return [vertex for vertex, attributes in graph.nodes(data=True) if is_host(vertex, attributes, where)]


def parts_of(graph: nx.Graph) -> list[set[Hashable]]:
    """The parts of a graph that nothing joins, the one of most vertices first; of like ones the first in the file."""
    undirected = graph.to_undirected(as_view=True) if graph.is_directed() else graph
    return sorted(nx.connected_components(undirected), key=len, reverse=True)


def keep_largest_part(graph: nx.Graph) -> int:
    """Leave only the largest part in a graph, and its vertices in their order; return how many were left out."""
    largest = parts_of(graph)[0] if len(graph) else set()
    others = [vertex for vertex in graph if vertex not in largest]
    graph.remove_nodes_from(others)
    return len(others)


def is_host(vertex: Hashable, attributes: dict[str, Any], where: str) -> bool:
    """Whether a vertex is a node rather than one that only forwards. Raises InputError: it does not say it right."""
    attribute = scalar(vertex, attributes, "host", where)
    host = True if attribute is None or attribute == "" else TRUTHS.get(str(attribute).strip().lower())
    if host is None:
        raise InputError(f"{where}: vertex {brief(vertex)}: host = {brief(attribute)}: allowed {', '.join(TRUTHS)}")
    kind = scalar(vertex, attributes, "kind", where)
    return host and str(kind).strip().lower() != "switch"


def scalar(vertex: Hashable, attributes: dict[str, Any], name: str, where: str) -> Any:
    """A vertex's attribute, None if it has none. Raises InputError for lists and objects."""
    value = attributes.get(name)
    if value is not None and not isinstance(value, str | int | float):
        raise InputError(f"{where}: vertex {brief(vertex)}: {name} = {brief(value)}: allowed: a text or a number")
    return value
