"""EASY backfilling in plain Python, from event to event, cores counted and not named: the yardstick of batch systems.

`python tests/benchmarks/easy_by_hand.py LOG.swf.xz` prints the mean wait on the log's own processors, and the CPU time.
"""

from __future__ import annotations

import lzma
import sys
import time
from bisect import insort
from heapq import heappop, heappush
from pathlib import Path
from typing import NamedTuple


class Job(NamedTuple):
    """A job of a log; times in whole seconds."""

    submit: int
    runs: int
    requests: int
    cores: int


def jobs_of(path: Path) -> list[Job]:
    """The jobs of an SWF log that ran, by submission; one that requests no time requests what it ran."""
    with lzma.open(path, "rt") if path.suffix == ".xz" else path.open() as lines:
        rows = [list(map(int, map(float, line.split()))) for line in lines if line.strip() and line[0] != ";"]
    found = [Job(row[1], row[3], max(row[8], row[3], 1), row[4]) for row in rows if row[3] > 0 and row[4] > 0]
    return sorted(found, key=lambda job: job.submit)


def starts_of(jobs: list[Job], all_cores: int) -> list[int]:
    """When each job starts, in their order."""
    starts = [0] * len(jobs)
    free, coming, count = all_cores, 0, len(jobs)
    waiting: list[int] = []
    ends: list[tuple[int, int]] = []  # when it ends, its cores: a heap
    expected: list[tuple[int, int, int]] = []  # when it is expected to end, its end, its cores: sorted
    while coming < count or ends:
        now = min(jobs[coming].submit if coming < count else ends[0][0], ends[0][0] if ends else jobs[coming].submit)
        while ends and ends[0][0] <= now:
            free += heappop(ends)[1]
        while coming < count and jobs[coming].submit <= now:
            waiting.append(coming)
            coming += 1
        # What has ended is dropped where it is met.
        while waiting:
            job = jobs[waiting[0]]
            if job.cores > free:
                break
            starts[waiting.pop(0)] = now
            free -= job.cores
            heappush(ends, (now + job.runs, job.cores))
            insort(expected, (now + job.requests, now + job.runs, job.cores))
        if not waiting or not free:
            continue
        expected = [one for one in expected if one[1] > now]
        needed, then, shadow = jobs[waiting[0]].cores, free, now
        for place, (end, _, cores) in enumerate(expected):
            then += cores
            shadow = max(end, now)
            if then >= needed and (place + 1 == len(expected) or expected[place + 1][0] > end):
                break
        extra = then - needed
        place = 1
        while place < len(waiting) and free:
            job = jobs[waiting[place]]
            if job.cores <= free and (now + job.requests <= shadow or job.cores <= extra):
                if now + job.requests > shadow:
                    extra -= job.cores
                starts[waiting.pop(place)] = now
                free -= job.cores
                heappush(ends, (now + job.runs, job.cores))
                insort(expected, (now + job.requests, now + job.runs, job.cores))
            else:
                place += 1
    return starts


def main() -> None:
    """Schedule a log."""
    jobs = jobs_of(Path(sys.argv[1]))
    all_cores = int(sys.argv[2]) if len(sys.argv) > 2 else 240
    begun_s = time.process_time()
    starts = starts_of(jobs, all_cores)
    took_s = time.process_time() - begun_s
    waits = sum(start - job.submit for start, job in zip(starts, jobs, strict=True)) / len(jobs)
    print(f"{len(jobs):,} jobs, mean wait {waits:,.1f} s, CPU {took_s:.2f} s")


if __name__ == "__main__":
    main()
