"""Graphs from GraphML and node-link JSON, as the user's file has them: nothing lost, nothing guessed."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any
from xml.parsers import expat

import networkx as nx

from cluster_abm.errors import InputError

LARGEST_FILE_MB = 64
MOST_VERTICES = 20_000
MOST_EDGES = 500_000
NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
NUMBERS = ("bandwidth_mbps", "latency_ms")


def read_graph(path: Path) -> nx.MultiGraph | nx.MultiDiGraph:
    """The graph in a file, by its name: GraphML (.graphml, .xml) or node-link JSON (.json).

    Vertices are as the file calls them, parallel edges and loops are kept, attributes are as the file has them except
    that GraphML's text becomes a number where `bandwidth_mbps` and `latency_ms` hold one. An entity that the file
    declares is refused before it is expanded, and nothing outside the file is read.

    Raises:
        InputError: no such file, too large, broken, no such format, vertices that are named twice or never.
    """
    readers = {".graphml": _from_graphml, ".xml": _from_graphml, ".json": _from_json}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path}: format not told by the name: allowed {', '.join(readers)} (interconnect.file)")
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE_MB * 2**20:
            raise InputError(f"{path}: {size / 2**20:.0f} MB: allowed up to {LARGEST_FILE_MB} MB")
        raw = path.read_bytes()
    except OSError as problem:
        raise InputError(f"{path}: cannot be read: {problem.strerror or problem} (interconnect.file)") from None
    try:
        return reader(raw, str(path))
    except RecursionError:
        raise InputError(f"{path}: nested too deeply") from None


def _from_graphml(raw: bytes, where: str) -> nx.MultiGraph | nx.MultiDiGraph:
    _refuse_entities(raw, where)
    try:
        root = ElementTree.fromstring(raw)
    except ElementTree.ParseError as problem:
        raise InputError(f"{where}: not an XML document: {problem}") from None
    _normalise(root)
    graphs = root.findall(f"{{{NAMESPACE}}}graph")
    if root.tag != f"{{{NAMESPACE}}}graphml" or len(graphs) != 1:
        outermost = root.tag.rpartition("}")[2]
        raise InputError(f"{where}: {len(graphs)} graphs in a <{outermost}>: one <graph> in a <graphml> is needed")
    vertices = [element.get("id") for element in root.iter(f"{{{NAMESPACE}}}node")]
    ends = [(element.get("source"), element.get("target")) for element in root.iter(f"{{{NAMESPACE}}}edge")]
    _check_names(vertices, ends, where)
    try:
        graph = nx.parse_graphml(ElementTree.tostring(root, encoding="unicode"), force_multigraph=True)
    except (nx.NetworkXError, KeyError, ValueError, TypeError, AttributeError) as problem:
        raise InputError(f"{where}: no GraphML that can be read: {problem}") from None
    _nothing_lost(graph, vertices, ends, where)
    for kind, found in (("node", graph.nodes(data=True)), ("edge", graph.edges(data=True))):
        defaults = graph.graph[f"{kind}_default"]
        for *_, attributes in found:
            attributes.update(defaults | attributes)
            attributes.update({name: _parsed(attributes[name]) for name in NUMBERS if name in attributes})
    return graph


def _refuse_entities(raw: bytes, where: str) -> None:
    """Read the document once for nothing but its form: entities are declared before they can be used."""

    def refuse(name: str, *_: object) -> None:
        raise InputError(f"{where}: declares the entity {name!r}: documents with entities of their own are refused")

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(raw, True)
    except (expat.ExpatError, LookupError, ValueError) as problem:
        raise InputError(f"{where}: not an XML document: {problem}") from None


def _normalise(root: ElementTree.Element) -> None:
    """What GraphML allows and networkx trips over: no namespace, keys without a type, ports, ids of parallel edges.

    The numbers that are read stay text until it is known to which edge they belong.
    """
    for element in root.iter():
        namespace, _, name = element.tag.rpartition("}")
        if not namespace or namespace.startswith("{http://graphml.graphdrawing.org/"):
            element.tag = f"{{{NAMESPACE}}}{name}"
        for port in [child for child in element if child.tag.rpartition("}")[2] == "port"]:
            element.remove(port)
        if name == "key" and (element.get("attr.name") in NUMBERS or element.get("attr.type") is None):
            element.set("attr.type", "string")
        if name == "edge":
            # networkx takes parallel edges of one id for one edge.
            element.attrib.pop("id", None)


def _parsed(text: Any) -> Any:
    """A number where the text is one; nothing where it is empty."""
    try:
        return float(text) if str(text).strip() else None
    except ValueError:
        return text


def _from_json(raw: bytes, where: str) -> nx.MultiGraph | nx.MultiDiGraph:
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
    for place, keys, entries in (("nodes", ("id",), nodes), (called[0], ("source", "target"), links)):
        for index, entry in enumerate(entries):
            for key in keys:
                value = entry.get(key) if isinstance(entry, dict) else None
                if not isinstance(value, str | int) or isinstance(value, bool):
                    raise InputError(
                        f"{where}: {place}[{index}].{key} = {value!r}: a string or a whole number is needed"
                    )
    vertices, ends = [entry["id"] for entry in nodes], [(entry["source"], entry["target"]) for entry in links]
    _check_names(vertices, ends, where)
    graph = nx.MultiDiGraph() if document.get("directed") is True else nx.MultiGraph()
    # Not nx.node_link_graph: where the document does not say "multigraph", or repeats a key, it drops parallel edges.
    graph.add_nodes_from((entry["id"], entry) for entry in nodes)
    graph.add_edges_from((entry["source"], entry["target"], None, entry) for entry in links)
    return graph


def _check_names(vertices: list[Any], ends: list[tuple[Any, Any]], where: str) -> None:
    if not vertices:
        raise InputError(f"{where}: no vertex in it")
    if len(vertices) > MOST_VERTICES or len(ends) > MOST_EDGES:
        raise InputError(
            f"{where}: {len(vertices)} vertices and {len(ends)} edges: allowed up to {MOST_VERTICES} and {MOST_EDGES}"
        )
    # 1 and "1" would be printed, and called as switches, the same.
    known: set[str] = set()
    for vertex in vertices:
        # An entity that is declared elsewhere leaves an empty id behind.
        if vertex in (None, "") or str(vertex) in known:
            problem = "no id" if vertex in (None, "") else "there are two of this id"
            raise InputError(f"{where}: vertex {vertex!r}: {problem}")
        known.add(str(vertex))
    exact = set(vertices)
    for source, target in ends:
        for end in (source, target):
            if end not in exact:
                raise InputError(f"{where}: edge {source!r} - {target!r}: there is no vertex {end!r}")


def _nothing_lost(graph: nx.MultiGraph, vertices: list[Any], ends: list[tuple[Any, Any]], where: str) -> None:
    if len(graph) != len(vertices) or graph.number_of_edges() != len(ends):
        raise InputError(
            f"{where}: of {len(vertices)} vertices and {len(ends)} edges {len(graph)} and {graph.number_of_edges()} "
            f"can be read: the others lie in graphs inside of vertices, or share an attribute `key`"
        )
