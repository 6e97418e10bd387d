"""Batch systems: jobs wait at a head node for cores of their own; first come, first served, or with backfilling."""

from __future__ import annotations

import math

from pydantic import Field

from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.parts.reservations import first_backfill, plan, reservation
from cluster_abm.policy.parts.space_sharing import SpaceSharing
from cluster_abm.policy.view import ArrivingTask, View
from cluster_abm.policy.waiting import WaitingJobs, slices_within
from cluster_abm.scenario.distributions import NonNegative


class BatchSystem(SpaceSharing):
    """Nodes are partitioned into disjoint sets, and each set runs one job at a time; where nodes have several cores it
    is cores that are partitioned.

    A head node keeps one queue. The job at its head waits until as many nodes (cores) are free as it has tasks (or all
    of them, if it has more); no job overtakes it. It has these to itself until all its tasks have ended. A task that
    loses its node gets a free one, else goes to another node of its job. In the heterogeneous form a job gets the
    fastest of the free ones.
    """

    name = "batch-system"
    source = "IOCM, section 3.4 (BS)"
    summary = "first come first served: each job waits for nodes of its own, one per task; or cores"


class Backfilling(SpaceSharing):
    """A batch system in which a job may overtake others by the run times that all request.

    A job's cores are taken to be free again once its requested time has passed since its start, the longest start on
    another node included. A job with more tasks than there are cores gets all of them for as many times its request as
    each has to serve. A job that runs on beyond that is not killed: whenever the head node plans, it is expected to end
    in the slice that begins, or `extension_ms` after it, so that nothing is built on when it will really end.
    Reservations that do not hold any more are recomputed. A task that begins again on another node has its whole
    requested time before it.

    `view.notes["passed"]`: whether the job that starts has passed others.
    """

    rules = (
        ("head of the queue", "the job is at the head of the queue and fits"),
        ("backfilling", "the job fits beside the reservations of jobs before it"),
    )

    class Parameters(Policy.Parameters):
        """What becomes of a job that outruns its request."""

        extension_ms: NonNegative = Field(
            0.0, description="a job that has outrun its request is expected to run on for so long [ms]; 0: for a slice"
        )

    required_demands = ("requested_ms",)

    parameters: Parameters

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """As in a batch system; the rule tells whether the job was at the head."""
        found = super().place(task, view)
        rule = "backfilling" if view.notes.get("passed", False) else "head of the queue"
        return Decision(found.target, rule, found.index)

    def outrun(self, view: View) -> int:
        """When jobs that have outrun their request are expected to end [slices]."""
        return view.now_slices + slices_within(self.parameters.extension_ms, view.slice_ms)


class Easy(Backfilling):
    """A batch system (`batch-system`) whose head of the queue has a reservation; others may start before it if that is
    not moved later by them.

    The job at the head starts as soon as enough cores are free. While they are not, it gets the first time at which
    they will be by the requests of the running jobs: the shadow time; what is then free beyond it are the extra cores.
    Then the first job in order of submission starts that fits into the free cores, and either ends by the shadow time,
    or takes no more than the extra cores; and so on until there is none. A job that is not at the head has no
    reservation, and may be delayed by those behind it.

    `view.notes["head"]`, `["reserved"]`: the job at the head, and for when it has its reservation [slices].
    """

    name = "easy"
    source = "Lifka 1995; Mu'alem, Feitelson 2001, section 2"
    summary = "EASY backfilling: a job may start before the head of the queue if it does not delay it"

    def next_job(self, queue: WaitingJobs, view: View) -> int:
        """The head if it fits, else the first job that ends before the head's reservation, or needs extra cores."""
        free, needed = view.free_cores, queue["cores"][0]
        view.notes["passed"] = bool(needed > free)
        if needed <= free:
            return 0
        shadow, extra = reservation(view.running, free, needed, view.now_slices, self.outrun(view))
        view.notes["head"] = int(queue["job"][0])
        view.notes["reserved"] = int(shadow)
        return first_backfill(queue["cores"], queue["lasts"], free, extra, shadow - view.now_slices)


class Conservative(Backfilling):
    """A batch system (`batch-system`) in which every job gets a reservation when it is submitted: the earliest at which
    enough cores will be free for as long as it requests, between those of the jobs before it. None is moved later by a
    job that is submitted afterwards.

    Where jobs end earlier than they requested, the reservations are compressed: in order of submission each job gives
    its one back and takes the earliest there is. A job starts when its reservation has come. Where a job runs on beyond
    its request, or nodes go down, and a reservation does not hold any more, all are made anew in order of submission,
    and some may then be later than they were.

    `queue.notes["reserved"]`: for when each waiting job has its reservation [slices]; `view.notes["planned_at"]`: when
    they were made [slices]; `view.notes["made_anew"]`: how often all were made anew.
    """

    name = "conservative"
    source = "Mu'alem, Feitelson 2001, section 2; Feitelson, Weil 1998"
    summary = "conservative backfilling: a job may start before others if it delays none of them"
    job_notes = ("reserved",)

    def next_job(self, queue: WaitingJobs, view: View) -> int:
        """The first job whose reservation is now; reservations are planned once a slice, and when a job has come."""
        now, free, reserved = view.now_slices, view.free_cores, queue.notes["reserved"]
        # The last one has come last.
        if view.notes.get("planned_at", -1) != now or math.isnan(reserved[-1]):
            anew = plan(view.running, free, now, self.outrun(view), queue["cores"], queue["lasts"], reserved)
            view.notes["made_anew"] = view.notes.get("made_anew", 0) + anew
        view.notes["planned_at"] = now
        for place in range(len(queue)):
            if reserved[place] <= now and queue["cores"][place] <= free:
                view.notes["passed"] = place > 0
                return place
        return -1
