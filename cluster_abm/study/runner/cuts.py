"""One cut for runs that are compared: all are measured from the latest beginning that MSER finds for one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cluster_abm.scenario import Scenario

Row = Mapping[str, Any]
SETTLED = "warmup_settled"


def common_beginnings_s(scenarios: Sequence[Scenario], rows: Sequence[Row | None]) -> list[float | None]:
    """From when on each run has to be measured [s].

    Runs of scenarios that differ in nothing but the policy, whatever their seeds, are measured from the same instant
    on: the largest `from_s` of their rows.

    Args:
        scenarios: of each run.
        rows: of each run, with the beginning that MSER found for it alone; None: it has not finished.

    Returns:
        One entry a run; None where `measure.warmup` is "none", or no run of the scenario has finished.
    """
    groups: dict[int, str] = {}
    largest_s: dict[str, float] = {}
    for scenario, row in zip(scenarios, rows, strict=True):
        if scenario.measure.warmup == "none":
            continue
        if id(scenario) not in groups:
            groups[id(scenario)] = scenario.model_dump_json(exclude={"policy"})
        group = groups[id(scenario)]
        if row is not None:
            largest_s[group] = max(largest_s.get(group, 0.0), row["from_s"])
    return [largest_s.get(groups.get(id(scenario), "")) for scenario in scenarios]


def measured_from(scenario: Scenario, from_s: float) -> Scenario:
    """The scenario with a beginning that is given instead of found [s]."""
    measure = scenario.measure.model_copy(update={"from_s": from_s, "warmup": "none"})
    return scenario.model_copy(update={"measure": measure})
