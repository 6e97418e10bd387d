"""A yardstick: each home node deals its tasks out in turn."""

from __future__ import annotations

from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.view import ArrivingTask, View


class RoundRobin(Policy):
    """Every load manager goes round all nodes, beginning with its own.

    In the heterogeneous form nodes get turns in proportion to the speed of all their cores, as evenly spread as may be:
    at each turn every node earns its own relative to the mean, and the richest gets the turn and pays for it.
    """

    name = "round-robin"
    source = "textbook"
    summary = "each home node deals its tasks out to all nodes in turn"
    rules = (("next in turn", "the target is next in turn"),)
    uses_reports = False

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The next node in this load manager's turn."""
        if view.capacities is not None:
            earned = view.notes.get("earned", 0.0) + view.capacities.turns
            target = view.least_of(-earned)
            earned[target] -= view.nodes
            view.notes["earned"] = earned
            return Decision(target, "next in turn")
        dealt = view.notes.get("dealt", 0)
        for _ in range(view.nodes):
            if (view.me + dealt) % view.nodes not in view.refused:
                break
            dealt += 1
        view.notes["dealt"] = dealt + 1
        return Decision((view.me + dealt) % view.nodes, "next in turn")

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """Accept."""
        return ""
