"""A job that runs on a node from the beginning of a run: `[[workload.initial]]`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, Strict, model_validator

from cluster_abm.scenario.base import Section
from cluster_abm.scenario.distributions import MOST_TASKS, Count, NonNegative, Positive, Share


class InitialJob(Section):
    """A job that is on its node at time 0, without a decision; part of its CPU demand is done by then.

    Its columns are those of a trace. A column that is not set is drawn as for a job of a trace. What counts in the run
    is the work that is left, `cpu_ms` - `age_ms`: the isolated time, and with it the slowdown, is that of this work,
    and the response time counts from 0. Barriers count from 0 too. A job that loses its node begins again as it was at
    0. The accesses that it made before are not known: it has made none at 0. It needs no files and runs no profile.
    """

    node: Annotated[int, Strict(), Field(ge=0)]
    """where all its tasks are; 0 is the first node"""
    cpu_ms: Positive
    """whole CPU demand of a task at speed 1, with what it has received [ms]"""
    age_ms: NonNegative = 0.0
    """CPU at speed 1 that each task has received before the run: less than cpu_ms [ms]"""
    tasks: Annotated[Count, Field(le=MOST_TASKS)] | None = None
    """how many tasks it has"""
    io_per_ms: NonNegative | None = None
    """accesses of a task per ms of its CPU [1/ms]"""
    request_kb: Positive | None = None
    """mean size of an access [KB]"""
    memory_mb: NonNegative | None = None
    """memory demand of a task, resident at 0 [MB]"""
    initial_data_mb: NonNegative | None = None
    """data on the node's disk that must follow a task [MB]"""
    write_share: Share | None = None
    """share of the accesses that write"""
    reaccess_rate: NonNegative | None = None
    """how often data is accessed again"""
    requested_ms: Positive | None = None
    """run time that it requests, from 0 on [ms]"""

    @model_validator(mode="after")
    def _has_work_left(self) -> InitialJob:
        if self.age_ms >= self.cpu_ms:
            raise ValueError(f"age_ms {self.age_ms:g}: must be below cpu_ms {self.cpu_ms:g}, the whole demand")
        return self
