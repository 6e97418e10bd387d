"""What the controls say, and the scenario that follows from it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from cluster_abm import InputError, Scenario
from cluster_abm.scenario import scenario_from


@dataclass(frozen=True)
class Settings:
    """The controls of a page.

    Attributes:
        policy: of the first run.
        other: of the second one, beside it; "" if there is none.
        intensity: how many times as much work comes as the scenario says [1].
        io_per_ms: mean of the accesses of a task per ms of its CPU [1/ms].
        page_fault_rate_per_ms: mu [faults per ms of CPU].
        nodes: number of nodes.
        bandwidth_mbps: of a link [Mbps].
        exchange_period_ms: load managers report every so often [ms].
        slice_ms: time slice [ms].
        seed: of the run.
    """

    policy: str
    other: str
    intensity: float
    io_per_ms: float
    page_fault_rate_per_ms: float
    nodes: int
    bandwidth_mbps: float
    exchange_period_ms: float
    slice_ms: float
    seed: int


def settings_of(scenario: Scenario) -> Settings:
    """The controls as a scenario has them."""
    return Settings(
        policy=scenario.policy.name,
        other="",
        intensity=1.0,
        io_per_ms=scenario.workload.io_per_ms.mean,
        page_fault_rate_per_ms=scenario.cluster.page_fault_rate_per_ms,
        nodes=scenario.cluster.nodes,
        bandwidth_mbps=scenario.interconnect.bandwidth_mbps,
        exchange_period_ms=scenario.cluster.exchange_period_ms,
        slice_ms=scenario.cluster.slice_ms,
        seed=scenario.run.seed,
    )


KEYS = {
    "io_per_ms": "workload.io_per_ms.mean",
    "page_fault_rate_per_ms": "cluster.page_fault_rate_per_ms",
    "nodes": "cluster.nodes",
    "bandwidth_mbps": "interconnect.bandwidth_mbps",
    "exchange_period_ms": "cluster.exchange_period_ms",
    "slice_ms": "cluster.slice_ms",
    "seed": "run.seed",
}
"""The scenario's key of each control that stands for one."""


def scenario_with(scenario: Scenario, settings: Settings, policy: str) -> Scenario:
    """The scenario as the controls change it, under a policy.

    Raises:
        InputError: a number that is none, or it does not fit together so, e.g. a torus of another number of nodes.
    """
    _check_numbers(settings)
    was = settings_of(scenario)
    # What nobody has touched stays as it is, with all that the scenario says beside it.
    changed: dict[str, Any] = {
        key: getattr(settings, name) for name, key in KEYS.items() if getattr(settings, name) != getattr(was, name)
    }
    changed |= _more_work(scenario, settings.intensity)
    changed["policy.name"] = policy
    return scenario_from(scenario.model_dump(exclude_none=True), scenario.name, changed)


def _check_numbers(settings: Settings) -> None:
    """A browser's field takes what Python reads as a number: "nan" and "inf" too."""
    problems = [
        f"{KEYS.get(name, name)} = {value!r}: a finite number is needed"
        for name, value in asdict(settings).items()
        if isinstance(value, float) and not math.isfinite(value)
    ]
    if settings.intensity <= 0:
        problems.append(f"intensity = {settings.intensity!r}: must be above 0; 1 is the scenario's own")
    if problems:
        raise InputError(problems)


def _more_work(scenario: Scenario, intensity: float) -> dict[str, Any]:
    """So many times the work: by the key that sets the rate; of a trace by the CPU time of its jobs."""
    if intensity == 1.0:
        return {}
    work = scenario.workload
    if work.kind == "trace":
        return {"workload.trace.cpu_scale": work.trace.cpu_scale * intensity}
    if work.jobs is not None:
        return {"workload.jobs": max(1, round(work.jobs * intensity))}
    if work.jobs_per_s is not None:
        return {"workload.jobs_per_s": work.jobs_per_s * intensity}
    if work.utilisation is not None:
        return {"workload.utilisation": work.utilisation * intensity}
    # Closed users have no rate: their jobs get longer.
    return {"workload.cpu_ms.mean": work.cpu_ms.mean * intensity}


def first_settings(scenario: Scenario, policy_asked: bool) -> Settings:
    """The controls that a page begins with: where nobody asked for a policy and the scenario has none, the last one of
    those it is meant to be compared under. Under `none` there would be nothing to see but queues."""
    settings = settings_of(scenario)
    if policy_asked or settings.policy != "none" or not scenario.compare.policies:
        return settings
    return replace(settings, policy=scenario.compare.policies[-1])
