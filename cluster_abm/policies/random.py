"""A yardstick: each task to a node drawn uniformly."""

from __future__ import annotations

from cluster_abm.policies.base import Decision, Policy
from cluster_abm.policies.view import Newcomer, View


class RandomPlacement(Policy):
    """Uniform over all nodes, home included; knows nothing."""

    name = "random"
    source = "textbook"
    summary = "each task to a node drawn uniformly"
    uses_reports = False

    def place(self, newcomer: Newcomer, view: View) -> Decision:
        """A node by the task's own random number, of those that have not failed to answer."""
        drawn = view.uniform(newcomer.task, len(view.refused))
        if not view.refused:
            return Decision(int(drawn * view.nodes), "drawn")
        nodes = [node for node in range(view.nodes) if node not in view.refused]
        return Decision(nodes[int(drawn * len(nodes))], "drawn")

    def accept(self, newcomer: Newcomer, decision: Decision, view: View) -> str:
        """Nobody refuses."""
        return ""
