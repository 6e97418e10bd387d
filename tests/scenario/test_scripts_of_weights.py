"""The regimes of the scripts on WAL's weights offer the loads that they are named by; their choices by hand."""

from __future__ import annotations

import runpy
from pathlib import Path

import pandas as pd
import pytest

from cluster_abm.scenario import load_scenario
from cluster_abm.workload import offered_load, work_of

FOLDER = Path(__file__).parents[2] / "scenarios"
WEIGHTS = runpy.run_path(str(FOLDER / "wal_weights.py"))
ADAPTIVE = runpy.run_path(str(FOLDER / "adaptive_weights.py"))


def offered(settings):
    scenario = load_scenario("cpu-bound", settings)
    return offered_load(scenario, work_of(scenario, 1))


@pytest.mark.parametrize("scarce", ["CPU", "disk", "memory", "CPU and disk"])
def test_a_regime_offers_what_it_says(scarce):
    """A day of 20,000 jobs or more: the loads are within a few per cent of their means."""
    regime = WEIGHTS["Regime"](scarce, 0.8, "exponential")
    cpu, disk, memory = WEIGHTS["SCARCE"][scarce](0.8)
    found = offered(regime.settings(20_000.0))
    assert (found.cpu, found.disk, found.memory) == pytest.approx((cpu, disk, memory), rel=0.03)


def test_a_point_offers_what_it_says():
    point = {
        "cpu_load": 0.5, "disk_load": 0.3, "memory_load": 0.2, "cpu_time_cv": 0.5, "report_period_ms": 100.0,
        "remote_ms": 10.0, "nodes": 4.0,
    }  # fmt: skip
    found = offered(ADAPTIVE["settings"](point) | {"workload.duration_s": 20_000.0})
    assert (found.cpu, found.disk, found.memory) == pytest.approx((0.5, 0.3, 0.2), rel=0.03)


def test_the_points_lie_in_the_box():
    points = ADAPTIVE["points"](16)
    assert len(points) == 16
    for name, (low, high, _) in ADAPTIVE["BOX"].items():
        values = [point[name] for point in points]
        assert low <= min(values) < max(values) <= high
    # A Latin hypercube: one point in each sixteenth of a factor.
    places = sorted(int((point["cpu_load"] - 0.1) / 0.75 * 16) for point in points)
    assert places == list(range(16))


def test_the_weighting_for_all_has_the_least_bad_worst_regime():
    """a is best in one regime and 4 times worse than b in the other; b is twice worse than a at most."""
    slowdowns = {("x", "a"): 1.0, ("x", "b"): 2.0, ("x", "c"): 3.0, ("y", "a"): 4.0, ("y", "b"): 1.0, ("y", "c"): 2.0}
    rows = [
        {"regime": regime, "policy": policy, "seed": seed, "mean_slowdown": seed * value}
        for (regime, policy), value in slowdowns.items()
        for seed in (1, 2)
    ]
    assert WEIGHTS["for_all"](pd.DataFrame(rows)) == "b"


def test_weightings_in_steps_of_a_quarter_sum_to_one():
    grid = WEIGHTS["grid"]()
    assert len(grid) == 20
    for weighting in grid.values():
        assert sum(weighting[key] for key in WEIGHTS["WEIGHTS"]) == 1.0
