"""What a load manager may know: its own node exactly, the other nodes as they reported; and the task to place."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cluster_abm.arrays import Flags
from cluster_abm.formulas import (
    available_mb_per_s,
    load_imbalance_factors,
    moving_ms,
    node_faults_per_ms,
    page_load_ms,
    total,
)
from cluster_abm.policy.capacities import Capacities, comparable_table, compared, served_by
from cluster_abm.policy.data import DataMap
from cluster_abm.policy.load import unknown_index
from cluster_abm.policy.memory import Memory, Remembered
from cluster_abm.policy.samples import Samples, whole_of
from cluster_abm.policy.sees_cores import SeesCores
from cluster_abm.policy.tasks import (
    ArrivingTask,
    Candidate,
    Hardware,
    Loads,
    Paths,
    Table,
    candidate_of,
    table_of,
    written_mb_of,
)
from cluster_abm.policy.waiting import CoresInUse, no_cores

# What policies take from here beside the view itself.
__all__ = ["ArrivingTask", "Candidate", "Hardware", "Loads", "Paths", "Table", "View", "written_mb_of"]


Jobs = npt.NDArray[np.int64]


def nothing_held() -> Loads:
    """Nothing is held by others, of however many nodes."""
    return np.zeros(1)


def no_tasks() -> Table:
    """Return an empty table: no task can be sent elsewhere."""
    return np.zeros(0, np.dtype([("task", "i8")]))


def no_jobs() -> Jobs:
    """No job has tasks."""
    return np.zeros(0, np.int64)


def kinds_of(hardware: Sequence[Hardware]) -> npt.NDArray[np.int64]:
    """Of each node the first one that has the same hardware, shape (nodes,)."""
    first: dict[Hardware, int] = {}
    return np.array([first.setdefault(one, node) for node, one in enumerate(hardware)], np.int64)


@dataclass
class View(SeesCores):
    """What the load manager of node `me` sees when it decides: `view.nodes`, `view.least("io_ms")`, `view.load(...)`.

    A policy compares nodes by `load`, `column`, `least`, `is_largest` or `comparable`: in its heterogeneous form these
    make unlike nodes comparable. Estimates, which take the hardware into account themselves, read `measured` and
    `loads`.

    Attributes:
        me: its node.
        loads: load rows, shape (nodes,), fields of the load table (docs/concepts/model.md): row `me` as it is, the
            others as last reported; the arriving task is in none of them. As measured. Read only.
        hardware: fixed properties of every node.
        paths: the routes from here to the other nodes.
        remote_execution_ms: fixed cost e of starting a task elsewhere [ms].
        refused: nodes that have refused this arriving task, and those in `down`.
        uniform: `uniform(task, draw)`, a number in (0, 1) of the policy's own stream for that task.
        notes: what this load manager's policy wants to remember.
        migration_ms: fixed cost f of migrating a running task [ms].
        now_ms: now [ms].
        tasks_of_mine: called once when a policy reads `candidates` or `candidate_rows`.
        data: where the files lie that jobs need; None: no job needs any.
        capacities: what nodes have relative to each other, by which their loads are compared; None: as measured.
        overflow_of_mine: called once when a policy reads `overflow_held_mb`.
        live_jobs_of_all: called when a central policy reads `live_jobs`.
        down: nodes that are believed to be down, or to which no route leads: whatever they last reported, they count in
            no maximum and in no mean.
        cores_of_all: called with the nodes that have refused when a central policy reads `free`, `running`, `nodes_of`
            or `core_of`.
        slice_ms: managers act at multiples of this time [ms]: what ends in between becomes known at the next of them.
        samples: what was sampled for the policy (`Policy.samples`); None: nothing.
        memory, memory_of: what policies `remember`, and whose entries in it are this load manager's.
    """

    me: int
    loads: Table
    hardware: tuple[Hardware, ...]
    paths: Paths
    remote_execution_ms: float
    uniform: Callable[[int, int], float]
    refused: frozenset[int] = frozenset()
    notes: MutableMapping[str, Any] = field(default_factory=dict)
    migration_ms: float = 0.0
    now_ms: float = 0.0
    tasks_of_mine: Callable[[], Table] = no_tasks
    data: DataMap | None = None
    capacities: Capacities | None = None
    overflow_of_mine: Callable[[], Loads] = nothing_held
    live_jobs_of_all: Callable[[], Jobs] = no_jobs
    down: frozenset[int] = frozenset()
    cores_of_all: Callable[[frozenset[int]], CoresInUse] = no_cores
    slice_ms: float = 0.0
    samples: Samples | None = None
    memory: Memory = field(default_factory=Memory)
    memory_of: int = 0
    # Fields of `loads` that were asked for: to take one out of a table costs more than what is done with it.
    columns: dict[str, Loads] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def out(self) -> frozenset[int]:
        """The name of `down` before version 0.2, for policies that read it."""
        return self.down

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.hardware)

    @property
    def hardware_table(self) -> Table:
        """The hardware of every node as a table, whose columns are named as the fields of Hardware, shape (nodes,)."""
        return table_of(self.hardware)

    @property
    def next_node(self) -> int:
        """The node after this one, cyclically."""
        return (self.me + 1) % self.nodes

    @cached_property
    def kinds(self) -> npt.NDArray[np.int64]:
        """Of each node the first one that has the same hardware, shape (nodes,)."""
        return kinds_of(self.hardware)

    def mean_share(self, index: str) -> Loads:
        """Mean of a load index over the samples of this load manager, as a share of what each node has, shape (nodes,).

        Before the first sample what is known now. `Policy.samples` says which indices are sampled.
        """
        found = None if self.samples is None else self.samples.mean(self.me, index)
        return self._measured_column(index) / whole_of(index, self.hardware) if found is None else found

    def share_deviation(self, index: str) -> Loads:
        """Standard deviation of these samples, shape (nodes,); 0 before the first one."""
        found = None if self.samples is None else self.samples.deviation(self.me, index)
        return np.zeros(self.nodes) if found is None else found

    def remember(self, task: int, node: int, amount: float) -> None:
        """Note a number about a task and a node, for `remembered`."""
        self.memory.note(self.memory_of, task, node, amount, self.now_ms)

    def remembered(self, since_ms: float) -> Remembered:
        """What this load manager has noted after a time [ms], the oldest first; what it noted before is forgotten."""
        return self.memory.since(self.memory_of, since_ms)

    def mb_per_s(self, node: int) -> float:
        """Return the bandwidth of the route to a node [MB/s]."""
        return float(self.paths.mb_per_s[node])

    def network_mb_per_s(self, node: int) -> float:
        """The route's bandwidth to count with [MB/s]: as it is, or what was left of it for the last transfer from here.

        The latter where `negotiation.bandwidths` is "measured"; likewise `disk_mb_per_s`.
        """
        return available_mb_per_s(self.mb_per_s(node), self.measured("net_delay_share", self.me))

    def disk_mb_per_s(self, node: int) -> float:
        """The bandwidth of a node's disk to count with [MB/s]: as it is, or what was left of it for the last access."""
        return available_mb_per_s(self.hardware[node].disk_mb_per_s, self.measured("disk_delay_share", node))

    def fixed_ms(self, node: int) -> tuple[float, float]:
        """Return what it costs to start a task on another node and to migrate one there, whatever its size [ms]: e and
        f, each with the latency of the route."""
        latency_ms = float(self.paths.latency_ms[node])
        return self.remote_execution_ms + latency_ms, self.migration_ms + latency_ms

    def has_index(self, index: str) -> bool:
        """Whether the load table has an index of that name."""
        return index in (self.loads.dtype.names or ())

    def measured(self, index: str, node: int) -> float:
        """A node's load by one index, as known."""
        return float(self._measured_column(index)[node])

    def column(self, index: str, task: ArrivingTask | None = None) -> Loads:
        """A load index of all nodes, to compare them by, shape (nodes,).

        As measured, unless the policy is in its heterogeneous form and nodes are unlike: then per unit of what serves
        it on each node, with the arriving task there if one is given.
        """
        load = self._measured_column(index)
        return load if self.capacities is None else compared(load, index, self.capacities, task)

    def _measured_column(self, index: str) -> Loads:
        found = self.columns.get(index)
        if found is None:
            if not self.has_index(index):
                raise ValueError(unknown_index(index))
            found = self.columns[index] = self.loads[index]
        return found

    def load(self, index: str, node: int, task: ArrivingTask | None = None) -> float:
        """One node's entry of that column."""
        return float(self.column(index, task)[node])

    def per_unit(self, load: float, index: str, node: int) -> float:
        """A task's load as it would add to a node's entry of that column."""
        if self.capacities is None:
            return load
        resource = served_by(index)
        return load / self.capacities.of(resource)[node] if resource else load

    def comparable(self, task: ArrivingTask | None = None) -> Table:
        """Return the load table to compare nodes by: every index as `column` gives it."""
        return comparable_table(self.loads, self.capacities, task)

    def draw_nodes(self, task: ArrivingTask, count: int, first_draw: int = 0) -> npt.NDArray[np.int64]:
        """Draw different nodes that have not refused, by the task's own numbers, shape (at most count,).

        In the heterogeneous form fast CPUs are drawn more often.

        Args:
            task: the task.
            count: how many.
            first_draw: the first of the task's numbers that is used.
        """
        closed = sorted(self.refused)
        count = min(count, self.nodes - len(closed))
        found = np.empty(count, np.int64)
        for draw in range(count):
            uniform = self.uniform(task.task, first_draw + draw)
            if self.capacities is None:
                node = int(uniform * (self.nodes - len(closed)))
                for one in closed:
                    node += one <= node
            else:
                open_nodes = np.flatnonzero(~self._flags_of(closed))
                node = int(open_nodes[self.drawn(uniform, open_nodes)])
            found[draw] = node
            insort(closed, node)
        return found

    def drawn(self, uniform: float, nodes: Sequence[int] | npt.NDArray[np.int64]) -> int:
        """Place of the node that a number in (0, 1) draws; in the heterogeneous form fast CPUs are drawn more often."""
        if self.capacities is None:
            return int(uniform * len(nodes))
        shares = np.cumsum(self.capacities.cpu[np.asarray(nodes)])
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
    def live_jobs(self) -> Jobs:
        """Numbers of the jobs that have started and not ended, ascending: what a head node knows (`Policy.central`)."""
        return self.live_jobs_of_all()

    def core_of(self, task: ArrivingTask) -> int:
        """The node of the core that is a task's by turn: the job's tasks are dealt to the cores that it holds; of a job
        that holds none the node of fewest tasks."""
        nodes = self.nodes_of(task.job)
        if not len(nodes):
            return self.least("tasks", task)
        return int(nodes[self._cores.rank_of(task) % len(nodes)])

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The same as objects."""
        return tuple(self.candidate(place) for place in range(len(self.candidate_rows)))

    def candidate(self, place: int) -> Candidate:
        """One of them."""
        return candidate_of(self.candidate_rows, place)

    def is_largest(self, index: str, task: ArrivingTask | None = None) -> bool:
        """Whether the own load is the largest of all known: "overloaded", read literally.

        With an arriving task, of unlike nodes: whether this one would be the most loaded by it.
        """
        return self.is_largest_of(self.column(index, task))

    def is_largest_of(self, column: Loads) -> bool:
        """The same for an index that a policy makes itself, shape (nodes,)."""
        return bool(column[self.me] >= self.of_those_up(column).max())

    def of_those_up(self, column: Loads) -> Loads:
        """The entries of the nodes that are believed to be up, the own one among them, shape (nodes up,)."""
        return column[~self._is_down] if self.down else column

    def mean_of_those_up(self, column: Loads) -> float:
        """The mean of these entries."""
        up = self.of_those_up(column)
        return total(up) / len(up)

    def open_entries(self, column: Loads) -> Loads:
        """A column in which the nodes that have refused count as infinite, shape (nodes,)."""
        return np.where(self._is_refused, np.inf, column) if self.refused else column

    @property
    def is_open(self) -> Flags:
        """Which nodes have not refused, shape (nodes,)."""
        return ~self._is_refused

    @cached_property
    def _is_refused(self) -> Flags:
        return self._flags_of(self.refused)

    @cached_property
    def _is_down(self) -> Flags:
        return self._flags_of(self.down)

    def _flags_of(self, nodes: Iterable[int]) -> Flags:
        flags = np.zeros(self.nodes, bool)
        flags[list(nodes)] = True
        return flags

    def least(self, index: str, task: ArrivingTask | None = None) -> int:
        """The node of least load among those that have not refused; on a tie `me`, else the next one after `me`."""
        return self.least_of(self.column(index, task))

    def least_of(self, column: Loads) -> int:
        """The same for an index that a policy makes itself, shape (nodes,)."""
        column = self.open_entries(column)
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
        loads = self.loads[~self._is_down] if self.down else self.loads
        return load_imbalance_factors(loads["cpu_ms"], loads["page_ms"], loads["io_ms"])

    def faults_per_ms(self, task: ArrivingTask, node: int) -> float:
        """Page faults per ms of CPU on a node with the arriving task there [1/ms]."""
        hardware = self.hardware[node]
        demand_mb = self.measured("memory_mb", node) + task.memory_mb
        return node_faults_per_ms(
            demand_mb, hardware.user_memory_mb, hardware.fault_rate_per_ms, hardware.fault_ratio_cap,
            hardware.overflow_only, hardware.by_oversize, self.measured("accesses", node),
        )  # fmt: skip

    def page_ms(self, task: ArrivingTask, node: int) -> float:
        """The arriving task's page-fault processing time on a node, t_page [ms]: IOLB (11)."""
        faults = self.faults_per_ms(task, node)
        return page_load_ms(faults, task.cpu_ms, self.hardware[node].fault_service_ms)

    def cost_ms(self, task: ArrivingTask, node: int) -> float:
        """Cost of starting an arriving task, or of migrating a running one, on another node [ms]: WAL-PM (6), and the
        latency of the route there; 0 here."""
        if node == self.me:
            return 0.0
        if self.mb_per_s(node) == 0.0:
            # No route leads there.
            return math.inf
        remote_execution_ms, migration_ms = self.fixed_ms(node)
        return moving_ms(
            task.running, remote_execution_ms, migration_ms, task.memory_mb,
            task.initial_data_mb, task.written_mb, self.network_mb_per_s(node),
            self.disk_mb_per_s(self.me), self.disk_mb_per_s(node),
        )  # fmt: skip
