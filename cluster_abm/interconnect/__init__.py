"""The network between the nodes: a networkx graph, and what a transfer over it takes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import networkx as nx
import numpy as np
import numpy.typing as npt

from cluster_abm.scenario.schema import Interconnect

Floats = npt.NDArray[np.float64]

MBIT_PER_MB = 8.0


@dataclass(frozen=True)
class Network:
    """Nodes 0..nodes-1, all alike in bandwidth and latency, no contention (mode `delay`, as in the papers).

    Attributes:
        settings: the scenario's section.
        nodes: number of nodes.
    """

    settings: Interconnect
    nodes: int

    @cached_property
    def graph(self) -> nx.Graph:
        """The graph, edges with `bandwidth_mbps` and `latency_ms`; a star has its switch as node "switch".

        Made when first asked for: a complete graph of 1,000 nodes has half a million edges.
        """
        if self.settings.kind == "complete":
            graph = nx.complete_graph(self.nodes)
        else:
            graph = nx.Graph()
            graph.add_nodes_from(range(self.nodes))
            graph.add_edges_from((node, "switch") for node in range(self.nodes))
        nx.set_edge_attributes(graph, self.settings.bandwidth_mbps, "bandwidth_mbps")
        nx.set_edge_attributes(graph, self.settings.latency_ms, "latency_ms")
        return graph

    def ways_from(self, source: int) -> tuple[Floats, Floats]:
        """Bandwidth [MB/s] and latency [ms] of the way from a node to every node, shape (nodes,) each.

        Bandwidth is that of the narrowest link (1 MB = 8 Mb, 1 Gbps = 1024 Mbps): infinite to the node itself, 0 where
        no way leads. Latency is the sum of the links': 0 to the node itself, infinite where no way leads. Read only.
        """
        return self._alike

    @property
    def is_alike(self) -> bool:
        """Whether the ways between any two nodes are alike."""
        return True

    @property
    def longest_latency_ms(self) -> float:
        """The longest latency between two nodes that a way joins [ms]."""
        return self.settings.latency_ms * (1 if self.settings.kind == "complete" else 2)

    @cached_property
    def _alike(self) -> tuple[Floats, Floats]:
        return (
            np.broadcast_to(self.settings.bandwidth_mbps / MBIT_PER_MB, self.nodes),
            np.broadcast_to(self.longest_latency_ms, self.nodes),
        )
