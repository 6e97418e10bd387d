"""From a scenario to the tables and objects a run starts with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cluster_abm.arguments import shortened
from cluster_abm.clock import LONGEST_WAIT_MS
from cluster_abm.clock import whole_ns as nanoseconds
from cluster_abm.engine.tables import NEVER, NS_PER_MS, Table, empty_nodes
from cluster_abm.errors import InputError
from cluster_abm.formulas import service_ms
from cluster_abm.policies import AnyPolicy, Hardware, Policy, choice_of
from cluster_abm.scenario import Scenario, scenario_of
from cluster_abm.scenario.cluster import Cluster
from cluster_abm.scenario.filling.handing_over import with_graph
from cluster_abm.scenario.filling.overriding import laid_over
from cluster_abm.scenario.mixture import check_one_policy
from cluster_abm.workload import RunJobs, background_table


def resolve(
    scenario: Scenario | str | Path,
    keywords: Mapping[str, Any],
    policy: AnyPolicy | None = None,
    overrides: Mapping[str, object] | None = None,
    arguments: Iterable[str] = (),
    network: object = None,
) -> Scenario:
    """The scenario, with keys laid over it (`laid_over`), a graph in its network's place, and under a policy, as far
    as they are given. Raises InputError."""
    overrides = with_graph(laid_over(overrides, keywords, arguments), network)
    scenario = scenario_of(scenario, overrides)
    if policy is None:
        return scenario
    choice = choice_of(policy, scenario.policy.shared_parameters)
    if choice.label != overrides.get("policy.name", choice.label):
        raise InputError(f"policy = {choice.label!r}, policy__name = {overrides['policy.name']!r}: give one of them")
    check_one_policy(scenario, f"policy = {choice.name!r}")
    return scenario.model_copy(update={"policy": choice})


def travel_ns(cost_ms: float, task: int, target: int) -> int:
    """Whole nanoseconds of what it costs to move a task to a node.

    Raises InputError: longer than 31 years, which several times over 64 bits do not hold; or for ever.
    """
    if not cost_ms <= LONGEST_WAIT_MS:
        raise InputError(
            f"workload.initial_data_mb, workload.memory_mb, interconnect.bandwidth_mbps: task {task} would travel "
            f"{cost_ms:g} ms to node {target}: allowed is {LONGEST_WAIT_MS:g} (infinite: no way leads there)"
        )
    return nanoseconds(cost_ms)


def node_table(cluster: Cluster) -> Table:
    """The node table of an idle cluster; the groups come first, in their order, then the default nodes."""
    nodes = empty_nodes(cluster.nodes)
    nodes["fault_ratio_cap"] = math.inf if cluster.page_fault_ratio_cap is None else cluster.page_fault_ratio_cap
    nodes["overflow_only"] = cluster.page_fault_law == "overflow"
    nodes["by_oversize"] = cluster.paging == "oversize"
    nodes["fault_evenness"] = cluster.fault_evenness
    first = 0
    for kind, count in cluster.kinds:
        buffer_mb = kind.buffer_mb
        fixed_buffer = kind.buffer_in_memory and cluster.paging == "rate"
        user_mb = kind.memory_mb - kind.system_mb - (buffer_mb if fixed_buffer else 0.0)
        fault_ms = kind.fault_service_ms
        if fault_ms is None:
            fault_ms = service_ms(kind.page_kb, kind.disk_seek_rotation_ms, kind.disk_mb_per_s)
        rows = nodes[first : first + count]
        rows["cores"] = kind.cores
        rows["quantum_ns"] = NEVER if kind.quantum_ms == math.inf else nanoseconds(kind.quantum_ms)
        rows["switch_ns"] = nanoseconds(kind.context_switch_ms)
        rows["speed"] = kind.cpu_speed
        rows["memory_kb"] = round(kind.memory_mb * 1000)
        rows["user_memory_kb"] = max(1, round(user_mb * 1000))
        if kind.swap_mb is not None:
            rows["limit_kb"] = rows["user_memory_kb"] + round(kind.swap_mb * 1000)
        rows["buffer_kb"] = buffer_mb * 1000
        rows["seek_ns"] = nanoseconds(kind.disk_seek_rotation_ms)
        rows["ns_per_kb"] = NS_PER_MS / kind.disk_mb_per_s
        rows["channels"] = kind.disk_channels
        rows["draws_seeks"] = kind.disk_latency == "exponential"
        rows["fault_ns"] = max(1, nanoseconds(fault_ms))
        rows["fault_seek_ns"] = nanoseconds(max(0.0, fault_ms - service_ms(kind.page_kb, 0.0, kind.disk_mb_per_s)))
        rows["fault_rate_per_ms"] = kind.page_fault_rate_per_ms
        first += count
    return nodes


def watts_of(cluster: Cluster) -> npt.NDArray[np.float64] | None:
    """Power of every node: idle, what its cores add and what its disk adds, shape (nodes, 3) [W]; None: not set."""
    if not cluster.has_power:
        return None
    names = ("idle_watts", "cpu_watts", "disk_watts")
    rows = [[getattr(kind, name) or 0.0 for name in names] for kind, count in cluster.kinds for _ in range(count)]
    return np.array(rows)


def background(scenario: Scenario, nodes: Table, policy: Policy) -> Table:
    """The background programs of a scenario (workload.background_table).

    Raises InputError: the policy pools the nodes, or the programs alone ask for more than RAM and swap.
    """
    if policy.pooled:
        raise InputError(
            f"policy.name = {policy.name!r}: pools all nodes, and workload.background needs nodes of its own; "
            "take another policy, or no background"
        )
    table = background_table(scenario)
    asked_kb = np.bincount(table["node"], table["memory_kb"], minlength=len(nodes))
    for node in np.flatnonzero((nodes["limit_kb"] < NEVER) & (asked_kb > nodes["limit_kb"])).tolist():
        raise InputError(
            f"workload.background: the programs of node {node} ask for {asked_kb[node] / 1000:g} MB: allowed are the "
            f"{nodes['limit_kb'][node] / 1000:g} MB of RAM for programs and swap"
        )
    return table


def check_initial_memory(work: RunJobs, nodes: Table) -> None:
    """Check that none of the jobs of `workload.initial` would be killed at once.

    Raises InputError: those of a node ask for more than RAM and swap, which background programs there may use too.
    """
    jobs = work.jobs[: work.initial]
    asked_kb = np.bincount(jobs["home"], jobs["memory_mb"] * jobs["tasks"] * 1000.0, len(nodes))
    asked_kb += nodes["transit_kb"]
    for node in np.flatnonzero((nodes["limit_kb"] < NEVER) & (asked_kb > nodes["limit_kb"])).tolist():
        raise InputError(
            f"workload.initial: the jobs of node {node}, and background programs there, ask for "
            f"{asked_kb[node] / 1000:g} MB: allowed are the {nodes['limit_kb'][node] / 1000:g} MB of RAM for programs "
            "and swap"
        )


def hardware(nodes: Table) -> tuple[Hardware, ...]:
    """The fixed properties of every node, in the units that load managers compute in; a buffer as it was set up, and
    devices as they are when nothing is wrong. Nodes that are alike share one object."""
    made: dict[tuple[Any, ...], Hardware] = {}
    columns = (nodes[name].tolist() for name in OF_HARDWARE)
    return tuple(made.get(row) or made.setdefault(row, _hardware_of(*row)) for row in zip(*columns, strict=True))


# Fields of a node that its hardware follows from.
OF_HARDWARE = (
    "speed", "cpu_factor", "user_memory_kb", "buffer_shift_kb", "fault_rate_per_ms", "fault_ratio_cap",
    "overflow_only", "by_oversize", "fault_ns", "fault_seek_ns", "disk_factor", "seek_ns", "ns_per_kb", "buffer_kb",
    "cores", "channels",
)  # fmt: skip


def _hardware_of(
    speed: float, cpu_factor: float, user_memory_kb: int, buffer_shift_kb: int, fault_rate_per_ms: float,
    fault_ratio_cap: float, overflow_only: int, by_oversize: int, fault_ns: int, fault_seek_ns: int,
    disk_factor: float, seek_ns: int, ns_per_kb: float, buffer_kb: float, cores: int, channels: int,
) -> Hardware:  # fmt: skip
    return Hardware(
        speed=speed / cpu_factor,
        user_memory_mb=(user_memory_kb + buffer_shift_kb) / 1000.0,
        fault_rate_per_ms=fault_rate_per_ms,
        fault_ratio_cap=fault_ratio_cap,
        overflow_only=bool(overflow_only),
        by_oversize=bool(by_oversize),
        fault_service_ms=fault_ns * disk_factor / NS_PER_MS,
        seek_rotation_ms=seek_ns * disk_factor / NS_PER_MS,
        disk_mb_per_s=NS_PER_MS / (ns_per_kb * disk_factor),
        buffer_mb=(buffer_kb - buffer_shift_kb) / 1000.0,
        cores=cores,
        disk_channels=channels,
        fault_transfer_ms=(fault_ns - fault_seek_ns) * disk_factor / NS_PER_MS,
    )


def seed_of(seed: int | None, rng: Any, scenario: Scenario) -> int:
    """The run's seed: `seed`, else Mesa's `rng` (an integer, or something numpy makes a generator of), else the
    scenario's.

    Raises InputError: not a whole number of 0..2**63 - 1, nor anything numpy takes for a generator.
    """
    if seed is None and rng is None:
        return scenario.run.seed
    name, value = ("rng", rng) if seed is None else ("seed", seed)
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 <= int(value) < 2**63:
        return int(value)
    if name == "rng" and isinstance(value, np.random.Generator | np.random.BitGenerator | np.random.SeedSequence):
        return int(np.random.default_rng(value).integers(2**63))
    raise InputError(f"{name} = {shortened(value)}: must be a whole number of 0..{2**63 - 1}")
