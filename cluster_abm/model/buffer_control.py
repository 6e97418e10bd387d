"""Feedback control of the I/O buffer's size: each node by what its own disk was busy with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cluster_abm.clock import Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import NEVER
from cluster_abm.formulas import controlled_growth_kb
from cluster_abm.interconnect.units import whole_ns
from cluster_abm.model.availability import Availability
from cluster_abm.scenario.cluster import BufferControl


class BufferController:
    """Once a period every node that is up lets its buffer grow into free memory, or gives memory back to programs.

    It knows of its own node what a kernel does: how long the disk served page faults and everything else since it
    looked last, and how much memory is free. The isolated time of a task stays that with the buffer as it was set up.

    Args:
        changed: called when buffers have changed: the hardware that load managers know is another.
        is_on: whether there is any control.
    """

    def __init__(
        self,
        engine: EngineState,
        clock: Clock,
        availability: Availability,
        settings: BufferControl,
        changed: Callable[[], None],
        is_on: bool,
    ) -> None:
        self._engine, self._clock, self._availability = engine, clock, availability
        self._gain, self._changed = settings.gain, changed
        self._period_ns = whole_ns(settings.period_ms)
        self.due_ns = clock.boundary_from(self._period_ns) if is_on else NEVER
        self._looked_ns = 0
        self._busy_ns = np.zeros(len(engine.nodes), np.int64)
        self._faults = np.zeros(len(engine.nodes), np.int64)

    def act(self) -> None:
        """When the period has come, change the buffers."""
        now_ns = self._clock.now_ns
        if now_ns < self.due_ns:
            return
        nodes, since_ns = self._engine.nodes, now_ns - self._looked_ns
        busy_ns, faults = self._engine.busy_ns(now_ns)[1], nodes["faults"].copy()
        served_ns = busy_ns - self._busy_ns
        # Faults that were asked for and have not been served yet are time to come, which counts as well.
        fault_ns = (faults - self._faults) * (nodes["fault_ns"] - nodes["fault_saved_ns"])
        fault_shares = np.minimum(1.0, fault_ns / since_ns)
        miss_shares = np.clip((served_ns - fault_ns) / since_ns, 0.0, 1.0)
        free_kb = np.maximum(0, nodes["user_memory_kb"] - nodes["demand_kb"] - nodes["transit_kb"])
        changed = False
        for node in np.flatnonzero(self._availability.up).tolist():
            wanted_kb = controlled_growth_kb(
                float(nodes["buffer_kb"][node]), float(free_kb[node]), float(miss_shares[node]),
                float(fault_shares[node]), self._gain,
            )  # fmt: skip
            # A KB at least is left to programs.
            more_kb = round(min(wanted_kb, float(nodes["user_memory_kb"][node]) - 1.0))
            # Whole KB, and no more than the buffer has.
            more_kb = max(more_kb, -int(nodes["buffer_kb"][node]))
            if more_kb != 0:
                self._engine.grow_buffer(node, more_kb, now_ns)
                changed = True
        if changed:
            self._changed()
        self._busy_ns, self._faults, self._looked_ns = busy_ns.copy(), faults, now_ns
        self.due_ns = self._clock.boundary_from(self.due_ns + self._period_ns)
