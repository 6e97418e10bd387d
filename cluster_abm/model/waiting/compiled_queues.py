"""The queues of a policy with a queue a node as rows, which compiled code serves (deciding.compiled.holding)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np

from cluster_abm.arrays import Integers
from cluster_abm.clock import Clock
from cluster_abm.compiling.pointers import point
from cluster_abm.compiling.tables import address
from cluster_abm.engine.state import EngineState
from cluster_abm.jit import entry
from cluster_abm.model.deciding.compiled.holding import (
    ALL_NEXT,
    ASKING_NS,
    AT_FAULT_OF_HOLDING,
    HELD_NS,
    JOB,
    LET_GO,
    NODE,
    QUEUE,
    RANK,
    STARTED,
    STARTED_ROWS,
    STATES,
    TASK_RANK,
    WAITING,
    queues_group,
    release,
)
from cluster_abm.model.deciding.compiled.negotiation import CompiledNegotiation, sample_arguments
from cluster_abm.model.deciding.compiled.scratch import AT_FAULT, AT_FAULT_OF_MIGRATION, DONE, NO_ROOM, OUTCOME
from cluster_abm.model.deciding.placement import Placement
from cluster_abm.model.part import part
from cluster_abm.model.waiting.holding import JobHolding
from cluster_abm.model.waiting.queues import TaskArrivals

# Tasks that one call may start: then what concerns the links is noted.
AT_ONCE = 1024


@part
class CompiledQueues:
    """Serves queues in compiled code, in the same order and with the same results as Submissions does in Python."""

    engine: EngineState
    clock: Clock
    holding: JobHolding
    placement: Placement
    negotiation: CompiledNegotiation

    def __post_init__(self) -> None:
        nodes, compiled = len(self.engine.nodes), self.negotiation.inputs.compiled
        self._head, self._tail = np.full(nodes, -1), np.full(nodes, -1)
        self._following, self._joined = np.full(len(self.engine.jobs), -1), np.zeros(nodes, bool)
        self._state = np.zeros(STATES, np.int64)
        self._state[QUEUE] = nodes
        self._started = np.zeros((STARTED_ROWS, AT_ONCE), np.int64)
        self._row = np.zeros(1, queues_group.row)
        self._row["holds"], self._row["takes_back"] = compiled.holds, compiled.takes_back
        arrays = {
            "head": self._head, "tail": self._tail, "following": self._following, "joined": self._joined,
            "state": self._state,
        }  # fmt: skip
        point(self._row, arrays)

    @property
    def is_right(self) -> bool:
        """Whether what is compiled is the policy as it is, and for the nodes as they are."""
        return self.negotiation.is_right

    @property
    def waiting(self) -> int:
        """How many jobs wait."""
        return int(self._state[WAITING])

    def take_over(self, queues: Mapping[int, deque[int]]) -> None:
        """Make these the queues, each of a node."""
        for node, queue in queues.items():
            jobs = np.array(queue, np.int64)
            if len(jobs):
                self._head[node], self._tail[node] = jobs[0], jobs[-1]
                self._following[jobs[:-1]], self._following[jobs[-1]] = jobs[1:], -1
                self._state[WAITING] += len(jobs)

    def hand_over(self) -> dict[int, deque[int]]:
        """The queues that are not empty, by node; from now on there is none here."""
        queues = {}
        for node in np.flatnonzero(self._head >= 0).tolist():
            queue, job = deque[int](), int(self._head[node])
            while job >= 0:
                queue.append(job)
                job = int(self._following[job])
            queues[node] = queue
        self._head[:] = -1
        self._state[WAITING] = 0
        return queues

    def serve(self, arrived: Integers, looks_at_all: bool) -> None:
        """Jobs join their queues, each in its slice; queues that a job has joined are looked at, or all of them now."""
        self._state[ALL_NEXT] = looks_at_all
        self.negotiation.inputs.bring_up_to_date()
        stand_in = self.placement.availability.stand_ins()
        joined, outcome = 0, NO_ROOM
        while outcome != DONE:
            joined, counts = self.negotiation.carry_out(
                self._release, stand_in, arrived, self._started, joined, address(self._row)
            )
            outcome = counts[OUTCOME]
            self._note_links(stand_in)
            if outcome == NO_ROOM and self._state[STARTED] < AT_ONCE:
                self.negotiation.make_room(self._head_job, stand_in)
            elif outcome in (AT_FAULT, AT_FAULT_OF_MIGRATION, AT_FAULT_OF_HOLDING):
                self._go_on_in_python(outcome, counts, stand_in)

    @property
    def _head_job(self) -> int:
        """The job at the head of the queue that is looked at."""
        return int(self._head[self._state[QUEUE]])

    def _note_links(self, stand_in: Integers) -> None:
        count = int(self._state[STARTED])
        if count:
            started = self._started[:, :count]
            arrivals = TaskArrivals(started[JOB], started[TASK_RANK], started[HELD_NS])
            self.placement.starts.note_links(arrivals, stand_in, started[NODE : ASKING_NS + 1])

    def _go_on_in_python(self, outcome: int, counts: list[int], stand_in: Integers) -> None:
        """Where compiled code cannot tell: the policy is asked in Python about the job at the head."""
        state, job = self._state, self._head_job
        if outcome == AT_FAULT_OF_HOLDING:
            self.negotiation.note_fault()
            self.holding.look()
            state[LET_GO] = goes_on = self.holding.next_job([job]) >= 0
        else:
            begun = self.negotiation.begun(counts)
            home = int(stand_in[self.engine.jobs["home"][job]])
            held_ns = max(0, self.clock.now_ns - int(self.engine.jobs["arrival_ns"][job]))
            has_started = outcome == AT_FAULT_OF_MIGRATION
            goes_on = self.placement.go_on(job, int(state[RANK]), held_ns, home, has_started, begun)
            state[RANK] += 1
        if not goes_on:
            self._joined[state[QUEUE]] = False
            state[QUEUE] += 1
            state[RANK] = state[LET_GO] = 0

    @cached_property
    def _release(self) -> Callable[..., int]:
        return compiled_release(self.engine)


def compiled_release(engine: EngineState) -> Callable[..., int]:
    """The compiled code of holding.release: the same for all policies."""
    numbers, table = np.zeros(1, np.int64), np.zeros((1, 1), np.int64)
    return entry(release, *sample_arguments(engine)[:10], numbers, table, 0, 0)
