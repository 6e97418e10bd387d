"""Decisions of the environment for learners (`cluster_abm.gym`): whole episodes, the simulation included."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from decisions import io_work
from own import cpu_only

from cluster_abm import load_scenario
from cluster_abm.gym import PlacementEnv
from cluster_abm.policy.parts.features import TASKS
from cluster_abm.scenario import Scenario

WANTED_PER_CPU_S = 20_000.0


@dataclass(frozen=True)
class Episode:
    """An episode that was played.

    Attributes:
        decisions: how many tasks were placed.
        steps: calls of `step`.
    """

    decisions: int
    steps: int


def play(env: PlacementEnv) -> Episode:
    """Play an episode, reset included; the action is the node with fewest tasks, which is the cheapest to say."""
    observation, info = env.reset(seed=1)
    decisions = steps = 0
    while info["decisions"]:
        decisions += info["decisions"]
        steps += 1
        observation, _, _, _, info = env.step(np.argmin(observation[..., TASKS], axis=-1))
    return Episode(decisions, steps)


def environments(window_s: float) -> dict[str, PlacementEnv]:
    """What is measured: 32 nodes, CPU-bound and I/O-bound work, one decision a step and several."""
    papers = {"negotiation.mode": "papers"}
    scenarios: dict[str, Scenario] = {
        "CPU-bound": cpu_only(window_s),
        "CPU-bound, all is known": cpu_only(window_s, overrides=papers),
        "I/O-bound": io_work(window_s, 32, "none"),
        "quickstart": load_scenario("quickstart", {"workload.duration_s": window_s}),
    }
    found = {}
    for name, scenario in scenarios.items():
        for decisions in (1, 16):
            found[f"{name}, {decisions} a step"] = PlacementEnv(scenario, decisions=decisions)
    return found
