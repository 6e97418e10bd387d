"""The validated, declarative description of a run. Data only: nothing here knows how it is carried out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, Strict, StrictBool, model_validator

from cluster_abm import displays
from cluster_abm.scenario.arrivals import Arrivals
from cluster_abm.scenario.base import Section, not_default
from cluster_abm.scenario.cluster import Cluster
from cluster_abm.scenario.data import Data
from cluster_abm.scenario.dependence import Correlation, check_dependence
from cluster_abm.scenario.distributions import (
    LARGEST,
    AnnouncedError,
    Application,
    Background,
    Count,
    Delay,
    Distribution,
    Home,
    NonNegative,
    Positive,
    Programs,
    Repeats,
    RequestSize,
    Share,
    TaskCount,
    TaskCpu,
    check_task_cpu,
)
from cluster_abm.scenario.failures import Failures
from cluster_abm.scenario.initial import InitialJob
from cluster_abm.scenario.interconnect import Interconnect
from cluster_abm.scenario.measures import Measure
from cluster_abm.scenario.policy_names import PolicyChoice, PolicyName
from cluster_abm.scenario.script import MOST_ACTS, Act, check_script
from cluster_abm.scenario.sessions import UserSessions, check_beside
from cluster_abm.scenario.trace import TraceChoice
from cluster_abm.scenario.wording.caption import caption_of

# Jobs that a file of TOML may list.
MOST_INITIAL = 100_000


class Workload(Section):
    """The jobs. CPU times and rates are per task and at speed 1."""

    kind: Literal["synthetic", "sessions", "trace", "none"] = "synthetic"
    """drawn from the distributions below, in sessions of users as workload.sessions says, read from
    workload.trace.file, or no jobs but those of workload.initial"""
    duration_s: Positive = 3600.0
    """jobs are submitted during this time [s]"""
    jobs: Annotated[Count, Field(le=50_000_000)] | None = None
    """number of jobs (give one of jobs, jobs_per_s, utilisation)"""
    jobs_per_s: Positive | None = None
    """mean submission rate [1/s]"""
    utilisation: Positive | None = None
    """mean CPU demand over CPU capacity; sets the rate"""
    arrivals: Arrivals = Arrivals()
    """when jobs are submitted"""
    cpu_ms: Distribution = Distribution(kind="exponential", mean=1000.0)
    """CPU demand of a task [ms]"""
    task_cpu: TaskCpu = "job"
    """job: all tasks of a job have the same CPU demand; each: every task draws its own from cpu_ms"""
    announced_error: AnnouncedError = 1.0
    """policies are told the CPU demand of a task times exp(Z ln announced_error), Z standard normal; 1: the true one"""
    memory_mb: Distribution = Distribution(kind="pareto", mean=4.0)
    """memory demand [MB]"""
    memory_of: Literal["task", "job"] = "task"
    """job: memory_mb is drawn for the whole job and split evenly among its tasks"""
    io_per_ms: Distribution = Distribution(kind="fixed", mean=0.0)
    """I/O accesses per ms of a task's CPU, lambda [1/ms]"""
    no_io_share: Share = 0.0
    """share of the jobs that make no access at all"""
    request_kb: RequestSize = RequestSize()
    """size of an access [KB]"""
    reaccess_rate: NonNegative = 0.0
    """how often data is accessed again; above 0 the buffer serves hits"""
    initial_data_mb: Distribution = Distribution(kind="fixed", mean=0.0)
    """data on the home disk that must follow a task [MB]"""
    write_share: Share = 0.2
    """share of the accesses that write"""
    write_only_moves: StrictBool = True
    """whether what a task has written moves with it when it migrates; false: it is snapshots, never read again"""
    tasks: TaskCount = TaskCount()
    """how many tasks a job has"""
    requested_over_actual: Distribution | None = None
    """a distribution (kind, mean, ...) of the requested run time over what a task takes alone at the slowest node;
    draws below 1 count as 1. Jobs of a trace keep what it says. Not set: no other job requests any"""
    home: Home = Home()
    """where jobs are submitted"""
    dispatchers: Count | None = None
    """number of dispatchers: jobs are submitted at nodes 0 to dispatchers - 1, each as often, which serve as the others
    do; homes in a trace are then not read. Not set: workload.home says it"""
    dependence: dict[str, Correlation] = Field(default_factory=dict)
    """Spearman's rank correlations of what is drawn for a job, as { "cpu_ms,memory_mb" = 0.4 }, of cpu_ms, memory_mb,
    io_per_ms and tasks (a Gaussian copula); pairs not named: 0"""
    repeats: Repeats = Repeats()
    """jobs that are as one before them"""
    programs: Programs = Programs()
    """jobs are runs of programs with an activity profile (mix, file)"""
    application: Application = Application()
    """jobs are runs of one of IOCM's applications (name, cpu_share, scale)"""
    background: tuple[Background, ...] = ()
    """[[workload.background]]: programs that load a node from the beginning to the end, each with a node, cpu_share,
    and period_ms, memory_mb, io_per_ms, request_kb"""
    initial: Annotated[tuple[InitialJob, ...], Field(max_length=MOST_INITIAL)] = ()
    """[[workload.initial]]: jobs that are on a node at 0, each with a node, cpu_ms, age_ms (CPU received before) and
    columns of a trace: tasks, io_per_ms, request_kb, memory_mb, initial_data_mb, write_share, reaccess_rate,
    requested_ms"""
    sessions: UserSessions = UserSessions()
    """jobs come in sessions of users (kind = "sessions")"""
    users: Literal["open", "react"] = "open"
    """of kind = "sessions": when a job comes that its user submits after the end of the one before. open: after the
    drawn end, so that a seed's jobs are the same for every policy; react: after the end in the run"""
    trace: TraceChoice = TraceChoice()
    """what to take from a trace file"""

    @property
    def homes_are_drawn(self) -> bool:
        """Whether homes of a trace's jobs are drawn, whatever the file says."""
        return self.trace.homes == "drawn" or self.dispatchers is not None

    @property
    def is_resampled(self) -> bool:
        """Whether each seed draws another log from the trace: what seeds give are replicates of one sample."""
        return self.kind == "trace" and self.trace.resample != "none"

    @property
    def _said_by_sessions(self) -> dict[str, bool]:
        """Keys that may not stand beside sessions, and whether they do."""
        return {
            "arrivals.batch_mean": self.arrivals.batch_mean > 1.0, "jobs": self.jobs is not None,
            "dependence": bool(self.dependence), "repeats.share": self.repeats.share > 0.0,
            "programs.mix": bool(self.programs.mix), "application.name": self.application.name != "none",
            "task_cpu": self.task_cpu != "job",
        }  # fmt: skip

    @model_validator(mode="after")
    def _files_are_read(self) -> Workload:
        if self.trace.file is not None and self.kind != "trace":
            raise ValueError(
                f'trace.file {self.trace.file!r}: would not be read: workload.kind is "{self.kind}"; '
                'set workload.kind = "trace" (--trace FILE does), or leave the file out'
            )
        if self.programs.file is not None and not self.programs.mix and self.kind != "trace":
            raise ValueError(
                f"programs.file {self.programs.file!r}: would not be read: workload.programs.mix is empty; "
                "say there which share of the jobs runs each program, or leave the file out"
            )
        return self

    @model_validator(mode="after")
    def _homes_are_said_once(self) -> Workload:
        if self.dispatchers is not None:
            for key, is_given in (("home", self.home != Home()), ("arrivals.user_nodes", self.arrivals.user_nodes)):
                if is_given:
                    raise ValueError(f"dispatchers {self.dispatchers}: workload.{key} says it too; give one of them")
        return self

    @model_validator(mode="after")
    def _dependence_is_possible(self) -> Workload:
        check_dependence(self.dependence)
        mix, application = self.programs.mix, self.application.name
        check_task_cpu(self.task_cpu, self.kind, mix, application, self.dependence, self.repeats.share)
        return self

    @model_validator(mode="after")
    def _requests_suffice(self) -> Workload:
        ratio = self.requested_over_actual
        if ratio is not None:
            name = "minimum" if ratio.kind == "lifetime" else "mean"
            if ratio.kind == "quantiles":
                if ratio.values[-1] * ratio.scale < 1.0:
                    raise ValueError(f"requested_over_actual.values up to {ratio.values[-1]}: must reach 1")
            elif getattr(ratio, name) < 1.0:
                raise ValueError(f"requested_over_actual.{name} {getattr(ratio, name)}: must be at least 1")
        return self

    @model_validator(mode="after")
    def _rate_given_once(self) -> Workload:
        if self.kind == "none" and not self.initial:
            raise ValueError('kind "none": there would be no job: list jobs in [[workload.initial]]')
        if self.kind not in ("synthetic", "sessions"):
            return self
        given = [name for name in ("jobs", "jobs_per_s", "utilisation") if getattr(self, name) is not None]
        listed = ", ".join(f"workload.{name}" for name in given) or "none of them"
        if self.kind == "sessions":
            check_beside(self.sessions, self.arrivals.kind, self._said_by_sessions)
            if len(given) != 1:
                raise ValueError(f'jobs_per_s, utilisation: kind "sessions" takes exactly one; found {listed}')
            return self
        if self.arrivals.kind == "closed":
            if given:
                raise ValueError(
                    "jobs, jobs_per_s, utilisation: arrivals.kind closed takes none, its users_per_node and "
                    f"jobs_per_user say how many; found {listed}"
                )
        elif len(given) != 1:
            raise ValueError(f"jobs, jobs_per_s, utilisation: give exactly one; found {listed}")
        if self.cpu_ms.kind == "quantiles":
            if self.cpu_ms.values[0] == 0:
                raise ValueError("cpu_ms.values from 0 on: must all be above 0")
        elif self.cpu_ms.kind != "lifetime" and self.cpu_ms.mean == 0:
            raise ValueError(f"cpu_ms.mean 0 of kind {self.cpu_ms.kind!r}: must be above 0")
        if self.arrivals.kind == "lognormal-window" and self.jobs is None:
            raise ValueError("arrivals.kind lognormal-window: needs workload.jobs")
        return self


class Negotiation(Section):
    """How load managers come to an agreement (docs/concepts/model.md, Negotiation)."""

    mode: Literal["papers", "negotiated", "head-node"] = "negotiated"
    """papers: load managers know the true state and every offer is accepted; negotiated: reports, offers, answers;
    head-node: the same, but one node gathers the reports and broadcasts them"""
    head_node: Annotated[int, Strict(), Field(ge=0)] = 0
    """mode head-node: which node gathers and broadcasts"""
    bandwidths: Literal["nominal", "measured"] = "nominal"
    """by what costs of moving are computed: nominal, or what the last request and transfer left of it"""
    remote_execution_ms: Delay = 100.0
    """fixed cost e of starting an arriving task elsewhere [ms]"""
    migration_ms: Delay = 100.0
    """fixed cost f of migrating a running task [ms]"""
    offers: Annotated[Count, Field(le=1_000_000)] = 3
    """nodes asked one after another before a task stays where it is"""
    refusals: StrictBool = True
    """whether the asked node may refuse; false: it takes whatever is sent, as a textbook's dispatcher has it"""
    timeout_ms: Delay = 100.0
    """how long an asker waits for an answer [ms]"""
    missed_reports: Annotated[Count, Field(le=1_000_000)] = 3
    """a node is believed to have failed once this many of its reports in a row are missing"""


def _drained_or_a_time(value: Any) -> str | float:
    if value == "drained":
        return "drained"
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= LARGEST:
        return float(value)
    raise ValueError(f'must be "drained" or a time above 0 and up to {LARGEST:g} [ms]')


Until = Annotated[str | float, PlainValidator(_drained_or_a_time)]


# The limit of a key that is taken and changes nothing.
MOST_THREADS = 256


def _auto_or_a_number(value: Any) -> str | int:
    if value == "auto" or (isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST_THREADS):
        return value
    raise ValueError(f'must be "auto" or a whole number from 1 to {MOST_THREADS}')


Threads = Annotated[str | int, PlainValidator(_auto_or_a_number)]


class Run(Section):
    """How long, and from which seed."""

    seed: Annotated[int, Strict(), Field(ge=0, lt=2**63)] = 1
    """every random number of the run follows from it"""
    until: Until = "drained"
    """"drained": until the last job has finished; or simulated time [ms]"""
    threads: Annotated[Threads, Field(exclude=True)] = 1
    """changes nothing: one thread serves a run; taken because development versions of 0.2 had several"""


class Compare(Section):
    """Defaults of `cluster-abm compare`."""

    policies: tuple[PolicyName, ...] = ("none", "clb", "mlb", "iolb")
    """policies compared"""
    seeds: Count = 8
    """runs of each, from run.seed on"""


class Scenario(Section, displays.Displayed):
    """One run, whole: checked data. `load_scenario` makes one; a notebook shows what differs from the defaults."""

    name: str = "unnamed"
    """what results are called by; default: the file's name"""
    summary: str = ""
    """one line on what it is for; {dotted.key} stands for that key's value"""
    cluster: Cluster = Cluster()
    workload: Workload = Workload(utilisation=0.5)
    data: Data = Data()
    policy: PolicyChoice = PolicyChoice()
    negotiation: Negotiation = Negotiation()
    interconnect: Interconnect = Interconnect()
    failures: Failures = Failures()
    script: Annotated[tuple[Act, ...], Field(max_length=MOST_ACTS)] = ()
    """[[script]]: what is done at given times, each with at_s, act (fail, drain, recover, slow, kill, send, arrivals)
    and what the act needs: node, device, factor, job, task"""
    measure: Measure = Measure()
    run: Run = Run()
    compare: Compare = Compare()

    @property
    def may_fail(self) -> bool:
        """Whether a node or a link may fail, or a node drain."""
        return self.failures.can_happen or any(act.act in ("fail", "drain") for act in self.script)

    @property
    def nodes_may_fail(self) -> bool:
        """Whether a node may fail."""
        return self.failures.nodes_can_fail or any(act.act == "fail" for act in self.script)

    @property
    def jobs_may_name_files(self) -> bool:
        """Whether there are files that jobs may name."""
        return bool(self.data.file) and self.workload.kind == "trace"

    def __repr__(self) -> str:
        return f"<Scenario {self.name!r}: {self.cluster.nodes} nodes, policy {self.policy.label}, seed {self.run.seed}>"

    __str__ = __repr__

    def _parts(self) -> Iterator[str]:
        yield displays.headline(repr(self).strip("<>"), caption_of(self))
        rows = [changed._asdict() for changed in not_default(self)]
        yield displays.paragraph("what differs from the defaults" if rows else "every key has its default")
        yield displays.table(rows, most=200)

    @model_validator(mode="after")
    def _fits_together(self) -> Scenario:
        self.data.check_nodes(self.cluster.nodes)
        weights = self.workload.home.weights
        if self.workload.home.kind == "weights" and len(weights) > self.cluster.nodes:
            raise ValueError(
                f"workload.home.weights: {len(weights)} weights, but cluster.nodes is {self.cluster.nodes}"
            )
        self._check_cores_of_the_trace()
        nodes, dispatchers = self.cluster.nodes, self.workload.dispatchers
        if dispatchers is not None and dispatchers > nodes:
            raise ValueError(f"workload.dispatchers {dispatchers}: must be at most cluster.nodes {nodes}")
        if self.negotiation.head_node >= nodes:
            raise ValueError(f"negotiation.head_node {self.negotiation.head_node}: must be below cluster.nodes {nodes}")
        for node in self.workload.arrivals.user_nodes:
            if node >= nodes:
                raise ValueError(f"workload.arrivals.user_nodes: node {node}: must be below cluster.nodes {nodes}")
        for index, event in enumerate(self.failures.event):
            if event.node is not None and event.node >= nodes:
                raise ValueError(f"failures.event.{index}.node {event.node}: must be below cluster.nodes {nodes}")
        check_script(self.script, nodes, self.workload.arrivals.kind, self.interconnect.mode, self.interconnect.kind)
        for index, program in enumerate(self.workload.background):
            if program.node >= nodes:
                raise ValueError(
                    f"workload.background.{index}.node {program.node}: must be below cluster.nodes {nodes}"
                )
        for index, job in enumerate(self.workload.initial):
            if job.node >= nodes:
                raise ValueError(f"workload.initial.{index}.node {job.node}: must be below cluster.nodes {nodes}")
        self._check_cores_left_by_background()
        self._check_measured_window()
        return self

    def _check_measured_window(self) -> None:
        measure, workload = self.measure, self.workload
        if measure.warmup != "none" and measure.records != "all":
            raise ValueError(
                f'measure.warmup "{measure.warmup}": it is found by the rows of tasks, and measure.records is '
                f'"{measure.records}": allowed are measure.records "all", or measure.from_s in place of it'
            )
        ends = {} if self.run.until == "drained" else {"run.until": float(self.run.until) / 1000.0}
        if workload.kind in ("synthetic", "sessions") and workload.arrivals.kind != "closed":
            ends["workload.duration_s"] = workload.duration_s
        for key, end_s in ends.items():
            if measure.from_s > 0.0 and measure.from_s >= end_s:
                raise ValueError(f"measure.from_s {measure.from_s:g}: must be below {key}, which is {end_s:g} s")

    def _check_cores_left_by_background(self) -> None:
        kinds = [kind for kind, count in self.cluster.kinds for _ in range(count)] if self.workload.background else []
        for node, kind in enumerate(kinds):
            endless = [
                program for program in self.workload.background if program.node == node and program.cpu_share == 1.0
            ]
            endless = [program for program in endless if program.io_per_ms == 0.0]
            if math.isinf(kind.quantum_ms) and len(endless) >= kind.cores:
                raise ValueError(
                    f'cluster.quantum_ms "inf": {len(endless)} programs of workload.background with cpu_share 1 never '
                    f"leave the {kind.cores} cores of node {node}, where no job would ever run: set a quantum, or a "
                    "smaller cpu_share"
                )

    def _check_cores_of_the_trace(self) -> None:
        cores = sorted({kind.cores for kind, count in self.cluster.kinds if count})
        for key, allowed in (("processor", '"task" or "core"'), ("memory_per", '"processor" or "job"')):
            if getattr(self.workload.trace, key) == "node" and len(cores) > 1:
                differ = ", ".join(map(str, cores))
                raise ValueError(f'workload.trace.{key} "node": nodes differ in cores ({differ}): allowed: {allowed}')
