"""What every field of every table is: its name, type, unit and meaning.

Times are integer nanoseconds: sums associate, so leaps equal steps to the last bit. "Wall ns of CPU" is
CPU time as it passes on the node that the task is on: demand divided by the node's speed.
"""

from __future__ import annotations

from typing import NamedTuple

Field = tuple[str, str, str, str]

BREAKDOWN_FIELDS: list[Field] = [
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
    # What events read stands first, together, in as few lines of the cache as may be.
    ("next_event_ns", "i8", "ns", "earliest of the next three"),
    ("cpu_stop_ns", "i8", "ns", "when the first of the running tasks stops; NEVER if all cores are free"),
    ("disk_end_ns", "i8", "ns", "when the first of the requests in the device ends; NEVER if there is none"),
    ("arrival_ns", "i8", "ns", "when the next task in transit enters, or the next one goes on from a barrier"),
    ("demand_kb", "i8", "KB", "memory asked by tasks in the node"),
    ("limit_kb", "i8", "KB", "RAM for programs and swap: demand beyond it kills; NEVER: no limit"),
    ("stopping", "i4", "slot", "that task"),
    ("running", "i4", "tasks", "tasks on a core, which is also the number of cores taken"),
    ("cores", "i4", "cores", "cores; 0: of a pool, which keeps no cores apart"),
    ("first_core", "i4", "row", "first of its rows in the table of cores"),
    ("number", "i4", "row", "its own row"),
    ("fault_per_ns", "f8", "1/ns", "page faults of every task per wall ns of its CPU, now"),
    ("fault_per_allocated", "f8", "s/KB/ns",
     "further page faults per wall ns of CPU, for each KB/s that a task allocates"),
    ("cpu_busy_ns", "i8", "ns", "CPU given to tasks, booked"),
    ("switch_ns", "i8", "ns", "context switch"),
    ("quantum_ns", "i8", "ns", "round-robin quantum"),
    ("ready_count", "i8", "tasks", "tasks waiting for a core"),
    ("ready_head", "i4", "slot", "first task waiting for a core"),
    ("ready_tail", "i4", "slot", "last task waiting for a core"),
    ("by_oversize", "i4", "flag", "1: page faults come by the oversized share (MCLS), 0: by a rate"),
    ("draws_seeks", "i4", "flag", "1: seek and rotation of each request are exponential, 0: they are all the same"),
    ("disk_busy_ns", "i8", "ns", "time with a request in the device, booked; with one channel by request"),
    ("bus_free_ns", "i8", "ns", "until when the bus was last known to be busy"),
    ("seek_ns", "i8", "ns", "seek and rotation of a request; the mean where they are drawn"),
    ("ns_per_kb", "f8", "ns/KB", "transfer of a request"),
    ("speed", "f8", "1", "CPU speed, 1 = the papers' node"),
    ("channels", "i4", "requests", "requests that may be in the disk's device at once"),
    ("in_device", "i4", "requests", "requests that are in it: the first ones of the disk's queue"),
    ("disk_head", "i4", "slot", "task of the request in the device that ends first"),
    ("device_tail", "i4", "slot", "task of the request in the device that ends last"),
    ("disk_tail", "i4", "slot", "last task of the disk's queue"),
    ("measures_bandwidths", "i4", "flag", "1: bandwidths are measured by the requests and transfers that end"),
    ("requests", "i8", "1", "explicit disk requests issued"),
    ("accesses", "i8", "1", "accesses made so far by the tasks in the node, N_io"),
    ("switches", "i8", "1", "context switches"),
    ("hits", "i8", "1", "accesses served from the buffer"),
    ("buffer_kb", "f8", "KB", "I/O buffer"),
    ("cache_kb", "f8", "KB", "I/O buffer in the memory that programs leave free (MCLS), buffer_kb at most"),
    ("stream", "i8", "1e-6 KB/ms",
     "sum of lambda d_RW over the tasks in the node, whole numbers so that it returns to 0"),
    ("user_memory_kb", "i8", "KB", "RAM there is for programs; of a pool: of all its nodes"),
    ("transit_head", "i4", "slot", "first task in transit to here or about to go on from a barrier, by (time, task)"),
    ("transit_tail", "i4", "slot", "last of them"),
    ("member_head", "i4", "slot", "first of the tasks that belong here, those in transit included, by admission"),
    ("member_tail", "i4", "slot", "last of the tasks that belong here"),
    ("in_transit", "i8", "tasks", "tasks in transit"),
    ("transit_kb", "i8", "KB", "memory asked by tasks in transit"),
    ("tasks", "i8", "tasks", "tasks in the node"),
    ("allocated_kb_per_s", "i8", "KB/s", "memory allocated per second of CPU, sum over the tasks in the node"),
    ("no_leap_before_ns", "i8", "ns", "until then some task is known to stop within a round: no leap is tried"),
    ("cpu_factor", "f8", "1", "that speed over what it is when nothing is wrong: below 1 its CPU is degraded"),
    ("disk_factor", "f8", "1", "the disk's speed over what it is when nothing is wrong"),
    ("memory_kb", "i8", "KB",
     "RAM; of a pool: memory for programs of its largest node, where each task pages as if alone"),
    ("fault_ns", "i8", "ns", "disk service of one page fault; the mean where seeks are drawn"),
    ("fault_seek_ns", "i8", "ns", "seek and rotation of it"),
    ("fault_rate_per_ms", "f8", "1/ms", "page-fault rate mu"),
    ("fault_ratio_cap", "f8", "1", "largest demand/memory in the paging law"),
    ("overflow_only", "i4", "flag", "1: only the overflowing share of the pages faults"),
    ("fault_evenness", "f8", "1", "share of these faults that falls on all tasks alike, not on growing ones"),
    ("leg_ns", "i8", "ns", "of a pool: since when the progress of the tasks that share its CPUs is not yet booked"),
    ("device_since_ns", "i8", "ns", "of several channels: since when there has always been a request in the device"),
    ("in_device_ns", "i8", "ns", "of several channels: sum over the requests of the time that each was in it, booked"),
    ("device_mark_ns", "i8", "ns", "until when that is booked"),
    ("faults", "i8", "1", "page faults issued"),
    ("background", "i8", "tasks", "background programs among its tasks"),
    ("fault_saved_ns", "i8", "ns", "by how much remote memory shortens a page fault in the mean, now"),
    ("faults_elsewhere", "f8", "1", "share of the page faults that remote memory serves, now"),
    ("cpu_percent", "f8", "%", "CPU utilisation, mean of the last seconds; 0 unless the policy asks for averages"),
    ("mean_queue", "f8", "tasks", "tasks running or waiting for the CPU, per core, mean as above"),
    ("memory_percent", "f8", "%", "memory utilisation, mean as above"),
    ("buffer_shift_kb", "i8", "KB",
     "by how much a controller has made the buffer larger than it was set up; - smaller"),
    ("disk_delay_share", "f8", "1", "wait of the last access at the disk over its service; 0 unless measured"),
    ("net_delay_share", "f8", "1",
     "by how much the last transfer from here took longer than alone, as a share; likewise"),
    ("net_kb", "i8", "KB", "image, data and files on their way from and to the node over links that are shared"),
    ("link_ms_per_mb", "f8", "ms/MB", "what a MB takes over the node's fastest link"),
]  # fmt: skip

TASK_FIELDS: list[Field] = [
    # The fields that events read stand together, in as few lines of the cache as may be.
    ("next", "i4", "slot", "next in the queue that it is in"),
    ("state", "i4", "code", "FREE, IN_TRANSIT, READY, RUNNING, AT_DISK, AT_BARRIER, WAKING: its barrier has opened"),
    ("since_ns", "i8", "ns", "since when its present state is not yet booked"),
    ("cpu_left_ns", "i8", "ns", "wall ns of CPU still to receive on this node until its next barrier, or its end"),
    ("gap_left_ns", "i8", "ns", "wall ns of CPU until its next access; NEVER without I/O, NONE before it has entered"),
    ("fault_credit", "f8", "faults", "fraction of a page fault earned, 0..1"),
    ("allocated_kb_per_s", "i8", "KB/s", "memory it allocates per second of its CPU, now"),
    ("leg_ns", "i8", "ns", "while it runs: since when its progress is not yet booked"),
    ("quantum_start_ns", "i8", "ns", "while it runs: when its quantum began"),
    ("core", "i4", "core", "while it runs: the core that it is on, 0 for a node's first"),
    ("request_kind", "i4", "code",
     "EXPLICIT, FAULT or ARRIVAL_WRITE while AT_DISK; in transit also NONE: no request to make again"),
    *BREAKDOWN_FIELDS[0:4],
    ("first_ns", "i8", "ns", "when it first got a core; NEVER: not yet"),
    ("service_ns", "i8", "ns", "service of its outstanding request: seek and transfer"),
    ("seek_ns", "i8", "ns", "seek and rotation of it"),
    ("found_ns", "i8", "ns", "when its seek in the device ends; NEVER while it waits for a channel"),
    ("task", "i8", "task", "number of the task over the whole run"),
    ("key", "u8", "1", "key of its random streams"),
    ("accesses", "i8", "1", "accesses made"),
    ("io_per_ms", "f8", "1/ms", "accesses per ms of CPU at speed 1, lambda"),
    ("request_kb", "f8", "KB", "mean size of an access"),
    ("request_shape", "f8", "1", "shape of the Gamma size of an access; 0: all of the mean size"),
    ("isolated_hit", "f8", "1", "buffer hit rate it has alone at home, now"),
    ("isolated_from", "i8", "1", "accesses before this one are counted in its isolated run: they are made again"),
    ("isolated_seek_ns", "i8", "ns", "seek and rotation of the home disk; the mean where they are drawn"),
    ("isolated_ns_per_kb", "f8", "ns/KB", "transfer of the home disk"),
    ("isolated_io_ns", "i8", "ns", "I/O of its isolated run at home: accesses so far that would miss"),
    ("isolated_buffer_kb", "f8", "KB", "most of a buffer in free memory that it has alone at home; 0: it needs none"),
    ("reaccess_rate", "f8", "1", "re-access rate"),
    ("requests", "i8", "1", "explicit disk requests issued"),
    ("phase", "i4", "row", "phase of its activity profile; NONE: it has none"),
    ("isolated_draws_seeks", "i4", "flag", "1: the seeks of the home disk are drawn, 0: all the same"),
    ("phase_accesses", "i8", "1", "accesses made in this phase"),
    ("last_phase", "i4", "row", "last phase of its profile"),
    ("cpu_after_ns", "i8", "ns", "wall ns of CPU still to receive after that barrier"),
    ("announced_over_ms", "f8", "ms", "CPU demand that it announces, less its own, at speed 1"),
    ("barriers_left", "i4", "1", "barriers ahead of it"),
    ("job", "i8", "job", "its job"),
    ("home", "i4", "node", "where it was submitted"),
    ("node", "i4", "node", "where it is, or is going to"),
    ("origin", "i4", "node", "node that it was sent from, while it is in transit"),
    ("pending_kind", "i4", "code", "request to make again once it has written what it brought"),
    ("arrival_write_kb", "f8", "KB", "data that it has to write on arrival"),
    ("member_next", "i4", "slot", "next task of the node"),
    ("member_prev", "i4", "slot", "previous task of the node"),
    ("moves", "i4", "1", "1: it started on another node than its home"),
    ("migrations", "i4", "1", "how often it was migrated while it ran"),
    ("restarts", "i4", "1", "how often it lost its node"),
    ("arrival_ns", "i8", "ns", "submission"),
    ("enter_ns", "i8", "ns", "instant it enters its node, or goes on from a barrier"),
    ("barrier_next", "i4", "slot", "next of the job's tasks at its barrier"),
    ("barrier_ms", "f8", "ms", "its own CPU at speed 1 between two barriers"),
    ("wake_ns", "i8", "ns", "when its barrier opens, or its sleep ends; 0: neither, NEVER: not all tasks have come"),
    ("cpu_demand_ms", "f8", "ms", "CPU demand at speed 1, without what it had received before the run"),
    ("initial_data_mb", "f8", "MB", "data that must follow it"),
    ("data_kb", "f8", "KB", "data it touches, d_data"),
    ("memory_kb", "i8", "KB", "memory demand, now"),
    ("here_ns", "i8", "ns", "when it came to its node"),
    ("bound", "i4", "flag", "1: counted in DEPENDENT"),
    ("stream", "i8", "1e-6 KB/ms", "lambda d_RW"),
    ("isolated_cache_kb", "f8", "KB", "such a buffer as it has it alone, now"),
    ("isolated_memory_kb", "i8", "KB", "memory for programs at home"),
    ("isolated_cpu_ns", "i8", "ns", "CPU of its isolated run at home"),
    ("isolated_paging_ns", "i8", "ns", "paging of its isolated run at home"),
    ("isolated_barrier_ns", "i8", "ns", "waits at barriers in its job's isolated run"),
    ("isolated_phase_ns", "i8", "ns", "CPU between two barriers in its isolated run"),
    ("isolated_mark_ns", "i8", "ns", "isolated_io_ns at its last barrier"),
    ("faults", "i8", "1", "page faults issued"),
    ("hits", "i8", "1", "accesses served from the buffer"),
    ("lost_cpu_ns", "i8", "ns", "received CPU with its work lost to failures"),
    ("burst_ns", "i8", "ns", "background program: wall ns of CPU that it takes each period"),
    ("period_ns", "i8", "ns", "background program: its period"),
    *BREAKDOWN_FIELDS[4:],
    ("plan_found_ns", "i8", "ns", "the same, in a plan of when requests will end; without meaning else"),
    ("plan_next", "i4", "slot", "next in the device, in such a plan"),
]  # fmt: skip

CORE_FIELDS: list[Field] = [
    ("stop_ns", "i8", "ns", "when its task stops; NEVER if it is free"),
    ("last_task", "i8", "task", "task that it had last; NONE at the start"),
    ("running", "i4", "slot", "its task; NONE if it is free"),
    # Not of this core: a node's c cores play a tournament of c - 1 matches, in rows 1 to c - 1 of its part.
    ("first_to_stop", "i4", "core", "of the cores below this match, the one of which the task stops first"),
    ("lowest_free", "i4", "core", "of the cores below this match, the free one of lowest number; their count: none"),
]

RECORD_FIELDS: list[Field] = [
    ("task", "i8", "task", "number of the task"),
    ("job", "i8", "job", "its job"),
    ("home", "i4", "node", "where it was submitted"),
    ("node", "i4", "node", "where it finished"),
    ("moves", "i4", "1", "1: it started on another node than its home"),
    ("migrations", "i4", "1", "how often it was migrated while it ran"),
    ("restarts", "i4", "1", "how often it lost its node"),
    ("outcome", "i4", "code", "FINISHED, KILLED (for want of memory, or by an act), or LOST with its node"),
    ("arrival_ns", "i8", "ns", "submission"),
    ("first_ns", "i8", "ns", "when it first got a core; NEVER: it never did"),
    ("finish_ns", "i8", "ns", "end"),
    ("isolated_cpu_ns", "i8", "ns", "CPU of the isolated run"),
    ("isolated_io_ns", "i8", "ns", "I/O of the isolated run"),
    ("isolated_paging_ns", "i8", "ns", "paging of the isolated run"),
    ("isolated_barrier_ns", "i8", "ns", "waits at barriers in the isolated run"),
    ("requests", "i8", "1", "explicit disk requests"),
    ("faults", "i8", "1", "page faults"),
    ("hits", "i8", "1", "buffer hits"),
    ("lost_cpu_ns", "i8", "ns", "received CPU with its work lost to failures"),
    *BREAKDOWN_FIELDS,
]

# A row each time that a task sets out for a node, of a run that is recorded: how far it had come by then.
JOURNAL_FIELDS: list[Field] = [
    ("task", "i8", "task", "number of the task"),
    ("at_ns", "i8", "ns", "when it sets out, or when it has lost its node"),
    ("enter_ns", "i8", "ns", "when it enters the node; NEVER: a later row says"),
    ("kind", "i4", "code", "why: STARTS, SENT_ON, MIGRATES, ENTERS, RETURNS, LOST_NODE or RESTARTS"),
    ("origin", "i4", "node", "where it sets out"),
    ("node", "i4", "node", "where it goes"),
    *BREAKDOWN_FIELDS,
]

JOB_FIELDS: list[Field] = [
    ("arrival_ns", "i8", "ns", "submission; of closed users NEVER as long as the previous job has not ended"),
    ("home", "i4", "node", "where all its tasks appear"),
    ("tasks", "i4", "1", "number of tasks"),
    ("first_task", "i8", "task", "number of its first task"),
    ("cpu_ms", "f8", "ms", "CPU demand of each task at speed 1; the mean of them where tasks differ"),
    ("io_per_ms", "f8", "1/ms", "accesses of each task per ms of CPU"),
    ("memory_mb", "f8", "MB", "memory demand of each task; the largest of a profile"),
    ("request_kb", "f8", "KB", "mean size of an access"),
    ("request_shape", "f8", "1", "shape of the Gamma size of an access; 0: all of the mean size"),
    ("reaccess_rate", "f8", "1", "re-access rate"),
    ("initial_data_mb", "f8", "MB", "data on the home disk that must follow a task"),
    ("write_share", "f8", "1", "share of accesses that write"),
    (
        "barrier_ms",
        "f8",
        "ms",
        "CPU at speed 1 from one barrier of its tasks to the next, of each or the mean; 0: no barriers",
    ),
    ("communication_ns", "i8", "ns", "communication at each barrier"),
    ("program", "i4", "number", "program that it runs; NONE: none with a profile"),
    ("first_phase", "i4", "row", "first phase of that program"),
    ("phases", "i4", "1", "how many phases that program has"),
    ("think_ns", "i8", "ns", "from the end of a user's previous job, or of a job's last parent, to its submission"),
    ("received_ms", "f8", "ms", "CPU of that demand which each task had received before the run: its age at 0"),
]

# A row a task, by its number, of runs in which tasks of a job differ or announce a wrong demand.
DEMAND_FIELDS: list[Field] = [
    ("cpu_ms", "f8", "ms", "CPU demand at speed 1, with what it had received before the run"),
    ("announced_ms", "f8", "ms", "the same, as it is announced to policies"),
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
    ("allocated_kb_per_s", "i8", "KB/s", "memory allocated per second of CPU: growth, and turnover at the same size"),
    ("pause_ns", "i8", "ns", "sleep after it, before the next phase"),
]

BARRIER_FIELDS: list[Field] = [
    ("tasks", "i8", "1", "tasks of the job, all of which must come"),
    ("dies_together", "i4", "flag", "1: memory is limited and the job has several tasks: none outlives another's kill"),
    ("dead", "i4", "flag", "1: one of them was killed"),
    ("waiting", "i8", "1", "tasks that have come to the barrier"),
    ("head", "i8", "slot", "the last of them, others by barrier_next"),
    ("last_ns", "i8", "ns", "when the last of them came"),
    ("communication_ns", "i8", "ns", "communication at each barrier"),
    ("isolated_start_ns", "i8", "ns", "when this phase began in the job's isolated run"),
    ("isolated_longest_ns", "i8", "ns", "longest CPU, paging and I/O of a task in this phase of the isolated run"),
]

# A row a slot of the task table: what a task goes on from if its node fails.
CHECKPOINT_FIELDS: list[Field] = [
    ("task", "i8", "task", "task that was checkpointed"),
    ("left_ns", "i8", "ns", "wall ns of CPU it still had to receive"),
    ("useful_ns", "i8", "ns", "CPU received until then, less what was lost"),
    ("gap_left_ns", "i8", "ns", "wall ns of CPU until its next access; 0 if it had asked for one and not yet had it"),
    ("speed", "f8", "1", "CPU speed of the node, on which these wall ns count"),
    ("fault_credit", "f8", "faults", "page faults earned and not yet served"),
    ("accesses", "i8", "1", "accesses made"),
    ("phase", "i4", "row", "phase of its activity profile"),
    ("phase_accesses", "i8", "1", "accesses made in this phase"),
]

# How unlike nodes are compared by a load index: as measured; per unit of what serves it on each node (all its cores,
# the speed of a core, its memory for programs, its disk); or in the node's own time at that CPU or disk, to which an
# arriving task adds the more the slower that is.
AS_MEASURED, CPU, SPEED, MEMORY, DISK, CPU_TIME, DISK_TIME = (
    "as measured", "cpu", "speed", "memory", "disk", "cpu time", "disk time",
)  # fmt: skip
# What each node has of a load index of the pooled reference: its part of what can be counted; the pool's own share,
# mean or time; or the pool's time, which is per core.
DEALT, ALIKE, PER_CORE = "dealt", "alike", "per core"


class LoadIndex(NamedTuple):
    """A load index."""

    # name, kind, unit, meaning: as of every field
    name: str
    kind: str
    unit: str
    meaning: str
    compared: str  # how unlike nodes are compared by it: AS_MEASURED, CPU, SPEED, MEMORY, DISK, CPU_TIME or DISK_TIME
    pooled: str  # what each node of the pooled reference has of it: DEALT, ALIKE or PER_CORE
    # what an arriving task adds to it, by name (policy.capacities.joining_load); "": unlike nodes are not compared by
    # it with the task on them
    joins: str = ""
    # whether it is a mean of the last seconds, which is taken only if a policy asks for averages
    averaged: bool = False


LOAD_INDICES: list[LoadIndex] = [
    LoadIndex("tasks", "f8", "tasks", "tasks of jobs that belong to the node, those in transit included",
              CPU, DEALT, "task"),
    LoadIndex("cpu_queue", "f8", "tasks", "tasks running or waiting for the CPU, those in transit included",
              CPU, DEALT, "task"),
    LoadIndex("memory_mb", "f8", "MB", "memory demand, tasks in transit included", MEMORY, DEALT, "memory_mb"),
    LoadIndex("faults_per_ms", "f8", "1/ms", "page faults of one task per ms of CPU under that demand",
              AS_MEASURED, ALIKE),
    LoadIndex("cpu_ms", "f8", "ms", "remaining CPU, per core, L_CPU", CPU_TIME, PER_CORE, "cpu_ms"),
    LoadIndex("page_ms", "f8", "ms", "page-fault processing ahead, L_page", AS_MEASURED, DEALT),
    LoadIndex("io_ms", "f8", "ms", "I/O processing ahead of its channels, or of its bus if that is more, L_IO",
              DISK_TIME, DEALT, "io_ms"),
    LoadIndex("queue", "f8", "tasks", "expected CPU queue length E(L)", CPU, DEALT, "cpu share"),
    LoadIndex("queue_paging", "f8", "tasks", "the same with page faults counted as I/O", CPU, DEALT, "cpu share"),
    LoadIndex("at_disk", "f8", "tasks", "expected tasks at the disk", DISK, DEALT, "disk share"),
    LoadIndex("io_per_ms", "f8", "1/ms", "sum of the I/O rates", DISK, DEALT, "io_per_ms"),
    LoadIndex("io_load", "f8", "1/ms", "I/O load: page faults and accesses that miss the buffer, WAL-PM (11)",
              DISK, DEALT, "io_per_ms"),
    LoadIndex("disk_work", "f8", "1", "sum of I/O rate times service time", AS_MEASURED, DEALT),
    LoadIndex("disk_square", "f8", "ms", "sum of I/O rate times the square of the service time", AS_MEASURED, DEALT),
    LoadIndex("stream", "f8", "KB/ms", "sum of lambda d_RW, by which the buffer is shared", AS_MEASURED, DEALT),
    LoadIndex("accesses", "f8", "1", "accesses made so far by the tasks in the node, N_io", AS_MEASURED, DEALT),
    LoadIndex("oversize", "f8", "1",
              "memory demand beyond what there is for programs, as a share of it: Q_o; negative: free",
              AS_MEASURED, ALIKE),
    LoadIndex("oversize_here", "f8", "1", "the same without the tasks in transit: what the node pages by now",
              AS_MEASURED, ALIKE),
    LoadIndex("free_mb", "f8", "MB", "memory that neither programs nor the I/O buffer use: FM", AS_MEASURED, DEALT),
    LoadIndex("cache_mb", "f8", "MB", "I/O buffer that would make room for programs: FB", AS_MEASURED, DEALT),
    LoadIndex("newest_ms", "f8", "ms",
              "time since the last job was started here; 0 while one is in transit to its start", AS_MEASURED, ALIKE),
    LoadIndex("virtual_free_mb", "f8", "MB", "RAM and swap not yet asked for; demand beyond it kills",
              AS_MEASURED, DEALT),
    LoadIndex("cpu_percent", "f8", "%",
              "CPU utilisation, mean of the last five seconds; 0 unless the policy asks for averages",
              AS_MEASURED, ALIKE, averaged=True),
    LoadIndex("mean_queue", "f8", "tasks", "tasks running or waiting for the CPU, per core, mean as above",
              SPEED, ALIKE, averaged=True),
    LoadIndex("memory_percent", "f8", "%", "memory utilisation, what the system keeps included, mean as above",
              AS_MEASURED, ALIKE, averaged=True),
    LoadIndex("net_ms", "f8", "ms",
              "transfers in progress from and to it, as time of its link; 0 unless the policy reads it",
              AS_MEASURED, DEALT),
    LoadIndex("disk_delay_share", "f8", "1",
              "wait of the last access at the disk over its service; 0 unless bandwidths are measured",
              AS_MEASURED, ALIKE),
    LoadIndex("net_delay_share", "f8", "1",
              "by how much the last transfer from here took longer than alone, as a share; likewise",
              AS_MEASURED, ALIKE),
    LoadIndex("effective_tasks", "f8", "tasks",
              "tasks, each by the share of its time so far, at CPU and disk, that it was at the CPU or waited for it",
              CPU, DEALT, "task"),
]  # fmt: skip
LOAD_FIELDS: list[Field] = [index[:4] for index in LOAD_INDICES]
