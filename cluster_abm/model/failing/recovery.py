"""What becomes of a task whose node, or whose transfer, has failed."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

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
from cluster_abm.model.part import part
from cluster_abm.model.setup import travel_ns
from cluster_abm.model.waiting.cores import Cores
from cluster_abm.model.waiting.expected_ends import expected_slices, longest_start_ms
from cluster_abm.policies import ArrivingTask, View


class NewNode(NamedTuple):
    """Where an orphaned task goes."""

    task: ArrivingTask  # the task as its load manager announces it
    manager: int  # the node of that manager
    target: int  # the task's new node
    cost_ms: float  # what starting it there costs [ms]


@part
class RecoveryDecisions:
    """Decides where orphaned tasks go: where the load is least by what all accepting nodes answer."""

    engine: EngineState
    availability: Availability
    announcements: Announcements
    policies: ManagedPolicies
    views: Views
    log: DecisionLog
    cores: Cores

    def decide(self, slot: int) -> NewNode:
        """Decide on the task of a row, and write the decision down; some node accepts tasks."""
        row = self.engine.tasks[slot]
        job, manager = int(row["job"]), self.availability.stand_in(int(row["home"]))
        task = self.announcements.of(job, int(row["task"]) - int(self.engine.jobs["first_task"][job]))
        if self.engine.has_checkpoint(slot):
            # Its image comes from where checkpoints are kept, over the same route.
            task = replace(task, running=True, memory_mb=float(row["memory_kb"]) / 1000.0)
        view = self.views.queried(manager)
        decision = self.policies.checked[manager].recover(task, view)
        self.log.record(int(row["node"]), task, decision, decision.target, True, decision.reason)
        if self.cores.is_counted:
            # The node that has just failed is among those that the job leaves.
            self.cores.note_open(view.refused)
            self.cores.move(job, decision.target, expected_slices(task, 1, longest_start_ms(task, view), view.slice_ms))
        return NewNode(task, manager, decision.target, recovery_ms(task, view, decision.target))


@part
class Recovery:
    """Sends tasks on whose node, or whose transfer, has failed."""

    engine: EngineState
    clock: Clock
    decisions: RecoveryDecisions
    staging: Staging | None
    transfers: Transfers
    departures: Departures

    def recover(self, slot: int) -> None:
        """Send the orphaned task of a row to a new node.

        It has priority over arriving tasks, and no node refuses it.
        """
        task, manager, target, cost_ms = self.decisions.decide(slot)
        transit_ns = moved_ns = travel_ns(cost_ms, task.task, target)
        if self.staging is not None:
            transit_ns += self.staging.fetch(task.job, target)
        self.transfers.cancel(task.task)
        self.engine.resume(slot, target, transit_ns, self.clock.now_ns)
        if target != manager or self.staging is not None:
            # What it brings to the manager's own node shares no link: its files are fetched after that.
            self.departures.share_links(slot, task, manager, moved_ns if target == manager else 0)

    def turn_back(self, slot: int) -> None:
        """A task that was in transit goes on where it came from: it has not moved."""
        row = self.engine.tasks[slot]
        self.transfers.cancel(int(row["task"]))
        has_not_begun, job, origin = bool(row["gap_left_ns"] == NONE), int(row["job"]), int(row["origin"])
        delay_ns = 0
        if self.staging is not None and has_not_begun:
            # It needs its files at home.
            delay_ns = self.staging.fetch(job, origin)
        self.engine.turn_back(slot, delay_ns, self.clock.now_ns)
        if has_not_begun and self.staging is not None and self.transfers.is_contended:
            self.transfers.begin(slot, origin, 0, 0.0, 0.0)
        if has_not_begun:
            self.departures.remote_executions -= 1
        else:
            self.departures.migrations -= 1


def recovery_ms(task: ArrivingTask, view: View, target: int) -> float:
    """Cost of starting an orphaned task on a node [ms]: what it brings comes over the network even to the own node, as
    it would to the nearest other one."""
    if target != view.me:
        return view.cost_ms(task, target)
    others = [node for node in range(view.nodes) if node != view.me and view.mb_per_s(node) > 0]
    if others:
        return view.cost_ms(task, min(others, key=lambda node: float(view.paths.latency_ms[node])))
    return view.migration_ms if task.running else view.remote_execution_ms
