"""What a load manager may know: its own node exactly, the other nodes as they reported; and the newcomer to place."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cluster_abm.formulas import (
    io_load_ms,
    load_imbalance_factors,
    moving_ms,
    node_faults_per_ms,
    page_load_ms,
    service_ms,
    written_mb,
)
from cluster_abm.policies.capacities import SERVED_BY, Capacities, comparable, comparable_table
from cluster_abm.policies.data import DataMap

Table = npt.NDArray[np.void]
Loads = npt.NDArray[np.float64]


class Hardware(NamedTuple):
    """One node's fixed properties, known to every load manager."""

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


class Paths(NamedTuple):
    """What a load manager knows of the way from its node to every other one, shape (nodes,) each.

    Attributes:
        mb_per_s: bandwidth of the narrowest link [MB/s]; infinite to the own node, 0 where no path leads.
        latency_ms: latency of the links together [ms]; 0 to the own node, infinite where no path leads.
    """

    mb_per_s: Loads
    latency_ms: Loads

    @classmethod
    def alike(cls, nodes: int, mb_per_s: float, latency_ms: float = 0.0) -> Paths:
        """The same way to all nodes."""
        return cls(np.full(nodes, mb_per_s), np.full(nodes, latency_ms))


@dataclass(frozen=True, slots=True)
class Newcomer:
    """A task that has just been submitted, with the demands it announces (per task, at speed 1).

    Attributes:
        reaccess_rate: how often it accesses the same data again.
        write_share: share of its accesses that write.
        age_ms: CPU it has received: none.
        running: False.
        files: numbers of the files that its job needs, in `View.data`.
    """

    task: int
    job: int
    home: int
    cpu_ms: float
    io_per_ms: float
    request_kb: float
    memory_mb: float
    initial_data_mb: float
    reaccess_rate: float = 0.0
    write_share: float = 0.0
    age_ms: float = 0.0
    running: bool = False
    files: tuple[int, ...] = field(default=(), kw_only=True)

    @property
    def written_mb(self) -> float:
        """What it has written to the local disk, d_W [MB]."""
        return written_mb(self.age_ms, self.io_per_ms, self.write_share, self.request_kb, self.reaccess_rate)

    def cpu_on(self, node: Hardware) -> float:
        """Its CPU on a node [ms], r_j of a newcomer."""
        return self.cpu_ms / node.speed

    def request_on(self, node: Hardware) -> float:
        """Disk time of one of its requests on a node, t_IO [ms]."""
        return service_ms(self.request_kb, node.seek_rotation_ms, node.disk_mb_per_s)

    def io_on(self, node: Hardware) -> float:
        """Its I/O processing time on a node, c_j lambda_j t_IO [ms]."""
        return io_load_ms(self.cpu_ms, self.io_per_ms, self.request_on(node))


@dataclass(frozen=True, slots=True)
class Candidate(Newcomer):
    """A task on a load manager's own node that could be sent elsewhere; `cpu_ms` is what it has still to receive.

    Attributes:
        age_ms: CPU it has received, at speed 1.
        running: False for a newcomer that has not entered the node yet: sending it on is a remote execution.
        page_faults, accesses: how many it has made so far, as the system counts them.
        here_ms: time since it came to the node [ms].
        migrations: how often it has been migrated.
    """

    page_faults: int = 0
    accesses: int = 0
    here_ms: float = 0.0
    migrations: int = 0


def written_mb_of(tasks: Table) -> Loads:
    """What each of the tasks of `View.candidate_rows` has written to the local disk, d_W, shape (tasks,) [MB]."""
    return written_mb(
        tasks["age_ms"], tasks["io_per_ms"], tasks["write_share"], tasks["request_kb"], tasks["reaccess_rate"]
    )


def nothing_held() -> Loads:
    """Nothing is held by others, of however many nodes."""
    return np.zeros(1)


def no_tasks() -> Table:
    """Nobody could be sent elsewhere."""
    return np.zeros(0, np.dtype([("task", "i8")]))


@dataclass
class View:
    """What the load manager of node `me` sees when it decides.

    Whoever compares nodes asks for `load`, `column`, `least`, `is_largest` or `comparable`: there unlike nodes are made
    comparable if the policy is in its heterogeneous form. Estimates, which reckon with the hardware themselves, take
    `measured` and `loads`.

    Attributes:
        me: its node.
        loads: load rows, shape (nodes,), fields of the load table (docs/model.md): row `me` as it is, the
            others as last heard; the newcomer is in none of them. As measured. Read only.
        hardware: fixed properties of every node.
        paths: the ways from here to the other nodes.
        remote_execution_ms: fixed cost e of starting a task elsewhere [ms].
        refused: nodes that have refused this newcomer, and those in `out`.
        uniform: `uniform(task, draw)`, a number in (0, 1) of the policy's own stream for that task.
        notes: what this load manager's policy wants to remember.
        migration_ms: fixed cost f of migrating a running task [ms].
        now_ms: now [ms].
        tasks_of_mine: asked once when a policy looks at `candidates` or `candidate_rows`.
        data: where the files lie that jobs need; None: no job needs any.
        capacities: what nodes have relative to each other, by which their loads are compared; None: as measured.
        overflow_of_mine: asked once when a policy looks at `overflow_held_mb`.
        out: nodes that are believed to have failed, or to which no way leads: whatever was last heard of them, they
            count in no maximum and in no mean.
    """

    me: int
    loads: Table
    hardware: tuple[Hardware, ...]
    paths: Paths
    remote_execution_ms: float
    uniform: Callable[[int, int], float]
    refused: frozenset[int] = frozenset()
    notes: dict[str, Any] = field(default_factory=dict)
    migration_ms: float = 0.0
    now_ms: float = 0.0
    tasks_of_mine: Callable[[], Table] = no_tasks
    data: DataMap | None = None
    capacities: Capacities | None = None
    overflow_of_mine: Callable[[], Loads] = nothing_held
    out: frozenset[int] = frozenset()

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.hardware)

    @property
    def next_node(self) -> int:
        """The node after this one, cyclically."""
        return (self.me + 1) % self.nodes

    def mb_per_s(self, node: int) -> float:
        """Bandwidth of the way to a node [MB/s]."""
        return float(self.paths.mb_per_s[node])

    def fixed_ms(self, node: int) -> tuple[float, float]:
        """What it costs to start a task on another node and to migrate one there, whatever its size [ms]: e and f, and
        the latency of the way."""
        latency_ms = float(self.paths.latency_ms[node])
        return self.remote_execution_ms + latency_ms, self.migration_ms + latency_ms

    def measured(self, index: str, node: int) -> float:
        """A node's load by one index, as known."""
        return float(self.loads[index][node])

    def column(self, index: str, newcomer: Newcomer | None = None) -> Loads:
        """A load index of all nodes, to compare them by, shape (nodes,).

        As measured, unless the policy is in its heterogeneous form and nodes are unlike: then per unit of what serves
        it on each node, with the newcomer there if one is given.
        """
        return comparable(self.loads, index, self.capacities, newcomer)

    def load(self, index: str, node: int, newcomer: Newcomer | None = None) -> float:
        """One node's entry of that column."""
        return float(self.column(index, newcomer)[node])

    def per_unit(self, load: float, index: str, node: int) -> float:
        """A task's load as it would add to a node's entry of that column."""
        resource = SERVED_BY.get(index)
        return load if self.capacities is None or resource is None else load / self.capacities.of(resource)[node]

    def comparable(self, newcomer: Newcomer | None = None) -> Table:
        """All indices that way: the load table to compare nodes by."""
        return comparable_table(self.loads, self.capacities, newcomer)

    def drawn(self, uniform: float, nodes: Sequence[int]) -> int:
        """Place of the node that a number in (0, 1) draws; in the heterogeneous form fast CPUs are drawn more often."""
        if self.capacities is None:
            return int(uniform * len(nodes))
        shares = np.cumsum(self.capacities.cpu[list(nodes)])
        return min(int(np.searchsorted(shares, uniform * shares[-1], side="right")), len(nodes) - 1)

    @cached_property
    def candidate_rows(self) -> Table:
        """The tasks on the own node that could be sent elsewhere, in the order in which they came, as rows."""
        return self.tasks_of_mine()

    @cached_property
    def overflow_held_mb(self) -> Loads:
        """What each node holds of the pages that overflow the own node's memory, shape (nodes,) [MB]: remote memory.
        It serves the own page faults in proportion."""
        return np.broadcast_to(self.overflow_of_mine(), self.nodes)

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The same as objects."""
        return tuple(self.candidate(place) for place in range(len(self.candidate_rows)))

    def candidate(self, place: int) -> Candidate:
        """One of them."""
        return Candidate(*self.candidate_rows[place].item())

    def is_largest(self, index: str, newcomer: Newcomer | None = None) -> bool:
        """Whether the own load is the largest of all known: "overloaded", read literally.

        With a newcomer, of unlike nodes: whether this one would be the most loaded by it.
        """
        return self.is_largest_of(self.column(index, newcomer))

    def is_largest_of(self, column: Loads) -> bool:
        """The same for an index that a policy makes itself, shape (nodes,)."""
        return bool(column[self.me] >= self.of_those_up(column).max())

    def of_those_up(self, column: Loads) -> Loads:
        """The entries of the nodes that are believed to be up, the own one among them, shape (nodes up,)."""
        return column[self._is_up] if self.out else column

    @cached_property
    def _is_up(self) -> npt.NDArray[np.bool_]:
        is_up = np.ones(self.nodes, bool)
        is_up[list(self.out)] = False
        return is_up

    def least(self, index: str, newcomer: Newcomer | None = None) -> int:
        """The node of least load among those that have not refused; on a tie `me`, else the next one after `me`."""
        return self.least_of(self.column(index, newcomer))

    def least_of(self, column: Loads) -> int:
        """The same for an index that a policy makes itself, shape (nodes,)."""
        if self.refused:
            column = column.copy()
            column[list(self.refused)] = np.inf
        lowest = column.min()
        if column[self.me] == lowest:
            return self.me
        after = column[self.me + 1 :]
        if len(after) and after.min() == lowest:
            return self.me + 1 + int(after.argmin())
        return int(column[: self.me].argmin())

    @cached_property
    def imbalance(self) -> tuple[float, float, float]:
        """Load imbalance factors (LIF_CPU, LIF_page, LIF_IO) by what is known [ms]: IOLB (7)-(9)."""
        loads = self.loads[self._is_up] if self.out else self.loads
        return load_imbalance_factors(loads["cpu_ms"], loads["page_ms"], loads["io_ms"])

    def faults_per_ms(self, newcomer: Newcomer, node: int) -> float:
        """Page faults per ms of CPU on a node with the newcomer there [1/ms]."""
        hardware = self.hardware[node]
        demand_mb = self.measured("memory_mb", node) + newcomer.memory_mb
        return node_faults_per_ms(
            demand_mb, hardware.user_memory_mb, hardware.fault_rate_per_ms, hardware.fault_ratio_cap,
            hardware.overflow_only, hardware.by_oversize, self.measured("accesses", node),
        )  # fmt: skip

    def page_ms(self, newcomer: Newcomer, node: int) -> float:
        """The newcomer's page-fault processing time on a node, t_page [ms]: IOLB (11)."""
        faults = self.faults_per_ms(newcomer, node)
        return page_load_ms(faults, newcomer.cpu_ms, self.hardware[node].fault_service_ms)

    def cost_ms(self, newcomer: Newcomer, node: int) -> float:
        """Cost of starting the newcomer, or of migrating the running task, on another node [ms]: WAL-PM (6), and the
        latency of the way there; 0 here."""
        if node == self.me:
            return 0.0
        if self.mb_per_s(node) == 0.0:
            # No way leads there.
            return math.inf
        remote_execution_ms, migration_ms = self.fixed_ms(node)
        return moving_ms(
            newcomer.running, remote_execution_ms, migration_ms, newcomer.memory_mb,
            newcomer.initial_data_mb, newcomer.written_mb, self.mb_per_s(node),
            self.hardware[self.me].disk_mb_per_s, self.hardware[node].disk_mb_per_s,
        )  # fmt: skip
