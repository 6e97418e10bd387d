"""What was measured: a CSV with a row for each job, or for each metric, of one or several runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

import numpy as np

from cluster_abm.arguments import shortened
from cluster_abm.bounded_files import Limit, opened, unpacked
from cluster_abm.errors import InputError
from cluster_abm.scenario.distributions import LARGEST
from cluster_abm.study.tuning.ranges import Value
from cluster_abm.workload.text.csv_cells import CsvCells
from cluster_abm.workload.text.lines import Lines
from cluster_abm.workload.traces.table import number

JOBS, METRICS = ("job", "response_ms"), ("metric", "value")
SPREADS = ("sd", "ci_low", "ci_high")
USES = ("fit", "held-out")
MOST_MB = 64
# Half of a normal 95 % interval, in standard deviations.
HALF_95 = 1.959964
# Standard deviations of a logarithm that a measurement may have: sums of squares of others say nothing, or overflow.
LEAST_SPREAD, MOST_SPREAD = 1e-9, 10.0

Kind = Literal["jobs", "metrics"]


@dataclass(frozen=True)
class Row:
    """One number that was measured."""

    line: int  # of the file
    run: str  # the run it is of
    name: int | str  # the job's number, or the metric
    value: float  # response time [ms], or the metric in its unit; above 0
    log_sd: float = math.nan  # standard deviation of its logarithm by its measurement; NaN: not said
    is_held_out: bool = False  # whether it is left out of the fit


@dataclass(frozen=True)
class Observed:
    """A file of measurements."""

    file: str  # its path
    kind: Kind  # "jobs" or "metrics"
    rows: tuple[Row, ...]  # in the file's order
    conditions: Mapping[str, Mapping[str, Value]]  # of each run, what it sets of the scenario, by dotted key

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs, in the file's order."""
        return tuple(self.conditions)

    @property
    def fitted(self) -> tuple[Row, ...]:
        """The rows of the fit."""
        return tuple(row for row in self.rows if not row.is_held_out)

    def line(self, row: Row, words: str) -> str:
        """A message on a row."""
        return f"{self.file}, line {row.line}: {words}"

    def holding_out(self, share: float, seed: int) -> Observed:
        """Hold a share out: whole runs where there are several, else rows; which ones depends on the seed alone.

        Raises InputError: the file itself says what is held out, or nothing would be left of one side.
        """
        if any(row.is_held_out for row in self.rows):
            raise InputError(f"--held-out {share:g}: {self.file} says itself what is held out, in its column use")
        units = list(self.runs) if len(self.runs) > 1 else [str(position) for position in range(len(self.rows))]
        count = min(max(1, round(share * len(units))), len(units) - 1)
        if count < 1:
            raise InputError(f"--held-out {share:g}: {self.file} has one row alone")
        chosen = {units[one] for one in np.random.default_rng([seed, len(units)]).permutation(len(units))[:count]}
        by_run = len(self.runs) > 1
        rows = (
            replace(row, is_held_out=(row.run if by_run else str(position)) in chosen)
            for position, row in enumerate(self.rows)
        )
        return replace(self, rows=tuple(rows))


def read_observed(path: str | Path, value_of: Callable[[str], object]) -> Observed:
    """Read a file of measurements (docs/how-to/calibrate.md: the format).

    Args:
        path: CSV, plain or packed by gzip or xz.
        value_of: reads the value of a key as `--set` does.

    Raises InputError: no such file, unknown columns, wrong cells, rows that are there twice; the first ten problems.
    """
    with opened(path) as file:
        cells = CsvCells(Lines(unpacked(file, path, Limit(MOST_MB, "split the file")), str(path)), kind="row")
        kind = _kind(cells)
        reader = _RowReader(cells, kind, value_of)
        for block in cells:
            reader.take(block.cells, block.lines)
    cells.problems.refuse()
    return Observed(str(path), kind, tuple(reader.rows), reader.conditions)


def _kind(cells: CsvCells) -> Kind:
    """What a row is, by the header. Raises InputError for columns that are unknown or missing."""
    names = set(cells.names)
    is_jobs, is_metrics = bool(names & set(JOBS)), bool(names & set(METRICS))
    if is_jobs == is_metrics:
        raise InputError(
            f"{cells.where}, line 1: found {', '.join(cells.names)[:200]}: allowed: columns job and response_ms (a row "
            "a job), or metric and value (a row a metric), not both"
        )
    needed = JOBS if is_jobs else METRICS
    known = (*needed, "run", "use", *(() if is_jobs else SPREADS))
    problems = [f"{cells.where}, line 1: column {name!r} is missing" for name in needed if name not in names]
    for name in cells.names:
        if name not in known and "." not in name:
            near = get_close_matches(name[:60], known, 1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            problems.append(
                f"{cells.where}, line 1: unknown column {name[:60]!r}{hint}; allowed: {', '.join(known)}, and keys of "
                "the scenario with their dots"
            )
    if ("ci_low" in names) != ("ci_high" in names) or {"sd", "ci_low"} <= names:
        problems.append(f"{cells.where}, line 1: allowed: sd, or ci_low and ci_high together")
    if problems:
        raise InputError(problems)
    return "jobs" if is_jobs else "metrics"


class _RowReader:
    """Rows as they come; what is wrong with them joins the file's problems."""

    def __init__(self, cells: CsvCells, kind: Kind, value_of: Callable[[str], object]) -> None:
        self._names, self._problems, self._kind, self._value_of = cells.names, cells.problems, kind, value_of
        self.rows: list[Row] = []
        self.conditions: dict[str, dict[str, Value]] = {}
        self._lines: dict[tuple[str, int | str], int] = {}

    def take(self, cells: Mapping[str, object], lines: object) -> None:
        """Take a block of rows."""
        columns = [cells[name] for name in self._names]
        for line, *row in zip(lines, *columns, strict=True):  # type: ignore[call-overload]
            given = {name: text.strip() for name, text in zip(self._names, row, strict=True)}
            found = self._row(line, given)
            if isinstance(found, Row):
                self.rows.append(found)
            else:
                self._problems.add((line, words) for words in found)

    def _row(self, line: int, given: Mapping[str, str]) -> Row | list[str]:
        run, use = given.get("run", "") or "1", given.get("use", "") or "fit"
        problems = [] if use in USES else [f"use = {shortened(use)}: allowed: {', '.join(USES)}, or nothing"]
        name: int | str
        if self._kind == "jobs":
            column, text = "response_ms", given["response_ms"]
            job = number(given["job"])
            if not (0 <= job < 2**53 and job == math.floor(job)):
                problems.append(f"job = {shortened(given['job'])}: allowed: a whole number from 0")
                job = -1.0
            name = int(job)
        else:
            column, text = "value", given["value"]
            name = given["metric"]
        value = number(text)
        if not 0.0 < value <= LARGEST:
            problems.append(f"{column} = {shortened(text)}: allowed: a number above 0 and up to {LARGEST:g}")
        log_sd = math.nan
        if not problems:
            try:
                log_sd = _log_sd(given, value)
            except InputError as problem:
                problems += problem.problems
        problems += self._condition_problems(run, given)
        before = self._lines.setdefault((run, name), line)
        if not problems and before != line:
            what = f"job {name}" if self._kind == "jobs" else f"metric {name}"
            problems.append(f"{what} of run {shortened(run)} is there already, in line {before}")
        return problems or Row(line, run, name, value, log_sd, use == "held-out")

    def _condition_problems(self, run: str, given: Mapping[str, str]) -> Iterator[str]:
        """Note what a row sets of the scenario, and say where it differs from the run's first row."""
        found: dict[str, Value] = {}
        for key in (name for name in self._names if "." in name):
            if not given[key]:
                continue
            value = self._value_of(given[key])
            if isinstance(value, bool | int | float | str):
                found[key] = value
            else:
                yield f"{key} = {shortened(given[key])}: allowed: a number, true or false, or a word"
        first = self.conditions.setdefault(run, found)
        for key in sorted({*first, *found}):
            if first.get(key) != found.get(key):
                yield (
                    f"{key} = {shortened(given.get(key, ''))}: run {shortened(run)} has {first.get(key, 'nothing')} in "
                    "its first row; all rows of a run have the same"
                )


def _log_sd(given: Mapping[str, str], value: float) -> float:
    """The standard deviation of a value's logarithm, by `sd` or by its 95 % interval; NaN: neither is given."""
    texts = {name: given[name] for name in SPREADS if given.get(name)}
    if not texts:
        return math.nan
    found = {name: number(text) for name, text in texts.items()}
    if "sd" in found:
        if not LEAST_SPREAD * value <= found["sd"] <= MOST_SPREAD * value:
            raise InputError(
                f"sd = {shortened(texts['sd'])}: allowed: a number from {LEAST_SPREAD:g} to {MOST_SPREAD:g} times the "
                "value, or nothing"
            )
        return found["sd"] / value
    if len(found) < 2 or not 0.0 < found["ci_low"] < value < found["ci_high"] < math.inf:
        words = ", ".join(f"{name} = {shortened(text)}" for name, text in texts.items())
        raise InputError(f"{words}: allowed: both, with 0 < ci_low < value < ci_high, or neither")
    spread = (math.log(found["ci_high"]) - math.log(found["ci_low"])) / (2 * HALF_95)
    if not LEAST_SPREAD <= spread <= MOST_SPREAD:
        words = ", ".join(f"{name} = {shortened(text)}" for name, text in texts.items())
        raise InputError(
            f"{words}: the logarithm's standard deviation is {spread:.3g}: allowed: from {LEAST_SPREAD:g} to "
            f"{MOST_SPREAD:g}"
        )
    return spread
