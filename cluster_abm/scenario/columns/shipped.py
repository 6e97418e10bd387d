"""The maps of columns that are shipped."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from cluster_abm.found_modules import FAILURE_MAPS, TRACE_MAPS
from cluster_abm.scenario.columns.failures import FailureColumns
from cluster_abm.scenario.columns.map import ColumnMap
from cluster_abm.scenario.filling.toml_file import read_toml

FOLDER = Path(__file__).parents[2] / "workload" / "traces" / "maps"
OF_FAILURES = FOLDER.parents[1] / "outages" / "maps"


@cache
def shipped_maps() -> Mapping[str, ColumnMap]:
    """All shipped maps by name."""
    return {name: ColumnMap.model_validate(read_toml(FOLDER / f"{name}.toml")) for name in TRACE_MAPS}


@cache
def shipped_failure_maps() -> Mapping[str, FailureColumns]:
    """All shipped maps of recorded failures by name."""
    return {name: FailureColumns.model_validate(read_toml(OF_FAILURES / f"{name}.toml")) for name in FAILURE_MAPS}
