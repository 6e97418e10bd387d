"""IOCM-PM: IOCM-RE, and all eligible tasks of an overloaded node migrate (IOCM, section 4.1)."""

from __future__ import annotations

from pydantic import Field, StrictBool

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

    class Parameters(IoCpuMemoryRemoteExecution.Parameters, Preemptive.Parameters):
        """Which resource is balanced, how many tasks go, estimator, rates and effectiveness."""

        migrates_all: StrictBool = Field(
            False,
            description="every eligible task of an overloaded home migrates; false: until home is not the most loaded "
            "node any more",
        )

    parameters: Parameters

    def migration(self, task: ArrivingTask, view: View) -> Decision | None:
        """Return the next migration of EM(i, k), of which each one changes the loads (IOCM, section 4.1).

        It is asked until no task gains, or until home is not overloaded any more.
        """
        column = self.column(view)
        if view.is_largest_of(column):
            view.notes["relieved_for"] = task.task
        elif not (self.parameters.migrates_all and view.notes.get("relieved_for", -1) == task.task):
            return None
        column = self.with_task(column, task, view)
        target = self.lightest(view, column)
        if target in view.refused or target == view.me or not column[target] < column[view.me]:
            return None
        return self.most_effective(view, target, column, "EM")
