"""What most tests need is compiled before they run: each part by one process, and not by all of them again."""

from __future__ import annotations

from collections.abc import Iterable

from cluster_abm.limits import available_processors
from cluster_abm.policies import available
from cluster_abm.scenario import load_scenario
from cluster_abm.study.runner.ahead import compile_ahead, missing_parts
from cluster_abm.study.runner.executors import open_executor


def compile_first(policies: Iterable[str]) -> None:
    """Compile the engine, the negotiation and these shipped policies, if they are not there."""
    requests = {"workload.requested_over_actual": {"kind": "uniform", "mean": 1.5}}
    scenarios = []
    for name in policies:
        needed = requests if "requested_ms" in available()[name].required_demands else {}
        scenarios.append(load_scenario("cpu-bound", {"policy.name": name, **needed}))
    parts = missing_parts(scenarios, detail=True)
    if parts:
        with open_executor("process", available_processors()) as executor:
            compile_ahead(executor, parts, quiet=True, look=lambda: None)
