"""IOCM-RE: I/O first, else memory, else CPU, by remote execution (IOCM, section 3.2)."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from cluster_abm.policy.base import Decision
from cluster_abm.policy.estimates import Estimating
from cluster_abm.policy.indices import IndexPolicy
from cluster_abm.policy.view import ArrivingTask, Loads, View


class IoCpuMemoryRemoteExecution(Estimating, IndexPolicy):
    """Balances I/O load, else memory load, else CPU load, by a rule that says which of them is looked at.

    1. I/O load: of the nodes with less I/O load than home i the one with least, k (least memory load breaks ties); each
       task of the arriving job goes there that gains more than it costs, r(i, j) > r(k, j) + c_j(i, k). c_j is (1): e +
       d_INIT (1/b_net + 1/b_disk(i) + 1/b_disk(k)).
    2. Else, if the memory demand exceeds what is available: the node with least memory load, if below home's.
    3. Else, if home has the longest CPU queue of all: the node with the shortest.

    The paper's "when the I/O load of a node is greater than zero" has two readings (settled): the home node's own I/O
    load, page faults included (WAL-PM (11)), so that (2) is reached where only the arriving task would overflow the
    memory; or, since (3) begins "if both the disk I/O and memory resources of the node are well balanced", the resource
    with the largest load imbalance factor of the cluster.
    """

    class Parameters(Estimating.Parameters):
        """Which resource is balanced."""

        io_rule: Literal["imbalance", "home"] = Field(
            "imbalance",
            description="rule (1) holds while I/O has the largest load imbalance factor, or while the home node has "
            "any I/O load",
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
