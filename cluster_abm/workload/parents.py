"""Jobs that are submitted once others have ended: which job waits for which."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Flags, Integers


class Parents(NamedTuple):
    """Which jobs must have ended before each job is submitted.

    The parents of job j are parent[first[j] : first[j + 1]].
    """

    first: Integers  # where each job's parents begin, shape (jobs + 1,)
    parent: Integers  # numbers of jobs, shape (dependences,)

    @property
    def counts(self) -> Integers:
        """How many jobs each job waits for, shape (jobs,)."""
        return np.diff(self.first)

    def behind(self, jobs: int) -> Parents:
        """The same of a table with that many jobs, which wait for none, before all others."""
        return Parents(np.concatenate([np.zeros(jobs, np.int64), self.first]), self.parent + jobs)

    @property
    def waiting(self) -> Integers:
        """The job that waits, for each dependence, shape (dependences,)."""
        return np.repeat(np.arange(len(self.first) - 1), self.counts)


def from_pairs(jobs: int, parent: Integers, waiting: Integers) -> Parents:
    """The dependences among that many jobs, in any order: job `waiting[i]` waits for job `parent[i]`."""
    order = np.argsort(waiting, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(waiting, minlength=jobs))]).astype(np.int64)
    return Parents(first, np.asarray(parent, np.int64)[order])


def children_of(parents: Parents) -> Parents:
    """The same graph the other way round: for each job those that wait for it."""
    return from_pairs(len(parents.first) - 1, parents.waiting, parents.parent)


def among(parents: Parents, kept: Flags) -> Parents | None:
    """The dependences among the jobs that are kept, shape (jobs,), which are numbered anew; None: there is none.

    A job that waited for one that is left out, as its log had done before the chosen part began, does not wait for it.
    """
    number = np.cumsum(kept) - 1
    waiting = parents.waiting
    stays = kept[parents.parent] & kept[waiting]
    if not stays.any():
        return None
    return from_pairs(int(kept.sum()), number[parents.parent[stays]], number[waiting[stays]])
