"""How fields of a trace file are read where a file leaves a choice, or does not say what is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class LogReading:
    """How fields of a trace file are read."""

    # used: a task's CPU time is what it used; run: its job's run time (SWF, sacct), or what it used, and pauses for the
    # rest of the run time (WfFormat, Nextflow, our tables).
    cpu_time: Literal["used", "run"] = "used"
    memory: Literal["used", "requested"] = "used"  # its memory is what it used, or what its job requested (SWF)
    # CPU time of a job by what it reads, shuffles and writes [ms/MB] (SWIM); None: not said.
    cpu_ms_per_mb: float | None = None
    task_mb: float | None = None  # MB of a job for each of its tasks (SWIM); None: one task
    max_tasks: int | None = None  # but no more tasks than these (SWIM); None: no bound
    # The middle of what the disks of seven machines saw: 6-14 % of the bytes read, 31-43 % of those written (Lotaru).
    disk_read_share: float = 0.1  # share of the bytes read by calls that the disk saw (Nextflow, WfFormat)
    disk_write_share: float = 0.37  # share of the bytes written by calls that the disk saw (Nextflow, WfFormat)
    dependences: bool = False  # whether preceding jobs and think times are followed (SWF)


PLAIN_READING = LogReading()
