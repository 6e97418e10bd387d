"""Tasks leave a node for another one that has accepted them."""

from __future__ import annotations

from cluster_abm.clock import Clock, whole_ns
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import IN_TRANSIT
from cluster_abm.model.moving.routes_in_use import RoutesInUse
from cluster_abm.model.moving.staging import Staging
from cluster_abm.model.moving.transfers import Transfers
from cluster_abm.model.part import part
from cluster_abm.model.setup import travel_ns
from cluster_abm.policies import ArrivingTask, Candidate
from cluster_abm.scenario.schema import Negotiation


@part
class Departures:
    """Sends tasks to other nodes, and counts them.

    Attributes:
        migrations: running tasks sent, those that have turned back apart.
        remote_executions: tasks that were sent before they had begun, those that have turned back apart.
    """

    engine: EngineState
    clock: Clock
    transfers: Transfers
    routes_in_use: RoutesInUse
    staging: Staging | None
    settings: Negotiation

    def __post_init__(self) -> None:
        self.migrations = 0
        self.remote_executions = 0

    def note_remote_start(self, task: int, source: int, target: int) -> None:
        """Count the start of an arriving task on another node than its home."""
        self.routes_in_use.note(task, source, target)
        self.remote_executions += 1

    def leaves_ns(self, source: int, task: int) -> int:
        """When a task that is sent away now leaves its node [ns]: one that has not entered it yet, when it would."""
        slot = self.engine.slot_of(source, task)
        if slot >= 0 and self.engine.tasks["state"][slot] == IN_TRANSIT:
            return int(self.engine.tasks["enter_ns"][slot])
        return self.clock.now_ns

    def send(self, slot: int, task: Candidate, source: int, target: int, cost_ms: float, asking_ns: int) -> None:
        """Send a task that is on a node, or on its way to its home there, to another node.

        Args:
            slot: its row.
            task: what the load manager knows of it.
            source, target: the nodes.
            cost_ms: what moving it costs [ms].
            asking_ns: how long its manager has asked other nodes [ns].

        Raises InputError: the task would be in transit for more than 31 years.
        """
        now_ns, staging = self.clock.now_ns, self.staging
        self.routes_in_use.note(task.task, source, target)
        transit_ns = travel_ns(cost_ms, task.task, target) + asking_ns
        if staging is not None:
            if not task.running:
                enters_ns = int(self.engine.tasks["enter_ns"][slot])
                transit_ns -= staging.sent_on_ns(task.job, source, enters_ns, now_ns)
            transit_ns += staging.fetch(task.job, target)
        self.engine.migrate(slot, target, transit_ns, now_ns)
        self.share_links(slot, task, source, asking_ns)
        if task.running:
            self.migrations += 1
        else:
            self.remote_executions += 1

    def share_links(self, slot: int, task: ArrivingTask, source: int, asking_ns: int) -> None:
        """Where transfers share the links, what goes along with a task in transit crosses the network with all else."""
        if not self.transfers.is_contended:
            return
        fixed_ms, image_mb, data_mb = 0.0, 0.0, 0.0
        if source != int(self.engine.tasks["node"][slot]):
            fixed_ms = self.settings.migration_ms if task.running else self.settings.remote_execution_ms
            image_mb = task.memory_mb if task.running else 0.0
            data_mb = task.initial_data_mb + (task.written_mb if task.running else 0.0)
        self.transfers.begin(slot, source, asking_ns + whole_ns(fixed_ms), image_mb, data_mb)
