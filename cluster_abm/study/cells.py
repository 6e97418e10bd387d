"""A table of runs: every cell (labels and settings) from the same seeds, and what tells two of its policies apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from cluster_abm.scenario import load_scenario
from cluster_abm.study.runner.tasks import SeededRun, Where, run_all
from cluster_abm.study.statistics.bounds import bounds_of
from cluster_abm.study.statistics.estimates import estimate


@dataclass(frozen=True)
class Cell:
    """Runs of one scenario under the same settings, one a seed."""

    labels: Mapping[str, object]  # what tells the cell from others: columns of the table
    scenario: str  # the scenario's name
    settings: Mapping[str, object] = field(default_factory=dict)  # dotted keys laid over it
    seeds: Sequence[int] | None = None  # its own, in place of those that all cells have


def run_cells(
    cells: Iterable[Cell],
    seeds: Sequence[int],
    metrics: Sequence[str],
    label: str,
    workers: int | None = None,
    folder: Path | None = None,
) -> pd.DataFrame:
    """Run all cells.

    Args:
        cells: what is to be run.
        seeds: the seeds of each that has none of its own.
        metrics: names of metrics of a run's summary, or dotted paths in it.
        label: what the progress bar says.
        workers: processes; None: one for each processor.
        folder: results are kept in it, and those that it has are not computed again; None: in memory.

    Returns:
        a row a run: the labels, `seed`, and the metrics (NaN where a run has none).

    Raises SystemExit: a run failed, or the user has interrupted them.
    """
    cells = list(cells)
    runs = [(cell, seed) for cell in cells for seed in (seeds if cell.seeds is None else cell.seeds)]
    loaded = {id(cell): load_scenario(cell.scenario, dict(cell.settings)) for cell in cells}
    tasks = [SeededRun(loaded[id(cell)], seed) for cell, seed in runs]
    outcome = run_all(tasks, label=label, where=Where(workers=workers, folder=folder))
    if outcome.finished < len(tasks):
        raise SystemExit("\n".join(map(str, [*outcome.errors, *outcome.policy_faults])) or "interrupted")
    rows = []
    for (cell, seed), found in zip(runs, outcome.rows, strict=True):
        assert found is not None  # all have finished
        rows.append({**cell.labels, "seed": seed, **{name: found.get(name, math.nan) for name in metrics}})
    return pd.DataFrame(rows)


def means(table: pd.DataFrame, by: Sequence[str], metric: str, *others: str) -> pd.DataFrame:
    """The mean of a metric over seeds with its 95 % interval: columns of `by`, then `mean`, `low`, `high`.

    Of other metrics the mean alone, in columns of their names.
    """
    rows = []
    for labels, own in table.groupby(list(by), sort=False):
        found = estimate(own[metric].dropna().tolist(), bounds_of(metric))
        low, high = found.ci95 or (math.nan, math.nan)
        rows.append((*labels, found.mean, low, high, *(own[other].mean() for other in others)))
    return pd.DataFrame(rows, columns=[*by, "mean", "low", "high", *others])


@dataclass(frozen=True)
class Ratio:
    """One policy's numbers over another's in the geometric mean, on the same seeds, with its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def word(self) -> str:
        """Whether the first has the smaller numbers by more than noise: "yes", "no" (the larger), or "not told"."""
        if self.high < 1.0:
            return "yes"
        return "no" if self.low > 1.0 else "not told"

    def __str__(self) -> str:
        return f"{self.mean:.2f} [{self.low:.2f}, {self.high:.2f}]"


def ratio_of(
    table: pd.DataFrame, a: str, b: str, metric: str, points: Sequence[str] = (), are_replicates: bool = False
) -> Ratio:
    """Policy a's metric over policy b's: of each seed the geometric mean over points, then over seeds.

    Args:
        table: rows of `run_cells` with a column `policy`; of both policies the same seeds and points.
        a, b: the policies.
        metric: the column.
        points: columns that tell the points of one seed apart.
        are_replicates: whether the seeds are draws of one log (statistics.estimates.standard_error).

    Raises ValueError: a run has no such number.
    """
    if table[metric].isna().any():
        raise ValueError(f"{metric}: {int(table[metric].isna().sum())} of {len(table)} runs have none")
    wide = table.pivot_table(index=["seed", *points], columns="policy", values=metric)
    logs = pd.Series(np.log(wide[a] / wide[b]), index=wide.index)
    found = estimate(logs.groupby(level="seed").mean().tolist(), are_replicates=are_replicates)
    low, high = found.ci95 or (-math.inf, math.inf)
    return Ratio(math.exp(found.mean), math.exp(low), math.exp(high))
