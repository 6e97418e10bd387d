"""What agents can be told to do between slices, with everything that follows from it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from cluster_abm.clock import Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import KILLED
from cluster_abm.errors import InputError
from cluster_abm.model.agents.load_manager import LoadManager
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.failing.failures import FailureProcess
from cluster_abm.model.knowing.views import Views
from cluster_abm.model.moving.transfers import Transfers
from cluster_abm.model.observing.happenings import Happenings
from cluster_abm.model.part import part
from cluster_abm.model.talking.waiting_tasks import WaitingTasks
from cluster_abm.model.waiting.queues import Submissions
from cluster_abm.policies import Candidate, Decision, Policy
from cluster_abm.policy.tasks import candidate_of

# What a scenario allows too: `cluster.cpu_speed`, `cluster.memory_mb`.
LARGEST = 1e9


@part
class Permission:
    """When agents can be acted upon."""

    # the policy that makes all nodes one station, on which no agent can act; None: each is on its own
    pooled_by: str | None
    turn: Callable[[], str]  # which part of a slice it is now

    def check(self, what: str) -> None:
        """Raise InputError where no agent can be acted upon."""
        if self.pooled_by is not None:
            raise InputError(
                f"{what}: policy {self.pooled_by!r} makes all nodes one station, which cannot be acted upon; take "
                "another policy"
            )
        if self.turn() == "nodes":
            raise InputError(
                f"{what}: the nodes are living their slice; act in LoadManager.step(), in Job.step(), or between slices"
            )


@part
class NodeActions:
    """Acts upon nodes and load managers, at a slice boundary."""

    engine: EngineState
    clock: Clock
    availability: Availability
    failures: FailureProcess
    views: Views
    permission: Permission
    settle_ends: Callable[[], None]  # called when jobs may have ended

    def set_cpu_speed(self, node: int, speed: float) -> None:
        """Give a node another CPU speed from now on; slowdowns go on counting by the speed at the task's submission."""
        self.permission.check(f"node {node}: cpu_speed")
        _check_number(f"node {node}: cpu_speed", speed)
        self.engine.set_speed(node, float(speed), self.clock.now_ns)
        self.views.refresh_hardware()

    def set_memory_mb(self, node: int, memory_mb: float) -> None:
        """Give a node another size of RAM from now on; where RAM and swap are exceeded the newest tasks are killed."""
        what = f"node {node}: memory_mb"
        self.permission.check(what)
        _check_number(what, memory_mb)
        row = self.engine.nodes[node]
        # What a controller has added to the buffer it gives back.
        added_kb = int(row["buffer_shift_kb"])
        reserved_mb = float(row["memory_kb"] - row["user_memory_kb"] - added_kb) / 1000.0
        if memory_mb <= reserved_mb:
            raise InputError(
                f"{what} = {memory_mb!r}: must be above the {reserved_mb:g} MB that the system and the I/O buffer keep"
            )
        if added_kb:
            more_kb = np.zeros(len(self.engine.nodes), np.int64)
            more_kb[node] = -added_kb
            self.engine.grow_buffers(more_kb, self.clock.now_ns)
        self.engine.set_memory(node, round(memory_mb * 1000), self.clock.now_ns)
        self.settle_ends()
        self.views.refresh_hardware()

    def fail(self, node: int) -> None:
        """Fail a node."""
        self.permission.check(f"node {node}: fail()")
        if not self.availability.up[node]:
            raise InputError(f"node {node}: fail(): it has failed already; recover() brings it back")
        self.failures.fail(node)
        self.settle_ends()

    def recover(self, node: int) -> None:
        """Bring a failed node back, or have a draining one accept tasks again."""
        self.permission.check(f"node {node}: recover()")
        if self.availability.accepting[node]:
            raise InputError(f"node {node}: recover(): it has neither failed nor does it drain")
        self.failures.recover(node)
        self.settle_ends()

    def drain(self, node: int) -> None:
        """Let a node finish its tasks and accept no others."""
        self.permission.check(f"node {node}: drain()")
        if not self.availability.up[node]:
            raise InputError(f"node {node}: drain(): it has failed; recover() brings it back")
        if self.availability.draining[node]:
            raise InputError(f"node {node}: drain(): it drains already; recover() ends it")
        self.failures.drain(node)

    def send(self, manager: LoadManager, task: int, target: int) -> str:
        """Have a load manager offer one of its tasks to another node: "accepted", or why the task stays."""
        source = manager.index
        what = f"load manager {source}: send({task!r}, {target!r})"
        self.permission.check(what)
        nodes = len(self.engine.nodes)
        if not _is_whole(target) or not 0 <= target < nodes:
            raise InputError(f"{what}: no such node; allowed are 0 to {nodes - 1}")
        if target == source:
            raise InputError(f"{what}: the task is on node {source}; name another node")
        candidate = self._candidate(source, task)
        if candidate is None:
            there = ", ".join(map(str, self.views.candidates(source)["task"][:10].tolist()))
            raise InputError(f"{what}: no such task can be sent from node {source}; there are {there or 'none'}")
        # The offer claims no gap in load: the target judges it by what concerns itself alone.
        cost_ms = self.views.of(source).cost_ms(candidate, target)
        reason, _ = manager.offer(candidate, Decision(int(target), "sent", cost_ms=cost_ms, task=candidate))
        return reason or "accepted"

    def _candidate(self, node: int, task: int) -> Candidate | None:
        rows = self.views.candidates(node)
        rows_of_task = np.flatnonzero(rows["task"] == task) if _is_whole(task) else np.zeros(0, int)
        return candidate_of(rows, int(rows_of_task[0])) if len(rows_of_task) else None


@part
class JobActions:
    """Acts upon jobs, at a slice boundary."""

    engine: EngineState
    clock: Clock
    submissions: Submissions
    transfers: Transfers
    waiting: WaitingTasks
    happenings: Happenings
    permission: Permission
    settle_ends: Callable[[], None]  # called when jobs may have ended

    def kill(self, job: int) -> None:
        """End a job wherever its tasks are; it counts as killed."""
        self.permission.check(f"job {job}: kill()")
        engine, now_ns = self.engine, self.clock.now_ns
        arrivals = self.waiting.withdraw(job)
        if not len(arrivals.job) and job in self.submissions.held:
            arrivals = self.submissions.remove(job)
        if len(arrivals.job):
            # It ends on its way to its home, which it never enters.
            home = engine.jobs["home"][arrivals.job].astype(np.int64)
            engine.admit(*arrivals, home, np.zeros_like(home), home)
        live = engine.live_tasks_of(job)
        if not len(live):
            has_ended = self.submissions.schedule.has_submitted(job)
            raise InputError(f"job {job}: kill(): it has {'ended already' if has_ended else 'not been submitted yet'}")
        for task in live.tolist():
            self.transfers.cancel(task)
        engine.end_job(job, KILLED, now_ns)
        self.happenings.kill(job)
        self.settle_ends()


def _check_number(what: str, value: float) -> None:
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not 0 < value <= LARGEST:
        raise InputError(f"{what} = {value!r}: must be a number above 0 and up to {LARGEST:g}")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_pooled(policy: Policy, steps_alone: bool) -> None:
    """Raise InputError if nodes or jobs have a step of their own where a policy pools all nodes."""
    if policy.pooled and steps_alone:
        raise InputError(
            f"policy.name = {policy.name!r}: it makes all nodes one station, so no node and no job has a slice of its "
            "own; take another policy, or agents that do not override step"
        )
