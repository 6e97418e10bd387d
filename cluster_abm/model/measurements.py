"""What is written down while a run goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mesa
import numpy as np
import pandas as pd

from cluster_abm.engine.tables import NS_PER_MS, Table
from cluster_abm.formulas import load_imbalance_factors
from cluster_abm.model.averages import NAMES as AVERAGES
from cluster_abm.model.setup import nanoseconds

if TYPE_CHECKING:
    from cluster_abm.model.model import ClusterModel


# Rows of the nodes' table kept, about 100 bytes each; so many measurements at least.
MOST_ROWS, FEWEST_KEPT = 1_000_000, 500


class Measurements:
    """Loads and busy times of all nodes, every measuring period and at the end.

    A long run is measured more coarsely: when a million rows are kept, every second measurement is dropped and the
    period doubled, so that what is kept stays within bounds and evenly spaced.
    """

    def __init__(self, model: ClusterModel) -> None:
        self._model = model
        self._period_ns = nanoseconds(model.setup.measure.period_ms)
        self._rows: list[tuple[int, Table, np.ndarray, np.ndarray]] = []
        self._collector: mesa.DataCollector | None = None
        self._most_kept = max(FEWEST_KEPT, MOST_ROWS // model.setup.cluster.nodes) // 2 * 2
        self.due_ns = model._border_from(self._period_ns)

    def default_collector(self) -> mesa.DataCollector:
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

    def observe(self) -> None:
        """When the period has come, and once at the end."""
        now_ns = self._model.now_ns
        if now_ns < self.due_ns and self._model.running:
            return
        if self._rows and self._rows[-1][0] == now_ns:
            return
        while self.due_ns <= now_ns:
            self.due_ns = self._model._border_from(self.due_ns + self._period_ns)
        loads = self._model.engine.empty_loads()
        self._model.engine.measure(now_ns, loads)
        cpu_ns, disk_ns = self._model.busy_ns()
        self._rows.append((now_ns, loads, cpu_ns, disk_ns))
        self._model.datacollector.collect(self._model)
        if len(self._rows) >= self._most_kept:
            self._rows = self._rows[1::2]
            self._period_ns *= 2
            self.due_ns = self._model._border_from(self._rows[-1][0] + self._period_ns)

    def frame(self) -> pd.DataFrame:
        """Columns time_ms, node, tasks, memory_mb, load_<index>..., cpu_busy_ms, disk_busy_ms (busy since 0).

        Averages have columns only under a policy for which they are taken.
        """
        names = list(self._model.engine.empty_loads().dtype.names or ())
        if not self._model.policy.averages:
            names = [name for name in names if name not in AVERAGES]
        count = self._model.setup.cluster.nodes
        columns: dict[str, np.ndarray] = {
            "time_ms": np.repeat([row[0] / NS_PER_MS for row in self._rows], count),
            "node": np.tile(np.arange(count), len(self._rows)),
        }
        loads = np.concatenate([row[1] for row in self._rows]) if self._rows else self._model.engine.empty_loads()[:0]
        for name in names:
            plain = name in ("tasks", "memory_mb", "cpu_queue", "faults_per_ms")
            columns[name if plain else f"load_{name}"] = loads[name]
        empty = np.zeros(0)
        columns["cpu_busy_ms"] = np.concatenate([row[2] for row in self._rows] or [empty]) / NS_PER_MS
        columns["disk_busy_ms"] = np.concatenate([row[3] for row in self._rows] or [empty]) / NS_PER_MS
        return pd.DataFrame(columns)


def load_imbalance_factor_ms(model: ClusterModel) -> float:
    """LIF of the cluster now [ms]: IOLB (10)."""
    loads = model.engine.empty_loads()
    model.engine.measure(model.now_ns, loads)
    return float(sum(load_imbalance_factors(loads["cpu_ms"], loads["page_ms"], loads["io_ms"])))


def _utilisation(model: ClusterModel, resource: int) -> float:
    capacity_ns = max(1, model.now_ns * model.setup.cluster.nodes)
    return float(model.busy_ns()[resource].sum() / capacity_ns)
