"""What load managers do about tasks, step by step, in Python. `deciding.compiled` has the same steps by the same names.

Load managers call these steps by their own methods, which a subclass may override.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np

from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import NONE
from cluster_abm.errors import PolicyFault
from cluster_abm.model.deciding.decisions import DecisionLog
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.knowing.views import Views
from cluster_abm.model.moving.departures import Departures
from cluster_abm.model.part import part
from cluster_abm.policies import ArrivingTask, Candidate, Decision, Policy, View
from cluster_abm.policy.calling import CheckedPolicy
from cluster_abm.policy.tasks import candidate_of

# Why a job goes on waiting whose tasks its policy has let go.
ALL_REFUSED = "home blocks submissions, and every node that was asked has refused"


class Begun(NamedTuple):
    """How far a load manager has come with a task when another form of its policy goes on."""

    refused: frozenset[int] = frozenset()  # nodes that have refused the task
    asking_ns: int = 0  # how long asking them took [ns]
    asked: int = 0  # how many were asked; or, where tasks migrate, how many have been sent
    decision: Decision | None = None  # the latest one about an arriving task; None: none has been taken


class Placed(NamedTuple):
    """Where a task starts."""

    target: int  # its node; NONE: none, its job is held
    asking_ns: int = 0  # how long asking took [ns]
    asked: int = 0  # how many nodes were asked


class Negotiates(Protocol):
    """What decides about tasks: a load manager."""

    index: int
    policy: Policy
    checked: CheckedPolicy

    def ask(self, task: ArrivingTask, decision: Decision) -> tuple[str, int]:
        """Ask the node of a decision whether it takes a task."""

    def offer(self, task: Candidate, decision: Decision, asking_ns: int = 0) -> tuple[str, int]:
        """Ask the node of a decision to take a task of this node, and send it there if it accepts."""


@part
class NegotiationInPython:
    """The steps of the negotiation about tasks."""

    engine: EngineState
    availability: Availability
    views: Views
    log: DecisionLog
    departures: Departures
    most_offers: int  # how many nodes are asked about a task, at most
    refusals: bool  # whether asked nodes may refuse

    def place(self, manager: Negotiates, task: ArrivingTask, begun: Begun) -> Placed:
        """Find a node for an arriving task: ask the best, and if it refuses the next best, as often as allowed.

        Some nodes may have been asked already.
        """
        refused, asking_ns, index = begun.refused, begun.asking_ns, manager.index
        decision = begun.decision
        may_wait = manager.policy.holds_jobs and task.task == int(self.engine.jobs["first_task"][task.job])
        for asked in range(begun.asked, self.most_offers):
            view = self.views.of(index, refused)
            decision = manager.checked.place(task, view)
            if decision.target == index:
                waits = may_wait and manager.checked.takes_back(task, view)
                self.write_decision(index, task, decision, index, not waits, decision.reason)
                return Placed(NONE if waits else index, asking_ns, asked)
            reason, took_ns = manager.ask(task, _with_cost(decision, task, view))
            asking_ns += took_ns
            self.write_decision(index, task, decision, decision.target, not reason, reason)
            if not reason:
                return Placed(decision.target, asking_ns, asked + 1)
            refused |= {decision.target}
        if may_wait and decision is not None and manager.checked.takes_back(task, self.views.of(index, refused)):
            at_home = replace(decision, target=index, load_there=math.nan, cost_ms=math.nan)
            self.write_decision(index, task, at_home, index, False, ALL_REFUSED)
            return Placed(NONE, asking_ns, len(refused))
        return Placed(index, asking_ns, len(refused))

    def rebalance(
        self, manager: Negotiates, decide: Callable[[View], Decision | None], most: int | None, begun: Begun
    ) -> None:
        """Send tasks of the manager's node elsewhere, as `decide` says, at most that many."""
        refused, asking_ns, sent = begun.refused, begun.asking_ns, begun.asked
        while sent != most and len(refused) < self.most_offers:
            view = self.views.of(manager.index, refused)
            decision = decide(view)
            if decision is None or decision.task is None:
                return
            task = decision.task
            reason, took_ns = manager.offer(task, _with_cost(decision, task, view), asking_ns)
            if reason:
                asking_ns += took_ns
                if decision.target in refused:
                    # It would ask the same node without end.
                    return
                refused |= {decision.target}
                continue
            refused, asking_ns = frozenset(), 0
            sent += 1

    def offer(self, manager: Negotiates, task: Candidate, decision: Decision, asking_ns: int) -> tuple[str, int]:
        """Ask the node of a decision to take a task, and send it there if it accepts (LoadManager.offer)."""
        reason, took_ns = manager.ask(task, decision)
        self.write_decision(manager.index, task, decision, decision.target, not reason, reason)
        if not reason:
            self.migrate(manager, task, decision.target, asking_ns + took_ns)
        return reason, took_ns

    def answer(
        self, manager: Negotiates, task: ArrivingTask, decision: Decision, asker: int, asker_policy: Policy
    ) -> str:
        """Accept ("") or refuse (why) an offer, by the true state of the own node; the answer carries that state."""
        index = manager.index
        if not self.availability.accepting[index]:
            reason = "drains: it accepts no further task"
        elif not self.refusals:
            return ""
        else:
            view = self.views.of(index)
            if type(asker_policy) is not type(manager.policy):
                # The offer tells the asker's true load, and is judged by this policy's own index.
                view = self.views.with_true_row(view, asker)
                decision = manager.checked.restated(task, decision, view, asker)
            reason = manager.checked.accept(task, decision, view)
        if reason and not self.views.all_is_known:
            # An answer that accepts tells the state with the reservation in it, once that is made.
            self.views.true_row(index)
            self.views.learn(asker, index)
        return reason

    def write_decision(
        self, manager: int, task: ArrivingTask, decision: Decision, target: int, accepted: bool, reason: str
    ) -> None:
        """Count a decision, and write it down if it is to be read."""
        self.log.record(manager, decision.task or task, decision, target, accepted, reason)

    def migrate(self, manager: Negotiates, task: Candidate, target: int, asking_ns: int) -> None:
        """A task leaves for the node that has accepted it."""
        self.send_away(manager.index, manager.policy.name, task.task, target, asking_ns)
        for node in (manager.index, target):
            self.views.true_row(node)
        self.views.learn(manager.index, target)

    def send_away(self, source: int, policy_name: str, task: int, target: int, asking_ns: int) -> None:
        """A task leaves a node for another one.

        Args:
            source: its node.
            policy_name: the policy by which it leaves.
            task: its number.
            target: the node that it goes to.
            asking_ns: how long others have been asked about it [ns].
        """
        slot = self.engine.slot_of(source, task)
        rows = self.views.candidates(source)
        positions = np.flatnonzero(rows["task"] == task)
        if slot < 0 or not len(positions):
            raise PolicyFault(
                f"policy {policy_name!r}: task {task} is to migrate from node {source}, where it is not; "
                "expected one of its view.candidates as they are now"
            )
        # What the policy has said of the task, and of the cost, is its account; a move costs what it does in truth.
        leaving = candidate_of(rows, int(positions[0]))
        cost_ms = self.views.true(source, target).cost_ms(leaving, target)
        self.departures.send(slot, leaving, source, target, cost_ms, asking_ns)


def _with_cost(decision: Decision, task: ArrivingTask, view: View) -> Decision:
    """An offer with what the move costs by what its load manager knows, where its policy has not said it."""
    if not math.isnan(decision.cost_ms):
        return decision
    return replace(decision, cost_ms=view.cost_ms(task, decision.target))
