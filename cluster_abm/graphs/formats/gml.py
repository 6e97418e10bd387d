"""GML, as the Topology Zoo writes it."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import networkx as nx

from cluster_abm.errors import InputError
from cluster_abm.graphs.checks import MOST_EDGES, MOST_VERTICES, NOTES, NUMBERS, brief, check_names, parsed

# Lists in a document: of each vertex and edge two, the second for what it is drawn with.
MOST_LISTS = 2 * (MOST_VERTICES + MOST_EDGES)
_GRAPH = re.compile(r"^\s*graph\s*\[", re.MULTILINE)
_MANY = re.compile(r"^\s*multigraph\s+[01]\s*$", re.MULTILINE)


def read_gml(raw: bytes, where: str) -> nx.MultiGraph | nx.MultiDiGraph:
    """The graph in a document, whose vertices are called by their labels, or by their ids where these are not unique.

    Raises InputError: it is no GML, or says too little.
    """
    if raw.count(b"[") > MOST_LISTS:
        raise InputError(f"{where}: {raw.count(b'['):,} lists: allowed up to {MOST_LISTS:,}")
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        # GML is ASCII with entities; older files have Latin-1.
        text = raw.decode("latin-1")
    # Parallel edges are there whether or not the file announces them.
    text = _GRAPH.sub("graph [\n  multigraph 1\n", _MANY.sub("", text), count=1)
    try:
        read = nx.parse_gml(text.splitlines(), label=None)
    except RecursionError:
        raise
    except Exception as problem:
        # Whatever it trips over is in the file.
        raise InputError(f"{where}: no GML that can be read: {problem}") from None
    graph = nx.MultiDiGraph() if read.is_directed() else nx.MultiGraph()
    names, notes = _names(read)
    vertices, ends = [names[vertex] for vertex in read], [(names[one], names[other]) for one, other in read.edges()]
    check_names(vertices, ends, where)
    graph.add_nodes_from((names[vertex], _numbers(attributes)) for vertex, attributes in read.nodes(data=True))
    graph.add_edges_from(
        (names[one], names[other], None, _numbers(attributes)) for one, other, attributes in read.edges(data=True)
    )
    graph.graph[NOTES] = notes
    return graph


def _names(read: nx.Graph) -> tuple[dict[Any, Any], list[str]]:
    """What each vertex is called, and a note where that is not its label."""
    labels = {vertex: attributes.get("label") for vertex, attributes in read.nodes(data=True)}
    counts = Counter(map(str, labels.values()))
    missing = sum(not isinstance(label, str | int) or label == "" for label in labels.values())
    if missing == len(labels):
        is_said = any(label is not None for label in labels.values())
        notes = ["no label is a text or a whole number: all vertices are called by their ids"] if is_said else []
        return {vertex: vertex for vertex in read}, notes
    twice = [label for label, count in counts.items() if count > 1]
    if missing or twice:
        why = f"{missing} of {len(labels)} vertices have no label" if missing else f"{brief(twice[0])} labels several"
        return {vertex: vertex for vertex in read}, [f"{why}: all vertices are called by their ids"]
    return labels, []


def _numbers(attributes: dict[str, Any]) -> dict[str, Any]:
    return attributes | {name: parsed(attributes[name]) for name in NUMBERS if name in attributes}
