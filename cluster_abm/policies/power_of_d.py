"""A yardstick: the shortest of d queues drawn at random."""

from __future__ import annotations

from pydantic import Field

from cluster_abm.policies.base import Decision, Policy
from cluster_abm.policies.view import Newcomer, View
from cluster_abm.scenario.distributions import Count


class PowerOfD(Policy):
    """Draws d nodes and takes the one known to have fewest tasks: with old news it herds less than jsq.

    The heterogeneous form draws in proportion to CPU speed, or slow nodes that meet among those drawn would get more
    than they can do, and takes the one of least (n + 1)/mu.
    """

    class Parameters(Policy.Parameters):
        """How many are drawn."""

        d: Count = Field(2, description="nodes drawn, without repetition")

    name = "power-of-d"
    source = "Mitzenmacher 2001"
    summary = "each task to the shortest of d queues drawn at random"

    parameters: Parameters

    def place(self, newcomer: Newcomer, view: View) -> Decision:
        """The first shortest of those drawn."""
        nodes = [node for node in range(view.nodes) if node not in view.refused]
        drawn = [
            nodes.pop(view.drawn(view.uniform(newcomer.task, draw), nodes))
            for draw in range(min(self.parameters.d, len(nodes)))
        ]
        tasks = view.column("tasks", newcomer)
        target = min(drawn, key=lambda node: tasks[node])
        here, there = float(tasks[view.me]), float(tasks[target])
        return Decision(target, f"shortest of {len(drawn)}", "tasks", 1.0, here, there)

    def accept(self, newcomer: Newcomer, decision: Decision, view: View) -> str:
        """Nobody refuses: the textbook's rule has no answer."""
        return ""
