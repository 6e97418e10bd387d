"""What a policy knows of tasks, of nodes, and of the routes between them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cluster_abm.formulas import disk_work_ms, io_load_ms, service_ms, written_mb
from cluster_abm.jit import inlinable
from cluster_abm.policy.described import by_default, explained, fields_of, row_of, said

Table = npt.NDArray[np.void]
Loads = npt.NDArray[np.float64]


class Hardware(NamedTuple):
    """One node's fixed properties, known to every load manager.

    Attributes:
        cores: identical cores of `speed`.
        disk_channels: requests that the disk's device takes at once.
        fault_transfer_ms: the transfer in `fault_service_ms`.
    """

    speed: float
    user_memory_mb: float
    fault_rate_per_ms: float
    fault_ratio_cap: float
    overflow_only: bool
    fault_service_ms: float
    seek_rotation_ms: float
    disk_mb_per_s: float
    buffer_mb: float
    by_oversize: bool = False
    cores: int = 1
    disk_channels: int = 1
    fault_transfer_ms: float = 0.0


# Nodes' hardware as a table, whose columns are named as its fields.
HARDWARE = np.dtype(
    [(name, "?" if name in ("overflow_only", "by_oversize") else "f8") for name in Hardware._fields], align=True
)
# The hardware of which a table was made last, and the table: a run asks for the same one at each decision.
_tables: list[tuple[tuple[Hardware, ...], Table]] = [((), np.zeros(0, HARDWARE))]


def table_of(hardware: tuple[Hardware, ...]) -> Table:
    """The table of nodes' hardware, shape (nodes,); read only."""
    of, found = _tables[0]
    if of is not hardware:
        found = np.array([tuple(one) for one in hardware], HARDWARE)
        found.flags.writeable = False
        _tables[0] = hardware, found
    return found


class Paths(NamedTuple):
    """What a load manager knows of the route from its node to every other one, shape (nodes,) each.

    Attributes:
        mb_per_s: bandwidth of the narrowest link [MB/s]; infinite to the own node, 0 where no path leads.
        latency_ms: latency of the links together [ms]; 0 to the own node, infinite where no path leads.
    """

    mb_per_s: Loads
    latency_ms: Loads

    @classmethod
    def alike(cls, nodes: int, mb_per_s: float, latency_ms: float = 0.0) -> Paths:
        """Return the same route to all nodes."""
        return cls(np.full(nodes, mb_per_s), np.full(nodes, latency_ms))


class Demands(NamedTuple):
    """What a scenario's jobs announce, shape (jobs,) each, of each of their tasks; in no order that a policy may use.

    Attributes:
        tasks: how many tasks each has.
        cpu_ms, io_per_ms, memory_mb: as in ArrivingTask; where tasks of a job announce different CPU demands, the mean
            of them.
        task_cpu_ms: then the CPU demand of every task, ascending, shape (tasks,); else empty.
    """

    tasks: Loads
    cpu_ms: Loads
    io_per_ms: Loads
    memory_mb: Loads
    task_cpu_ms: Loads = np.zeros(0)


@explained
@dataclass(frozen=True, slots=True)
class ArrivingTask:
    """A task that has just been submitted, with the demands that its job announces (per task, at speed 1)."""

    task: int = field(metadata=said("task", "number of the task over the whole run"))
    job: int = field(metadata=said("job", "its job"))
    home: int = field(metadata=said("node", "where it was submitted"))
    cpu_ms: float = field(metadata=said("ms", "CPU still to receive, as announced: of an arriving task its demand"))
    io_per_ms: float = field(metadata=said("1/ms", "accesses per ms of CPU"))
    request_kb: float = field(metadata=said("KB", "mean size of an access"))
    memory_mb: float = field(metadata=said("MB", "memory demand"))
    initial_data_mb: float = field(metadata=said("MB", "data on the home disk that must follow it"))
    reaccess_rate: float = by_default(0.0, "1", "how often it accesses the same data again")
    write_share: float = by_default(0.0, "1", "share of its accesses that write")
    age_ms: float = by_default(0.0, "ms", "CPU it has received; 0 of an arriving task")
    running: bool = by_default(False, "flag", "False: an arriving task, to send it on is a remote execution")
    files: tuple[int, ...] = by_default(
        (), "file", "numbers of the files that its job needs, in `View.data`", kw_only=True
    )
    requested_ms: float = by_default(
        math.nan, "ms", "run time that its job requests; NaN: none, or a task that runs already", kw_only=True
    )

    @property
    def written_mb(self) -> float:
        """What it has written to the local disk, d_W [MB]."""
        return written_mb(self.age_ms, self.io_per_ms, self.write_share, self.request_kb, self.reaccess_rate)

    def cpu_on(self, node: Hardware) -> float:
        """Its CPU on a node [ms], r_j of an arriving task."""
        return self.cpu_ms / node.speed

    def request_on(self, node: Hardware) -> float:
        """Disk time of one of its requests on a node, t_IO [ms]."""
        return service_ms(self.request_kb, node.seek_rotation_ms, node.disk_mb_per_s)

    def io_on(self, node: Hardware) -> float:
        """What it adds to the work ahead of a node's disk [ms]; on one channel its I/O processing time there, c_j
        lambda_j t_IO."""
        work_ms = disk_work_ms(self.request_on(node), self.request_kb / node.disk_mb_per_s, node.disk_channels)
        return io_load_ms(self.cpu_ms, self.io_per_ms, work_ms)


@explained
@dataclass(frozen=True, slots=True)
class Candidate(ArrivingTask):
    """A task on a load manager's own node that could be sent elsewhere, or has not entered it yet."""

    page_faults: int = by_default(0, "1", "page faults that it has made so far, as the system counts them")
    accesses: int = by_default(0, "1", "accesses that it has made so far, N_io")
    here_ms: float = by_default(0.0, "ms", "time since it came to the node")
    migrations: int = by_default(0, "1", "how often it has been migrated")


# What a job announces of each of its tasks, and what no row of a task holds.
ANNOUNCED = tuple(
    one for one in fields_of(ArrivingTask) if one.name not in ("task", "job", "age_ms", "running", "files")
)
_NOT_IN_ROWS = ("files", "requested_ms")
# A row of `View.candidate_rows`: named as the fields of Candidate.
CANDIDATE = row_of(one for one in fields_of(Candidate) if one.name not in _NOT_IN_ROWS)


@inlinable
def written_mb_of(tasks: Table) -> Loads:
    """What each of the tasks of `View.candidate_rows` has written to the local disk, d_W, shape (tasks,) [MB]."""
    return written_mb(
        tasks["age_ms"], tasks["io_per_ms"], tasks["write_share"], tasks["request_kb"], tasks["reaccess_rate"]
    )


def candidate_of(rows: Table, place: int) -> Candidate:
    """Return one of the tasks of a table of candidates, whose columns are named as Candidate's fields."""
    return Candidate(**dict(zip(rows.dtype.names or (), rows[place].item(), strict=True)))
