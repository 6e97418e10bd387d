"""Distributions a scenario may name: data only, drawn by `workload`. The key they stand under gives the unit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, Strict, model_validator

from cluster_abm.bounded_files import MOST_MB, PROFILES_MB
from cluster_abm.scenario.base import Section
from cluster_abm.scenario.dependence import pair_of
from cluster_abm.scenario.quantiles import check_quantiles, evenly

# Strict: `true` is no number, and "7" neither. The bounds keep nanoseconds and kilobytes inside 64 bits.
LARGEST = 1e12
Real = Annotated[float, Strict(), Field(ge=-LARGEST, le=LARGEST, allow_inf_nan=False)]
Positive = Annotated[float, Strict(), Field(gt=0, le=LARGEST, allow_inf_nan=False)]
NonNegative = Annotated[float, Strict(), Field(ge=0, le=LARGEST, allow_inf_nan=False)]
Share = Annotated[float, Strict(), Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Strict(), Field(ge=1)]
# Of one distribution, or widths of one workload.
MOST_QUANTILES = 1000
# Of one job: the engine counts them in 32 bits.
MOST_TASKS = 2**31 - 1
# Of a file of the user, unpacked.
MaxMb = Annotated[Count, Field(le=MOST_MB)]

# Lengths of time that something recurs after or takes [ms]: 1 ns to 11 days.
LONGEST_PERIOD_MS = 1e9
Period = Annotated[Positive, Field(ge=1e-6, le=LONGEST_PERIOD_MS)]
Delay = Annotated[NonNegative, Field(le=LONGEST_PERIOD_MS)]


def _endless(given: Any) -> Any:
    return math.inf if given == "inf" else given


def _is_quantum(ms: float) -> float:
    if not (1e-6 <= ms <= LONGEST_PERIOD_MS or ms == math.inf):
        raise ValueError(f'allowed are 1e-06 to {LONGEST_PERIOD_MS:g}, and "inf"')
    return ms


# A quantum that does not end, too.
Quantum = Annotated[float, Strict(), BeforeValidator(_endless), AfterValidator(_is_quantum)]
# Speeds of CPUs, disks and links, in the unit of the key.
LEAST_SPEED, LARGEST_SPEED = 1e-3, 1e9
Speed = Annotated[Positive, Field(ge=LEAST_SPEED, le=LARGEST_SPEED)]


Law = Literal["fixed", "exponential", "uniform", "gamma", "lognormal", "pareto", "lifetime", "hbd97", "quantiles"]


class Distribution(Section):
    """A distribution on the non-negative numbers.

    kind:
      fixed        always `mean`
      exponential  of that mean
      uniform      on 0..2 mean
      gamma        of that mean and `sd`
      lognormal    of that mean and `sd`
      pareto       of that mean and tail index `shape` (> 1)
      lifetime     P(L > x) = (minimum/x)^shape, given that L is below `maximum`: with shape 1 the 1/t law of process
                   lifetimes (Harchol-Balter and Downey 1997)
      hbd97        fitted to the CPU times of Harchol-Balter and Downey's eight traces, scaled to `mean`: at 370 ms
                   its median is 31 ms (theirs 20), jobs over 1 s carry 82 % of the CPU time (theirs 76 %)
      quantiles    `values` are its quantiles at `probabilities`, times `scale`; between two of them the quantile
                   function is log-linear (linear from 0 on). A value at two probabilities is an atom, two values at one
                   probability are a gap. As `cluster-abm trace fit` writes it
    """

    kind: Law = "fixed"
    """the distribution: uniform is on 0..2 mean, lifetime is the 1/t law (Harchol-Balter and Downey 1997)"""
    mean: NonNegative = 0.0
    """mean, in the unit of the key"""
    sd: NonNegative = 0.0
    """standard deviation of gamma and lognormal, in the unit of the key"""
    shape: Positive = 1.5
    """tail index of pareto and lifetime"""
    minimum: Positive = 1000.0
    """least value of lifetime"""
    maximum: Positive = 1_600_000.0
    """largest value of lifetime"""
    values: Annotated[tuple[NonNegative, ...], Field(max_length=MOST_QUANTILES)] = ()
    """quantiles, ascending, from the least value to the largest, in the unit of the key"""
    probabilities: Annotated[tuple[Share, ...], Field(max_length=MOST_QUANTILES)] = ()
    """up to which share of the draws lie below each of the quantiles, from 0 to 1; empty: evenly spaced"""
    scale: Positive = 1.0
    """quantiles are multiplied by this"""

    USES: ClassVar[dict[str, tuple[str, ...]]] = {
        "fixed": ("mean",),
        "exponential": ("mean",),
        "uniform": ("mean",),
        "gamma": ("mean", "sd"),
        "lognormal": ("mean", "sd"),
        "pareto": ("mean", "shape"),
        "lifetime": ("shape", "minimum", "maximum"),
        "hbd97": ("mean",),
        "quantiles": ("values", "probabilities", "scale"),
    }

    PARAMETERS: ClassVar[tuple[str, ...]] = tuple(dict.fromkeys(key for keys in USES.values() for key in keys))

    @model_validator(mode="after")
    def _consistent(self) -> Distribution:
        for name in self.PARAMETERS:
            uses = self.USES[self.kind]
            if name not in uses and getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} {getattr(self, name)}: kind {self.kind!r} takes {', '.join(uses)} only")
        if self.kind == "pareto" and self.shape <= 1:
            raise ValueError(f"shape {self.shape} of a pareto distribution: must be above 1 to have a mean")
        if self.kind in ("gamma", "lognormal") and self.mean > 0 and self.sd <= 0:
            raise ValueError(f'sd {self.sd} of a {self.kind} distribution: must be above 0 (or use kind = "fixed")')
        if self.kind in ("gamma", "lognormal") and not 1e-3 * self.mean <= self.sd <= 1e3 * self.mean:
            raise ValueError(
                f"sd {self.sd} of a {self.kind} distribution of mean {self.mean}: must be 0.001..1000 means"
            )
        if self.kind == "lifetime" and self.maximum <= self.minimum:
            raise ValueError(f"maximum {self.maximum} of a lifetime distribution: must be above minimum {self.minimum}")
        if self.kind == "quantiles":
            check_quantiles(self.values, self.shares)
        return self

    @property
    def shares(self) -> tuple[float, ...]:
        """The probabilities of quantiles, as many as values."""
        return self.probabilities or evenly(len(self.values))


class RequestSize(Distribution):
    """Size of an access [KB]: drawn `per` request (fixed, exponential or gamma), or once per job (any kind)."""

    kind: Law = "gamma"
    """the distribution; drawn for each access only if fixed, exponential or gamma"""
    mean: Positive = 100.0
    sd: NonNegative = 50.0
    per: Literal["request", "job"] = "request"
    """drawn for each access, or once for all accesses of a job"""

    @model_validator(mode="after")
    def _drawable(self) -> RequestSize:
        if self.per == "request" and self.kind not in ("fixed", "exponential", "gamma"):
            raise ValueError(
                f'kind {self.kind!r} per request: allowed are fixed, exponential, gamma; others with per = "job"'
            )
        return self


class Background(Section):
    """A background program: it lives on its node from the beginning to the end of the run and belongs to no job."""

    node: Annotated[int, Strict(), Field(ge=0)]
    """where it lives; 0 is the first node"""
    cpu_share: Annotated[Positive, Field(le=1)]
    """share of each period that it computes, if its node lets it, before it sleeps to the next one; 1: always ready"""
    period_ms: Annotated[Positive, Field(ge=1e-3, le=1e9)] = 1000.0
    """its period [ms]"""
    memory_mb: NonNegative = 0.0
    """memory demand [MB]"""
    io_per_ms: Annotated[NonNegative, Field(le=1e6)] = 0.0
    """I/O accesses per ms of its CPU at speed 1 [1/ms]"""
    request_kb: Positive = 100.0
    """size of an access [KB]"""


class TaskCount(Section):
    """How many tasks a job has: 1, or with probability `parallel_share` uniform in minimum..maximum; or by `widths`."""

    parallel_share: Share = 0.0
    """share of parallel jobs"""
    minimum: Annotated[Count, Field(le=MOST_TASKS)] = 2
    """least tasks of a parallel job"""
    maximum: Annotated[Count, Field(le=MOST_TASKS)] = 32
    """most tasks of a parallel job"""
    widths: Annotated[dict[str, NonNegative], Field(max_length=MOST_QUANTILES)] = Field(default_factory=dict)
    """weight of each number of tasks among the jobs, as { 1 = 70, 4 = 30 }, in place of parallel_share, minimum and
    maximum; empty: by these"""
    barrier_ms: Annotated[NonNegative, Field(le=1e9)] = 0.0
    """CPU of a task from one barrier of its parallel job to the next [ms]; 0: there are none"""
    communication_ms: Annotated[NonNegative, Field(le=1e9)] = 0.0
    """communication at each barrier [ms]"""

    @property
    def mean(self) -> float:
        """Mean number of tasks of a job [1]."""
        if self.widths:
            weights = self.weights_of_widths
            return math.fsum(width * weight for width, weight in weights) / math.fsum(weight for _, weight in weights)
        return 1.0 + self.parallel_share * ((self.minimum + self.maximum) / 2.0 - 1.0)

    @property
    def weights_of_widths(self) -> list[tuple[int, float]]:
        """Numbers of tasks, ascending, with the weight of each."""
        return sorted((int(width), weight) for width, weight in self.widths.items())

    @property
    def has_parallel_jobs(self) -> bool:
        """Whether a job can have several tasks."""
        if self.widths:
            return any(width > 1 and weight > 0 for width, weight in self.weights_of_widths)
        return self.parallel_share > 0

    @model_validator(mode="after")
    def _weighted(self) -> TaskCount:
        for width in self.widths:
            if not (width.isascii() and width.isdecimal() and width[0] != "0" and int(width[:11]) <= MOST_TASKS):
                raise ValueError(f"widths {width[:40]!r}: allowed are whole numbers of tasks from 1 to {MOST_TASKS}")
        if self.widths and not sum(self.widths.values()) > 0:
            raise ValueError(f"widths {self.widths}: must hold at least one weight above 0")
        return self

    @model_validator(mode="after")
    def _ordered(self) -> TaskCount:
        if self.maximum < self.minimum:
            raise ValueError(f"maximum {self.maximum}: must not be below minimum {self.minimum}")
        return self


class Application(Section):
    """Jobs are runs of one of IOCM's five applications: their processes, requests and sizes are facts as far as facts
    exist (scenarios/applications.csv says of each number where it is from), and replace `tasks`, `cpu_ms`,
    `io_per_ms`, `request_kb`, `no_io_share`, `initial_data_mb` and `write_share`. Read-only data is duplicated: no
    data has to follow a process that moves.
    """

    name: Literal["none", "dmine", "pgrep", "lu", "titan", "cholesky"] = "none"
    """none; data mining, text search, LU decomposition, remote-sensing database, sparse Cholesky decomposition"""
    cpu_share: Annotated[Positive, Field(lt=1)] | None = None
    """CPU over CPU + I/O time of an isolated run; not published. Not set: the table's assumption"""
    scale: Positive = 0.01
    """a job does this part of a whole run, which takes minutes"""


class Programs(Section):
    """Jobs are runs of programs with an activity profile: what they compute, ask of the memory and access from interval
    to interval. A profile replaces `cpu_ms`, `memory_mb`, `io_per_ms` and `no_io_share`. No job announces its memory.
    """

    mix: dict[str, NonNegative] = Field(default_factory=dict)
    """share of each program among the jobs; empty: no profiles. Of a trace that names its jobs, those names count"""
    file: str | None = None
    """CSV of profiles: program, cpu_ms, memory_mb, accesses[, turnover_mb_per_s, pause_ms], an interval a row; or the
    name of a shipped one (mcls, paging-curves, lmip); not set: mcls, that paper's seven programs"""
    max_mb: MaxMb = PROFILES_MB
    """how much the file may hold, unpacked; more is refused [MB of 2^20 bytes]"""

    @model_validator(mode="after")
    def _some(self) -> Programs:
        if self.mix and not sum(self.mix.values()) > 0:
            raise ValueError(f"mix {self.mix}: must hold at least one share above 0")
        return self


class Home(Section):
    """Where jobs are submitted: each node alike, node k with weight 1/(k+1)^`skew`, or by given `weights`."""

    kind: Literal["uniform", "skewed", "weights"] = "uniform"
    """each node alike, node k with weight 1/(k+1)^skew, or by given weights"""
    skew: Positive = 1.0
    """exponent of kind skewed"""
    weights: tuple[NonNegative, ...] = ()
    """one number per node of kind weights; nodes without one get none"""

    @model_validator(mode="after")
    def _usable(self) -> Home:
        if self.kind == "weights" and not sum(self.weights) > 0:
            raise ValueError(f"weights {list(self.weights)}: must hold at least one number above 0")
        return self


class Repeats(Section):
    """Jobs that are as one before: what logs show of users that submit the same again (locality of sampling)."""

    share: Annotated[NonNegative, Field(lt=1)] = 0.0
    """share of the jobs that are as one of those before them in all that is drawn, their home too"""
    back: Annotated[Count, Field(le=10_000)] = 1
    """how many of the last jobs can be repeated: the k-th last with weight 1/k"""


# Whether all tasks of a job have its CPU demand, or each draws its own; and the factor by which announced demands err.
TaskCpu = Literal["job", "each"]
AnnouncedError = Annotated[Positive, Field(ge=1, le=1000)]


def check_task_cpu(
    task_cpu: TaskCpu,
    kind: str,
    programs: Mapping[str, float],
    application: str,
    dependence: Mapping[str, float],
    repeated: float,
) -> None:
    """Check that each task can draw a CPU demand of its own, if it is to.

    Args:
        task_cpu: whether it is to.
        kind: `workload.kind`.
        programs: `workload.programs.mix`.
        application: `workload.application.name`.
        dependence: `workload.dependence`.
        repeated: `workload.repeats.share`.

    Raises ValueError: another key sets the CPU demand of the whole job.
    """
    if task_cpu == "job":
        return
    of_cpu = [key for key in dependence if "cpu_ms" in pair_of(key)]
    reasons = (
        (kind == "trace", 'workload.kind is "trace", and a trace has one CPU demand for all tasks of a job'),
        (bool(programs), "workload.programs.mix is set, and a program's profile is that of all its tasks"),
        (application != "none", f'workload.application.name is "{application}", of which all processes are alike'),
        (bool(of_cpu), f"workload.dependence names cpu_ms ({'; '.join(of_cpu)}), the one CPU demand of a job"),
        (repeated > 0.0, f"workload.repeats.share is {repeated:g}, and a repeated job has one CPU demand"),
    )
    for is_so, reason in reasons:
        if is_so:
            raise ValueError(f'task_cpu "each": {reason}; allowed with it is "job"')
