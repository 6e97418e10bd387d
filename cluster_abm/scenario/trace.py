"""The trace's section of a scenario: what to take from a file, and what its processors and numbers are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, Strict, StrictBool, field_serializer, model_validator

from cluster_abm.bounded_files import TRACE_MB
from cluster_abm.found_modules import TRACE_FORMATS, TRACE_MAPS
from cluster_abm.scenario.base import Section
from cluster_abm.scenario.columns import ColumnMap, shipped_maps
from cluster_abm.scenario.distributions import MOST_TASKS, Count, MaxMb, NonNegative, Positive, Share

if TYPE_CHECKING:
    Format = str
else:
    Format = Literal[(*TRACE_FORMATS, *TRACE_MAPS)]


class TraceChoice(Section):
    """Work from a file. What it does not say is drawn from the workload's distributions."""

    file: str | None = None
    """in one of the formats of docs/reference/traces.md (GWA-T-12: also a folder), plain, .gz or .xz; or the name of a
    shipped trace"""
    format: Format | None = None
    """not set: by what the file begins with"""
    map: Format | None = None
    """the shipped map of columns that says what the file's columns are (docs/reference/maps.md); the same as format"""
    columns: ColumnMap | None = None
    """[workload.trace.columns]: a map of columns of your own, or, beside `map`, the fields that differ from that one"""
    fields: Annotated[str, Strict(), Field(max_length=10_000)] | None = None
    """the columns of a file of sacct without a header, as they were given to `sacct -o`, with commas between"""
    sample: Annotated[Positive, Field(le=1)] = 1.0
    """share of the jobs that are read at all, chosen by a hash of their ids, whole workflows together; the same for
    every seed"""
    run: Annotated[int, Strict(), Field(ge=0)] | None = None
    """which run of a file that holds several"""
    max_mb: MaxMb = TRACE_MB
    """how much the file may hold, unpacked; more is refused [MB of 2^20 bytes]"""
    start_s: NonNegative = 0.0
    """jobs submitted earlier are left out, and time counts from here [s]"""
    duration_s: Positive | None = None
    """jobs submitted later than this after start_s are left out [s]"""
    keep_share: Annotated[Positive, Field(le=1)] = 1.0
    """share of the jobs kept, drawn at random"""
    resample: Literal["none", "users", "shake"] = "none"
    """each seed makes another log of the chosen part; users: its users and their weeks drawn anew, weekday, hour and
    sessions kept; shake: each session (one user's jobs with gaps below 20 minutes) moved by up to shake_s. Takes a log
    with users whose jobs wait for no other ones (docs/how-to/replications.md)"""
    shake_s: Positive = 600.0
    """how far a session is moved at most, earlier or later [s]"""
    max_tasks: Annotated[Count, Field(le=MOST_TASKS)] | None = None
    """wider jobs are cut to this many tasks"""
    homes: Literal["file", "drawn"] = "file"
    """where jobs are submitted: as the file says, or drawn from workload.home as if it did not say"""
    cpu_scale: Positive = 1.0
    """CPU times, run times, and requested run times, are multiplied by this"""
    processor: Literal["task", "core", "node"] = "task"
    """what a processor of the file, one of its `tasks`, is here: task: a task, on whatever nodes there are; core: a
    task, and a job with more of them than the nodes have cores is refused; node: as many tasks as a node has cores, and
    a job with more processors than there are nodes is refused"""
    cpu_time: Literal["used", "run"] = "used"
    """CPU time of a task: used: what the file says; run: the run time (of an SWF log, of sacct), for which a job held
    its processors; of WfFormat, Nextflow, and our tables with recorded_run_ms: what the file says, and pauses, in which
    the task uses neither CPU nor disk, so that alone it takes its run time"""
    dependences: StrictBool = False
    """whether a job of an SWF log is submitted its think time after the end of its preceding job (fields 17 and 18);
    without a think time: at its submission in the log, or at that end if this is later"""
    memory: Literal["used", "requested", "drawn"] = "used"
    """used: what the file says (an SWF log's used memory); requested: an SWF log's requested memory; drawn: drawn from
    workload.memory_mb as if the file did not say it. Jobs without memory in the file have it drawn, too"""
    memory_per: Literal["processor", "node", "job"] = "processor"
    """what the file's memory is that of: one processor, all processors of a job on one node, or the whole job; its
    tasks share it evenly"""
    cpu_ms_per_mb: Positive | None = None
    """CPU time of a SWIM job, which says none, for each MB of its input, shuffle and output; not set: drawn from
    workload.cpu_ms [ms/MB]"""
    task_mb: Positive | None = None
    """data of a SWIM job for each of its tasks, of which it has at most max_tasks; not set: one task [MB]"""
    disk_read_share: Share = 0.1
    """share of the bytes read by calls that the disk saw, where the file says no bytes of the disk (WfFormat, sacct,
    Nextflow's rows without read_bytes and write_bytes); the rest was in the page cache: 6-14 % on Lotaru's machines"""
    disk_write_share: Share = 0.37
    """the same of the bytes written: 31-43 %"""

    @field_serializer("columns")
    def _what_differs(self, columns: ColumnMap | None) -> dict[str, Any] | None:
        """A map as a user writes it: without the many keys that a field does not need."""
        return None if columns is None else columns.model_dump(exclude_defaults=True)

    @model_validator(mode="after")
    def _one_map(self) -> TraceChoice:
        if self.format is not None and self.map is not None and self.format != self.map:
            raise ValueError(f"map {self.map!r}: format is {self.format!r}: allowed: one of both, they mean the same")
        if self.columns is not None and self.chosen is None:
            self.columns.check_complete()
        return self

    @property
    def says_cpu(self) -> bool:
        """Whether the file has CPU times, as far as the choice tells it: SWIM has none, nor have maps without run
        times."""
        if self.chosen in TRACE_MAPS:
            return shipped_maps()[self.chosen].says_cpu or (self.columns is not None and self.columns.says_cpu)
        return self.chosen != "swim" and (self.columns is None or self.columns.says_cpu)

    @property
    def chosen(self) -> str | None:
        """The format or map that is chosen by its name; None: by what the file begins with, or by `columns`."""
        return self.map or self.format
