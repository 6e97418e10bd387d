"""Jobs that are submitted once others have ended: which job waits for which."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cluster_abm.workload.traces.table import Parents

Integers = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def counts_of(parents: Parents) -> Integers:
    """How many jobs each job waits for, shape (jobs,)."""
    return np.diff(parents.first)


def parents_of(jobs: int, parent: Integers, waiting: Integers) -> Parents:
    """The dependencies of so many jobs, given in any order: job `waiting[i]` waits for job `parent[i]`."""
    order = np.argsort(waiting, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(waiting, minlength=jobs))]).astype(np.int64)
    return Parents(first, np.asarray(parent, np.int64)[order])


def children_of(parents: Parents) -> Parents:
    """The same graph the other way round: for each job those that wait for it."""
    return parents_of(len(parents.first) - 1, _waiting(parents), parents.parent)


def among(parents: Parents, kept: Bools) -> Parents | None:
    """The dependencies among the jobs that are kept, shape (jobs,), which are numbered anew; None: there is none.

    A job that waited for one that is left out, as its log had done before the chosen part began, does not wait for it.
    """
    number = np.cumsum(kept) - 1
    waiting = _waiting(parents)
    stays = kept[parents.parent] & kept[waiting]
    if not stays.any():
        return None
    return parents_of(int(kept.sum()), number[parents.parent[stays]], number[waiting[stays]])


def _waiting(parents: Parents) -> Integers:
    """For each dependency the job that waits, shape (dependencies,)."""
    return np.repeat(np.arange(len(parents.first) - 1), counts_of(parents))
