"""The cluster's section of a scenario: its nodes, and groups of unlike ones."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictBool, model_validator

from cluster_abm.scenario.base import Section
from cluster_abm.scenario.distributions import (
    LONGEST_PERIOD_MS,
    Count,
    Delay,
    NonNegative,
    Period,
    Positive,
    Quantum,
    Share,
    Speed,
)
from cluster_abm.scenario.policy_names import current_name

MOST_CORES, MOST_NODES = 1024, 100_000
Cores = Annotated[Count, Field(le=MOST_CORES)]
Latency = Literal["fixed", "exponential"]


class NodeGroup(Section):
    """`count` nodes that differ from the cluster's defaults in the keys given."""

    count: Count
    """nodes of this kind; groups are numbered from node 0 on"""
    hardware: str | None = None
    """a hardware preset, or a TOML file with one, for what the group does not say itself"""
    cores: Cores | None = None
    quantum_ms: Quantum | None = None
    context_switch_ms: Delay | None = None
    cpu_speed: Speed | None = None
    memory_mb: Positive | None = None
    buffer_mb: NonNegative | None = None
    system_mb: NonNegative | None = None
    swap_mb: NonNegative | None = None
    disk_seek_rotation_ms: Delay | None = None
    disk_mb_per_s: Speed | None = None
    disk_channels: Cores | None = None
    disk_latency: Latency | None = None
    page_kb: Positive | None = None
    page_fault_rate_per_ms: NonNegative | None = None
    fault_service_ms: Annotated[Positive, Field(le=LONGEST_PERIOD_MS)] | None = None
    idle_watts: NonNegative | None = None
    cpu_watts: NonNegative | None = None
    disk_watts: NonNegative | None = None
    policy: Annotated[str, AfterValidator(current_name)] | None = None
    """the policy of these nodes' load managers; not set: policy.name"""
    policy_parameters: dict[str, Any] = Field(default_factory=dict)
    """its parameters, in [cluster.group.policy_parameters]"""

    @model_validator(mode="after")
    def _parameters_have_a_policy(self) -> NodeGroup:
        if self.policy_parameters and self.policy is None:
            raise ValueError(
                "policy_parameters: of which policy is not said; name it by policy, or give them in [policy]"
            )
        if "name" in self.policy_parameters:
            raise ValueError("policy_parameters.name: the policy of a group is named by its key policy")
        return self


class BufferControl(Section):
    """Feedback control of the I/O buffer's size, on every node by itself (docs/papers/buffer.md)."""

    kind: Literal["fixed", "feedback"] = "fixed"
    """the buffer stays as large as it is, or follows what the disk is busy with"""
    period_ms: Period = 1000.0
    """how often the buffer's size is looked at [ms]"""
    gain: Annotated[Positive, Field(le=1)] = 0.5
    """how much of the wanted change is made in one period"""


class Cluster(Section):
    """The nodes; defaults are WAL-PM's Table 1, homogeneous."""

    nodes: Annotated[Count, Field(le=MOST_NODES)] = 32
    """number of nodes"""
    slice_ms: Period = 10.0
    """time slice: what one step() of the model advances [ms]"""
    hardware: str | None = None
    """a hardware preset (`cluster-abm hardware`), or a TOML file with one: what a node is, as far as the scenario does
    not say it itself"""
    cores: Cores = 1
    """cores of a node: identical, over one ready queue"""
    quantum_ms: Quantum = 10.0
    """round-robin quantum of a core [ms]; "inf": a task runs until it blocks or ends"""
    context_switch_ms: Delay = 0.1
    """lost whenever a core changes task [ms]"""
    cpu_speed: Speed = 1.0
    """speed of a core; 1 is the papers' node"""
    memory_mb: Positive = 640.0
    """RAM of a node [MB]"""
    buffer_mb: NonNegative = 160.0
    """I/O buffer of a node [MB]"""
    buffer_in_memory: StrictBool = True
    """whether the buffer is taken out of the RAM, so that programs have memory_mb - buffer_mb (paging = "rate")"""
    system_mb: NonNegative = 0.0
    """RAM that the operating system keeps for itself [MB]"""
    swap_mb: NonNegative | None = None
    """swap of a node [MB]: demand beyond RAM for programs and swap kills the newest task; not set: no limit"""
    disk_seek_rotation_ms: Delay = 8.0
    """seek and rotation of one request [ms]"""
    disk_mb_per_s: Speed = 40.0
    """disk bandwidth [MB/s]"""
    disk_channels: Cores = 1
    """requests that the disk serves at once: each seeks in a channel of its own; their transfers share the bandwidth,
    one after the other"""
    disk_latency: Latency = "fixed"
    """seek and rotation of each request are what disk_seek_rotation_ms says, or exponential with it as their mean"""
    paging: Literal["rate", "oversize"] = "rate"
    """paging model: faults per ms of CPU while demands overflow the memory (WAL-PM 12, IOLB 11), or by how far they
    overflow it (MCLS 1-4), with a buffer of at most buffer_mb in the memory that programs leave free"""
    fault_evenness: Share = 0.05
    """of paging = "oversize": share of the page faults that falls on all tasks alike, not on those that grow"""
    page_fault_rate_per_ms: NonNegative = 0.5
    """page-fault rate mu [faults per ms of CPU]"""
    page_fault_law: Literal["demand", "overflow"] = "demand"
    """factor of the fault rate: demand/memory (IOLB 11), or the share that does not fit"""
    page_fault_ratio_cap: Positive | None = None
    """largest demand/memory the paging law counts; not set: the papers' literal law"""
    page_kb: Positive = 4.0
    """size of a page [KB]"""
    fault_service_ms: Annotated[Positive, Field(le=LONGEST_PERIOD_MS)] | None = None
    """disk time of a page fault [ms]; not set: seek, rotation and transfer of one page"""
    idle_watts: NonNegative | None = None
    """power of a node that does nothing [W]; energy is counted where it is set for every node"""
    cpu_watts: NonNegative | None = None
    """what all cores busy add to it [W]; not set: 0"""
    disk_watts: NonNegative | None = None
    """what a busy disk adds to it [W]; not set: 0"""
    exchange_period_ms: Period = 1000.0
    """time from one load report of a manager to the next [ms]"""
    buffer_control: BufferControl = BufferControl()
    """how the I/O buffer's size changes during a run (kind, period_ms, gain)"""
    remote_memory: StrictBool = False
    """pages that overflow a node are kept in free memory of other nodes, found again every exchange_period_ms, wherever
    the network brings a page sooner than the own disk"""
    group: tuple[NodeGroup, ...] = ()
    """[[cluster.group]]: unlike nodes, each with a count and any of the node keys"""

    @model_validator(mode="after")
    def _groups_fit(self) -> Cluster:
        total = sum(group.count for group in self.group)
        if total > self.nodes:
            cure = f"set cluster.nodes = {total}"
            raise ValueError(f"group: counts add up to {total}, but cluster.nodes is {self.nodes}: {cure}")
        for prefix, kind in (
            ("", self),
            *((f"group.{index}.", self.like(group)) for index, group in enumerate(self.group)),
        ):
            if kind.system_mb >= kind.memory_mb:
                raise ValueError(
                    f"{prefix}system_mb {kind.system_mb}: must be below {prefix}memory_mb {kind.memory_mb}"
                )
            if prefix and self.swap_mb is None and kind.swap_mb is not None:
                raise ValueError(f"{prefix}swap_mb {kind.swap_mb}: needs cluster.swap_mb for the other nodes")
            if self.paging == "rate" and kind.buffer_in_memory and kind.buffer_mb >= kind.memory_mb - kind.system_mb:
                raise ValueError(
                    f"{prefix}buffer_mb {kind.buffer_mb}: must be below {prefix}memory_mb {kind.memory_mb}, "
                    "which it is taken from (or set buffer_in_memory = false)"
                )
        if self.buffer_control.kind == "feedback" and (self.paging != "rate" or not self.buffer_in_memory):
            raise ValueError(
                'buffer_control.kind "feedback": needs buffer_in_memory = true and paging = "rate", by which it takes '
                f"memory from programs; found buffer_in_memory = {str(self.buffer_in_memory).lower()} and "
                f'paging = "{self.paging}"'
            )
        if self.buffer_control.kind == "feedback" and self.remote_memory:
            raise ValueError(
                'buffer_control.kind "feedback": the buffer would take memory that holds pages of other nodes; allowed '
                "with it is remote_memory = false"
            )
        return self

    @property
    def kinds(self) -> list[tuple[Cluster, int]]:
        """What nodes there are, each with how many of them: the groups in their order, then the default nodes."""
        plain = self.nodes - sum(group.count for group in self.group)
        return [*((self.like(group), group.count) for group in self.group), (self, plain)]

    @property
    def has_power(self) -> bool:
        """Whether energy is counted: where the idle power of every node is set."""
        return all(kind.idle_watts is not None for kind, count in self.kinds if count)

    @property
    def has_channels(self) -> bool:
        """Whether a disk serves several requests at once."""
        return any(kind.disk_channels > 1 for kind, count in self.kinds if count)

    def like(self, group: NodeGroup) -> Cluster:
        """The same with the keys that a group sets: what a node of that group is."""
        own = group.model_dump(exclude_none=True, exclude={"count", "policy", "policy_parameters"})
        # The watts of another node are not those of a group's preset that says none.
        unset = dict.fromkeys(("idle_watts", "cpu_watts", "disk_watts")) if group.hardware is not None else {}
        return self.model_copy(update=unset | own)
