"""The pooled reference on many seeds, by which the means of policies on few seeds are corrected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from cluster_abm.arguments import shortened
from cluster_abm.errors import InputError
from cluster_abm.limits import check_runs, counted
from cluster_abm.results.words import line_words
from cluster_abm.scenario import Scenario
from cluster_abm.study.design.policies import with_policy
from cluster_abm.study.runner.tasks import SeededRun
from cluster_abm.study.statistics.bounds import bounds_of
from cluster_abm.study.statistics.control import LEAST_CORRELATION, LEAST_SEEDS, controlled
from cluster_abm.study.statistics.estimates import Estimate, estimate

POOLED = "pooled"


@dataclass(frozen=True)
class ReferenceRuns:
    """Runs of the pooled reference.

    Attributes:
        rows: the metrics of each run that finished, by seed.
    """

    rows: Mapping[int, Mapping[str, Any]]

    def corrected(self, values: Sequence[float], metric: str, seeds: Sequence[int]) -> Estimate | None:
        """A policy's mean of a metric, corrected by that of the reference (statistics.control.controlled).

        Args:
            values: of the policy, one a seed.
            metric: its name.
            seeds: the seeds.

        Returns:
            None where the plain mean is to be used: with few seeds, or where the two have little to do with each other.
        """
        x = {seed: float(row[metric]) for seed, row in self.rows.items() if isinstance(row.get(metric), int | float)}
        if len(x) < len(self.rows) or not set(seeds) <= x.keys():
            return None
        more = [one for seed, one in x.items() if seed not in seeds]
        return controlled(values, [x[seed] for seed in seeds], more, bounds_of(metric))


class Referred(Protocol):
    """What is read of a comparison (study.comparison.Comparison)."""

    @property
    def policies(self) -> Sequence[str]:
        """Their names."""

    @property
    def seeds(self) -> Sequence[int]:
        """Those for which every policy finished."""

    @property
    def one_run(self) -> frozenset[str]:
        """The policies of which all seeds gave the same run."""

    @property
    def headline(self) -> str:
        """The measure that policies are compared by."""

    @property
    def reference(self) -> ReferenceRuns | None:
        """The pooled reference on more seeds."""

    def values(self, policy: str, metric: str) -> list[float]:
        """One value a seed."""


def own_mean(
    values: Sequence[float],
    metric: str,
    seeds: Sequence[int],
    reference: ReferenceRuns | None,
    are_replicates: bool = False,
) -> Estimate:
    """A policy's mean of a metric over seeds, corrected by the reference where there is one that helps.

    Arguments as of `ReferenceRuns.corrected`, and of `estimate`.
    """
    found = None if reference is None else reference.corrected(values, metric, seeds)
    return estimate(values, bounds_of(metric), are_replicates) if found is None else found


def corrected_policies(found: Referred, metric: str) -> list[str]:
    """The policies whose mean of a metric is corrected by the reference."""
    if found.reference is None:
        return []
    return [
        name
        for name in found.policies
        if name not in found.one_run
        and found.reference.corrected(found.values(name, metric), metric, found.seeds) is not None
    ]


def reference_words(found: Referred) -> str:
    """What stands in the head of a table, to be put after other words; "": no reference was asked for."""
    if found.reference is None:
        return ""
    names = ", ".join(corrected_policies(found, found.headline))
    if not names:
        return (
            f"; no mean is corrected by the pooled reference: it takes {LEAST_SEEDS} seeds and a correlation of "
            f"{LEAST_CORRELATION:g}"
        )
    count = len(found.reference.rows)
    return (
        f"; means corrected by the pooled reference on {count:,} seeds: {line_words(found.headline)} of {names}, and "
        f"other columns where the correlation is at least {LEAST_CORRELATION:g}"
    )


def reference_tasks(scenario: Scenario, seeds: int, wanted: int | None) -> list[SeededRun]:
    """The runs of the reference, from the scenario's seed on.

    Args:
        scenario: what is compared.
        seeds: how many seeds are compared.
        wanted: from how many the reference runs; None: from none.

    Raises InputError: not more than are compared, or each seed draws another log from one.
    """
    if wanted is None:
        return []
    if scenario.workload.is_resampled:
        raise InputError(
            f'reference_seeds {shortened(wanted)}: workload.trace.resample is "{scenario.workload.trace.resample}": '
            'intervals are by the spread of the draws, which more draws do not narrow: allowed with "none"'
        )
    if not isinstance(wanted, int) or isinstance(wanted, bool) or wanted <= seeds:
        raise InputError(
            f"reference_seeds {shortened(wanted)}: allowed are whole numbers above {counted(seeds)}, the seeds compared"
        )
    check_runs(f"{counted(wanted)} seeds of the pooled reference", wanted)
    pooled = with_policy(scenario, POOLED)
    return [SeededRun(pooled, scenario.run.seed + number) for number in range(wanted)]
