"""The network as it is now, and the routes in it that have been asked for."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.tables import NEVER
from cluster_abm.interconnect import Network
from cluster_abm.interconnect.alike import KINDS
from cluster_abm.interconnect.units import whole_ns
from cluster_abm.policies import Paths

Integers = npt.NDArray[np.int64]


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
        found = self._paths.get(node)
        if found is None:
            found = self._paths[node] = Paths(*self.network.routes_from(node))
        return found

    @cached_property
    def longest_ns(self) -> int:
        """The longest latency between two nodes that a route joins [ns]."""
        return whole_ns(self.network.longest_latency_ms)

    def latencies_ns(self, node: int) -> Integers:
        """Latency to a node from every node, shape (nodes,) [ns]; practically infinite where no route leads."""
        found = self._latencies_ns.get(node)
        if found is None:
            latency_ms = self.network.routes_from(node)[1]
            ns = np.minimum(np.where(np.isfinite(latency_ms), latency_ms * 1e6 + 0.5, NEVER // 4), NEVER // 4)
            found = self._latencies_ns[node] = ns.astype(np.int64)
        return found

    def latencies_to(self, audience: Integers) -> Integers:
        """Latency from every node to each audience of load managers, shape (audiences, nodes) [ns].

        Args:
            audience: of each node's manager, shape (nodes,). Members of one are equally far from every other node.
        """
        if self._to_audiences is None:
            self._to_audiences = self._found_latencies(audience)
        return self._to_audiences

    def _found_latencies(self, audience: Integers) -> Integers:
        audiences, firsts, sizes = np.unique(audience, return_index=True, return_counts=True)
        if len(audiences) == 1 and self.network.settings.kind in KINDS:
            return np.full((1, len(audience)), self.longest_ns)
        found = np.stack([self.latencies_ns(first) for first in firsts.tolist()])
        for number in np.flatnonzero(sizes > 1).tolist():
            # The first member itself is as far from the others as any of them is.
            other = int(np.flatnonzero(audience == number)[1])
            found[number, firsts[number]] = found[number, other]
        return found


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
