"""Which way the routes of a platform cross its links: two of one direction each are one edge of two directions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from cluster_abm.errors import InputError
from cluster_abm.graphs.checks import brief
from cluster_abm.graphs.simgrid.joining import Joined
from cluster_abm.graphs.simgrid.platform import SHARED, SPLIT, Link, Platform, Route

Way = tuple[str, str]  # across a link: from which end to which


def duplex_edges(platform: Platform, found: Joined) -> list[tuple[str, str, Link]]:
    """The edges that named links are: both ends, and what the link can do.

    Links between the same two points, some crossed in one direction alone and the others in the other, are the two
    directions of as many edges. What crosses them in one direction has no share in the other direction.

    Raises InputError: the links of the two directions differ.
    """
    ways = _ways(platform, found)
    beside: dict[frozenset[str], list[str]] = {}
    for one, other, name in found.ends:
        beside.setdefault(frozenset((one, other)), []).append(name)
    made = {name: platform.links[name] for _, _, name in found.ends}
    for name, link in made.items():
        if len(ways[name]) == 1 and link.policy == SHARED:
            made[name] = link._replace(policy=SPLIT[0])
    for names in beside.values():
        one_way = [name for name in names if len(ways[name]) == 1]
        there = [name for name in one_way if ways[name] == ways[one_way[0]]]
        back = [name for name in one_way if ways[name] != ways[one_way[0]]]
        if not back:
            continue
        there, back = (sorted(side, key=lambda name: made[name][:2]) for side in (there, back))
        if len(there) != len(back) or not all(made[a].is_like(made[b]) for a, b in zip(there, back, strict=True)):
            (source, target) = next(iter(ways[there[0]]))
            raise InputError(
                f"{platform.where}: {_said(there, made)} from {brief(source)} to {brief(target)}, but "
                f"{_said(back, made)} back: links must be alike in both directions"
            )
        for one, other in zip(there, back, strict=True):
            made[one] = made[one].with_back(made.pop(other))
    return [(one, other, made[name]) for one, other, name in found.ends if name in made]


def unlike_back(platform: Platform) -> list[str]:
    """A note on the pairs of routes, there and back over other links, that differ in bandwidth or latency."""
    at = {(route.source, route.target): route for route in platform.routes}
    unlike = []
    for (source, target), route in at.items():
        back = at.get((target, source)) if source < target else None
        if back is not None and set(route.links) != set(back.links):
            one, other = (_as_link(way, platform) for way in (route, back))
            if not one.is_like(other):
                unlike.append(
                    f"{route}: {one.bandwidth_mbps:g} Mbps and {one.latency_ms:g} ms, "
                    f"back {other.bandwidth_mbps:g} and {other.latency_ms:g}"
                )
    if not unlike:
        return []
    return [f"pairs of routes that differ there and back: {len(unlike)}; here each has one way (first: {unlike[0]})"]


def _ways(platform: Platform, found: Joined) -> dict[str, set[Way]]:
    """In which directions routes cross each link."""
    ends = {name: (one, other) for one, other, name in found.ends}
    ways: dict[str, set[Way]] = {name: set() for name in ends}
    given = {(route.source, route.target) for route in platform.routes}
    for route in platform.routes:
        leads_back = route.is_symmetrical and (route.target, route.source) not in given
        for name, way in _crossings(route, ends):
            ways[name].add(way)
            if leads_back:
                ways[name].add(way[::-1])
    return ways


def _crossings(route: Route, ends: dict[str, Way]) -> Iterator[tuple[str, Way]]:
    """Each link of a route that is no medium, and how it is crossed.

    Behind a medium it is known from the target on; between two media it may be either way.
    """
    first, last = 0, len(route.links)
    at = route.source
    while first < last and route.links[first] in ends:
        link = route.links[first]
        behind = _other_end(ends[link], at)
        yield link, (at, behind)
        at, first = behind, first + 1
    at = route.target
    while first < last and route.links[last - 1] in ends:
        link = route.links[last - 1]
        before = _other_end(ends[link], at)
        yield link, (before, at)
        at, last = before, last - 1
    for link in route.links[first:last]:
        if link in ends:
            yield link, ends[link]
            yield link, ends[link][::-1]


def _other_end(ends: Way, end: str) -> str:
    return ends[1] if end == ends[0] else ends[0]


def _as_link(route: Route, platform: Platform) -> Link:
    """What a route can do."""
    links = [platform.links[name] for name in route.links]
    return Link(min(link.bandwidth_mbps for link in links), math.fsum(link.latency_ms for link in links))


def _said(names: Sequence[str], links: dict[str, Link]) -> str:
    """Links with what they can do, for messages."""
    shown = [
        f"link {brief(name)} ({links[name].bandwidth_mbps:g} Mbps, {links[name].latency_ms:g} ms)" for name in names[:3]
    ]
    return ", ".join(shown) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
