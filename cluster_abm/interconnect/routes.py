"""Routes between nodes along the shortest paths of a graph."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from cluster_abm.clock import NS_PER_MS
from cluster_abm.interconnect.arcs import Arcs, Floats, Integers

# How many numbers are kept of what has been found, of rows and of branches: 0.5 GB each.
KEPT_NUMBERS = 64_000_000
SOURCES_AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class Branches:
    """All shortest routes from one vertex: to each vertex, the arcs by which they may come in."""

    latency_ns: Floats  # of the routes [ns], shape (vertices,); infinite where none leads
    arcs: npt.NDArray[np.int32]  # numbers of the arcs on such routes, in the order of their heads, tails
    # first, choices: of each vertex, where its arcs begin among them, and how many there are.
    first: npt.NDArray[np.int32]
    choices: npt.NDArray[np.int32]


class ShortestRoutes:
    """Routes of least latency and, among these, of least hops; found when first asked for.

    Among equally good routes the target's number chooses one. Going back from the target, at each vertex with several
    arcs to come in by, the next digit of that number selects the arc, in the mixed radix of the numbers of choices. In
    a fat tree that is routing by destination, D-mod-k (Zahavi 2012): if every node sends to the node s further on, for
    any s, no two of these transfers share a link. The route back may be another one.

    Args:
        nodes: number of nodes, which are its first vertices.
        down: nodes that have failed: they forward nothing and no route leads to them.
        cut: pairs (tail, head) of vertices between which nothing goes.
        symmetric: every node sees the same network.
    """

    def __init__(
        self,
        arcs: Arcs,
        nodes: int,
        down: frozenset[int] = frozenset(),
        cut: frozenset[tuple[Hashable, Hashable]] = frozenset(),
        symmetric: bool = False,
    ) -> None:
        alive = np.ones(len(arcs.vertices), bool)
        alive[list(down)] = False
        open_ = alive[arcs.tail] & alive[arcs.head]
        number, size = arcs.number_of, len(arcs.vertices)
        closed = [number[tail] * size + number[head] for tail, head in cut]
        open_ &= ~np.isin(arcs.tail * size + arcs.head, closed)
        self._nodes, self._size = nodes, size
        self._tail, self._head = arcs.tail[open_], arcs.head[open_]
        self._link, self._ns = arcs.link[open_], arcs.latency_ns[open_]
        self._mb_per_s = arcs.link_mb_per_s[self._link]
        self._alive = alive[:nodes]
        self._symmetric = symmetric and not down and not cut
        self._lengths = csr_array((self._ns, (self._tail, self._head)), shape=(size, size))
        self._rows: dict[int, tuple[Floats, Floats]] = {}
        self._branches: dict[int, Branches] = {}

    def routes_from(self, source: int) -> tuple[Floats, Floats]:
        """Return bandwidth [MB/s] and latency [ms] of the routes to all nodes (Network.ways_from)."""
        if source not in self._rows:
            _make_room(self._rows, KEPT_NUMBERS // (2 * self._nodes))
            self._rows[source] = self._row(source)
        return self._rows[source]

    def links_between(self, source: int, target: int) -> tuple[int, ...]:
        """Return the numbers of the links on the route, in order; none to the node itself.

        Raises ValueError where no route leads.
        """
        routes = self._branches_of(source)
        if not np.isfinite(routes.latency_ns[target]):
            raise ValueError(f"no way leads from node {source} to node {target}")
        links, at, digits = [], target, target
        while at != source:
            digits, choice = divmod(digits, int(routes.choices[at]))
            arc = routes.arcs[routes.first[at] + choice]
            links.append(int(self._link[arc]))
            at = int(self._tail[arc])
        # A shared medium is entered and left by the same link.
        return tuple(dict.fromkeys(reversed(links)))

    @property
    def longest_latency_ms(self) -> float:
        """The longest latency between two nodes that a route joins [ms]; 0 if none does."""
        sources, longest_ns = self._unlike_sources(), 0.0
        for some in np.array_split(sources, range(SOURCES_AT_ONCE, len(sources), SOURCES_AT_ONCE)):
            ns = dijkstra(self._lengths, indices=some)[:, : self._nodes]
            longest_ns = max(longest_ns, float(ns[np.isfinite(ns)].max(initial=0.0)))
        return longest_ns / NS_PER_MS

    def _unlike_sources(self) -> Integers:
        """Return one of each group of nodes equally far from all others: on one vertex, by links of one latency."""
        nodes = np.flatnonzero(self._alive)
        if self._symmetric:
            return nodes[:1]
        links = np.bincount(self._tail, minlength=self._size)
        only = np.zeros(self._size, np.int64)
        only[self._tail] = np.arange(len(self._tail))
        leaves = nodes[links[nodes] == 1]
        kinds = np.stack([self._head[only[leaves]].astype(float), self._ns[only[leaves]]])
        _, one_of_each = np.unique(kinds, axis=1, return_index=True)
        return np.union1d(np.setdiff1d(nodes, leaves), leaves[one_of_each])

    def _branches_of(self, source: int) -> Branches:
        if source not in self._branches:
            _make_room(self._branches, KEPT_NUMBERS // (4 * self._size))
            self._branches[source] = self._find(source)
        return self._branches[source]

    def _find(self, source: int) -> Branches:
        ns = dijkstra(self._lengths, indices=source)
        # Of whole numbers up to 2^53 (104 days) sums are exact. Beyond, an arc by which the search came is still found,
        # as the sums are the same, and hops rise by one along every route, so that no route goes in circles.
        least = np.isfinite(ns[self._tail]) & (ns[self._tail] + self._ns == ns[self._head])
        size = (self._size, self._size)
        marks = csr_array((np.ones(int(least.sum())), (self._tail[least], self._head[least])), shape=size)
        hops = dijkstra(marks, indices=source, unweighted=True)
        arcs = np.flatnonzero(least & (hops[self._tail] + 1 == hops[self._head]))
        choices = np.bincount(self._head[arcs], minlength=self._size)
        first = np.cumsum(choices) - choices
        return Branches(ns, arcs.astype(np.int32), first.astype(np.int32), choices.astype(np.int32))

    def _row(self, source: int) -> tuple[Floats, Floats]:
        routes = self._branches_of(source)
        ns = routes.latency_ns[: self._nodes]
        mb_per_s = np.where(np.isfinite(ns), np.inf, 0.0)
        target = np.flatnonzero(np.isfinite(ns))
        target = target[target != source]
        at, digits = target, target
        while len(target):
            digits, choice = np.divmod(digits, routes.choices[at])
            arc = routes.arcs[routes.first[at] + choice]
            mb_per_s[target] = np.minimum(mb_per_s[target], self._mb_per_s[arc])
            at = self._tail[arc]
            under_way = at != source
            target, at, digits = target[under_way], at[under_way], digits[under_way]
        row = mb_per_s, ns / NS_PER_MS
        for column in row:
            column.flags.writeable = False
        return row


def _make_room(routes: dict[int, Any], most: int) -> None:
    """Forget the oldest entry of a full store."""
    if len(routes) >= max(1, most):
        del routes[next(iter(routes))]
