"""The work of the yardsticks as scenarios of `cluster_abm`, and the ways to run them."""

from __future__ import annotations

from collections.abc import Mapping

from work import (
    CPU_MEAN_S,
    DISK_BOUND_CPU_UTILISATION,
    NODES,
    REQUEST_KB,
    REQUEST_SD_KB,
    STREAM_CPU_S,
    UTILISATION,
    Outcome,
)

from cluster_abm import ClusterModel
from cluster_abm.scenario import Scenario, scenario_from

# No page faults and no cost of a context switch: the yardsticks have neither.
PLAIN_NODE = {"page_fault_rate_per_ms": 0.0, "context_switch_ms": 0.0}
WATCHED_EVERY_MS = 1000.0


def cpu_only(window_s: float, nodes: int = NODES, overrides: Mapping[str, object] | None = None) -> Scenario:
    """Exponential CPU demands of mean 1 s, utilisation 0.7, cut at the end of the window."""
    workload = {
        "duration_s": window_s,
        "utilisation": UTILISATION,
        "cpu_ms": {"kind": "exponential", "mean": CPU_MEAN_S * 1000.0},
    }
    return _scenario(workload, window_s, nodes, overrides)


def disk_bound(window_s: float, nodes: int = NODES, overrides: Mapping[str, object] | None = None) -> Scenario:
    """Streams of 100 requests in the mean: bursts of 2 ms, requests of 10.5 ms, disks used at 0.7; cut likewise."""
    workload = {
        "duration_s": window_s,
        "utilisation": DISK_BOUND_CPU_UTILISATION,
        "cpu_ms": {"kind": "fixed", "mean": STREAM_CPU_S * 1000.0},
        "io_per_ms": {"kind": "fixed", "mean": 0.5},
        "request_kb": {"kind": "gamma", "mean": REQUEST_KB, "sd": REQUEST_SD_KB},
    }
    return _scenario(workload, window_s, nodes, overrides)


def work_for_few(window_s: float, nodes: int, busy_nodes: int) -> Scenario:
    """The CPU-only work of `busy_nodes` nodes on the first ones of a larger cluster."""
    home = {"kind": "weights", "weights": [1.0] * busy_nodes}
    rate = UTILISATION * busy_nodes / CPU_MEAN_S
    return cpu_only(window_s, nodes, {"workload.jobs_per_s": rate, "workload.home": home})


def many_cores(window_s: float, nodes: int, cores: int) -> Scenario:
    """The CPU-only work on nodes of so many cores."""
    return cpu_only(window_s, nodes, {"cluster.cores": cores})


def beside_idle_cores(window_s: float, nodes: int, busy_nodes: int, cores: int) -> Scenario:
    """The CPU-only work of `busy_nodes` nodes of one core each, beside nodes of many that have nothing to do."""
    home = {"kind": "weights", "weights": [1.0] * busy_nodes}
    others = [{"count": busy_nodes}, {"count": nodes - busy_nodes, "cores": cores}]
    rate = UTILISATION * busy_nodes / CPU_MEAN_S
    idle = {"workload.jobs_per_s": rate, "workload.home": home, "cluster.group": others}
    return cpu_only(window_s, nodes, idle)


def _scenario(
    workload: dict[str, object], window_s: float, nodes: int, overrides: Mapping[str, object] | None
) -> Scenario:
    data = {"cluster": {**PLAIN_NODE, "nodes": nodes}, "workload": workload}
    return scenario_from(data, "benchmark", {"run.until": window_s * 1000.0, **(overrides or {})})


def run(scenario: Scenario, seed: int = 1) -> Outcome:
    """`run()` alone: no agent is asked for, so no job becomes one."""
    model = ClusterModel(scenario, seed=seed)
    model.run()
    return _outcome(model)


def run_watched(scenario: Scenario, seed: int = 1) -> Outcome:
    """`run()` after a look at `model.agents`: jobs found at a control point are agents, as long as they live."""
    model = ClusterModel(scenario, seed=seed)
    assert len(model.agents)
    model.run()
    return _outcome(model)


def run_stepped(scenario: Scenario, seed: int = 1) -> Outcome:
    """`step()` in compiled form after a look at `model.agents`: slice by slice, as the page drives a model."""
    model = ClusterModel(scenario, seed=seed, agents_step=False)
    assert len(model.agents)
    while model.running:
        model.step()
    return _outcome(model)


def share_of_jobs_made_agents(scenario: Scenario, stepped: bool, seed: int = 1) -> float:
    """How many of the submitted jobs become agents in a watched run, 0..1 (counted at Mesa's own register)."""
    model = ClusterModel(scenario, seed=seed)
    made = 0
    register = model.register_agent

    def counting(agent: object) -> None:
        nonlocal made
        made += 1
        register(agent)

    model.register_agent = counting
    assert len(model.agents)
    if stepped:
        while model.running:
            model.step()
    else:
        model.run()
    return made / max(1, model.submitted_jobs)


def _outcome(model: ClusterModel) -> Outcome:
    """Requests if there are any, else finished jobs."""
    summary = model.summary()
    metrics = summary["metrics"]
    requests = metrics["disk_requests"]
    return Outcome(
        requests or summary["jobs"]["finished"],
        metrics["mean_response_ms"],
        metrics["disk_utilisation" if requests else "cpu_utilisation"],
    )
