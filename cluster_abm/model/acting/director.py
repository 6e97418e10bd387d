"""Carries out the acts of a scenario's script."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from cluster_abm.clock import Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import FREE, IN_TRANSIT, REQUEST_ONLY
from cluster_abm.errors import InputError
from cluster_abm.model.acting.actions import JobActions, NodeActions
from cluster_abm.model.agents.load_manager import LoadManager
from cluster_abm.model.failing.degrading import Degrading, Device
from cluster_abm.model.observing.task_records import TaskRecords
from cluster_abm.model.part import part
from cluster_abm.model.script import Outcome, Script
from cluster_abm.scenario.script import Act

Value = TypeVar("Value")


@part
class Director:
    """Carries out the acts of a script at slice boundaries.

    Load managers and nodes act by what agents of a user can call. An act that cannot be done changes nothing.
    """

    script: Script
    engine: EngineState
    clock: Clock
    degrading: Degrading
    node_actions: NodeActions
    job_actions: JobActions
    load_managers: Sequence[LoadManager]
    task_records: TaskRecords

    def act(self) -> None:
        """Carry out what is due."""
        for entry, act in self.script.due():
            why_not = ""
            try:
                self._carry_out(act)
            except InputError as problem:
                # What agents say names a call of Python, which a script has not.
                why_not = re.sub(r"(?<=\w)\([^()]*\)", "", "; ".join(problem.problems))
            self.script.outcomes.append(Outcome(entry, act, self.clock.now_ns, why_not))

    def _carry_out(self, act: Act) -> None:
        match act.act:
            case "fail":
                self.node_actions.fail(_of(act.node))
            case "drain":
                self.node_actions.drain(_of(act.node))
            case "recover":
                self._recover(act)
            case "slow":
                self.degrading.slow(Device(_of(act.device), _of(act.node)), _of(act.factor))
            case "kill":
                self._kill(act)
            case "send":
                self._send(act)
            case "arrivals":
                # The jobs of a run are drawn, or read, with the arrival clock as the script has it.
                pass

    def _recover(self, act: Act) -> None:
        node = _of(act.node)
        was_slow = self.degrading.restore(node)
        if not (was_slow and self.node_actions.availability.accepting[node]):
            self.node_actions.recover(node)

    def _kill(self, act: Act) -> None:
        job = _of(act.job)
        jobs = len(self.engine.jobs)
        if job >= jobs:
            raise InputError(f"job {job}: kill: there is no such job; the run has {jobs}")
        self.job_actions.kill(job)

    def _send(self, act: Act) -> None:
        task = _of(act.task)
        tasks = self.engine.tasks
        slots = np.flatnonzero((tasks["task"] == task) & (tasks["state"] != FREE) & (tasks["state"] != REQUEST_ONLY))
        if not len(slots) or tasks["node"][slots[0]] < 0:
            raise InputError(f"task {task}: send: {self._where_is(task)}")
        if tasks["state"][slots[0]] == IN_TRANSIT:
            raise InputError(f"task {task}: send: it is on its way to a node")
        source = int(tasks["node"][slots[0]])
        answer = self.node_actions.send(self.load_managers[source], task, _of(act.node))
        if answer != "accepted":
            raise InputError(f"task {task}: send: node {act.node} refused it: {answer}")

    def _where_is(self, task: int) -> str:
        """Why a task is on no node."""
        total = int(self.engine.widths.sum())
        if task >= total:
            return f"there is no such task; the run has {total}"
        if not self.task_records.are_kept:
            return "it has ended already, or is on no node"
        if (self.engine.records["task"] == task).any():
            return "it has ended already"
        return "it is on no node"


def _of(value: Value | None) -> Value:
    assert value is not None  # the scenario's check
    return value
