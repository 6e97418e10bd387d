"""The metrics that a run gives: known before it is run, so that a misspelt one costs no run."""

from __future__ import annotations

from collections.abc import Mapping

from cluster_abm.engine.tables import BREAKDOWN
from cluster_abm.policies import available
from cluster_abm.results.summary import SLOWDOWNS
from cluster_abm.scenario import Scenario, nearest
from cluster_abm.study.study_file import Study
from cluster_abm.workload.users import are_closed

ALWAYS = frozenset(
    {
        *(f"mean_{name}" for name in SLOWDOWNS), "p95_slowdown", "mean_response_ms", "makespan_ms", "migrations",
        "remote_executions", "refused_offers", "cpu_utilisation", "disk_utilisation", "disk_requests", "page_faults",
        "page_faults_per_cpu_s", *(f"breakdown_ms.{part}" for part in BREAKDOWN),
        *(f"jobs.{state}" for state in ("submitted", "finished", "killed", "lost", "blocked", "running")),
    }
)  # fmt: skip
OF_CLOSED_ARRIVALS = frozenset({"makespan_spread_ms"})
OF_FAILURES = frozenset({"node_failures", "link_failures", "restarts", "lost_cpu_ms"})
OF_DATA = frozenset({"fetched_mb", "fetched_between_clusters_mb"})
OF_WARMUP = frozenset({"warmup_jobs", "warmup_settled"})

# Of a point and a policy.
Given = Mapping[tuple[int, str], frozenset[str]]


def metric_names(scenario: Scenario, warmup: str) -> frozenset[str]:
    """The numbers that `measure_run` gives of a run of this scenario (its lists of quantiles are no metrics)."""
    names = ALWAYS
    if are_closed(scenario):
        names |= OF_CLOSED_ARRIVALS
    if scenario.failures.can_happen:
        names |= OF_FAILURES
    # Where all nodes are one station nothing is fetched.
    if scenario.data.files and not available()[scenario.policy.name].pooled:
        names |= OF_DATA
    return names | OF_WARMUP if warmup != "none" else names


def metric_problems(study: Study, given: Given) -> list[str]:
    """What is wrong with the metrics a study names: no run has one, or precision is asked of one that some lack."""
    there = sorted(frozenset().union(*given.values()))
    if not there:
        return []
    problems = [
        f"{study.file}: {field} = {name!r}: no such metric; {nearest(name, there)}"
        for field, names in (("precision_metric", (study.precision_metric,)), ("measure", study.measure))
        for name in dict.fromkeys(names)
        if name not in there
    ]
    lacking = [cell for cell, names in given.items() if study.precision_metric not in names]
    if study.precision is not None and study.precision_metric in there and lacking:
        point, policy = lacking[0]
        more = f", nor have those of {len(lacking) - 1} more" if len(lacking) > 1 else ""
        problems.append(
            f"{study.file}: precision_metric = {study.precision_metric!r}: runs of point {point} under {policy!r} have "
            f"no such metric{more}; one is needed that all have"
        )
    return problems
