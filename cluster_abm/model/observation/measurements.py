"""Loads and busy times of all nodes, measured while a run goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import mesa
import numpy as np
import numpy.typing as npt
import pandas as pd

from cluster_abm.clock import NS_PER_MS, Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import LOAD, Table
from cluster_abm.formulas import load_imbalance_factors
from cluster_abm.interconnect.units import whole_ns
from cluster_abm.model.observation.averages import NAMES as AVERAGES
from cluster_abm.results.metrics import total_ns

Integers = npt.NDArray[np.int64]

# Rows of the nodes' table kept, about 100 bytes each; so many measurements at least.
MOST_ROWS, FEWEST_KEPT = 1_000_000, 500


class Measured(NamedTuple):
    """One measurement of all nodes.

    Attributes:
        at_ns: when [ns].
        loads: shape (nodes,), tables.LOAD_FIELDS.
        cpu_ns, disk_ns: CPU and disk time given by each until then, shape (nodes,) each [ns].
    """

    at_ns: int
    loads: Table
    cpu_ns: Integers
    disk_ns: Integers


class Measurements:
    """Loads and busy times of all nodes, every measuring period and at the end.

    A long run is measured more coarsely: when a million rows are kept, every second measurement is dropped and the
    period doubled, so that what is kept stays within bounds and evenly spaced.
    """

    def __init__(self, engine: EngineState, clock: Clock, period_ms: float, has_averages: bool) -> None:
        self._engine, self._clock, self._has_averages = engine, clock, has_averages
        self._period_ns = whole_ns(period_ms)
        self._rows: list[Measured] = []
        self._is_newest_true = False
        self._most_kept = max(FEWEST_KEPT, MOST_ROWS // len(engine.nodes)) // 2 * 2
        self.due_ns = clock.boundary_from(self._period_ns)

    def observe(self, is_last: bool) -> bool:
        """Measure when the period has come, and once at the end; whether it was measured."""
        now_ns = self._clock.now_ns
        if now_ns < self.due_ns and not is_last:
            return False
        if self._rows and self._rows[-1].at_ns == now_ns:
            return False
        while self.due_ns <= now_ns:
            self.due_ns = self._clock.boundary_from(self.due_ns + self._period_ns)
        self._rows.append(Measured(now_ns, self.loads(), *self.busy_ns()))
        if len(self._rows) >= self._most_kept:
            self._rows = self._rows[1::2]
            self._period_ns *= 2
            self.due_ns = self._clock.boundary_from(self._rows[-1].at_ns + self._period_ns)
        return True

    @contextmanager
    def held(self) -> Iterator[None]:
        """In the block nothing happens to any node: what was measured last is true, and not measured again."""
        self._is_newest_true = True
        try:
            yield
        finally:
            self._is_newest_true = False

    def loads(self) -> Table:
        """The loads of all nodes now, shape (nodes,); to be read only."""
        if self._is_newest_true:
            return self._rows[-1].loads
        loads = self._engine.empty_loads()
        self._engine.measure(self._clock.now_ns, loads)
        return loads

    def busy_ns(self) -> tuple[Integers, Integers]:
        """CPU and disk time given by each node until now, shape (nodes,) each [ns]; to be read only."""
        if self._is_newest_true:
            return self._rows[-1].cpu_ns, self._rows[-1].disk_ns
        return self._engine.busy_ns(self._clock.now_ns)

    def frame(self) -> pd.DataFrame:
        """Columns time_ms, node, tasks, memory_mb, load_<index>..., cpu_busy_ms, disk_busy_ms (busy since 0).

        Averages have columns only under a policy for which they are taken.
        """
        names = list(LOAD.names or ())
        if not self._has_averages:
            names = [name for name in names if name not in AVERAGES]
        count = len(self._engine.nodes)
        columns: dict[str, np.ndarray] = {
            "time_ms": np.repeat([row.at_ns / NS_PER_MS for row in self._rows], count),
            "node": np.tile(np.arange(count), len(self._rows)),
        }
        loads = np.concatenate([row.loads for row in self._rows]) if self._rows else self._engine.empty_loads()[:0]
        for name in names:
            plain = name in ("tasks", "memory_mb", "cpu_queue", "faults_per_ms")
            columns[name if plain else f"load_{name}"] = loads[name]
        empty = np.zeros(0, np.int64)
        columns["cpu_busy_ms"] = np.concatenate([row.cpu_ns for row in self._rows] or [empty]) / NS_PER_MS
        columns["disk_busy_ms"] = np.concatenate([row.disk_ns for row in self._rows] or [empty]) / NS_PER_MS
        return pd.DataFrame(columns)


def default_collector() -> mesa.DataCollector:
    """Model reporters that cost little; put your own DataCollector in `model.datacollector` for more."""
    return mesa.DataCollector(
        model_reporters={
            "now_ms": lambda model: model.now_ms,
            "live_tasks": lambda model: model.engine.live,
            "finished_tasks": lambda model: model.engine.finished,
            "cpu_utilisation": lambda model: _utilisation(model, 0),
            "disk_utilisation": lambda model: _utilisation(model, 1),
            "load_imbalance_factor_ms": load_imbalance_factor_ms,
        }
    )


def load_imbalance_factor_ms(model: Any) -> float:
    """LIF of the cluster of a ClusterModel now [ms]: IOLB (10)."""
    loads = model.parts.measurements.loads()
    return float(sum(load_imbalance_factors(loads["cpu_ms"], loads["page_ms"], loads["io_ms"])))


def _utilisation(model: Any, resource: int) -> float:
    capacity_ns = max(1, model.now_ns * model.setup.cluster.nodes)
    return total_ns(model.parts.measurements.busy_ns()[resource]) / float(capacity_ns)
