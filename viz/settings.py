"""What the controls say, and the scenario that follows from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from typing import Any

from cluster_abm import InputError, Scenario
from cluster_abm.arguments import shortened
from cluster_abm.policies import available, is_pooled
from cluster_abm.scenario import scenario_from
from cluster_abm.scenario.hardware import preset_names, read_preset
from cluster_abm.scenario.load import tables_of
from cluster_abm.workload.jobs import jobs_per_second
from cluster_abm.workload.users import are_closed
from viz.acts import MOST_ACTS, WITHOUT, acts_of, text_of

# What a page may ask of the machine that it runs on, unless the scenario itself asks for more: other pages live there.
MOST_NODES = 4096
MOST_JOBS = 200_000
MOST_INTENSITY = 1e9
# What the scenario's whole numbers are below.
TOO_LARGE = 2**63


@dataclass(frozen=True)
class Settings:
    """The controls of a page."""

    policy: str  # of the first run
    other: str  # of the second one, beside it, or acts.WITHOUT; "" if there is none
    hardware: str  # the preset of the nodes; "" if they are what the scenario says
    intensity: float  # how many times as much work comes as the scenario says [1]
    io_per_ms: float  # mean of the accesses of a task per ms of its CPU [1/ms]
    page_fault_rate_per_ms: float  # mu [faults per ms of CPU]
    nodes: int  # number of nodes
    bandwidth_mbps: float  # of a link [Mbps]
    exchange_period_ms: float  # time from one load report of a manager to the next [ms]
    slice_ms: float  # time slice [ms]
    seed: int  # of the run
    script: str = ""  # acts, as acts.text_of


def settings_of(scenario: Scenario) -> Settings:
    """The controls as a scenario has them."""
    of_keys = {name: attrgetter(key)(scenario) for name, key in KEYS.items()}
    return Settings(
        policy=scenario.policy.label, other="", hardware="", intensity=1.0, script=text_of(scenario.script), **of_keys
    )  # fmt: skip


def first_settings(scenario: Scenario, policies: Sequence[str]) -> Settings:
    """The controls at first: as the scenario has them, under one policy or two; none: the scenario's own."""
    own = settings_of(scenario)
    policy, *other = policies or [own.policy]
    return replace(own, policy=policy, other=other[0] if other else "")


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


LABELS = {
    "policy": "Policy", "other": "Compare with", "hardware": "Hardware of the nodes",
    "intensity": "Workload intensity", "io_per_ms": "I/O rate", "page_fault_rate_per_ms": "Page-fault rate",
    "nodes": "Nodes", "bandwidth_mbps": "Network", "exchange_period_ms": "Exchange period", "slice_ms": "Time slice",
    "seed": "Seed", "script": "Acts",
}  # fmt: skip
"""What the page calls each control."""


def scenario_with(scenario: Scenario, settings: Settings, policy: str) -> Scenario:
    """The scenario as the controls change it, under a policy.

    Raises InputError: a policy or hardware that the page does not offer, a number that is none or too large for a page,
    or it does not fit together so, e.g. a torus of another number of nodes.
    """
    was = settings_of(scenario)
    _check_offered(settings, was)
    _check_numbers(settings, was)
    # What the controls have not changed stays as it is, with all that the scenario says beside it.
    changed: dict[str, Any] = {
        key: getattr(settings, name) for name, key in KEYS.items() if getattr(settings, name) != getattr(was, name)
    }
    changed |= _more_work(scenario, settings.intensity)
    if settings.script != was.script:
        changed["script"] = _acts(settings.script, was.script)
    changed["policy.name"] = policy
    tables = tables_of(scenario)
    if settings.hardware:
        # What is chosen here is what the nodes are: the scenario's own keys of hardware give way, those of groups stay.
        preset = read_preset(settings.hardware, "cluster.hardware")
        kept = {key: value for key, value in tables["cluster"].items() if key not in preset.keys}
        tables["cluster"] = kept | {"hardware": settings.hardware}
    changed_scenario = scenario_from(tables, scenario.name, changed)
    jobs, most = _jobs(changed_scenario), max(MOST_JOBS, _jobs(scenario))
    if jobs > most * (1 + 1e-9):
        hardware = f", cluster.hardware = {settings.hardware}" if settings.hardware else ""
        raise InputError(
            f"intensity = {settings.intensity:g}, cluster.nodes = {settings.nodes}{hardware}: together {jobs:.3g} "
            f"jobs; the page runs at most {most:,.0f}"
        )
    return changed_scenario


def check_acts(settings: Settings) -> None:
    """Raise InputError if there are acts, and a policy that pools all nodes."""
    for name in (settings.policy, settings.other):
        if settings.script and is_pooled(name):
            raise InputError(f"script: policy {name!r} pools all nodes; nothing can be done to one of them")


def script_of(scenario: Scenario, tables: list[dict[str, Any]]) -> str:
    """A script for a scenario, as acts.text_of. Raises InputError: an act is not right, or there is no such node."""
    return text_of(scenario_from(tables_of(scenario), scenario.name, {"script": tables}).script)


def _acts(script: str, was: str) -> list[dict[str, Any]]:
    try:
        acts = acts_of(script)
    except ValueError as problem:
        raise InputError(f"script = {problem}") from None
    most = max(MOST_ACTS, len(acts_of(was)))
    if len(acts) > most:
        raise InputError(f"script: {len(acts)} acts; the page takes at most {most}")
    return acts


def _jobs(scenario: Scenario) -> float:
    """How many jobs a run is expected to have; 0 of a trace, which has as many as it has."""
    work = scenario.workload
    if work.kind == "trace":
        return 0.0
    if are_closed(scenario):
        nodes = len(work.arrivals.user_nodes) or work.dispatchers or scenario.cluster.nodes
        return float(nodes * work.arrivals.users_per_node * work.arrivals.jobs_per_user)
    return jobs_per_second(scenario) * work.duration_s


def _check_offered(settings: Settings, was: Settings) -> None:
    """A scenario's name of a policy or of hardware may be that of a file, which is not for a browser to choose."""
    policies = {was.policy, *available()}
    offered = {"policy": policies, "other": {"", WITHOUT, *policies}, "hardware": {"", *preset_names("cluster")}}
    problems = [
        f"{LABELS[name]} = {shortened(value)}: the page offers only what its list shows"
        for name, values in offered.items()
        if not isinstance(value := getattr(settings, name), str) or value not in values
    ]
    for name, value in asdict(was).items():
        kinds = {int: (int,), float: (int, float)}.get(type(value), ())
        given = getattr(settings, name)
        if kinds and (isinstance(given, bool) or not isinstance(given, kinds)):
            whole = "whole " if int in kinds and float not in kinds else ""
            problems.append(f"{KEYS.get(name, name)} = {shortened(given)}: a {whole}number is needed")
    if problems:
        raise InputError(problems)


def _check_numbers(settings: Settings, was: Settings) -> None:
    """A browser's field takes what Python reads as a number: "nan" and "inf" too."""
    problems = [
        f"{KEYS.get(name, name)} = {value!r}: a finite number is needed"
        for name, value in asdict(settings).items()
        if isinstance(value, float) and not math.isfinite(value)
    ]
    for name, value in asdict(settings).items():
        if isinstance(value, int) and abs(value) >= TOO_LARGE:
            # Not the number itself: it may have thousands of digits.
            problems.append(f"{KEYS[name]}: the number is too large; allowed is less than 2^63")
    most = max(MOST_NODES, was.nodes)
    if most < settings.nodes < TOO_LARGE:
        problems.append(f"cluster.nodes = {settings.nodes}: the page runs at most {most:,} nodes; --set takes more")
    if not 0 < settings.intensity <= MOST_INTENSITY:
        problems.append(
            f"intensity = {settings.intensity!r}: must be above 0 and at most {MOST_INTENSITY:g}; "
            "1 is the scenario's own"
        )
    if problems:
        raise InputError(problems)


def _more_work(scenario: Scenario, intensity: float) -> dict[str, Any]:
    """The work times `intensity`: by the key that sets the rate; of a trace by the CPU time of its jobs."""
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
