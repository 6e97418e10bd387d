"""How newcomers find their node and running tasks a better one: reports, offers and answers between load managers."""

from __future__ import annotations

import math
from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cluster_abm.engine.streams import message_uniform, policy_uniform
from cluster_abm.engine.tables import JOB, NEVER, NONE, NS_PER_MS, Table
from cluster_abm.errors import PolicyFault
from cluster_abm.model.decisions import DecisionLog, DecisionRecord
from cluster_abm.model.reports import reports_of
from cluster_abm.model.setup import LONGEST_WAIT_MS, hardware, nanoseconds, travel_ns
from cluster_abm.policies import Candidate, Decision, Newcomer, Paths, View
from cluster_abm.policies.capacities import capacities_of, comparable_table
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


def read_only(loads: Table) -> Table:
    """The same load table for a policy: what it wrote there all others would take for true."""
    seen = loads.view()
    seen.flags.writeable = False
    return seen


class Negotiations:
    """The conversation of all load managers.

    Mode `papers`: everybody knows the true state at every decision, targets accept, newcomers are decided one
    after another: the papers' centralised algorithm. Mode `negotiated`: a report goes out every exchange period
    and is known to the others after the latency of its way; in between a manager knows its own node and what
    answers have told it; the asked node answers by its own true state, and an accepted task is reserved there
    at once. Each question and answer costs the task twice the latency; one that gets no answer, a timeout.
    """

    def __init__(self, model: ClusterModel) -> None:
        self._model = model
        setup = model.setup
        self.papers = setup.negotiation.mode == "papers" or model.policy.central
        self._failures_are_possible = setup.failures.can_happen
        self._hardware = hardware(model.engine.nodes)
        self._data = None if model.staging is None else model.staging.map
        self._capacities = capacities_of(self._hardware) if model.policy.parameters.heterogeneous else None
        self._policy_key = np.uint64(key(model.run_seed, "policy"))
        self._true = model.engine.empty_loads()
        self._true_seen = read_only(self._true)
        self._timeout_ns = nanoseconds(setup.negotiation.timeout_ms)
        self._loss_share = setup.interconnect.loss_share
        self._message_key = np.uint64(key(model.run_seed, "messages"))
        # How many questions were asked about a task so far, where they can get lost.
        self._questions: Counter[int] = Counter()
        self._records_seen = 0
        # The ways from each node, as long as the network is this one.
        self._network = model.network
        self._paths: dict[int, Paths] = {}
        self.reports = reports_of(model, model.policy.uses_reports and not self.papers)
        self.log = DecisionLog(model.keep_decisions)
        every_ms = model.asked.acts_every_ms
        self._acting_period_ns = None if every_ms is None else nanoseconds(every_ms)
        self.acting_due_ns = NEVER if self._acting_period_ns is None else model._border_from(self._acting_period_ns)
        self.already_sent = 0
        self.remote_executions = 0
        self.migrations = 0
        self.refused_offers = 0
        self.report()

    def report(self) -> None:
        """When the period has come, every load manager broadcasts its load; what has arrived becomes known."""
        self._forget_ended_tasks()
        if self.papers or not self._model.policy.uses_reports:
            return
        self.reports.send_when_due()
        self.reports.take_in()

    def _forget_ended_tasks(self) -> None:
        """Drop the counts of questions about tasks that have ended: no question about them will follow."""
        if not self._questions:
            return
        engine = self._model.engine
        for task in engine.records["task"][self._records_seen : engine.finished].tolist():
            self._questions.pop(task, None)
        self._records_seen = engine.finished

    def place(self, newcomers: Newcomers) -> tuple[Integers, Integers]:
        """A node and a delay [ns] for each newcomer, shape (newcomers,) each.

        A policy that never acts leaves all at home; else each is decided, and sets out before the next is, so
        that what the next one sees includes it. A job that nobody takes is given back to its queue.
        """
        job_index = newcomers.job
        origins = self._model.jobs["home"][job_index].astype(np.int64)
        if not self._model.failures.all_up:
            # Who is submitted at a node that is out is taken in by the next one that is up.
            origins = np.array([self._model.failures.stand_in(home) for home in origins.tolist()])
        targets = origins.copy()
        delays_ns = np.zeros(len(job_index), np.int64)
        self.already_sent = 0
        staging = self._model.staging
        if not self._model.policy.acts_on_arrival or not len(job_index):
            if staging is not None:
                fetched_ns = map(staging.fetch, job_index.tolist(), targets.tolist())
                delays_ns += np.fromiter(fetched_ns, np.int64, len(targets))
            return targets, delays_ns
        self.look()
        model, engine = self._model, self._model.engine
        columns = (*newcomers, targets, delays_ns, origins)
        for entry, (job, member, home) in enumerate(
            zip(job_index.tolist(), newcomers.member.tolist(), origins.tolist(), strict=True)
        ):
            newcomer = self.newcomer(job, member)
            manager = model.load_managers[home]
            record = self.recorder(home, newcomer)
            target, delay_ns, asked = manager.place(newcomer, record)
            if target == NONE:
                # Jobs of a policy that holds any come one at a time: this is all there is of it.
                model.take_back(job)
                break
            asking_ns = delay_ns
            if target != home:
                if self._failures_are_possible:
                    model.failures.set_out(newcomer.task, home, target)
                self.remote_executions += 1
                cost_ms = self._view(home, self._true).cost_ms(newcomer, target)
                delay_ns += travel_ns(cost_ms, newcomer.task, target)
            if staging is not None:
                delay_ns += staging.fetch(job, target)
            targets[entry], delays_ns[entry] = target, delay_ns
            engine.admit(*(columns if len(targets) == 1 else (column[entry : entry + 1] for column in columns)))
            if model.transfers.is_contended and (target != home or staging is not None):
                self.carry(engine.slot_of(target, newcomer.task), newcomer, home, asking_ns)
            engine.measure(model.now_ns, self._true, target, target + 1)
            if asked and not self.papers:
                self.reports.hear(manager, target, self._true[target])
            if model.policy.migrates:
                manager.rebalance(newcomer, record, self._send)
        self.already_sent = len(job_index)
        return targets, delays_ns

    def ask(self, asker: LoadManager, task: Newcomer, decision: Decision) -> tuple[str, int]:
        """Ask the node of a decision whether it takes a task: why not ("" if it does), and how long it took [ns]."""
        target = decision.target
        latency_ms = float(self._paths_from(asker.index).latency_ms[target])
        is_up = self._model.failures.all_up or self._model.failures.up[target]
        if not is_up or latency_ms == math.inf or self._is_lost(task.task):
            return "no answer", self._timeout_ns
        why_not = self._model.load_managers[target].answer(task, decision, asker)
        return why_not, 0 if self.papers else 2 * nanoseconds(latency_ms)

    def _is_lost(self, task: int) -> bool:
        """Whether a question about a task, or the answer to it, gets lost."""
        if self._loss_share == 0.0 or self.papers:
            return False
        first = 2 * self._questions[task]
        self._questions[task] += 1
        return any(message_uniform(self._message_key, task, first + message) < self._loss_share for message in range(2))

    def carry(self, slot: int, task: Newcomer, source: int, asking_ns: int) -> None:
        """What goes along with a task that has been sent on its way shares the network with all else."""
        costs, fixed_ms = self._model.negotiation, 0.0
        image_mb, data_mb = 0.0, 0.0
        if source != int(self._model.engine.tasks["node"][slot]):
            fixed_ms = costs.migration_ms if task.running else costs.remote_execution_ms
            image_mb = task.memory_mb if task.running else 0.0
            data_mb = task.initial_data_mb + (task.written_mb if task.running else 0.0)
        self._model.transfers.begin(slot, source, asking_ns + nanoseconds(fixed_ms), image_mb, data_mb)

    def answered_view(self, manager: LoadManager) -> View:
        """What a manager knows that has just asked all nodes for their load; who did not answer counts as refused."""
        self._model.engine.measure(self._model.now_ns, self._true)
        silent = ~self._model.failures.up | (self._paths_from(manager.index).mb_per_s == 0)
        silent[manager.index] = False
        out = frozenset(np.flatnonzero(silent).tolist())
        return self._view(manager.index, self._true, out, manager.notes, out)

    def relieve(self) -> None:
        """When the policy's period has come, every load manager looks whether a task should leave its node."""
        now_ns = self._model.now_ns
        if now_ns < self.acting_due_ns or self._acting_period_ns is None:
            return
        self.reports.take_in()
        # Everybody looks at the own node.
        self._model.engine.measure(now_ns, self._true)
        loads = comparable_table(self._true, self._capacities)
        troubled = self._model.asked.in_trouble(loads) & self._model.failures.up
        for node in np.flatnonzero(troubled).tolist():
            self._model.load_managers[node].relieve(self.recorder(node), self._send)
        self.acting_due_ns = self._model._border_from(self.acting_due_ns + self._acting_period_ns)

    def look(self) -> None:
        """Every node's true state now, and the reports that have come."""
        self.reports.take_in()
        if self.papers:
            self._model.engine.measure(self._model.now_ns, self._true)

    def view_of(self, manager: LoadManager, refused: frozenset[int] = frozenset()) -> View:
        """What a load manager knows: in mode `papers` all, else reports, answers, and its own node.

        The view is good until the next one is asked for.
        """
        out: frozenset[int] = frozenset()
        if self._failures_are_possible:
            out = self._out_of_reach(manager)
        if self.papers:
            return self._view(manager.index, self._true, refused | out, manager.notes, out)
        self.reports.take_in()
        known = self.reports.known_to(manager)
        known[manager.index] = self.true_row(manager.index)
        return self._view(manager.index, known, refused | out, manager.notes, out)

    def _out_of_reach(self, manager: LoadManager) -> frozenset[int]:
        """Nodes that a manager knows, or by their silence believes, to be out: no policy chooses them."""
        if self.papers or not self._model.policy.uses_reports:
            out = ~self._model.failures.up if self.papers else np.zeros(len(self._hardware), bool)
        else:
            self.reports.take_in()
            out = self.reports.silent_to(manager)
        out = out | (self._paths_from(manager.index).mb_per_s == 0)
        out[manager.index] = False
        return frozenset(np.flatnonzero(out).tolist())

    def true_row(self, node: int) -> Any:
        """A node's load row as it is now."""
        self._model.engine.measure(self._model.now_ns, self._true, node, node + 1)
        return self._true[node]

    @property
    def decisions(self) -> list[DecisionRecord]:
        """The decisions so far, if the model keeps them."""
        return self.log.kept

    def frame(self) -> pd.DataFrame:
        """The decisions so far (DecisionLog.frame)."""
        return self.log.frame()

    def _view(
        self,
        me: int,
        loads: Table,
        refused: frozenset[int] = frozenset(),
        notes: dict[str, Any] | None = None,
        out: frozenset[int] = frozenset(),
    ) -> View:
        model = self._model
        return View(
            me=me,
            loads=self._true_seen if loads is self._true else read_only(loads),
            hardware=self._hardware,
            paths=self._paths_from(me),
            remote_execution_ms=model.negotiation.remote_execution_ms,
            migration_ms=model.negotiation.migration_ms,
            now_ms=model.now_ns / NS_PER_MS,
            tasks_of_mine=lambda: model.engine.candidates(me, model.now_ns),
            overflow_of_mine=lambda: model.remote_memory.held_by_others_mb(me),
            uniform=self._uniform,
            refused=refused,
            out=out,
            notes={} if notes is None else notes,
            data=self._data,
            capacities=self._capacities,
        )

    def _paths_from(self, me: int) -> Paths:
        """The ways from a node, as they are now."""
        if self._model.network is not self._network:
            self._network = self._model.network
            self._paths = {}
        found = self._paths.get(me)
        if found is None:
            found = self._paths[me] = Paths(*self._network.ways_from(me))
        return found

    def _uniform(self, task: int, draw: int) -> float:
        return float(policy_uniform(self._policy_key, task, draw))

    def newcomer(self, job: int, number: int) -> Newcomer:
        """What a job announces of one of its tasks."""
        first_task, *demands = announced(self._model.jobs[job].item())
        staging = self._model.staging
        return Newcomer(first_task + number, job, *demands, files=() if staging is None else staging.files_of(job))

    def _send(self, task: Candidate, source: int, target: int, cost_ms: float, asking_ns: int) -> None:
        """A task leaves for the node that has accepted it."""
        engine, now_ns, staging = self._model.engine, self._model.now_ns, self._model.staging
        slot = engine.slot_of(source, task.task)
        if slot < 0:
            name = self._model.policy.name
            raise PolicyFault(f"policy {name!r}: task {task.task} is to migrate from node {source}, where it is not")
        if not 0.0 <= cost_ms <= LONGEST_WAIT_MS and not (
            # A way that is so long in truth is the scenario's matter, which travel_ns says.
            min(cost_ms, self._view(source, self._true).cost_ms(task, target)) > LONGEST_WAIT_MS
        ):
            name = self._model.policy.name
            raise PolicyFault(
                f"policy {name!r}: cost_ms = {cost_ms} of a migration: allowed is 0 to {LONGEST_WAIT_MS:g} ms"
            )
        if self._failures_are_possible:
            self._model.failures.set_out(task.task, source, target)
        under_way_ns = travel_ns(cost_ms, task.task, target) + asking_ns
        if staging is not None:
            if not task.running:
                under_way_ns -= staging.sent_on_ns(task.job, source, int(engine.tasks["enter_ns"][slot]), now_ns)
            under_way_ns += staging.fetch(task.job, target)
        engine.migrate(slot, target, under_way_ns, now_ns)
        if self._model.transfers.is_contended:
            self.carry(slot, task, source, asking_ns)
        if task.running:
            self.migrations += 1
        else:
            self.remote_executions += 1
        for node in (source, target):
            engine.measure(now_ns, self._true, node, node + 1)
        if not self.papers:
            self.reports.hear(self._model.load_managers[source], target, self._true[target])

    def recorder(self, node: int, newcomer: Newcomer | None = None) -> Any:
        """Writes down the decisions of a node's load manager, of one newcomer or of tasks that they name."""
        now_ms, log = self._model.now_ns / NS_PER_MS, self.log

        def record(decision: Decision, target: int, accepted: bool, reason: str) -> None:
            # Who is not accepted at home waits there: nobody has refused an offer.
            self.refused_offers += not accepted and target != node
            log.taken += 1
            if not log.wants_records:
                return
            whom = decision.task or newcomer
            assert whom is not None  # a decision is about one of them
            log.append(
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
