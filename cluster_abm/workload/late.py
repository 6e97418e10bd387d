"""Jobs whose rows are drawn as a run goes on: the same as if all were drawn before it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cluster_abm import large_tables
from cluster_abm.arrays import Floats
from cluster_abm.engine.tables import JOB, Table
from cluster_abm.errors import InputError
from cluster_abm.large_tables import passing_zeros
from cluster_abm.scenario import Scenario
from cluster_abm.workload.drawing.arrivals import poisson_blocks_s
from cluster_abm.workload.filling import Filling
from cluster_abm.workload.generators import generator
from cluster_abm.workload.times import Sizes

# Jobs that a run may have whose rows are not kept.
MOST_LATE = 2_000_000_000


def can_be_late(scenario: Scenario) -> bool:
    """Whether jobs can be drawn as they arrive: Poisson arrivals of independent jobs of one task each,
    which announce what they need."""
    workload = scenario.workload
    arrivals = workload.arrivals
    is_plain = workload.kind == "synthetic" and not workload.initial and not workload.programs.mix
    is_poisson = arrivals.kind == "poisson" and arrivals.batch_mean == 1.0 and workload.jobs is None
    has_files = scenario.data.files > 0 or scenario.jobs_may_name_files
    is_alone = not workload.tasks.has_parallel_jobs and workload.requested_over_actual is None
    is_exact = workload.announced_error == 1.0
    return is_plain and is_poisson and is_alone and is_exact and not has_files and not scenario.script


class LateJobs:
    """Draws the rows of a job table, in blocks, before they are needed.

    Args:
        jobs_per_s: at which rate jobs arrive, as a mean over the window [1/s].

    Attributes:
        table: the job table, of which the first `drawn` rows are there, unless they have been forgotten.
        drawn: how many rows have been drawn.

    Raises InputError: there are too many.
    """

    def __init__(self, scenario: Scenario, seed: int, jobs_per_s: float) -> None:
        self._scenario, self._seed, self._jobs_per_s = scenario, seed, jobs_per_s
        expected = jobs_per_s * scenario.workload.duration_s
        if expected > MOST_LATE:
            raise InputError(f"workload: {expected:.3g} jobs: allowed are {MOST_LATE:,}")
        size = large_tables.ROWS_AT_ONCE
        self.table = passing_zeros(sum(map(len, self._arrivals_ms(size))), JOB, "jobs")
        self.drawn = 0
        self._blocks = self._filled(self.table, size)
        self._sizes = Sizes(scenario, most_tasks=MOST_LATE)

    def draw(self, rows: int) -> None:
        """Draw at least the first `rows` rows, or all. Raises InputError: a size is more than 64 bits hold."""
        while self.drawn < min(rows, len(self.table)):
            block = next(self._blocks)
            self._sizes.add(block)
            self._sizes.check()
            self.drawn += len(block)

    def again(self, size: int) -> Iterator[Table]:
        """All rows in blocks of `size`, drawn once more; each block is there until the next one is asked for."""
        return self._filled(np.zeros(min(size, len(self.table)), JOB), size)

    def _filled(self, table: Table, size: int) -> Iterator[Table]:
        """Blocks of drawn rows, one after another in a table of all of them, or each in the place of the last one."""
        filling, first = Filling(self._scenario, self._seed, len(self.table)), 0
        for arrival_ms in self._arrivals_ms(size):
            place = first % len(table)
            part = table[place : place + len(arrival_ms)]
            filling.fill(part, arrival_ms, {})
            yield part
            first += len(arrival_ms)

    def _arrivals_ms(self, size: int) -> Iterator[Floats]:
        """Submission times [ms] in blocks of `size`, of which the last may be shorter."""
        workload = self._scenario.workload
        rng = generator(self._seed, "arrivals")
        for times_s in poisson_blocks_s(workload.arrivals, rng, workload.duration_s, self._jobs_per_s, size):
            yield times_s * 1000.0
