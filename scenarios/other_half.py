"""Do intervals from logs that are drawn from one half of a log hold its other half: docs/how-to/replications.md.

    python scenarios/other_half.py --log HPC2N-2002-2.2-cln.swf.xz --nodes 240 --weeks 52 --out docs/validation

A split deals the weeks of an SWF log out to two halves at random, and puts those of each half one after the other. From
either half logs are drawn (`workload.trace.resample = "users"`) and run first come, first served, and with EASY
backfilling. Their 95 % interval, as `compare` makes it, is held against the number of the other half. That number has
an error of its own, as large as the half's: an interval that holds the truth in 95 % of all cases holds it less often,
and one sqrt(2) times as wide about as often. Writes `other-half-LOG.csv`; it takes ten minutes and more.
"""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
import pandas as pd
import scipy.stats
from script_options import out_option, workers_option

from cluster_abm.study.cells import Cell, run_cells
from cluster_abm.study.statistics.bounds import UNBOUNDED, Bounds, bounds_of
from cluster_abm.study.statistics.estimates import estimate

POLICIES = ("batch-system", "easy")
METRICS = ("mean_wait_ms", "bounded_slowdown")
WEEK_S = 7 * 24 * 3600
SUBMIT = 1
"""field of an SWF line, from 0"""


def halves(log: pd.DataFrame, weeks: int, split: int, folder: Path) -> tuple[Path, Path]:
    """Deal the first weeks of a log out to two logs, which are written to a folder."""
    order = np.random.default_rng(split).permutation(weeks)
    week = (log[SUBMIT] // WEEK_S).to_numpy()
    paths = folder / f"{split}-a.swf", folder / f"{split}-b.swf"
    for path, own in zip(paths, (order[: weeks // 2], order[weeks // 2 :]), strict=True):
        place = np.full(max(weeks, week.max() + 1), -1)
        place[np.sort(own)] = np.arange(len(own))
        moved = log[SUBMIT] + (place[week] - week) * WEEK_S
        half = log.copy()
        half[SUBMIT] = moved
        half[place[week] >= 0].sort_values(SUBMIT, kind="stable").to_csv(path, sep=" ", header=False, index=False)
    return paths


def cells_of(paths: tuple[Path, Path], split: int, weeks: int, draws: int, settings: dict[str, object]) -> list[Cell]:
    """The runs of a split: under each policy each half itself, once, and the logs that are drawn from it."""
    cells = []
    for half, path in zip("ab", paths, strict=True):
        for policy in POLICIES:
            keys = settings | {
                "workload.trace.file": str(path),
                "workload.trace.duration_s": weeks // 2 * WEEK_S,
                "policy.name": policy,
            }
            labels = {"split": split, "half": half, "policy": policy}
            drawn = keys | {"workload.trace.resample": "users"}
            cells += [
                Cell({**labels, "drawn": False}, "replay-hpc2n", keys, (1,)),
                Cell({**labels, "drawn": True}, "replay-hpc2n", drawn, range(1, draws + 1)),
            ]
    return cells


@dataclass(frozen=True)
class Held:
    """Whether intervals from draws of one half hold the number of the other one."""

    split: int
    half: str  # of which logs were drawn
    measure: str
    own: float  # the number of that half
    mean: float  # of its draws
    low: float
    high: float
    other: float  # the number of the other half
    holds: bool
    wide_holds: bool  # the interval that is sqrt(2) times as wide

    @classmethod
    def of(cls, split: int, half: str, measure: str, drawn: list[float], own: float, other: float) -> Held:
        """By the numbers of the logs that were drawn, of the half itself, and of the other one.

        Intervals are those of `compare`: of means as such, of ratios by their logarithms.
        """
        is_ratio = measure.startswith("ratio")
        least = 0.0 if is_ratio else bounds_of(measure.partition(",")[0]).least
        values = [math.log(one) for one in drawn] if is_ratio else drawn
        found = estimate(values, UNBOUNDED if is_ratio else Bounds(least), are_replicates=True)
        assert found.ci95 is not None  # of two draws at least
        mean, low, high = (math.exp(one) if is_ratio else one for one in (found.mean, *found.ci95))
        # Both kinds are even on the scale of log(value - least).
        wide = [least + (mean - least) * ((end - least) / (mean - least)) ** math.sqrt(2) for end in (low, high)]
        return cls(split, half, measure, own, mean, low, high, other, low <= other <= high, wide[0] <= other <= wide[1])


def held(runs: pd.DataFrame) -> pd.DataFrame:
    """Every interval of every split: a row of `Held` each."""
    rows = []
    for metric in METRICS:
        wide = runs.pivot_table(index=["split", "half", "drawn", "seed"], columns="policy", values=metric)
        measures = {f"{metric}, {name}": wide[name] for name in POLICIES}
        for name, values in (measures | {f"ratio of {metric}": wide[POLICIES[0]] / wide[POLICIES[1]]}).items():
            for split in sorted(set(runs["split"])):
                own = {half: float(values[split, half, False].iloc[0]) for half in "ab"}
                for half, other in ("ab", "ba"):
                    drawn = values[split, half, True].tolist()
                    rows.append(Held.of(split, half, name, drawn, own[half], own[other]))
    return pd.DataFrame(rows)


def expected(draws: int, width: float = 1.0) -> float:
    """How often such an interval holds the other half's number if nothing but chance is in it (normal numbers).

    Both halves have the variance v, the centre of n draws v/n: the distance has 2 v + v/n. The interval is t's with the
    error s sqrt(1 + 1/n), times the width.
    """
    reach = scipy.stats.t.isf(0.025, draws - 1) * width * math.sqrt((1 + 1 / draws) / (2 + 1 / draws))
    return float(1 - 2 * scipy.stats.t.sf(reach, draws - 1))


@click.command()
@click.option("--log", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True, help="SWF.")
@click.option("--nodes", required=True, type=click.IntRange(min=1), help="Processors of its machine.")
@click.option("--weeks", default=104, show_default=True, type=click.IntRange(min=4), help="From its begin; even.")
@click.option("--cpu-scale", default=1.0, show_default=True, help="Run times are multiplied by this.")
@click.option("--splits", default=10, show_default=True, type=click.IntRange(min=1))
@click.option("--draws", default=10, show_default=True, type=click.IntRange(min=2), help="Of each half.")
@workers_option
@out_option
def main(
    log: Path, nodes: int, weeks: int, cpu_scale: float, splits: int, draws: int, workers: int | None, out: Path
) -> None:
    """Draw logs from halves of a log, and count how often their intervals hold the other half."""
    lines = pd.read_csv(log, sep=r"\s+", comment=";", header=None)
    weeks = min(weeks, int(lines[SUBMIT].max() // WEEK_S)) // 2 * 2
    settings: dict[str, object] = {
        "cluster.nodes": nodes, "cluster.cores": 1, "cluster.memory_mb": 1e6, "workload.dispatchers": 1,
        "workload.trace.memory": "drawn", "workload.trace.cpu_scale": cpu_scale, "measure.records": "summary",
        # Of the few jobs of which the log says none.
        "workload.requested_over_actual": {"kind": "fixed", "mean": 1.0},
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        cells = [
            cell
            for split in range(splits)
            for cell in cells_of(halves(lines, weeks, split, Path(folder)), split, weeks, draws, settings)
        ]
        runs = run_cells(cells, (1,), METRICS, f"halves of {weeks} weeks", workers)
    found = held(runs)
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"other-half-{log.name.partition('.swf')[0].lower()}.csv"
    found.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")
    click.echo(f"{log.name}: {splits} splits of {weeks} weeks, {draws} draws of each half; intervals that hold the")
    click.echo(
        f"other half (by chance alone {expected(draws):.0%}; sqrt(2) times as wide {expected(draws, 2**0.5):.0%})"
    )
    for measure, rows in found.groupby("measure", sort=False):
        click.echo(
            f"  {measure:<30} {rows['holds'].sum():>3} of {len(rows)}, wide {rows['wide_holds'].sum():>3}; its own "
            f"number {((rows['low'] <= rows['own']) & (rows['own'] <= rows['high'])).sum():>3}; draws over own "
            f"(median) {(rows['mean'] / rows['own']).median():.2f}"
        )
    click.echo(f"table: {path}")


if __name__ == "__main__":
    main()
