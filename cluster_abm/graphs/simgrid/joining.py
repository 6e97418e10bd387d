"""Where the links of a platform begin and end: routes say only in which order they are crossed."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from typing import NamedTuple

from cluster_abm.errors import InputError
from cluster_abm.graphs.checks import brief
from cluster_abm.graphs.simgrid.platform import Platform, Route

End = tuple[str, int]  # of a link: 0 or 1
# Links of routes that are looked at, over all attempts.
MOST_STEPS = 30_000_000


class Joints:
    """Points in which ends of links meet; at most one of them is a vertex of the platform.

    Two points become one where a route says so. What would make two vertices one, or a link begin where it ends, is not
    allowed.
    """

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._parent: list[int] = []
        self._vertex: list[str | None] = []
        self._links: list[set[str]] = []  # of each point: links of which an end is there
        self._of_vertex: dict[str, int] = {}
        self._of_end: dict[End, int] = {}

    def at(self, vertex: str) -> int:
        """The point of a vertex."""
        if vertex not in self._of_vertex:
            self._of_vertex[vertex] = self._new(vertex, set())
        return self.root(self._of_vertex[vertex])

    def end(self, link: str, side: int) -> int:
        """The point of an end of a link."""
        if (link, side) not in self._of_end:
            self._of_end[link, side] = self._new(None, {link})
        return self.root(self._of_end[link, side])

    def is_used(self, link: str) -> bool:
        """Whether a route has led over the link."""
        return (link, 0) in self._of_end

    def side_at(self, link: str, point: int) -> int | None:
        """The side of a link that is at a point; None: neither is."""
        return next((side for side in (0, 1) if self.is_used(link) and self.end(link, side) == point), None)

    def may_be_one(self, one: int, other: int) -> bool:
        """Whether two points can be the same."""
        if one == other:
            return True
        both_named = self._vertex[one] is not None and self._vertex[other] is not None
        return not both_named and self._links[one].isdisjoint(self._links[other])

    def make_one(self, one: int, other: int) -> None:
        """Two points are the same from now on."""
        if one == other:
            return
        if len(self._links[one]) < len(self._links[other]):
            one, other = other, one
        self._parent[other] = one
        self._links[one] |= self._links[other]
        self._links[other] = set()
        self._vertex[one] = self._vertex[one] if self._vertex[one] is not None else self._vertex[other]

    def names(self) -> dict[int, str]:
        """What each point is called: the vertex that it is, or "junction 1" and so on."""
        names: dict[int, str] = {}
        count = 0
        for point in map(self.root, range(len(self._parent))):
            if point in names:
                continue
            vertex = self._vertex[point]
            while vertex is None:
                count += 1
                if f"junction {count}" not in self._platform.vertices:
                    vertex = f"junction {count}"
            names[point] = vertex
        return names

    def new(self) -> int:
        """A point where nothing is known to be."""
        return self._new(None, set())

    def _new(self, vertex: str | None, links: set[str]) -> int:
        self._parent.append(len(self._parent))
        self._vertex.append(vertex)
        self._links.append(links)
        return len(self._parent) - 1

    def root(self, point: int) -> int:
        """The number by which a point goes now."""
        while self._parent[point] != point:
            self._parent[point] = self._parent[self._parent[point]]
            point = self._parent[point]
        return point


class Joined(NamedTuple):
    """Where links begin and end.

    Attributes:
        ends: both ends and the name of each link that a route leads over.
        media: links that join more than two points, each by name with those points.
    """

    ends: list[tuple[str, str, str]]
    media: dict[str, list[str]]


def joined(platform: Platform) -> Joined:
    """Both ends of each link that a route leads over; where an end is no vertex, it is a junction.

    Short routes come first: they say most about where a link is. Where no graph has the routes so far, the link of the
    route at hand that most routes lead over is a medium, and all begins anew.

    Raises InputError: routes that contradict each other all the same; or too many media.
    """
    routes = sorted(platform.routes, key=lambda one: len(one.links))
    uses = Counter(link for route in routes for link in route.links)
    media: dict[str, set[int]] = {}
    first = ""
    for _ in range(max(2, MOST_STEPS // (1 + uses.total()))):
        joints = Joints(platform)
        media = {link: set() for link in media}
        wrong = next((route for route in routes if not _lead(joints, route, media)), None)
        if wrong is None:
            return _named(platform, joints, media)
        first = f"{wrong} over {_listed(wrong.links)}"
        candidates = [link for link in wrong.links if link not in media]
        if not candidates:
            break
        media[max(candidates, key=uses.__getitem__)] = set()
    raise InputError(
        f"{platform.where}: the route {first}: other routes cross these links so that no graph has them all, with "
        f"{len(media)} links as shared media: allowed: links that join two points, or that are crossed as one medium"
    )


def _named(platform: Platform, joints: Joints, media: dict[str, set[int]]) -> Joined:
    names = joints.names()
    ends = [
        (names[joints.end(link, 0)], names[joints.end(link, 1)], link)
        for link in platform.links
        if joints.is_used(link)
    ]
    return Joined(
        ends, {link: list(dict.fromkeys(names[joints.root(point)] for point in sorted(media[link]))) for link in media}
    )


def _lead(joints: Joints, route: Route, media: dict[str, set[int]]) -> bool:
    """Make points one until the links of a route follow each other from its source to its target; False: they cannot.

    Args:
        media: points at which each medium is entered and left; more are added.
    """
    front, back = joints.at(route.source), joints.at(route.target)
    rest = deque(route.links)
    while rest:
        front, back = joints.root(front), joints.root(back)
        side = joints.side_at(rest[0], front)
        if side is not None:
            front = joints.end(rest.popleft(), 1 - side)
            continue
        side = joints.side_at(rest[-1], back)
        if side is not None:
            back = joints.end(rest.pop(), 1 - side)
            continue
        link = rest.popleft()
        if link in media:
            media[link].add(front)
            front = _behind(joints, media[link], rest[0] if rest else None, media, back)
            media[link].add(front)
        elif not (crossed := _cross(joints, front, link, None if rest else back)):
            return False
        else:
            front = joints.end(*crossed)
    front, back = joints.root(front), joints.root(back)
    if not joints.may_be_one(front, back):
        return False
    joints.make_one(front, back)
    return True


def _behind(joints: Joints, points: set[int], link: str | None, media: dict[str, set[int]], back: int) -> int:
    """The point at which a medium is left, for the next link or (None) for the target.

    Args:
        points: of the medium.
    """
    if link is None:
        return back
    if link not in media and joints.is_used(link):
        there = {joints.root(point) for point in points}
        for side in (0, 1):
            if joints.end(link, side) in there:
                return joints.end(link, side)
    return joints.new()


def _cross(joints: Joints, front: int, link: str, back: int | None) -> End | None:
    """Let a link begin at a point; its other end, None if it cannot.

    Args:
        back: where it has to end; None: wherever it does.
    """
    for side in (0, 1):
        near, far = joints.end(link, side), joints.end(link, 1 - side)
        if joints.may_be_one(front, near) and (back is None or joints.may_be_one(far, back)):
            joints.make_one(front, near)
            return link, 1 - side
    return None


def _listed(links: Sequence[str]) -> str:
    shown = ", ".join(map(brief, links[:8]))
    return shown + (f" and {len(links) - 8} more" if len(links) > 8 else "")
