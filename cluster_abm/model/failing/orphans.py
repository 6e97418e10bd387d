"""Orphaned tasks: those that have lost their node, or the node that they came from."""

from __future__ import annotations

from cluster_abm.clock import Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import LOST, NEVER, NONE
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.failing.recovery import Recovery
from cluster_abm.model.moving.transfers import Transfers
from cluster_abm.model.part import part


@part
class Orphans:
    """Finds a node for orphaned tasks, or ends their jobs, as the scenario says.

    Attributes:
        are_lost: whether the jobs of orphaned tasks are lost.
        restarts: how many orphaned tasks were sent to another node.
    """

    engine: EngineState
    clock: Clock
    availability: Availability
    transfers: Transfers
    recovery: Recovery
    are_lost: bool

    def __post_init__(self) -> None:
        self.restarts = 0
        # Rows of the orphaned tasks that wait for any node to accept them.
        self._waiting: set[int] = set()

    def place(self) -> None:
        """Find a node for orphaned tasks: those of failed nodes, those in transit to one, and those in transit whose
        source has failed."""
        engine, now_ns, up = self.engine, self.clock.now_ns, self.availability.up
        slots = engine.rows_in_transit()
        rows = engine.tasks[slots]
        is_background = rows["job"] == NONE
        for slot, node in zip(slots[is_background].tolist(), rows["node"][is_background].tolist(), strict=True):
            # A node's background programs go on with it.
            engine.arrive(slot, now_ns if up[node] else NEVER)
        slots, rows = slots[~is_background], rows[~is_background]
        stranded = slots[~up[rows["node"]] | ~up[rows["origin"]]].tolist()
        for slot in stranded:
            if slot not in self._waiting:
                engine.strand(slot, now_ns)
        self._waiting.update(stranded)
        orphaned = [slot for slot in slots.tolist() if slot in self._waiting]
        if self.are_lost:
            for job in dict.fromkeys(engine.tasks["job"][orphaned].tolist()):
                for task in engine.tasks["task"][slots[engine.tasks["job"][slots] == job]].tolist():
                    self.transfers.cancel(task)
                engine.end_job(job, LOST, now_ns)
        elif self.availability.any_accepting:
            for slot in orphaned:
                self.recovery.recover(slot)
                self.restarts += 1
        else:
            for slot in orphaned:
                # What is under way to a node that is down now would wake it there.
                self.transfers.cancel(int(engine.tasks["task"][slot]))
            return
        self._waiting.clear()
