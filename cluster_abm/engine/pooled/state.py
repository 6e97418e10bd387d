"""The tables of a run on a pooled cluster, the reference `pooled`."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluster_abm.arrays import Integers
from cluster_abm.engine.fields import ALIKE, DEALT, LOAD_INDICES, PER_CORE
from cluster_abm.engine.loads import measure
from cluster_abm.engine.pooled.pool import Stations, advance_pool
from cluster_abm.engine.state import LONGEST_NS, EngineState
from cluster_abm.engine.tables import LOAD, NEVER, NONE, NS_PER_MS, Table, empty_nodes
from cluster_abm.errors import InputError


def pool_of(nodes: Table) -> Table:
    """One row that has the memory and the buffers of these nodes together; CPUs, disks and the memory by which a task
    pages are as on the best."""
    pool = empty_nodes(1)
    pool["buffer_kb"] = nodes["buffer_kb"].sum()
    pool["user_memory_kb"] = nodes["user_memory_kb"].sum()
    pool["memory_kb"] = nodes["user_memory_kb"].max()
    for name in (
        "seek_ns",
        "ns_per_kb",
        "fault_ns",
        "fault_seek_ns",
        "fault_rate_per_ms",
        "fault_ratio_cap",
        "overflow_only",
        "by_oversize",
    ):
        pool[name] = nodes[name].min()
    pool["speed"] = nodes["speed"].max()
    pool["draws_seeks"] = nodes["draws_seeks"].max()
    pool["cores"] = 0
    pool["channels"] = nodes["channels"].sum()
    return pool


class PooledState(EngineState):
    """Nodes that have put everything together, live tasks and finished ones.

    `nodes` are what was pooled: jobs are submitted there, nothing runs there.

    Raises InputError: more work than 64 bits of nanoseconds hold.
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._check_work()
        self._cpus = float((self.nodes["speed"] * self.nodes["cores"]).sum() / self.pool["speed"][0])
        self._stations = Stations(
            sharing=np.zeros(0, np.int64),
            stops=np.zeros(0),
            clock=np.zeros(1),
            serving=np.full(len(self.nodes), NONE),
            ends=np.full(len(self.nodes), NEVER),
            taken=np.zeros(1, np.int64),
        )

    def _check_work(self) -> None:
        """One row books what all nodes do: 64 bits have to hold that. Raises InputError: they do not."""
        jobs, pool = self.jobs, self.pool[0]
        request_ms = (pool["seek_ns"] + jobs["request_kb"] * pool["ns_per_kb"]) / NS_PER_MS
        alone_ms = jobs["cpu_ms"] * (1.0 / pool["speed"] + jobs["io_per_ms"] * request_ms)
        all_ns = float((alone_ms * jobs["tasks"]).sum()) * NS_PER_MS
        if not all_ns <= LONGEST_NS:
            raise InputError(
                f"workload: all work together reaches {all_ns / NS_PER_MS:.3g} ms: a pooled cluster (policy pooled) "
                f"books it as one: allowed is {LONGEST_NS / NS_PER_MS:g}"
            )

    def _serving(self, nodes: Table) -> Table:
        return pool_of(nodes)

    @property
    def pool(self) -> Table:
        """Shape (1,), the row that stands for all nodes."""
        return self.tables.nodes

    def measure(
        self, now_ns: int, loads: Table, first: int = 0, last: int | None = None, counts_effective: bool = True,
        truly: bool = False,
    ) -> None:  # fmt: skip
        """Each node's part of the pool's load, the same for all; CPU received since a task's last event is left out."""
        whole, pool = np.zeros(1, LOAD), self.pool.copy()
        # Tasks are never short of memory together: no faults by either law.
        in_memory_kb = 0.0
        if pool["by_oversize"][0]:
            in_memory_kb = float(pool["cache_kb"][0])
            pool["buffer_kb"], pool["by_oversize"] = in_memory_kb, 0
        pool["fault_rate_per_ms"] = 0.0
        pool["cores"], pool["channels"] = 1, max(1, pool["channels"][0] // len(self.nodes))
        measure(pool, self.tasks, now_ns, whole, 0, 1, False, counts_effective, truly)
        whole["free_mb"] = np.maximum(0.0, whole["free_mb"] - in_memory_kb / 1000.0)
        parts = {DEALT: len(self.nodes), ALIKE: 1, PER_CORE: self.nodes["cores"].sum()}
        for index in LOAD_INDICES:
            loads[index.name][first:last] = whole[index.name][0] / parts[index.pooled]

    def busy_ns(self, now_ns: int) -> tuple[Integers, Integers]:
        """CPU of all cores, and time with a request in the disk's device, of each node until now, all alike, shape
        (nodes,) [ns]."""
        pool, count = self.pool[0], int(self.pool["ready_count"][0])
        share = min(1.0, self._cpus / max(1, count))
        reading = self._stations.clock[0] + (now_ns - int(pool["leg_ns"])) * share
        planned = self.tasks["service_ns"][self._stations.sharing[:count]]
        unbooked = np.clip(reading - (self._stations.stops[:count] - planned), 0, planned).sum()
        busy = min(len(self.nodes), int(self._stations.taken[0]))
        disk = int(pool["disk_busy_ns"]) + busy * (now_ns - int(pool["device_mark_ns"]))
        return self._dealt(int(pool["cpu_busy_ns"]) + int(unbooked)), self._dealt(disk)

    def in_device_ns(self, now_ns: int) -> Integers:
        """Sum over the requests of the time that each was in a device, dealt out to the nodes, shape (nodes,) [ns]."""
        pool = self.pool[0]
        more = int(self._stations.taken[0]) * (now_ns - int(pool["device_mark_ns"]))
        return self._dealt(int(pool["in_device_ns"]) + more)

    def _dealt(self, total_ns: int) -> Integers:
        shares = np.full(len(self.nodes), total_ns // len(self.nodes))
        shares[0] += total_ns % len(self.nodes)
        return shares

    def _make_room(self, count: int) -> None:
        super()._make_room(count)
        old = self._stations
        more = len(self.tasks) - len(old.sharing)
        if more > 0:
            sharing = np.concatenate([old.sharing, np.zeros(more, np.int64)])
            self._stations = old._replace(sharing=sharing, stops=np.concatenate([old.stops, np.zeros(more)]))

    def _advance(self, end_ns: int, until_records: int) -> int:
        return advance_pool(self.tables, self._stations, self._cpus, self.slice_ns, end_ns, until_records)
