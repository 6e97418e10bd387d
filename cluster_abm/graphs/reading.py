"""Graphs from files, as the user's file has them: nothing lost, nothing guessed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import networkx as nx

from cluster_abm.bounded_files import NETWORK_MB, Limit, shown, whole
from cluster_abm.errors import InputError
from cluster_abm.graphs.checks import MOST_EDGES, MOST_VERTICES, brief
from cluster_abm.graphs.formats.edge_list import read_comma_separated, read_tab_separated
from cluster_abm.graphs.formats.gml import read_gml
from cluster_abm.graphs.formats.graphml import read_graphml
from cluster_abm.graphs.formats.node_link import read_node_link

# Also what others take from here.
__all__ = ["ENDINGS", "MOST_EDGES", "MOST_VERTICES", "brief", "read_graph", "read_text"]

_READERS: dict[str, Callable[[bytes, str], nx.MultiGraph | nx.MultiDiGraph]] = {
    ".graphml": read_graphml,
    ".xml": read_graphml,
    ".json": read_node_link,
    ".gml": read_gml,
    ".csv": read_comma_separated,
    ".tsv": read_tab_separated,
}
ENDINGS = tuple(_READERS)
# What messages call a graph that was handed over.
HANDED = "network"


def read_graph(path: Path, max_mb: int = NETWORK_MB) -> nx.MultiGraph | nx.MultiDiGraph:
    """The graph in a file, by its name: GraphML (.graphml, .xml), node-link JSON (.json), GML (.gml), or a list of
    edges with named columns (.csv, .tsv).

    Vertices are as the file calls them, parallel edges and loops are kept, attributes are as the file has them except
    that a text becomes a number where an attribute that is read holds one; not so in JSON, which has numbers. An entity
    that the file declares is refused before it is expanded, and nothing outside the file is read. What had to be
    assumed is under `checks.NOTES` of the graph's own attributes.

    Raises InputError: no such file, too large, broken, no such format, vertices that are named twice or never.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"{shown(path)}: format not told by the name: allowed {', '.join(ENDINGS)} (interconnect.file)"
        )
    raw = whole(path, Limit(max_mb, "interconnect.max_mb"))
    try:
        return reader(raw, str(path))
    except RecursionError:
        raise InputError(f"{path}: nested too deeply") from None


def read_text(text: str) -> nx.MultiGraph | nx.MultiDiGraph:
    """The graph in a text of node-link JSON (`handed.text_of`). Raises InputError as `read_graph`."""
    try:
        return read_node_link(text.encode(errors="surrogatepass"), HANDED)
    except RecursionError:
        raise InputError(f"{HANDED}: nested too deeply") from None
