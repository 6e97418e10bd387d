"""A networkx graph that a caller hands over, as text: what a scenario holds, workers are sent, and files keep."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping
from operator import index
from typing import Any

import networkx as nx

from cluster_abm.errors import InputError
from cluster_abm.graphs.checks import MOST_EDGES, MOST_VERTICES, OWN, brief
from cluster_abm.graphs.formats.node_link import named, read_node_link
from cluster_abm.graphs.reading import HANDED, read_text

# Attributes that are read: what cannot be written of these is an error, of all others it is left out.
OF_EDGES = ("bandwidth_mbps", "latency_ms")
OF_VERTICES = ("cluster", "host", "kind", "cpu_speed", "cores", "memory_mb", "files")
DEEPEST = 20
_NOT_PLAIN = object()


def text_of(graph: object) -> str:
    """The graph as node-link JSON, which `read_text` reads; the graph itself is left alone.

    Equal graphs, with vertices and edges in the same order, give equal texts. Attributes of the caller's own are kept
    as far as JSON holds them.

    Raises InputError: no networkx graph; too large; vertices that are not called by texts, whole numbers or tuples of
    them; an attribute that is read has a value that is neither number nor text.
    """
    if not isinstance(graph, nx.Graph):
        raise InputError(f"{HANDED} = {brief(graph)}: a networkx graph is needed")
    if len(graph) > MOST_VERTICES or graph.number_of_edges() > MOST_EDGES:
        raise InputError(
            f"{HANDED}: {len(graph)} vertices and {graph.number_of_edges()} edges: allowed up to {MOST_VERTICES} and "
            f"{MOST_EDGES}"
        )
    names = {vertex: _name(vertex) for vertex in graph}
    many = graph.is_multigraph()
    edges = []
    # Of a multigraph an edge has a key, too.
    for one, other, *key, attributes in graph.edges(data=True, **({"keys": True} if many else {})):
        kept = _kept(attributes, OF_EDGES, f"edge {brief(one)} - {brief(other)}")
        if key and isinstance(_plain(key[0]), str | int):
            kept["key"] = _plain(key[0])
        edges.append(kept | {"source": names[one], "target": names[other]})
    nodes = [
        _kept(attributes, OF_VERTICES, f"vertex {brief(vertex)}") | {"id": names[vertex]}
        for vertex, attributes in graph.nodes(data=True)
    ]
    document = {
        "directed": graph.is_directed(), "multigraph": many, "graph": _kept(graph.graph, (), ""),
        "nodes": nodes, "edges": edges,
    }  # fmt: skip
    text = _canonical(document)
    read_text(text)
    return text


def canonical(raw: bytes, where: str) -> str:
    """What a file of node-link JSON holds, as `text_of` writes it. Raises InputError: it holds no graph."""
    try:
        read_node_link(raw, where)
        return _canonical(json.loads(raw))
    except RecursionError:
        raise InputError(f"{where}: nested too deeply") from None


def in_lines(text: str) -> str:
    """The same for a file: a line a vertex, and a line an edge."""
    document = json.loads(text)
    lists = {name: entries for name, entries in document.items() if name in ("nodes", "links", "edges")}
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in document.items() if name not in lists]
    for name, entries in lists.items():
        lines.append(f"{json.dumps(name)}: [\n " + ",\n ".join(map(json.dumps, entries)) + "\n]")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def as_handed(read: nx.MultiGraph | nx.MultiDiGraph) -> nx.Graph:
    """A graph that was read (`read_text`, `read_graph`) as a user has it: of the class of the one that was handed over;
    of a file a multigraph only where it has parallel edges."""
    many, own = read.graph.get(OWN, (False, {}))
    is_directed = read.is_directed()
    simple = nx.DiGraph if is_directed else nx.Graph
    many = many or simple(read.edges()).number_of_edges() < read.number_of_edges()
    graph: nx.Graph = (nx.MultiDiGraph if is_directed else nx.MultiGraph)() if many else simple()
    graph.graph.update(own)
    graph.add_nodes_from((vertex, _without(attributes, "id")) for vertex, attributes in read.nodes(data=True))
    for one, other, attributes in read.edges(data=True):
        ends: tuple[Any, ...] = (one, other)
        if many:
            key = attributes.get("key")
            is_new = isinstance(key, str | int) and not graph.has_edge(one, other, key)
            ends += (graph.add_edge(one, other, key if is_new else None),)
        else:
            graph.add_edge(one, other)
        graph.edges[ends].update(_without(attributes, "source", "target", *(["key"] if many else [])))
    return graph


def _without(attributes: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if name not in names}


def _canonical(document: object) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def _name(vertex: Hashable) -> Any:
    name = named(_with_whole_numbers(vertex))
    if name is None:
        raise InputError(
            f"{HANDED}: vertex {brief(vertex)}: allowed names are texts, whole numbers, and tuples of them; "
            "networkx.relabel_nodes gives others"
        )
    return name


def _with_whole_numbers(vertex: object) -> object:
    """The name with Python's own numbers in place of numpy's."""
    if isinstance(vertex, tuple):
        return tuple(map(_with_whole_numbers, vertex))
    if isinstance(vertex, str | bool):
        return vertex
    try:
        return index(vertex)  # type: ignore[arg-type]
    except TypeError:
        return vertex


def _kept(attributes: Mapping[Any, Any], read: tuple[str, ...], whose: str) -> dict[str, Any]:
    kept = {name: _plain(value) for name, value in attributes.items() if isinstance(name, str)}
    for name in read:
        if isinstance(attributes.get(name), float):
            # Also where it is infinite: what reads it says what is allowed.
            kept[name] = attributes[name]
        elif kept.get(name) is _NOT_PLAIN:
            raise InputError(f"{HANDED}: {whose}: {name} = {brief(attributes[name])}: a number or a text is needed")
    return {name: value for name, value in kept.items() if value is not _NOT_PLAIN}


def _plain(value: Any, depth: int = 0) -> Any:
    """The value as JSON holds it; _NOT_PLAIN: it does not."""
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        value = value.tolist()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else _NOT_PLAIN
    if depth > DEEPEST:
        return _NOT_PLAIN
    if isinstance(value, set | frozenset):
        value = sorted(value, key=str)
    if isinstance(value, list | tuple):
        parts = [_plain(part, depth + 1) for part in value]
        return _NOT_PLAIN if any(part is _NOT_PLAIN for part in parts) else parts
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        entries = {name: _plain(part, depth + 1) for name, part in value.items()}
        return _NOT_PLAIN if any(part is _NOT_PLAIN for part in entries.values()) else entries
    return _NOT_PLAIN
