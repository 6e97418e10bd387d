"""Where the time of a run goes: cores, stalls, disk, waiting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

PARTS = ("core_ms", "stalled_ms", "disk_ms", "waiting_ms")
"""What a run's time divides into [ms]: what a core computes, what it stalls for memory, the disk, and all else."""


@dataclass(frozen=True)
class Division:
    """How a run's time is divided.

    Attributes:
        waits: time in which less than one core was busy in the mean is no computing; otherwise all but the disk's time
            is computing.
        disk: of the time without a busy core, the disk takes what the bytes need that it moved.
        stalled_share: share of the computing in which a core stalls for memory, 0..1.
    """

    waits: bool = True
    disk: bool = True
    stalled_share: float = 0.0


def parts_of(runs: pd.DataFrame, division: Division, disk_mb_per_s: float) -> pd.DataFrame:
    """Divide runs on one machine into parts.

    A run of w ms in which p cores were busy in the mean had at least one busy for min(1, p) w, if its threads work side
    by side as they did in the mean. What is left had no core. The disk is given time only there: what it moved while
    a core was busy cost the run nothing that could be seen.

    Args:
        runs: a row a run: `wall_ms`, `cpu_percent` (100 is one core), `disk_mb` that the disk saw.
        division: which parts there are.
        disk_mb_per_s: the disk of that machine.

    Returns:
        PARTS in the order of `runs`; a row adds up to its `wall_ms`.
    """
    wall_ms = runs["wall_ms"].to_numpy(float)
    busy_ms = wall_ms * np.minimum(1.0, runs["cpu_percent"].to_numpy(float) / 100.0)
    idle_ms = wall_ms - busy_ms
    needed_ms = runs["disk_mb"].to_numpy(float) / disk_mb_per_s * 1000.0
    disk_ms = np.minimum(needed_ms, idle_ms) if division.disk else np.zeros(len(wall_ms))
    waiting_ms = idle_ms - disk_ms
    if not division.waits:
        busy_ms, waiting_ms = busy_ms + waiting_ms, np.zeros(len(wall_ms))
    stalled_ms = busy_ms * division.stalled_share
    values = (busy_ms - stalled_ms, stalled_ms, disk_ms, waiting_ms)
    return pd.DataFrame(dict(zip(PARTS, values, strict=True)), index=runs.index)
