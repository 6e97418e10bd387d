"""Where to draw the vertices of a network."""

from __future__ import annotations

import cmath
import math
from collections.abc import Hashable, Mapping
from itertools import chain, combinations, groupby, pairwise

import networkx as nx

from cluster_abm.interconnect.network import Network
from cluster_abm.interconnect.topologies import most_even

Point = tuple[float, float]

# The most nodes that find room on one ring; more of a network in which all are alike stand in a square.
MOST_ON_A_RING = 64
# networkx's better layout takes the cube of the number of vertices.
MOST_KAMADA_KAWAI = 150
# More lines than this are a grey disc, not a picture: they are left out.
MOST_LINKS = 1200
# Rows longer than this multiple of the square root of the nodes are broken.
LONGEST_ROW = 4
# How far a link round the back of a torus leads out of the grid, on one side and on the other.
STUB = 0.042
# Around switches: nodes of a row, the most rows, and the outer share of the radius in which the rows stand.
NODES_OF_A_ROW, MOST_ROUND_ROWS, ROWS_DEPTH = 128, 12, 0.24
# Rings of switches, by how many links lie between them and the nearest node.
RADII = (1.0, 0.66, 0.4, 0.18)


def positions(network: Network) -> dict[Hashable, Point]:
    """Position of every vertex in the unit square, (0, 0) at the upper left: 0..nodes-1 are nodes, strings switches.

    A torus is a grid, as is a complete network of many nodes; what has switches is drawn round them, the nodes outside;
    a graph from a file goes by networkx's spring layouts. The same network has always the same positions.
    """
    kind, nodes = network.settings.kind, network.nodes
    if kind == "complete":
        return _grid(nodes) if nodes > MOST_ON_A_RING else _ring(nodes)
    graph = network.graph
    if kind == "torus":
        return _grid(nodes, _columns(network))
    if kind in ("star", "bus", "tree", "fat-tree", "clusters", "dragonfly"):
        return _round(graph, nodes)
    if len(graph) <= MOST_KAMADA_KAWAI and nx.is_connected(graph):
        return _fitted({vertex: complex(*at) for vertex, at in nx.kamada_kawai_layout(graph, weight=None).items()})
    return _fitted({vertex: complex(*at) for vertex, at in nx.spring_layout(graph, seed=0, weight=None).items()})


def links(network: Network) -> list[tuple[Hashable, Hashable]]:
    """The links to draw; none where they are too many to be seen."""
    if network.settings.kind == "complete" and network.nodes * (network.nodes - 1) // 2 > MOST_LINKS:
        return []
    if network.settings.kind == "complete" and network.is_alike:
        return [*combinations(range(network.nodes), 2)]
    edges = list(network.graph.edges)
    return edges if len(edges) <= 4 * MOST_LINKS else []


def wires(network: Network, at: Mapping[Hashable, Point]) -> list[tuple[Point, Point]]:
    """The ends of each line to draw for `links`: one a link, two loose ends where it leads round the back of a torus.

    Args:
        network: of which to draw the links.
        at: each vertex's position, of `positions`.
    """
    return [
        line
        for one, other in links(network)
        for line in (
            _loose_ends(at[one], at[other]) if _is_round_the_back(network, one, other) else [(at[one], at[other])]
        )
    ]


def course(network: Network, at: Mapping[Hashable, Point], source: int, target: int) -> list[list[Point]]:
    """Return the route from a node to another as it is drawn: its points, in pieces where it goes round the back.

    Where a failure has just cut it, it is a straight line: the task set out while there was a route.

    Args:
        network: as it is now.
        at: each vertex's position, of `positions`.
        source, target: numbers of nodes.
    """
    vertices = _vertices(network, source, target)
    pieces = [[at[vertices[0]]]]
    for one, other in pairwise(vertices):
        if _is_round_the_back(network, one, other):
            (_, out), (into, _) = _loose_ends(at[one], at[other])
            pieces[-1].append(out)
            pieces.append([into])
        pieces[-1].append(at[other])
    return pieces


def _vertices(network: Network, source: int, target: int) -> list[Hashable]:
    # The numbers of a complete network's links are those of its graph, which would have to be made.
    if network.is_alike and network.settings.kind == "complete":
        return [source, target]
    try:
        numbers = network.links_between(source, target)
    except ValueError:
        return [source, target]
    ends = [network.link_ends[number] for number in numbers]
    return [vertex for vertex, _ in groupby(chain([source], *ends, [target]))]


def _is_round_the_back(network: Network, one: Hashable, other: Hashable) -> bool:
    """Whether a link joins the two ends of a row, or column, of a torus that is drawn as it is."""
    columns = _columns(network)
    if columns is None or not (isinstance(one, int) and isinstance(other, int)):
        return False
    (row, column), (other_row, other_column) = divmod(one, columns), divmod(other, columns)
    return abs(row - other_row) > 1 or abs(column - other_column) > 1


def _columns(network: Network) -> int | None:
    """Of a torus that is drawn as it is, how many nodes stand in a row: of two dimensions, and no endless row."""
    if network.settings.kind != "torus":
        return None
    sides = network.settings.dimensions
    if sides is None:
        sides = most_even(network.nodes)
        return sides[1] if sides[1] <= LONGEST_ROW * math.sqrt(network.nodes) else None
    return sides[1] if len(sides) == 2 else None


def _loose_ends(one: Point, other: Point) -> list[tuple[Point, Point]]:
    """From the first out of the grid, and into it to the second."""
    step_x, step_y = (STUB * ((a > b) - (a < b)) for a, b in zip(one, other, strict=True))
    return [(one, (one[0] + step_x, one[1] + step_y)), ((other[0] - step_x, other[1] - step_y), other)]


def _ring(nodes: int) -> dict[Hashable, Point]:
    return _fitted({node: cmath.rect(1.0, _angle(node, nodes)) for node in range(nodes)})


def _grid(nodes: int, across: int | None = None) -> dict[Hashable, Point]:
    columns = across or next((side for side in range(math.isqrt(nodes), 1, -1) if nodes % side == 0), 1)
    columns = max(columns, nodes // columns) if across is None else columns
    if columns > LONGEST_ROW * math.sqrt(nodes):
        columns = math.ceil(math.sqrt(nodes))
    return _fitted({node: complex(node % columns, node // columns) for node in range(nodes)})


def _round(graph: nx.Graph, nodes: int) -> dict[Hashable, Point]:
    """Nodes outside, in their order; each switch inside, towards those below it."""
    depth = nx.multi_source_dijkstra_path_length(graph, range(nodes), weight=None)
    # Nodes of which every second one stands further in have room for twice as many; of many more, in more rows.
    rows = 1 if nodes <= MOST_ON_A_RING else min(MOST_ROUND_ROWS, max(2, nodes // NODES_OF_A_ROW))
    inwards = ROWS_DEPTH * (1.0 - 1.0 / rows)
    at: dict[Hashable, complex] = {
        node: cmath.rect(1.0 - inwards * (node % rows) / max(1, rows - 1), _angle(node, nodes)) for node in range(nodes)
    }
    layers: dict[int, list[Hashable]] = {}
    for switch in sorted((vertex for vertex in graph if vertex not in at), key=_by_numbers):
        layers.setdefault(depth.get(switch, len(RADII)), []).append(switch)
    for level, layer in sorted(layers.items()):
        radius = RADII[level] if level < len(RADII) else RADII[-1] / (2 + level - len(RADII))
        if len(layer) == 1 and level == max(layers):
            radius = 0.0
        # The first one stands towards those below it, the others follow evenly: of equal parts all stand so.
        below = [at[other] for other in graph[layer[0]] if other in at and depth.get(other, 0) < level]
        towards = sum(below) / len(below) if below else 0j
        first = cmath.phase(towards) if abs(towards) > 0.05 else _angle(0, 1)
        for position, switch in enumerate(layer):
            at[switch] = cmath.rect(radius, first + 2.0 * math.pi * position / len(layer))
    return _fitted(at)


def _by_numbers(vertex: Hashable) -> tuple[int, ...]:
    """In "group 2 router 10" the 2 and the 10: in this order parts follow each other."""
    return tuple(int(word) for word in str(vertex).split() if word.isdigit())


def _angle(position: int, of: int) -> float:
    """Clockwise from the top, y downwards."""
    return 2.0 * math.pi * position / max(1, of) - math.pi / 2.0


def _fitted(at: dict[Hashable, complex]) -> dict[Hashable, Point]:
    """Stretched to the unit square; what has no extent stands in the middle."""

    def scaled(value: float, low: float, high: float) -> float:
        return 0.5 if high - low < 1e-9 else (value - low) / (high - low)

    xs, ys = [point.real for point in at.values()], [point.imag for point in at.values()]
    x_range, y_range = (min(xs), max(xs)), (min(ys), max(ys))
    return {vertex: (scaled(point.real, *x_range), scaled(point.imag, *y_range)) for vertex, point in at.items()}
