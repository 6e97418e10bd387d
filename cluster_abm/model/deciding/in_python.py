"""Where arriving tasks start: each load manager places its own, in the order of their arrival."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from cluster_abm.clock import Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import NONE
from cluster_abm.model.deciding.announcements import Announcements
from cluster_abm.model.deciding.compiled.placement import AtFault, Begun, CompiledNegotiation
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.knowing.reports import Reports
from cluster_abm.model.knowing.views import Views
from cluster_abm.model.moving.departures import Departures
from cluster_abm.model.moving.routes_in_use import RoutesInUse
from cluster_abm.model.moving.staging import Staging
from cluster_abm.model.moving.transfers import Transfers
from cluster_abm.model.setup import travel_ns
from cluster_abm.model.waiting.queues import Arrivals
from cluster_abm.policies import ArrivingTask

Integers = npt.NDArray[np.int64]


class Placed(NamedTuple):
    """Where a task starts.

    Attributes:
        target: its node; NONE: none, its job is held.
        asking_ns: how long asking took [ns].
        asked: how many nodes were asked.
    """

    target: int
    asking_ns: int = 0
    asked: int = 0


class PlacesTasks(Protocol):
    """What places arriving tasks: a load manager."""

    @property
    def decides_on_arrival(self) -> bool:
        """Whether it decides where its arriving tasks start; else they start at home."""

    @property
    def migrates_on_arrival(self) -> bool:
        """Whether it may send a running task elsewhere once it has placed an arriving one."""

    def place(self, task: ArrivingTask) -> Placed:
        """Find a node for an arriving task."""

    def rebalance(self, task: ArrivingTask) -> None:
        """Send tasks of the own node elsewhere, now that a task has been placed."""

    def go_on_placing(self, task: ArrivingTask, begun: Begun) -> Placed:
        """Find a node for a task about which some have been asked."""

    def go_on_rebalancing(self, task: ArrivingTask, begun: Begun) -> None:
        """Send further tasks elsewhere."""


class Placement:
    """Places arriving tasks and sends them on their way.

    Args:
        managers: the load managers, by node.
        compiled: does what they do in compiled code; None: they do it themselves.

    Attributes:
        compiled: as given.
        any_decides: whether any manager decides where an arriving task starts.
    """

    def __init__(
        self,
        engine: EngineState,
        clock: Clock,
        availability: Availability,
        views: Views,
        reports: Reports,
        announcements: Announcements,
        staging: Staging | None,
        transfers: Transfers,
        departures: Departures,
        managers: Sequence[PlacesTasks],
        routes_in_use: RoutesInUse,
        compiled: CompiledNegotiation | None,
    ) -> None:
        self._engine, self._clock, self._availability = engine, clock, availability
        self._views, self._reports, self._announcements = views, reports, announcements
        self._staging, self._transfers, self._departures = staging, transfers, departures
        self._managers, self._routes_in_use, self.compiled = managers, routes_in_use, compiled
        # A task that starts, as the engine is told: reused, for there are many.
        self._one = [np.zeros(1, np.int64) for _ in range(6)]
        self._each_its_own = np.arange(len(engine.nodes))
        self.any_decides = any(manager.decides_on_arrival for manager in managers)

    def place(self, arrivals: Arrivals) -> bool:
        """Send each arriving task to the node on which it starts; False if every node refused its job.

        Each is decided, and departs, before the next one is, so that what the next one sees includes it. Only jobs of a
        policy that holds jobs, which come one at a time, are refused by every node.
        """
        if self.any_decides and self.compiled is not None and self.compiled.is_right:
            self._place_compiled(arrivals, self.compiled)
            return True
        origins = self._engine.jobs["home"][arrivals.job].astype(np.int64)
        if not self._availability.all_accepting:
            # The arrivals of a node that is down or draining are taken by the next one that accepts.
            origins = np.array([self._availability.stand_in(home) for home in origins.tolist()])
        if not self.any_decides:
            self._start_at_home(arrivals, origins)
            return True
        self._views.look()
        return all(
            self._place_one(job, rank, held_ns, home)
            for job, rank, held_ns, home in zip(*map(np.ndarray.tolist, (*arrivals, origins)), strict=True)
        )

    @property
    def places_slice_by_slice(self) -> bool:
        """Whether only arrivals of one slice may be given at once; else each is placed when its slice begins."""
        leaps = self.compiled is not None and self.compiled.is_right and not self._transfers.is_contended
        return self.any_decides and not leaps

    def _place_one(self, job: int, rank: int, held_ns: int, home: int, begun: Begun | None = None) -> bool:
        """Place one arriving task, or go on with what has begun; False if every node refused its job."""
        manager, task = self._managers[home], self._announcements.of(job, rank)
        if begun is not None:
            target, asking_ns, asked = manager.go_on_placing(task, begun)
        else:
            target, asking_ns, asked = manager.place(task) if manager.decides_on_arrival else Placed(home)
        if target == NONE:
            return False
        self._depart(task, rank, held_ns, home, target, asking_ns)
        self._engine.measure(self._clock.now_ns, self._views.true_loads, target, target + 1)
        if target != home and self._transfers.is_contended:
            # Its link has more to transfer.
            self._views.true_row(home)
        if asked and not self._views.all_is_known:
            self._reports.learn(home, target, self._views.true_loads[target])
        if manager.migrates_on_arrival:
            manager.rebalance(task)
        return True

    def start(self, task: ArrivingTask, rank: int, held_ns: int, target: int, told_ns: int) -> None:
        """Start a task that has waited at a manager.

        Args:
            task: the task.
            rank: its number inside its job.
            held_ns: how long it has waited [ns].
            target: its node.
            told_ns: how long it takes to tell its home [ns].
        """
        self._depart(task, rank, held_ns, self._availability.stand_in(task.home), target, told_ns)

    def _depart(self, task: ArrivingTask, rank: int, held_ns: int, home: int, target: int, asking_ns: int) -> None:
        """Send a task from its home to the node on which it starts."""
        delay_ns = self._delay_ns(task, home, target, asking_ns)
        for column, number in zip(self._one, (task.job, rank, held_ns, target, delay_ns, home), strict=True):
            column[0] = number
        self._engine.admit(*self._one)
        if target != home or self._staging is not None:
            self._share_links(task, home, target, asking_ns)

    def _place_compiled(self, arrivals: Arrivals, compiled: CompiledNegotiation) -> None:
        """Place arriving tasks in compiled code; what concerns the links is noted afterwards, in the same order."""
        stand_in = self.stand_ins()
        placed = compiled.place(arrivals, stand_in, self.path_in_python(arrivals, stand_in))
        self.note_links(arrivals, stand_in, placed)

    def stand_ins(self) -> Integers:
        """The node that takes the arrivals of each node, shape (nodes,): itself, unless it is down or draining."""
        if self._availability.all_accepting:
            return self._each_its_own
        return np.array([self._availability.stand_in(node) for node in self._each_its_own.tolist()])

    def path_in_python(self, arrivals: Arrivals, stand_in: Integers) -> AtFault:
        """What goes on about one of these tasks in Python (CompiledNegotiation.place)."""

        def at_fault(entry: int, has_started: bool, begun: Begun) -> None:
            job, rank, held_ns = (int(column[entry]) for column in arrivals)
            home = int(stand_in[self._engine.jobs["home"][job]])
            self._views.look()
            if has_started:
                self._managers[home].go_on_rebalancing(self._announcements.of(job, rank), begun)
            else:
                self._place_one(job, rank, held_ns, home, begun)

        return at_fault

    def note_links(self, arrivals: Arrivals, stand_in: Integers, placed: Integers) -> None:
        """Note what tasks that compiled code has placed need of the links; `placed` is its answer."""
        is_noted = self._routes_in_use.is_on and self._routes_in_use.can_fail
        if not (is_noted or self._transfers.is_contended):
            return
        homes = stand_in[self._engine.jobs["home"][arrivals.job]]
        concerned = np.flatnonzero((placed[0] != homes) | (self._staging is not None))
        for entry in concerned.tolist():
            task = self._announcements.of(int(arrivals.job[entry]), int(arrivals.rank[entry]))
            target, _, asking_ns = placed[:, entry].tolist()
            self._routes_in_use.note(task.task, int(homes[entry]), target)
            self._share_links(task, int(homes[entry]), target, asking_ns)

    def _delay_ns(self, task: ArrivingTask, home: int, target: int, asking_ns: int) -> int:
        """How long a task takes to its node: asking, the way there, its files [ns]."""
        delay_ns = asking_ns
        if target != home:
            self._departures.start_elsewhere(task.task, home, target)
            delay_ns += travel_ns(self._views.true(home, target).cost_ms(task, target), task.task, target)
        if self._staging is not None:
            delay_ns += self._staging.fetch(task.job, target)
        return delay_ns

    def _share_links(self, task: ArrivingTask, home: int, target: int, asking_ns: int) -> None:
        if self._transfers.is_contended:
            slot = self._engine.slot_of(target, task.task)
            self._departures.share_links(slot, task, home, asking_ns)

    def _start_at_home(self, arrivals: Arrivals, homes: Integers) -> None:
        """All tasks start where they arrive, at their exact instants."""
        delays_ns = np.zeros(len(homes), np.int64)
        staging = self._staging
        if staging is not None:
            fetched_ns = map(staging.fetch, arrivals.job.tolist(), homes.tolist())
            delays_ns += np.fromiter(fetched_ns, np.int64, len(homes))
        self._engine.admit(*arrivals, homes, delays_ns, homes)
        if staging is not None and self._transfers.is_contended:
            tasks = self._engine.jobs["first_task"][arrivals.job] + arrivals.rank
            for task, home in zip(tasks.tolist(), homes.tolist(), strict=True):
                self._transfers.begin(self._engine.slot_of(home, task), home, 0, 0.0, 0.0)
