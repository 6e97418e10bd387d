"""When nodes and links fail, and what becomes of the tasks. Data only."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, Strict, field_validator, model_validator

from cluster_abm.scenario.base import Section
from cluster_abm.scenario.distributions import NonNegative, Positive

# Up or down for 30 years at most: times are integer nanoseconds.
LONGEST_S = 1e9
Duration = Annotated[Positive, Field(ge=1e-3, le=LONGEST_S)]
Node = Annotated[int, Strict(), Field(ge=0)]
Vertex = Annotated[int, Strict()] | str


def problem_of_links(mode: str, kind: str) -> str:
    """Why links cannot be slow: `mode` and `kind` of [interconnect]; "": they can."""
    if mode == "contended" and kind != "bus":
        return ""
    return (
        'needs links of their own that transfers share, interconnect.mode = "contended" and no bus; found '
        f"mode = {mode!r}, kind = {kind!r}"
    )


class Outages(Section):
    """Failures at random, of each node (or link) on its own."""

    kind: Literal["none", "exponential", "weibull"] = "none"
    """distribution of the time until it fails, counted from the start and from each repair"""
    mean_up_s: Duration = 86_400.0
    """mean time to failure [s]"""
    shape: Annotated[Positive, Field(ge=0.1, le=20)] = 0.7
    """shape of kind weibull: below 1 it fails the less the longer it has been up"""
    mean_down_s: Duration = 600.0
    """mean time to repair [s]"""
    repair: Literal["exponential", "fixed"] = "exponential"
    """distribution of the time to repair"""


class Outage(Section):
    """A failure by schedule: of a node, or of the link between two vertices of the interconnect."""

    at_s: Annotated[NonNegative, Field(le=LONGEST_S)]
    """when it fails [s]"""
    for_s: Duration | None = None
    """how long it is down [s]; not set: for good"""
    node: Annotated[int, Strict(), Field(ge=0)] | None = None
    """the node that fails"""
    link: tuple[Vertex, Vertex] | None = None
    """the link that fails, by its two vertices: node numbers, or names such as "switch" """

    @model_validator(mode="after")
    def _one_of_them(self) -> Outage:
        if (self.node is None) == (self.link is None):
            raise ValueError(f"node {self.node}, link {self.link}: give exactly one of them")
        return self


class Degradation(Section):
    """Devices that are slow for a while, not dead."""

    device: Literal["cpu", "disk", "link"]
    """what is slow: CPUs, disks, or the links of nodes (interconnect.mode = "contended")"""
    factor: Annotated[float, Strict()]
    """its speed then, as a share of its own, above 0, at most 1"""
    nodes: Annotated[tuple[Node, ...], Field(min_length=1)] | None = None
    """of which nodes; not set: of all"""
    kind: Literal["schedule", "exponential", "weibull"] = "schedule"
    """by schedule, or the distribution of the time until it is slow, on each node by itself"""
    at_s: Annotated[NonNegative, Field(le=LONGEST_S)] | None = None
    """of kind schedule: when it becomes slow [s]"""
    for_s: Duration | None = None
    """of kind schedule: how long it is slow [s]; not set: for good"""
    mean_up_s: Duration = 86_400.0
    """of the other kinds: mean time until it is slow, from the start and from each repair [s]"""
    shape: Annotated[Positive, Field(ge=0.1, le=20)] = 0.7
    """shape of kind weibull"""
    mean_down_s: Duration = 600.0
    """of the other kinds: mean time for which it is slow [s]"""
    repair: Literal["exponential", "fixed"] = "exponential"
    """distribution of that time"""

    @field_validator("factor")
    @classmethod
    def _not_dead(cls, factor: float) -> float:
        if factor == 0.0:
            raise ValueError(
                "a device that does nothing has failed: use failures.event, failures.node or failures.link"
            )
        if not 0.0 < factor <= 1.0:
            raise ValueError("must be above 0 and at most 1")
        return factor

    @model_validator(mode="after")
    def _when(self) -> Degradation:
        if (self.kind == "schedule") != (self.at_s is not None):
            raise ValueError(
                f"at_s {self.at_s}: kind {self.kind!r} needs it"
                if self.kind == "schedule"
                else f"at_s {self.at_s}: kind {self.kind!r} draws its times; leave it out"
            )
        if self.kind != "schedule" and self.for_s is not None:
            raise ValueError(f"for_s {self.for_s}: kind {self.kind!r} has mean_down_s instead")
        return self


class Failures(Section):
    """Nodes and links that fail and recover, at slice boundaries."""

    node: Outages = Outages()
    """nodes at random"""
    link: Outages = Outages()
    """links at random"""
    event: tuple[Outage, ...] = ()
    """[[failures.event]]: failures by schedule"""
    degrade: tuple[Degradation, ...] = ()
    """[[failures.degrade]]: devices that are slow, by schedule or at random"""
    on_failure: Literal["restart", "checkpoint", "lost"] = "restart"
    """tasks of a failed node start from scratch elsewhere, go on from their last checkpoint, or their jobs are lost"""
    checkpoint_period_ms: Annotated[Positive, Field(ge=1.0, le=1e9)] = 60_000.0
    """of on_failure = "checkpoint": time from one checkpoint of all running tasks to the next [ms]"""

    @property
    def can_happen(self) -> bool:
        """Whether anything may fail."""
        return self.node.kind != "none" or self.link.kind != "none" or bool(self.event)

    @property
    def nodes_can_fail(self) -> bool:
        """Whether a node may fail."""
        return self.node.kind != "none" or any(outage.node is not None for outage in self.event)

    @property
    def links_can_fail(self) -> bool:
        """Whether a link may fail."""
        return self.link.kind != "none" or any(outage.link is not None for outage in self.event)
