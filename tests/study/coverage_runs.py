"""Make the stored runs on which the coverage of intervals is tested (test_coverage.py); takes some ten minutes.

    python tests/study/coverage_runs.py

Five scenarios, eight policies, 400 seeds: the bounded and the mean slowdown of each run. They are stored, so that the
tests need not run them; what they show is a property of such runs, and does not depend on the last digit of any.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from cluster_abm import compare, load_scenario
from cluster_abm.scenario import Scenario
from cluster_abm.study.arena.arena import QUICK, SAMPLE_SEED
from cluster_abm.study.arena.regimes import PLAIN_SIZES, sample, scenario_of

FILE = Path(__file__).with_name("coverage_runs.parquet")
POLICIES = ("none", "random", "power-of-d", "jsq", "jiq", "iolb", "iocm-pm", "work-stealing")
SEEDS = 400
METRICS = ("bounded_slowdown", "mean_slowdown")
# Of the quick arena's: the first one of high, and the first one of low variance of demands.
REGIMES = ("varied", "even")


def scenarios() -> dict[str, Scenario]:
    """What is run, by name."""
    points = sample(QUICK.regimes, SAMPLE_SEED)
    chosen = (
        next(point for point in points if point["cv"] > 3.0),
        next(point for point in points if point["cv"] < 1.0),
    )
    arena = [scenario_of(point | PLAIN_SIZES, QUICK.tasks_per_core, QUICK.least_tasks) for point in chosen]
    shipped = {name: load_scenario(name) for name in ("quickstart", "cpu-bound", "stale-views")}
    return shipped | {f"arena, {name}": one for name, one in zip(REGIMES, arena, strict=True)}


def main() -> None:
    """Run what is missing, and write the file."""
    tables = []
    for name, scenario in scenarios().items():
        runs = compare(scenario, list(POLICIES), seeds=SEEDS, workers=1).runs
        tables.append(runs[["policy", "seed", *METRICS]].assign(scenario=name))
        print(name, len(runs), file=sys.stderr)
        pd.concat(tables).to_parquet(FILE, index=False)


if __name__ == "__main__":
    main()
