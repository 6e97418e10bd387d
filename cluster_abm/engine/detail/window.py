"""A window of a run in which nodes live from event to event."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from cluster_abm.arrays import Integers
from cluster_abm.engine.advance import advance, end_slice
from cluster_abm.engine.detail.looking import HAS_DISK, HAS_PAGE, NOTE, SEEN, serve_and_look
from cluster_abm.engine.growing import GrowingTables
from cluster_abm.engine.tables import AT_DISK, NONE, RECORDS, Table, Tables
from cluster_abm.jit import entry, native_address

# Notes made room for at once.
_AT_ONCE = 1 << 16


class DetailedWindow:
    """Serves nodes in the place of `advance`, with the same results, and notes what each task does when.

    Args:
        engine: the tables.
        now_ns: the slice boundary that the run has reached [ns].
    """

    def __init__(self, engine: GrowingTables, now_ns: int) -> None:
        self._engine, self._now_ns = engine, now_ns
        self._seen = np.zeros(0, SEEN)
        self._notes: list[Table] = []
        self._counts = np.zeros(3, np.int64)
        self._room = np.zeros(_AT_ONCE, NOTE)
        self._address = native_address(advance, engine.tables, 0, 0, 0, 0, 0)

    def notes(self) -> Table:
        """What has been noted (looking.NOTE); of each task in the order in which it was.

        Of a request that is still in a device there is a last note now: of any other one it is known when it ended, by
        when its task left the node.
        """
        tasks, seen = self._engine.tasks[: len(self._seen)], self._seen
        is_there = (tasks["state"] == AT_DISK) & (tasks["task"] == seen["task"]) & (tasks["node"] == seen["node"])
        seen = seen[is_there & np.isin(seen["doing"], (HAS_DISK, HAS_PAGE))]
        last = np.zeros(len(seen), NOTE)
        for name in ("task", "node", "doing", "found_ns", "bus_ns"):
            last[name] = seen[name]
        last["at_ns"] = self._now_ns
        return np.concatenate([*self._notes, self._room[: self._counts[0]], last])

    def advance(self, end_ns: int, until_records: int) -> int:
        """Serve all nodes as advance.advance does; the boundary reached [ns]."""
        engine = self._engine
        while self._now_ns < end_ns:
            boundary_ns = min(end_ns, (self._now_ns // engine.slice_ns + 1) * engine.slice_ns)
            self._serve(boundary_ns)
            end_slice(engine.tables, engine.slice_ns, boundary_ns, True)
            self._now_ns = boundary_ns
            if engine.counters[RECORDS] >= until_records:
                break
        return self._now_ns

    def _serve(self, end_ns: int) -> None:
        tables = self._engine.tables
        if len(self._seen) < len(tables.tasks):
            more = np.zeros(len(tables.tasks) - len(self._seen), SEEN)
            more["task"] = NONE
            self._seen = np.concatenate([self._seen, more])
        while not self._compiled(tables, self._seen, self._room, self._counts, self._now_ns, end_ns, self._address):
            # Room for the notes of one look at a node, whatever its tasks.
            self._notes.append(self._room[: self._counts[0]].copy())
            self._room = np.zeros(max(_AT_ONCE, 2 * len(tables.tasks)), NOTE)
            self._counts[0] = 0

    @cached_property
    def _compiled(self) -> Callable[[Tables, Table, Table, Integers, int, int, int], bool]:
        return entry(serve_and_look, self._engine.tables, self._seen, self._room, self._counts, 0, 0, 0)
