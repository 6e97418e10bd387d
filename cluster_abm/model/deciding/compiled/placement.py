"""Places arriving tasks in compiled code, where all load managers have one policy that has a compiled form."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cluster_abm.clock import Clock
from cluster_abm.compiling.entries import CompiledPolicy
from cluster_abm.compiling.pointers import point
from cluster_abm.compiling.tables import COLUMNS_OF_CAPACITIES, NUMBERS_OF_CAPACITIES, TASK_ROW, address
from cluster_abm.compiling.texts import number_of
from cluster_abm.engine.admission import Starts
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import Table
from cluster_abm.jit import entry, native_address
from cluster_abm.model.deciding.compiled.arriving import place_arrivals
from cluster_abm.model.deciding.compiled.desk import (
    AT_FAULT,
    AT_FAULT_OF_MIGRATION,
    CANDIDATES,
    DECIDED_ROWS,
    NO_ROOM,
    NOW_NS,
    desk_group,
    empty_desk,
    known_group,
    terms_group,
    with_files,
)
from cluster_abm.model.deciding.compiled.migrating import send_away
from cluster_abm.model.deciding.compiled.notes import Notes
from cluster_abm.model.deciding.decisions import DECIDED, DecisionLog
from cluster_abm.model.deciding.questions import Questions
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.knowing.reports import Reports
from cluster_abm.model.knowing.views import Views
from cluster_abm.model.moving.departures import Departures
from cluster_abm.model.moving.routing import LiveNetwork
from cluster_abm.model.moving.staging import Staging
from cluster_abm.model.waiting.queues import Arrivals
from cluster_abm.policies import Migrating, Policy
from cluster_abm.policy.capacities import Capacities
from cluster_abm.policy.tasks import CANDIDATE
from cluster_abm.scenario.schema import Negotiation

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# So many arrivals are placed by one call: in between Ctrl-C is heard, and progress shown.
AT_ONCE = 50_000


# Each exception of compiled code leaves a little memory behind: after this many managers decide in Python.
MOST_FAULTS = 1000


class Begun(NamedTuple):
    """How far a load manager has come with a task when another form of its policy goes on.

    Attributes:
        refused: nodes that have refused the task.
        asking_ns: how long asking them took [ns].
        asked: how many were asked; or, where tasks migrate, how many have been sent.
    """

    refused: frozenset[int] = frozenset()
    asking_ns: int = 0
    asked: int = 0


# Goes on about an arriving task, of that number; or only makes tasks migrate after it, if it has started.
AtFault = Callable[[int, bool, Begun], None]


# What a policy decides by when tasks arrive; and `migration`, if it has one.
METHODS = (
    "place", "accept", "is_overloaded", "location", "task_load", "response_ms", "load_name", "load_of",
    "send_to_least", "restated",
)  # fmt: skip


_methods = attrgetter(*METHODS)


def methods_of(policy: Policy) -> tuple[object, list[str]]:
    """What a policy decides by when tasks arrive, as its class has it, and the names of what it has in itself."""
    return (_methods(type(policy)), getattr(type(policy), "migration", None)), list(vars(policy))


def _not_told(_: object) -> None:
    """What a compiled policy raises numba does not print: the path in Python raises it again."""


class CompiledNegotiation:
    """Does what the load managers do when tasks arrive, in the same order and with the same results.

    Args:
        policy: the policy of all of them, and its compiled form.
        settings: the scenario's section.
        requested_ms: run times that jobs request, shape (jobs,) [ms]; None: no job requests any.
    """

    def __init__(
        self,
        engine: EngineState,
        clock: Clock,
        live: LiveNetwork,
        availability: Availability,
        policy: Policy,
        compiled: CompiledPolicy,
        views: Views,
        reports: Reports,
        questions: Questions,
        log: DecisionLog,
        departures: Departures,
        staging: Staging | None,
        settings: Negotiation,
        requested_ms: Floats | None,
    ) -> None:
        self._engine, self._clock, self._live, self._availability = engine, clock, live, availability
        self._views, self._reports, self._log = views, reports, log
        self._departures, self._staging = departures, staging
        nodes = len(engine.nodes)
        self._compiled, self._compares_alike = compiled, views.capacities(0) is None
        self._policy, self._methods = policy, methods_of(policy)
        self._questions = questions
        self._desk = empty_desk(nodes, compiled.notes)._replace(asked=questions.asked)
        self._faults = 0
        if compiled.notes:
            self._keep_notes(shared=policy.central)
        self._routes: object = None
        self._hardware: object = None
        self._capacities: Capacities | None = None
        self._silent_ns = np.zeros((1, nodes), np.int64)
        if requested_ms is not None:
            self._desk = self._desk._replace(requested_ms=np.ascontiguousarray(requested_ms))
        if staging is not None:
            self._desk = with_files(self._desk, staging.tables())
        most = policy.migrations_per_arrival if isinstance(policy, Migrating) else 0
        terms = {
            **engine.addresses(policy.migrates)._asdict(),
            "send_away": compiled_migration(engine) if policy.migrates else 0,
            "place": compiled.place,
            "accept": compiled.accept,
            "migration": compiled.migration,
            "numbers": address(compiled.numbers),
            "migrates": policy.migrates,
            "most_migrations": -1 if most is None else most,
            "offers": settings.offers,
            "all_is_known": views.all_is_known,
            "refusals": settings.refusals,
            "by_reports": policy.uses_reports,
            "has_notes": compiled.notes > 0,
            "timeout_ns": questions.timeout_ns,
            "loss_share": questions.loss_share,
            "remote_execution_ms": settings.remote_execution_ms,
            "migration_ms": settings.migration_ms,
            "slice_ns": clock.slice_ns,
            "effective_rates": engine.effective_rates,
            "run_key": engine.run_key,
            "policy_key": views.policy_key,
            "message_key": questions.message_key,
            "spare_rows": nodes + 1 if engine.memory_is_limited else 1,
            "no_answer": number_of("no answer"),
            "drains": number_of("drains: it accepts no further task"),
        }
        # Rows of numbers and addresses, which compiled code reads.
        self._terms = np.zeros(1, terms_group.row)
        for name, value in terms.items():
            self._terms[name] = value
        self._stop_ns, self._writes = self._terms["stop_ns"], self._terms["writes"]
        self._desk_row, self._known_row = np.zeros(1, desk_group.row), np.zeros(1, known_group.row)
        self._addresses = address(self._known_row), address(self._desk_row), address(self._terms)
        self._pointed_at: object = None
        self._migrates, self._offers = policy.migrates, settings.offers
        self._spare_rows = int(self._terms["spare_rows"][0])

    @property
    def is_right(self) -> bool:
        """Whether what is compiled is the policy as it is, and for the nodes as they are.

        A method may have been put in the place of another one since; unlike nodes are compared otherwise than alike
        ones.
        """
        are_alike = self._views.capacities(0) is None
        is_same = are_alike == self._compares_alike and methods_of(self._policy) == self._methods
        return is_same and self._faults < MOST_FAULTS

    def _keep_notes(self, shared: bool) -> None:
        """Let managers' notes be rows of the desk, in Python too; managers of a central policy share them."""
        desk, notes = self._desk, self._views.notes
        if shared:
            desk.note_row[:] = 0
        rows = zip(desk.note_names, desk.note_values, desk.note_kinds, strict=True)
        kept = [Notes(*row) for row in rows]
        for node in range(len(notes)):
            notes[node] = kept[int(desk.note_row[node])]

    def place(self, arrivals: Arrivals, stand_in: Integers, at_fault: AtFault) -> Integers:
        """Place arriving tasks, each at the beginning of its slice, up to which the nodes live first.

        Args:
            arrivals: the tasks, in the order of arrival.
            stand_in: the node that takes the arrivals of each node.
            at_fault: goes on about one of them by the path in Python, where compiled code cannot tell what the policy
                decides, or it or a cost is at fault.

        Returns:
            node, delay [ns] and time asking [ns] of each, shape (3, tasks).
        """
        count = len(arrivals.job)
        placed = np.zeros((3, count), np.int64)
        self.bring_up_to_date()
        done = 0
        while done < count:
            last = min(count, done + AT_ONCE)
            done = self.some(self._place_arrivals, arrivals, placed, stand_in, done, last, at_fault)
        return placed

    def some(
        self,
        kernel: Callable[..., int],
        arrivals: Arrivals,
        placed: Integers,
        stand_in: Integers,
        first: int,
        last: int,
        at_fault: AtFault,
    ) -> int:
        """Have a kernel with the arguments of arriving.place_arrivals do its part; which task comes next."""
        engine, log, counts = self._engine, self._log, self._desk.counts
        self._reports.receive()
        decided, position = (log.room(1), log.position) if log.is_read else (self._no_rows, 0)
        if self._staging is not None:
            self._desk.fetched_mb[:] = self._staging.fetched_mb, self._staging.fetched_between_clusters_mb
        counts[:] = 0
        counts[NOW_NS], counts[DECIDED_ROWS] = self._clock.now_ns, position
        self._stop_ns[0], self._writes[0] = self._reports.arrival_ns, log.is_read
        if self._reports.known is not self._pointed_at:
            self._pointed_at = self._reports.known
            point(self._known_row, self._reports.known._asdict())
        told_by, sys.unraisablehook = sys.unraisablehook, _not_told
        try:
            done = kernel(
                engine.tables, self._desk.starts, *self._addresses, decided, self._availability.up,
                self._availability.accepting, self._silent_ns, stand_in, tuple(arrivals), placed, first, last,
            )  # fmt: skip
        finally:
            sys.unraisablehook = told_by
        now_ns, _, refusals, taken, remote_executions, migrations, outcome, declined, asked, asking_ns = counts.tolist()
        log.count(taken, refusals)
        # Each node that was asked has refused, or was sent a task.
        self._questions.messages += 2 * (refusals + remote_executions + migrations)
        self._departures.remote_executions += remote_executions
        self._departures.migrations += migrations
        if self._staging is not None:
            self._staging.note_fetched(self._desk.fetched_mb)
        # Nodes that had nothing to do with the arrivals have lagged behind.
        if now_ns > self._clock.now_ns:
            self._clock.now_ns = engine.serve(now_ns)
        if outcome == NO_ROOM:
            self._make_room(int(arrivals.job[done]), stand_in)
        elif outcome in (AT_FAULT, AT_FAULT_OF_MIGRATION):
            self._faults += 1
            refused = frozenset(self._desk.declined[:declined].tolist())
            at_fault(done, outcome == AT_FAULT_OF_MIGRATION, Begun(refused, asking_ns, asked))
            done += 1
        return done

    def _make_room(self, job: int, stand_in: Integers) -> None:
        """Make room for what the next task may bring about, and for many more."""
        engine, tasks = self._engine, 1
        if self._migrates:
            home = engine.nodes[stand_in[int(engine.jobs["home"][job])]]
            tasks += int(home["tasks"] + home["in_transit"]) + 1
        answers = tasks * (min(self._offers, len(engine.nodes)) + 1)
        engine.make_room(tasks + self._spare_rows + 1024)
        self._reports.make_room(answers + 4096)
        if self._log.is_read:
            self._log.room(answers)
        if self._migrates and tasks > len(self._desk.candidates):
            self._set(candidates=np.zeros(2 * tasks, CANDIDATE), candidate=np.zeros(2 * tasks, TASK_ROW))
            point(self._desk.views, {name: getattr(self._desk, name) for name in CANDIDATES})

    def bring_up_to_date(self) -> None:
        """What may have changed since the last call: the network, and which nodes work."""
        routes, hardware = self._live.routes, self._views.hardware
        if hardware is not self._hardware:
            self._hardware = hardware
            for node, row in enumerate(hardware):
                self._desk.hardware[node] = tuple(row)
            self._capacities = self._views.capacities(0)
            if self._capacities is not None:
                view = self._desk.views
                point(view, {name: getattr(self._capacities, name) for name in COLUMNS_OF_CAPACITIES})
                for name in NUMBERS_OF_CAPACITIES:
                    view[name] = getattr(self._capacities, name)
        self._terms["can_change"] = self._availability.can_change
        if routes is not self._routes:
            self._routes = routes
            paths = routes.all_paths()
            self._terms["share_routes"] = paths.share_rows
            self._set(
                mb_per_s=paths.mb_per_s, latency_ms=paths.latency_ms, route_at=paths.at, unreachable=paths.unreachable
            )
            self._silent_ns = self._reports.silences_ns()

    def _set(self, **arrays: Any) -> None:
        """Put other arrays on the desk."""
        self._desk = self._desk._replace(**arrays)
        point(self._desk_row, {name: array for name, array in self._desk._asdict().items() if name != "starts"})

    @cached_property
    def _place_arrivals(self) -> Callable[..., int]:
        return compiled_placement(self._engine)

    _no_rows: Table = np.zeros(0, DECIDED)


def compiled_placement(engine: EngineState) -> Callable[..., int]:
    """The compiled code of arriving.place_arrivals: the same for all policies."""
    rows, flags, numbers, table = np.zeros(0, DECIDED), np.zeros(1, bool), np.zeros(1, np.int64), np.zeros((1, 1), int)
    return entry(
        place_arrivals, engine.tables, Starts(*(numbers,) * 6), 0, 0, 0, rows, flags, flags, table, numbers,
        (numbers,) * 3, table, 0, 0,
    )  # fmt: skip


def compiled_migration(engine: EngineState) -> int:
    """The address of the compiled code of migrating.send_away: the same for all policies that migrate tasks."""
    rows, flags, table = np.zeros(0, DECIDED), np.zeros(1, bool), np.zeros((1, 1), int)
    return native_address(send_away, engine.tables, 0, 0, 0, rows, flags, flags, table, 0, 0)
