"""The interconnect with its nodes: coloured by load, sized by tasks or cores, with what moved since the last frame."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from cluster_abm.interconnect import Network
from cluster_abm.interconnect.layout import Point, course, positions, wires
from cluster_abm.model import Frame
from cluster_abm.results.lanes import along
from cluster_abm.results.node_sizes import are_unlike, shares_by_cores
from cluster_abm.results.style import plain
from viz import colours
from viz.colours import Index
from viz.markup import Markup, joined, svg, tag, text

# More arrows than this hide the nodes: the routes that most tasks took are drawn.
MOST_ARROWS = 80
MARGIN, LEGEND = 26.0, 34.0
# Arrows: how far beside the links, how far from the nodes' rims, and how round their corners are [pixels].
ASIDE, GAP, ROUND = 2.5, 2.0, 36.0
MOST_NUMBERED = 80
# A number stands in a node of at least that radius [pixels].
LEAST_NUMBERED = 6.0
# Radius of the largest node of very many [pixels].
SMALLEST = 3.0


@dataclass(frozen=True, eq=False)
class Map:
    """Where everything of a network stands in a picture of one size; made once a run.

    Attributes:
        width, height: of the picture.
        places: each vertex's position in the unit square.
        wires: ends of each line there, of links.
        at: each vertex's place in the picture.
        nodes: number of nodes.
        background: links and switches, which do not change.
        largest: radius of the largest node.
        cores: of each node, shape (nodes,).
        radii: of each node by its cores, where these differ; empty: by its tasks.
    """

    width: float
    height: float
    places: dict[Hashable, Point]
    wires: list[tuple[Point, Point]]
    at: dict[Hashable, Point]
    nodes: int
    background: Markup
    largest: float
    cores: npt.NDArray[np.integer]
    radii: npt.NDArray[np.float64]


def map_of(network: Network, width: float, height: float, cores: npt.NDArray[np.integer]) -> Map:
    """The map of a network of nodes with these cores in a picture of that size, legend included."""
    inner_width, inner_height = _inner(width, height)
    places = positions(network)
    at = {vertex: _scaled(place, width, height) for vertex, place in places.items()}
    # Nodes of which each has its share of the surface, or of the ring, do not touch.
    room = math.sqrt(inner_width * inner_height / network.nodes)
    on_ring = math.pi * (inner_width + inner_height) / 2 / network.nodes
    ring = network.settings.kind not in ("torus", "file") and len(places) - network.nodes > 0
    largest = max(SMALLEST, min(19.0, 0.42 * room, 0.7 * on_ring if ring else math.inf))
    if network.settings.kind == "complete" and network.nodes <= 64:
        largest = max(SMALLEST, min(19.0, 0.42 * on_ring))
    elif network.settings.kind == "file" and network.nodes > MOST_NUMBERED:
        # Where many stand close together they are smaller, so that most are seen whole, and the links between them.
        largest = max(SMALLEST, min(largest, 0.55 * _usual_gap([at[node] for node in range(network.nodes)])))
    drawn = wires(network, places)
    ends = [[_scaled(end, width, height) for end in wire] for wire in drawn]
    path = "".join("M{:.0f} {:.0f}L{:.0f} {:.0f}".format(*one, *other) for one, other in ends)
    # The more lines there are the fainter each one is, unless most vertices have two or three only.
    faintest = 0.18 if len(ends) > 2 * len(places) else 0.7
    strength = max(faintest, min(1.0, 60 / max(1, len(ends))))
    switches = [_switch(x, y, tag("title", vertex)) for vertex, (x, y) in at.items() if not isinstance(vertex, int)]
    lines = tag("path", d=path, stroke=colours.LINK, stroke_opacity=f"{strength:.2f}", fill="none") if ends else ""
    radii = largest * np.sqrt(shares_by_cores(cores)) if are_unlike(cores) else np.zeros(0)
    background = joined(lines, *switches)
    return Map(width, height, places, drawn, at, network.nodes, background, largest, cores, radii)


def _usual_gap(points: Sequence[Point]) -> float:
    """The median, over these points, of the distance to the nearest other one."""
    gaps, _ = cKDTree(points).query(points, k=2)
    return float(np.median(gaps[:, 1]))


def _inner(width: float, height: float) -> tuple[float, float]:
    return width - 2 * MARGIN, height - 2 * MARGIN - LEGEND


def _scaled(place: Point, width: float, height: float) -> Point:
    inner_width, inner_height = _inner(width, height)
    return MARGIN + place[0] * inner_width, MARGIN + place[1] * inner_height


def draw(where: Map, frame: Frame, network: Network, index: Index, full: float, label: str) -> Markup:
    """The map with the nodes of a frame.

    Args:
        where: the run's map.
        frame: the state.
        network: as it is now, on which tasks have moved.
        index: by which load nodes are coloured.
        full: the value of the full colour.
        label: what the picture shows, for screen readers.
    """
    nodes = joined(*(_node(where, frame, index, full, node) for node in range(where.nodes)))
    return svg(
        where.width, where.height, where.background, _arrows(where, frame, network), nodes,
        legend(where, index, full, bool(frame.up.all())), label=label,
    )  # fmt: skip


def _node(where: Map, frame: Frame, index: Index, full: float, node: int) -> Markup:
    x, y = where.at[node]
    tasks, value, up = int(frame.tasks[node]), float(frame.loads[index.name][node]), bool(frame.up[node])
    radius = _radius(where, frame, node)
    shown = colours.CLASSES[round(value)][0] if index.name == "class" else f"{plain(value, 3)} {index.unit}"
    cores = f" of {where.cores[node]} cores" if where.cores[node] > 1 else ""
    title = tag("title", f"node {node}{cores}: {tasks} tasks, {shown}" if up else f"node {node}: out of order")
    fill = colours.colour_of(index, value, full)
    if not up:
        cross = _cross(x, y, radius / 2)
        circle = tag("circle", cx=x, cy=y, r=radius, fill=colours.PAPER, stroke=colours.DOWN, stroke_width=2)
        return tag("g", title, circle, tag("path", d=cross, stroke=colours.DOWN, stroke_width=2), class_="node out")
    circle = tag("circle", cx=x, cy=y, r=radius, fill=colours.hexed(fill), stroke=colours.RIM, stroke_width=1)
    number: object = ""
    if where.nodes <= MOST_NUMBERED and where.largest >= 8:
        dark = 0.3 * fill[0] + 0.59 * fill[1] + 0.11 * fill[2] < 140
        ink = colours.PAPER if dark else colours.INK
        number = text(x, y + 3.2, node, fill=ink, text_anchor="middle", font_size=9)
        if len(where.radii) and radius < LEAST_NUMBERED:
            # Beneath the node, and in front of lines.
            number = text(
                x, y + radius + 9, node, fill=colours.INK, stroke=colours.PAPER, stroke_width=3, paint_order="stroke",
                text_anchor="middle", font_size=9,
            )  # fmt: skip
    return tag("g", title, circle, number, class_="node", data_node=node)


def _radius(where: Map, frame: Frame, node: int) -> float:
    if len(where.radii):
        return float(where.radii[node])
    # Surfaces go with the number of tasks.
    return where.largest * min(1.0, 0.5 + 0.5 * math.sqrt(int(frame.tasks[node]) / (12 * int(where.cores[node]))))


def _arrows(where: Map, frame: Frame, network: Network) -> Markup:
    """What moved: an arrow a pair of nodes along the links, the thicker the more tasks; clicking it picks the job."""
    ways = Counter((move.source, move.target) for move in frame.moves)
    last = {(move.source, move.target): move for move in frame.moves}
    drawn = []
    for (source, target), count in ways.most_common(MOST_ARROWS):
        pieces = [
            [_scaled(point, where.width, where.height) for point in piece]
            for piece in course(network, where.places, source, target)
        ]
        before, after = (_radius(where, frame, node) + GAP for node in (source, target))
        strokes = along(pieces, ASIDE, before, after, ROUND)
        d = "".join(pen + " ".join(f"{x:.1f} {y:.1f}" for x, y in points) for pen, points in strokes)
        many = f"{count} tasks" if count > 1 else f"task {last[source, target].task}"
        title = tag("title", f"{many} of job {last[source, target].job}: node {source} to node {target}")
        line = tag("path", d=d, fill="none", stroke_width=min(4.0, 1.2 + 0.5 * count), stroke_linejoin="round")
        head = _head(strokes[-2][1][-1], strokes[-1][1][-1])
        drawn.append(tag("g", title, line, head, class_="move", data_job=last[source, target].job))
    return tag("g", *drawn, stroke=colours.MOVE, stroke_opacity="0.75", fill=colours.MOVE)


def _head(before: Point, end: Point) -> Markup:
    angle = math.atan2(end[1] - before[1], end[0] - before[0])
    corners = [end] + [
        (end[0] - 8 * math.cos(angle + side), end[1] - 8 * math.sin(angle + side)) for side in (-0.4, 0.4)
    ]
    return tag("polygon", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in corners), stroke="none")


def legend(where: Map, index: Index, full: float, all_up: bool) -> Markup:
    """What colours, sizes, arrows, and where there are some crosses and squares mean, along the lower edge."""
    y = where.height - LEGEND / 2
    if index.name == "class":
        parts: list[object] = []
        x = 8.0
        for name, colour in colours.CLASSES:
            parts.append(tag("rect", x=x, y=y - 5, width=11, height=11, fill=colour, stroke=colours.RIM))
            parts.append(text(x + 15, y + 4, name))
            x += 24 + 6.2 * len(name)
    else:
        steps = 12
        parts = [text(8, y + 4, "0")]
        for step in range(steps):
            colour = colours.hexed(colours.colour_of(index, full * (step + 0.5) / steps, full))
            parts.append(tag("rect", x=20 + 7 * step, y=y - 5, width=7, height=11, fill=colour))
        parts.append(text(24 + 7 * steps, y + 4, f"{plain(full)} {index.unit}"))
    x = where.width - 174
    parts += [
        tag("circle", cx=x, cy=y, r=3.5, fill="#cfd6db", stroke=colours.RIM),
        tag("circle", cx=x + 13, cy=y, r=7, fill="#cfd6db", stroke=colours.RIM),
        text(x + 24, y + 4, "more cores" if len(where.radii) else "more tasks"),
        tag("path", d=f"M{x + 92:.0f} {y:.0f}h20", stroke=colours.MOVE, stroke_width=2),
        tag("polygon", points=f"{x + 118:.0f},{y:.0f} {x + 110:.0f},{y - 4:.0f} {x + 110:.0f},{y + 4:.0f}",
            fill=colours.MOVE),
        text(x + 123, y + 4, "moved"),
    ]  # fmt: skip
    if not all_up:
        x -= 44
        parts += [
            tag("circle", cx=x, cy=y, r=5.5, fill=colours.PAPER, stroke=colours.DOWN, stroke_width=1.5),
            tag("path", d=_cross(x, y, 2.6), stroke=colours.DOWN, stroke_width=1.5),
            text(x + 10, y + 4, "out"),
        ]
    if len(where.places) > where.nodes:
        x -= 60
        parts += [_switch(x, y), text(x + 9, y + 4, "switch")]
    return tag("g", *parts, font_size=11, fill=colours.FAINT)


def _switch(x: float, y: float, *inside: object) -> Markup:
    return tag("rect", *inside, x=x - 4, y=y - 4, width=8, height=8, rx=2, fill="#7b8790")


def _cross(x: float, y: float, reach: float) -> str:
    left, right, above, below = x - reach, x + reach, y - reach, y + reach
    return f"M{left:.1f} {above:.1f}L{right:.1f} {below:.1f}M{left:.1f} {below:.1f}L{right:.1f} {above:.1f}"
