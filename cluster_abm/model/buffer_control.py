"""Feedback control of the I/O buffer's size: each node by what its own disk was busy with."""

from __future__ import annotations

import numpy as np

from cluster_abm.clock import Clock, whole_ns
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import NEVER
from cluster_abm.formulas import controlled_growth_kb
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.part import part
from cluster_abm.scenario.cluster import BufferControl


@part
class BufferController:
    """Once a period every node that is up lets its buffer grow into free memory, or gives memory back to programs.

    It knows of its own node what a kernel does: how long the disk served page faults and everything else since it
    looked last, and how much memory is free. Load managers go by the buffer as it was set up, and by what nodes report
    of page faults and free memory; and so does the isolated time of a task.
    """

    engine: EngineState
    clock: Clock
    availability: Availability
    settings: BufferControl
    is_on: bool  # whether there is any control

    def __post_init__(self) -> None:
        self._gain = self.settings.gain
        self._period_ns = whole_ns(self.settings.period_ms)
        self.due_ns = self.clock.boundary_from(self._period_ns) if self.is_on else NEVER
        self._looked_ns = 0
        self._busy_ns = np.zeros(len(self.engine.nodes))
        self._faults = np.zeros(len(self.engine.nodes), np.int64)

    def act(self) -> None:
        """When the period has come, change the buffers."""
        now_ns = self.clock.now_ns
        if now_ns < self.due_ns:
            return
        nodes, since_ns = self.engine.nodes, now_ns - self._looked_ns
        # Where the device takes several requests at once its time is shared among its channels.
        busy_ns, faults = self.engine.in_device_ns(now_ns) / nodes["channels"], nodes["faults"].copy()
        # Faults that were asked for and have not been served yet are time to come, which counts as well.
        fault_ns = (faults - self._faults) * nodes["fault_ns"] / nodes["channels"]
        fault_shares = np.minimum(1.0, fault_ns / since_ns)
        # What is left are accesses, and now and then data that a task brings or takes along.
        miss_shares = np.clip((busy_ns - self._busy_ns - fault_ns) / since_ns, 0.0, 1.0)
        free_kb = np.maximum(0, nodes["user_memory_kb"] - nodes["demand_kb"] - nodes["transit_kb"])
        wanted_kb = controlled_growth_kb(
            nodes["buffer_kb"].astype(float), free_kb.astype(float), miss_shares, fault_shares, self._gain
        )
        # A KB at least is left to programs, and no part of a KB is taken from a buffer that has none.
        more_kb = np.trunc(np.minimum(wanted_kb, nodes["user_memory_kb"] - 1.0)).astype(np.int64)
        self.engine.grow_buffers(np.where(self.availability.up, more_kb, 0), now_ns)
        self._busy_ns, self._faults, self._looked_ns = busy_ns, faults, now_ns
        self.due_ns = self.clock.boundary_from(self.due_ns + self._period_ns)
