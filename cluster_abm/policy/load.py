"""The load indices as names: `view.least(load.tasks)` is `view.least("tasks")`, and a misspelt one is found at once.

    from cluster_abm import load

The load table (engine/fields.py) defines them; what serves each on unlike nodes is in capacities.py.
"""

from __future__ import annotations

from typing import Final

from cluster_abm.scenario import nearest

tasks: Final = "tasks"
"""tasks of jobs that belong to the node, those in transit included [tasks]"""
cpu_queue: Final = "cpu_queue"
"""tasks running or waiting for the CPU, those in transit included [tasks]"""
memory_mb: Final = "memory_mb"
"""memory demand, tasks in transit included [MB]"""
faults_per_ms: Final = "faults_per_ms"
"""page faults of one task per ms of CPU under that demand [1/ms]"""
cpu_ms: Final = "cpu_ms"
"""remaining CPU, per core, L_CPU [ms]"""
page_ms: Final = "page_ms"
"""page-fault processing ahead, L_page [ms]"""
io_ms: Final = "io_ms"
"""I/O processing ahead of its channels, or of its bus if that is more, L_IO [ms]"""
queue: Final = "queue"
"""expected CPU queue length E(L) [tasks]"""
queue_paging: Final = "queue_paging"
"""the same with page faults counted as I/O [tasks]"""
at_disk: Final = "at_disk"
"""expected tasks at the disk [tasks]"""
io_per_ms: Final = "io_per_ms"
"""sum of the I/O rates [1/ms]"""
io_load: Final = "io_load"
"""I/O load: page faults and accesses that miss the buffer, WAL-PM (11) [1/ms]"""
disk_work: Final = "disk_work"
"""sum of I/O rate times service time [1]"""
disk_square: Final = "disk_square"
"""sum of I/O rate times the square of the service time [ms]"""
stream: Final = "stream"
"""sum of lambda d_RW, by which the buffer is shared [KB/ms]"""
accesses: Final = "accesses"
"""accesses made so far by the tasks in the node, N_io [1]"""
oversize: Final = "oversize"
"""memory demand beyond what there is for programs, as a share of it, Q_o; negative: free [1]"""
oversize_here: Final = "oversize_here"
"""the same without the tasks in transit [1]"""
free_mb: Final = "free_mb"
"""memory that neither programs nor the I/O buffer use, FM [MB]"""
cache_mb: Final = "cache_mb"
"""I/O buffer that would make room for programs, FB [MB]"""
newest_ms: Final = "newest_ms"
"""time since the last job was started here; 0 while one is in transit to its start [ms]"""
virtual_free_mb: Final = "virtual_free_mb"
"""RAM and swap not yet asked for [MB]"""
cpu_percent: Final = "cpu_percent"
"""CPU utilisation, mean of the last five seconds; 0 unless the policy asks for averages [%]"""
mean_queue: Final = "mean_queue"
"""tasks running or waiting for the CPU, per core, mean as above [tasks]"""
memory_percent: Final = "memory_percent"
"""memory utilisation, what the system keeps included, mean as above [%]"""
net_ms: Final = "net_ms"
"""transfers in progress from and to it, as time of its link; 0 unless the policy reads it [ms]"""
disk_delay_share: Final = "disk_delay_share"
"""wait of the last access at the disk over its service; 0 unless bandwidths are measured [1]"""
net_delay_share: Final = "net_delay_share"
"""by how much the last transfer from here took longer than alone, as a share; likewise [1]"""


def unknown_index(name: str) -> str:
    """What to say of a name that no load index has."""
    return f"no load index {name!r:.100}; {nearest(str(name)[:100], NAMES)}"


def __getattr__(name: str) -> str:
    raise AttributeError(unknown_index(name))


NAMES: Final = [name for name, value in list(globals().items()) if name == value]
