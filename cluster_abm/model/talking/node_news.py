"""What load managers that talk are told of nodes: tasks that end there, failures and repairs."""

from __future__ import annotations

import numpy as np

from cluster_abm.clock import NS_PER_MS, Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.part import part
from cluster_abm.model.talking.mail import Mail
from cluster_abm.model.talking.surroundings import Surroundings
from cluster_abm.model.talking.waiting_tasks import WaitingTasks
from cluster_abm.policies import ArrivingTask
from cluster_abm.policy.talking import Ended


@part
class NodeNews:
    """Notices what has happened to nodes since the last slice, and tells their managers."""

    engine: EngineState
    clock: Clock
    availability: Availability
    mail: Mail
    waiting: WaitingTasks
    surroundings: Surroundings

    def __post_init__(self) -> None:
        self._up, self._head_before = self.availability.up.copy(), self.surroundings.head_node
        self._records_read = 0

    def note_ends(self) -> None:
        """Tell the managers of the nodes on which tasks have ended since the last call."""
        finished = self.engine.finished
        if finished == self._records_read:
            return
        new = self.engine.records[self._records_read : finished]
        self._records_read = finished
        new = new[np.lexsort((new["task"], new["finish_ns"]))]
        here_ns = new["finish_ns"] - new["arrival_ns"] - new["blocked_ns"] - new["migration_ns"]
        of_nodes: dict[int, list[Ended]] = {}
        columns = (new["node"], new["task"], new["job"], here_ns / NS_PER_MS)
        for node, task, job, here_ms in zip(*map(np.ndarray.tolist, columns), strict=True):
            if self.availability.up[node]:
                of_nodes.setdefault(node, []).append(Ended(task, job, here_ms))
        for node, tasks in sorted(of_nodes.items()):
            self.mail.tell(self.clock.now_ns, node, "ended", tuple(tasks))

    def note_failures(self) -> None:
        """Managers of nodes that have failed forget all, and their waiting tasks arrive anew at their homes.

        So does a head node for which another one stands in, because it has failed or drains.
        """
        up = self.availability.up
        if not self.availability.can_change:
            return
        head = self.surroundings.head
        has_other_head = self.waiting.is_central and head != self._head_before
        if np.array_equal(up, self._up) and not has_other_head:
            return
        now_ns = self.clock.now_ns
        failed, back = np.flatnonzero(self._up & ~up).tolist(), np.flatnonzero(up & ~self._up).tolist()
        self._up = up.copy()
        anew: dict[int, list[ArrivingTask]] = {}
        for node in failed:
            for task in (*self._forget(node), *self.mail.node_fails(node, now_ns)):
                anew.setdefault(task.job, []).append(task)
        if has_other_head:
            for task in self._forget(self._head_before):
                anew.setdefault(task.job, []).append(task)
            self._head_before, back = head, np.flatnonzero(up).tolist()
        for node in back:
            self.mail.tell(now_ns, node, "begins")
        self.waiting.lose_home(list(anew.values()))

    def _forget(self, manager: int) -> list[ArrivingTask]:
        """A manager forgets all it knew; the tasks that waited there."""
        held = self.waiting.at[manager]
        tasks = list(held.values())
        held.clear()
        self.surroundings.notes_of(manager).clear()
        return tasks
