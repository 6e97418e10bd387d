"""Managers that start so many tasks at once on their node, and keep the others waiting."""

from __future__ import annotations

from pydantic import Field

from cluster_abm.policies.talking import Post, TalkingPolicy
from cluster_abm.scenario.distributions import Count


class SlottedPolicy(TalkingPolicy):
    """What policies share under which a node takes so many tasks at once."""

    class Parameters(TalkingPolicy.Parameters):
        """How many tasks a node takes at once."""

        slots_per_core: Count = Field(
            1, description="tasks that a node takes at once, per core; a task keeps its slot while the disk serves it"
        )

    parameters: Parameters

    def free_slots(self, post: Post) -> int:
        """Slots of the own node that are free."""
        return max(0, post.cores * self.parameters.slots_per_core - post.tasks_here)
