"""The network as it is now, and the routes in it that have been asked for."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Flags, Floats, Integers
from cluster_abm.clock import whole_ns
from cluster_abm.engine.tables import NEVER
from cluster_abm.interconnect import Network
from cluster_abm.interconnect.alike import KINDS
from cluster_abm.policies import Paths

# Where no route leads: practically infinite, and can be added to a time.
UNREACHABLE_NS = NEVER // 4


class AllPaths(NamedTuple):
    """The routes from every node to every node, in one array each."""

    # mb_per_s, latency_ms: bandwidth [MB/s] and latency [ms]
    mb_per_s: Floats
    latency_ms: Floats
    at: Integers  # where those from each node begin, shape (nodes,)
    share_rows: bool  # whether nodes share rows; then the entry of a node itself in its row is that of its siblings
    unreachable: Flags  # nodes to which no route leads, whatever the rows say, shape (nodes,)


class Routes:
    """The routes of one network, kept once they have been asked for.

    Attributes:
        network: the network.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self._paths: dict[int, Paths] = {}
        self._latencies_ns: dict[int, Integers] = {}
        self._to_audiences: Integers | None = None

    def paths_from(self, node: int) -> Paths:
        """Bandwidth and latency of the routes from a node to every node."""
        paths = self._paths.get(node)
        if paths is None:
            paths = self._paths[node] = Paths(*self.network.routes_from(node))
        return paths

    @property
    def are_alike(self) -> bool:
        """Whether all routes between nodes that are up have the same bandwidth and latency."""
        return self.network.settings.kind in KINDS and not self.network.has_cuts

    @cached_property
    def longest_ns(self) -> int:
        """The longest latency between two nodes that a route joins [ns]."""
        return whole_ns(self.network.longest_latency_ms)

    def latencies_ns(self, node: int) -> Integers:
        """Latency to a node from every node, shape (nodes,) [ns]; practically infinite where no route leads."""
        latencies_ns = self._latencies_ns.get(node)
        if latencies_ns is None:
            latency_ms = self.network.routes_from(node)[1]
            ns = np.minimum(np.where(np.isfinite(latency_ms), latency_ms * 1e6 + 0.5, UNREACHABLE_NS), UNREACHABLE_NS)
            latencies_ns = self._latencies_ns[node] = ns.astype(np.int64)
        return latencies_ns

    def latencies_to(self, audience: Integers) -> Integers:
        """Latency from every node to each audience of load managers, shape (audiences, nodes) [ns].

        Args:
            audience: of each node's manager, shape (nodes,). Members of one are equally far from every other node.
        """
        if self._to_audiences is None:
            self._to_audiences = self._found_latencies(audience)
        return self._to_audiences

    def _found_latencies(self, audience: Integers) -> Integers:
        if not audience.any() and self.network.settings.kind in KINDS:
            return np.full((1, len(audience)), self.longest_ns)
        latencies_ns = np.full((int(audience.max()) + 1, len(audience)), UNREACHABLE_NS)
        # No route leads to a node that is down: an audience is as far as those of its members that are up.
        up = np.setdiff1d(np.arange(len(audience)), list(self.network.down))
        audiences, firsts, sizes = np.unique(audience[up], return_index=True, return_counts=True)
        for number, first, size in zip(audiences.tolist(), up[firsts].tolist(), sizes.tolist(), strict=True):
            latencies_ns[number] = self.latencies_ns(first)
            if size > 1:
                # The first member itself is as far from the others as any of them is.
                other = int(up[audience[up] == number][1])
                latencies_ns[number, first] = latencies_ns[number, other]
        return latencies_ns

    def all_paths(self) -> AllPaths:
        """Bandwidth and latency of the routes from every node."""
        network, nodes = self.network, self.network.nodes
        unreachable = np.zeros(nodes, bool)
        if self.are_alike:
            unreachable[list(network.down)] = True
            up = int(np.flatnonzero(~unreachable)[0]) if not unreachable.all() else 0
            windows: list[Floats] = []
            for row, own in zip(network.whole_routes_from(up), (np.inf, 0.0), strict=True):
                # Windows of this are the rows: the own entry falls on the node itself.
                window = np.full(2 * nodes - 1, row[(up + 1) % nodes])
                window[nodes - 1] = own
                windows.append(window)
            mb_per_s, latency_ms = windows
            return AllPaths(mb_per_s, latency_ms, nodes - 1 - np.arange(nodes), False, unreachable)
        groups = network.siblings if network.is_whole else np.arange(nodes)
        _, firsts, sizes = np.unique(groups, return_index=True, return_counts=True)
        mb_per_s, latency_ms = (np.stack(rows) for rows in zip(*map(self.paths_from, firsts.tolist()), strict=True))
        for number in np.flatnonzero(sizes > 1).tolist():
            other = int(np.flatnonzero(groups == number)[1])
            for table in (mb_per_s, latency_ms):
                table[number, firsts[number]] = table[number, other]
        at, share = groups * nodes, bool((sizes > 1).any())
        return AllPaths(mb_per_s.reshape(-1), latency_ms.reshape(-1), at, share, unreachable)


class LiveNetwork:
    """The network of a run, of which nodes and links may be down.

    Readers ask for `routes` each time, so that none of them keeps routes of a network that has changed.

    Attributes:
        whole: the network with nothing down.
        routes: those of the network as it is now.
    """

    def __init__(self, network: Network) -> None:
        self.whole = network
        self.routes = Routes(network)

    @property
    def network(self) -> Network:
        """The network as it is now."""
        return self.routes.network

    def change(self, network: Network) -> None:
        """Put another network in place of the present one."""
        self.routes = Routes(network)
