"""Graphs from files, as the user's file has them: nothing lost, nothing guessed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import networkx as nx

from cluster_abm.bounded_files import NETWORK_MB, Limit, shown, whole
from cluster_abm.errors import InputError
from cluster_abm.graphs.checks import IN_GFLOPS, MOST_EDGES, MOST_VERTICES, brief
from cluster_abm.graphs.formats.edge_list import read_comma_separated, read_tab_separated
from cluster_abm.graphs.formats.gml import read_gml
from cluster_abm.graphs.formats.graphml import graph_in, read_graphml
from cluster_abm.graphs.formats.node_link import read_node_link
from cluster_abm.graphs.formats.simgrid import platform_in
from cluster_abm.graphs.formats.sndlib import read_sndlib
from cluster_abm.graphs.xml_documents import local_name, root_of

# Also what others take from here.
__all__ = ["ENDINGS", "MOST_EDGES", "MOST_VERTICES", "brief", "read_graph", "read_text"]


def _read_xml(raw: bytes, where: str) -> nx.MultiGraph | nx.MultiDiGraph:
    """GraphML, or a platform of SimGrid, by the outermost element. Raises InputError as their readers do."""
    root = root_of(raw, where)
    return platform_in(root, where) if local_name(root) == "platform" else graph_in(root, where)


_READERS: dict[str, Callable[[bytes, str], nx.MultiGraph | nx.MultiDiGraph]] = {
    ".graphml": read_graphml,
    ".xml": _read_xml,
    ".json": read_node_link,
    ".gml": read_gml,
    ".csv": read_comma_separated,
    ".tsv": read_tab_separated,
    ".txt": read_sndlib,
}
ENDINGS = tuple(_READERS)
# What messages call a graph that was handed over.
HANDED = "network"


def read_graph(path: Path, max_mb: int = NETWORK_MB, gflops_per_speed: float = 1.0) -> nx.MultiGraph | nx.MultiDiGraph:
    """The graph in a file, by its name: GraphML or a platform of SimGrid (.graphml, .xml), node-link JSON (.json), GML
    (.gml), SNDlib's native format (.txt), or a list of edges with named columns (.csv, .tsv).

    Vertices are as the file calls them, parallel edges and loops are kept, attributes are as the file has them except
    that a text becomes a number where an attribute that is read holds one; not so in JSON, which has numbers. An entity
    that the file declares is refused before it is expanded, and nothing outside the file is read. What had to be
    assumed is under `checks.NOTES` of the graph's own attributes.

    Raises InputError: no such file, too large, broken, no such format, vertices that are named twice or never.

    Args:
        max_mb: how much the file may hold [MB of 2^20 bytes].
        gflops_per_speed: of a platform, the speed of a host that is `cpu_speed` 1 [Gflop/s].
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"{shown(path)}: format not told by the name: allowed {', '.join(ENDINGS)} (interconnect.file)"
        )
    raw = whole(path, Limit(max_mb, "interconnect.max_mb"))
    try:
        graph = reader(raw, str(path))
        if graph.graph.get(IN_GFLOPS) is True:
            for _, attributes in graph.nodes(data=True):
                if "cpu_speed" in attributes:
                    attributes["cpu_speed"] /= gflops_per_speed
        return graph
    except RecursionError:
        raise InputError(f"{path}: nested too deeply") from None


def read_text(text: str) -> nx.MultiGraph | nx.MultiDiGraph:
    """The graph in a text of node-link JSON (`handed.text_of`). Raises InputError as `read_graph`."""
    try:
        return read_node_link(text.encode(errors="surrogatepass"), HANDED)
    except RecursionError:
        raise InputError(f"{HANDED}: nested too deeply") from None
