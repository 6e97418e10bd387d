"""Averages of a node's load over the last seconds, for policies that classify nodes by them (LMIP)."""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

from cluster_abm.clock import Clock
from cluster_abm.engine.fields import LOAD_INDICES
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import NEVER
from cluster_abm.model.part import part

# LMIP: "t is set to 5", values are of "a previous one second interval".
SAMPLES, PERIOD_NS = 5, 1_000_000_000
NAMES = tuple(index.name for index in LOAD_INDICES if index.averaged)


@part
class Averages:
    """CPU utilisation [%], tasks at or waiting for a core, per core, and memory utilisation [%] of every node, each the
    mean of the last five one-second samples, or of those there are; 0 before the first.

    Utilisation is the CPU given in the second over what all cores could give; queue and memory are as they are at its
    end. Memory that is not there for programs (kept by the system, or a fixed buffer) is utilised. Under a policy that
    does not need averages (`Policy.averages`) nothing is sampled, and no window is cut for it.
    """

    engine: EngineState
    clock: Clock
    are_taken: bool

    def __post_init__(self) -> None:
        self.due_ns = self.clock.boundary_from(PERIOD_NS) if self.are_taken else NEVER
        self._sampled_ns = 0
        self._busy_ns: npt.NDArray[np.int64] = np.zeros(len(self.engine.nodes), np.int64)
        self._samples: deque[npt.NDArray[np.float64]] = deque(maxlen=SAMPLES)

    def act(self) -> None:
        """When a second is over, take a sample."""
        now_ns = self.clock.now_ns
        if now_ns < self.due_ns:
            return
        nodes = self.engine.nodes
        busy_ns = self.engine.busy_ns(now_ns)[0]
        # The span as a float: with the table's narrow integers, several cores times a second would overflow.
        cpu_percent = 100.0 * (busy_ns - self._busy_ns) / (float(now_ns - self._sampled_ns) * nodes["cores"])
        queue = (nodes["ready_count"] + nodes["running"]) / nodes["cores"]
        used_kb = nodes["demand_kb"] + nodes["memory_kb"] - nodes["user_memory_kb"]
        memory_percent = np.minimum(100.0, 100.0 * used_kb / nodes["memory_kb"])
        self._samples.append(np.array([cpu_percent, queue, memory_percent]))
        self.engine.note_averages(dict(zip(NAMES, np.mean(self._samples, axis=0), strict=True)))
        self._busy_ns, self._sampled_ns = busy_ns, now_ns
        self.due_ns = self.clock.boundary_from(self.due_ns + PERIOD_NS)
