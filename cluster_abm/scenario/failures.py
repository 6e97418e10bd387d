"""When nodes and links fail, and what becomes of the tasks. Data only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, Strict, field_serializer, field_validator, model_validator

from cluster_abm.bounded_files import TRACE_MB
from cluster_abm.found_modules import FAILURE_MAPS
from cluster_abm.scenario.base import Section
from cluster_abm.scenario.columns.expressions import check_expression
from cluster_abm.scenario.columns.failures import FailureColumns
from cluster_abm.scenario.distributions import MaxMb, NonNegative, Positive

if TYPE_CHECKING:
    MapName = str
else:
    MapName = Literal[FAILURE_MAPS]

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
    file: str | None = None
    """a table of outages of nodes, CSV, TSV or Parquet, plain, .gz or .xz: columns node, down_s and up_s (empty: for
    good), or what `map` or `columns` says (docs/reference/failures.md)"""
    map: MapName | None = None
    """the shipped map of columns that reads the file"""
    columns: FailureColumns | None = None
    """[failures.columns]: a map of columns of your own, or, beside `map`, the fields that differ from that one"""
    filter: str | None = None
    """an expression over the columns of the file: rows for which it does not hold are left out"""
    start_s: Annotated[NonNegative, Field(le=LONGEST_S)] = 0.0
    """outages of the file that end earlier are left out, and its time counts from here [s]; with a map of recorded
    failures it is counted from the first of them"""
    max_mb: MaxMb = TRACE_MB
    """how much the file may hold, unpacked; more is refused [MB of 2^20 bytes]"""
    degrade: tuple[Degradation, ...] = ()
    """[[failures.degrade]]: devices that are slow, by schedule or at random"""
    on_failure: Literal["restart", "checkpoint", "lost"] = "restart"
    """tasks of a failed node start from scratch elsewhere, go on from their last checkpoint, or their jobs are lost"""
    checkpoint_period_ms: Annotated[Positive, Field(ge=1.0, le=1e9)] = 60_000.0
    """of on_failure = "checkpoint": time from one checkpoint of all running tasks to the next [ms]"""

    @field_serializer("columns")
    def _what_differs(self, columns: FailureColumns | None) -> dict[str, Any] | None:
        """A map as a user writes it: without the many keys that a field does not need."""
        return None if columns is None else columns.model_dump(exclude_defaults=True)

    @model_validator(mode="after")
    def _readable(self) -> Failures:
        if self.columns is not None and self.map is None:
            try:
                self.columns.check_complete()
            except ValueError as problem:
                raise ValueError(f"columns: {problem}") from None
        if self.filter is not None:
            check_expression(self.filter, truth=True)
        return self

    @property
    def can_happen(self) -> bool:
        """Whether anything may fail."""
        return self.nodes_can_fail or self.links_can_fail

    @property
    def nodes_can_fail(self) -> bool:
        """Whether a node may fail."""
        by_schedule = any(outage.node is not None for outage in self.event)
        return self.node.kind != "none" or by_schedule or self.file is not None

    @property
    def links_can_fail(self) -> bool:
        """Whether a link may fail."""
        return self.link.kind != "none" or any(outage.link is not None for outage in self.event)
