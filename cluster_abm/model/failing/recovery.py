"""What becomes of a task whose node, or whose transfer, has failed."""

from __future__ import annotations

from dataclasses import replace

from cluster_abm.clock import Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import NONE
from cluster_abm.model.deciding.announcements import Announcements
from cluster_abm.model.deciding.decisions import DecisionLog
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.knowing.views import Views
from cluster_abm.model.managed_policies import ManagedPolicies
from cluster_abm.model.moving.departures import Departures
from cluster_abm.model.moving.staging import Staging
from cluster_abm.model.moving.transfers import Transfers
from cluster_abm.model.setup import travel_ns
from cluster_abm.policies import ArrivingTask, View


class Recovery:
    """Finds a node for orphaned tasks: those that have lost their node."""

    def __init__(
        self,
        engine: EngineState,
        clock: Clock,
        availability: Availability,
        policies: ManagedPolicies,
        views: Views,
        log: DecisionLog,
        announcements: Announcements,
        staging: Staging | None,
        transfers: Transfers,
        departures: Departures,
    ) -> None:
        self._engine, self._clock, self._availability = engine, clock, availability
        self._policies, self._views, self._log, self._announcements = policies, views, log, announcements
        self._staging, self._transfers, self._departures = staging, transfers, departures

    def recover(self, slot: int) -> None:
        """Send an orphaned task where the load is least by what all accepting nodes answer.

        It has priority over arriving tasks, and no node refuses it.

        Args:
            slot: the task's row; some node accepts tasks.
        """
        engine, now_ns, staging = self._engine, self._clock.now_ns, self._staging
        row = engine.tasks[slot]
        lost_node, job = int(row["node"]), int(row["job"])
        manager = self._availability.stand_in(int(row["home"]))
        task = self._announcements.of(job, int(row["task"]) - int(engine.jobs["first_task"][job]))
        if engine.has_checkpoint(slot):
            # Its image comes from where checkpoints are kept, over the same route.
            task = replace(task, running=True, memory_mb=float(row["memory_kb"]) / 1000.0)
        view = self._views.queried(manager)
        decision = self._policies.checked[manager].recover(task, view)
        self._log.record(lost_node, task, decision, decision.target, True, decision.reason)
        transit_ns = moved_ns = travel_ns(recovery_ms(task, view, decision.target), task.task, decision.target)
        if staging is not None:
            transit_ns += staging.fetch(job, decision.target)
        self._transfers.cancel(task.task)
        engine.resume(slot, decision.target, transit_ns, now_ns)
        if decision.target != manager or staging is not None:
            # What it brings to the manager's own node shares no link: its files are fetched after that.
            self._departures.share_links(slot, task, manager, moved_ns if decision.target == manager else 0)

    def turn_back(self, slot: int) -> None:
        """A task that was in transit goes on where it came from: it has not moved."""
        row = self._engine.tasks[slot]
        self._transfers.cancel(int(row["task"]))
        has_not_begun, job, origin = bool(row["gap_left_ns"] == NONE), int(row["job"]), int(row["origin"])
        delay_ns = 0
        if self._staging is not None and has_not_begun:
            # It needs its files at home.
            delay_ns = self._staging.fetch(job, origin)
        self._engine.turn_back(slot, delay_ns, self._clock.now_ns)
        if has_not_begun and self._staging is not None and self._transfers.is_contended:
            self._transfers.begin(slot, origin, 0, 0.0, 0.0)
        if has_not_begun:
            self._departures.remote_executions -= 1
        else:
            self._departures.migrations -= 1


def recovery_ms(task: ArrivingTask, view: View, target: int) -> float:
    """Cost of starting an orphaned task on a node [ms]: what it brings comes over the network even to the own node, as
    it would to the nearest other one."""
    if target != view.me:
        return view.cost_ms(task, target)
    others = [node for node in range(view.nodes) if node != view.me and view.mb_per_s(node) > 0]
    if others:
        return view.cost_ms(task, min(others, key=lambda node: float(view.paths.latency_ms[node])))
    return view.migration_ms if task.running else view.remote_execution_ms
