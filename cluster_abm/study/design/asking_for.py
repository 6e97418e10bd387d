"""Metrics that a study asks for by naming them: they need not stand in `measure.metrics` as well."""

from __future__ import annotations

from collections.abc import Iterable

from cluster_abm.results.asked import asked_for
from cluster_abm.scenario import Scenario


def with_metrics(scenario: Scenario, names: Iterable[str]) -> Scenario:
    """The scenario with those of the named metrics asked for that a run has only then (p99_response_ms, ...)."""
    own = scenario.measure.metrics
    wanted = tuple(dict.fromkeys([*own, *asked_for(names)]))
    if wanted == own:
        return scenario
    return scenario.model_copy(update={"measure": scenario.measure.model_copy(update={"metrics": wanted})})
