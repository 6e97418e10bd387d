"""A yardstick: join the shortest queue; of unlike nodes, that of the shortest expected delay."""

from __future__ import annotations

from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.view import ArrivingTask, View


class JoinShortestQueue(Policy):
    """To the node known to have fewest tasks; home on a tie.

    The heterogeneous form is SED: least (n + 1)/mu, n tasks at a CPU of speed mu.
    """

    name = "jsq"
    source = "Winston 1977"
    summary = "each task to the node with fewest tasks, home on a tie"
    rules = (("shortest queue", "the target has fewest tasks"),)

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The least of all, refused nodes apart."""
        target = view.least("tasks", task)
        here, there = view.load("tasks", view.me, task), view.load("tasks", target, task)
        if there >= here:
            return Decision(view.me, "shortest queue", "tasks", 1.0, here, here, reason="home is as short")
        return Decision(target, "shortest queue", "tasks", 1.0, here, there)

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """Refuses when the queue here is not shorter than the offering node's any more."""
        mine = view.load("tasks", view.me, task)
        return "" if mine < decision.load_here else "not the shorter queue any more"
