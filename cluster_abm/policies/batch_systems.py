"""Batch systems: jobs wait at a head node for cores of their own; first come, first served, or with backfilling."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from pydantic import Field

from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.parts.reservations import Integers, Profile, first_backfill, planned
from cluster_abm.policy.parts.space_sharing import SpaceSharing, cores_of, free_cores, free_nodes, given_nodes
from cluster_abm.policy.view import ArrivingTask, Loads, View
from cluster_abm.policy.waiting import WaitingJobs
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


# Times in whole nanoseconds where a view names no slice.
NS_IN_MS = 1e-6
LONGEST = 2**52


class Outlook(NamedTuple):
    """What the head node plans with.

    Attributes:
        profile: cores that are free now, and that running jobs release.
        jobs: numbers of the waiting jobs, in order of submission, shape (jobs,).
        widths: cores that they ask for: one a task, and all there are if they have more, shape (jobs,).
        lengths: for how long, from the border of a slice on, shape (jobs,) [slices].
    """

    profile: Profile
    jobs: Integers
    widths: Integers
    lengths: Integers


class Backfilling(SpaceSharing):
    """A batch system in which a job may overtake others by the run times that all request.

    A job's cores are taken to be free again once its requested time has passed since its start, the longest start on
    another node included. A job with more tasks than there are cores gets all of them for as many times its request as
    each has to serve. A job that runs on beyond that is not killed: whenever the head node plans, it is expected to end
    in the slice that begins, or `extension_ms` after it, so that nothing is built on when it will really end.
    Reservations that do not hold any more are recomputed. A task that begins again on another node has its whole
    requested time before it.

    `view.notes["ends"]`: when each running job is expected to release its cores [slices].
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

    @abstractmethod
    def choose(self, outlook: Outlook, view: View) -> int:
        """The place of the job that starts now, which must fit into what is free; -1: none."""

    def found(self, task: ArrivingTask, tasks: int, view: View) -> None:
        """As in a batch system; a job that is there from the beginning requests its time from 0 on."""
        super().found(task, tasks, view)
        self._note_end(task, math.ceil(tasks / view.hardware[task.home].cores), 0.0, view)

    def next_job(self, queue: WaitingJobs, view: View) -> int:
        """Ask `choose`; the job gets its cores."""
        place = self.choose(self.outlook(queue, view), view)
        if place >= 0:
            task, tasks = queue.first_task(place), int(queue.rows["tasks"][place])
            self.give(task, tasks, free_nodes(view, given_nodes(view), task.home), view)
            cores = int(min(tasks, cores_of(view).sum()))
            ahead_ms = max(0.0, float(queue.rows["submitted_ms"][place]) - view.now_ms)
            self._note_end(task, math.ceil(tasks / cores), ahead_ms, view)
            view.notes["rule"] = "backfilling" if place else "head of the queue"
        return place

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """As in a batch system; the rule tells whether the job was at the head."""
        return replace(super().place(task, view), rule=view.notes.get("rule", self.rule))

    def recover(self, task: ArrivingTask, view: View) -> Decision:
        """As in a batch system; the job is expected to end a requested time from now, or later."""
        decision = super().recover(task, view)
        if not math.isnan(task.requested_ms):
            self._note_end(task, 1, 0.0, view)
        return decision

    def outlook(self, queue: WaitingJobs, view: View) -> Outlook:
        """What is free when, and what waits, by what jobs request."""
        given, now, cores = given_nodes(view), now_slice(view), cores_of(view)
        ends = {job: end for job, end in view.notes.get("ends", {}).items() if job in given}
        view.notes["ends"] = ends
        outrun = now + max(1, slices(self.parameters.extension_ms, view))
        releases = [end if (end := ends.get(job, now)) > now else outrun for job in given]
        held = [int((cores[nodes] > 0).sum()) for nodes in given.values()]
        profile = Profile(
            now, int(free_cores(view, given).sum()), np.array(releases, np.int64), np.array(held, np.int64)
        )
        rows = queue.rows
        widths = np.minimum(rows["tasks"], cores.sum()).astype(np.int64)
        lasts_ms = rows["requested_ms"] * np.ceil(rows["tasks"] / np.maximum(1, widths))
        lasts_ms = lasts_ms + self._starts_ms(queue, view) + np.maximum(0.0, rows["submitted_ms"] - view.now_ms)
        return Outlook(profile, rows["job"], widths, slices_of(lasts_ms, view))

    def _note_end(self, task: ArrivingTask, times: int, ahead_ms: float, view: View) -> None:
        """Note when a job that starts, or a task of which begins again, is expected to release its cores."""
        lasts_ms = task.requested_ms * times + longest_start_ms(task, view) + ahead_ms
        ends = view.notes["ends"] = dict(view.notes.get("ends", {}))
        ends[task.job] = max(ends.get(task.job, 0), now_slice(view) + slices(lasts_ms, view))

    def _starts_ms(self, queue: WaitingJobs, view: View) -> Loads:
        """`longest_start_ms` of the waiting jobs, shape (jobs,); found once for each."""
        known = view.notes.get("starts_ms", {})
        found = {
            job: known[job] if job in known else longest_start_ms(queue.first_task(place), view)
            for place, job in enumerate(queue.rows["job"].tolist())
        }
        view.notes["starts_ms"] = found
        return np.fromiter(found.values(), float, len(found))


def now_slice(view: View) -> int:
    """Now [slices]."""
    return round(view.now_ms / (view.slice_ms or NS_IN_MS))


def slices(time_ms: float, view: View) -> int:
    """How many slices after a border it is known that so much time has passed; an end at a border is known later."""
    return int(slices_of(np.array([time_ms]), view)[0])


def slices_of(times_ms: Loads, view: View) -> Integers:
    """The same of several, shape (jobs,)."""
    # Within a nanosecond, to which times are rounded.
    whole = np.floor((times_ms + NS_IN_MS) / (view.slice_ms or NS_IN_MS)) + 1
    return np.minimum(whole, LONGEST).astype(np.int64)


def longest_start_ms(task: ArrivingTask, view: View) -> float:
    """The longest that starting a task on any node takes [ms]: of nodes alike in route and disk one is looked at."""
    kinds: dict[tuple[float, float, float], int] = {}
    for node in range(view.nodes):
        if node != view.me and node not in view.refused:
            route = float(view.paths.mb_per_s[node]), float(view.paths.latency_ms[node])
            kinds.setdefault((*route, view.hardware[node].disk_mb_per_s), node)
    return max((view.cost_ms(task, node) for node in kinds.values()), default=0.0)


class Easy(Backfilling):
    """A batch system (`batch-system`) whose head of the queue has a reservation; others may start before it if that is
    not moved later by them.

    The job at the head starts as soon as enough cores are free. While they are not, it gets the first time at which
    they will be by the requests of the running jobs: the shadow time; what is then free beyond it are the extra cores.
    Then the first job in order of submission starts that fits into the free cores, and either ends by the shadow time,
    or takes no more than the extra cores; and so on until there is none. A job that is not at the head has no
    reservation, and may be delayed by those behind it.

    `view.notes["head"]`: the job at the head, and the border of a slice for which it has its reservation [slices].
    """

    name = "easy"
    source = "Lifka 1995; Mu'alem, Feitelson 2001, section 2"
    summary = "EASY backfilling: a job may start before the head of the queue if it does not delay it"

    def choose(self, outlook: Outlook, view: View) -> int:
        """The head if it fits, else the first job that backfills."""
        if outlook.widths[0] <= outlook.profile.free[0]:
            return 0
        place, shadow = first_backfill(outlook.profile, outlook.widths, outlook.lengths)
        view.notes["head"] = int(outlook.jobs[0]), shadow
        return place


class Conservative(Backfilling):
    """A batch system (`batch-system`) in which every job gets a reservation when it is submitted: the earliest at which
    enough cores will be free for as long as it requests, between those of the jobs before it. None is moved later by a
    job that is submitted afterwards.

    Where jobs end earlier than they requested, the reservations are compressed: in order of submission each job gives
    its one back and takes the earliest there is. A job starts when its reservation has come. Where a job runs on beyond
    its request, or nodes go down, and a reservation does not hold any more, all are made anew in order of submission,
    and some may then be later than they were.

    `view.notes["reserved"]`: the border of a slice for which each waiting job has its reservation [slices];
    `view.notes["made_anew"]`: how often all were made anew.
    """

    name = "conservative"
    source = "Mu'alem, Feitelson 2001, section 2; Feitelson, Weil 1998"
    summary = "conservative backfilling: a job may start before others if it delays none of them"

    def choose(self, outlook: Outlook, view: View) -> int:
        """The first job whose reservation is now; reservations are planned once a slice."""
        now, jobs = int(outlook.profile.times[0]), outlook.jobs.tolist()
        reserved: dict[int, int] = view.notes.get("reserved", {})
        if view.notes.get("planned_at") != now or any(job not in reserved for job in jobs):
            before = np.array([reserved.get(job, -1) for job in jobs], np.int64)
            starts, made_anew = planned(outlook.profile, outlook.widths, outlook.lengths, before)
            reserved = dict(zip(jobs, starts.tolist(), strict=True))
            view.notes["made_anew"] = view.notes.get("made_anew", 0) + made_anew
        view.notes["planned_at"], view.notes["reserved"] = now, reserved
        free = outlook.profile.free[0]
        fits = (reserved[job] <= now and width <= free for job, width in zip(jobs, outlook.widths, strict=True))
        return next((place for place, may_start in enumerate(fits) if may_start), -1)
