"""The validated, declarative description of a run. Data only: nothing here knows how it is carried out."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from cluster_abm.scenario.base import Section
from cluster_abm.scenario.distributions import (
    Arrivals,
    Distribution,
    Home,
    NonNegative,
    Positive,
    RequestSize,
    Share,
    TaskCount,
)


class NodeGroup(Section):
    """`count` nodes that differ from the cluster's defaults in the keys given."""

    count: Annotated[int, Field(ge=1)]
    cpu_speed: Positive | None = None
    memory_mb: Positive | None = None
    buffer_mb: NonNegative | None = None
    disk_seek_rotation_ms: NonNegative | None = None
    disk_mb_per_s: Positive | None = None
    page_fault_rate_per_ms: NonNegative | None = None
    fault_service_ms: Positive | None = None


class Cluster(Section):
    """The nodes; defaults are WAL-PM's Table 1, homogeneous."""

    nodes: Annotated[int, Field(ge=1, le=100_000)] = 32
    slice_ms: Positive = 10.0
    quantum_ms: Positive = 10.0
    context_switch_ms: NonNegative = 0.1
    cpu_speed: Positive = 1.0
    memory_mb: Positive = 640.0
    buffer_mb: NonNegative = 160.0
    buffer_in_memory: bool = True
    disk_seek_rotation_ms: NonNegative = 8.0
    disk_mb_per_s: Positive = 40.0
    paging: Literal["rate"] = "rate"
    page_fault_rate_per_ms: NonNegative = 0.5
    page_fault_law: Literal["demand", "overflow"] = Field(
        "demand",
        description="factor of the fault rate: demand/memory (IOLB 11), or the share that does not fit",
    )
    page_fault_ratio_cap: Positive | None = Field(
        None, description="largest demand/memory the paging law counts; none: the papers' literal law"
    )
    page_kb: Positive = 4.0
    fault_service_ms: Positive | None = Field(None, description="none: seek, rotation and transfer of one page")
    exchange_period_ms: Positive = 1000.0
    group: tuple[NodeGroup, ...] = ()

    @model_validator(mode="after")
    def _groups_fit(self) -> Cluster:
        total = sum(group.count for group in self.group)
        if total > self.nodes:
            raise ValueError(f"group: counts add up to {total}, but cluster.nodes is {self.nodes}")
        for name in ("slice_ms", "quantum_ms", "exchange_period_ms"):
            if round(getattr(self, name) * 1e6) < 1:
                raise ValueError(f"{name} {getattr(self, name)}: must be at least 0.000001 ms (1 ns)")
        return self


class Trace(Section):
    """Work from a file. What it does not say is drawn from the workload's distributions."""

    file: str | None = None
    format: Literal["csv", "swf", "hbd"] | None = None
    run: Annotated[int, Field(ge=0)] | None = Field(None, description="which run of a file that holds several")
    start_s: NonNegative = 0.0
    duration_s: Positive | None = None
    keep_share: Annotated[float, Field(gt=0, le=1)] = Field(1.0, description="share of the jobs kept, drawn at random")
    max_tasks: Annotated[int, Field(ge=1)] | None = Field(None, description="wider jobs are cut to this many tasks")
    cpu_scale: Positive = Field(1.0, description="CPU times are multiplied by this")


class Workload(Section):
    """The jobs. CPU times and rates are per task and at speed 1."""

    kind: Literal["synthetic", "trace"] = "synthetic"
    duration_s: Positive = 3600.0
    jobs: Annotated[int, Field(ge=1, le=50_000_000)] | None = None
    jobs_per_s: Positive | None = None
    utilisation: Positive | None = Field(None, description="mean CPU demand over CPU capacity; sets the rate")
    arrivals: Arrivals = Arrivals()
    cpu_ms: Distribution = Distribution(kind="exponential", mean=1000.0)
    memory_mb: Distribution = Distribution(kind="pareto", mean=4.0)
    memory_of: Literal["task", "job"] = Field(
        "task", description="job: memory_mb is drawn for the whole job and split evenly among its tasks"
    )
    io_per_ms: Distribution = Distribution(kind="fixed", mean=0.0)
    no_io_share: Share = 0.0
    request_kb: RequestSize = RequestSize()
    reaccess_rate: NonNegative = 0.0
    initial_data_mb: Distribution = Distribution(kind="fixed", mean=0.0)
    write_share: Share = 0.2
    tasks: TaskCount = TaskCount()
    home: Home = Home()
    trace: Trace = Trace()

    @model_validator(mode="after")
    def _rate_given_once(self) -> Workload:
        if self.kind == "trace":
            return self
        given = [name for name in ("jobs", "jobs_per_s", "utilisation") if getattr(self, name) is not None]
        if len(given) != 1:
            found = ", ".join(f"workload.{name}" for name in given) or "none of them"
            raise ValueError(f"give exactly one of jobs, jobs_per_s, utilisation: found {found}")
        if self.arrivals.kind == "lognormal-window" and self.jobs is None:
            raise ValueError("arrivals of kind lognormal-window: need workload.jobs")
        return self


class Negotiation(Section):
    """How load managers come to an agreement: model.md section 5, Negotiation (docs/model.md)."""

    mode: Literal["papers", "negotiated"] = "negotiated"
    remote_execution_ms: NonNegative = Field(100.0, description="fixed cost e of starting a newcomer elsewhere")
    offers: Annotated[int, Field(ge=1)] = Field(3, description="nodes asked one after another before it stays")


class Interconnect(Section):
    """The network between the nodes."""

    kind: Literal["complete", "star"] = "complete"
    mode: Literal["delay"] = "delay"
    bandwidth_mbps: Positive = 1024.0
    latency_ms: NonNegative = 0.0


class PolicyChoice(Section):
    """The policy's name; its parameters are further keys, checked by the policy itself."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str = "none"

    @property
    def parameters(self) -> dict[str, Any]:
        """The keys beside `name`."""
        return dict(self.__pydantic_extra__ or {})


class Measure(Section):
    """What is written down while it runs."""

    period_ms: Positive = 10_000.0


def _drained_or_a_time(value: str | float) -> str | float:
    if value == "drained" or (not isinstance(value, str) and 0 < value < math.inf):
        return value
    raise ValueError('must be "drained" or a time above 0 [ms]')


Until = Annotated[str | float, AfterValidator(_drained_or_a_time)]


class Run(Section):
    """How long, and from which seed."""

    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    until: Until = "drained"


class Compare(Section):
    """Defaults of `cluster-abm compare`."""

    policies: tuple[str, ...] = ("none", "clb", "mlb", "iolb")
    seeds: Annotated[int, Field(ge=1)] = 8


class Scenario(Section):
    """One run, whole."""

    name: str = "unnamed"
    summary: str = ""
    cluster: Cluster = Cluster()
    workload: Workload = Workload(utilisation=0.5)
    policy: PolicyChoice = PolicyChoice()
    negotiation: Negotiation = Negotiation()
    interconnect: Interconnect = Interconnect()
    measure: Measure = Measure()
    run: Run = Run()
    compare: Compare = Compare()

    @model_validator(mode="after")
    def _fits_together(self) -> Scenario:
        weights = self.workload.home.weights
        if self.workload.home.kind == "weights" and len(weights) > self.cluster.nodes:
            raise ValueError(
                f"workload.home.weights: {len(weights)} weights, but cluster.nodes is {self.cluster.nodes}"
            )
        return self
