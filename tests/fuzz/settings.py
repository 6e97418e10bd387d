"""Keys of scenarios and values for them: those that are just allowed, those that are odd, and those that are nasty."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any, get_args

from case import Random
from nasty import value

# Numbers that are odd and yet may be allowed: what lies behind the checks meets them.
REALS = (0.0, 1e-9, 1e-6, 1e-3, 0.01, 0.1, 0.5, 0.99, 1.0, 1.0000001, 1.5, 2.0, 10.0, 100.0, 1e3, 1e6, 1e9, 1e12, -1.0)
WHOLE = (0, 1, 2, 3, 4, 5, 7, 16, 31, 64, 1000, 10**5, 10**6, 2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -1)


@cache
def keys() -> list[dict[str, Any]]:
    """As the command lists them, those of sections of lists added."""
    from cluster_abm.scenario import scenario_keys

    return scenario_keys()


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


def fitting(random: Random, data: bytes, given: Sequence[str], wanted: int) -> list[str]:
    """The settings given, and so many more of odd values as a scenario takes: what is behind the checks meets them."""
    from cluster_abm.cli.options import overrides_of
    from cluster_abm.scenario import scenario_from

    tree = tomllib.loads(data.decode())
    policy = str(tree["policy"]["name"])
    found = [*given]
    for _ in range(8 * wanted):
        trial = [*found, *_together(random, policy)]
        # Whatever it fails of is met by the commands too.
        with suppress(Exception):
            if _is_small(scenario_from(tree, "fuzz", overrides_of(trial))):
                found = trial
        if len(found) >= len(given) + wanted:
            break
    return found


def _is_small(checked: Any) -> bool:
    """Whether it is over in seconds as far as can be told from here, if it ends after two: else it is no fault."""
    work, cluster = checked.workload, checked.cluster
    mean_ms = work.cpu_ms.minimum if work.cpu_ms.kind == "lifetime" else work.cpu_ms.mean
    rate = work.jobs_per_s or (work.utilisation or 0.0) * 3000.0 * max(1.0, cluster.cpu_speed) / mean_ms
    jobs = work.jobs or rate * min(work.duration_s, 10.0)
    if work.arrivals.kind == "closed":
        jobs = work.arrivals.users_per_node * work.arrivals.jobs_per_user * 3
    tasks = jobs * (1.0 + work.tasks.parallel_share * work.tasks.maximum)
    accesses = tasks * mean_ms * (work.io_per_ms.mean + cluster.page_fault_rate_per_ms)
    periods_ms = [cluster.slice_ms, cluster.quantum_ms, cluster.exchange_period_ms, checked.measure.period_ms]
    until_ms = 1e5 if checked.run.until == "drained" else checked.run.until
    return max(tasks, accesses / 300, until_ms / 30) < 3000 and min(periods_ms) >= 0.1 and cluster.nodes <= 64


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
        *(
            name.rpartition(".")[0],
            f"{name}.{name}",
            f"{name}.0",
            name.upper(),
            f".{name}",
            f"{name}.",
            "",
            "=",
            "a" * 5000,
        ),
        *(
            "cluster",
            "workload",
            "",
            "..",
            "cluster..nodes",
            "workload.background.0.node",
            "cluster.group.0.count",
            "é.²",
        ),
    )
    return random.choice(spoilt) + random.choice(("", "=", "==")) + value(random)
