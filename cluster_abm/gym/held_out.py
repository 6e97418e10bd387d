"""Scenarios to learn from, and scenarios to be judged on, by name.

Those of HELD_OUT never change: settings and seeds are part of the name. What is to be different gets a new name
(`io-bound-v2`), so that figures of different papers stay comparable. No learner is to see their seeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from cluster_abm.errors import InputError
from cluster_abm.scenario import Scenario, nearest, scenario_from

FIRST_SEED, SEEDS = 900_001, 12


class BenchmarkScenario(NamedTuple):
    """A scenario with all that its name stands for.

    Attributes:
        words: what it is about.
        settings: sections and keys of the scenario; other keys have their defaults.
        seeds: the run's seeds; of a scenario to learn from none in particular: any below FIRST_SEED.
    """

    words: str
    settings: Mapping[str, Any]
    seeds: range

    def scenario(self, name: str) -> Scenario:
        """The checked scenario, whose seed is the first one."""
        # What is published of them is the mean slowdown, which exists here: see the demands below.
        more: dict[str, Any] = {"measure.headline": "mean_slowdown"}
        if self.seeds:
            more["run.seed"] = self.seeds[0]
        return scenario_from({"name": name, "summary": self.words, **self.settings}, name, more)


def _settings(cluster: Mapping[str, Any], workload: Mapping[str, Any], duration_s: float) -> dict[str, Any]:
    """Settings with what all of them have in common spelt out, so that no default decides on it."""
    return {
        "cluster": {"nodes": 32, "memory_mb": 640.0, "buffer_mb": 160.0, "exchange_period_ms": 1000.0, **cluster},
        "workload": {"duration_s": duration_s, **workload},
        "negotiation": {"mode": "negotiated", "remote_execution_ms": 20.0, "refusals": True},
        "run": {"until": "drained"},
    }


# No demands near 0: with a fixed cost of a remote start the mean slowdown would be infinite (of exponential ones the
# mean of 1/x is), and every figure noise.
_IO = {
    "cpu_ms": {"kind": "gamma", "mean": 400.0, "sd": 200.0},
    "memory_mb": {"kind": "pareto", "mean": 4.0, "shape": 1.5},
    "request_kb": {"kind": "gamma", "mean": 256.0, "sd": 128.0, "per": "job"},
}
_CPU = {"cpu_ms": {"kind": "gamma", "mean": 1000.0, "sd": 500.0}, "memory_mb": {"kind": "fixed", "mean": 1.0}}
_HEAVY = {"kind": "lifetime", "minimum": 100.0, "maximum": 100_000.0}
_PAGING = {"memory_mb": 400.0, "buffer_mb": 0.0, "page_fault_rate_per_ms": 1.0, "page_fault_law": "overflow"}
_MEMORY = {
    "cpu_ms": {"kind": "lifetime", "minimum": 500.0, "maximum": 20_000.0},
    "memory_mb": {"kind": "lognormal", "mean": 160.0, "sd": 120.0},
    "io_per_ms": {"kind": "fixed", "mean": 0.005},
    "home": {"kind": "skewed", "skew": 0.7},
}


def _unlike(speeds: tuple[float, ...]) -> dict[str, Any]:
    return {"group": [{"count": 8, "cpu_speed": speed} for speed in speeds]}


_JUDGING = range(FIRST_SEED, FIRST_SEED + SEEDS)

HELD_OUT: Mapping[str, BenchmarkScenario] = {
    "cpu-bound-v1": BenchmarkScenario(
        "CPU-bound, utilisation 0.8", _settings({}, {**_CPU, "utilisation": 0.8}, 150.0), _JUDGING
    ),
    "heavy-tails-v1": BenchmarkScenario(
        "CPU-bound, demands by the 1/t law of lifetimes, utilisation 0.7",
        _settings({}, {**_CPU, "cpu_ms": _HEAVY, "utilisation": 0.7}, 150.0),
        _JUDGING,
    ),
    "stale-news-v1": BenchmarkScenario(
        "CPU-bound, utilisation 0.8, reports every 5 s",
        _settings({"exchange_period_ms": 5000.0}, {**_CPU, "utilisation": 0.8}, 150.0),
        _JUDGING,
    ),
    "io-bound-v1": BenchmarkScenario(
        "sequential I/O-bound jobs",
        _settings({}, {**_IO, "io_per_ms": {"kind": "uniform", "mean": 0.5}, "jobs_per_s": 6.0}, 150.0),
        _JUDGING,
    ),
    "parallel-io-v1": BenchmarkScenario(
        "parallel I/O-bound jobs of 2 to 32 tasks",
        _settings(
            {},
            {**_IO, "io_per_ms": {"kind": "uniform", "mean": 0.5}, "jobs_per_s": 0.35,
             "tasks": {"parallel_share": 1.0, "minimum": 2, "maximum": 32}},
            300.0,
        ),
        _JUDGING,
    ),
    "unlike-nodes-v1": BenchmarkScenario(
        "CPU-bound, utilisation 0.7, CPUs of speed 0.5, 1, 1.5 and 2",
        _settings(_unlike((0.5, 1.0, 1.5, 2.0)), {**_CPU, "utilisation": 0.7}, 150.0),
        _JUDGING,
    ),
    "memory-bound-v1": BenchmarkScenario(
        "jobs that overflow the memory of their home nodes",
        _settings(_PAGING, {**_MEMORY, "utilisation": 0.15}, 300.0),
        _JUDGING,
    ),
}  # fmt: skip

# Of the same kinds, with other numbers, and shorter.
TRAINING: Mapping[str, BenchmarkScenario] = {
    "cpu-bound": BenchmarkScenario(
        "CPU-bound, utilisation 0.7", _settings({}, {**_CPU, "utilisation": 0.7}, 60.0), range(0)
    ),
    "heavy-tails": BenchmarkScenario(
        "heavy-tailed, utilisation 0.8",
        _settings({}, {**_CPU, "cpu_ms": {**_HEAVY, "maximum": 50_000.0}, "utilisation": 0.8}, 30.0),
        range(0),
    ),
    "stale-news": BenchmarkScenario(
        "reports every 3 s",
        _settings({"exchange_period_ms": 3000.0}, {**_CPU, "utilisation": 0.75}, 60.0),
        range(0),
    ),
    "io-bound": BenchmarkScenario(
        "sequential I/O-bound jobs",
        _settings({}, {**_IO, "io_per_ms": {"kind": "uniform", "mean": 0.4}, "jobs_per_s": 7.0}, 60.0),
        range(0),
    ),
    "parallel-io": BenchmarkScenario(
        "parallel I/O-bound jobs of 2 to 16 tasks",
        _settings(
            {},
            {**_IO, "io_per_ms": {"kind": "uniform", "mean": 0.5}, "jobs_per_s": 0.6,
             "tasks": {"parallel_share": 1.0, "minimum": 2, "maximum": 16}},
            100.0,
        ),
        range(0),
    ),
    "unlike-nodes": BenchmarkScenario(
        "CPUs of speed 0.75 to 2.5",
        _settings(_unlike((0.75, 1.0, 2.0, 2.5)), {**_CPU, "utilisation": 0.7}, 60.0),
        range(0),
    ),
    "memory-bound": BenchmarkScenario(
        "overflowing memory", _settings(_PAGING, {**_MEMORY, "utilisation": 0.18}, 100.0), range(0)
    ),
}  # fmt: skip


def held_out(name: str) -> Scenario:
    """A scenario of HELD_OUT by its name. Raises InputError."""
    if name not in HELD_OUT:
        raise InputError(f"held-out scenario {name!r}: there is none; {nearest(name, list(HELD_OUT))}")
    return HELD_OUT[name].scenario(name)


def training(name: str) -> Scenario:
    """A scenario of TRAINING by its name. Raises InputError."""
    if name not in TRAINING:
        raise InputError(f"training scenario {name!r}: there is none; {nearest(name, list(TRAINING))}")
    return TRAINING[name].scenario(name)
