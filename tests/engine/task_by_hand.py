"""A node, and a task X, of which every load index was worked by hand from its definition (engine/fields.py).

Nodes: speed 2, quantum 10 ms, switch 2 ms; disk 8 ms + 25 us a KB; 1000 KB for programs, swap up to 4000 KB, a buffer
of 300 KB besides; fault rate mu 0.004, a page fault takes 8.1 ms.

The task X: 2000 ms of CPU at speed 1, which are 1000 ms here; lambda 0.02, 100 KB (10.5 ms), re-access rate 1, 1500 KB
of memory. Phase one is 200 ms of CPU here with accesses after 25, 75, 125 and 175, then it sleeps 300 ms; phase two is
the rest. Under its 1500 KB a task faults 0.004 x 1500/1000 = 0.006 times per ms of CPU at speed 1, here 0.012: X after
83.33 and 166.67 ms of CPU.

All numbers in ms of wall time. A ms of CPU here has 0.04 accesses of 10.5 ms, 0.42, and 0.012 faults of 8.1 ms, 0.0972.
"""

from __future__ import annotations

import math

import numpy as np

from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import JOB, LOAD, PHASE, empty_nodes

MS = 1_000_000
# With these random numbers no access of X is a hit, and the background program makes none in its first periods.
RUN_KEY = 3
INF = math.inf
# What is measured elsewhere, and is what it is whatever task there is.
AS_NOTED = {"cpu_percent": 31.0, "mean_queue": 2.5, "memory_percent": 47.0, "net_ms": 24.0,
            "disk_delay_share": 0.3, "net_delay_share": 0.7}  # fmt: skip

# An empty node: nothing of 1000 KB is asked for.
EMPTY = AS_NOTED | {
    "tasks": 0, "cpu_queue": 0, "memory_mb": 0, "faults_per_ms": 0, "cpu_ms": 0, "page_ms": 0, "io_ms": 0, "queue": 0,
    "queue_paging": 0, "at_disk": 0, "io_per_ms": 0, "io_load": 0, "disk_work": 0, "disk_square": 0, "stream": 0,
    "accesses": 0, "oversize": -1, "oversize_here": -1, "free_mb": 1.0, "cache_mb": 0.3, "newest_ms": INF,
    "virtual_free_mb": 4.0, "effective_tasks": 0,
}  # fmt: skip

# 1500 KB in the node: 500 of them do not fit, 2500 KB are left of RAM and swap.
MEMORY = {
    "memory_mb": 1.5, "faults_per_ms": 0.006, "oversize": 0.5, "oversize_here": 0.5, "free_mb": 0,
    "virtual_free_mb": 2.5,
}  # fmt: skip
# As long as it has made no access and no fault, X is a whole effective task.
# What X asks for, whatever it does: E(L) = 1/(1 + 0.42), with page faults 1/(1 + 0.42 + 0.0972); disk 0.04 x 10.5, and
# 0.04 x 10.5^2. Of d_data = 0.02 x 2000 x 100/2 = 2000 KB the buffer holds 300: h = 1/2 x 0.15, so that
# 0.02 x (1 - 0.075) = 0.0185 accesses reach the disk, and 0.006 page faults.
X = MEMORY | {
    "tasks": 1, "queue": 1 / 1.42, "queue_paging": 1 / 1.5172, "at_disk": 0.42 / 1.42, "io_per_ms": 0.02,
    "io_load": 0.0245, "disk_work": 0.42, "disk_square": 4.41, "stream": 2.0,
    "effective_tasks": 1,
}  # fmt: skip


def ahead(cpu_ms, io_cpu_ms=None):
    """Work ahead: CPU; of each ms of it 0.0972 of page faults, and 0.42 of I/O in X's part of it."""
    return {"cpu_ms": cpu_ms, "page_ms": 0.0972 * cpu_ms, "io_ms": 0.42 * (cpu_ms if io_cpu_ms is None else io_cpu_ms)}


def engine_of(*jobs, count=2, memory_kb=1500, effective=False, kind=EngineState, **hardware):
    """Nodes as above, and on node 0 a job of X, or of what these jobs have otherwise."""
    nodes = empty_nodes(count)
    usual = {"speed": 2.0, "quantum_ns": 10 * MS, "switch_ns": 2 * MS, "seek_ns": 8 * MS, "ns_per_kb": 25_000,
             "user_memory_kb": 1000, "limit_kb": 4000, "buffer_kb": 300, "fault_rate_per_ms": 0.004,
             "fault_ratio_cap": INF, "fault_ns": 8_100_000, "fault_seek_ns": 8 * MS,
             "link_ms_per_mb": 8.0}  # fmt: skip
    for name, value in (usual | hardware).items():
        nodes[name] = value
    jobs = jobs or ({},)
    table = np.zeros(len(jobs), JOB)
    of_x = {"tasks": 1, "cpu_ms": 2000.0, "io_per_ms": 0.02, "request_kb": 100.0, "reaccess_rate": 1.0,
            "memory_mb": memory_kb / 1000, "phases": 2, "initial_data_mb": 5.0, "write_share": 0.25}  # fmt: skip
    for number, (row, job) in enumerate(zip(table, jobs, strict=True)):
        for name, value in ({"first_task": number} | of_x | job).items():
            row[name] = value
    phases = np.array([(400.0, memory_kb, 4, 0, 300 * MS), (1600.0, memory_kb, 32, 0, 0)], PHASE)
    engine = kind(nodes, table, RUN_KEY, 10 * MS, effective, phases)
    engine.note_averages({name: np.full(count, AS_NOTED[name]) for name in AS_NOTED if name != "net_ms"})
    # 3 MB at 8 ms each.
    engine.load_links(0, 1, 3.0)
    return engine


def start(engine, job=0, *, target=0, delay_ms=0, rank=0):
    """Start a task of a job, which sets out at 0 and is so long on its way."""
    engine.admit(*(np.array([value]) for value in (job, rank, 0, target, delay_ms * MS)))


def send(engine, source, target, now_ms, *, task=0, brings_mb=0.0):
    """Migrate a task at that time; it is on its way for 30 ms."""
    engine.serve(now_ms * MS)
    slot = engine.slot_of(source, task)
    engine.migrate(slot, target, 30 * MS, now_ms * MS)
    if brings_mb:
        engine.bring_data(slot, brings_mb)


def measured(engine, at_ms):
    """The loads of node 0."""
    engine.serve(int(at_ms * MS))
    loads = engine.empty_loads()
    engine.measure(int(at_ms * MS), loads)
    return {name: float(loads[name][0]) for name in LOAD.names}
