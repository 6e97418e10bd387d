"""IOCM-PM: IOCM-RE, and all eligible tasks of an overloaded node migrate (IOCM, section 4.1)."""

from __future__ import annotations

from pydantic import Field, StrictBool

from cluster_abm.policies.iocm_re import IoCpuMemoryRemoteExecution
from cluster_abm.policy.base import Decision
from cluster_abm.policy.indices import Preemptive
from cluster_abm.policy.view import ArrivingTask, View


class IoCpuMemoryPreemptiveMigration(IoCpuMemoryRemoteExecution, Preemptive):
    """A job's tasks are placed as by `iocm-re`; then, if home is still overloaded, running tasks migrate.

    Home i is overloaded if its load, by the resource that `iocm-re` balances, is the largest. Its eligible tasks are
    EM(i, k) = {j on i: r(i, j) > r(k, j) + c_j(i, k)}, IOCM (2), k being the node of least load. All of them migrate,
    one after another, each of which changes the loads (`migrates_all`), or until home is not the most loaded any more.
    c_j is (3): f + m_j/b_net + (d_INIT + d_W)(1/b_net + 1/b_disk(i) + 1/b_disk(k)).
    """

    name = "iocm-pm"
    source = "IOCM, section 4.1"
    summary = "iocm-re; then, while home is overloaded, every task that gains more than it costs migrates"
    rules = (("EM", "home is overloaded and the task gains more than it costs", "IOCM 4.1; WAL-PM (5)"),)
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
