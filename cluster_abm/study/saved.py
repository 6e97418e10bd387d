"""What `run --out` and `compare --out` leave in a folder, read again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from cluster_abm import displays
from cluster_abm.bounded_files import TRACE_MB, Limit, opened, whole
from cluster_abm.errors import InputError
from cluster_abm.scenario import Scenario, load_scenario
from cluster_abm.study.comparison import Comparison
from cluster_abm.study.runner.tasks import RunsOutcome

SUMMARY, SCENARIO, RUNS = "summary.json", "scenario.toml", "runs.parquet"
LIMIT = Limit(TRACE_MB, "a summary is small: is it one?")


@dataclass(frozen=True, repr=False)
class SavedRun(displays.Displayed):
    """One run, as `cluster-abm run --out` left it."""

    folder: Path  # where it lies
    scenario: Scenario  # what was run
    # the document that `cluster-abm run --json` printed: scenario, policy, seed, jobs, metrics, ..
    summary: Mapping[str, Any]

    @property
    def metrics(self) -> Mapping[str, Any]:
        """The metrics of the run, by name."""
        metrics: Mapping[str, Any] = self.summary["metrics"]
        return metrics

    @cached_property
    def jobs(self) -> pd.DataFrame:
        """The jobs, a row each. Raises InputError: the table is not there, or damaged."""
        return _table(self.folder / "jobs.parquet")

    @cached_property
    def nodes(self) -> pd.DataFrame:
        """The loads of the nodes when they were measured. Raises InputError as `jobs`."""
        return _table(self.folder / "nodes.parquet")

    @cached_property
    def decisions(self) -> pd.DataFrame:
        """The decisions of the load managers. Raises InputError as `jobs`."""
        return _table(self.folder / "decisions.parquet")

    def __repr__(self) -> str:
        of = self.summary
        return f"<SavedRun of {of['scenario']!r}, policy {of['policy']}, seed {of['seed']}, in {self.folder}>"

    def _parts(self) -> Iterator[str]:
        yield displays.headline(repr(self).strip("<>"), "")
        yield displays.table([{"metric": name, "value": str(value)} for name, value in self.metrics.items()], most=200)


def is_saved(folder: Path) -> bool:
    """Whether a folder is one of `run` or of `compare`."""
    return (folder / SUMMARY).is_file() and any((folder / name).is_file() for name in (RUNS, "jobs.parquet"))


def load_saved(folder: Path) -> Comparison | SavedRun:
    """The results of `compare`, or of `run`, from their folder.

    Raises InputError: a file of them is missing, damaged, or of another kind.
    """
    summary = _summary(folder / SUMMARY)
    scenario = load_scenario(folder / SCENARIO)
    try:
        if (folder / RUNS).is_file():
            runs = _table(folder / RUNS)
            named = [*summary["policies"], *runs["policy"]]
            seeds = tuple(int(seed) for seed in summary["seeds"])
            return Comparison(scenario, tuple(dict.fromkeys(named)), seeds, runs, RunsOutcome(_rows(runs)))
        found = SavedRun(folder, scenario, summary)
        repr(found), dict(found.metrics)
    except (KeyError, TypeError, ValueError) as problem:
        raise InputError(
            f"{folder / SUMMARY}: is not what `run` or `compare` writes ({type(problem).__name__}: {problem}); "
            "the same command writes it anew"
        ) from None
    return found


def _rows(runs: pd.DataFrame) -> list[dict[str, Any] | None]:
    return [{str(name): value for name, value in row.items()} for row in runs.to_dict("records")]


def _summary(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(whole(path, LIMIT))
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{path}: is damaged ({problem}); the same command writes it anew") from None
    if not isinstance(found, dict):
        raise InputError(f"{path}: is not what `run` or `compare` writes; the same command writes it anew")
    return found


def _table(path: Path) -> pd.DataFrame:
    with opened(path) as file:
        try:
            return pd.read_parquet(file)
        except Exception as problem:
            # pyarrow raises of its own, and of Python's, whatever is wrong with the bytes.
            raise InputError(f"{path}: is damaged ({problem}); the same command writes it anew") from None
