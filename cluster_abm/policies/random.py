"""A yardstick: each task to a node drawn uniformly."""

from __future__ import annotations

from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.view import ArrivingTask, View


class RandomPlacement(Policy):
    """Uniform over all nodes, home included; knows nothing. In the heterogeneous form in proportion to CPU speed."""

    name = "random"
    source = "textbook"
    summary = "each task to a node drawn uniformly"
    rules = (("drawn", "drawn at random, all nodes alike"),)
    uses_reports = False

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """A node by the task's own random number, of those that have not failed to answer."""
        return Decision(int(view.draw_nodes(task, 1, len(view.refused))[0]), "drawn")

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """Accept."""
        return ""
