"""IOLB with preemptive migration: what its paper leaves to "a preemptive migration mechanism" (IOLB, section 3.3)."""

from __future__ import annotations

from cluster_abm.formulas import migration_cost_effectiveness, narrows_the_gap
from cluster_abm.policies.iolb import IoLoadBalancing
from cluster_abm.policy.base import Decision
from cluster_abm.policy.estimates import CLOSED, response_on
from cluster_abm.policy.view import ArrivingTask, Candidate, View

# A cost of nothing would make every task equally effective.
LEAST_COST_MS = 1e-9


class IoLoadBalancingWithMigration(IoLoadBalancing):
    """IOLB places an arriving task; then, by the same lines, one task of an overloaded home may migrate.

    The resource is that of lines 3, 9 and 15, of the node's own load now that the task has been placed; the target is
    the node of least load (lines 4, 10, 16). Of the tasks with a load that narrows the gap (lines 6, 12, 18) and an
    expected response that gains more than the migration costs (lines 5, 11, 17 and 7, 13, 19; WAL-PM's EM (5)), the one
    with the largest migration cost-effectiveness, WAL-PM (8), migrates.
    """

    name = "iolb-pm"
    source = "IOLB, section 3.3 (left to integrate), with WAL-PM (5)-(8)"
    summary = "iolb; then, of the tasks of an overloaded home that gain, the one migrates that moves most I/O per cost"
    rules = (("migration", "home is overloaded, this task moves most I/O per cost", "IOLB Fig. 1; WAL-PM (5)-(8)"),)
    migrates = True

    def migration(self, task: ArrivingTask, view: View) -> Decision | None:
        """Lines 3-8, 9-14 or 15-20 for the tasks that are on the node."""
        index = self.overloaded_by(view)
        if index == "":
            return None
        target = view.least(index)
        if target in view.refused or target == view.me:
            return None
        here, there = view.load(index, view.me), view.load(index, target)
        best, best_mce, best_load, best_without, best_cost_ms = -1, -1.0, 0.0, 0.0, 0.0
        for place in range(len(view.candidate_rows)):
            one = view.candidate(place)
            # In these lines load_j is not yet in L_i; the load of a task that is here is.
            own = self.load_by(index, one, view.hardware[view.me], view.measured("faults_per_ms", view.me))
            without = here - view.per_unit(own, index, view.me)
            load = view.per_unit(self.task_load(one, view, index, target), index, target)
            if not narrows_the_gap(load, without, there):
                continue
            cost_ms = view.cost_ms(one, target)
            if self.expected_ms(one, view, view.me, True) > self.expected_ms(one, view, target, False) + cost_ms:
                mce = migration_cost_effectiveness(one.age_ms, one.io_per_ms, max(cost_ms, LEAST_COST_MS))
                if mce > best_mce:
                    best, best_mce, best_load, best_without, best_cost_ms = place, mce, load, without, cost_ms
        if best < 0:
            return None
        leaving = view.candidate(best)
        return Decision(
            target, "migration", index, task_load=best_load, load_here=best_without, load_there=there,
            response_here_ms=self.expected_ms(leaving, view, view.me, True),
            response_there_ms=self.expected_ms(leaving, view, target, False), cost_ms=best_cost_ms, task=leaving,
            mce=best_mce,
        )  # fmt: skip

    def overloaded_by(self, view: View) -> str:
        """The load index of the resource to balance, by which the own node is the most loaded; "" if it is not."""
        lif_cpu, lif_page, lif_io = view.imbalance
        if lif_io > 0.0 and lif_io == max(lif_cpu, lif_page, lif_io) and view.is_largest("io_ms"):  # line 3
            return "io_ms"
        if lif_page > lif_cpu and view.is_largest("page_ms"):  # line 9
            return "page_ms"
        index = "queue_paging" if self.parameters.index == "queue" else "cpu_ms"
        return index if view.is_largest(index) else ""  # line 15

    def expected_ms(self, task: Candidate, view: View, node: int, is_there: bool) -> float:
        """R of a task of the own node [ms], the estimator `closed`; `is_there`: the node's loads include it."""
        return response_on(
            view.loads[node], view.hardware[node], is_there, task.cpu_ms, task.age_ms, task.io_per_ms,
            task.request_kb, task.memory_mb, task.reaccess_rate, CLOSED, False,
        )  # fmt: skip
