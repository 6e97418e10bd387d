"""What becomes of a task whose node, or whose transfer, has failed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cluster_abm.engine.tables import NONE
from cluster_abm.model.setup import travel_ns
from cluster_abm.policies import Newcomer, View

if TYPE_CHECKING:
    from cluster_abm.model.model import ClusterModel


def recover(model: ClusterModel, slot: int) -> None:
    """A stranded task goes where the load is least, by what all that are up answer: it has priority over newcomers, and
    nobody refuses it.

    Args:
        model: the run, at a border at which some node is up.
        slot: the task's row.
    """
    engine, negotiations, staging = model.engine, model.negotiations, model.staging
    row = engine.tasks[slot]
    lost_node, job = int(row["node"]), int(row["job"])
    manager = model.load_managers[model.failures.stand_in(int(row["home"]))]
    task = negotiations.newcomer(job, int(row["task"]) - int(model.jobs["first_task"][job]))
    if engine.has_checkpoint(slot):
        # Its image comes from where checkpoints are kept, over the same way.
        task = replace(task, running=True, memory_mb=float(row["memory_kb"]) / 1000.0)
    view = negotiations.answered_view(manager)
    decision = model.asked.recover(task, view)
    negotiations.recorder(lost_node, task)(decision, decision.target, True, decision.reason)
    under_way_ns = travel_ns(recovery_ms(task, view, decision.target), task.task, decision.target)
    if staging is not None:
        under_way_ns += staging.fetch(job, decision.target)
    model.transfers.cancel(task.task)
    engine.resume(slot, decision.target, under_way_ns, model.now_ns)
    if model.transfers.is_contended and (decision.target != manager.index or staging is not None):
        negotiations.carry(slot, task, manager.index, 0)


def recovery_ms(task: Newcomer, view: View, target: int) -> float:
    """Cost of starting a stranded task on a node [ms]: what it brings comes over the network even to the own node, as
    it would to the nearest other one."""
    if target != view.me:
        return view.cost_ms(task, target)
    others = [node for node in range(view.nodes) if node != view.me and view.mb_per_s(node) > 0]
    if others:
        return view.cost_ms(task, min(others, key=lambda node: float(view.paths.latency_ms[node])))
    return view.migration_ms if task.running else view.remote_execution_ms


def turn_back(model: ClusterModel, slot: int) -> None:
    """A task that was under way goes on where it came from: it has not moved."""
    row = model.engine.tasks[slot]
    model.transfers.cancel(int(row["task"]))
    is_newcomer, job, origin = bool(row["gap_left_ns"] == NONE), int(row["job"]), int(row["origin"])
    # Who has not begun needs its files at home.
    delay_ns = 0 if model.staging is None or not is_newcomer else model.staging.fetch(job, origin)
    model.engine.turn_back(slot, delay_ns, model.now_ns)
    if is_newcomer and model.staging is not None and model.transfers.is_contended:
        model.transfers.begin(slot, origin, 0, 0.0, 0.0)
    if is_newcomer:
        model.negotiations.remote_executions -= 1
    else:
        model.negotiations.migrations -= 1
