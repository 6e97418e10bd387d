"""Where arriving tasks start: each load manager places its own, in the order of their arrival."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from cluster_abm.arrays import Integers
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import NONE
from cluster_abm.model.agents.load_manager import LoadManager
from cluster_abm.model.deciding.announcements import Announcements
from cluster_abm.model.deciding.compiled.negotiation import AtFault, CompiledNegotiation
from cluster_abm.model.deciding.in_python import Begun, Placed
from cluster_abm.model.deciding.task_starts import TaskStarts
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.knowing.views import Views
from cluster_abm.model.part import part
from cluster_abm.model.waiting.queues import Submissions, TaskArrivals


@part
class Placement:
    """Has arriving tasks placed, in compiled code or in Python.

    Attributes:
        starts: sends tasks to their nodes.
        managers: the load managers, by node.
        compiled: does what they do in compiled code; None: they do it themselves.
        any_decides: whether any manager decides where an arriving task starts.
    """

    engine: EngineState
    availability: Availability
    announcements: Announcements
    views: Views
    starts: TaskStarts
    submissions: Submissions
    managers: Sequence[LoadManager]
    compiled: CompiledNegotiation | None

    def __post_init__(self) -> None:
        # What a policy holds in queues is placed where these are served (waiting.compiled_queues).
        self._holds = any(manager.policy.holds_jobs for manager in self.managers)
        self.any_decides = any(manager.decides_on_arrival for manager in self.managers)

    def place(self, arrivals: TaskArrivals) -> bool:
        """Send each arriving task to the node on which it starts; False if every node refused its job.

        Each is decided, and departs, before the next one is, so that what the next one sees includes it. Only jobs of a
        policy that holds jobs, which come one at a time, are refused by every node.
        """
        if self.any_decides and not self._holds and self.compiled is not None and self.compiled.is_right:
            # What concerns the links is noted afterwards, in the same order.
            stand_in = self.availability.stand_ins()
            placed = self.compiled.place(arrivals, stand_in, self.path_in_python(arrivals, stand_in))
            self.starts.note_links(arrivals, stand_in, placed)
            return True
        origins = self.availability.stand_ins()[self.engine.jobs["home"][arrivals.job]]
        if not self.any_decides:
            self.starts.start_at_home(arrivals, origins)
            return True
        self.views.look()
        return all(
            self._place_one(job, rank, held_ns, home)
            for job, rank, held_ns, home in zip(*map(np.ndarray.tolist, (*arrivals, origins)), strict=True)
        )

    def willing(self, asked: list[int]) -> Iterator[int]:
        """Of the managers whose period has come, those whose policies may have a task leave their nodes, in order.

        Each may do so before the next one is sought. Only where each of them acts as LoadManager does.
        """
        if self.compiled is None or not self.compiled.relieves:
            yield from asked
            return
        managers = np.array(asked)
        place = self.compiled.next_willing(managers, 0)
        while place < len(asked):
            yield asked[place]
            place = self.compiled.next_willing(managers, place + 1)

    @property
    def places_slice_by_slice(self) -> bool:
        """Whether only arrivals of one slice may be given at once; else each is placed when its slice begins."""
        if self.submissions.starter is not None:
            return not (self.submissions.starter.is_right and self.submissions.starter.leaps)
        leaps = self.compiled is not None and self.compiled.is_right and not self.starts.transfers.is_contended
        return self.any_decides and not leaps

    def _place_one(self, job: int, rank: int, held_ns: int, home: int, begun: Begun | None = None) -> bool:
        """Place one arriving task, or go on with what has begun; False if every node refused its job."""
        manager, task = self.managers[home], self.announcements.of(job, rank)
        if begun is not None:
            target, asking_ns, asked = manager.go_on_placing(task, begun)
        else:
            target, asking_ns, asked = manager.place(task) if manager.decides_on_arrival else Placed(home)
        if target == NONE:
            return False
        self.starts.start(task, rank, held_ns, home, target, asking_ns)
        self.views.true_row(target)
        if target != home and self.starts.transfers.is_contended:
            # Its link has more to transfer.
            self.views.true_row(home)
        if asked:
            self.views.learn(home, target)
        if manager.migrates_on_arrival:
            manager.rebalance(task)
        return True

    def path_in_python(self, arrivals: TaskArrivals, stand_in: Integers) -> AtFault:
        """What goes on about one of these tasks in Python (CompiledNegotiation.place)."""

        def at_fault(entry: int, has_started: bool, begun: Begun) -> None:
            job, rank, held_ns = (int(column[entry]) for column in arrivals)
            self.go_on(job, rank, held_ns, int(stand_in[self.engine.jobs["home"][job]]), has_started, begun)

        return at_fault

    def go_on(self, job: int, rank: int, held_ns: int, home: int, has_started: bool, begun: Begun) -> bool:
        """Go on in Python where compiled code cannot tell what the policy decides; False: the job goes on waiting.

        Args:
            job, rank, held_ns: the task, and how long it was held [ns].
            home: the node of its load manager.
            has_started: whether it has started: only tasks that migrate after it are to be decided.
            begun: how far compiled code has come.
        """
        self.views.look()
        if has_started:
            self.managers[home].go_on_rebalancing(self.announcements.of(job, rank), begun)
            return True
        return self._place_one(job, rank, held_ns, home, begun)
