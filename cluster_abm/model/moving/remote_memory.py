"""Remote memory: pages that overflow a node's memory are kept in memory that other nodes leave free."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cluster_abm.arrays import Floats, Integers
from cluster_abm.clock import NS_PER_MS, Clock, whole_ns
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import NEVER
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.moving.routing import LiveNetwork
from cluster_abm.model.part import part
from cluster_abm.scenario.cluster import Cluster

# Of one node: what it keeps where, (holder, KB).
Held = list[tuple[int, int]]


class HeldByOthers(NamedTuple):
    """Where the overflow of all nodes lies, as compiled code reads it."""

    held_first: Integers  # where that of each node begins, shape (nodes + 1,)
    held_by: Integers  # the holders, shape (pieces,)
    held_mb: Floats  # how much each of them keeps, shape (pieces,) [MB]


@part
class RemoteMemory:
    """Where each node's overflowing pages lie, as of the last exchange period; off, nowhere (`cluster.remote_memory`).

    A fault is served from where the page is: from another node in the time of a page over the network (twice the
    latency, no seek), else from the own disk. The engine knows one service time of a node's faults, their mean over
    where its overflow lies; they take their turn in the disk's queue wherever they are served from.

    Attributes:
        held: where the overflow of all nodes lies.
    """

    engine: EngineState
    clock: Clock
    live: LiveNetwork
    availability: Availability
    settings: Cluster
    is_on: bool

    def __post_init__(self) -> None:
        self._page_mb = self.settings.page_kb / 1000.0
        self._period_ns = whole_ns(self.settings.exchange_period_ms)
        self.due_ns = self.clock.boundary_from(self._period_ns) if self.is_on else NEVER
        self._held: dict[int, Held] = {}
        self.held = self._as_table()

    def act(self) -> None:
        """When the period has come, all overflow finds its place anew, and faults their service time."""
        if self.clock.now_ns < self.due_ns:
            return
        self.due_ns = self.clock.boundary_from(self.due_ns + self._period_ns)
        nodes = self.engine.nodes
        room_kb = nodes["user_memory_kb"] - nodes["demand_kb"]
        # What a node's I/O buffer uses, or tasks on their way will, is not free.
        cached_kb = np.where(nodes["by_oversize"] != 0, np.ceil(nodes["cache_kb"]), 0).astype(np.int64)
        free_kb = np.maximum(0, room_kb - nodes["transit_kb"] - cached_kb)
        overflow_kb = np.maximum(0, -room_kb)
        self._held = allocate(overflow_kb, free_kb, self._faults_from)
        self.held = self._as_table()
        saved_ns, elsewhere = np.zeros(len(nodes), np.int64), np.zeros(len(nodes))
        for node, held in self._held.items():
            disk_ns, times_ms = float(nodes["fault_ns"][node]), self._page_ms(node)
            saved = sum(kb * (disk_ns - times_ms[holder] * NS_PER_MS) for holder, kb in held)
            # At least a nanosecond is left.
            saved_ns[node] = min(int(saved / overflow_kb[node]), int(disk_ns) - 1)
            elsewhere[node] = sum(kb for _, kb in held) / overflow_kb[node]
        self.engine.shorten_faults(saved_ns, elsewhere)

    def held_by_others_mb(self, node: int) -> Floats:
        """What each node keeps of a node's overflow, shape (nodes,) [MB]."""
        held_mb = np.zeros(len(self.engine.nodes))
        for holder, kb in self._held.get(node, ()):
            held_mb[holder] = kb / 1000.0
        return held_mb

    def _as_table(self) -> HeldByOthers:
        pieces = [piece for node in range(len(self.engine.nodes)) for piece in self._held.get(node, ())]
        counts = [len(self._held.get(node, ())) for node in range(len(self.engine.nodes))]
        return HeldByOthers(
            np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]),
            np.array([holder for holder, _ in pieces], np.int64),
            np.array([kb / 1000.0 for _, kb in pieces]),
        )

    def _page_ms(self, node: int) -> Floats:
        """Time of a fault served by each other node, shape (nodes,) [ms]."""
        mb_per_s, latency_ms = self.live.network.routes_from(node)
        with np.errstate(divide="ignore"):
            return np.asarray(1000.0 * self._page_mb / mb_per_s + 2.0 * latency_ms)

    def _faults_from(self, node: int) -> npt.NDArray[np.bool_]:
        """From which nodes a fault is served sooner than from the own disk, shape (nodes,)."""
        sooner = self._page_ms(node) * NS_PER_MS < self.engine.nodes["fault_ns"][node]
        sooner[node] = False
        sooner &= self.availability.up
        return np.asarray(sooner)


def allocate(
    overflow_kb: Integers, free_kb: Integers, can_hold: Callable[[int], npt.NDArray[np.bool_]]
) -> dict[int, Held]:
    """Where each node's overflowing pages lie: with the node that has most memory free, then with the next one.

    The largest overflow is placed first, of equal ones the lower node's; of equally free nodes the lower one comes
    first. What finds no room stays on the own disk.

    Args:
        overflow_kb, free_kb: of each node, shape (nodes,) each; no node has both.
        can_hold: which nodes may hold pages of a node, shape (nodes,).

    Returns:
        by overflowing node, the holders and how much each holds, in order; nodes without help are left out.
    """
    free_kb = free_kb.copy()
    holders: dict[int, Held] = {}
    for node in np.lexsort((np.arange(len(overflow_kb)), -overflow_kb)).tolist():
        wanted_kb = int(overflow_kb[node])
        if wanted_kb == 0:
            break
        offered_kb = np.where(can_hold(node), free_kb, 0)
        for holder in np.argsort(-offered_kb, kind="stable").tolist():
            given_kb = min(wanted_kb, int(offered_kb[holder]))
            if given_kb == 0:
                break
            holders.setdefault(node, []).append((holder, given_kb))
            free_kb[holder] -= given_kb
            wanted_kb -= given_kb
    return holders
