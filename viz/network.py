"""The interconnect with its nodes: coloured by load, sized by tasks or cores, with what moved since the last frame."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from cluster_abm.arrays import Floats
from cluster_abm.interconnect import Network
from cluster_abm.interconnect.layout import Point, course, positions, wires
from cluster_abm.model import Frame
from cluster_abm.results.lanes import along
from cluster_abm.results.load_scale import LoadScale
from cluster_abm.results.node_sizes import are_unlike, shares_by_cores
from cluster_abm.results.style import plain
from viz import colours
from viz.colours import Index
from viz.markup import Markup, joined, svg, tag, text

# More arrows than this hide the nodes: the routes that most tasks took are drawn.
MOST_ARROWS = 80
# Of the nodes from the edge; less where there is little room.
MARGIN, LEAST_MARGIN, LITTLE = 24.0, 14.0, 320.0
# A line of the legend, and where it needs two.
LEGEND_LINE, NARROW = 24.0, 540.0
# A node with its number in it is so large at least [pixels].
LEAST_NUMBERED = 7.5
# What a digit of a node's number needs, at 11 pixels.
DIGIT = 6.6
# Arrows: how far beside the links, how far from the nodes' rims, and how round their corners are [pixels].
ASIDE, GAP, ROUND = 2.5, 2.0, 36.0
MOST_NUMBERED = 80
# Radius of the largest node of very many [pixels].
SMALLEST = 3.0


@dataclass(frozen=True, eq=False)
class Map:
    """Where everything of a network stands in a picture of one size; made once a run."""

    # width, height: of the picture.
    width: float
    height: float
    places: dict[Hashable, Point]  # each vertex's position in the unit square
    wires: list[tuple[Point, Point]]  # ends of each line there, of links
    at: dict[Hashable, Point]  # each vertex's place in the picture
    nodes: int  # number of nodes
    background: Markup  # links and switches, which do not change
    largest: float  # radius of the largest node
    cores: npt.NDArray[np.integer]  # of each node, shape (nodes,)
    radii: Floats  # of each node by its cores, where these differ; empty: by its tasks
    names: tuple[str, ...] = ()  # what nodes are called besides their numbers; (): nothing


def map_of(
    network: Network, width: float, height: float, cores: npt.NDArray[np.integer], before: Map | None = None
) -> Map:
    """The map of a network of nodes with these cores in a picture of that size, legend included.

    Args:
        cores: of each node, shape (nodes,).
        before: the map of the same network in another size: what stands where is taken from it.
    """
    inner_width, inner_height = _inner(width, height)
    places = positions(network) if before is None else before.places
    at = {vertex: _scaled(point, width, height) for vertex, point in places.items()}
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
    # No node reaches beyond the edge, or into the legend.
    largest = min(largest, _margin(width, height) - 2)
    drawn = wires(network, places) if before is None else before.wires
    ends = [[_scaled(end, width, height) for end in wire] for wire in drawn]
    path = "".join("M{:.0f} {:.0f}L{:.0f} {:.0f}".format(*one, *other) for one, other in ends)
    # The more lines there are the fainter each one is, unless most vertices have two or three only.
    faintest = 0.18 if len(ends) > 2 * len(places) else 0.7
    strength = max(faintest, min(1.0, 60 / max(1, len(ends))))
    switches = [_switch(x, y, tag("title", vertex)) for vertex, (x, y) in at.items() if not isinstance(vertex, int)]
    lines = tag("path", d=path, stroke=colours.LINK, stroke_opacity=f"{strength:.2f}", fill="none") if ends else ""
    radii = largest * np.sqrt(shares_by_cores(cores)) if are_unlike(cores) else np.zeros(0)
    background = joined(lines, *switches)
    return Map(width, height, places, drawn, at, network.nodes, background, largest, cores, radii, network.node_names)


def _usual_gap(points: Sequence[Point]) -> float:
    """The median, over these points, of the distance to the nearest other one."""
    gaps, _ = cKDTree(points).query(points, k=2)
    return float(np.median(gaps[:, 1]))


def _inner(width: float, height: float) -> tuple[float, float]:
    margin = _margin(width, height)
    return max(1.0, width - 2 * margin), max(1.0, height - 2 * margin - legend_height(width))


def _margin(width: float, height: float) -> float:
    return MARGIN if min(width, height) > LITTLE else LEAST_MARGIN


def legend_height(width: float) -> float:
    """Of the legend of a map of that width [pixels]."""
    return LEGEND_LINE * (2 if width < NARROW else 1)


def _scaled(point: Point, width: float, height: float) -> Point:
    inner_width, inner_height = _inner(width, height)
    margin = _margin(width, height)
    return margin + point[0] * inner_width, margin + point[1] * inner_height


def draw(where: Map, frame: Frame, network: Network, index: Index, scale: LoadScale, label: str) -> Markup:
    """The map with the nodes of a frame.

    Args:
        where: the run's map.
        network: as it is now, on which tasks have moved.
        index: by which load nodes are coloured.
        scale: of its values.
        label: what the picture shows, for screen readers.
    """
    nodes = joined(*(_node(where, frame, index, scale, node) for node in range(where.nodes)))
    inside = where.background, _arrows(where, frame, network), nodes, legend(where, index, scale, bool(frame.up.all()))
    return svg(where.width, where.height, *inside, label=label)


def _node(where: Map, frame: Frame, index: Index, scale: LoadScale, node: int) -> Markup:
    x, y = where.at[node]
    tasks, value, up = int(frame.tasks[node]), float(frame.loads[index.name][node]), bool(frame.up[node])
    radius = _radius(where, frame, node)
    shown = colours.CLASSES[round(value)][0] if index.name == "class" else f"{plain(value, 3)} {index.unit}"
    cores = f" of {where.cores[node]} cores" if where.cores[node] > 1 else ""
    called = f"node {node}, {where.names[node]}" if where.names else f"node {node}"
    title = tag("title", f"{called}{cores}: {tasks} tasks, {shown}" if up else f"{called}: out of order")
    fill = colours.colour_of(index, value, scale)
    if not up:
        cross = _cross(x, y, radius / 2)
        circle = tag("circle", cx=x, cy=y, r=radius, fill=colours.PAPER, stroke=colours.DOWN, stroke_width=2)
        return tag("g", title, circle, tag("path", d=cross, stroke=colours.DOWN, stroke_width=2), class_="node out")
    circle = tag("circle", cx=x, cy=y, r=radius, fill=colours.hexed(fill), stroke=colours.RIM, stroke_width=1)
    number: object = ""
    if _numbered(where):
        words = str(node)
        if len(where.radii) and 2 * radius < DIGIT * len(words) + 4:
            # Beneath the node, and in front of lines.
            number = _number(x, y + radius + 10, words, colours.INK, True)
        else:
            number = _number(
                x, y + 4, words, colours.ink_on([part / 255 for part in fill]), 2 * radius < 8 * len(words)
            )
    return tag("g", title, circle, number, class_="node", data_node=node)


def _number(x: float, y: float, words: str, ink: str, has_rim: bool) -> Markup:
    """A node's number; a light rim round it keeps it apart from lines where the node is no larger than it."""
    rim = {"stroke": colours.PAPER, "stroke_width": 2.5, "paint_order": "stroke"}
    return text(
        x, y, words, fill=ink, text_anchor="middle", font_size=11, **(rim if has_rim and ink != colours.PAPER else {})
    )


def _radius(where: Map, frame: Frame, node: int) -> float:
    if len(where.radii):
        return float(where.radii[node])
    # Surfaces go with the number of tasks.
    radius = where.largest * min(1.0, 0.5 + 0.5 * math.sqrt(int(frame.tasks[node]) / (12 * int(where.cores[node]))))
    return max(radius, min(where.largest, LEAST_NUMBERED)) if _numbered(where) else radius


def _numbered(where: Map) -> bool:
    return where.nodes <= MOST_NUMBERED and where.largest >= LEAST_NUMBERED


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


def legend(where: Map, index: Index, scale: LoadScale, all_up: bool) -> Markup:
    """What colours, sizes, arrows, and where there are some crosses and squares mean, along the lower edge."""
    y = where.height - legend_height(where.width) + LEGEND_LINE / 2 - 2
    first, width = _colours_of_classes(y) if index.name == "class" else _colours_of(index, scale, y)
    parts = [tag("g", first, tabindex=0, data_tip=f"Colours: {index.tip}", data_key="legend")]
    two_lines = where.width < NARROW
    x, y = (8.0, y + LEGEND_LINE) if two_lines else (width + 26, y)
    sizes = "more cores" if len(where.radii) else "more tasks"
    grey = {"fill": "#cfd6db", "stroke": colours.RIM}
    parts += [
        tag("circle", cx=x + 4, cy=y, r=3.5, **grey),
        tag("circle", cx=x + 16, cy=y, r=7, **grey),
        text(x + 27, y + 4, sizes),
        tag("path", d=f"M{x + 97:.0f} {y:.0f}h18", stroke=colours.MOVE, stroke_width=2),
        tag("polygon", points=f"{x + 121:.0f},{y:.0f} {x + 113:.0f},{y - 4:.0f} {x + 113:.0f},{y + 4:.0f}",
            fill=colours.MOVE),
        text(x + 126, y + 4, "moved"),
    ]  # fmt: skip
    x += 174
    if len(where.places) > where.nodes:
        parts += [_switch(x + 4, y), text(x + 13, y + 4, "switch")]
        x += 60
    if not all_up:
        parts += [
            tag("circle", cx=x + 6, cy=y, r=5.5, fill=colours.PAPER, stroke=colours.DOWN, stroke_width=1.5),
            tag("path", d=_cross(x + 6, y, 2.6), stroke=colours.DOWN, stroke_width=1.5),
            text(x + 16, y + 4, "out"),
        ]
    return tag("g", *parts, font_size=11, fill=colours.FAINT, class_="legend")


def _colours_of_classes(y: float) -> tuple[Markup, float]:
    parts: list[object] = []
    x = 8.0
    for name, colour in colours.CLASSES:
        parts.append(tag("rect", x=x, y=y - 5, width=11, height=11, fill=colour, stroke=colours.RIM))
        parts.append(text(x + 15, y + 4, name))
        x += 24 + 6.4 * len(name)
    return joined(*parts), x


def _colours_of(index: Index, scale: LoadScale, y: float) -> tuple[Markup, float]:
    """A bar of the colours, and beneath it the loads at its ticks; with where it ends."""
    steps, step_width = 24, 7.0
    parts: list[object] = []
    for step in range(steps):
        colour = colours.hexed(colours.shade(index, (step + 0.5) / steps))
        parts.append(tag("rect", x=8 + step_width * step, y=y - 9, width=step_width, height=8, fill=colour))
    kept: list[tuple[float, float]] = []
    # The ends first: a number between them that would touch another one is left out.
    for tick in sorted(scale.ticks, key=lambda tick: (tick not in (0.0, scale.full), -tick)):
        words = plain(tick, 3)
        x = 8 + steps * step_width * float(scale.share(tick))
        left = x if tick == 0 else x - DIGIT * len(words) / 2
        words += f" {index.unit}" if tick == scale.full else ""
        right = left + DIGIT * len(words)
        if all(right + 6 < other_left or other_right + 6 < left for other_left, other_right in kept):
            kept.append((left, right))
            parts.append(tag("path", d=f"M{x:.1f} {y - 1:.1f}v3", stroke=colours.FAINT))
            parts.append(text(left, y + 11, words))
    return joined(*parts), max(right for _, right in kept)


def _switch(x: float, y: float, *inside: object) -> Markup:
    return tag("rect", *inside, x=x - 4, y=y - 4, width=8, height=8, rx=2, fill="#7b8790")


def _cross(x: float, y: float, reach: float) -> str:
    left, right, above, below = x - reach, x + reach, y - reach, y + reach
    return f"M{left:.1f} {above:.1f}L{right:.1f} {below:.1f}M{left:.1f} {below:.1f}L{right:.1f} {above:.1f}"
