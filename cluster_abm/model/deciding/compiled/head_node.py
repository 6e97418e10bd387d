"""A head node whose policy has a compiled form: it starts the jobs of its queue, as waiting.queues does in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

from cluster_abm.arrays import Integers
from cluster_abm.clock import Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.jit import entry
from cluster_abm.model.deciding.compiled.negotiation import CompiledNegotiation, sample_arguments
from cluster_abm.model.deciding.compiled.scratch import (
    AT_FAULT,
    AT_FAULT_OF_START,
    AT_FAULT_OF_TASK,
    DECLINED,
    JOB,
    LASTS,
    NO_ROOM,
    OUTCOME,
    READ_THEN,
    STARTED,
)
from cluster_abm.model.deciding.compiled.starting import start_jobs
from cluster_abm.model.deciding.task_starts import TaskStarts
from cluster_abm.model.part import part
from cluster_abm.model.waiting.cores import Cores
from cluster_abm.model.waiting.job_queue import JobQueue
from cluster_abm.model.waiting.queues import Submissions, TaskArrivals


@part
class CompiledHeadNode:
    """Starts the jobs of the queue in compiled code, as long as nothing else acts."""

    engine: EngineState
    clock: Clock
    submissions: Submissions
    cores: Cores
    starts: TaskStarts
    negotiation: CompiledNegotiation

    def __post_init__(self) -> None:
        self.widest = int(self.engine.widths.max(initial=1))

    @property
    def is_right(self) -> bool:
        """Whether what is compiled is the policy as it is, for the nodes as they are."""
        return self.negotiation.is_right

    @property
    def leaps(self) -> bool:
        """Whether it goes from event to event by itself; else one slice is looked at in a call."""
        return not (self.submissions.schedule.waits_for_ends or self.starts.notes_links or self.engine.is_detailed)

    def start_jobs(self, jobs: Integers, boundary_ns: int, stand_in: Integers) -> Iterator[TaskArrivals]:
        """Jobs join the queue and start, up to a boundary; groups of tasks are yielded that Python is to place.

        Args:
            jobs: the jobs that are submitted before the boundary, in their order.
            boundary_ns: the boundary [ns].
            stand_in: the node that takes the arrivals of each node.
        """
        submissions, clock = self.submissions, self.clock
        queue, holding = submissions.queue, submissions.holding
        assert queue is not None
        assert holding is not None
        has_news, leaps = holding.has_news(), self.leaps and boundary_ns > clock.next_boundary_ns
        while True:
            joined, counts = self._call(queue, jobs, boundary_ns, stand_in, leaps, has_news)
            jobs, outcome = jobs[joined:], counts[OUTCOME]
            has_news = True
            if outcome == NO_ROOM:
                self._make_room(queue)
            elif outcome == AT_FAULT:
                holding.look()
                yield from submissions.serve(queue, holding)
                has_news = False
            elif outcome == AT_FAULT_OF_START:
                holding.look()
                yield from submissions.start(queue, holding, counts[DECLINED])
                has_news = not submissions.was_put_back
            elif outcome == AT_FAULT_OF_TASK:
                self.cores.lasts = counts[LASTS]
                yield submissions.tasks_of(np.array([counts[JOB]]), counts[DECLINED])
            else:
                break
        holding.news.note_asked(counts[READ_THEN])

    def _call(
        self, queue: JobQueue, jobs: Integers, boundary_ns: int, stand_in: Integers, leaps: bool, has_news: bool
    ) -> tuple[int, list[int]]:
        """One call of the kernel: how many jobs have joined, and what it has counted."""
        inputs = self.negotiation.inputs
        # A task that is killed needs a row, of a job that starts or not.
        self.engine.make_room(int(inputs.settings["spare_rows"][0]))
        # Of a run that can fail links are noted from its first failure on.
        inputs.make_room_to_start(self.cores.most + self.widest, self.widest + 1024 if self.starts.notes_links else 0)
        inputs.bring_up_to_date()
        joined, counts = self.negotiation.carry_out(
            self._start_jobs, stand_in, self.cores.at, queue.at, jobs, boundary_ns, leaps, has_news
        )
        if counts[OUTCOME] in (AT_FAULT, AT_FAULT_OF_START, AT_FAULT_OF_TASK):
            self.negotiation.note_fault()
        if counts[STARTED]:
            job, rank, target, held_ns = inputs.scratch.started[:4, : counts[STARTED]]
            nothing = np.zeros_like(target)
            self.starts.note_links(TaskArrivals(job, rank, held_ns), stand_in, np.array([target, nothing, nothing]))
        return joined, counts

    def _make_room(self, queue: JobQueue) -> None:
        """Make room for the start of any job, and for many more."""
        self.engine.make_room(self.widest + 1024 + int(self.negotiation.inputs.settings["spare_rows"][0]))
        self.cores.make_room(self.widest + 1024 + self.cores.most)
        log = self.negotiation.tallies.log
        if log.is_read:
            log.room(self.widest)
        queue.make_room()

    @cached_property
    def _start_jobs(self) -> Callable[..., int]:
        return compiled_start(self.engine)


def compiled_start(engine: EngineState) -> Callable[..., int]:
    """The compiled code of starting.start_jobs: the same for all policies."""
    return entry(start_jobs, *sample_arguments(engine)[:10], 0, 0, np.zeros(1, np.int64), 0, False, False)
