"""The state of a run, described in this one place: what every field of every table is, and its unit.

Times are integer nanoseconds: sums associate, so leaps equal steps to the last bit. "Wall ns of CPU" is
CPU time as it passes on the node that the task is on: demand divided by the node's speed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Table = npt.NDArray[np.void]
# One row of a table, inside compiled code: fields are attributes there.
Row = Any
Field = tuple[str, str, str, str]

NONE = -1
NEVER = 2**62
NS_PER_MS = 1_000_000
# Background programs are nobody's job (job NONE), and number on from here, whatever jobs there are.
FIRST_BACKGROUND = 2**40

FREE, IN_FLIGHT, READY, RUNNING, AT_DISK, GHOST, AT_BARRIER, WAKING = range(8)
STATE_NAMES = {
    FREE: "free", IN_FLIGHT: "in flight", READY: "ready", RUNNING: "running", AT_DISK: "at disk",
    AT_BARRIER: "at barrier", WAKING: "at barrier",
}  # fmt: skip
# What a request is for; from LEFT_BEHIND on rare things.
EXPLICIT, FAULT, LEFT_BEHIND, BROUGHT = range(4)
FINISHED, KILLED, LOST = range(3)
OUTCOME_NAMES = ("finished", "killed", "lost")

BREAKDOWN = ("cpu", "cpu_queue", "io", "io_queue", "paging", "migration", "barrier", "blocked")

_BREAKDOWN_FIELDS: list[Field] = [
    ("cpu_ns", "i8", "ns", "received CPU"),
    ("cpu_queue_ns", "i8", "ns", "ready, or the CPU switching to it"),
    ("io_ns", "i8", "ns", "explicit requests in service"),
    ("io_queue_ns", "i8", "ns", "explicit requests waiting"),
    ("paging_ns", "i8", "ns", "page faults, waiting and in service"),
    ("migration_ns", "i8", "ns", "travelling, negotiation included"),
    ("barrier_ns", "i8", "ns", "waiting for the job's other tasks"),
    ("blocked_ns", "i8", "ns", "submission held back"),
]

NODE_FIELDS: list[Field] = [
    ("speed", "f8", "1", "CPU speed, 1 = the papers' node"),
    (
        "memory_kb",
        "i8",
        "KB",
        "RAM; of a pool: memory for programs of its largest node, where each task pages as if alone",
    ),
    ("user_memory_kb", "i8", "KB", "RAM there is for programs; of a pool: of all its nodes"),
    ("buffer_kb", "f8", "KB", "I/O buffer"),
    ("seek_ns", "i8", "ns", "seek and rotation of a request"),
    ("ns_per_kb", "f8", "ns/KB", "transfer of a request"),
    ("fault_ns", "i8", "ns", "disk service of one page fault"),
    ("fault_rate_per_ms", "f8", "1/ms", "page-fault rate mu"),
    ("fault_ratio_cap", "f8", "1", "largest demand/memory in the paging law"),
    ("overflow_only", "i4", "flag", "1: only the overflowing share of the pages faults"),
    (
        "by_oversize",
        "i4",
        "flag",
        "1: page faults come by the oversized share (MCLS), 0: by a rate",
    ),
    ("fault_evenness", "f8", "1", "share of these faults that falls on all tasks alike, not on growing ones"),
    ("limit_kb", "i8", "KB", "RAM for programs and swap: demand beyond it kills; NEVER: no limit"),
    ("quantum_ns", "i8", "ns", "round-robin quantum"),
    ("switch_ns", "i8", "ns", "context switch"),
    ("next_event_ns", "i8", "ns", "earliest of the three events below"),
    ("cpu_stop_ns", "i8", "ns", "when the running task stops; NEVER if the CPU is free"),
    ("disk_end_ns", "i8", "ns", "when the request in service ends; NEVER if the disk is free"),
    ("arrival_ns", "i8", "ns", "when the next task in flight enters, or the next one goes on from a barrier"),
    ("running", "i4", "slot", "task at the CPU"),
    ("ready_head", "i4", "slot", "first task waiting for the CPU"),
    ("ready_tail", "i4", "slot", "last task waiting for the CPU"),
    ("disk_head", "i4", "slot", "task whose request is in service"),
    ("disk_tail", "i4", "slot", "last task waiting for the disk"),
    ("flight_head", "i4", "slot", "first task on its way here or about to go on from a barrier, by (time, task)"),
    ("flight_tail", "i4", "slot", "last of them"),
    ("member_head", "i4", "slot", "first of the tasks that belong here, in flight included, by admission"),
    ("member_tail", "i4", "slot", "last of the tasks that belong here"),
    ("ready_count", "i8", "tasks", "tasks waiting for the CPU"),
    ("no_leap_before_ns", "i8", "ns", "until then some task is known to stop within a round, so nobody looks again"),
    ("last_task", "i8", "task", "who had the CPU last; NONE at the start"),
    ("leg_ns", "i8", "ns", "since when the running task's progress is not yet booked"),
    ("quantum_start_ns", "i8", "ns", "when the running task's quantum began"),
    ("demand_kb", "i8", "KB", "memory asked by tasks in the node"),
    ("flight_kb", "i8", "KB", "memory asked by tasks on their way"),
    ("fault_per_ns", "f8", "1/ns", "page faults of every task per wall ns of its CPU, now"),
    ("fault_per_fresh", "f8", "s/KB/ns", "page faults besides per wall ns of CPU, for each KB/s that a task asks anew"),
    ("fresh_kb_per_s", "i8", "KB/s", "memory asked anew per second of CPU, sum over the tasks in the node"),
    ("accesses", "i8", "1", "accesses made so far by the tasks in the node, N_io"),
    ("cache_kb", "f8", "KB", "I/O buffer in the memory that programs leave free (MCLS), buffer_kb at most"),
    (
        "stream",
        "i8",
        "1e-6 KB/ms",
        "sum of lambda d_RW over the tasks in the node, whole numbers so that it returns to 0",
    ),
    ("tasks", "i8", "tasks", "tasks in the node"),
    ("flying", "i8", "tasks", "tasks on their way"),
    ("cpu_busy_ns", "i8", "ns", "CPU given to tasks, booked"),
    ("disk_busy_ns", "i8", "ns", "disk service of requests ended"),
    ("switches", "i8", "1", "context switches"),
    ("requests", "i8", "1", "explicit disk requests issued"),
    ("faults", "i8", "1", "page faults issued"),
    ("hits", "i8", "1", "accesses served from the buffer"),
    ("background", "i8", "tasks", "background programs among its tasks"),
    ("fault_saved_ns", "i8", "ns", "by how much remote memory shortens a page fault, now"),
    ("cpu_percent", "f8", "%", "CPU utilisation, mean of the last seconds; 0 unless somebody asks for averages"),
    ("mean_queue", "f8", "tasks", "tasks running or waiting for the CPU, mean as above"),
    ("memory_percent", "f8", "%", "memory utilisation, mean as above"),
]

TASK_FIELDS: list[Field] = [
    # What the CPU looks at each time stands together, in one line of the cache.
    ("next", "i4", "slot", "next in the queue that it is in"),
    ("state", "i4", "code", "FREE, IN_FLIGHT, READY, RUNNING, AT_DISK, AT_BARRIER, WAKING: its barrier has opened"),
    ("since_ns", "i8", "ns", "since when its present state is not yet booked"),
    ("cpu_left_ns", "i8", "ns", "wall ns of CPU still to receive on this node until its next barrier, or its end"),
    ("gap_left_ns", "i8", "ns", "wall ns of CPU until its next access; NEVER without I/O, NONE before it has entered"),
    ("fault_credit", "f8", "faults", "fraction of a page fault earned, 0..1"),
    ("fresh_kb_per_s", "i8", "KB/s", "memory it asks anew per second of its CPU, now"),
    *_BREAKDOWN_FIELDS[:2],
    ("task", "i8", "task", "number of the task over the whole run"),
    ("job", "i8", "job", "its job"),
    ("home", "i4", "node", "where it was submitted"),
    ("node", "i4", "node", "where it is, or is going to"),
    ("origin", "i4", "node", "where it comes from while it is on its way"),
    (
        "request_kind",
        "i4",
        "code",
        "EXPLICIT, FAULT, or BROUGHT (data it writes on arrival) while AT_DISK; in flight also NONE: none to make anew",
    ),
    ("pending_kind", "i4", "code", "request to make anew once it has written what it brought"),
    ("brought_kb", "f8", "KB", "data that it has to write on arrival"),
    ("member_next", "i4", "slot", "next task of the node"),
    ("member_prev", "i4", "slot", "previous task of the node"),
    ("moves", "i4", "1", "1: it started on another node than its home"),
    ("migrations", "i4", "1", "how often it was migrated while it ran"),
    ("restarts", "i4", "1", "how often it lost its node"),
    ("key", "u8", "1", "key of its random streams"),
    ("arrival_ns", "i8", "ns", "submission"),
    ("enter_ns", "i8", "ns", "instant it enters its node, or goes on from a barrier"),
    ("cpu_after_ns", "i8", "ns", "wall ns of CPU still to receive after that barrier"),
    ("barriers_left", "i4", "1", "barriers ahead of it"),
    ("barrier_next", "i4", "slot", "next of the job's tasks at its barrier"),
    ("barrier_ms", "f8", "ms", "CPU at speed 1 between two barriers"),
    ("go_on_ns", "i8", "ns", "when its barrier opens, or its sleep ends; 0: neither, NEVER: not all tasks have come"),
    ("service_ns", "i8", "ns", "service of its outstanding request"),
    ("accesses", "i8", "1", "accesses made"),
    ("lone_from", "i8", "1", "accesses before this one are counted in its dedicated run: they are made again"),
    ("cpu_demand_ms", "f8", "ms", "whole CPU demand at speed 1"),
    ("io_per_ms", "f8", "1/ms", "accesses per ms of CPU at speed 1, lambda"),
    ("request_kb", "f8", "KB", "mean size of an access"),
    ("request_shape", "f8", "1", "shape of the Gamma size of an access; 0: all of the mean size"),
    ("reaccess_rate", "f8", "1", "re-access rate"),
    ("initial_data_mb", "f8", "MB", "data that must follow it"),
    ("data_kb", "f8", "KB", "data it touches, d_data"),
    ("memory_kb", "i8", "KB", "memory demand, now"),
    ("phase", "i4", "row", "phase of its activity profile; NONE: it has none"),
    ("last_phase", "i4", "row", "last phase of its profile"),
    ("phase_accesses", "i8", "1", "accesses made in this phase"),
    ("here_ns", "i8", "ns", "when it came to its node"),
    ("bound", "i4", "flag", "1: counted in MEETING"),
    ("stream", "i8", "1e-6 KB/ms", "lambda d_RW"),
    ("lone_hit", "f8", "1", "buffer hit rate it has alone at home, now"),
    ("lone_buffer_kb", "f8", "KB", "most of a buffer in free memory that it has alone at home; 0: it needs none"),
    ("lone_cache_kb", "f8", "KB", "such a buffer as it has it alone, now"),
    ("lone_memory_kb", "i8", "KB", "memory for programs at home"),
    ("lone_cpu_ns", "i8", "ns", "CPU of its dedicated run at home"),
    ("lone_io_ns", "i8", "ns", "I/O of its dedicated run at home: accesses so far that would miss"),
    ("lone_paging_ns", "i8", "ns", "paging of its dedicated run at home"),
    ("lone_barrier_ns", "i8", "ns", "waits at barriers in its job's dedicated run"),
    ("lone_phase_ns", "i8", "ns", "CPU between two barriers in its dedicated run"),
    ("lone_mark_ns", "i8", "ns", "lone_io_ns at its last barrier"),
    ("lone_seek_ns", "i8", "ns", "seek and rotation of the home disk"),
    ("lone_ns_per_kb", "f8", "ns/KB", "transfer of the home disk"),
    ("requests", "i8", "1", "explicit disk requests issued"),
    ("faults", "i8", "1", "page faults issued"),
    ("hits", "i8", "1", "accesses served from the buffer"),
    ("lost_cpu_ns", "i8", "ns", "received CPU whose work failures destroyed"),
    *_BREAKDOWN_FIELDS[2:],
    ("burst_ns", "i8", "ns", "background program: wall ns of CPU that it takes each period"),
    ("period_ns", "i8", "ns", "background program: its period"),
]

RECORD_FIELDS: list[Field] = [
    ("task", "i8", "task", "number of the task"),
    ("job", "i8", "job", "its job"),
    ("home", "i4", "node", "where it was submitted"),
    ("node", "i4", "node", "where it finished"),
    ("moves", "i4", "1", "1: it started on another node than its home"),
    ("migrations", "i4", "1", "how often it was migrated while it ran"),
    ("restarts", "i4", "1", "how often it lost its node"),
    ("outcome", "i4", "code", "FINISHED, KILLED for want of memory, or LOST with its node"),
    ("arrival_ns", "i8", "ns", "submission"),
    ("finish_ns", "i8", "ns", "end"),
    ("lone_cpu_ns", "i8", "ns", "dedicated CPU"),
    ("lone_io_ns", "i8", "ns", "dedicated I/O"),
    ("lone_paging_ns", "i8", "ns", "dedicated paging"),
    ("lone_barrier_ns", "i8", "ns", "dedicated waits at barriers"),
    ("requests", "i8", "1", "explicit disk requests"),
    ("faults", "i8", "1", "page faults"),
    ("hits", "i8", "1", "buffer hits"),
    ("lost_cpu_ns", "i8", "ns", "received CPU whose work failures destroyed"),
    *_BREAKDOWN_FIELDS,
]

JOB_FIELDS: list[Field] = [
    ("arrival_ns", "i8", "ns", "submission; of closed users NEVER as long as the previous job has not ended"),
    ("home", "i4", "node", "where all its tasks appear"),
    ("tasks", "i4", "1", "number of tasks"),
    ("first_task", "i8", "task", "number of its first task"),
    ("cpu_ms", "f8", "ms", "CPU demand of each task at speed 1"),
    ("io_per_ms", "f8", "1/ms", "accesses of each task per ms of CPU"),
    ("memory_mb", "f8", "MB", "memory demand of each task; the largest of a profile"),
    ("request_kb", "f8", "KB", "mean size of an access"),
    ("request_shape", "f8", "1", "shape of the Gamma size of an access; 0: all of the mean size"),
    ("reaccess_rate", "f8", "1", "re-access rate"),
    ("initial_data_mb", "f8", "MB", "data on the home disk that must follow a task"),
    ("write_share", "f8", "1", "share of accesses that write"),
    ("barrier_ms", "f8", "ms", "its tasks meet after every so much CPU at speed 1; 0: never"),
    ("communication_ns", "i8", "ns", "communication at each barrier"),
    ("program", "i4", "number", "program that it runs; NONE: none with a profile"),
    ("first_phase", "i4", "row", "first phase of that program"),
    ("phases", "i4", "1", "how many phases that program has"),
    ("think_ns", "i8", "ns", "closed users: from the end of the same user's previous job to its submission"),
]

BACKGROUND_FIELDS: list[Field] = [
    ("node", "i4", "node", "where it lives"),
    ("burst_ns", "i8", "ns", "wall ns of CPU that it takes each period; the period: always ready"),
    ("period_ns", "i8", "ns", "its period"),
    ("memory_kb", "i8", "KB", "memory demand"),
    ("io_per_ms", "f8", "1/ms", "accesses per ms of CPU at speed 1"),
    ("request_kb", "f8", "KB", "size of an access"),
]

PHASE_FIELDS: list[Field] = [
    ("cpu_ms", "f8", "ms", "CPU of the phase at speed 1"),
    ("memory_kb", "i8", "KB", "memory demand during it"),
    ("accesses", "i8", "1", "accesses, evenly spread over its CPU"),
    ("fresh_kb_per_s", "i8", "KB/s", "memory asked anew per second of CPU: growth, and turnover at the same size"),
    ("pause_ns", "i8", "ns", "sleep after it, before the next phase"),
]

MEETING_FIELDS: list[Field] = [
    ("tasks", "i8", "1", "tasks of the job, all of which must come"),
    ("dies_together", "i4", "flag", "1: memory is limited and the job has several tasks: none outlives another's kill"),
    ("dead", "i4", "flag", "1: one of them was killed"),
    ("waiting", "i8", "1", "tasks that have come to the barrier"),
    ("head", "i8", "slot", "the last of them, others by barrier_next"),
    ("last_ns", "i8", "ns", "when the last of them came"),
    ("communication_ns", "i8", "ns", "communication at each barrier"),
    ("lone_start_ns", "i8", "ns", "when this phase began in the job's dedicated run"),
    ("lone_io_ns", "i8", "ns", "longest I/O of a task in this phase of the dedicated run"),
]

# A row a slot of the task table: what a task goes on from if its node fails.
CHECKPOINT_FIELDS: list[Field] = [
    ("task", "i8", "task", "whose it is"),
    ("left_ns", "i8", "ns", "wall ns of CPU it still had to receive"),
    ("gap_left_ns", "i8", "ns", "wall ns of CPU until its next access; 0 if it had asked for one and not yet had it"),
    ("speed", "f8", "1", "CPU speed in whose ns these are"),
    ("fault_credit", "f8", "faults", "page faults earned and not yet served"),
    ("accesses", "i8", "1", "accesses made"),
    ("phase", "i4", "row", "phase of its activity profile"),
    ("phase_accesses", "i8", "1", "accesses made in this phase"),
]

LOAD_FIELDS: list[Field] = [
    ("tasks", "f8", "tasks", "tasks of jobs that belong to the node, those on their way included"),
    ("cpu_queue", "f8", "tasks", "tasks running or waiting for the CPU, those on their way included"),
    ("memory_mb", "f8", "MB", "memory demand, tasks on their way included"),
    ("faults_per_ms", "f8", "1/ms", "page faults of one task per ms of CPU under that demand"),
    ("cpu_ms", "f8", "ms", "remaining CPU, L_CPU"),
    ("page_ms", "f8", "ms", "page-fault processing ahead, L_page"),
    ("io_ms", "f8", "ms", "I/O processing ahead, L_IO"),
    ("queue", "f8", "tasks", "expected CPU queue length E(L)"),
    ("queue_paging", "f8", "tasks", "the same with page faults counted as I/O"),
    ("at_disk", "f8", "tasks", "expected tasks at the disk"),
    ("io_per_ms", "f8", "1/ms", "sum of the I/O rates"),
    ("io_load", "f8", "1/ms", "I/O load: page faults and accesses that miss the buffer, WAL-PM (11)"),
    ("disk_work", "f8", "1", "sum of I/O rate times service time"),
    ("disk_square", "f8", "ms", "sum of I/O rate times the square of the service time"),
    ("stream", "f8", "KB/ms", "sum of lambda d_RW, by which the buffer is shared"),
    ("accesses", "f8", "1", "accesses made so far by the tasks in the node, N_io"),
    ("oversize", "f8", "1", "memory demand beyond what there is for programs, as a share of it: Q_o; negative: free"),
    ("free_mb", "f8", "MB", "memory that neither programs nor the I/O buffer use: FM"),
    ("cache_mb", "f8", "MB", "I/O buffer that would make room for programs: FB"),
    ("newest_ms", "f8", "ms", "time since the last job was started here; 0 while one is on its way to its start"),
    ("virtual_free_mb", "f8", "MB", "RAM and swap not yet asked for; demand beyond it kills"),
    ("cpu_percent", "f8", "%", "CPU utilisation, mean of the last five seconds; 0 unless the policy asks for averages"),
    ("mean_queue", "f8", "tasks", "tasks running or waiting for the CPU, mean as above"),
    ("memory_percent", "f8", "%", "memory utilisation, what the system keeps included, mean as above"),
]

# In the order of the fields of policies.Candidate.
CANDIDATE_FIELDS: list[Field] = [
    ("task", "i8", "task", "number of the task"),
    ("job", "i8", "job", "its job"),
    ("home", "i4", "node", "where it was submitted"),
    ("cpu_ms", "f8", "ms", "CPU still to receive at speed 1"),
    ("io_per_ms", "f8", "1/ms", "accesses per ms of CPU at speed 1"),
    ("request_kb", "f8", "KB", "mean size of an access"),
    ("memory_mb", "f8", "MB", "memory demand"),
    ("initial_data_mb", "f8", "MB", "data that must follow it"),
    ("reaccess_rate", "f8", "1", "re-access rate"),
    ("write_share", "f8", "1", "share of accesses that write"),
    ("age_ms", "f8", "ms", "CPU received at speed 1"),
    ("running", "?", "flag", "False: a newcomer that has not entered the node yet"),
    ("page_faults", "i8", "1", "page faults so far"),
    ("accesses", "i8", "1", "accesses so far, N_io"),
    ("here_ms", "f8", "ms", "time since it came to the node"),
    ("migrations", "i8", "1", "how often it has been migrated"),
]

# Counters of a run: tops of the stack of free slots and of the records, tasks alive, when the last one ended, tasks
# that depend on others of their job (barriers ahead of them; killed with them), and how many jobs `opening` holds whose
# tasks have all come to their barrier in this slice, or of which one was killed.
FREE_TOP, RECORDS, LIVE, LAST_FINISH_NS, MEETING, OPENING, COUNTERS = range(7)


def dtype_of(fields: list[Field]) -> np.dtype[np.void]:
    """The numpy dtype of a table."""
    return np.dtype([(name, kind) for name, kind, _, _ in fields], align=True)


NODE, TASK, RECORD = dtype_of(NODE_FIELDS), dtype_of(TASK_FIELDS), dtype_of(RECORD_FIELDS)
PHASE = dtype_of(PHASE_FIELDS)
JOB, LOAD, MEETINGS = dtype_of(JOB_FIELDS), dtype_of(LOAD_FIELDS), dtype_of(MEETING_FIELDS)
CHECKPOINT = dtype_of(CHECKPOINT_FIELDS)
CANDIDATE, BACKGROUND = dtype_of(CANDIDATE_FIELDS), dtype_of(BACKGROUND_FIELDS)


def empty_nodes(count: int) -> Table:
    """`count` idle nodes, shape (count,); the caller fills in the hardware."""
    nodes = np.zeros(count, NODE)
    nodes["limit_kb"] = NEVER
    for name in ("cpu_stop_ns", "disk_end_ns", "arrival_ns", "next_event_ns"):
        nodes[name] = NEVER
    for name in ("running", "last_task"):
        nodes[name] = NONE
    for queue in ("ready", "disk", "flight", "member"):
        nodes[f"{queue}_head"] = NONE
        nodes[f"{queue}_tail"] = NONE
    return nodes
