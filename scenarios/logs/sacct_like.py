"""Draws `sacct-like.txt`: an export of our own making, as `sacct -n -P` prints one. It is no site's log.

    python scenarios/logs/sacct_like.py > scenarios/logs/sacct-like.txt

The laws are those of README.md in this folder. The seed is fixed: each run prints the same file.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta

SEED, JOBS, CORES = 2025, 256, 32
BEGIN = datetime(2025, 5, 5, 8)  # a Monday
GAP_MIN, BY_DAY = 5.5, 2.0  # between submissions, on average; at night so many times as long as by day
WIDTHS = {1: 40, 2: 15, 4: 18, 8: 17, 16: 10}  # cores -> weight
MEDIAN_MIN, SIGMA, LONGEST_MIN = 18.0, 1.4, 720.0  # of run times, lognormal
LIMITS_MIN = (10, 30, 60, 120, 240, 480, 1440)  # that users ask for
STATES = {"COMPLETED": 92, "FAILED": 6, "CANCELLED by 1003": 2}


def one_of(draw: random.Random, weights: dict[int, int] | dict[str, int]) -> int | str:
    """A value by its weight."""
    return draw.choices(list(weights), list(weights.values()))[0]


def submissions(draw: random.Random) -> list[int]:
    """When jobs are submitted [s from BEGIN]: by day more often than at night."""
    at_s, found = 0.0, []
    while len(found) < JOBS:
        hour = (BEGIN + timedelta(seconds=at_s)).hour
        at_s += draw.expovariate(1 / (60 * GAP_MIN)) * (1 if 8 <= hour < 20 else BY_DAY)
        found.append(round(at_s))
    return found


def first_come_first_served(submit_s: list[int], runs_s: list[int], widths: list[int]) -> list[int]:
    """When jobs start [s]: each as soon as enough cores are free, but none before the job ahead of it."""
    free_s = [0] * CORES  # when each core is free again, ascending
    starts: list[int] = []
    for submitted, run, width in zip(submit_s, runs_s, widths, strict=True):
        start = max([submitted, free_s[width - 1], *starts[-1:]])
        free_s = sorted([start + run] * width + free_s[width:])
        starts.append(start)
    return starts


def lines(draw: random.Random) -> list[str]:
    """Two lines a job: its own and that of its batch step."""
    submit_s = submissions(draw)
    widths = [int(str(one_of(draw, WIDTHS))) for _ in submit_s]
    runs_s = [round(60 * min(draw.lognormvariate(0, SIGMA) * MEDIAN_MIN, LONGEST_MIN)) + 1 for _ in submit_s]
    found = []
    starts = first_come_first_served(submit_s, runs_s, widths)
    for number, (submitted, start, run, width) in enumerate(zip(submit_s, starts, runs_s, widths, strict=True), 4001):
        user = draw.randint(1, 6)
        needed_min = run / 60 * draw.uniform(1.0, 4.0)
        limit_min = next((limit for limit in LIMITS_MIN if limit >= needed_min), LIMITS_MIN[-1])
        submit, start_at, end_at = (
            (BEGIN + timedelta(seconds=at_s)).isoformat() for at_s in (submitted, start, start + run)
        )
        state = one_of(draw, STATES)
        cpu = timedelta(seconds=round(run * width * draw.uniform(0.8, 1.0)))
        hours, rest = divmod(int(cpu.total_seconds()), 3600)
        used = f"{hours // 24}-" * (hours >= 24) + f"{hours % 24:02}:{rest // 60:02}:{rest % 60:02}"
        memory_kb = round(draw.uniform(0.2, 1.5) * 1e6 * width)
        times = (state, submit, start_at, end_at, run, width)
        job = (
            number,
            f"job{number % 7}",
            *times,
            "",
            used,
            "",
            "",
            "",
            limit_min,
            f"u{user}",
            f"g{user % 2}",
            "main",
            "",
        )
        step = (f"{number}.batch", "batch", state, *times[2:3], *times[2:], 1, used, f"{memory_kb}K", *[""] * 7)
        found += ["|".join(map(str, cells)) for cells in (job, step)]
    return found


if __name__ == "__main__":
    print(*lines(random.Random(SEED)), sep="\n")
