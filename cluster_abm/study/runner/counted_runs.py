"""Runs that a design asks for a few at a time, on one executor that stays open, and how many they were."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from tqdm import tqdm

from cluster_abm.scenario import Scenario
from cluster_abm.study.runner.executors import BatchExecutor
from cluster_abm.study.runner.tasks import Task, Where, run_all


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
        self,
        where: Where,
        executor: BatchExecutor,
        quiet: bool,
        budget: int,
        name: str,
        keeps_responses: bool = False,
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
            [Task(scenario, seed) for scenario, seed in runs],
            label=f"{self._name}, {self.asked} of {self._budget} runs",
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
