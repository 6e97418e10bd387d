"""Programs with an activity profile: what they compute, ask of the memory and access, interval by interval."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from cluster_abm.arrays import Floats, Integers
from cluster_abm.bounded_files import PROFILES_MB
from cluster_abm.engine.tables import PHASE, Table
from cluster_abm.errors import InputError
from cluster_abm.scenario import nearest, shipped_profiles
from cluster_abm.scenario.distributions import Programs
from cluster_abm.workload.profiles import read_profiles
from cluster_abm.workload.traces import Trace


@dataclass(frozen=True)
class Library:
    """Programs and their phases."""

    names: tuple[str, ...]  # the programs, in the order of the file
    phases: Table  # all their phases, one program after another, fields tables.PHASE_FIELDS
    # first, count: where each program's phases begin, and how many there are, shape (programs,) each.
    first: Integers
    count: Integers

    def number(self, name: str, where: str) -> int:
        """A program's number. Raises InputError, which begins with `where`, if there is none of that name."""
        position = self._numbers.get(name)
        if position is None:
            raise InputError(f"{where}: no program {name[:60]!r}; {nearest(name[:60], list(self.names))}")
        return position

    @classmethod
    def nameless(cls, phases: Table) -> Library:
        """Profiles of single jobs, whose rows of the job table say where each begins."""
        return cls((), phases, np.zeros(0, np.int64), np.zeros(0, np.int64))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    def over(self, column: str, how: str) -> Floats:
        """`sum` or `max` of a column over each program's phases, shape (programs,)."""
        reduce = {"sum": np.add, "max": np.maximum}[how]
        return np.asarray(reduce.reduceat(self.phases[column].astype(float), self.first))


def library(programs: Programs) -> Library:
    """The programs of a scenario: of its file, or the shipped ones. Raises InputError for a file that is not right."""
    name = programs.file or "mcls"
    shipped = shipped_profiles(name)
    return _library_of(read_profiles(name, programs.max_mb)) if shipped is None else _shipped(shipped)


@lru_cache(maxsize=2)  # known by the trace itself, which the reader keeps as long
def library_of_trace(trace: Trace) -> Library | None:
    """The programs that a trace describes itself; None if it describes none."""
    return None if trace.profiles is None else _library_of(trace.profiles)


@cache
def _shipped(path: Path) -> Library:
    return _library_of(read_profiles(str(path), PROFILES_MB))


def _library_of(table: pd.DataFrame) -> Library:
    """Make the phases: memory is allocated by growth and turnover; equal intervals in a row without pauses are one."""
    before_mb = table.groupby("program", sort=False)["memory_mb"].shift(fill_value=0.0)
    growth_mb = (table["memory_mb"] - before_mb).clip(lower=0.0)
    fresh_mb_per_s = growth_mb / (table["cpu_ms"] / 1000.0) + table["turnover_mb_per_s"]
    described = pd.DataFrame(
        {
            "program": table["program"],
            "cpu_ms": table["cpu_ms"],
            "memory_kb": (table["memory_mb"] * 1000.0).round().astype("int64"),
            "accesses": table["accesses"].astype("int64"),
            "allocated_kb_per_s": (fresh_mb_per_s * 1000.0).clip(upper=1e12).round().astype("int64"),
            "pause_ns": (table["pause_ms"] * 1e6).round().astype("int64"),
        }
    )
    changes = (described != described.shift()).any(axis=1) | (described["pause_ns"] > 0)
    grouped = described.groupby(changes.to_numpy(bool).cumsum(), sort=False)
    merged = grouped.first()
    merged["cpu_ms"], merged["accesses"] = grouped["cpu_ms"].sum(), grouped["accesses"].sum()
    phases = np.zeros(len(merged), PHASE)
    for name in PHASE.names or ():
        phases[name] = merged[name]
    names = tuple(str(name) for name in merged["program"].unique())
    count: Integers = merged.groupby("program", sort=False).size().to_numpy(np.int64).astype(np.int64)
    return Library(names, phases, np.cumsum(count) - count, count)


def mean_cpu_ms(programs: Programs) -> float:
    """Mean CPU of a job of the mix at speed 1 [ms]. Raises InputError for a program that there is not."""
    known, numbers, shares = _shares(programs)
    return float(np.average(known.over("cpu_ms", "sum")[numbers], weights=shares))


def _shares(programs: Programs) -> tuple[Library, list[int], Floats]:
    """The programs there are, the numbers of those of the mix, and their shares."""
    known = library(programs)
    numbers = [known.number(name, "workload.programs.mix") for name in programs.mix]
    return known, numbers, np.array(list(programs.mix.values()), float)


def mixed(programs: Programs, jobs: int, rng: np.random.Generator) -> Integers:
    """The number of the program that each job runs, shape (jobs,): the shares of the mix as exactly as whole jobs allow
    (largest remainders), in random order."""
    _, numbers, shares = _shares(programs)
    exact = jobs * shares / shares.sum()
    counts = np.floor(exact).astype(np.int64)
    largest = np.argsort(-(exact - counts), kind="stable")[: jobs - counts.sum()]
    counts[largest] += 1
    return rng.permutation(np.repeat(numbers, counts))
