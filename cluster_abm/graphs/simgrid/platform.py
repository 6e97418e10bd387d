"""What a platform is made of, before it is a graph."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cluster_abm.errors import InputError
from cluster_abm.graphs.checks import MOST_EDGES, MOST_VERTICES, brief

FATPIPE = "FATPIPE"  # each transfer has the whole bandwidth
SPLIT = ("SPLITDUPLEX", "FULLDUPLEX")  # a capacity for each direction
SHARED = "SHARED"  # one capacity for both directions


class Link(NamedTuple):
    """A link by what it can do."""

    bandwidth_mbps: float
    latency_ms: float
    policy: str = SPLIT[0]

    def is_like(self, other: Link) -> bool:
        """Whether bandwidth and latency are the same, but for how their units are rounded."""
        return math.isclose(self.bandwidth_mbps, other.bandwidth_mbps) and math.isclose(
            self.latency_ms, other.latency_ms
        )

    def with_back(self, back: Link) -> Link:
        """This link as the edge of which another link, which is like it, is the other direction."""
        return self._replace(policy=FATPIPE if FATPIPE in (self.policy, back.policy) else SPLIT[0])


class Route(NamedTuple):
    """The links between two vertices, in order; those of a symmetrical one lead back as well."""

    source: str
    target: str
    links: tuple[str, ...]
    is_symmetrical: bool = True

    def __str__(self) -> str:
        return f"{brief(self.source)} - {brief(self.target)}"


@dataclass
class Platform:
    """Hosts, routers, links and routes of a document.

    Attributes:
        where: names the file in messages.
        vertices: attributes by name, hosts and routers in the order of the file.
        links: those with a name.
        routes: those over links with names.
        edges: those that clusters bring: both ends, and the link.
        left_out: elements that are not read, by name.
        unshared: what transfers cannot share as the file says, a line each.
        half_duplex: how many links have one capacity for both directions.
        several_speeds: how many hosts have p-states.
        of_hosts: to how many hosts <host_link> gives each link, by its name.
    """

    where: str
    vertices: dict[str, dict[str, Any]] = field(default_factory=dict)
    links: dict[str, Link] = field(default_factory=dict)
    routes: list[Route] = field(default_factory=list)
    edges: list[tuple[str, str, Link]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    unshared: list[str] = field(default_factory=list)
    half_duplex: int = 0
    several_speeds: int = 0
    of_hosts: Counter[str] = field(default_factory=Counter)

    def add_vertex(self, name: str, **attributes: Any) -> None:
        """Add a host or a router. Raises InputError: there is one of this name, or there are too many."""
        if not name or name in self.vertices:
            problem = "there are two of this id" if name else "no id"
            raise InputError(f"{self.where}: vertex {brief(name)}: {problem}")
        if len(self.vertices) == MOST_VERTICES:
            raise InputError(f"{self.where}: more than {MOST_VERTICES:,} hosts and routers: allowed up to that many")
        self.vertices[name] = attributes

    def add_edge(self, one: str, other: str, link: Link) -> None:
        """Join two vertices by a link of a cluster. Raises InputError: there are too many."""
        if len(self.edges) == MOST_EDGES:
            raise InputError(f"{self.where}: more than {MOST_EDGES:,} links: allowed up to that many")
        self.edges.append((one, other, link))
        self.half_duplex += link.policy == SHARED
