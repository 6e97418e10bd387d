"""What each load manager knows when it decides."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cluster_abm.clock import NS_PER_MS, Clock
from cluster_abm.engine.random_numbers import Word, policy_uniform
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import Table
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.knowing.reports import Reports
from cluster_abm.model.managed_policies import ManagedPolicies
from cluster_abm.model.moving.remote_memory import RemoteMemory
from cluster_abm.model.moving.routing import LiveNetwork
from cluster_abm.model.part import part
from cluster_abm.model.setup import hardware
from cluster_abm.model.waiting.cores import Cores
from cluster_abm.policies import DataMap, View
from cluster_abm.policy.capacities import Capacities, capacities_of
from cluster_abm.policy.memory import Memory
from cluster_abm.policy.samples import Samples
from cluster_abm.policy.tasks import CANDIDATE
from cluster_abm.policy.view import kinds_of
from cluster_abm.policy.waiting import no_cores
from cluster_abm.scenario.schema import Negotiation

NO_NODES: frozenset[int] = frozenset()


def read_only(loads: Table) -> Table:
    """The same load table, which a policy cannot write to: all others would see what it wrote."""
    seen = loads.view()
    seen.flags.writeable = False
    return seen


@part
class Views:
    """The views of all load managers.

    With fresh information every manager knows the true state at every decision, as in the papers' centralised
    algorithm. Else a manager knows its own node, the reports that have arrived, and what answers have told it.

    Attributes:
        all_is_known: whether information is fresh (managed_policies.knows_true_state).
        data: where the files lie that jobs need; None: no job needs any.
        policy_key: key of the stream of the policies' own draws.
        true_loads: the load table as it was last measured; with fresh information that is at each decision.
        hardware: fixed properties of every node, as they are now; `kinds`: those that have the same (View.kinds).
        notes: what each manager's policy remembers; the managers of a central policy share one dictionary.
        memory: what it remembers in rows; likewise.
        samples: of each manager, what its policy has sampled (model.knowing.sampling); None: it asks for no samples.
    """

    engine: EngineState
    clock: Clock
    live: LiveNetwork
    availability: Availability
    policies: ManagedPolicies
    reports: Reports
    remote_memory: RemoteMemory
    cores: Cores
    settings: Negotiation
    data: DataMap | None
    policy_key: Word
    all_is_known: bool

    def __post_init__(self) -> None:
        self.true_loads = self.engine.empty_loads()
        self._true_seen = read_only(self.true_loads)
        nodes = len(self.engine.nodes)
        shares_notes = self.policies.main.central and not self.policies.main.talks
        self.notes: list[Any] = [{}] * nodes if shares_notes else [policy.Notes() for policy in self.policies.of]
        # Of each manager what its views have in common, once it is asked for; and the table that was shown last.
        self._lasting: list[dict[str, Any]] = [{} for _ in range(nodes)]
        self._routes: object = None
        self._shown = self._shown_seen = self._true_seen
        self._true_columns: dict[str, Any] = {}
        self._shown_columns: dict[str, Any] = {}
        self._counts_effective = any(policy.counts_effective_tasks for policy in self.policies.distinct)
        self.memory = Memory(1 if shares_notes else nodes)
        self._shares_notes = shares_notes
        self.samples: list[Samples | None] = [None] * nodes
        self.refresh_hardware()

    def forget(self, manager: int) -> None:
        """A manager's policy remembers nothing any more."""
        self.put_notes(manager, self.policies.of[manager].Notes())

    def put_notes(self, manager: int, notes: Any) -> None:
        """A manager's policy remembers this, and nothing else."""
        self.notes[manager], self._lasting[manager] = notes, {}

    def refresh_hardware(self) -> None:
        """Tell all managers what the nodes' hardware is now."""
        self.hardware = hardware(self.engine.nodes)
        self.kinds = kinds_of(self.hardware)
        self._lasting = [{} for _ in self._lasting]
        shared = capacities_of(self.hardware)
        self._capacities: list[Capacities | None] = [
            shared if policy.parameters.heterogeneous else None for policy in self.policies.of
        ]

    def capacities(self, manager: int) -> Capacities | None:
        """What a manager compares unlike nodes by; None: it compares loads as measured."""
        return self._capacities[manager]

    def look(self) -> None:
        """Before a group of decisions: receive the reports that have come; with fresh information measure all nodes."""
        self.reports.receive()
        if self.all_is_known:
            self._measure_all()

    def of(self, manager: int, refused: frozenset[int] = NO_NODES) -> View:
        """What a load manager knows now. The view is good until the next one is asked for.

        Args:
            manager: its node.
            refused: nodes that have refused the task in question.
        """
        down = self._believed_down(manager) if self.availability.can_change else NO_NODES
        if self.all_is_known:
            return self._view(manager, self.true_loads, refused | down, down)
        self.reports.receive()
        known = self.reports.known_to(manager)
        known[manager] = self.true_row(manager)
        return self._view(manager, known, refused | down, down)

    def queried(self, manager: int) -> View:
        """The view of a manager that has queried every node; nodes that did not answer count as refusing."""
        self._measure_all()
        silent = ~self.availability.accepting | (self.live.routes.paths_from(manager).mb_per_s == 0)
        silent[manager] = False
        down = frozenset(np.flatnonzero(silent).tolist())
        return self._view(manager, self.true_loads, down, down)

    def true(self, manager: int, target: int) -> View:
        """The view of a manager for what moving a task to a node costs: other loads are those last measured."""
        if self.settings.bandwidths == "measured":
            self.true_row(manager)
            self.true_row(target)
        return self._view(manager, self.true_loads, NO_NODES, NO_NODES)

    def with_true_row(self, view: View, node: int) -> View:
        """A view that also knows another node's load row as it is now."""
        loads = view.loads.copy()
        loads[node] = self.true_row(node)
        return replace(view, loads=read_only(loads))

    def true_row(self, node: int) -> Any:
        """A node's load row as it is now."""
        self.engine.measure(self.clock.now_ns, self.true_loads, node, node + 1)
        return self.true_loads[node]

    def learn(self, manager: int, node: int) -> None:
        """An answer tells a manager another node's loads as they were last measured; with fresh information no news."""
        if not self.all_is_known:
            self.reports.learn(manager, node, self.true_loads[node])

    def candidates(self, node: int) -> Table:
        """The tasks of a node that could be sent elsewhere, as they are now."""
        return self.engine.candidates(node, self.clock.now_ns, CANDIDATE)

    def measure_all(self) -> Table:
        """The loads of all nodes as they are now."""
        self._measure_all()
        return self.true_loads

    def _measure_all(self) -> None:
        self.engine.measure(self.clock.now_ns, self.true_loads, counts_effective=self._counts_effective)

    def _believed_down(self, manager: int) -> frozenset[int]:
        """Nodes that a manager knows, or by their silence believes, to be down: no policy chooses them."""
        if self.all_is_known:
            down = ~self.availability.accepting
        elif self.policies.of[manager].uses_reports:
            self.reports.receive()
            down = self.reports.silent_to(manager)
        else:
            down = np.zeros(len(self.hardware), bool)
        down = down | (self.live.routes.paths_from(manager).mb_per_s == 0)
        down[manager] = False
        return frozenset(np.flatnonzero(down).tolist())

    def _view(self, me: int, loads: Table, refused: frozenset[int], down: frozenset[int]) -> View:
        routes = self.live.routes
        if routes is not self._routes:
            self._routes = routes
            self._lasting = [{} for _ in self._lasting]
        lasting = self._lasting[me] = self._lasting[me] or self._what_lasts(me)
        # As the dataclass would be made, at a third of the time: there are several views a decision.
        view = View.__new__(View)
        view.__dict__.update(lasting)
        view.loads, view.columns = self._read_only(loads)
        view.samples = self.samples[me]
        view.refused, view.down, view.now_ms = refused, down, self.clock.now_ns / NS_PER_MS
        return view

    def _what_lasts(self, me: int) -> dict[str, Any]:
        """What the views of a manager have in common until the network or the hardware changes."""
        view = View(
            me=me,
            loads=self._true_seen,
            hardware=self.hardware,
            paths=self.live.routes.paths_from(me),
            remote_execution_ms=self.settings.remote_execution_ms,
            tasks_of_mine=lambda: self.candidates(me),
            overflow_of_mine=lambda: self.remote_memory.held_by_others_mb(me),
            live_jobs_of_all=self.engine.live_jobs,
            cores_of_all=self.cores.in_use if self.cores.is_counted else no_cores,
            uniform=self._uniform,
            notes=self.notes[me],
            data=self.data,
            capacities=self._capacities[me],
            memory=self.memory,
            memory_of=0 if self._shares_notes else me,
        )
        return vars(view) | self.lasting_numbers() | {"kinds": self.kinds}

    def lasting_numbers(self) -> dict[str, float]:
        """Numbers that are the same in all views of a run, in either form, by name [ms]."""
        return {
            "remote_execution_ms": self.settings.remote_execution_ms,
            "migration_ms": self.settings.migration_ms,
            "slice_ms": self.clock.slice_ns / NS_PER_MS,
        }

    def _read_only(self, loads: Table) -> tuple[Table, dict[str, Any]]:
        """The same load table, which a policy cannot write to, and its columns; views one after another share it."""
        if loads is self.true_loads:
            return self._true_seen, self._true_columns
        if loads is not self._shown:
            self._shown, self._shown_seen, self._shown_columns = loads, read_only(loads), {}
        return self._shown_seen, self._shown_columns

    def _uniform(self, task: int, draw: int) -> float:
        return float(policy_uniform(self.policy_key, task, draw))
