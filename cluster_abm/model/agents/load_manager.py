"""The load manager of a node as an agent: it places arriving tasks, offers running ones, and answers offers."""

from __future__ import annotations

from typing import Any

from cluster_abm.model.agents.base import ClusterAgent
from cluster_abm.model.agents.node import Node
from cluster_abm.model.assembly import Parts
from cluster_abm.model.deciding.in_python import Begun, Placed
from cluster_abm.model.talking.mail import Event
from cluster_abm.policies import ArrivingTask, Candidate, Decision, Migrating, Policy
from cluster_abm.policy.kinds import migrates_on_arrival
from cluster_abm.policy.talking import Post


class LoadManager(ClusterAgent):
    """The load manager of one node.

    Under the pooled reference no load manager of this class steps.

    Attributes:
        index: number of its node.
        policy: its policy.
        checked: the same, behind checks of what it returns.
    """

    turn = "managers"
    # What it does when a task arrives, all of which is also there in compiled code (deciding.compiled).
    ON_ARRIVAL = (
        "place", "go_on_placing", "rebalance", "go_on_rebalancing", "offer", "ask", "answer", "decides_on_arrival",
        "migrates_on_arrival", "told",
    )  # fmt: skip

    def __init__(self, model: Any, index: int) -> None:
        super().__init__(model)
        self.index = index
        parts: Parts = model.parts
        self.policy: Policy = parts.policies.of[index]
        self.checked = parts.policies.checked[index]
        self._negotiation = parts.negotiation

    @property
    def node(self) -> Node:
        """Its node."""
        node: Node = self.model.node_agents[self.index]
        return node

    @property
    def notes(self) -> Any:
        """What its policy remembers."""
        self.model.conversation.come_back()
        return self.parts.views.notes[self.index]

    def known_loads(self) -> dict[str, list[float]]:
        """What it knows of all nodes: index name to one value per node."""
        loads = self.model.view_of(self).loads
        return {str(name): [float(value) for value in loads[name]] for name in loads.dtype.names or ()}

    # ---- its turn in a slice -------------------------------------------------------------------------------------

    def step(self) -> None:
        """At the boundary at which a slice begins, once arrivals are placed: act if the policy's period has come.

        `model.step()` calls it once a slice for each manager whose node is up, in the order of their numbers; `run()`
        only where the policy's period has come, or where a subclass overrides it.
        """
        self.check_turn()
        if self.index in self.parts.periodic.asked:
            self._negotiation.rebalance(self, self.checked.relieve, 1, Begun())

    def report(self) -> None:
        """At the boundary at which a slice ends: report the load of the own node if the exchange period has come.

        Where a subclass overrides it, it is called once a slice for each manager whose node is up, and the node is
        reported only if it calls `super().report()`.
        """
        self.check_turn()
        self.parts.reports.add(self.index)

    # ---- talk ----------------------------------------------------------------------------------------------------

    def told(self, event: Event, post: Post) -> None:
        """Act by a policy that talks (Talking): on tasks, a message, ends of tasks or failures."""
        self.checked.talk(event.kind, *event.given, post)

    # ---- arriving tasks ------------------------------------------------------------------------------------------

    @property
    def decides_on_arrival(self) -> bool:
        """Whether it decides where its arriving tasks start; else they start at home."""
        return self.policy.acts_on_arrival or type(self).place is not LoadManager.place

    @property
    def migrates_on_arrival(self) -> bool:
        """Whether it may send a running task elsewhere once it has placed an arriving one."""
        return migrates_on_arrival(self.policy) or type(self).rebalance is not LoadManager.rebalance

    def place(self, task: ArrivingTask) -> Placed:
        """Find a node for an arriving task: ask the best, and if it refuses the next best, as often as allowed."""
        return self.go_on_placing(task, Begun())

    def go_on_placing(self, task: ArrivingTask, begun: Begun) -> Placed:
        """The same where some nodes have been asked already."""
        return self._negotiation.place(self, task, begun)

    # ---- running tasks -------------------------------------------------------------------------------------------

    def rebalance(self, task: ArrivingTask) -> None:
        """Send tasks of the own node elsewhere, if the policy says so now that an arriving task has been placed."""
        self.go_on_rebalancing(task, Begun())

    def go_on_rebalancing(self, task: ArrivingTask, begun: Begun) -> None:
        """The same where some tasks have been sent, or some nodes asked, already."""
        if isinstance(self.policy, Migrating):
            most = self.policy.migrations_per_arrival
            self._negotiation.rebalance(self, lambda view: self.checked.migration(task, view), most, begun)

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
        answer: str = self.model.node_actions.send(self, task, node)
        return answer

    def offer(self, task: Candidate, decision: Decision, asking_ns: int = 0) -> tuple[str, int]:
        """Ask the node of a decision to take a task of this node, and send it there if it accepts.

        Args:
            asking_ns: how long others have been asked about the task before [ns].

        Returns:
            why it refuses ("" if it accepts), and how long asking took [ns].
        """
        return self._negotiation.offer(self, task, decision, asking_ns)

    # ---- questions and answers -----------------------------------------------------------------------------------

    def ask(self, task: ArrivingTask, decision: Decision) -> tuple[str, int]:
        """Ask the node of a decision whether it takes a task: why not ("" if it does), and how long that took [ns]."""
        answered, took_ns = self.parts.questions.ask(self.index, decision.target, task.task)
        if not answered:
            return "no answer", took_ns
        return self.model.load_managers[decision.target].answer(task, decision, self), took_ns

    def answer(self, task: ArrivingTask, decision: Decision, asker: LoadManager) -> str:
        """Accept ("") or refuse (why) an offer, by the true state of the own node; the answer carries that state."""
        return self._negotiation.answer(self, task, decision, asker.index, asker.policy)
