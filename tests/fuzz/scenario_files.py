"""Scenarios that run in well below a second, the shipped ones, and what can be done to either."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from typing import Any

from case import Case, Random
from nasty import spoilt_bytes, spoilt_lines, value
from settings import fitting, keys, odd_value, setting

BASE = """\
name = "small"
[cluster]
nodes = 3
[workload]
duration_s = 3.0
utilisation = 0.6
cpu_ms = { kind = "exponential", mean = 100.0 }
[run]
seed = 5
"""
NETWORK = b"""{"nodes": [{"id": "a"}, {"id": "b"}, {"id": "s", "kind": "switch"}, {"id": "c", "host": true},
           {"id": "d"}],
 "links": [{"source": "a", "target": "s", "bandwidth_mbps": 100.0}, {"source": "s", "target": "b", "latency_ms": 2.5},
           {"source": "c", "target": "s"}, {"source": "d", "target": "c"}]}
"""
PROFILES = (
    b"program,cpu_ms,memory_mb,accesses,turnover_mb_per_s,pause_ms\na,50,10,2,0,0\na,50,20,0,1.5,10\nb,20,5,1,0,0\n"
)
TRACE = b"""\
arrival_ms,home,cpu_ms,io_per_ms,memory_mb,tasks,request_kb,name
0,0,100,0.1,5,1,64,a
10.5,1,50,0,10,2,,b
20,2,20,,,1,10,
500,0,300,0.01,600,3,100,a
"""
# What may be laid over BASE, so that every part of the model is met.
FEATURES: dict[str, dict[str, Any]] = {
    "memory": {"cluster.memory_mb": 30.0, "cluster.buffer_mb": 4.0, "cluster.page_fault_ratio_cap": 1.5},
    "oversize": {"cluster.memory_mb": 30.0, "cluster.paging": "oversize", "cluster.swap_mb": 40.0},
    "remote memory": {"cluster.memory_mb": 20.0, "cluster.buffer_mb": 0.0, "cluster.remote_memory": True},
    "i/o": {"workload.io_per_ms.mean": 0.1, "workload.reaccess_rate": 1.0, "workload.initial_data_mb.mean": 2.0},
    "parallel": {"workload.tasks.parallel_share": 0.5, "workload.tasks.maximum": 4, "workload.tasks.barrier_ms": 5.0},
    "closed": {"workload.arrivals.kind": "closed", "workload.arrivals.jobs_per_user": 3},
    "bursty": {"workload.arrivals.kind": "bursty"},
    "squeezed": {"workload.jobs": 20, "workload.arrivals.kind": "lognormal-window"},
    "programs": {"workload.programs.file": "profiles.csv", "workload.programs.mix": {"a": 1.0, "b": 0.5}},
    "application": {"workload.application.name": "lu", "workload.application.scale": 0.0001},
    "trace": {"workload.kind": "trace", "workload.trace.file": "trace.csv"},
    "background": {"workload.background": [{"node": 1, "cpu_share": 0.3, "period_ms": 37.0, "memory_mb": 9.0}]},
    "data": {"data.files": 20, "data.copies": 2, "data.popularity_skew": 1.0, "data.affinity": 0.5},
    "groups": {
        "cluster.group": [{"count": 1, "cpu_speed": 2.0, "memory_mb": 900.0}, {"count": 1, "disk_mb_per_s": 9.0}]
    },
    "failures": {"failures.node.kind": "weibull", "failures.node.mean_up_s": 1.0, "failures.node.mean_down_s": 0.2},
    "checkpoints": {
        "failures.node.kind": "exponential",
        "failures.node.mean_up_s": 1.0,
        "failures.node.mean_down_s": 0.1,
        "failures.on_failure": "checkpoint",
        "failures.checkpoint_period_ms": 50.0,
    },
    "links": {"interconnect.kind": "tree", "failures.link.kind": "exponential", "failures.link.mean_up_s": 0.5},
    "events": {"failures.event": [{"at_s": 0.5, "for_s": 0.2, "node": 1}, {"at_s": 1.0, "node": 0}]},
    "bus": {"interconnect.kind": "bus", "interconnect.mode": "contended", "interconnect.bandwidth_mbps": 10.0},
    "torus": {"interconnect.kind": "torus", "interconnect.mode": "contended", "interconnect.latency_ms": 1.0},
    "fat-tree": {"interconnect.kind": "fat-tree", "interconnect.loss_share": 0.3},
    "dragonfly": {"interconnect.kind": "dragonfly", "interconnect.trunk_latency_ms": 20.0},
    "clusters": {"interconnect.kind": "clusters", "interconnect.trunk_bandwidth_mbps": 2.0},
    "file": {"interconnect.file": "network.json"},
    "papers": {"negotiation.mode": "papers"},
    "weights": {"workload.home.kind": "weights", "workload.home.weights": [1.0, 0.0, 2.0]},
}
FILES = {"network.json": NETWORK, "profiles.csv": PROFILES, "trace.csv": TRACE}
# A run may rightly take as long as these say.
BOUNDS = ("run.until=2000.0", "workload.duration_s=2.0", "cluster.nodes=4")


@cache
def shipped() -> dict[str, bytes]:
    """The texts of the shipped scenarios by name."""
    from cluster_abm.scenario import scenario_names, shipped_path

    return {name: shipped_path(f"{name}.toml").read_bytes() for name in scenario_names()}


@cache
def policies() -> tuple[str, ...]:
    """All there are."""
    from cluster_abm.policies import available

    return tuple(sorted(available()))


def small(random: Random, most: int = 3, key: str = "") -> tuple[bytes, list[str]]:
    """A scenario of a few features that is right, or nearly, as TOML; and their names.

    Args:
        key: one of the features is of the same section as this one, if any is.
    """
    import tomli_w

    tree = tomllib.loads(BASE)
    tree["policy"] = {"name": random.choice(policies())}
    chosen = random.sample(sorted(FEATURES), random.randint(0, most))
    section = ".".join(key.split(".")[:-1][:2])
    akin = [name for name, given in FEATURES.items() if key and any(one.startswith(section) for one in given)]
    if akin and not {*akin} & {*chosen}:
        chosen.append(random.choice(akin))
    for name in chosen:
        for dotted, given in FEATURES[name].items():
            *sections, last = dotted.split(".")
            inner = tree
            for part in sections:
                inner = inner.setdefault(part, {})
            inner[last] = given
    if "file" in chosen:
        tree["interconnect"] = {"file": "network.json"}
    if "squeezed" in chosen and "closed" not in chosen:
        del tree["workload"]["utilisation"]
    if "closed" in chosen:
        for rate in ("jobs", "jobs_per_s", "utilisation"):
            tree["workload"].pop(rate, None)
    return tomli_w.dumps(tree).encode(), [tree["policy"]["name"], *chosen]


def spoilt_toml(random: Random, data: bytes) -> tuple[bytes, str]:
    """A scenario or study with a value replaced or a key added, or bytes or lines of it spoilt."""
    chance = random.random()
    if chance < 0.2:
        return spoilt_bytes(random, data)
    if chance < 0.35:
        return spoilt_lines(random, data)
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    given = [number for number, line in enumerate(lines) if re.match(r'\s*["\w.-]+\s*=', line)]
    if chance < 0.75 and given:
        number = random.choice(given)
        name, _, old = lines[number].partition("=")
        inner = re.findall(r"[\w.\"-]+(?=\s*[,}\]])", old)
        new = value(random)
        lines[number] = (
            f"{name}={old.replace(random.choice(inner), new, 1) if inner and random.random() < 0.5 else ' ' + new}"
        )
    elif chance < 0.9:
        number = random.randrange(len(lines))
        name = (
            random.choice(keys())["key"].rpartition(".")[2]
            if random.random() < 0.7
            else random.choice(('""', "x", '"²"'))
        )
        lines.insert(number, f"{name} = {value(random)}")
    else:
        number = random.randrange(len(lines))
        section = random.choice(keys())["key"].rpartition(".")[0] or "name"
        lines.insert(number, random.choice(("[{}]", "[[{}]]", "[{}.x]", "[")).format(section))
    return "\n".join(lines).encode("utf-8", "surrogateescape"), f"line {number + 1}: {lines[number][:80]}"


def scenario_case(random: Random) -> Case:
    """`run` or `compare` of a spoilt file."""
    changes: list[str] = []
    own = random.random() < 0.6
    if own:
        data, changes = small(random)
    else:
        name = random.choice(sorted(shipped()))
        data, changes = shipped()[name], [name]
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        data, change = spoilt_toml(random, data)
        changes.append(change)
    arguments = ["run", "s.toml"] if random.random() < 0.85 else ["compare", "s.toml", "--workers", "1", "--seeds", "1"]
    for bound in BOUNDS:
        arguments += ["--set", bound]
    return Case("scenario", [*arguments, *ending(random)], {"s.toml": data, **FILES}, changes)


def setting_case(random: Random) -> Case:
    """`run` or `compare` with odd settings laid over a scenario that is right: all of them allowed, or one nasty."""
    if random.random() < 0.4:
        # A single key where it counts: over a scenario that uses its section.
        key = random.choice(keys())
        data, changes = small(random, 1, key["key"])
        settings = [*BOUNDS, f"{key['key']}={odd_value(random, key)}"]
    else:
        data, changes = small(random)
        settings = fitting(random, data, BOUNDS, random.choice((1, 2, 3, 5)))
        if random.random() < 0.35:
            settings.append(setting(random, changes[0]).replace("\0", ""))
    arguments = ["run", "s.toml"] if random.random() < 0.85 else ["compare", "s.toml", "--workers", "1", "--seeds", "2"]
    for one in settings:
        arguments += ["--set", one]
    return Case("setting", [*arguments, *ending(random)], {"s.toml": data, **FILES}, [*changes, *settings])


def ending(random: Random) -> list[str]:
    """What is done with the results."""
    if random.random() < 0.7:
        return ["--json"]
    return random.choice((["--out", "out"], ["--json", "--out", "out/deep/er"], []))
