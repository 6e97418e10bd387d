"""SimGrid's platform XML (simgrid.dtd 4 and 4.1)."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Collection, Mapping

import networkx as nx
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from cluster_abm.errors import InputError
from cluster_abm.graphs.checks import IN_CONTENTION, IN_GFLOPS, NOTES, Contention, brief, check_names
from cluster_abm.graphs.simgrid.directions import duplex_edges, unlike_back
from cluster_abm.graphs.simgrid.elements import platform_of
from cluster_abm.graphs.simgrid.joining import joined
from cluster_abm.graphs.simgrid.platform import FATPIPE, Link, Platform, Route
from cluster_abm.graphs.xml_documents import root_of

# Vertices and edges that the check of routes visits at most, over all sources.
MOST_VISITS = 50_000_000
SAME_MS = 1e-6  # less than a nanosecond is rounded away


def read_simgrid(raw: bytes, where: str) -> nx.MultiGraph:
    """The graph in a platform. Raises InputError as `platform_in`."""
    return platform_in(root_of(raw, where), where)


def platform_in(root: ElementTree.Element, where: str) -> nx.MultiGraph:
    """The graph of a platform of which this is the outermost element.

    Hosts are nodes with `cpu_speed` in Gflop/s (`checks.IN_GFLOPS`), `cores`, and their zone as `cluster` where there
    are several zones. Routers only forward. Each link that a route leads over is an edge; where two links of a route
    meet, and no host or router is, there is a vertex "junction 1", and so on.

    Raises InputError: no platform of version 4; what a graph cannot be; a name that is there twice, or not at all; a
    number without a meaning; an element whose effect would be lost.
    """
    return _graph_of(platform_of(root, where))


def _graph_of(platform: Platform) -> nx.MultiGraph:
    loops = sum(route.source == route.target for route in platform.routes)
    platform.routes = [route for route in platform.routes if route.source != route.target]
    for number, route in enumerate(platform.routes):
        if not route.links:
            raise InputError(
                f"{platform.where}: route {route}, number {number + 1}: it has no link: allowed is one at least"
            )
    found = joined(platform)
    ends, media = found
    for one, other, link in duplex_edges(platform, found):
        platform.add_edge(one, other, link)
    used = [name for _, _, name in ends]
    _note_unshared(platform, used)
    for name, points in media.items():
        link = platform.links[name]
        platform.unshared.append(f"link {brief(name)}, which joins {len(points)} points")
        for point in points:
            platform.add_edge(point, f"link {name}", Link(link.bandwidth_mbps, link.latency_ms / 2.0))
    graph = nx.MultiGraph()
    zones = {attributes.get("cluster") for attributes in platform.vertices.values()} - {None}
    for name, attributes in platform.vertices.items():
        kept = {key: value for key, value in attributes.items() if key != "cluster" or len(zones) > 1}
        graph.add_node(name, **kept)
    for name in media:
        if f"link {name}" in graph:
            raise InputError(f"{platform.where}: vertex {brief(f'link {name}')}: so is the medium {brief(name)} called")
    for one, other, link in platform.edges:
        for end in (one, other):
            if end not in graph:
                graph.add_node(end, kind="switch")
        graph.add_edge(one, other, bandwidth_mbps=link.bandwidth_mbps, latency_ms=link.latency_ms)
    check_names(list(graph), [], platform.where)
    unused = len(set(platform.links).difference(used, media, platform.of_hosts))
    graph.graph |= {
        IN_GFLOPS: True,
        NOTES: _notes(platform, graph, loops, media, unused),
        IN_CONTENTION: Contention(tuple(platform.unshared), platform.half_duplex),
    }
    return graph


def _note_unshared(platform: Platform, used: Collection[str]) -> None:
    """Remember which links transfers cannot share as the file says.

    Args:
        used: names of the links that are edges.
    """
    on_routes = frozenset(used)
    for name in dict.fromkeys((*used, *platform.of_hosts)):
        hosts = platform.of_hosts[name]
        if platform.links[name].policy == FATPIPE:
            platform.unshared.append(f"link {brief(name)}, which is FATPIPE: each transfer has all of it")
        elif hosts > 1:
            platform.unshared.append(f"link {brief(name)}, which is that of {hosts} hosts")
        elif hosts and name in on_routes:
            platform.unshared.append(f"link {brief(name)}, which is that of a host and part of a route")


def _notes(
    platform: Platform, graph: nx.MultiGraph, loops: int, media: Mapping[str, list[str]], unused: int
) -> list[str]:
    notes = []
    if platform.several_speeds:
        notes.append(f"hosts with several speeds: {platform.several_speeds}; that of the first p-state taken")
    if loops:
        notes.append(f"routes from a host to itself: {loops} left out: nothing travels there")
    if media:
        notes.append(
            f"links that join more than two points: {len(media)}; each a vertex with half of the latency on each side"
        )
    if unused:
        notes.append(f"links that no route between two hosts leads over: {unused} left out")
    if platform.left_out:
        listed = ", ".join(f"{count} <{name}>" for name, count in sorted(platform.left_out.items()))
        notes.append(f"not read: {listed}")
    return notes + unlike_back(platform) + _other_ways(platform, graph, media)


def _other_ways(platform: Platform, graph: nx.MultiGraph, media: Mapping[str, list[str]]) -> list[str]:
    """A note on the routes of the file that are longer than those of least latency, which a run takes.

    Raises InputError: there are some, and there are media: they would be short cuts that no link is.
    """
    sources = list(dict.fromkeys(route.source for route in platform.routes))
    sources = sources[: max(1, MOST_VISITS // (len(graph) + graph.number_of_edges() + 1))]
    number = {vertex: place for place, vertex in enumerate(graph)}
    least: dict[tuple[int, int], float] = {}
    for one, other, attributes in graph.edges(data=True):
        for pair in ((number[one], number[other]), (number[other], number[one])):
            least[pair] = min(least.get(pair, math.inf), attributes["latency_ms"])
    pairs = np.array(list(least), np.int64).reshape(-1, 2)
    lengths = csr_array((np.array(list(least.values())), (pairs[:, 0], pairs[:, 1])), shape=(len(graph), len(graph)))
    of_source: dict[str, list[Route]] = {source: [] for source in sources}
    for route in platform.routes:
        if route.source in of_source:
            of_source[route.source].append(route)
    first, longer, checked = "", 0, 0
    for source, routes in of_source.items():
        found = dijkstra(lengths, indices=number[source])
        for route in routes:
            in_file = math.fsum(platform.links[link].latency_ms for link in route.links)
            shorter = float(found[number[route.target]])
            checked += 1
            if in_file > shorter + SAME_MS:
                longer += 1
                first = first or f"{route}: {shorter:g} ms in place of {in_file:g}"
    total = len(platform.routes)
    part = f"the first {checked} of {total} routes checked" if checked < total else ""
    if not longer:
        return [f"{part}: none leads another way than in the file"] if part else []
    said = f"{longer} of {checked} routes lead another way than in the file, over the least latency (first: {first})"
    said = f"{part}: {said}" if part else said
    if media:
        raise InputError(
            f"{platform.where}: {said}; {len(media)} of its links join more than two points, first "
            f"{brief(next(iter(media)))}: no graph has these routes"
        )
    return [said]
