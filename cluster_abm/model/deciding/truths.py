"""What was true when a load manager decided about another node: of a run that is recorded."""

from __future__ import annotations

import math

import numpy as np

from cluster_abm.arrays import Floats
from cluster_abm.clock import Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import LOAD
from cluster_abm.model.knowing.reports import Reports
from cluster_abm.model.part import part

# The loads that are kept of the deciding node and of the asked one, whatever index the policy compares.
KEPT = ("tasks", "cpu_queue", "memory_mb", "cpu_ms", "page_ms", "io_ms", "io_load")
# A row a decision: when the asked node told what the manager knows of it [ns], -1 if never; then of the deciding node,
# and of the asked one, the index that the policy compared (NaN: it is no load index) and the loads that are kept.
# Of a decision to stay all are NaN.
COLUMNS = ("told_ns", *(f"{side}_{name}" for side in ("here", "there") for name in ("index", *KEPT)))
PLACES = tuple((LOAD.names or ()).index(name) for name in KEPT)
OF_A_NODE = 1 + len(KEPT)


def no_truths() -> Floats:
    """Room for none."""
    return np.zeros((0, len(COLUMNS)))


@part
class Witness:
    """Measures what is true when a load manager decides in Python. Nothing that a manager sees changes by that."""

    engine: EngineState
    clock: Clock
    reports: Reports
    all_is_known: bool

    def __post_init__(self) -> None:
        self._loads = self.engine.empty_loads()

    def row(self, manager: int, target: int, index: str) -> list[float]:
        """The row of a decision about another node (COLUMNS)."""
        now_ns = self.clock.now_ns
        found = [float(now_ns if self.all_is_known else self.reports.told_ns(manager, target))]
        for node in (manager, target):
            self.engine.measure(now_ns, self._loads, node, node + 1, truly=True)
            loads = self._loads[node]
            found.append(float(loads[index]) if index in (LOAD.names or ()) else math.nan)
            found += [float(loads[name]) for name in KEPT]
        return found
