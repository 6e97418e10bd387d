"""Keys that a point of a study does not set, but others do: what its runs had."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import pandas as pd

from cluster_abm.errors import InputError
from cluster_abm.scenario import load_scenario, scenario_from
from cluster_abm.scenario.load import tables_of
from cluster_abm.study.design.study_file import Settings

# Of a key that the scenario does not have either, or that is a whole section.
AS_IN_SCENARIO = "as in the scenario"


class Listed(Protocol):
    """What needs to be known of a study (study_file.Study has it)."""

    @property
    def points(self) -> tuple[Settings, ...]:
        """Tables of dotted keys; only such points may leave a key out that others set."""

    @property
    def swept(self) -> list[str]:
        """Dotted keys that some point sets."""

    @property
    def scenario_source(self) -> Any:
        """As `load_scenario` takes it."""

    @property
    def overrides(self) -> Settings:
        """Laid over the scenario at every point."""


def is_resampled(study: Listed) -> bool:
    """Whether each seed of the study's scenario draws another log from one; no where it is no longer there."""
    try:
        return load_scenario(study.scenario_source, study.overrides).workload.is_resampled
    except InputError:
        return False


def with_unset_keys(results: pd.DataFrame, study: Listed) -> pd.DataFrame:
    """Return the results with, at every point, each swept key at the value that the point's runs had.

    Args:
        results: one row a run, as load_results gives them: nothing where the point does not set a key.
        study: what was run.

    Raises InputError: the study's scenario is not there any more.
    """
    unset = {
        number: missing
        for number, settings in enumerate(study.points)
        if (missing := [key for key in study.swept if key not in settings])
    }
    if not unset:
        return results
    tree = tables_of(load_scenario(study.scenario_source, study.overrides))
    values: list[Settings] = [dict(settings) for settings in study.points]
    for number, missing in unset.items():
        # Built as its runs' were: a point that sets one key may change what another one is by default.
        at_point = scenario_from(tree, "scenario", study.points[number]).model_dump(exclude_none=True)
        values[number] |= {key: _value(at_point, key) for key in missing}
    columns = {
        key: pd.Series([values[point][key] for point in results["point"]], results.index, dtype=object).infer_objects()
        for key in study.swept
    }
    return results.assign(**columns)


def _value(tree: Mapping[str, Any], key: str) -> Any:
    found: Any = tree
    for part in key.split("."):
        if not isinstance(found, Mapping) or part not in found:
            return AS_IN_SCENARIO
        found = found[part]
    return found if isinstance(found, str | int | float) else AS_IN_SCENARIO
