"""A paper's table or figure, run again, beside the published numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cluster_abm.arguments import FLAG, TEXT, check_arguments
from cluster_abm.limits import check_runs, counted
from cluster_abm.scenario import load_scenario
from cluster_abm.scenario.filling.overriding import laid_over
from cluster_abm.study.papers.cells import axis_of, cells_of, metric_of
from cluster_abm.study.papers.plan import load_plan, reproduction_names
from cluster_abm.study.papers.points import Point
from cluster_abm.study.papers.reproduction import Reproduction
from cluster_abm.study.runner.calling import place_of, seeds_of
from cluster_abm.study.runner.tasks import SeededRun, Where, run_all
from cluster_abm.study.statistics.bounds import bounds_of, terms_of

__all__ = ["Point", "Reproduction", "reproduce", "reproduction_names"]
# What a misspelt keyword may mean.
ARGUMENTS = ("name", "seeds", "quick", "overrides", "workers", "quiet", "where", "out")


def reproduce(
    name: str,
    seeds: int | None = None,
    quick: bool = False,
    overrides: Mapping[str, object] | None = None,
    workers: int | None = None,
    quiet: bool = False,
    where: Where | None = None,
    *,
    out: str | Path | None = None,
    **keywords: object,
) -> Reproduction:
    """Run a paper's table or figure again, and hold it beside the published numbers.

    Every series runs at every point of the axis from the same seeds, spread over the processors; a script that does so
    needs `if __name__ == "__main__":` around the call, a notebook does not.

    Example:
        >>> import cluster_abm as ca
        >>> found = ca.reproduce("iolb-table-1", quick=True, workers=1, quiet=True)
        >>> print(found.verdict, found.verdict_words)
        None smoke run: no verdict
        >>> table, picture = found.rows, found.plot()

    Args:
        name: a name of `reproduction_names()`, as "iolb-table-1".
        seeds: how many; default: the plan's.
        quick: a smoke run with the plan's few seeds and points; it has no verdict.
        overrides: dotted keys laid over the plan's scenario, but for those that its axis and its series set; with a
            trace of several runs each seed takes another run.
        workers: processes at most; None: one for each processor; 1: all runs in this process.
        quiet: no progress bar.
        where: another executor (Dask, Slurm) and its folder, in place of `workers` and `out`.
        out: a folder that keeps finished runs; the same call, interrupted or repeated, does only those that it lacks.
        keywords: the same as `overrides`, `__` for the dot: cluster__nodes=64.

    Returns:
        The reproduction: `rows` (a table), `verdict`, `notes`, `plot()`.

    Raises:
        InputError: unknown name, a key that the axis or a series sets, or what a run was given is wrong.
    """
    place = place_of(workers, quiet, where, out)
    check_arguments(name=(name, TEXT), quick=(quick, FLAG))
    plan = load_plan(name)
    given = laid_over(overrides, keywords, ARGUMENTS)
    count = seeds_of(seeds, plan.quick_seeds if quick else plan.seeds)
    check_runs(f"{counted(count)} seeds of {name}", count * len(plan.series) * len(axis_of(plan, quick)))
    cells = cells_of(plan, quick, given)
    file = given.get("workload.trace.file")
    runs = () if file is None else _runs_of(Path(str(file)))
    tasks: list[SeededRun] = []
    # Where its runs begin among the tasks, of each scenario: several curves may be of the same runs.
    begins: dict[str, int] = {}
    first_task = []
    for cell in cells:
        scenario = cell.scenario
        first_task.append(begins.setdefault(scenario.model_dump_json(), len(tasks)))
        if first_task[-1] < len(tasks):
            continue
        for number in range(count):
            seed = scenario.run.seed + number
            if runs:
                run = runs[number % len(runs)]
                scenario = load_scenario(plan.scenario, {**cell.settings, "workload.trace.run": run})
            tasks.append(SeededRun(scenario, seed))
    outcome = run_all(tasks, workers, label=f"reproduce {name}", quiet=quiet, where=place)
    points = []
    for first, (x, published, series, *_) in zip(first_task, cells, strict=True):
        own = outcome.rows[first : first + count]
        metric, scale = metric_of(plan, series, x)
        of_series = published.get(series.name)
        points.append(Point(x, series.name, of_series, _values(own, metric, scale), bounds_of(metric, scale)))
        for also in plan.also:
            if (not also.at or x in also.at) and (not also.of or series.name in also.of):
                values = _values(own, also.metric, also.scale)
                bounds = bounds_of(also.metric, also.scale)
                points.append(Point(x, f"{series.name}: {also.name}", None, values, bounds))
    found = [point for point in points if any(map(math.isfinite, point.by_seed))]
    return Reproduction(plan, count, tuple(found), outcome, quick, len(axis_of(plan, quick=False)), given)


def _values(rows: Sequence[dict[str, Any] | None], metric: str, scale: float) -> tuple[float, ...]:
    """A metric of each run; NaN where it has none."""
    return tuple(math.nan if row is None else _value(row, metric) * scale for row in rows)


def _value(row: dict[str, Any], metric: str) -> float:
    """A metric of one run, or a sum or difference of several."""
    return float(sum(sign * row.get(name, math.nan) for name, sign in terms_of(metric)))


def _runs_of(trace: Path) -> Sequence[int]:
    """Runs that a trace file holds, if it holds several."""
    from cluster_abm.workload.traces import read_trace

    table = read_trace(trace).table
    return sorted({int(run) for run in table["run"]}) if "run" in table else ()
