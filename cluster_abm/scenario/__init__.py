"""Scenarios: what a run is, as checked data."""

from cluster_abm.scenario.load import (
    load_scenario,
    nearest,
    network_names,
    scenario_from,
    scenario_names,
    scenario_of,
    shipped_network,
    shipped_path,
    shipped_profiles,
    shipped_trace,
)
from cluster_abm.scenario.schema import Scenario
from cluster_abm.scenario.wording.keys import scenario_keys
from cluster_abm.scenario.wording.writing import save_scenario, scenario_files, scenario_to_toml

__all__ = [
    "Scenario", "load_scenario", "nearest", "network_names", "save_scenario", "scenario_files", "scenario_from",
    "scenario_keys", "scenario_names", "scenario_of", "scenario_to_toml", "shipped_network", "shipped_path",
    "shipped_profiles", "shipped_trace",
]  # fmt: skip
