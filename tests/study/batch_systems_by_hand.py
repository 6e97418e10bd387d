"""First come first served and EASY in plain Python, from their definitions: a second implementation for tests."""

from __future__ import annotations

import heapq
from collections.abc import Sequence


def waits(submits: Sequence[float], runs: Sequence[float], widths: Sequence[int], requests: Sequence[float],
          processors: int, easy: bool) -> list[float]:  # fmt: skip
    """How long each job waits on a machine of some processors.

    EASY (Mu'alem and Feitelson 2001, section 2): whenever a job comes or ends, jobs at the head of the queue start as
    long as they fit. The next one has a reservation at the shadow time, the first at which enough processors are free
    if running jobs end as they requested; what is free beyond it then are the extra ones. In order of submission each
    other job starts that fits now and either ends by the shadow time or needs no more than the extra ones.
    """
    found = [0.0] * len(submits)
    coming = [(at, 1, job) for job, at in enumerate(submits)]
    heapq.heapify(coming)
    queue: list[int] = []
    running: dict[int, float] = {}  # until when by request
    free = processors

    def start(job: int, now: float) -> None:
        nonlocal free
        found[job] = now - submits[job]
        free -= widths[job]
        running[job] = now + requests[job]
        heapq.heappush(coming, (now + runs[job], 0, job))

    while coming:
        now, comes, job = heapq.heappop(coming)
        if comes:
            queue.append(job)
        else:
            free += widths[job]
            del running[job]
        while queue and widths[queue[0]] <= free:
            start(queue.pop(0), now)
        if not (easy and queue):
            continue
        there, shadow = free, now
        for other, until in sorted(running.items(), key=lambda one: one[1]):
            if there >= widths[queue[0]]:
                break
            there, shadow = there + widths[other], until
        extra = there - widths[queue[0]]
        for job in queue[1:]:
            ends_in_time = now + requests[job] <= shadow
            if widths[job] <= free and (ends_in_time or widths[job] <= extra):
                if not ends_in_time:
                    extra -= widths[job]
                queue.remove(job)
                start(job, now)
    return found
