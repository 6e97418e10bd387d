"""The networkx graph of a run, which shows what has become of it."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np

from cluster_abm.engine.state import EngineState
from cluster_abm.interconnect import Network
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.failing.outages import OutagePlan
from cluster_abm.model.moving.copies import copies_by_node
from cluster_abm.model.moving.staging import Staging
from cluster_abm.model.part import part


@part
class GraphOfRun:
    """The graph of a run's network by the user's names, made when first asked for, and marked as things are now.

    Attributes:
        whole: the network with nothing down.
        staging: the files of the run; None: there are none, or all nodes are pooled.
    """

    whole: Network
    availability: Availability
    plan: OutagePlan
    engine: EngineState
    staging: Staging | None

    def __post_init__(self) -> None:
        self._marked: tuple[bytes, frozenset[Any]] | None = None

    @cached_property
    def _made(self) -> tuple[nx.Graph, dict[Hashable, Hashable]]:
        return self.whole.users_graph()

    @property
    def vertices(self) -> list[Hashable]:
        """The vertex of each node in the graph."""
        names = self._made[1]
        return [names[node] for node in range(self.whole.nodes)]

    @property
    def now(self) -> nx.Graph:
        """The graph, always the same object, with its marks as of now.

        This is the place where attributes of vertices are brought up to date.
        """
        self._mark_failures()
        self._mark_files()
        return self._made[0]

    def _mark_files(self) -> None:
        """Say of every node which files it has copies of, as `files`, a list of names; nothing where there are none.

        Where all nodes are pooled nothing is fetched: these are the files that vertices name.
        """
        named = self.whole.files_of_nodes
        if self.staging is None and not any(named):
            return
        held = named if self.staging is None else copies_by_node(self.staging, self.engine)
        graph = self._made[0]
        for vertex, files in zip(self.vertices, held, strict=True):
            graph.nodes[vertex]["files"] = list(files)

    def _mark_failures(self) -> None:
        """Mark what is up: `up` of every vertex and of every edge; an edge is up where a transfer can take it."""
        state = self.availability.up.tobytes(), frozenset(self.plan.links_down)
        if state == self._marked:
            return
        graph, names = self._made
        vertices = self.vertices
        for node, vertex in enumerate(vertices):
            graph.nodes[vertex]["node"] = node
        nx.set_node_attributes(graph, True, "up")
        nx.set_edge_attributes(graph, True, "up")
        down = {vertices[node] for node in np.flatnonzero(~self.availability.up).tolist()}
        cut = {frozenset((names[one], names[other])) for one, other in self.plan.links_down}
        for vertex in down:
            graph.nodes[vertex]["up"] = False
        for one, other, attributes in graph.edges(data=True) if down or cut else ():
            attributes["up"] = not ({one, other} & down or frozenset((one, other)) in cut)
        self._marked = state
