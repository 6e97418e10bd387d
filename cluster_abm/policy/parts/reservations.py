"""The arithmetic of reservations: how many cores are free when, in whole slices. Pure; it knows no policy.

Load managers act at the borders of slices, so a core whose job ends inside a slice is free from the next border on.
Counting in slices makes a plan exact: what it says about jobs that last as long as they request is what happens.

Running jobs are rows in the order of their expected ends (waiting.RUNNING). One that has outrun its request is expected
to end at `outrun`, which is later than now [slices].
"""

from __future__ import annotations

import math

import numpy as np

from cluster_abm.arrays import Floats, Integers
from cluster_abm.jit import allocating_kernel, inlined, kernel
from cluster_abm.policy.tasks import Table


@inlined
def release_at(running: Table, place: int, now: int, outrun: int) -> int:
    """When the running job at a place is expected to release its cores [slices]."""
    ends = running[place].ends
    return int(ends if ends > now else outrun)


@kernel
def reservation(running: Table, free: int, needed: int, now: int, outrun: int) -> tuple[int, int]:
    """The first time at which enough cores are free as running jobs end (the shadow time), and the extra cores then.

    Args:
        running: the running jobs.
        free: cores that are free now, fewer than `needed`.
        needed: cores; once all running jobs have ended there are as many.
        now, outrun: as above [slices].

    Returns:
        the shadow time [slices], and how many cores more than `needed` are free then.
    """
    outran = 0
    while outran < len(running) and running[outran].ends <= now:
        outran += 1
    early, later = 0, outran
    time = now
    while free < needed and (early < outran or later < len(running)):
        # Those that have outrun their request end together, some later ones before them.
        is_early = early < outran and (later == len(running) or outrun <= running[later].ends)
        time = outrun if is_early else running[later].ends
        while early < outran and outrun <= time:
            free += running[early].cores
            early += 1
        while later < len(running) and running[later].ends <= time:
            free += running[later].cores
            later += 1
    return time, free - needed


@kernel
def first_backfill(cores: Integers, lasts: Integers, free: int, extra: int, within: int) -> int:
    """EASY backfilling: which waiting job starts now, although the one at the head cannot.

    The first job in order of submission starts that fits into what is free now, and either ends by the head's
    reservation, or takes no more than the extra cores (Mu'alem, Feitelson 2001, section 2).

    Args:
        cores, lasts: cores and time that each waiting job asks for, the head first, shape (jobs,) each [1], [slices].
        free: cores that are free now.
        extra: cores that are left over when the head starts.
        within: how long it is until the head's reservation [slices].

    Returns:
        its place; -1: none.
    """
    for place in range(1, len(cores)):
        if cores[place] <= free and (lasts[place] <= within or cores[place] <= extra):
            return place
    return -1


@inlined
def step_at(times: Integers, free: Integers, steps: int, time: int) -> int:
    """The last of the first `steps` steps that is not after a time; -1: none."""
    low, high = 0, steps
    while low < high:
        middle = (low + high) // 2
        if times[middle] <= time:
            low = middle + 1
        else:
            high = middle
    return low - 1


@inlined
def begin_step(times: Integers, free: Integers, steps: int, time: int) -> tuple[int, int]:
    """The step that begins at a time, no earlier than the first, made if there is none; and how many there are then."""
    place = step_at(times, free, steps, time)
    if times[place] == time:
        return place, steps
    for step in range(steps, place + 1, -1):
        times[step], free[step] = times[step - 1], free[step - 1]
    times[place + 1], free[place + 1] = time, free[place]
    return place + 1, steps + 1


@inlined
def take(times: Integers, free: Integers, steps: int, cores: int, start: int, lasts: int) -> int:
    """Take cores from a start on for a time; a negative number gives them back. How many steps there are then."""
    first, steps = begin_step(times, free, steps, start)
    last, steps = begin_step(times, free, steps, start + lasts)
    for step in range(first, last):
        free[step] -= cores
    return steps


@inlined
def fits(times: Integers, free: Integers, steps: int, cores: int, start: int, lasts: int) -> bool:
    """Whether so many cores are free from a start on for a time; False if the start lies before the first step."""
    step = step_at(times, free, steps, start)
    if step < 0:
        return False
    while step < steps and times[step] < start + lasts:
        if free[step] < cores:
            return False
        step += 1
    return True


@inlined
def earliest(times: Integers, free: Integers, steps: int, cores: int, lasts: int) -> int:
    """The earliest time from which so many cores are free for so long: the anchor point [slices].

    After the last step there must be as many.
    """
    start = -1
    for step in range(steps):
        if free[step] < cores:
            start = -1
            continue
        if start < 0:
            start = step
        # The last step has no end.
        if step == steps - 1 or times[start] + lasts <= times[step + 1]:
            return int(times[start])
    return int(times[steps - 1])


@inlined
def released(times: Integers, free: Integers, running: Table, now_free: int, now: int, outrun: int) -> int:
    """Fill in the cores that are free from now on as running jobs end; how many steps there are."""
    times[0], free[0] = now, now_free
    steps = 1
    for place in range(len(running)):
        first, steps = begin_step(times, free, steps, release_at(running, place, now, outrun))
        for step in range(first, steps):
            free[step] += running[place].cores
    return steps


@allocating_kernel
def plan(
    running: Table, free: int, now: int, outrun: int, cores: Integers, lasts: Integers, reserved: Floats
) -> int:  # fmt: skip
    """Conservative backfilling's plan: a reservation for every waiting job.

    Reservations that still hold are compressed, in order of submission: each job gives its one back and takes the
    earliest that there is, which is no later. New jobs come after them and take what is left. If some reservation
    does not hold any more, because a job runs on beyond its request or cores are down, all are made anew, in order of
    submission.

    Args:
        running: the running jobs.
        free: cores that are free now.
        now, outrun: as above [slices].
        cores, lasts: cores and time that each waiting job asks for, in order of submission, shape (jobs,) each
            [1], [slices].
        reserved: where each one's reservation begins, shape (jobs,) [slices]; NaN: it has none. Changed in place.

    Returns:
        1 if all were made anew, else 0.
    """
    room = len(running) + 4 * len(cores) + 4
    times, at = np.empty(room, np.int64), np.empty(room, np.int64)
    steps = released(times, at, running, free, now, outrun)
    made_anew = 0
    for job in range(len(cores)):
        if math.isnan(reserved[job]):
            continue
        start = int(reserved[job])
        if not fits(times, at, steps, cores[job], start, lasts[job]):
            made_anew = 1
            break
        steps = take(times, at, steps, cores[job], start, lasts[job])
    if made_anew:
        reserved[:] = math.nan
        steps = released(times, at, running, free, now, outrun)
    for job in range(len(cores)):
        if not math.isnan(reserved[job]):
            steps = take(times, at, steps, -cores[job], int(reserved[job]), lasts[job])
        start = earliest(times, at, steps, cores[job], lasts[job])
        reserved[job] = start
        steps = take(times, at, steps, cores[job], start, lasts[job])
    return made_anew
