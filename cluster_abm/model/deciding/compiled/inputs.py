"""The rows of numbers and addresses that compiled code reads, brought up to date before each call."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluster_abm.arrays import Floats, Integers
from cluster_abm.clock import Clock
from cluster_abm.compiling.entries import CompiledPolicy
from cluster_abm.compiling.pointers import point
from cluster_abm.compiling.tables import COLUMNS_OF_CAPACITIES, NUMBERS_OF_CAPACITIES, TASK_ROW, address
from cluster_abm.compiling.texts import number_of
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import Table
from cluster_abm.jit import native_address
from cluster_abm.model.deciding.compiled.migrating import rebalance
from cluster_abm.model.deciding.compiled.scratch import CANDIDATES, Scratch, known_group, scratch_group, settings_group
from cluster_abm.model.deciding.decisions import DECIDED
from cluster_abm.model.deciding.in_python import ALL_REFUSED
from cluster_abm.model.deciding.questions import Questions
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.knowing.reports import Reports
from cluster_abm.model.knowing.views import Views
from cluster_abm.model.moving.remote_memory import RemoteMemory
from cluster_abm.model.moving.routing import LiveNetwork
from cluster_abm.model.part import part
from cluster_abm.policies import Migrating, Policy
from cluster_abm.policy.kinds import migrates_on_arrival
from cluster_abm.policy.tasks import CANDIDATE
from cluster_abm.scenario.schema import Negotiation


@part
class CompiledInputs:
    """What compiled code reads by address: scratch space, settings, and what managers know.

    Attributes:
        scratch: scratch space.
        settings: the settings of the run, one row.
        compiled: the policy's compiled form, kept because the settings hold addresses of its parameters.
        silent_ns: how long after its latest report each node is believed to have failed, (audiences, nodes) [ns].
    """

    scratch: Scratch
    settings: Table
    compiled: CompiledPolicy
    live: LiveNetwork
    availability: Availability
    views: Views
    reports: Reports
    remote_memory: RemoteMemory

    def __post_init__(self) -> None:
        self.silent_ns = np.zeros((1, len(self.scratch.down)), np.int64)
        self._scratch_row, self._known_row = np.zeros(1, scratch_group.row), np.zeros(1, known_group.row)
        self.scratch.views["policy_key"] = self.views.policy_key
        for name, value in self.views.lasting_numbers().items():
            self.scratch.views[name] = value
        self.addresses = address(self._known_row), address(self._scratch_row), address(self.settings)
        self._stop_ns, self._writes = self.settings["stop_ns"], self.settings["writes"]
        # What the rows were last filled from.
        self._routes: object = None
        self._hardware: object = None
        self._capacities: object = None
        self._pointed_at: object = None
        self._compared: object = None
        self._held: object = None
        self._noted: object = None
        self._samples: object = None

    def bring_up_to_date(self) -> None:
        """Take over what may have changed since the last call: the network, and which nodes work."""
        routes, hardware = self.live.routes, self.views.hardware
        if hardware is not self._hardware:
            self._hardware = hardware
            for node, row in enumerate(hardware):
                self.scratch.hardware[node] = tuple(row)
            self.scratch.kinds[:] = self.views.kinds
            # Kept, for compiled code has the addresses of its columns.
            self._capacities = capacities = self.views.capacities(0)
            if capacities is not None:
                view = self.scratch.views
                point(view, {name: getattr(capacities, name) for name in COLUMNS_OF_CAPACITIES})
                for name in NUMBERS_OF_CAPACITIES:
                    view[name] = getattr(capacities, name)
        if self.remote_memory.held is not self._held:
            self._held = held = self.remote_memory.held
            point(self.scratch.views, held._asdict())
        samples = self.views.samples[0]
        if samples is not None and samples is not self._samples:
            self._samples = samples
            point(self.scratch.views, samples._asdict())
        self.settings["can_change"] = self.availability.can_change
        if routes is not self._routes:
            self._routes = routes
            paths = routes.all_paths()
            self.settings["share_routes"] = paths.share_rows
            self._set(
                mb_per_s=paths.mb_per_s, latency_ms=paths.latency_ms, route_at=paths.at, unreachable=paths.unreachable
            )
            self.silent_ns = self.reports.silences_ns()
        seen = routes, hardware, self.availability.all_accepting
        if seen != self._compared:
            self._compared = seen
            self._set(unlike=self._unlike_nodes())

    def _unlike_nodes(self) -> Integers:
        """Nodes among which are, for a task of any home, all that take unlike times to start it on."""
        if not (self.live.routes.are_alike and self.availability.all_accepting):
            return np.arange(len(self.views.hardware))
        # Of nodes of one disk two: one of them may be the home.
        places: dict[float, list[int]] = {}
        for node, hardware in enumerate(self.views.hardware):
            places.setdefault(hardware.disk_mb_per_s, []).append(node)
        return np.array(sorted(node for nodes in places.values() for node in nodes[:2]))

    def receive_reports(self, writes: bool) -> None:
        """Receive the reports that have arrived; no task is placed after the next ones arrive.

        Args:
            writes: whether decisions are to be written down.
        """
        self.reports.receive()
        self._stop_ns[0], self._writes[0] = self.reports.arrival_ns, writes
        if self.reports.known is not self._pointed_at:
            self._pointed_at = self.reports.known
            point(self._known_row, self.reports.known._asdict())
        if self.views.memory.rows is not self._noted:
            self._noted = noted = self.views.memory.rows
            point(self.scratch.views, noted._asdict())
            self._set(noted_ends=noted.noted_ends, noted_top=noted.noted_top, noted_following=noted.noted_following)

    def write_truths_to(self, truths: Floats) -> None:
        """Where compiled code is to write what is true at each decision (deciding.truths); of no row: nowhere."""
        if truths is not self.scratch.truths and len(truths):
            self._set(truths=truths)

    def make_room(self, tasks: int) -> None:
        """Make room for that many tasks that could migrate."""
        if tasks > len(self.scratch.candidates):
            self._set(candidates=np.zeros(2 * tasks, CANDIDATE), candidate=np.zeros(2 * tasks, TASK_ROW))
            point(self.scratch.views, {name: getattr(self.scratch, name) for name in CANDIDATES})

    def make_room_to_start(self, cores: int, tasks: int) -> None:
        """Make room for the cores that a job gets, and where links are noted for tasks that start."""
        if cores > len(self.scratch.given):
            self._set(given=np.zeros(cores, np.int64))
        if tasks > self.scratch.started.shape[1]:
            self._set(started=np.zeros((5, tasks), np.int64))

    def _set(self, **arrays: Any) -> None:
        """Put other arrays into the scratch space."""
        self.scratch = self.scratch._replace(**arrays)
        point(self._scratch_row, {name: array for name, array in self.scratch._asdict().items() if name != "starts"})


def settings_of_run(
    *,
    engine: EngineState,
    clock: Clock,
    policy: Policy,
    compiled: CompiledPolicy,
    views: Views,
    questions: Questions,
    negotiation: Negotiation,
    is_recorded: bool,
) -> Table:
    """The settings of a run as compiled code reads them, one row; `compiled`: the policy's compiled form."""
    most = policy.migrations_per_arrival if isinstance(policy, Migrating) else 0
    migrates = migrates_on_arrival(policy)
    settings = {
        **engine.addresses(migrates)._asdict(),
        "rebalance": compiled_migration(engine) if migrates else 0,
        "place": compiled.place,
        "next_job": compiled.next_job,
        "cores_for": compiled.cores_for,
        "looks": compiled.reads_loads or is_recorded,
        # A policy that reads no loads needs none in its view. With reports they are shown all the same: that also drops
        # what a manager has learnt and a later report has replaced.
        "shows_loads": not views.all_is_known and (compiled.reads_loads or is_recorded or policy.uses_reports),
        "widest": int(engine.widths.max(initial=1)),
        "accept": compiled.accept,
        "migration": compiled.migration,
        "relieve": compiled.relieve,
        "numbers": address(compiled.numbers),
        "migrates": migrates,
        "most_migrations": -1 if most is None else most,
        "offers": negotiation.offers,
        "all_is_known": views.all_is_known,
        "are_instant": questions.are_instant,
        "refusals": negotiation.refusals and not questions.are_instant,
        "by_reports": policy.uses_reports,
        "has_notes": compiled.notes > 0,
        "timeout_ns": questions.timeout_ns,
        "loss_share": questions.loss_share,
        "slice_ns": clock.slice_ns,
        "effective_rates": engine.effective_rates,
        "counts_effective": policy.counts_effective_tasks,
        "run_key": engine.run_key,
        "message_key": questions.losses.key,
        "spare_rows": len(engine.nodes) + 1 if engine.memory_is_limited else 1,
        "no_answer": number_of("no answer"),
        "drains": number_of("drains: it accepts no further task"),
        "all_refused": number_of(ALL_REFUSED),
    }
    row = np.zeros(1, settings_group.row)
    for name, value in settings.items():
        row[name] = value
    return row


def compiled_migration(engine: EngineState) -> int:
    """The address of the compiled code of migrating.rebalance: the same for all policies that migrate tasks."""
    rows, flags, table = np.zeros(0, DECIDED), np.zeros(1, bool), np.zeros((1, 1), int)
    return native_address(rebalance, engine.tables, 0, 0, 0, rows, flags, flags, table, 0, 0)
