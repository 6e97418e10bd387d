"""A yardstick: join the shortest queue."""

from __future__ import annotations

from cluster_abm.policies.base import Decision, Policy
from cluster_abm.policies.view import Newcomer, View


class JoinShortestQueue(Policy):
    """To the node known to have fewest tasks; home on a tie."""

    name = "jsq"
    source = "Winston 1977"
    summary = "each task to the node with fewest tasks, home on a tie"

    def place(self, newcomer: Newcomer, view: View) -> Decision:
        """The least of all, refused nodes apart."""
        target = view.least("tasks")
        here, there = view.load("tasks", view.me), view.load("tasks", target)
        if there >= here:
            return Decision(view.me, "shortest queue", "tasks", 1.0, here, here, reason="home is as short")
        return Decision(target, "shortest queue", "tasks", 1.0, here, there)

    def accept(self, newcomer: Newcomer, decision: Decision, view: View) -> str:
        """Refuses when the queue here is not shorter than the offering node's any more."""
        return "" if view.load("tasks", view.me) < decision.load_here else "not the shorter queue any more"
