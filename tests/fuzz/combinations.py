"""Combinations of a scenario's features with shipped policies: run = step = decided in Python, byte for byte.

A combination follows from its seed and number. It has features of `scenario_files` and of its own, and seldom actions
while it lasts: a node is drained, fails, or becomes slower.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from carrying_out import Limits, carry_out
from case import Case
from policy_trials import tables_of, unlike
from scenario_files import FEATURES, FILES

# The first run under a policy compiles it, for some seconds.
LIMITS = Limits(wall_s=120.0)
BASE: dict[str, Any] = {
    "cluster.nodes": 4,
    "workload.duration_s": 3.0,
    "workload.utilisation": 0.6,
    "workload.cpu_ms.mean": 100.0,
    "run.until": 20_000.0,
}
# Beside those of scenario_files: what more of a model there is to combine.
MORE: dict[str, dict[str, Any]] = {
    "cores": {"cluster.cores": 2, "cluster.group": [{"count": 1, "cores": 4}]},
    "channels": {"cluster.disk_channels": 3, "cluster.disk_latency": "exponential", "workload.io_per_ms.mean": 0.1},
    "stale": {"cluster.exchange_period_ms": 1500.0, "interconnect.latency_ms": 30.0},
    "fresh": {"cluster.exchange_period_ms": 20.0},
    "lossy": {"interconnect.loss_share": 0.3, "negotiation.timeout_ms": 30.0},
    "no refusals": {"negotiation.refusals": False, "negotiation.offers": 1},
    "head node": {"negotiation.mode": "head-node", "interconnect.latency_ms": 5.0},
    "measured": {"negotiation.bandwidths": "measured", "workload.initial_data_mb.mean": 1.0},
    "dear starts": {"negotiation.remote_execution_ms": 100.0, "negotiation.migration_ms": 3.3},
    "buffer": {"cluster.buffer_in_memory": False, "cluster.buffer_mb": 1.0, "workload.reaccess_rate": 3.0},
    "buffer control": {"cluster.buffer_control.kind": "feedback", "workload.io_per_ms.mean": 0.1},
    "swap": {"cluster.memory_mb": 30.0, "cluster.buffer_mb": 4.0, "cluster.swap_mb": 20.0},
    "staging": {"data.files": 20, "data.copies": 2, "data.size_mb.mean": 3.0, "workload.io_per_ms.mean": 0.01},
    "degraded": {"failures.degrade": [{"device": "cpu", "factor": 0.5, "nodes": [1], "at_s": 0.7, "for_s": 1.0}]},
    "scripted": {
        "script": [
            {"at_s": 0.6, "act": "slow", "node": 2, "device": "disk", "factor": 0.3},
            {"at_s": 0.9, "act": "fail", "node": 1},
            {"at_s": 1.1, "act": "kill", "job": 5},
            {"at_s": 1.2, "act": "send", "task": 6, "node": 3},
            {"at_s": 1.4, "act": "drain", "node": 3},
            {"at_s": 2.0, "act": "recover", "node": 1},
        ]
    },
    "lost": {
        "failures.node.kind": "exponential",
        "failures.node.mean_up_s": 1.5,
        "failures.node.mean_down_s": 0.3,
        "failures.on_failure": "lost",
    },
    "odd slices": {"cluster.slice_ms": 7.3, "cluster.quantum_ms": 33.3, "cluster.context_switch_ms": 0.1},
    "heterogeneous": {
        "policy.heterogeneous": True,
        "cluster.group": [{"count": 2, "cpu_speed": 0.5, "memory_mb": 200.0, "disk_mb_per_s": 80.0}],
    },
    "mixed": {"cluster.group": [{"count": 2, "policy": "jsq"}]},
    "skewed": {"workload.home.kind": "skewed"},
    "heavy": {"workload.cpu_ms.kind": "pareto", "workload.utilisation": 1.2},
    "one node": {"cluster.nodes": 1},
    "wrong sizes": {"workload.announced_error": 4.0},
    "own sizes": {"workload.task_cpu": "each", "workload.tasks.widths": {"1": 1.0, "4": 1.0}},
}
ALL = FEATURES | MORE
# Of these a scenario has one at most: they set the same keys.
EXCLUDING = (
    {"memory", "oversize", "remote memory", "swap", "buffer"},
    {"groups", "cores", "heterogeneous", "mixed"},
    {"links", "bus", "torus", "fat-tree", "dragonfly", "clusters", "file"},
    {"papers", "head node"},
    {"closed", "bursty", "squeezed", "trace"},
    {"failures", "checkpoints", "lost"},
    {"stale", "fresh"},
    {"data", "staging"},
    {"programs", "application", "trace", "own sizes"},
    {"one node", "weights", "groups", "cores", "heterogeneous", "mixed", "file", "background"},
    {"one node", "events", "degraded", "scripted"},
    {"weights", "skewed"},
    {"trace", "heavy"},
    {"closed", "heavy"},
    {"lossy", "fat-tree"},
)


@dataclass
class Combination:
    """A run: overrides by dotted names, seed, and what is done to nodes: when [ms], which, and what."""

    settings: dict[str, Any]
    seed: int
    actions: tuple[tuple[float, int, str], ...] = ()
    names: tuple[str, ...] = ()


def make_combination(seed: int, number: int) -> Combination:
    """The combination of this number."""
    from cluster_abm.policies import available

    random = Random(f"combination {seed} {number}")
    policy = random.choice(sorted(set(available()) - {"learned"}))
    chosen: list[str] = []
    for name in random.sample(sorted(ALL), random.randint(2, 7)):
        if not any({name, other} <= group for group in EXCLUDING for other in chosen):
            chosen.append(name)
    settings = BASE | {"policy.name": policy}
    for name in chosen:
        settings |= ALL[name]
    if "requested_ms" in available()[policy].needs:
        settings["workload.requested_over_actual"] = {"kind": "uniform", "mean": 1.5}
    if {"closed", "squeezed", "trace"} & {*chosen}:
        del settings["workload.utilisation"]
    if "file" in chosen:
        settings["interconnect.kind"] = "file"
    settings["cluster.nodes"] = 4 if settings["cluster.nodes"] != 1 else 1
    if "weights" in chosen:
        settings["workload.home.weights"] = [1.0, 0.0, 2.0, 1.0]
    actions: tuple[tuple[float, int, str], ...] = ()
    if random.random() < 0.4 and settings["cluster.nodes"] > 1:
        at = sorted(random.sample([500.0, 1000.0, 1500.0, 2000.0, 4000.0], 2))
        what = random.choice(
            [("drain", "less"), ("less", "recover"), ("fail", "recover"), ("slow", "fast"), ("drain", "fail")]
        )
        node = random.randrange(4)
        actions = tuple((when, node, one) for when, one in zip(at, what, strict=True))
    return Combination(settings, random.randrange(2**31), actions, (policy, *chosen, *(one for *_, one in actions)))


ACTIONS: dict[str, Callable[[Any], Any]] = {
    "drain": lambda node: node.drain(),
    "less": lambda node: setattr(node, "memory_mb", 100.0),
    "fail": lambda node: node.fail(),
    "recover": lambda node: node.recover(),
    "slow": lambda node: setattr(node, "cpu_speed", 0.5),
    "fast": lambda node: setattr(node, "cpu_speed", 2.0),
}


def lived(combination: Combination, steps: bool, compiles: bool) -> tuple[str, dict[str, Any]]:
    """Run it; what is said if it cannot be, and what it leaves. The files of `scenario_files` lie in this folder."""
    from cluster_abm import ClusterModel, InputError
    from cluster_abm.scenario import scenario_from

    try:
        base = {"name": "test"}
        model = ClusterModel(
            scenario_from(base, "test", combination.settings), seed=combination.seed, compile_decisions=compiles
        )
        for at_ms, node, action in combination.actions:
            _go_on(model, at_ms, steps)
            ACTIONS[action](model.node_agents[node])
        _go_on(model, None, steps)
        return "", tables_of(model)
    except InputError as problem:
        return f"{type(problem).__name__}: {problem}", {}


def _go_on(model: Any, until_ms: float | None, steps: bool) -> None:
    if not steps:
        model.run() if until_ms is None else model.run(until_ms=until_ms)
        return
    while model.running and (until_ms is None or model.now_ms < until_ms):
        model.step()


def tried_combination(combination: Combination) -> tuple[list[str], str]:
    """The same in a fork of this warm process."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-features-"))
    try:
        left = folder / "found"
        ending = carry_out(
            Case("features", [], dict(FILES)),
            lambda _: left.write_text(json.dumps(differences_of(combination))),
            LIMITS,
        )
        if ending.killed or ending.code != 0:
            last = (ending.stderr.decode("utf-8", "replace").strip().splitlines() or ["nothing on stderr"])[-1]
            return [ending.killed or f"exit code {ending.code}: {last[:200]}"], ""
        found, said = json.loads(left.read_text())
        return found, said
    finally:
        shutil.rmtree(folder)


def differences_of(combination: Combination) -> tuple[list[str], str]:
    """How the forms differ, each in a line; and what was said if it could not be run."""
    said, ran = lived(combination, steps=False, compiles=True)
    found = []
    for form, steps, compiles in (("stepped", True, True), ("in Python", False, False)):
        other_said, other = lived(combination, steps, compiles)
        if said != other_said:
            found.append(f"run: {said[:200] or 'done'} | {form}: {other_said[:200] or 'done'}")
        elif not said:
            found += [f"{form}: {one}" for one in unlike(other, ran)]
    return found, said
