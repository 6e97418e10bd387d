"""Networks in which all routes are alike: nothing is searched, and no graph is made."""

from __future__ import annotations

import numpy as np

from cluster_abm.arrays import Floats
from cluster_abm.interconnect.units import mb_per_s
from cluster_abm.scenario.interconnect import Interconnect

KINDS = ("complete", "bus", "star")


class AlikeRoutes:
    """Routes over a complete graph, a bus or a star of which no link has failed.

    Links have the numbers that they have in the graph: between two nodes of a complete graph in the order of the pairs,
    from a node to the switch of a star 2 node, back 2 node + 1.

    Args:
        settings: the scenario's section, its kind one of KINDS.
    """

    def __init__(self, settings: Interconnect, nodes: int, down: frozenset[int] = frozenset()) -> None:
        self._kind, self._nodes, self._down = settings.kind, nodes, down
        self._latency_ms = settings.latency_ms * (2 if self._kind == "star" else 1)
        self._mb_per_s = mb_per_s(settings.bandwidth_mbps)
        # Windows of these are the rows: the middle falls on the node itself.
        self._bandwidths = _around(self._mb_per_s, np.inf, nodes)
        self._latencies = _around(self._latency_ms, 0.0, nodes)

    def routes_from(self, source: int) -> tuple[Floats, Floats]:
        """Return bandwidth [MB/s] and latency [ms] of the routes to all nodes (Network.ways_from)."""
        window = slice(self._nodes - 1 - source, 2 * self._nodes - 1 - source)
        bandwidths, latencies = self._bandwidths[window], self._latencies[window]
        if not self._down:
            return bandwidths, latencies
        bandwidths, latencies = bandwidths.copy(), latencies.copy()
        gone = np.arange(self._nodes) != source
        if source not in self._down:
            gone &= np.isin(np.arange(self._nodes), list(self._down))
        bandwidths[gone], latencies[gone] = 0.0, np.inf
        return bandwidths, latencies

    def links_between(self, source: int, target: int) -> tuple[int, ...]:
        """Return the numbers of the links on the route (ShortestRoutes.links_between)."""
        if source == target:
            return ()
        if self._down & {source, target}:
            raise ValueError(f"no way leads from node {source} to node {target}")
        if self._kind == "bus":
            return (0,)
        if self._kind == "star":
            return 2 * source, 2 * target + 1
        low, high = min(source, target), max(source, target)
        pair = low * self._nodes - low * (low + 1) // 2 + high - low - 1
        return (2 * pair + (source > target),)

    @property
    def longest_latency_ms(self) -> float:
        """The longest latency between two nodes [ms]; 0 if there are none."""
        return self._latency_ms if self._nodes - len(self._down) > 1 else 0.0


def link_capacities(settings: Interconnect, nodes: int) -> Floats:
    """Capacity of each link of such a network [MB/s], shape (links,)."""
    links = {"complete": nodes * (nodes - 1), "bus": 1, "star": 2 * nodes}[settings.kind]
    return np.broadcast_to(mb_per_s(settings.bandwidth_mbps), links)


def _around(value: float, middle: float, nodes: int) -> Floats:
    row = np.full(2 * nodes - 1, value)
    row[nodes - 1] = middle
    row.flags.writeable = False
    return row
