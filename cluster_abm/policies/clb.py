"""CLB: CPU-based load balancing. IOLB Fig. 1, lines 15-20, and nothing else (IOLB 4.2, Theorem 9)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from cluster_abm.formulas import cpu_response_ms, cpu_share, disk_work_ms, page_load_ms
from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.view import ArrivingTask, Hardware, View


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
        """A task's part of an index on a node with so many faults per ms at speed 1: IOLB, section 3.3, (5), (11)."""
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
