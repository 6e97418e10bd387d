"""The load manager of a node as an agent: it places arriving tasks, offers running ones, and answers offers."""

from __future__ import annotations

import math
from collections.abc import Callable, MutableMapping
from dataclasses import replace
from typing import Any

import numpy as np

from cluster_abm.engine.tables import NONE
from cluster_abm.errors import PolicyFault
from cluster_abm.model.agents.base import ClusterAgent
from cluster_abm.model.agents.node import Node
from cluster_abm.model.assembly import Parts
from cluster_abm.model.deciding.compiled.placement import Begun
from cluster_abm.model.deciding.in_python import Placed
from cluster_abm.model.talking.mail import Event
from cluster_abm.policies import ArrivingTask, Candidate, Decision, Migrating, Policy, View
from cluster_abm.policy.talking import Post
from cluster_abm.policy.tasks import CANDIDATE, candidate_of


class LoadManager(ClusterAgent):
    """The load manager of one node.

    Attributes:
        index: number of its node.
        policy: its policy.
    """

    turn = "managers"
    # What it does when a task arrives, all of which is also there in compiled code (negotiation.arriving).
    ON_ARRIVAL = (
        "place", "go_on_placing", "rebalance", "go_on_rebalancing", "offer", "ask", "answer", "decides_on_arrival",
        "migrates_on_arrival",
    )  # fmt: skip

    def __init__(self, model: Any, index: int) -> None:
        super().__init__(model)
        self.index = index
        parts: Parts = model.parts
        self.policy: Policy = parts.policies.of[index]
        self._policy = parts.policies.checked[index]
        self._views, self._questions = parts.views, parts.questions
        self._reports, self._log = parts.reports, parts.log
        self._offers: int = model.negotiation.offers

    @property
    def node(self) -> Node:
        """Its node."""
        found: Node = self.model.node_agents[self.index]
        return found

    @property
    def notes(self) -> MutableMapping[str, Any]:
        """What its policy remembers."""
        notes: MutableMapping[str, Any] = self._views.notes[self.index]
        return notes

    def known_loads(self) -> dict[str, list[float]]:
        """What it knows of all nodes: index name to one value per node."""
        loads = self.model.view_of(self).loads
        return {str(name): [float(value) for value in loads[name]] for name in loads.dtype.names or ()}

    # ---- its turn in a slice -------------------------------------------------------------------------------------

    def step(self) -> None:
        """At the boundary at which a slice begins, once arrivals are placed: act if the policy's period has come.

        Where a subclass overrides it, it is called once a slice for each manager whose node is up.
        """
        self.check_turn()
        if self.index in self.parts.periodic.asked:
            self._send_away(self._policy.relieve, 1, Begun())

    def report(self) -> None:
        """At the boundary at which a slice ends: report the load of the own node if the exchange period has come.

        Where a subclass overrides it, it is called once a slice for each manager whose node is up, and the node is
        reported only if it calls `super().report()`.
        """
        self.check_turn()
        self._reports.add(self.index)

    # ---- talk ----------------------------------------------------------------------------------------------------

    def told(self, event: Event, post: Post) -> None:
        """Act by a policy that talks (Talking): on tasks, a message, ends of tasks or failures."""
        self._policy.talk(event.kind, *event.given, post)

    # ---- arriving tasks ------------------------------------------------------------------------------------------

    @property
    def decides_on_arrival(self) -> bool:
        """Whether it decides where its arriving tasks start; else they start at home."""
        return self.policy.acts_on_arrival or type(self).place is not LoadManager.place

    @property
    def migrates_on_arrival(self) -> bool:
        """Whether it may send a running task elsewhere once it has placed an arriving one."""
        return self.policy.migrates or type(self).rebalance is not LoadManager.rebalance

    def place(self, task: ArrivingTask) -> Placed:
        """Find a node for an arriving task: ask the best, and if it refuses the next best, as often as allowed."""
        return self.go_on_placing(task, Begun())

    def go_on_placing(self, task: ArrivingTask, begun: Begun) -> Placed:
        """The same where some nodes have been asked already."""
        refused, asking_ns = begun.refused, begun.asking_ns
        may_wait = self.policy.holds_jobs and task.task == int(self.parts.engine.jobs["first_task"][task.job])
        for asked in range(begun.asked, self._offers):
            view = self._views.of(self.index, refused)
            decision = self._policy.place(task, view)
            if decision.target == self.index:
                waits = may_wait and self._policy.takes_back(task, view)
                self._record(task, decision, self.index, not waits, decision.reason)
                return Placed(NONE if waits else self.index, asking_ns, asked)
            reason, took_ns = self.ask(task, _with_cost(decision, task, view))
            asking_ns += took_ns
            self._record(task, decision, decision.target, not reason, reason)
            if not reason:
                return Placed(decision.target, asking_ns, asked + 1)
            refused |= {decision.target}
        if may_wait and self._policy.takes_back(task, self._views.of(self.index, refused)):
            at_home = replace(decision, target=self.index, load_there=math.nan, cost_ms=math.nan)
            reason = "home blocks submissions, and every node that was asked has refused"
            self._record(task, at_home, self.index, False, reason)
            return Placed(NONE, asking_ns, len(refused))
        return Placed(self.index, asking_ns, len(refused))

    # ---- running tasks -------------------------------------------------------------------------------------------

    def rebalance(self, task: ArrivingTask) -> None:
        """Send tasks of the own node elsewhere, if the policy says so now that an arriving task has been placed."""
        self.go_on_rebalancing(task, Begun())

    def go_on_rebalancing(self, task: ArrivingTask, begun: Begun) -> None:
        """The same where some tasks have been sent, or some nodes asked, already."""
        if isinstance(self.policy, Migrating):
            most = self.policy.migrations_per_arrival
            self._send_away(lambda view: self._policy.migration(task, view), most, begun)

    def send(self, task: int, node: int) -> str:
        """Ask another node to take a task that is on this node, and send it there if it accepts.

        It costs what any migration costs; the other node answers by its own policy.

        Args:
            task: the task's number.
            node: the number of the node to ask.

        Returns:
            "accepted", or the reason why the task stays.

        Raises:
            InputError: no such node, or the task cannot be sent from here.
        """
        answer: str = self.model.actions.send(self, task, node)
        return answer

    def _send_away(self, decide: Callable[[View], Decision | None], most: int | None, begun: Begun) -> None:
        """Send tasks elsewhere as the policy decides, at most so many."""
        refused, asking_ns, sent = begun.refused, begun.asking_ns, begun.asked
        while sent != most and len(refused) < self._offers:
            view = self._views.of(self.index, refused)
            decision = decide(view)
            if decision is None or decision.task is None:
                return
            task = decision.task
            reason, took_ns = self.offer(task, _with_cost(decision, task, view), asking_ns)
            if reason:
                asking_ns += took_ns
                if decision.target in refused:
                    # It would ask the same node without end.
                    return
                refused |= {decision.target}
                continue
            refused, asking_ns = frozenset(), 0
            sent += 1

    def offer(self, task: Candidate, decision: Decision, asking_ns: int = 0) -> tuple[str, int]:
        """Ask the node of a decision to take a task of this node, and send it there if it accepts.

        Args:
            asking_ns: how long others have been asked about the task before [ns].

        Returns:
            why it refuses ("" if it accepts), and how long asking took [ns].
        """
        reason, took_ns = self.ask(task, decision)
        self._record(task, decision, decision.target, not reason, reason)
        if not reason:
            self._depart(task, decision, asking_ns + took_ns)
        return reason, took_ns

    # ---- questions and answers -----------------------------------------------------------------------------------

    def ask(self, task: ArrivingTask, decision: Decision) -> tuple[str, int]:
        """Ask the node of a decision whether it takes a task: why not ("" if it does), and how long that took [ns]."""
        answered, took_ns = self._questions.ask(self.index, decision.target, task.task)
        if not answered:
            return "no answer", took_ns
        return self.model.load_managers[decision.target].answer(task, decision, self), took_ns

    def answer(self, task: ArrivingTask, decision: Decision, asker: LoadManager) -> str:
        """Accept ("") or refuse (why) an offer, by the true state of the own node; the answer carries that state."""
        if not self.parts.availability.accepting[self.index]:
            reason = "drains: it accepts no further task"
        elif self._views.all_is_known or not self.model.negotiation.refusals:
            return ""
        else:
            view = self._views.of(self.index)
            if type(asker.policy) is not type(self.policy):
                # The offer tells the asker's true load, and is judged by this policy's own index.
                view = self._views.with_true_row(view, asker.index)
                decision = self._policy.restated(task, decision, view, asker.index)
            reason = self._policy.accept(task, decision, view)
        if reason and not self._views.all_is_known:
            # An answer that accepts tells the state with the reservation in it, once that is made.
            self._reports.learn(asker.index, self.index, self._views.true_row(self.index))
        return reason

    def _record(self, task: ArrivingTask, decision: Decision, target: int, accepted: bool, reason: str) -> None:
        self._log.record(self.index, decision.task or task, decision, target, accepted, reason)

    def _depart(self, task: Candidate, decision: Decision, asking_ns: int) -> None:
        """A task leaves for the node that has accepted it."""
        parts, source, target = self.parts, self.index, decision.target
        slot = parts.engine.slot_of(source, task.task)
        rows = parts.engine.candidates(source, parts.clock.now_ns, CANDIDATE)
        places = np.flatnonzero(rows["task"] == task.task)
        if slot < 0 or not len(places):
            raise PolicyFault(
                f"policy {self.policy.name!r}: task {task.task} is to migrate from node {source}, where it is not"
            )
        # What the policy has said of the task, and of the cost, is its account; a move costs what it does in truth.
        task = candidate_of(rows, int(places[0]))
        cost_ms = self._views.true(source, target).cost_ms(task, target)
        parts.departures.send(slot, task, source, target, cost_ms, asking_ns)
        loads = self._views.true_loads
        for node in (source, target):
            parts.engine.measure(parts.clock.now_ns, loads, node, node + 1)
        if not self._views.all_is_known:
            self._reports.learn(source, target, loads[target])


def _with_cost(decision: Decision, task: ArrivingTask, view: View) -> Decision:
    """An offer with what the move costs by what its load manager knows, where its policy has not said it."""
    if not math.isnan(decision.cost_ms):
        return decision
    return replace(decision, cost_ms=view.cost_ms(task, decision.target))
