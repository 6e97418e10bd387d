"""What deciding costs: IOLB's Theorem 1 (O(nm) for n nodes and m tasks), and policies beside the engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from own import PLAIN_NODE

from cluster_abm import ClusterModel
from cluster_abm.policies import ArrivingTask
from cluster_abm.scenario import Scenario, scenario_from

# Work in which every rule of IOLB has something to compare.
MIXED_WORK = {
    "cpu_ms": {"kind": "exponential", "mean": 400.0},
    "memory_mb": {"kind": "pareto", "mean": 4.0},
    "io_per_ms": {"kind": "uniform", "mean": 0.5},
    "request_kb": {"kind": "gamma", "mean": 100.0, "sd": 50.0},
}
REQUESTS_PER_S_AND_NODE = 60.0
"""63 % of a disk that takes 10.5 ms a request."""


def io_work(window_s: float, nodes: int, policy: str) -> Scenario:
    """Sequential I/O-intensive jobs under a policy, cut at the end of the window."""
    jobs_per_s = nodes * REQUESTS_PER_S_AND_NODE / (400.0 * 0.5)
    data = {
        "cluster": {**PLAIN_NODE, "nodes": nodes},
        "workload": {**MIXED_WORK, "duration_s": window_s, "jobs_per_s": jobs_per_s},
        "policy": {"name": policy},
    }
    return scenario_from(data, "benchmark", {"run.until": window_s * 1000.0})


@dataclass(frozen=True)
class DecisionCost:
    """CPU time of placing one job of `tasks` tasks among `nodes` nodes [us]."""

    nodes: int
    tasks: int
    job_us: float


def iolb_decision_costs(nodes: list[int], tasks: list[int], least_cpu_s: float) -> list[DecisionCost]:
    """Placing a job with IOLB: what the load manager sees, the decision, and the answer; for each n and m.

    Args:
        nodes, tasks: the n and the m.
        least_cpu_s: each figure is the mean over at least this much CPU time [s].
    """
    costs = []
    for node_count in nodes:
        model = ClusterModel(io_work(5.0, node_count, "iolb"), seed=1, keep_decisions=False)
        model.run()
        for task_count in tasks:
            place_job = _placer(model, task_count)
            place_job(0)
            costs.append(DecisionCost(node_count, task_count, _mean_us(place_job, least_cpu_s)))
    return costs


def _placer(model: ClusterModel, tasks: int) -> Callable[[int], None]:
    """A function that asks the load manager of a job's home about each of its tasks."""
    managers = model.load_managers

    def place_job(number: int) -> None:
        home = number % len(managers)
        for task in range(tasks):
            managers[home].place(ArrivingTask(task, 0, home, 400.0, 0.5, 100.0, 4.0, 0.0))

    return place_job


def _mean_us(place_job: Callable[[int], None], least_cpu_s: float) -> float:
    done = 0
    begun_s = time.process_time()
    while (taken_s := time.process_time() - begun_s) < least_cpu_s:
        place_job(done)
        done += 1
    return taken_s / done * 1e6


def fit_o_of_nm(costs: list[DecisionCost]) -> tuple[float, float, float]:
    """Least squares of relative error for cost = m (a + b n): a [us], b [us per node], worst relative error."""
    nodes = np.array([cost.nodes for cost in costs], float)
    tasks = np.array([cost.tasks for cost in costs], float)
    job_us = np.array([cost.job_us for cost in costs])
    terms = np.stack([tasks, tasks * nodes], axis=1)
    (a_us, b_us), *_ = np.linalg.lstsq(terms / job_us[:, None], np.ones(len(costs)), rcond=None)
    return float(a_us), float(b_us), float(np.abs(terms @ [a_us, b_us] / job_us - 1.0).max())


@dataclass(frozen=True)
class PolicyCost:
    """CPU seconds of a run under a policy.

    Attributes:
        policy: its name.
        run_cpu_s: of `run()`.
        engine_cpu_s: of these, inside the engine's windows.
        windows: how many windows the engine was called for.
        decisions: decisions taken and written down.
    """

    policy: str
    run_cpu_s: float
    engine_cpu_s: float
    windows: int
    decisions: int

    @property
    def beside_engine(self) -> float:
        """CPU time outside the engine over that inside."""
        return (self.run_cpu_s - self.engine_cpu_s) / self.engine_cpu_s

    @property
    def decision_us(self) -> float | None:
        """CPU time outside the engine per decision [us]."""
        return (self.run_cpu_s - self.engine_cpu_s) / self.decisions * 1e6 if self.decisions else None


def policy_cost(scenario: Scenario) -> PolicyCost:
    """A run with a clock around the engine."""
    model = ClusterModel(scenario, seed=1)
    serve = model.engine.serve
    engine_cpu_s, windows = 0.0, 0

    def timed(end_ns: int, until_finish: bool = False, until_empty: bool = False) -> int:
        nonlocal engine_cpu_s, windows
        before_s = time.process_time()
        reached_ns = serve(end_ns, until_finish, until_empty)
        engine_cpu_s += time.process_time() - before_s
        windows += 1
        return reached_ns

    model.engine.serve = timed  # type: ignore[method-assign]
    begun_s = time.process_time()
    model.run()
    run_cpu_s = time.process_time() - begun_s
    return PolicyCost(model.policy.name, run_cpu_s, engine_cpu_s, windows, len(model.decisions_frame()))
