"""Jobs with parents: each is submitted once all of them have ended, as the tasks of a workflow are."""

from __future__ import annotations

from cluster_abm.model.part import part
from cluster_abm.model.waiting.following import Following
from cluster_abm.workload.parents import Parents, children_of


@part
class Dependents(Following):
    """A job with parents is submitted its think time after the last of them has ended, and not before its own arrival
    time.

    Attributes:
        engine: its job table says when jobs without parents arrive; NEVER stands for the others.
        parents: of each job.
        earliest_ns: before which no job is submitted, of each job [ns]; changed in place.
    """

    parents: Parents
    earliest_ns: list[int]

    def __post_init__(self) -> None:
        super().__post_init__()
        self._children = children_of(self.parents)
        self._think_ns: list[int] = self.engine.jobs["think_ns"].tolist()
        self._missing: list[int] = self.parents.counts.tolist()

    def _plan_after(self, job: int, ended_ns: int) -> None:
        first, last = self._children.first[job : job + 2]
        for child in self._children.parent[first:last].tolist():
            self._missing[child] -= 1
            self.earliest_ns[child] = max(self.earliest_ns[child], ended_ns + self._think_ns[child])
            if not self._missing[child]:
                self._plan(child, self.earliest_ns[child])
