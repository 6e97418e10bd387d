"""The user's graph as a network of nodes: which vertices are nodes, what its links can do, what had to be assumed."""

from __future__ import annotations

import math
from collections.abc import Hashable
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx

from cluster_abm.errors import InputError
from cluster_abm.graphs.checks import IN_CONTENTION, NOTES, Contention, brief
from cluster_abm.graphs.hosts import hosts_of, keep_largest_part, parts_of, scalar
from cluster_abm.graphs.reading import ENDINGS, HANDED, read_graph, read_text
from cluster_abm.scenario import nearest, network_names, shipped_network
from cluster_abm.scenario.distributions import LARGEST_SPEED, LEAST_SPEED, LONGEST_PERIOD_MS
from cluster_abm.scenario.filling.vertices import HARDWARE, files_of, hardware_of
from cluster_abm.scenario.interconnect import Interconnect

Ends = tuple[Hashable, Hashable]

MOST_PROBLEMS = 10


class Trunk(NamedTuple):
    """What joins two vertices of a file in one direction."""

    bandwidth_mbps: float
    latency_ms: float


class GraphOfNodes(NamedTuple):
    """What is made of a user's graph.

    Attributes:
        graph: nodes as 0..nodes-1, other vertices by their names as texts.
        notes: what was assumed, a line each.
        vertices: the vertex of each node, as the user calls it; several nodes may be at one.
        files: names of the files that each node holds at first.
        read: the user's graph, without the parts that are left out.
    """

    graph: nx.Graph
    notes: tuple[str, ...]
    vertices: tuple[Hashable, ...]
    files: tuple[tuple[str, ...], ...]
    read: nx.MultiGraph | nx.MultiDiGraph


def graph_from_file(settings: Interconnect, nodes: int) -> GraphOfNodes:
    """The network in the file that a scenario names, or in the graph that was handed over.

    Read of an edge: `bandwidth_mbps`, `latency_ms` (missing, None or empty: those of the scenario's trunks); of a
    vertex: `host` (false: it only forwards) or `kind` ("switch": the same), `cluster`, the name of the cluster it
    belongs to, the hardware of its nodes (`filling.vertices.HARDWARE`; missing: that of the scenario's cluster), and
    `files`. Everything else is left alone: labels and raw speeds have as many meanings as there are files.

    Parallel edges become one link: bandwidths are added, the latency is the least. Loops are left out. A directed graph
    is one of full-duplex links: an edge counts in both directions (the Topology Zoo writes its graphs so); where a file
    has both they must be alike.

    Vertices are nodes in the order of the file; those that only forward keep the file's names. With `nodes_per_vertex`
    above 1 each vertex is the switch of a site, with that many nodes at it by links of the scenario's own.

    Raises InputError: as `read_graph`; a value that is not allowed, parts that nothing joins, or another number of
    nodes.
    """
    where, read = _read(settings)
    left_out = keep_largest_part(read) if settings.part == "largest" else 0
    trunks, notes = _trunks(read, settings, where)
    if left_out:
        notes.insert(0, f"{_counted(left_out, 'vertex', 'vertices')} outside of its largest part left out")
    notes = [*read.graph.get(NOTES, ()), *notes]
    whole = nx.Graph()
    whole.add_nodes_from(read)
    whole.add_edges_from((one, other, trunk._asdict()) for (one, other), trunk in _links(trunks, where).items())
    _check_one_part(whole, where)
    hosts = hosts_of(read, where)
    at_each = settings.nodes_per_vertex or 1
    # What the vertices say comes first: where it is wrong, the scenario does not know how many nodes there are.
    notes += _defaulted(hardware_of(read, hosts, where))
    if settings.mode == "contended":
        notes += _sharing(read, where)
    of_vertices = files_of(read, hosts, where)
    _as_many_as(hosts, read, settings, nodes, where)
    graph = _with_nodes(whole, hosts, settings)
    clusters = _clusters(hosts, read, where)
    for site, vertex in enumerate(hosts):
        for node in range(site * at_each, (site + 1) * at_each):
            # Nodes of a site that names no cluster are one.
            graph.nodes[node]["cluster"] = clusters[site] if clusters else site if at_each > 1 else 0
            graph.nodes[node]["name"] = str(vertex)
            if clusters:
                graph.nodes[node]["cluster_name"] = str(read.nodes[vertex]["cluster"])
    vertices = tuple(vertex for vertex in hosts for _ in range(at_each))
    # Of several nodes at a vertex the first one holds its files.
    files = tuple(names for held in of_vertices for names in (held, *[()] * (at_each - 1)))
    return GraphOfNodes(graph, tuple(f"{where}: {note}" for note in notes), vertices, files, read)


def _read(settings: Interconnect) -> tuple[str, nx.MultiGraph | nx.MultiDiGraph]:
    """What messages call the graph, and the graph."""
    if settings.graph is not None:
        return HANDED, read_text(settings.graph)
    where = str(settings.file)
    shipped = shipped_network(where)
    if shipped is not None:
        return where, read_graph(shipped)
    if Path(where).name == where and not Path(where).suffix and not Path(where).exists():
        raise InputError(
            f"{where}: no such shipped network; {nearest(where, network_names())}; a file of your own ends in "
            f"{', '.join(ENDINGS[:-1])} or {ENDINGS[-1]} (interconnect.file)"
        )
    return where, read_graph(Path(where), settings.max_mb, settings.gflops_per_speed)


def _sharing(read: nx.MultiGraph, where: str) -> list[str]:
    """Notes on links that transfers share in another way than the file says. Raises InputError: not at all so."""
    found = read.graph.get(IN_CONTENTION)
    if not isinstance(found, Contention):
        return []
    if found.unshared:
        more = f" and {len(found.unshared) - 1} more" if len(found.unshared) > 1 else ""
        raise InputError(
            f'{where}: interconnect.mode = "contended" shares links of two ends, each direction by itself; in the file '
            f'there is {found.unshared[0]}{more}: allowed is interconnect.mode = "delay"'
        )
    if found.half_duplex:
        return [f"links that share one capacity for both directions: {found.half_duplex}; each direction has it here"]
    return []


def _defaulted(hardware: list[dict[str, float]]) -> list[str]:
    """Notes on the node keys that some vertices give and others do not."""
    gives = {name: sum(name in keys for keys in hardware) for name in HARDWARE}
    return [
        f"{len(hardware) - many} of {len(hardware)} vertices have no {name}: that of [cluster] taken"
        for name, many in gives.items()
        if 0 < many < len(hardware)
    ]


def _trunks(read: nx.MultiGraph, settings: Interconnect, where: str) -> tuple[dict[Ends, list[Trunk]], list[str]]:
    """All edges from one vertex to another, and notes on those that are not quite what the file says."""
    defaults = {"bandwidth_mbps": settings.trunk_mbps, "latency_ms": settings.trunk_ms}
    bounds = {"bandwidth_mbps": (LEAST_SPEED, LARGEST_SPEED), "latency_ms": (0.0, LONGEST_PERIOD_MS)}
    missing = dict.fromkeys(defaults, 0)
    problems = []
    trunks: dict[Ends, list[Trunk]] = {}
    for one, other, attributes in read.edges(data=True):
        if one == other:
            continue
        values = {name: attributes.get(name) for name in defaults}
        for name, value in values.items():
            low, high = bounds[name]
            if value is None:
                missing[name] += 1
                values[name] = defaults[name]
            elif not _is_number(value, low, high):
                problems.append(
                    f"{where}: edge {brief(one)} - {brief(other)}: {name} = {brief(value)}: allowed {low:g} to {high:g}"
                )
        trunks.setdefault((one, other), []).append(Trunk(**values))
    if problems:
        more = len(problems) - MOST_PROBLEMS
        raise InputError(problems[:MOST_PROBLEMS] + ([f"{where}: and {more} more such values"] if more > 0 else []))
    loops = nx.number_of_selfloops(read)
    edges = read.number_of_edges() - loops
    notes = [f"{few} of {edges} links have no {name}: {defaults[name]:g} taken" for name, few in missing.items() if few]
    if edges > len(trunks):
        parallel = _counted(edges - len(trunks), "parallel edge", "parallel edges")
        notes.append(f"{parallel} merged: bandwidths added, the least latency taken")
    if loops:
        notes.append(f"{_counted(loops, 'loop', 'loops')} left out")
    if read.is_directed():
        notes.append("its edges are directed: taken as links in both directions")
    return trunks, notes


def _links(trunks: dict[Ends, list[Trunk]], where: str) -> dict[Ends, Trunk]:
    """One link for each two vertices that edges join."""
    links: dict[Ends, Trunk] = {}
    for (one, other), parallel in trunks.items():
        link = Trunk(math.fsum(each.bandwidth_mbps for each in parallel), min(each.latency_ms for each in parallel))
        back = links.get((other, one))
        if back is None:
            links[one, other] = link
        elif back != link:
            raise InputError(
                f"{where}: edge {brief(one)} - {brief(other)}: "
                f"{link.bandwidth_mbps:g} Mbps and {link.latency_ms:g} ms, but "
                f"{back.bandwidth_mbps:g} and {back.latency_ms:g} back: links must be alike in both directions"
            )
    return links


def _counted(number: int, singular: str, plural: str) -> str:
    return f"{number} {singular if number == 1 else plural}"


def _is_number(value: Any, low: float, high: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high


def _check_one_part(graph: nx.Graph, where: str) -> None:
    parts = parts_of(graph)
    if len(parts) > 1:
        first = {vertex: position for position, vertex in enumerate(graph)}
        named = [
            f"{_counted(len(part), 'vertex', 'vertices')} (with {brief(min(part, key=first.__getitem__))})"
            for part in parts[:MOST_PROBLEMS]
        ]
        more = f" and {len(parts) - MOST_PROBLEMS} more" if len(parts) > MOST_PROBLEMS else ""
        raise InputError(
            f"{where}: {len(parts)} parts that nothing joins: {', '.join(named)}{more}; one is needed: "
            'interconnect.part = "largest" takes the largest alone'
        )


def _as_many_as(hosts: list[Hashable], read: nx.MultiGraph, settings: Interconnect, nodes: int, where: str) -> None:
    at_each = settings.nodes_per_vertex or 1
    if not hosts:
        raise InputError(f"{where}: all of its {len(read)} vertices only forward: none is a node")
    if len(hosts) * at_each == nodes:
        return
    held = f"{len(hosts)} vertices for nodes" + (f", {at_each} at each" if at_each > 1 else "")
    cure = f"set cluster.nodes = {len(hosts) * at_each}"
    if nodes % len(hosts) == 0:
        cure += f", or interconnect.nodes_per_vertex = {nodes // len(hosts)}"
    if len(hosts) * at_each > nodes:
        cure += ", or host = false of the vertices that only forward (switches)"
    raise InputError(f"{where}: {held}, but cluster.nodes is {nodes}: {cure}")


def _with_nodes(whole: nx.Graph, hosts: list[Hashable], settings: Interconnect) -> nx.Graph:
    """The graph with nodes 0.. in it: in the place of vertices, or several at each."""
    at_each = settings.nodes_per_vertex or 1
    names: dict[Hashable, Hashable] = {vertex: str(vertex) for vertex in whole}
    if at_each == 1:
        names |= {vertex: node for node, vertex in enumerate(hosts)}
    graph = nx.Graph()
    graph.add_nodes_from(range(len(hosts) * at_each))
    graph.add_nodes_from(names.values())
    if at_each > 1:
        of_a_node = Trunk(settings.bandwidth_mbps, settings.latency_ms)._asdict()
        graph.add_edges_from((node, names[hosts[node // at_each]], of_a_node) for node in range(len(hosts) * at_each))
    graph.add_edges_from((names[one], names[other], link) for one, other, link in whole.edges(data=True))
    return graph


def _clusters(hosts: list[Hashable], read: nx.MultiGraph, where: str) -> list[int]:
    """The cluster that each host names, numbered as they come; empty if none does."""
    named = [scalar(vertex, read.nodes[vertex], "cluster", where) for vertex in hosts]
    silent = [vertex for vertex, name in zip(hosts, named, strict=True) if name is None or name == ""]
    if len(silent) == len(hosts):
        return []
    if silent:
        raise InputError(
            f"{where}: vertex {brief(silent[0])} names no cluster, as {len(silent)} of {len(hosts)} do not: "
            "all or none must"
        )
    numbers = {name: number for number, name in enumerate(dict.fromkeys(map(str, named)))}
    return [numbers[str(name)] for name in named]
