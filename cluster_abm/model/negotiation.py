"""How newcomers find their node and running tasks a better one: reports, offers and answers between load managers."""

from __future__ import annotations

from collections import deque
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cluster_abm.engine.streams import policy_uniform
from cluster_abm.engine.tables import JOB, NEVER, NS_PER_MS, Table
from cluster_abm.model.decisions import DecisionRecord, decisions_frame
from cluster_abm.model.setup import hardware, nanoseconds
from cluster_abm.policies import Candidate, Decision, Newcomer, Paths, View
from cluster_abm.workload import key

if TYPE_CHECKING:
    from cluster_abm.model.agents import LoadManager
    from cluster_abm.model.model import ClusterModel
    from cluster_abm.model.submissions import Newcomers

Integers = npt.NDArray[np.int64]

# What a job announces of its tasks, in the order of Newcomer's fields.
ANNOUNCED = (
    "first_task", "home", "cpu_ms", "io_per_ms", "request_kb", "memory_mb", "initial_data_mb", "reaccess_rate",
    "write_share",
)  # fmt: skip
announced = itemgetter(*map((JOB.names or ()).index, ANNOUNCED))


class Negotiations:
    """The conversation of all load managers.

    Mode `papers`: everybody knows the true state at every decision, targets accept, newcomers are decided one
    after another: the papers' centralised algorithm. Mode `negotiated`: a report goes out every exchange period
    and is known to the others after the network's latency; in between a manager knows its own node and what
    answers have told it; the asked node answers by its own true state, and an accepted task is reserved there
    at once. Each question and answer costs the task twice the latency.
    """

    def __init__(self, model: ClusterModel) -> None:
        self._model = model
        setup = model.setup
        self.papers = setup.negotiation.mode == "papers" or model.policy.central
        self._hardware = hardware(model.engine.nodes)
        self._policy_key = np.uint64(key(model.run_seed, "policy"))
        self._true = model.engine.empty_loads()
        self._seen = model.engine.empty_loads()
        # What one manager knows, of which the next one's view is made by changing the rows in which they differ.
        self._known = model.engine.empty_loads()
        self._differing: list[int] = []
        self._period_ns = nanoseconds(setup.cluster.exchange_period_ms)
        self._latency_ns = nanoseconds(model.network.longest_latency_ms)
        # Reports under way: when they arrive, when they were sent, the loads.
        self._on_the_way: deque[tuple[int, int, Table]] = deque()
        self._decisions: list[DecisionRecord] = []
        self.report_due_ns = 0
        every_ms = model.policy.acts_every_ms
        self._acting_period_ns = None if every_ms is None else nanoseconds(every_ms)
        self.acting_due_ns = NEVER if self._acting_period_ns is None else model._border_from(self._acting_period_ns)
        self.already_sent = 0
        self.remote_executions = 0
        self.migrations = 0
        self.refused_offers = 0
        self.report()

    def report(self) -> None:
        """When the period has come, every load manager broadcasts its load; what has arrived becomes known."""
        if self.papers or not self._model.policy.uses_reports:
            return
        now_ns = self._model.now_ns
        if now_ns >= self.report_due_ns:
            loads = self._model.engine.empty_loads()
            self._model.engine.measure(now_ns, loads)
            self._on_the_way.append((now_ns + self._latency_ns, now_ns, loads))
            self.report_due_ns = self._model._border_from(self.report_due_ns + self._period_ns)
        self._take_in_reports()

    def place(self, newcomers: Newcomers) -> tuple[Integers, Integers]:
        """A node and a delay [ns] for each newcomer, shape (newcomers,) each.

        A policy that never acts leaves all at home; else each is decided, and sets out before the next is, so
        that what the next one sees includes it.
        """
        job_index = newcomers.job
        targets = self._model.jobs["home"][job_index].astype(np.int64)
        delays_ns = np.zeros(len(job_index), np.int64)
        self.already_sent = 0
        if not self._model.policy.acts_on_arrival or not len(job_index):
            return targets, delays_ns
        self.look()
        for entry in range(len(job_index)):
            newcomer = self.newcomer(int(job_index[entry]), int(newcomers.member[entry]))
            manager = self._model.load_managers[newcomer.home]
            record = self._recorder(newcomer.home, newcomer)
            target, asked = manager.place(newcomer, record)
            targets[entry] = target
            delays_ns[entry] = 2 * self._latency_ns * asked
            if target != newcomer.home:
                self.remote_executions += 1
                delays_ns[entry] += nanoseconds(self._view(newcomer.home, self._true).cost_ms(newcomer, target))
            one = slice(entry, entry + 1)
            self._model.engine.admit(*(column[one] for column in (*newcomers, targets, delays_ns)))
            self._model.engine.measure(self._model.now_ns, self._true, target, target + 1)
            if asked and not self.papers:
                manager.hear(target, self._true[target])
            if self._model.policy.migrates:
                manager.rebalance(newcomer, record, self._send)
        self.already_sent = len(job_index)
        return targets, delays_ns

    def relieve(self) -> None:
        """When the policy's period has come, every load manager looks whether a task should leave its node."""
        now_ns = self._model.now_ns
        if now_ns < self.acting_due_ns or self._acting_period_ns is None:
            return
        self._take_in_reports()
        # Everybody looks at the own node.
        self._model.engine.measure(now_ns, self._true)
        for node in np.flatnonzero(self._model.policy.in_trouble(self._true)).tolist():
            self._model.load_managers[node].relieve(self._recorder(node), self._send)
        self.acting_due_ns = self._model._border_from(self.acting_due_ns + self._acting_period_ns)

    def look(self) -> None:
        """Every node's true state now, and the reports that have come."""
        self._take_in_reports()
        if self.papers:
            self._model.engine.measure(self._model.now_ns, self._true)

    def view_of(self, manager: LoadManager, refused: frozenset[int] = frozenset()) -> View:
        """What a load manager knows: in mode `papers` all, else reports, answers, and its own node.

        The view is good until the next one is asked for.
        """
        if self.papers:
            return self._view(manager.index, self._true, refused, manager.notes)
        self._take_in_reports()
        for node in self._differing:
            self._known[node] = self._seen[node]
        for node, (_, row) in manager.heard.items():
            self._known[node] = row
        self._known[manager.index] = self.true_row(manager.index)
        self._differing = [*manager.heard, manager.index]
        return self._view(manager.index, self._known, refused, manager.notes)

    def true_row(self, node: int) -> Any:
        """A node's load row as it is now."""
        self._model.engine.measure(self._model.now_ns, self._true, node, node + 1)
        return self._true[node]

    def frame(self) -> pd.DataFrame:
        """The decisions so far."""
        return decisions_frame(self._decisions)

    def _view(
        self,
        me: int,
        loads: Table,
        refused: frozenset[int] = frozenset(),
        notes: dict[str, Any] | None = None,
    ) -> View:
        return View(
            me=me,
            loads=loads,
            hardware=self._hardware,
            paths=Paths(*self._model.network.ways_from(me)),
            remote_execution_ms=self._model.negotiation.remote_execution_ms,
            migration_ms=self._model.negotiation.migration_ms,
            now_ms=self._model.now_ns / NS_PER_MS,
            tasks_of_mine=lambda: self._model.engine.candidates(me, self._model.now_ns),
            overflow_of_mine=lambda: self._model.remote_memory.held_by_others_mb(me),
            uniform=self._uniform,
            refused=refused,
            notes={} if notes is None else notes,
        )

    def _uniform(self, task: int, draw: int) -> float:
        return float(policy_uniform(self._policy_key, task, draw))

    def _take_in_reports(self) -> None:
        now_ns = self._model.now_ns
        sent_ns = None
        while self._on_the_way and self._on_the_way[0][0] <= now_ns:
            _, sent_ns, self._seen = self._on_the_way.popleft()
        if sent_ns is not None:
            self._known[:] = self._seen
            self._differing = []
            for manager in self._model.load_managers:
                manager.forget_until(sent_ns)

    def newcomer(self, job: int, number: int) -> Newcomer:
        """What a job announces of one of its tasks."""
        first_task, *demands = announced(self._model.jobs[job].item())
        return Newcomer(first_task + number, job, *demands)

    def _send(self, task: Candidate, source: int, target: int, cost_ms: float, asked: int) -> None:
        """A task leaves for the node that has accepted it."""
        engine, now_ns = self._model.engine, self._model.now_ns
        engine.migrate(
            engine.slot_of(source, task.task), target, nanoseconds(cost_ms) + 2 * self._latency_ns * asked, now_ns
        )
        if task.running:
            self.migrations += 1
        else:
            self.remote_executions += 1
        for node in (source, target):
            engine.measure(now_ns, self._true, node, node + 1)
        if not self.papers:
            self._model.load_managers[source].hear(target, self._true[target])

    def _recorder(self, node: int, newcomer: Newcomer | None = None) -> Any:
        now_ms = self._model.now_ns / NS_PER_MS

        def record(decision: Decision, target: int, accepted: bool, reason: str) -> None:
            self.refused_offers += not accepted
            whom = decision.task or newcomer
            assert whom is not None  # a decision is about one of them
            self._decisions.append(
                DecisionRecord(
                    now_ms,
                    whom.task,
                    whom.job,
                    node,
                    target,
                    decision.rule,
                    decision.index,
                    decision.task_load,
                    decision.load_here,
                    decision.load_there,
                    decision.response_here_ms,
                    decision.response_there_ms,
                    decision.cost_ms,
                    decision.mce,
                    accepted,
                    reason,
                )
            )

        return record
