"""What else people call a key of a scenario, so that a hint can lead from their word to ours."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# Names that a hint has at most.
MOST_NAMED = 3
# Words of the field and of other simulators, by the key that they mean.
OTHER_NAMES = {
    "workload.utilisation": ("rho", "load", "utilization", "util", "offered_load", "traffic_intensity"),
    "workload.jobs_per_s": ("lambda", "lam", "arrival_rate", "rate", "jobs_per_second"),
    "workload.cpu_ms.mean": ("service_time", "service_ms", "service", "demand"),
    "workload.jobs": ("n_jobs", "num_jobs", "number_of_jobs"),
    "cluster.nodes": ("n", "n_nodes", "num_nodes", "servers", "n_servers", "hosts", "machines", "workers"),
    "cluster.quantum_ms": ("quantum", "timeslice", "time_slice"),
    "interconnect.bandwidth_mbps": ("bandwidth",),
    "interconnect.latency_ms": ("latency",),
    "policy.name": ("scheduler", "dispatcher", "balancer", "algorithm"),
    "run.seed": ("random_seed", "rng"),
    "run.until": ("end", "horizon", "until_ms", "duration_ms"),
}
_KEYS = {word: key for key, words in OTHER_NAMES.items() for word in words}


def key_called(word: str) -> str | None:
    """The key that a word of the field means; None: we know no such word.

    >>> key_called("rho"), key_called("workload.rho"), key_called("zeta")
    ('workload.utilisation', 'workload.utilisation', None)
    """
    return _KEYS.get(word.strip().lower().replace("-", "_").rpartition(".")[2])


def keys_ending_in(word: str, keys: Iterable[str]) -> list[str]:
    """The keys whose last part is a word, or is nearly so; none if they are more than a hint can name."""
    last: dict[str, list[str]] = {}
    for key in keys:
        last.setdefault(key.rpartition(".")[2], []).append(key)
    close = difflib.get_close_matches(word.lower()[:100], last, n=1, cutoff=0.8)
    ending = last[close[0]] if close else []
    return ending if len(ending) <= MOST_NAMED else []


def did_you_mean(names: Iterable[str]) -> str:
    """A hint with one name, or several."""
    return f"did you mean {' or '.join(repr(name) for name in names)}?"
