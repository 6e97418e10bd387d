"""IOLB: I/O-aware load balancing for parallel jobs. Qin, "Performance Comparisons of Load Balancing Algorithms for
I/O-Intensive Workloads on Clusters", Fig. 1, per task; lines 1, 21 and 22 are the load manager's.

`clb` is lines 15-20 of Fig. 1, `mlb` lines 9-20, `iolb` all of them. `iolb-net` and `iolb-pm` add what the paper leaves
to future work: network load (section 6) and preemptive migration (section 3.3).
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from cluster_abm.formulas import (
    cpu_response_ms,
    cpu_share,
    disk_work_ms,
    load_imbalance_factor,
    migration_cost_effectiveness,
    narrows_the_gap,
    page_load_ms,
    total,
)
from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.kinds import Migrating
from cluster_abm.policy.parts.estimates import CLOSED, response_on
from cluster_abm.policy.view import ArrivingTask, Candidate, Hardware, View


class CpuLoadBalancing(Policy):
    """Balances the CPU alone: disk and memory count only as far as they keep tasks from the CPU.

    Fig. 1 of IOLB, of which lines 15-20 are left, for a task j that arrives at node i:

    * 15: if node i has the largest CPU load L_CPU, remaining CPU of its tasks [ms],
    * 16: choose the node k with the least;
    * 17: estimate the response time R(k, j) there;
    * 18-19: if the gap narrows, t_j < (t_j + L_i - L_k)/2, which is t_j < L_i - L_k, and the task gains, R(i, j) >
      R(k, j) + e, dispatch it to k;
    * 20: else execute it on i.

    R sees the CPU only: remaining CPU times the expected queue.
    """

    class Parameters(Policy.Parameters):
        """Parameters of CLB, MLB and IOLB."""

        index: Literal["remaining", "queue"] = Field(
            "remaining",
            description="CPU load of lines 15-20: remaining CPU life [ms], or expected CPU queue length [tasks]",
        )

    name = "clb"
    source = "IOLB, section 4.2; Fig. 1 lines 15-20"
    summary = "balances CPU load only"
    rules: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("line 15 (CPU)", "", "IOLB Fig. 1, line 15"),
        ("lines 16-20 (CPU)", "home's CPU is busiest", "IOLB Fig. 1, lines 15-20"),
    )

    parameters: Parameters

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """Lines 15-20."""
        return self.balance_cpu(task, view)

    def balance_cpu(self, task: ArrivingTask, view: View) -> Decision:
        """Lines 15-20, which MLB and IOLB end with."""
        index = "queue_paging" if self.parameters.index == "queue" else "cpu_ms"
        if view.is_largest(index, task):  # line 15
            return self.send_to_least(task, view, index, "lines 16-20 (CPU)")
        return Decision(view.me, "line 15 (CPU)", index, reason="home is not overloaded")

    def task_load(self, task: ArrivingTask, view: View, index: str, node: int) -> float:
        """The arriving task's load on a node by any of the three indices."""
        by_paging = index == "page_ms" or index == "queue_paging"
        return self.load_by(index, task, view.hardware[node], view.faults_per_ms(task, node) if by_paging else 0.0)

    def load_by(self, index: str, task: ArrivingTask, on: Hardware, faults_per_ms: float) -> float:
        """A task's part of an index on a node with `faults_per_ms` at speed 1: IOLB, section 3.3, (5), (11)."""
        if index == "io_ms":
            return task.io_on(on)
        if index == "page_ms":
            fault_ms = disk_work_ms(on.fault_service_ms, on.fault_transfer_ms, on.disk_channels)
            return page_load_ms(faults_per_ms, task.cpu_ms, fault_ms)
        if index == "cpu_ms":
            return task.cpu_on(on) / on.cores
        return cpu_share(task.io_per_ms * on.speed, task.request_on(on), faults_per_ms * on.speed, on.fault_service_ms)

    def response_ms(self, task: ArrivingTask, view: View, node: int) -> float:
        """By the CPU alone: its expected queue there, page faults counted as I/O."""
        on = view.hardware[node]
        return cpu_response_ms(task.cpu_on(on), view.measured("queue_paging", node), on.cores)


class MemoryLoadBalancing(CpuLoadBalancing):
    """Balances page faults first, then the CPU; blind to explicit I/O.

    Fig. 1 of IOLB without its lines 3-8:

    * 9: if the task would fault on node i, LIF_page > LIF_CPU, and node i has the largest page load L_page,
    * 10-14: choose the node k with least L_page; dispatch the task to it if t_page < L_i - L_k and R(i, j) > R(k, j) +
      e, else execute it on i;
    * 15-20: else, if node i has the largest L_CPU, the same with CPU loads, as `clb`.

    A condition of lines 12 or 18 that fails means "execute it on i": the lines after it are not tried. R is IOLB's
    estimate for a task without I/O.
    """

    name = "mlb"
    source = "IOLB, section 4.2; Fig. 1 lines 9-20"
    summary = "balances page faults, else CPU load"
    rules = (("lines 10-14 (memory)", "home pages most", "IOLB Fig. 1, lines 9-14"),)

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """Lines 9-20."""
        lif_cpu, lif_page, _ = view.imbalance
        pages = view.page_ms(task, view.me) > 0
        if pages and lif_page > lif_cpu and view.is_largest("page_ms", task):  # line 9
            return self.send_to_least(task, view, "page_ms", "lines 10-14 (memory)")
        return self.balance_cpu(task, view)  # lines 15-20

    def response_ms(self, task: ArrivingTask, view: View, node: int) -> float:
        """IOLB's estimate with the arriving task's I/O rate taken to be 0 (Theorem 8)."""
        return response_on(
            view.loads[node], view.hardware[node], False, task.cpu_ms, task.age_ms, 0.0, task.request_kb,
            task.memory_mb, task.reaccess_rate, CLOSED, False,
        )  # fmt: skip


class IoLoadBalancing(MemoryLoadBalancing):
    """Balances whichever of disk, memory and CPU is most imbalanced.

    Fig. 1, for each task j that is submitted to node i; L_IO, L_page and L_CPU are the nodes' loads in ms:

    * 3: if the task does I/O, LIF_IO is the largest load imbalance factor, and node i has the largest L_IO,
    * 4-8: choose the node k with least L_IO; dispatch the task to it if the gap narrows, t_IO < (t_IO + L_i - L_k)/2,
      which is t_IO < L_i - L_k, and the task gains, R(i, j) > R(k, j) + e; else execute it on i;
    * 9-14: else, if the task would fault, LIF_page > LIF_CPU, and node i has the largest L_page: the same with page
      loads;
    * 15-20: else, if node i has the largest L_CPU: the same with CPU loads.

    A condition of lines 6, 12 or 18 that fails means "execute it on i": the lines after it are not tried. R, which the
    paper does not define, is the estimate `closed` (settled), and e the fixed cost with what the data takes.
    """

    name = "iolb"
    source = "IOLB, Fig. 1"
    summary = "balances disk I/O, else page faults, else CPU load, by their load imbalance factors"
    rules = (("lines 4-8 (I/O)", "home's disk is busiest", "IOLB Fig. 1, lines 3-8"),)

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """Fig. 1, lines 2-20; a failed line means "local", there is no falling through."""
        io_ms = task.io_on(view.hardware[view.me])
        lif_cpu, lif_page, lif_io = view.imbalance
        if io_ms > 0 and lif_io == max(lif_cpu, lif_page, lif_io) and view.is_largest("io_ms", task):  # line 3
            return self.send_to_least(task, view, "io_ms", "lines 4-8 (I/O)")
        return super().place(task, view)  # else if: lines 9-20

    def response_ms(self, task: ArrivingTask, view: View, node: int) -> float:
        """Lines 2, 5, 11, 17: the estimator `closed`, by CPU, paging and I/O."""
        return response_on(
            view.loads[node], view.hardware[node], False, task.cpu_ms, task.age_ms, task.io_per_ms,
            task.request_kb, task.memory_mb, task.reaccess_rate, CLOSED, False,
        )  # fmt: skip


class IoLoadBalancingOfLinks(IoLoadBalancing):
    """Fig. 1 of IOLB with a fourth load: L_net, what transfers carry from and to a node just now, as time of its link.

    A task takes to another node what is on its home's disk. It waits for the links at both ends, so their L_net is part
    of what the move costs (line 8 and its likes), and of two nodes with the same disk load the one with the idler link
    is the better target: nodes are compared by L + L_net. And where the links are what is most unevenly loaded, the
    home's most of all, a task with data to take along stays: to send it would load that link further. In mode `delay`
    transfers do not hinder each other, L_net is 0, and this is IOLB.
    """

    name = "iolb-net"
    source = "IOLB, section 6 (left to future work)"
    summary = "iolb that counts transfers in progress on the links at both ends among loads and costs"
    rules = (("links", "", "IOLB, section 6"),)
    compares_links = True

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """Stay where the links are the matter; else Fig. 1, lines 2-20."""
        if self.moved_mb(task) > 0.0 and self.links_are_the_matter(view):
            here = view.measured("net_ms", view.me)
            return Decision(view.me, "links", "net_ms", load_here=here, reason="home's link is the most loaded")
        return super().place(task, view)

    def moved_mb(self, task: ArrivingTask) -> float:
        """What an arriving task takes along to another node [MB]."""
        return task.initial_data_mb

    def links_are_the_matter(self, view: View) -> bool:
        """Whether LIF_net is the largest load imbalance factor, and home's link the most loaded one."""
        net_ms = view.of_those_up(view.loads["net_ms"])
        net = total(net_ms)
        if net <= 0.0 or view.measured("net_ms", view.me) < net_ms.max():
            return False
        others = total(view.of_those_up(view.loads["cpu_ms"])) + total(view.of_those_up(view.loads["page_ms"]))
        others += total(view.of_those_up(view.loads["io_ms"]))
        lif_cpu, lif_page, lif_io = view.imbalance
        # The other three are shares of a work that now contains that of the links.
        return load_imbalance_factor(net_ms, net + others) > max(lif_cpu, lif_page, lif_io) * others / (net + others)

    def send_to_least(self, task: ArrivingTask, view: View, index: str, rule: str) -> Decision:
        """Lines 4-8, 10-14, 16-20; a task with data is sent by the loads of disk (or memory, CPU) and link together."""
        if self.moved_mb(task) == 0.0:
            return super().send_to_least(task, view, index, rule)
        target = view.least_of(view.column(index, task) + view.loads["net_ms"])
        waits_ms = 0.0
        if target != view.me:
            waits_ms = max(view.measured("net_ms", view.me), view.measured("net_ms", target))
        return self.send_if_it_gains(task, view, target, index, rule, waits_ms)


# A cost of nothing would make every task equally effective.
LEAST_COST_MS = 1e-9


class IoLoadBalancingWithMigration(IoLoadBalancing, Migrating):
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
