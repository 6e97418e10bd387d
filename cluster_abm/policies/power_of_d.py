"""A yardstick: the shortest of d queues drawn at random."""

from __future__ import annotations

from pydantic import Field

from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.view import ArrivingTask, View
from cluster_abm.scenario.distributions import Count


class PowerOfD(Policy):
    """Draws d nodes and takes the one known to have fewest tasks: with stale information it herds less than
    jsq.

    The heterogeneous form takes the one of least (n + 1)/mu, and draws in proportion to CPU speed: otherwise slow nodes
    would get more than they can serve whenever all d drawn are slow.
    """

    class Parameters(Policy.Parameters):
        """How many are drawn."""

        d: Count = Field(2, description="nodes drawn, without repetition")

    name = "power-of-d"
    source = "Mitzenmacher 2001"
    summary = "each task to the shortest of d queues drawn at random"
    rules = (("shortest of {}", "the target has fewest tasks of {} nodes drawn at random"),)

    parameters: Parameters

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The first shortest of those drawn."""
        drawn = view.draw_nodes(task, self.parameters.d)
        tasks = view.column("tasks", task)
        target = int(drawn[tasks[drawn].argmin()])
        here, there = float(tasks[view.me]), float(tasks[target])
        return Decision(target, f"shortest of {len(drawn)}", "tasks", 1.0, here, there)

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """Accept: the textbook's rule has no refusal."""
        return ""
