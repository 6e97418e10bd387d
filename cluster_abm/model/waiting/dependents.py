"""Jobs with parents: each is submitted once all of them have ended, as the tasks of a workflow are."""

from __future__ import annotations

from cluster_abm.clock import Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.model.waiting.following import Following
from cluster_abm.workload.parents import Parents, children_of


class Dependents(Following):
    """A job with parents is submitted when the last of them has ended, and not before its own arrival time.

    Args:
        engine: its job table says when jobs without parents arrive; NEVER stands for the others.
        clock: the clock.
        parents: of each job.
        earliest_ns: before which no job is submitted, shape (jobs,) [ns].
    """

    def __init__(self, engine: EngineState, clock: Clock, parents: Parents, earliest_ns: list[int]) -> None:
        super().__init__(engine, clock)
        self._children = children_of(parents)
        self._missing: list[int] = parents.counts.tolist()
        self._earliest_ns = earliest_ns

    def _plan_after(self, job: int, ended_ns: int) -> None:
        first, last = self._children.first[job : job + 2]
        for child in self._children.parent[first:last].tolist():
            self._missing[child] -= 1
            self._earliest_ns[child] = max(self._earliest_ns[child], ended_ns)
            if not self._missing[child]:
                self._plan(child, self._earliest_ns[child])
