"""One core, CPU seconds, medians."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

Result = TypeVar("Result")


def pin_to_one_core() -> int | None:
    """Stay on one core, the last allowed one; its number, or None where the system has no such call."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


def cpu_seconds(cases: Mapping[str, Callable[[], Result]], repeats: int) -> dict[str, tuple[float, Result]]:
    """CPU seconds of each case (median) and what it returned.

    The cases take turns, so that a change of the machine's speed meets all of them alike.
    """
    taken_s: dict[str, list[float]] = {name: [] for name in cases}
    results: dict[str, Result] = {}
    for _ in range(repeats):
        for name, case in cases.items():
            begun_s = time.process_time()
            results[name] = case()
            taken_s[name].append(time.process_time() - begun_s)
    return {name: (statistics.median(taken_s[name]), results[name]) for name in cases}
