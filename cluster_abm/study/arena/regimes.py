"""Regimes: the space over which policies compete, and the points of it that are run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy

from cluster_abm.errors import InputError
from cluster_abm.scenario import Scenario, load_scenario
from cluster_abm.workload import bound_ms

BASE = "arena"
# The mean time of a task alone on a node of speed 1, CPU and disk together [ms].
ALONE_MS = 1000.0
# Parameters of policies that were set for jobs of minutes (MCLS, LMIP, Trimaran): a hundredth of their times, as a task
# takes 1 s here, and at least a tenth of that second. MCLS's most jobs on a machine are for each core.
TIMES_MS = {"period": 100.0, "delay": 100.0, "settling": 100.0, "pause": 600.0, "sample": 100.0, "window": 9000.0}
JOBS_A_CORE = 8


class Factor(NamedTuple):
    """What one axis of the space is."""

    name: str  # a column of the arena's tables
    # low, high: between these
    low: float
    high: float
    is_log: bool  # whether values are spread evenly in their logarithm
    is_whole: bool  # whether it counts something
    words: str  # on an axis
    # more, less: what a regime above, or below, a value is, with {} for the value
    more: str
    less: str
    names: tuple[str, ...] = ()  # of its values 0, 1, ..., where they are choices and no amounts

    def shown(self, value: float) -> float | str:
        """A value as tables have it."""
        return self.names[int(value)] if self.names else value

    def at(self, share: float) -> float:
        """The value at a share of the way from low to high, to three digits."""
        if self.is_log:
            value = float(np.exp(np.log(self.low) + share * np.log(self.high / self.low)))
        else:
            value = self.low + share * (self.high - self.low)
        return float(round(value)) if self.is_whole else float(f"{value:.3g}")


FACTORS = (
    Factor("load", 0.3, 0.95, False, False, "load of the busier resource", "load above {}", "load below {}"),
    Factor("cv", 0.3, 6.0, True, False, "cv of demands",
           "demands of a coefficient of variation above {}", "demands of a coefficient of variation below {}"),
    Factor("io_share", 0.0, 0.9, False, False, "share of I/O in a task's time",
           "I/O above {} of a task's time", "I/O below {} of a task's time"),
    Factor("memory", 0.02, 0.5, True, False, "offered memory load",
           "offered memory above {} of a node's", "offered memory below {} of a node's"),
    Factor("age", 0.1, 30.0, True, False, "report period [mean demands]",
           "reports that are up to {} mean demands old, or older", "reports younger than {} mean demands"),
    Factor("nodes", 4.0, 48.0, True, True, "nodes", "more than {} nodes", "fewer than {} nodes"),
    Factor("cores", 1.0, 8.0, True, True, "cores a node", "more than {} cores a node", "fewer than {} cores a node"),
    Factor("parallel", 0.0, 1.0, False, False, "share of parallel jobs",
           "a share of parallel jobs above {}", "a share of parallel jobs below {}"),
    Factor("unlike", 1.0, 4.0, True, False, "fast over slow nodes' speed",
           "fast nodes more than {} times as fast as slow ones", "fast nodes less than {} times as fast as slow ones"),
    Factor("announced_error", 1.0, 4.0, True, False, "error of announced sizes [factor]",
           "announced sizes wrong by a factor above {}", "announced sizes wrong by a factor below {}"),
    Factor("task_cpu", 0.0, 1.0, False, True, "CPU demands within a job",
           "tasks of a job that differ", "tasks of a job that are alike", ("job", "each")),
)  # fmt: skip
BY_NAME = {factor.name: factor for factor in FACTORS}
# Factors of the first kind say what the cluster and its work are; those of the second what is told of sizes.
SIZES = ("announced_error", "task_cpu")
# Sizes as they are without these two: announced exactly, and one for all tasks of a job.
PLAIN_SIZES = {"announced_error": 1.0, "task_cpu": 0.0}


def sample(count: int, seed: int) -> list[dict[str, float]]:
    """Return points of a Latin hypercube over the factors, each as values by factor name.

    The factors of sizes have a hypercube of their own, dealt to the points of the other one: together they are one. So
    points of the other factors are what they were before there were sizes, and recorded runs of them stay valid.

    Args:
        count: how many.
        seed: of the sample.
    """
    kinds = [[one for one in FACTORS if (one.name in SIZES) is of_sizes] for of_sizes in (False, True)]
    seeds: list[int | list[int]] = [seed, [seed, 1]]
    units = [
        scipy.stats.qmc.LatinHypercube(len(kind), rng=np.random.default_rng(own)).random(count)
        for kind, own in zip(kinds, seeds, strict=True)
    ]
    return [
        {factor.name: factor.at(share) for factor, share in zip([*kinds[0], *kinds[1]], row, strict=True)}
        for row in np.hstack(units)
    ]


def halves(regimes: Sequence[int]) -> tuple[list[int], list[int]]:
    """The regimes in which rules are found, and those on which they are reported: numbers even, and odd.

    A hypercube's points come in random order, so that neither half is of another kind than the other.
    """
    return [number for number in regimes if number % 2 == 0], [number for number in regimes if number % 2 == 1]


def settings_of(regime: Mapping[str, float], tasks_per_core: int, least_tasks: int) -> dict[str, Any]:
    """Return the keys that a regime lays over the scenario `arena`.

    A task alone takes ALONE_MS in the mean. Disks have as many channels as nodes have cores; the busier of CPUs and
    disks has the regime's load.

    Args:
        regime: values by factor name.
        tasks_per_core: how many tasks are submitted per core, about,
        least_tasks: the fewest tasks of a run.
    """
    nodes, cores = int(regime["nodes"]), int(regime["cores"])
    io, ratio = regime["io_share"], regime["unlike"]
    # Tasks a second of a node, such that the busier resource has the load.
    per_node_s = regime["load"] * cores / max(1.0 - io, io) * 1000.0 / ALONE_MS
    cpu_ms = (1.0 - io) * ALONE_MS
    base = load_scenario(BASE)
    service_ms = base.cluster.disk_seek_rotation_ms + base.workload.request_kb.mean / base.cluster.disk_mb_per_s
    tasks = max(least_tasks, tasks_per_core * nodes * cores)
    fast = nodes // 2
    # Speeds such that all nodes together are as fast as if each had speed 1.
    slow = nodes / (nodes - fast + ratio * fast)
    keys: dict[str, Any] = {
        "cluster.nodes": nodes,
        "cluster.cores": cores,
        "cluster.disk_channels": cores,
        "cluster.exchange_period_ms": regime["age"] * ALONE_MS,
        "workload.utilisation": per_node_s * cpu_ms / 1000.0 / cores,
        "workload.duration_s": tasks / (per_node_s * nodes),
        "workload.cpu_ms": {"kind": "lognormal", "mean": cpu_ms, "sd": regime["cv"] * cpu_ms},
        "workload.io_per_ms": {"kind": "uniform", "mean": io / (1.0 - io) / service_ms},
        "workload.memory_mb": {
            "kind": "uniform",
            "mean": regime["memory"] * base.cluster.memory_mb / (per_node_s * ALONE_MS / 1000.0),
        },
        "workload.tasks.parallel_share": regime["parallel"],
        "workload.announced_error": regime["announced_error"],
        "workload.task_cpu": BY_NAME["task_cpu"].shown(regime["task_cpu"]),
        "policy.cpu_threshold": JOBS_A_CORE * cores,
        # Regimes are compared: one bound for all.
        "measure.bound_ms": bound_ms(base),
        **{f"policy.{name}_ms": ms for name, ms in TIMES_MS.items()},
    }
    if ratio > 1.0:
        keys["cluster.cpu_speed"] = slow
        keys["cluster.group"] = [{"count": fast, "cpu_speed": slow * ratio}]
    return keys


def scenario_of(
    regime: Mapping[str, float], tasks_per_core: int, least_tasks: int, more: Mapping[str, object] | None = None
) -> Scenario:
    """The scenario of a regime.

    Args:
        regime, tasks_per_core, least_tasks: as of settings_of.
        more: keys that are laid over all regimes.

    Raises InputError: a key that does not exist, that regimes set themselves, or with a value that is not allowed.
    """
    settings = settings_of(regime, tasks_per_core, least_tasks)
    own = [key for key in more or {} for one in settings if key == one or key.startswith(f"{one}.")]
    if own:
        raise InputError([f"--set {key}: the arena's regimes set this key themselves" for key in dict.fromkeys(own)])
    return load_scenario(BASE, {**settings, **(more or {})})


def headline_of(more: Mapping[str, object]) -> str:
    """The measure by which policies are compared in all regimes. Raises InputError: as `scenario_of`."""
    given = {key: value for key, value in more.items() if key.startswith("measure.")}
    return load_scenario(BASE, given).measure.headline


def in_words(regime: Mapping[str, float], names: Sequence[str] = ()) -> str:
    """A regime, or some of its factors, in words."""
    chosen = names or tuple(BY_NAME)
    shown = {name: BY_NAME[name].shown(regime[name]) for name in chosen}
    return ", ".join(
        f"{name} {value}" if isinstance(value, str) else f"{name} {value:g}" for name, value in shown.items()
    )
