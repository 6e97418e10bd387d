"""The tables that are the state of a run, joined in one named tuple, and the codes that stand in them.

What every field is and its unit stands in fields.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from cluster_abm.arrays import Integers
from cluster_abm.engine import fields
from cluster_abm.engine.fields import Field

Table = npt.NDArray[np.void]
# One row of a table, inside compiled code: fields are attributes there.
Row = Any

NONE = -1
NEVER = 2**62
NS_PER_MS = 1_000_000
# Background programs belong to no job (job NONE). They are numbered from here on, whatever jobs there are.
FIRST_BACKGROUND = 2**40

FREE, IN_TRANSIT, READY, RUNNING, AT_DISK, REQUEST_ONLY, AT_BARRIER, WAKING = range(8)
STATE_NAMES = {
    FREE: "free", IN_TRANSIT: "in transit", READY: "ready", RUNNING: "running", AT_DISK: "at disk",
    AT_BARRIER: "at barrier", WAKING: "at barrier",
}  # fmt: skip
# What a request is for; from LEFT_BEHIND on rare things.
EXPLICIT, FAULT, LEFT_BEHIND, ARRIVAL_WRITE = range(4)
FINISHED, KILLED, LOST = range(3)
OUTCOME_NAMES = ("finished", "killed", "lost")

BREAKDOWN = ("cpu", "cpu_queue", "io", "io_queue", "paging", "migration", "barrier", "blocked")

# Why there is a row in the journal: the task starts; is sent elsewhere before it has entered its home; migrates; its
# time of entry is known now; its transfer has failed; its node has failed; it goes on elsewhere after that.
STARTS, SENT_ON, MIGRATES, ENTERS, RETURNS, LOST_NODE, RESTARTS = range(7)

# Counters of a run: tops of the stack of free slots and of the records, tasks alive, when the last one ended, tasks
# that depend on others of their job (barriers ahead of them; killed with them), how many `pending_jobs` there are, and
# how many rows of the journal are filled.
FREE_TOP, RECORDS, LIVE, LAST_FINISH_NS, DEPENDENT, PENDING_JOBS, JOURNAL_ROWS, COUNTERS = range(8)

# Nodes of a block: those of a block in which nothing happens are not looked at one by one.
BLOCK = 16

# Bytes in a line of the cache of usual machines.
LINE = 64


def dtype_of(fields: list[Field], whole_lines: bool = False) -> np.dtype[np.void]:
    """The numpy dtype of a table; with `whole_lines` a row takes whole lines of the cache, the last one filled up."""
    plain = np.dtype([(name, kind) for name, kind, _, _ in fields], align=True)
    if not whole_lines:
        return plain
    places: Any = {
        "names": plain.names,
        "formats": [kind for _, kind, _, _ in fields],
        "offsets": [cast(Any, plain.fields)[name][1] for name, *_ in fields],
        "itemsize": -(-plain.itemsize // LINE) * LINE,
    }
    return np.dtype(places, align=True)


def rows_in_lines(count: int, kind: np.dtype[np.void]) -> Table:
    """`count` rows of zeros, shape (count,), each of which begins with a line of the cache: see `dtype_of`."""
    raw = np.zeros(count * kind.itemsize + LINE, np.uint8)
    begin = -raw.ctypes.data % LINE
    return raw[begin : begin + count * kind.itemsize].view(kind)


NODE, TASK = dtype_of(fields.NODE_FIELDS, whole_lines=True), dtype_of(fields.TASK_FIELDS, whole_lines=True)
RECORD = dtype_of(fields.RECORD_FIELDS)
PHASE, CORE = dtype_of(fields.PHASE_FIELDS), dtype_of(fields.CORE_FIELDS)
JOB, LOAD, BARRIER = dtype_of(fields.JOB_FIELDS), dtype_of(fields.LOAD_FIELDS), dtype_of(fields.BARRIER_FIELDS)
JOURNAL = dtype_of(fields.JOURNAL_FIELDS)
CHECKPOINT, BACKGROUND = dtype_of(fields.CHECKPOINT_FIELDS), dtype_of(fields.BACKGROUND_FIELDS)
DEMAND = dtype_of(fields.DEMAND_FIELDS)


class Tables(NamedTuple):
    """All tables of a run: what a kernel is given when it changes more than one of them."""

    homes: Table  # the nodes on which jobs are submitted, shape (nodes,), fields.NODE_FIELDS
    nodes: Table  # the nodes on which they run: the same table, or the one row of a pooled cluster
    cores: Table  # the cores of `nodes`, node by node, shape (cores of all nodes,), fields.CORE_FIELDS
    jobs: Table  # shape (jobs,), fields.JOB_FIELDS
    tasks: Table  # recycled rows of the live tasks, fields.TASK_FIELDS; a row's number must never reach a result
    free: Integers  # stack of free rows of `tasks`, shape (len(tasks),)
    counters: Integers  # shape (COUNTERS,)
    # of each block of `BLOCK` nodes, shape (blocks,): none of them has an event before this [ns]
    first_event_ns: Integers
    # rows of the tasks that have ended, shape (tasks of all jobs,), fields.RECORD_FIELDS; the first
    # `counters[RECORDS]` are filled
    records: Table
    barriers: Table  # one row a job, fields.BARRIER_FIELDS; those of jobs of one task are all zero
    # stack of the jobs that the next slice boundary decides on: those of which all tasks have come to their barrier,
    # and (as -1 - job) those of which a task was killed; shape (2 jobs of several tasks,)
    pending_jobs: Integers
    phases: Table  # the phases of all programs, fields.PHASE_FIELDS
    # where tasks set out, fields.JOURNAL_FIELDS; of a run that is not recorded it has no row. The first
    # `counters[JOURNAL_ROWS]` are filled
    journal: Table
    # by the tasks' numbers, fields.DEMAND_FIELDS; it has no row where all tasks of a job have the CPU demand that the
    # job table says, and announce it
    demands: Table


def empty_nodes(count: int) -> Table:
    """`count` idle nodes, shape (count,); the caller fills in the hardware."""
    nodes = rows_in_lines(count, NODE)
    nodes["limit_kb"] = NEVER
    nodes["cores"] = nodes["channels"] = 1
    nodes["cpu_factor"] = nodes["disk_factor"] = 1.0
    for name in ("cpu_stop_ns", "disk_end_ns", "arrival_ns", "next_event_ns"):
        nodes[name] = NEVER
    nodes["device_tail"] = NONE
    for queue in ("ready", "disk", "transit", "member"):
        nodes[f"{queue}_head"] = NONE
        nodes[f"{queue}_tail"] = NONE
    return nodes
