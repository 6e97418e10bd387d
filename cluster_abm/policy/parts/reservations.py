"""The arithmetic of reservations: how many cores are free when, in whole slices. Pure; it knows no policy.

Load managers act at the borders of slices, so a core whose job ends inside a slice is free from the next border on.
Counting in slices makes a plan exact: what it says about jobs that last as long as they request is what happens.
"""

from __future__ import annotations

import numpy as np

from cluster_abm.arrays import Integers


class Profile:
    """How many cores are free from now on, as a step function of time.

    Attributes:
        times: where it steps, ascending, from now on, shape (steps,) [slices].
        free: cores that are free from each of them to the next, the last one for ever, shape (steps,).
    """

    def __init__(self, now: int, free: int, releases: Integers, widths: Integers) -> None:
        """Begin with the cores that are free now, and those that running jobs release.

        Args:
            now: now [slices].
            free: cores that are free.
            releases: when each running job releases its cores, later than now, shape (jobs,) [slices].
            widths: how many, shape (jobs,).
        """
        steps, of_job = np.unique(releases, return_inverse=True)
        released = np.bincount(of_job.reshape(-1), widths, len(steps)).astype(np.int64)
        self.times = np.concatenate([[now], steps]).astype(np.int64)
        self.free: Integers = free + np.concatenate([[0], np.cumsum(released)]).astype(np.int64)

    def copy(self) -> Profile:
        """The same, to be changed apart."""
        other = Profile.__new__(Profile)
        other.times, other.free = self.times.copy(), self.free.copy()
        return other

    def earliest(self, width: int, length: int) -> int:
        """The earliest time from which `width` cores are free for `length`: the anchor point [slices].

        Args:
            width: cores; after the last step there must be as many.
            length: how long [slices].
        """
        suffices = np.concatenate([[False], self.free >= width, [False]])
        edges = np.flatnonzero(suffices[1:] != suffices[:-1])
        begins, ends = edges[::2], edges[1::2]
        starts = self.times[begins]
        # The last stretch has no end.
        long_enough = ends == len(self.times)
        long_enough[:-1] = starts[:-1] + length <= self.times[ends[:-1]]
        return int(starts[long_enough.argmax()])

    def holds(self, width: int, start: int, length: int) -> bool:
        """Whether `width` cores are free from `start` for `length`; False if `start` lies before now."""
        first = int(self.times.searchsorted(start, "right")) - 1
        last = int(self.times.searchsorted(start + length, "left"))
        return first >= 0 and bool((self.free[first:last] >= width).all())

    def take(self, width: int, start: int, length: int) -> None:
        """Take `width` cores from `start` for `length`; a negative width gives them back."""
        first, last = self._step_at(start), self._step_at(start + length)
        self.free[first:last] -= width

    def free_at(self, time: int) -> int:
        """How many cores are free at a time, no earlier than now."""
        return int(self.free[int(self.times.searchsorted(time, "right")) - 1])

    def _step_at(self, time: int) -> int:
        """The step that begins at a time, which is made if there is none."""
        place = int(self.times.searchsorted(time))
        if place == len(self.times) or self.times[place] != time:
            self.times = np.insert(self.times, place, time)
            self.free = np.insert(self.free, place, self.free[place - 1])
        return place


def first_backfill(profile: Profile, widths: Integers, lengths: Integers) -> tuple[int, int]:
    """EASY backfilling: which waiting job starts now, although the one at the head cannot.

    The head's reservation is the first time at which enough cores are free for it (the shadow time); cores that are
    then left over are extra. The first job in order of submission starts that fits into what is free now, and either
    ends by that time, or takes no more than the extra cores (Mu'alem, Feitelson 2001, section 2).

    Args:
        profile: what is free now and, as running jobs end, later; too little for the head now.
        widths, lengths: cores and time that each waiting job asks for, the head first, shape (jobs,) each
            [1], [slices].

    Returns:
        its place, -1: none; and the head's reservation [slices].
    """
    now, free = int(profile.times[0]), int(profile.free[0])
    shadow = profile.earliest(int(widths[0]), int(lengths[0]))
    extra = profile.free_at(shadow) - int(widths[0])
    may_start = (widths <= free) & ((now + lengths <= shadow) | (widths <= extra))
    may_start[0] = False
    return (int(may_start.argmax()) if may_start.any() else -1), shadow


def planned(profile: Profile, widths: Integers, lengths: Integers, reserved: Integers) -> tuple[Integers, bool]:
    """Conservative backfilling's plan: a reservation for every waiting job.

    Reservations that still hold are compressed, in order of submission: each job gives its one back and takes the
    earliest that there is, which is no later. New jobs come after them and take what is left. If some reservation
    does not hold any more, because a job runs on beyond its request or cores are down, all are made anew, in order of
    submission.

    Args:
        profile: what running jobs leave.
        widths, lengths: cores and time that each waiting job asks for, in order of submission, shape (jobs,) each
            [1], [slices].
        reserved: where each one's reservation begins, shape (jobs,) [slices]; -1: it has none.

    Returns:
        where their reservations begin now, shape (jobs,) [slices], and whether all were made anew.
    """
    starts, plan = reserved.copy(), profile.copy()
    for job in np.flatnonzero(reserved >= 0).tolist():
        width, start, length = int(widths[job]), int(reserved[job]), int(lengths[job])
        if not plan.holds(width, start, length):
            starts[:], plan = -1, profile.copy()
            break
        plan.take(width, start, length)
    made_anew = bool((starts != reserved).any())
    for job in range(len(starts)):
        width, length = int(widths[job]), int(lengths[job])
        if starts[job] >= 0:
            plan.take(-width, int(starts[job]), length)
        starts[job] = plan.earliest(width, length)
        plan.take(width, int(starts[job]), length)
    return starts, made_anew
