"""Policies whose load managers talk, which decide in Python: whole runs beside `jsq`, which is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from measuring import cpu_seconds
from own import cpu_only

from cluster_abm import ClusterModel
from cluster_abm.scenario import Scenario

YARDSTICK = "jsq"
POLICIES = (YARDSTICK, "central-queue", "lwl", "jiq", "sparse-jsq", "batch-sampling", "work-stealing", "prequal")


@dataclass(frozen=True)
class Talk:
    """A finished run.

    Attributes:
        jobs: how many were submitted.
        messages_per_job: between load managers.
    """

    jobs: int
    messages_per_job: float


def run(scenario: Scenario) -> Talk:
    """Run to the end."""
    model = ClusterModel(scenario, seed=1)
    model.run()
    summary = model.summary()
    return Talk(summary["jobs"]["submitted"], summary["metrics"]["messages_per_job"])


def rows(window_s: float, repeats: int) -> list[dict[str, Any]]:
    """CPU-only work on 32 nodes under each policy, and how many times the CPU time of `jsq` it takes."""
    scenarios = {name: cpu_only(window_s, overrides={"policy.name": name}) for name in POLICIES}
    # What is compiled for a policy is not measured.
    for name in POLICIES:
        run(cpu_only(5.0, overrides={"policy.name": name}))
    taken = cpu_seconds({name: partial(run, scenario) for name, scenario in scenarios.items()}, repeats)
    base_s = taken[YARDSTICK][0]
    return [
        {
            "name": name, "jobs": done.jobs, "messages_per_job": done.messages_per_job, "cpu_s": cpu_s,
            "jobs_per_cpu_s": done.jobs / cpu_s, "times_jsq": cpu_s / base_s,
        }
        for name, (cpu_s, done) in taken.items()
    ]  # fmt: skip
