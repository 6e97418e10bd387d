"""Batch sampling with late binding: Sparrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from cluster_abm.policy.parts.late_binding import ReservingPolicy
from cluster_abm.policy.talking import Post
from cluster_abm.policy.tasks import ArrivingTask
from cluster_abm.scenario.distributions import Positive


class BatchSampling(ReservingPolicy):
    """The home of a job with m tasks probes d m nodes; the m of them that first have a free slot get the tasks."""

    class Parameters(ReservingPolicy.Parameters):
        """How many nodes are probed."""

        probe_ratio: Annotated[Positive, Field(le=100.0)] = Field(
            2.0, description="d: nodes probed per task of a job, rounded up"
        )

    name = "batch-sampling"
    source = "Ousterhout, Wendell, Zaharia, Stoica 2013 (Sparrow)"
    summary = "a job of m tasks probes d m nodes, and the first m that get to it take a task each"

    parameters: Parameters

    def arrives(self, tasks: Sequence[ArrivingTask], post: Post) -> None:
        """Probe nodes drawn at random; all several times if there are fewer."""
        if not self.start_together(tasks, post):
            self.probe(tasks[0].job, self.drawn(len(tasks), post), post)

    def drawn(self, tasks: int, post: Post) -> list[int]:
        """The nodes that are probed for `tasks` tasks: all different, unless there are too few."""
        wanted = -int(-self.parameters.probe_ratio * tasks // 1)
        found: list[int] = []
        while len(found) < wanted:
            found += post.draw_nodes(min(wanted - len(found), post.nodes))
        return found
