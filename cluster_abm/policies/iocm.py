"""IOCM's policies: they balance I/O, else memory, else CPU; their rivals always balance the same one."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, StrictBool

from cluster_abm.policy.base import Decision
from cluster_abm.policy.parts.estimates import Estimating
from cluster_abm.policy.parts.indices import CpuIndex, Greedy, IndexPolicy, MemoryIndex, Preemptive
from cluster_abm.policy.view import ArrivingTask, Loads, View


class IoCpuMemoryRemoteExecution(Estimating, IndexPolicy):
    """Balances I/O load, else memory load, else CPU load, by a rule that says which of them is looked at.

    1. If home i has I/O load: of the nodes with less of it the one with least, k (least memory load breaks ties); each
       task of the arriving job goes there that gains more than it costs, r(i, j) > r(k, j) + c_j(i, k). c_j is (1): e +
       d_INIT (1/b_net + 1/b_disk(i) + 1/b_disk(k)).
    2. Else, if the memory demand exceeds what is available: the node with least memory load, if below home's.
    3. Else, if home has the longest CPU queue of all: the node with the shortest.

    "When the I/O load of a node is greater than zero" (1) and "if no I/O load is imposed on the node" (2) are read as
    the home node's own I/O load, page faults included (WAL-PM (11)). So (2) applies where only the arriving task would
    overflow the memory. `io_rule = "imbalance"` reads (3), "if both the disk I/O and memory resources of the node are
    well balanced", for all three: the resource with the largest load imbalance factor of the cluster is balanced. These
    factors are not in this paper: they are from IOLB (2008).
    """

    class Parameters(Estimating.Parameters):
        """Which resource is balanced."""

        io_rule: Literal["home", "imbalance"] = Field(
            "home",
            description="rule (1) applies while the home node has any I/O load, or while I/O has the largest load "
            "imbalance factor (IOLB)",
        )

    parameters: Parameters

    name = "iocm-re"
    source = "IOCM, section 3.2"
    summary = "each task to a node with lighter I/O load if it gains; else by memory while it overflows, else by CPU"
    rules: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("(1) I/O", "the target has a lighter I/O load", "IOCM 3.2 (1)"),
        ("(2) memory", "home's memory overflows and the target has most left", "IOCM 3.2 (2)"),
        ("(3) CPU", "the target's CPU queue is the shortest", "IOCM 3.2 (3)"),
        ("no choice", "", "IOCM 3.2"),
    )

    def resource(self, view: View, pages: bool) -> str:
        """The index to balance: I/O load, memory load (only while the node pages), or CPU queue."""
        if self.parameters.io_rule == "home":
            if view.measured("io_load", view.me) > 0:
                return "io_load"
            return "memory_mb" if pages else "cpu_queue"
        cpu, page, io = view.imbalance
        if io > 0 and io == max(cpu, page, io):
            return "io_load"
        return "memory_mb" if pages and page > cpu else "cpu_queue"

    def index_of(self, view: View) -> str:
        """By the tasks on the node."""
        return self.resource(view, view.measured("faults_per_ms", view.me) > 0)

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """(1) to (3)."""
        index = self.resource(view, view.faults_per_ms(task, view.me) > 0)
        column = view.column(index, task)
        target = self.lightest(view, column)
        here, there = float(column[view.me]), float(column[target])
        if target in view.refused or target == view.me or not there < here:
            return Decision(view.me, "no choice", index, load_here=here, reason="no lighter node")
        if index == "cpu_queue" and not view.is_largest_of(column):  # only from an overloaded node
            return Decision(view.me, "(3) CPU", index, load_here=here, reason="home is not overloaded")
        if index != "io_load":
            rule = "(2) memory" if index == "memory_mb" else "(3) CPU"
            return Decision(target, rule, index, load_here=here, load_there=there)
        response_here = self.response_at_ms(task, view, view.me, False)
        response_there = self.response_at_ms(task, view, target, False)
        cost_ms = view.cost_ms(task, target)
        gains = response_here > response_there + cost_ms  # r(i, j) > r(k, j) + c_j(i, k)
        return Decision(
            target if gains else view.me, "(1) I/O", index, load_here=here, load_there=there,
            response_here_ms=response_here, response_there_ms=response_there, cost_ms=cost_ms,
            reason="" if gains else "no gain in response",
        )  # fmt: skip

    def lightest(self, view: View, column: Loads) -> int:
        """The node of least load; the smallest memory load breaks ties."""
        column = view.open_entries(column)
        memory_mb = view.column("memory_mb")
        return view.least_of(np.where(column == column.min(), memory_mb, np.inf))


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


class CpuBased(Greedy, CpuIndex):
    """The paper's "CPU-based": every task of an arriving job to the node with the shortest CPU queue, home on a tie.

    The queue counts tasks running and waiting for the CPU. Disks and memory are not looked at, and a move's cost is not
    asked.
    """

    name = "cpu-based"
    source = "IOCM, section 3.4"
    summary = "every task to the node with the shortest CPU queue"


class MemoryBased(Greedy, MemoryIndex):
    """The paper's "memory-based": every task of an arriving job to the node with least memory load, home on a tie.

    The load is the sum of the tasks' memory demands [MB]. CPUs and disks are not looked at, and a move's cost is not
    asked.
    """

    name = "memory-based"
    source = "IOCM, section 3.4"
    summary = "every task to the node with least memory load"
