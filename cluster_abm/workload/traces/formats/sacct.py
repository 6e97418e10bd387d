"""Slurm's accounting: what `sacct -P` and `sacct --json` print, with a header or without. `slurm` reads it."""

from __future__ import annotations

from cluster_abm.workload.traces.format import TraceFormat
from cluster_abm.workload.traces.slurm.accounting import CLOCKS, COUNTS, SIZES, STAMPS, WORDS
from cluster_abm.workload.traces.slurm.reading import is_slurms, slurm_trace

FORMAT = TraceFormat(
    title="Slurm, `sacct -P` or `--json`",
    row="a job or a step",
    lacks="homes, bytes of the disk",
    begins="a header with JobID, State, Submit, ... and | between them of Slurm's `sacct -P`",
    rank=2,
    names=(*STAMPS, *CLOCKS, *SIZES, *COUNTS, *WORDS),
    looks_like=is_slurms,
    trace=slurm_trace,
    reads=("cpu_time", "disk_read_share", "disk_write_share"),
    is_batch=True,
)
