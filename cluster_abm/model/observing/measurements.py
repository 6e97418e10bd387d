"""Loads and busy times of all nodes, measured while a run goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from cluster_abm import large_tables
from cluster_abm.arrays import Integers
from cluster_abm.clock import NS_PER_MS, Clock, whole_ns
from cluster_abm.columns import columns_of, joined
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import LOAD, Table
from cluster_abm.errors import InputError
from cluster_abm.large_tables import blocks, forget_pages, mapping_of
from cluster_abm.model.knowing.averages import NAMES as AVERAGES
from cluster_abm.model.part import part

# Rows of the nodes' table that are kept, of about 300 bytes each.
MOST_ROWS = 1_000_000
# Measurements that are kept at least: where rows of tasks are kept too, and where they are not.
FEWEST_KEPT, FEWEST_BESIDE_SUMMARY = 500, 10


class Measured(NamedTuple):
    """One measurement of all nodes."""

    at_ns: int  # when [ns]
    loads: Table  # shape (nodes,), tables.LOAD_FIELDS
    # cpu_ns, disk_ns: CPU and disk time given by each until then, shape (nodes,) each [ns]
    cpu_ns: Integers
    disk_ns: Integers


@part
class Measurements:
    """Loads and busy times of all nodes, every measuring period and at the end.

    A long run is measured more coarsely: when a million rows are kept, every second measurement is dropped and the
    period doubled, so that what is kept stays within bounds and evenly spaced.

    Attributes:
        cores: of all nodes.
    """

    engine: EngineState
    clock: Clock
    period_ms: float
    has_averages: bool
    keeps_rows: bool  # whether rows of tasks are kept too

    def __post_init__(self) -> None:
        self.cores = int(self.engine.nodes["cores"].sum())
        self._period_ns = whole_ns(self.period_ms)
        self._rows: list[Measured] = []
        self._room = _Room(len(self.engine.nodes))
        self._is_newest_true = False
        fewest_kept = FEWEST_KEPT if self.keeps_rows else FEWEST_BESIDE_SUMMARY
        self._most_kept = max(fewest_kept, MOST_ROWS // len(self.engine.nodes)) // 2 * 2
        self.due_ns = self.clock.boundary_from(self._period_ns)

    def observe(self, is_last: bool) -> bool:
        """Measure when the period has come, and once at the end; whether it was measured."""
        now_ns = self.clock.now_ns
        if now_ns < self.due_ns and not is_last:
            return False
        if self._rows and self._rows[-1].at_ns == now_ns:
            return False
        while self.due_ns <= now_ns:
            self.due_ns = self.clock.boundary_from(self.due_ns + self._period_ns)
        loads = self._room.take()
        self.engine.measure(now_ns, loads, truly=True)
        self._rows.append(Measured(now_ns, loads, *self.engine.busy_ns(now_ns)))
        forget_pages(loads)
        if len(self._rows) >= self._most_kept:
            for row in self._rows[::2]:
                self._room.give_back(row.loads)
            self._rows = self._rows[1::2]
            self._period_ns *= 2
            self.due_ns = self.clock.boundary_from(self._rows[-1].at_ns + self._period_ns)
        return True

    @contextmanager
    def held(self) -> Iterator[None]:
        """In the block nothing happens to any node: what was measured last is true, and not measured again."""
        self._is_newest_true = True
        try:
            yield
        finally:
            self._is_newest_true = False

    @property
    def is_newest_true(self) -> bool:
        """Whether what was measured last is what there is now (`held`)."""
        return self._is_newest_true

    def loads(self) -> Table:
        """The loads of all nodes now, shape (nodes,); to be read only."""
        if self._is_newest_true:
            return self._rows[-1].loads
        loads = self.engine.empty_loads()
        self.engine.measure(self.clock.now_ns, loads, truly=True)
        return loads

    def busy_ns(self) -> tuple[Integers, Integers]:
        """CPU and disk time given by each node until now, shape (nodes,) each [ns]; to be read only."""
        if self._is_newest_true:
            return self._rows[-1].cpu_ns, self._rows[-1].disk_ns
        return self.engine.busy_ns(self.clock.now_ns)

    @property
    def rows(self) -> int:
        """How many rows the frame of all has."""
        return len(self._rows) * len(self.engine.nodes)

    def columns(self) -> dict[str, np.ndarray]:
        """All of them as columns: at_ns, node, each load index, cpu_ns, disk_ns (time given until then)."""
        count, times = len(self.engine.nodes), [row.at_ns for row in self._rows]
        loads = columns_of([joined([row.loads for row in self._rows], LOAD)], LOAD)
        busy = {f"{device}_ns": [getattr(row, f"{device}_ns") for row in self._rows] for device in ("cpu", "disk")}
        return {
            "at_ns": np.repeat(np.array(times, np.int64), count),
            "node": np.tile(np.arange(count, dtype=np.int32), len(times)),
            **loads,
            **{name: np.concatenate(rows) if rows else np.zeros(0, np.int64) for name, rows in busy.items()},
        }

    def pieces(self) -> Iterator[pd.DataFrame]:
        """`frame` in pieces of large_tables.ROWS_AT_ONCE rows; an empty one if nothing has been measured."""
        for piece in [*blocks(self.rows)] or [slice(0, 0)]:
            yield self._part(piece.start, piece.stop)

    def frame(self, columns: Sequence[str] = ()) -> pd.DataFrame:
        """Columns time_ms, node, tasks, memory_mb, load_<index>..., cpu_busy_ms, disk_busy_ms (busy since 0).

        Averages have columns only under a policy for which they are taken.

        Args:
            columns: only these; none: all of them.
        """
        return self._part(0, self.rows, columns)

    def _part(self, first: int, last: int, columns: Sequence[str] = ()) -> pd.DataFrame:
        """The rows of the frame from the `first`-th to the one before the `last`-th."""
        count = len(self.engine.nodes)
        begin = first // count
        rows = self._rows[begin : -(-last // count)]
        inside = slice(first - begin * count, last - begin * count)

        def joined(values: list[np.ndarray]) -> np.ndarray:
            return np.concatenate(values)[inside] if values else np.zeros(0)

        # Column by column: of those that are not asked for none is made.
        makers: dict[str, Callable[[], np.ndarray]] = {
            "time_ms": lambda: np.repeat([row.at_ns / NS_PER_MS for row in rows], count)[inside],
            "node": lambda: np.tile(np.arange(count), len(rows))[inside],
        }
        for name in LOAD.names or ():
            if self.has_averages or name not in AVERAGES:
                plain = name in ("tasks", "memory_mb", "cpu_queue", "faults_per_ms")
                makers[name if plain else f"load_{name}"] = partial(self._load, rows, name, joined)
        makers["cpu_busy_ms"] = lambda: joined([row.cpu_ns for row in rows]) / NS_PER_MS
        makers["disk_busy_ms"] = lambda: joined([row.disk_ns for row in rows]) / NS_PER_MS
        return pd.DataFrame({name: make() for name, make in makers.items() if not columns or name in columns})

    def _load(self, rows: list[Measured], name: str, joined: Callable[[list[np.ndarray]], np.ndarray]) -> np.ndarray:
        values = []
        for _, loads, *_ in rows:
            values.append(loads[name])
            if mapping_of(loads) is not None:
                values[-1] = values[-1].copy()
                forget_pages(loads)
        return joined(values)


class _Room:
    """Room for the loads of all nodes at many times: above MOST_IN_MEMORY bytes in temporary files.

    Args:
        nodes: how many.
    """

    def __init__(self, nodes: int) -> None:
        self._nodes, self._rows = nodes, 0
        self._free: list[Table] = []
        # Rows that were never used begin with the `_used`-th of these.
        self._new, self._used = np.zeros(0, LOAD), 0

    def take(self) -> Table:
        """A table of loads, shape (nodes,), that may have been used before."""
        if self._free:
            return self._free.pop()
        if self._used == len(self._new):
            # Ever larger, so that there are few files.
            self._new, self._used = self._make(max(self._nodes, self._rows)), 0
        first, self._used = self._used, self._used + self._nodes
        return self._new[first : self._used]

    def give_back(self, loads: Table) -> None:
        """A table is not needed any more."""
        self._free.append(loads)

    def _make(self, rows: int) -> Table:
        self._rows += rows
        # What a run has found is not to be lost for a full disk: then it stays in memory.
        with suppress(InputError):
            if self._rows * LOAD.itemsize > large_tables.MOST_IN_MEMORY:
                return large_tables.zeros(rows, LOAD, "loads of nodes", in_memory=False)
        return np.zeros(rows, LOAD)
