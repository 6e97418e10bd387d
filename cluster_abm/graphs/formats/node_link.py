"""Node-link JSON, as networkx writes it."""

from __future__ import annotations

import json
from typing import Any

import networkx as nx

from cluster_abm.errors import InputError
from cluster_abm.graphs.checks import MOST_PARTS, OWN, brief, check_names

# Names of vertices may be lists in lists, as networkx writes tuples.
DEEPEST_NAME = 8


def read_node_link(raw: bytes, where: str) -> nx.MultiGraph | nx.MultiDiGraph:
    """The graph in a document. Raises InputError: no graph in it, or vertices not called as `named` has it."""
    parts = raw.count(b"{") + raw.count(b"[")
    if parts > MOST_PARTS:
        raise InputError(f"{where}: {parts:,} objects and lists: allowed up to {MOST_PARTS:,}")
    try:
        document = json.loads(raw)
    except ValueError as problem:
        raise InputError(f"{where}: not a JSON document: {problem}") from None
    called = [name for name in ("links", "edges") if isinstance(document, dict) and name in document]
    if len(called) != 1 or not isinstance(document.get("nodes"), list) or not isinstance(document[called[0]], list):
        raise InputError(
            f'{where}: no node-link graph: a list "nodes", and one of the lists "links" and "edges", are needed'
        )
    nodes, links = document["nodes"], document[called[0]]
    for section, keys, entries in (("nodes", ("id",), nodes), (called[0], ("source", "target"), links)):
        for index, entry in enumerate(entries):
            for key in keys:
                value = entry.get(key) if isinstance(entry, dict) else None
                name = named(value)
                if name is None:
                    raise InputError(
                        f"{where}: {section}[{index}].{key} = {brief(value)}: a string or a whole number is needed, "
                        "or a list of them"
                    )
                if name is not value:
                    entry[key] = name
    vertices, ends = [entry["id"] for entry in nodes], [(entry["source"], entry["target"]) for entry in links]
    check_names(vertices, ends, where)
    graph = nx.MultiDiGraph() if document.get("directed") is True else nx.MultiGraph()
    # Not nx.node_link_graph: where the document does not say "multigraph", or repeats a key, it drops parallel edges.
    graph.add_nodes_from((entry["id"], entry) for entry in nodes)
    graph.add_edges_from((entry["source"], entry["target"], None, entry) for entry in links)
    own = document.get("graph")
    graph.graph[OWN] = (document.get("multigraph") is True, own if isinstance(own, dict) else {})
    return graph


def named(value: Any, depth: int = 0) -> Any:
    """The name of a vertex as Python has it: a text, a whole number, or a tuple of them; None: it is no name."""
    if isinstance(value, str | int) and not isinstance(value, bool):
        return value
    if not isinstance(value, list | tuple) or not value or depth > DEEPEST_NAME:
        return None
    parts = tuple(named(part, depth + 1) for part in value)
    return None if None in parts else parts
