"""How fields of a trace file are read where a file leaves a choice, or does not say what is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class LogReading:
    """How fields of a trace file are read.

    Attributes:
        cpu_time: a task's CPU time is what it used, or its job's run time (SWF, sacct).
        memory: its memory is what it used, or what its job requested (SWF).
        cpu_ms_per_mb: CPU time of a job by what it reads, shuffles and writes [ms/MB] (SWIM); None: not said.
        task_mb: a job has a task for each so many MB (SWIM); None: one task.
        max_tasks: but no more tasks than these (SWIM); None: no bound.
        disk_read_share: share of the bytes read by calls that the disk saw (Nextflow, WfFormat).
        disk_write_share: share of the bytes written by calls that the disk saw (Nextflow, WfFormat).
    """

    cpu_time: Literal["used", "run"] = "used"
    memory: Literal["used", "requested"] = "used"
    cpu_ms_per_mb: float | None = None
    task_mb: float | None = None
    max_tasks: int | None = None
    # The middle of what the disks of seven machines saw: 6-14 % of the bytes read, 31-43 % of those written (Lotaru).
    disk_read_share: float = 0.1
    disk_write_share: float = 0.37


PLAIN_READING = LogReading()
