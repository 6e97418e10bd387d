"""Runs that a design asks for a few at a time, on one executor that stays open, and how many they were."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from cluster_abm.scenario import Scenario
from cluster_abm.study.runner.executors import BatchExecutor, open_executor
from cluster_abm.study.runner.tasks import SeededRun, Where, run_all
from cluster_abm.study.store.commands import claim

# The folder of the runs, in that of a command's results.
STORE = "store"


class CountedRuns:
    """Carries out runs on one executor, and counts them.

    Args:
        where: as of `run_all`.
        executor: open; its opener ends it.
        quiet: no progress bar.
        budget: how many runs are expected, for the progress bar.
        name: of the command, for the progress bar.
        keeps_responses: as of `run_all`.

    Attributes:
        asked: runs that were asked for, those that were in the folder included.
        made: runs carried out.
        errors: faults of this program that ended runs.
        policy_faults: faults of policies, and how many runs each ended.
    """

    def __init__(
        self, where: Where, executor: BatchExecutor, quiet: bool, budget: int, name: str, keeps_responses: bool = False
    ) -> None:
        self._where, self._executor, self._quiet, self._budget = where, executor, quiet, budget
        self._name, self._keeps_responses = name, keeps_responses
        self.made = 0
        self.asked = 0
        self.errors: list[str] = []
        self.policy_faults: dict[str, int] = {}

    def __call__(self, runs: Sequence[tuple[Scenario, int]]) -> list[Mapping[str, Any] | None]:
        """A row for each run. Raises KeyboardInterrupt after an interrupt, when what has finished is kept."""
        outcome = run_all(
            [SeededRun(scenario, seed) for scenario, seed in runs],
            label=f"{self._name}, {self.asked} of {self._budget} runs",
            whole=(self._name, self.asked, self._budget),
            quiet=self._quiet,
            where=self._where,
            executor=self._executor,
            keeps_responses=self._keeps_responses,
        )
        self.made += outcome.made
        self.asked += len(runs)
        self.errors += outcome.errors
        for line, count in outcome.policy_faults.items():
            self.policy_faults[line] = self.policy_faults.get(line, 0) + count
        if outcome.interrupted:
            for run in outcome.under_way:
                tqdm.write(f"under way when it was interrupted: {run}", file=sys.stderr)
            raise KeyboardInterrupt
        return list(outcome.rows)


@contextmanager
def counted_runs(
    name: str,
    budget: int,
    command: Mapping[str, Any],
    what: str,
    *,
    workers: int | None,
    quiet: bool,
    where: Where | None,
    folder: Path | None,
    keeps_responses: bool = False,
) -> Iterator[CountedRuns]:
    """The runs of a command, on an executor that is open in the block.

    Args:
        name, budget, keeps_responses: as of CountedRuns.
        command, what: the command, for its folder (store.commands.claim).
        workers, quiet, where: as in `run_all`.
        folder: of the results, in which runs are kept: what is there already is not run again. None: in memory.

    Raises InputError: the folder holds the results of another command, or what `where` says is wrong.
    """
    place = where or Where(workers=workers)
    place.check()
    if folder is not None:
        claim(folder, command, what)
        place = replace(place, folder=folder / STORE)
    kind, count = place.chosen(budget)
    with open_executor(kind, count, place.dask, place.slurm) as executor:
        yield CountedRuns(place, executor, quiet, budget, name, keeps_responses)
