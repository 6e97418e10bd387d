"""The section that says what joins the nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from cluster_abm.bounded_files import NETWORK_MB
from cluster_abm.scenario.base import Section
from cluster_abm.scenario.distributions import Count, Delay, MaxMb, NonNegative, Positive, Speed

# Of a part of a network. Larger ones cannot be built, and products of larger ones not be printed.
Size = Annotated[Count, Field(le=1_000_000_000)]


class Interconnect(Section):
    """The network between the nodes (docs/concepts/model.md, Interconnect)."""

    kind: Literal["complete", "bus", "star", "tree", "fat-tree", "torus", "dragonfly", "clusters", "file"] = "complete"
    """complete: every two nodes are joined; bus: one medium for all; star: one switch; tree: a switch a rack and one
    above them; fat-tree, torus, dragonfly; clusters: stars joined by wide-area links; file: the graph in `file`"""
    mode: Literal["delay", "contended"] = "delay"
    """delay: a transfer takes its formula's time, however many there are; contended: transfers share links max-min
    fairly"""
    file: str | None = None
    """GraphML (.graphml, .xml), a platform of SimGrid (.xml), SNDlib's native format (.txt), node-link JSON (.json),
    GML (.gml) or a list of edges with named columns (.csv, .tsv), or the name of a shipped network; makes the kind
    "file". Where cluster.nodes is not given with it, it is the number of the graph's vertices that are nodes"""
    graph: str | None = None
    """a networkx graph that was handed over in Python (network=G), as a text of node-link JSON; makes the kind "file".
    Where a scenario is written it stands beside it, as NAME.network.json"""
    part: Literal["largest"] | None = None
    """file: "largest": of parts that nothing joins the largest alone; not set: the graph has to be one"""
    max_mb: MaxMb = NETWORK_MB
    """how much the file may hold; more is refused [MB of 2^20 bytes]"""
    gflops_per_speed: Annotated[Positive, Field(ge=1e-6, le=1e9)] = 1.0
    """file: of a platform of SimGrid, the speed of a host that is cpu_speed 1 [Gflop/s]"""
    hardware: str | None = None
    """a hardware preset of a network (`cluster-abm hardware`), or a TOML file with one: a link's bandwidth and latency,
    as far as the scenario does not say them itself"""
    bandwidth_mbps: Speed = 1024.0
    """bandwidth of a link in each direction [Mbps; 1 MB = 8 Mb]"""
    latency_ms: Delay = 0.0
    """latency of a link [ms]; of a bus: from end to end"""
    loss_share: Annotated[NonNegative, Field(le=0.99)] = 0.0
    """share of the messages (reports, questions, answers) that get lost"""
    trunk_bandwidth_mbps: Speed | None = None
    """bandwidth of a tree's uplinks, a dragonfly's global links, wide-area links between clusters, and links of a file
    that do not say their own [Mbps]; not set: bandwidth_mbps"""
    trunk_latency_ms: Delay | None = None
    """latency of these links [ms]; not set: latency_ms"""
    rack_nodes: Size | None = None
    """tree: nodes at a rack's switch; not set: 16"""
    arity: Annotated[Count, Field(multiple_of=2, le=1000)] | None = None
    """fat-tree: ports of a switch, k, even: k^3/4 places for nodes; not set: the smallest that holds them"""
    dimensions: Annotated[tuple[Size, ...], Field(min_length=1, max_length=16)] | None = None
    """torus: nodes along each dimension; not set: two, as even as the number of nodes allows"""
    routers_per_group: Size | None = None
    """dragonfly: routers of a group, a; not set: 2 nodes_per_router"""
    nodes_per_router: Size | None = None
    """dragonfly: nodes at a router, p; not set: routers_per_group / 2, or the smallest that holds the nodes"""
    clusters: Size | None = None
    """clusters: how many, of sizes as even as possible; not set: 2, or as many as cluster_nodes says"""
    cluster_nodes: Annotated[tuple[Size, ...], Field(min_length=1)] | None = None
    """clusters: nodes of each"""
    nodes_per_vertex: Size | None = None
    """file: nodes at each of its vertices, by a switch of their own; not set, or 1: the vertices are the nodes"""

    USES: ClassVar[dict[str, tuple[str, ...]]] = {
        "complete": (),
        "bus": (),
        "star": (),
        "tree": ("trunk_bandwidth_mbps", "trunk_latency_ms", "rack_nodes"),
        "fat-tree": ("arity",),
        "torus": ("dimensions",),
        "dragonfly": ("trunk_bandwidth_mbps", "trunk_latency_ms", "routers_per_group", "nodes_per_router"),
        "clusters": ("trunk_bandwidth_mbps", "trunk_latency_ms", "clusters", "cluster_nodes"),
        "file": ("trunk_bandwidth_mbps", "trunk_latency_ms", "file", "graph", "part", "nodes_per_vertex"),
    }
    """Which of the keys that have no default each kind takes."""

    @property
    def trunk_mbps(self) -> float:
        """Bandwidth of a link between switches that are far apart [Mbps]."""
        return self.bandwidth_mbps if self.trunk_bandwidth_mbps is None else self.trunk_bandwidth_mbps

    @property
    def trunk_ms(self) -> float:
        """Its latency [ms]."""
        return self.latency_ms if self.trunk_latency_ms is None else self.trunk_latency_ms

    @model_validator(mode="before")
    @classmethod
    def _a_file_is_a_kind(cls, given: Any) -> Any:
        if isinstance(given, Mapping) and (given.get("file") is not None or given.get("graph") is not None):
            return {"kind": "file", **given}
        return given

    @model_validator(mode="after")
    def _keys_of_the_kind(self) -> Interconnect:
        if self.file is not None and self.kind != "file":
            raise ValueError(f'file {self.file!r}: interconnect.kind is {self.kind!r}; leave it out, or set "file"')
        if self.graph is not None and self.kind != "file":
            raise ValueError(f'graph: interconnect.kind is {self.kind!r}; leave it out, or set "file"')
        if self.graph is not None and self.file is not None:
            raise ValueError(f"graph, file {self.file!r}: give one of them")
        if self.file is None and self.graph is None and self.kind == "file":
            raise ValueError(
                'file: a kind "file" needs interconnect.file, a GraphML, GML or node-link JSON file, a list of edges, '
                "a platform of SimGrid or a network of SNDlib"
            )
        for name in dict.fromkeys(key for keys in self.USES.values() for key in keys):
            if getattr(self, name) is not None and name not in self.USES[self.kind]:
                users = ", ".join(kind for kind, keys in self.USES.items() if name in keys)
                raise ValueError(f"{name} {getattr(self, name)}: kind {self.kind!r} does not use it (used by {users})")
        if self.clusters is not None and self.cluster_nodes is not None and self.clusters != len(self.cluster_nodes):
            raise ValueError(f"clusters {self.clusters}: interconnect.cluster_nodes lists {len(self.cluster_nodes)}")
        return self
