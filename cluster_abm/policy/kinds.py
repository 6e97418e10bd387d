"""Kinds of policies beside those that only place arriving tasks. They combine: `class Mine(Holding, Migrating)`."""

from __future__ import annotations

from typing import ClassVar

from cluster_abm.arrays import Integers
from cluster_abm.policy.base import KINDS, Decision, Policy
from cluster_abm.policy.view import ArrivingTask, View
from cluster_abm.policy.waiting import WaitingJobs


class Migrating(Policy):
    """A policy under which running tasks may move: `migration` is asked once an arriving task has been placed.

    Class attributes:
        migrations_per_arrival: how many tasks it may send away then; None: as many as it finds.
    """

    migrates = True
    migrations_per_arrival: ClassVar[int | None] = 1

    def migration(self, task: ArrivingTask, view: View) -> Decision | None:
        """Which task of the own node to send where, now that the arriving task is on some node; None: no task."""
        return None


class Holding(Policy):
    """A policy under which jobs may wait in a queue: `next_job`, or `holds`, is asked before a job's tasks are placed.

    Class attributes:
        holds_for_events: whether only an end of a task, a submission, a failure or a repair can free what it holds:
            where none of them is to come, the run ends. False: also time alone, or background programs' turns at the
            CPU; then a run waits for ever for a job that is never let go.
        job_notes: names of the numbers that a central policy notes of each waiting job (`queue.notes`).
    """

    holds_jobs = True
    holds_for_events: ClassVar[bool] = False
    job_notes: ClassVar[tuple[str, ...]] = ()

    def found(self, task: ArrivingTask, tasks: int, view: View) -> None:
        """Take note of a job of `workload.initial`, which is on its home at 0 without a decision.

        Asked once for each, before all else: its first task, and how many there are.
        """

    def holds(self, task: ArrivingTask, tasks: int, view: View) -> bool:
        """Whether a job at the head of its queue has to wait: its first task, and how many there are."""
        return False

    def next_job(self, queue: WaitingJobs, view: View) -> int:
        """Which job of a queue starts next: its place in the queue, or -1: none starts now.

        Asked again until the answer is -1, each time when the tasks of the job before have been placed. By default the
        job at the head, unless it has to wait (`holds`): first come, first served.

        A policy with a `next_job` of its own is asked when a job has been submitted, a task has ended, or a node or a
        link has changed; with a period also once in it. Time alone is no reason to ask.

        Args:
            queue: the jobs that wait, one at least: of all nodes if the policy is `central`, else of one node.
            view: what the load manager of the head's home node knows.
        """
        return -1 if self.holds(queue.first_task(0), int(queue.rows["tasks"][0]), view) else 0

    def cores_for(self, task: ArrivingTask, tasks: int, view: View) -> Integers | None:
        """The nodes of the cores that a starting job gets, one entry a core; None: one a task, where `place` puts it.

        A head node (`central`) is asked before `place`, which then finds them by `view.nodes_of(task.job)`, or the one
        that is the task's by turn by `view.core_of(task)`.

        Args:
            task: the job's first task.
            tasks: how many it has.
            view: what the load manager of the job's home knows.
        """
        return None

    def takes_back(self, task: ArrivingTask, view: View) -> bool:
        """Return whether a job that `holds` let go, and that no other node takes, waits on and does not start at home.

        Only asked about a job of which no task has begun.
        """
        return False


def migrates_on_arrival(policy: Policy) -> bool:
    """Whether a policy may make tasks migrate when another one has arrived: only by a `migration` of its own."""
    return isinstance(policy, Migrating) and getattr(policy.migration, "__func__", None) is not Migrating.migration


def is_asked_about_heads(policy: Policy) -> bool:
    """Whether jobs wait in a queue a node, about whose head alone a policy is asked, and periodically.

    Such queues are served in compiled code. Python serves the queue of a head node, a queue of which the policy chooses
    a job, and one that is looked at whenever a task has ended.
    """
    if not isinstance(policy, Holding) or policy.central or policy.acts_every_ms is None:
        return False
    return getattr(policy.next_job, "__func__", None) is Holding.next_job


KINDS |= {"migrates": Migrating, "holds_jobs": Holding}
