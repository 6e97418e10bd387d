"""GraphML."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

import networkx as nx

from cluster_abm.errors import InputError
from cluster_abm.graphs.checks import NUMBERS, check_names, parsed
from cluster_abm.graphs.xml_documents import local_name, root_of

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"


def read_graphml(raw: bytes, where: str) -> nx.MultiGraph | nx.MultiDiGraph:
    """The graph in a document. Raises InputError: it holds no graph, declares entities, or holds what would be lost."""
    return graph_in(root_of(raw, where), where)


def graph_in(root: ElementTree.Element, where: str) -> nx.MultiGraph | nx.MultiDiGraph:
    """The graph in a document of which this is the outermost element. Raises InputError as `read_graphml`."""
    _normalise(root)
    graphs = root.findall(f"{{{NAMESPACE}}}graph")
    if root.tag != f"{{{NAMESPACE}}}graphml" or len(graphs) != 1:
        raise InputError(
            f"{where}: {len(graphs)} graphs in a <{local_name(root)}>: one <graph> in a <graphml> is needed"
        )
    vertices = [element.get("id") for element in root.iter(f"{{{NAMESPACE}}}node")]
    ends = [(element.get("source"), element.get("target")) for element in root.iter(f"{{{NAMESPACE}}}edge")]
    check_names(vertices, ends, where)
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
            attributes.update({name: parsed(attributes[name]) for name in NUMBERS if name in attributes})
    return graph


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


def _nothing_lost(graph: nx.MultiGraph, vertices: list[Any], ends: list[tuple[Any, Any]], where: str) -> None:
    if len(graph) != len(vertices) or graph.number_of_edges() != len(ends):
        raise InputError(
            f"{where}: of {len(vertices)} vertices and {len(ends)} edges {len(graph)} and {graph.number_of_edges()} "
            f"can be read: the others lie in graphs inside of vertices, or share an attribute `key`"
        )
