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
            self.probe_many(tasks[0].job, len(tasks), post)

    def probe_many(self, job: int, tasks: int, post: Post) -> None:
        """Probe nodes for that many tasks of a job: all different, unless there are too few."""
        left = -int(-self.parameters.probe_ratio * tasks // 1)
        for _ in range(left):
            if left == 0:
                break
            drawn = post.draw_nodes(min(left, post.nodes))
            self.probe(job, drawn, post)
            left -= len(drawn)
