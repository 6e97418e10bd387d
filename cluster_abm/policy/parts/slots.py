"""Load managers that start a limited number of tasks on their node at once; the others wait."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from cluster_abm.policy.talking import Post, Talking
from cluster_abm.policy.tasks import ArrivingTask
from cluster_abm.scenario.distributions import Count


class SlottedPolicy(Talking):
    """A policy under which a node has slots: it takes a limited number of tasks at once."""

    class Parameters(Talking.Parameters):
        """How many tasks a node takes at once."""

        slots_per_core: Count = Field(
            1, description="tasks that a node takes at once, per core; a task keeps its slot while the disk serves it"
        )

    parameters: Parameters

    def free_slots(self, post: Post) -> int:
        """Slots of the own node that are free."""
        return max(0, post.cores * self.parameters.slots_per_core - post.tasks_here)

    def start_together(self, tasks: Sequence[ArrivingTask], post: Post) -> bool:
        """Start the tasks of a job that meets at barriers at once, on nodes drawn at random; False: it does not.

        In slots they would wait at a barrier for tasks that wait for the slots which they keep.
        """
        if not post.meets_at_barriers(tasks[0]):
            return False
        nodes = post.draw_nodes(len(tasks))
        left = len(nodes)
        for task in tasks:
            if left == 0:
                nodes = post.draw_nodes(len(tasks))
                left = len(nodes)
            left -= 1
            post.start(task, nodes[left], "together: its job meets at barriers")
        return True
