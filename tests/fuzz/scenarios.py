"""Scenarios that run in well below a second, the shipped ones, and what can be done to either."""

from __future__ import annotations

import re
import tomllib
from contextlib import suppress
from functools import cache
from typing import Any, get_args

from case import Case, Random
from nasty import spoilt_bytes, spoilt_lines, value

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
NETWORK = b"""{"nodes": [{"id": "a"}, {"id": "b"}, {"id": "s", "kind": "switch"}, {"id": "c", "host": true}],
 "links": [{"source": "a", "target": "s", "bandwidth_mbps": 100.0}, {"source": "s", "target": "b", "latency_ms": 2.5},
           {"source": "c", "target": "s"}]}
"""
PROFILES = b"program,cpu_ms,memory_mb,accesses,turnover_mb_per_s,pause_ms\na,50,10,2,0,0\na,50,20,0,1.5,10\nb,20,5,1,0,0\n"
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
    "groups": {"cluster.group": [{"count": 1, "cpu_speed": 2.0, "memory_mb": 900.0}, {"count": 1, "disk_mb_per_s": 9.0}]},
    "failures": {"failures.node.kind": "weibull", "failures.node.mean_up_s": 1.0, "failures.node.mean_down_s": 0.2},
    "checkpoints": {"failures.node.kind": "exponential", "failures.node.mean_up_s": 1.0, "failures.node.mean_down_s": 0.1,
                    "failures.on_failure": "checkpoint", "failures.checkpoint_period_ms": 50.0},
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
# Numbers that are odd and yet may be allowed: what lies behind the checks meets them.
REALS = (0.0, 1e-9, 1e-6, 1e-3, 0.01, 0.1, 0.5, 0.99, 1.0, 1.0000001, 1.5, 2.0, 10.0, 100.0, 1e3, 1e6, 1e9, 1e12, -1.0)
WHOLE = (0, 1, 2, 3, 4, 5, 7, 16, 31, 64, 1000, 10**5, 10**6, 2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -1)
# A run may rightly take as long as these say.
BOUND = {"run.until": "2000.0", "workload.duration_s": "2.0", "cluster.nodes": "4"}


@cache
def keys() -> list[dict[str, Any]]:
    """As the command lists them, those of sections of lists added."""
    from cluster_abm.scenario import scenario_keys

    return scenario_keys()


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


@cache
def parameters() -> dict[str, list[dict[str, Any]]]:
    """Each policy's own parameters, as `keys` has those of scenarios."""
    from cluster_abm.policies import available

    found: dict[str, list[dict[str, Any]]] = {}
    for name, policy in available().items():
        fields = policy.Parameters.model_fields
        found[name] = [
            {"key": f"policy.{one}", "default": field.default, "allowed": list(get_args(field.annotation))}
            for one, field in fields.items()
        ]
    return found


def small(random: Random, most: int = 3) -> tuple[bytes, list[str]]:
    """A scenario of a few features that is right, or nearly, as TOML; and their names."""
    import tomli_w

    from cluster_abm.scenario.load import _set

    tree = tomllib.loads(BASE)
    tree["policy"] = {"name": random.choice(policies())}
    chosen = random.sample(sorted(FEATURES), random.randint(0, most))
    for name in chosen:
        for key, setting in FEATURES[name].items():
            _set(tree, key, setting)
    if "closed" in chosen:
        for rate in ("jobs", "jobs_per_s", "utilisation"):
            tree["workload"].pop(rate, None)
    return tomli_w.dumps(tree).encode(), [tree["policy"]["name"], *chosen]


def odd_value(random: Random, key: dict[str, Any]) -> str:
    """A value of the key's own kind, mostly at a bound, as TOML writes it."""
    default = key["default"]
    if key["allowed"]:
        return f'"{random.choice(key["allowed"])}"'
    if isinstance(default, bool):
        return random.choice(("true", "false"))
    if isinstance(default, list):
        return random.choice(("[]", "[0]", "[1, 1]", "[0.0]", '["a"]', '["none", "none"]', "[0, 1, 2]", "[0.5, 0.5]"))
    if isinstance(default, int) or (default is None and random.random() < 0.5):
        return str(random.choice(WHOLE))
    return repr(random.choice(REALS))


def fitting(random: Random, data: bytes, wanted: int) -> list[str]:
    """So many settings of odd values that a scenario takes: what is behind the checks meets them together."""
    from cluster_abm.cli.options import overrides_of
    from cluster_abm.scenario import scenario_from

    tree = tomllib.loads(data.decode())
    policy = str(tree["policy"]["name"])
    found: list[str] = []
    for _ in range(8 * wanted):
        trial = [*found, *_together(random, policy)]
        # Whatever it fails of is met by the commands too.
        with suppress(Exception):
            if _is_small(scenario_from(tree, "fuzz", overrides_of(trial))):
                found = trial
        if len(found) >= wanted:
            break
    return found


def _is_small(checked: Any) -> bool:
    """Whether it is over in seconds as far as can be told from here, and if it ends after two: no fault if it is not."""
    work, cluster = checked.workload, checked.cluster
    mean_ms = work.cpu_ms.minimum if work.cpu_ms.kind == "lifetime" else work.cpu_ms.mean
    rate = work.jobs_per_s or (work.utilisation or 0.0) * 3000.0 * max(1.0, cluster.cpu_speed) / mean_ms
    jobs = work.jobs or rate * min(work.duration_s, 10.0)
    if work.arrivals.kind == "closed":
        jobs = work.arrivals.users_per_node * work.arrivals.jobs_per_user * 3
    tasks = jobs * (1.0 + work.tasks.parallel_share * work.tasks.maximum)
    accesses = tasks * mean_ms * (work.io_per_ms.mean + cluster.page_fault_rate_per_ms)
    periods_ms = [cluster.slice_ms, cluster.quantum_ms, cluster.exchange_period_ms, checked.measure.period_ms]
    return tasks < 3000 and accesses < 1e6 and min(periods_ms) >= 0.1 and cluster.nodes <= 64


def _together(random: Random, policy: str) -> list[str]:
    """A setting, or those that only make sense together."""
    key = random.choice(keys())
    section, _, last = key["key"].rpartition(".")
    kinds = {"fixed": ("mean",), "exponential": ("mean",), "uniform": ("mean",), "gamma": ("mean", "sd")}
    kinds |= {"lognormal": ("mean", "sd"), "pareto": ("mean", "shape"), "lifetime": ("shape", "minimum", "maximum")}
    if last in ("sd", "shape", "minimum", "maximum", "mean") and section.rpartition(".")[2] != "tasks":
        kind, takes = random.choice(sorted((kinds | {"hbd97": ("mean",)}).items()))
        return [f'{section}.kind="{kind}"', *(f"{section}.{one}={random.choice(REALS)!r}" for one in takes)]
    if random.random() < 0.15 and parameters()[policy]:
        one = random.choice(parameters()[policy])
        return [f"{one['key']}={odd_value(random, one)}"]
    return [f"{key['key']}={odd_value(random, key)}"]


def setting(random: Random, policy: str = "none") -> str:
    """KEY=VALUE: a key that there is, or one that is nearly one, and a value that is nasty or of another key."""
    key = random.choice([*keys(), *parameters()[policy]])
    name = key["key"]
    chance = random.random()
    if chance < 0.7:
        return f"{name}={value(random)}"
    if chance < 0.9:
        return f"{name}={odd_value(random, random.choice(keys()))}"
    spoilt = (
        *(name.rpartition(".")[0], f"{name}.{name}", f"{name}.0", name.upper(), f".{name}", f"{name}.", "", "=", "a" * 5000),
        *("cluster", "workload", "", "..", "cluster..nodes", "workload.background.0.node", "cluster.group.0.count", "é.²"),
    )
    return random.choice(spoilt) + random.choice(("", "=", "==")) + value(random)


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
        lines[number] = f"{name}={old.replace(random.choice(inner), new, 1) if inner and random.random() < 0.5 else ' ' + new}"
    elif chance < 0.9:
        number = random.randrange(len(lines))
        name = random.choice(keys())["key"].rpartition(".")[2] if random.random() < 0.7 else random.choice(('""', "x", '"²"'))
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
    for key, bound in BOUND.items():
        if not own or (key == "run.until" and random.random() < 0.8):
            arguments += ["--set", f"{key}={bound}"]
    return Case("scenario", [*arguments, *ending(random)], {"s.toml": data, **FILES}, changes)


def setting_case(random: Random) -> Case:
    """`run` or `compare` with odd settings laid over a scenario that is right: all of them allowed, or one nasty."""
    data, changes = small(random)
    settings = fitting(random, data, random.choice((1, 2, 3, 5)))
    if random.random() < 0.35:
        settings.append(setting(random, changes[0]).replace("\0", ""))
    if random.random() < 0.85:
        settings.append("run.until=2000.0")
    if random.random() < 0.85:
        settings.append("cluster.nodes=3")
    arguments = ["run", "s.toml"] if random.random() < 0.85 else ["compare", "s.toml", "--workers", "1", "--seeds", "2"]
    for one in settings:
        arguments += ["--set", one]
    return Case("setting", [*arguments, *ending(random)], {"s.toml": data, **FILES}, [*changes, *settings])


def ending(random: Random) -> list[str]:
    """What is done with the results."""
    if random.random() < 0.7:
        return ["--json"]
    return random.choice((["--out", "out"], ["--json", "--out", "out/deep/er"], []))
