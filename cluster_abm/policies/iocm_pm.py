"""IOCM-PM: IOCM-RE, and all eligible tasks of an overloaded node migrate (IOCM, section 4.1)."""

from __future__ import annotations

from cluster_abm.policies.base import Decision
from cluster_abm.policies.indices import Preemptive
from cluster_abm.policies.iocm_re import IoCpuMemoryRemoteExecution
from cluster_abm.policies.view import ArrivingTask, View


class IoCpuMemoryPreemptiveMigration(IoCpuMemoryRemoteExecution, Preemptive):
    """I/O, memory and CPU load, preemptive migration."""

    name = "iocm-pm"
    source = "IOCM, section 4.1"
    summary = "iocm-re; then, while home is overloaded, every task that gains more than it costs migrates"
    migrations_per_arrival = None

    class Parameters(Preemptive.Parameters):
        """Estimator, rates and effectiveness."""

    parameters: Parameters

    def migration(self, task: ArrivingTask, view: View) -> Decision | None:
        """Return the next migration of EM(i, k): asked until home is not overloaded any more or no task gains."""
        column = self.column(view)
        if not view.is_largest_of(column):
            return None
        column = self.with_task(column, task, view)
        target = self.lightest(view, column)
        if target in view.refused or target == view.me or not column[target] < column[view.me]:
            return None
        return self.most_effective(view, target, column, "EM")
