"""What <cluster>, <cabinet> and zones of the routing "Cluster" stand for: many hosts, and the links between them."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence

from cluster_abm.errors import InputError
from cluster_abm.graphs.checks import MOST_EDGES, MOST_VERTICES, brief
from cluster_abm.graphs.simgrid.platform import FATPIPE, Link, Platform

_RANGE = re.compile(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", re.ASCII)


def numbers_in(radical: str, what: str) -> list[int]:
    """The numbers that a text as "0-99,110" lists. Raises InputError, which begins with `what`: no such text."""
    numbers: list[int] = []
    for part in radical.split(","):
        match = _RANGE.fullmatch(part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last:
            raise InputError(f"{what} = {brief(radical)}: allowed: numbers and ranges of them, as 0-99,110")
        if len(numbers) + last - first + 1 > MOST_VERTICES:
            raise InputError(f"{what} = {brief(radical)}: allowed up to {MOST_VERTICES:,} hosts")
        numbers += range(first, last + 1)
    return numbers


def add_star(
    platform: Platform, name: str, hosts: Sequence[tuple[str, Link]], router: str | None, backbone: Link | None
) -> None:
    """Join hosts of a cluster, each by a link of its own: at its router, or at a backbone and this at the router.

    Of a route between two hosts the backbone is a link; its latency is halved, and each half counts as part of what the
    route leads over: two hosts, or a host and the router.

    Args:
        name: of the cluster or zone, for what has no name in the file.
        router: a vertex that is there already; None: the cluster has none.
    """
    if backbone is None:
        hub = router
        if hub is None:
            hub = f"{name} switch"
            platform.add_vertex(hub, kind="switch")
        for host, link in hosts:
            platform.add_edge(host, hub, link)
        return
    hub, half_ms = f"{name} backbone", backbone.latency_ms / 2.0
    platform.add_vertex(hub, kind="switch")
    for host, link in hosts:
        narrowest = min(link.bandwidth_mbps, backbone.bandwidth_mbps)
        platform.add_edge(host, hub, Link(narrowest, link.latency_ms + half_ms, link.policy))
    if router is not None:
        platform.add_edge(hub, router, Link(backbone.bandwidth_mbps, half_ms))
    if backbone.policy == FATPIPE:
        # Room for each host's own link, and for all of them on the way to the router: no edge is narrower than it.
        own = [link.bandwidth_mbps for _, link in hosts]
        if backbone.bandwidth_mbps < (max(own, default=0.0) if router is None else math.fsum(own)):
            platform.unshared.append(f"the backbone of {brief(name)}, which is FATPIPE: each transfer has all of it")
        return
    # All that hosts send, and all that they receive from outside: if it has room for both, nothing waits for it.
    if backbone.bandwidth_mbps < 2.0 * math.fsum(link.bandwidth_mbps for _, link in hosts):
        platform.unshared.append(f"the backbone of {brief(name)}, which all of its {len(hosts)} hosts share")


def add_torus(platform: Platform, hosts: Sequence[str], parameters: str, link: Link, what: str) -> None:
    """Join hosts in a torus, the first dimension varying fastest; along a dimension of two there is one link.

    Raises InputError, which begins with `what`: no such parameters, or another number of hosts.
    """
    sizes = [_whole(part, what, parameters) for part in parameters.split(",")]
    if math.prod(sizes) != len(hosts):
        raise InputError(f"{what} = {brief(parameters)}: {math.prod(sizes):,} places, but there are {len(hosts)} hosts")
    step = 1
    for size in sizes:
        for number, host in enumerate(hosts):
            at = number // step % size
            if size > 2 or at < size - 1:
                platform.add_edge(host, hosts[number + ((at + 1) % size - at) * step], link)
        step *= size


def add_fat_tree(platform: Platform, name: str, hosts: Sequence[str], parameters: str, link: Link, what: str) -> None:
    """Join hosts in a fat tree "levels;down;up;cables", a parallel-ports generalised one (Zahavi 2012).

    A vertex of level l has a digit for each level: below l one of `up`, from l on one of `down`. It is joined to those
    of the next level that differ in the digit of that level alone, by as many cables as that level says.

    Raises InputError, which begins with `what`: no such parameters, or another number of hosts.
    """
    parts = parameters.split(";")
    lists = [[_whole(number, what, parameters) for number in part.split(",")] for part in parts]
    if len(lists) != 4 or len(lists[0]) != 1 or any(len(one) != lists[0][0] for one in lists[1:]):
        raise InputError(
            f'{what} = {brief(parameters)}: allowed: "levels;down,...;up,...;cables,...", as 2;4,4;1,2;1,2'
        )
    down, up, cables = lists[1:]
    if math.prod(down) != len(hosts):
        raise InputError(f"{what} = {brief(parameters)}: {math.prod(down):,} places, but there are {len(hosts)} hosts")
    # The least digit varies fastest, as hosts have their numbers.
    places = {digits[::-1]: host for digits, host in zip(_digits(down[::-1]), hosts, strict=True)}
    for level in range(len(down)):
        sizes = up[: level + 1] + down[level + 1 :]
        if math.prod(sizes) > MOST_VERTICES or len(places) * up[level] * cables[level] > MOST_EDGES:
            raise InputError(f"{what} = {brief(parameters)}: more switches or cables than are allowed")
        above: dict[tuple[int, ...], str] = {}
        for digits in _digits(sizes):
            above[digits] = f"{name} level {level + 1} switch {len(above)}"
            platform.add_vertex(above[digits], kind="switch")
        for digits, place in places.items():
            for digit, _ in itertools.product(range(up[level]), range(cables[level])):
                platform.add_edge(place, above[(*digits[:level], digit, *digits[level + 1 :])], link)
        places = above


def note_fatpipes(platform: Platform, name: str, policy: str) -> None:
    """Remember that the links of a cluster are not shared by the transfers over them."""
    if policy == FATPIPE:
        platform.unshared.append(f"the links of {brief(name)}, which are FATPIPE: each transfer has all of one")


def _digits(sizes: Sequence[int]) -> itertools.product[tuple[int, ...]]:
    return itertools.product(*map(range, sizes))


def _whole(text: str, what: str, parameters: str) -> int:
    if not re.fullmatch(r"\s*[1-9]\d{0,5}\s*", text, re.ASCII):
        raise InputError(f"{what} = {brief(parameters)}: {brief(text)}: allowed: a whole number above 0")
    return int(text)
