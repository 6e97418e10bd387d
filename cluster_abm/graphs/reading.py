"""Graphs from GraphML and node-link JSON, as the user's file has them: nothing lost, nothing guessed."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from reprlib import Repr
from typing import Any
from xml.parsers import expat

import networkx as nx

from cluster_abm.bounded_files import BLOCK, NETWORK_MB, Limit, shown, whole
from cluster_abm.errors import InputError

MOST_VERTICES = 20_000
MOST_EDGES = 500_000
# Elements and attributes of a document: a file of 64 MB holds fewer, even with a dozen attributes to each edge.
MOST_PARTS = 3_000_000
DEEPEST = 100
LONGEST_TAG = 1_000_000  # bytes
NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
NUMBERS = ("bandwidth_mbps", "latency_ms")
_BRIEF = Repr()
_BRIEF.maxstring = _BRIEF.maxlong = _BRIEF.maxother = 60


def read_graph(path: Path, max_mb: int = NETWORK_MB) -> nx.MultiGraph | nx.MultiDiGraph:
    """The graph in a file, by its name: GraphML (.graphml, .xml) or node-link JSON (.json).

    Vertices are as the file calls them, parallel edges and loops are kept, attributes are as the file has them except
    that GraphML's text becomes a number where `bandwidth_mbps` and `latency_ms` hold one. An entity that the file
    declares is refused before it is expanded, and nothing outside the file is read.

    Raises InputError: no such file, too large, broken, no such format, vertices that are named twice or never.
    """
    readers = {".graphml": _from_graphml, ".xml": _from_graphml, ".json": _from_json}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"{shown(path)}: format not told by the name: allowed {', '.join(readers)} (interconnect.file)"
        )
    raw = whole(path, Limit(max_mb, "interconnect.max_mb"))
    try:
        return reader(raw, str(path))
    except RecursionError:
        raise InputError(f"{path}: nested too deeply") from None


def _from_graphml(raw: bytes, where: str) -> nx.MultiGraph | nx.MultiDiGraph:
    _check_form(raw, where)
    try:
        root = ElementTree.fromstring(raw)
    except (ElementTree.ParseError, LookupError, ValueError) as problem:
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
    except RecursionError:
        raise
    except Exception as problem:
        # Whatever it trips over is in the file: networkx checks little.
        raise InputError(f"{where}: no GraphML that can be read: {problem}") from None
    _nothing_lost(graph, vertices, ends, where)
    for kind, elements in (("node", graph.nodes(data=True)), ("edge", graph.edges(data=True))):
        defaults = graph.graph[f"{kind}_default"]
        for *_, attributes in elements:
            attributes.update(defaults | attributes)
            attributes.update({name: _parsed(attributes[name]) for name in NUMBERS if name in attributes})
    return graph


def _check_form(raw: bytes, where: str) -> None:
    """Read the document once for nothing but its form: entities are declared before they can be used, and what is too
    deep, or of too many parts, is not made into objects."""
    depth = parts = 0

    def refuse(name: str, *_: object) -> None:
        raise InputError(f"{where}: declares the entity {name!r}: documents with entities of their own are refused")

    def begin(_: str, attributes: list[str]) -> None:
        nonlocal depth, parts
        depth, parts = depth + 1, parts + 1 + len(attributes) // 2
        if depth > DEEPEST:
            raise InputError(f"{where}: nested too deeply: allowed up to {DEEPEST} elements in each other")
        if parts > MOST_PARTS:
            raise InputError(f"{where}: more than {MOST_PARTS:,} elements and attributes: allowed up to {MOST_PARTS:,}")

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.ordered_attributes = True
    try:
        for at in range(0, len(raw), BLOCK // 4):
            parser.Parse(raw[at : at + BLOCK // 4], False)
            if at - parser.CurrentByteIndex > LONGEST_TAG:
                raise InputError(f"{where}: a tag or remark of more than {LONGEST_TAG:,} bytes")
        parser.Parse(b"", True)
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
    """A number where the text is one; nothing where it is empty. 1_000 and digits of other scripts are none."""
    try:
        text = str(text).strip()
        if "_" in text or not text.isascii():
            return text
        return float(text) if text else None
    except ValueError:
        return text


def _from_json(raw: bytes, where: str) -> nx.MultiGraph | nx.MultiDiGraph:
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
                if not isinstance(value, str | int) or isinstance(value, bool):
                    raise InputError(
                        f"{where}: {section}[{index}].{key} = {brief(value)}: a string or a whole number is needed"
                    )
    vertices, ends = [entry["id"] for entry in nodes], [(entry["source"], entry["target"]) for entry in links]
    _check_names(vertices, ends, where)
    graph = nx.MultiDiGraph() if document.get("directed") is True else nx.MultiGraph()
    # Not nx.node_link_graph: where the document does not say "multigraph", or repeats a key, it drops parallel edges.
    graph.add_nodes_from((entry["id"], entry) for entry in nodes)
    graph.add_edges_from((entry["source"], entry["target"], None, entry) for entry in links)
    return graph


def brief(value: Any) -> str:
    """A value of the file for messages, however long or deep it is."""
    return _BRIEF.repr(value)


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
            raise InputError(f"{where}: vertex {brief(vertex)}: {problem}")
        known.add(str(vertex))
        if any("\ud800" <= character <= "\udfff" for character in str(vertex)):
            # Half a character, which JSON may hold: it could be neither shown nor written.
            raise InputError(f"{where}: vertex {brief(vertex)}: its id is no text")
    exact = set(vertices)
    for source, target in ends:
        for end in (source, target):
            if end not in exact:
                raise InputError(f"{where}: edge {brief(source)} - {brief(target)}: there is no vertex {brief(end)}")


def _nothing_lost(graph: nx.MultiGraph, vertices: list[Any], ends: list[tuple[Any, Any]], where: str) -> None:
    if len(graph) != len(vertices) or graph.number_of_edges() != len(ends):
        raise InputError(
            f"{where}: of {len(vertices)} vertices and {len(ends)} edges {len(graph)} and {graph.number_of_edges()} "
            f"can be read: the others lie in graphs inside of vertices, or share an attribute `key`"
        )
