"""An arrow along a road: to its right, round its corners."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

Point = tuple[float, float]
Stroke = tuple[str, tuple[Point, ...]]

# Sharper than this a corner's point is far outside: the lane stays this many offsets from it.
LONGEST_MITRE = 2.0


def lane(road: Sequence[Point], aside: float, before: float, after: float, bend: float) -> list[Stroke]:
    """Strokes of a pen, as of SVG: ("M", (to,)), ("L", (to,)) and ("Q", (corner, to)).

    Two lanes along one road in opposite directions lie on opposite sides of it.

    Args:
        road: the points it passes, y downwards.
        aside: how far the lane lies to the right of the road.
        before, after: how much of the road is left free at its start and at its end, where something stands; at most
            most of the first and of the last stretch, of a straight road two fifths each.
        bend: corners are rounded from so far before them to so far behind them, at most from the middle of a stretch.
    """
    points = [
        point for position, point in enumerate(road) if position == 0 or math.dist(point, road[position - 1]) > 1e-9
    ]
    if len(points) < 2:
        return []
    points = _beside(points, aside)
    first, last = math.dist(points[0], points[1]), math.dist(points[-1], points[-2])
    # Both from the points as they are: of a straight road the two stretches are one.
    most = 0.4 if len(points) == 2 and before and after else 0.8
    start = _towards(points[0], points[1], min(before, most * first))
    end = _towards(points[-1], points[-2], min(after, most * last))
    points[0], points[-1] = start, end
    strokes: list[Stroke] = [("M", (start,))]
    for one, corner, other in zip(points, points[1:], points[2:], strict=False):
        cut = min(bend, math.dist(one, corner) / 2, math.dist(corner, other) / 2)
        strokes += [("L", (_towards(corner, one, cut),)), ("Q", (corner, _towards(corner, other, cut)))]
    return [*strokes, ("L", (end,))]


def along(way: Sequence[Sequence[Point]], aside: float, before: float, after: float, bend: float) -> list[Stroke]:
    """Return the strokes of a whole route that may have several pieces: only its two ends stand at nodes.

    Args:
        way: the pieces of the route, each a road.
        aside, bend: as of `lane`.
        before, after: how much is left free at the route's start and at its end.
    """
    last = len(way) - 1
    return [
        stroke
        for position, road in enumerate(way)
        for stroke in lane(road, aside, before if position == 0 else 0.0, after if position == last else 0.0, bend)
    ]


def _beside(points: Sequence[Point], aside: float) -> list[Point]:
    rights = []
    for (x, y), (to_x, to_y) in pairwise(points):
        length = math.hypot(to_x - x, to_y - y)
        rights.append((-(to_y - y) / length, (to_x - x) / length))
    beside = []
    for position, (x, y) in enumerate(points):
        one, other = rights[max(0, position - 1)], rights[min(position, len(rights) - 1)]
        # Where the two lanes beside the stretches meet.
        reach = aside / max(2.0 / LONGEST_MITRE**2, 1.0 + one[0] * other[0] + one[1] * other[1])
        beside.append((x + reach * (one[0] + other[0]), y + reach * (one[1] + other[1])))
    return beside


def _towards(here: Point, there: Point, distance: float) -> Point:
    share = distance / (math.dist(here, there) or 1.0)
    return here[0] + share * (there[0] - here[0]), here[1] + share * (there[1] - here[1])
