"""MLB: memory-based load balancing. IOLB Fig. 1, lines 9-20 (IOLB 4.2, Theorem 8)."""

from __future__ import annotations

from cluster_abm.policies.clb import CpuLoadBalancing
from cluster_abm.policy.base import Decision
from cluster_abm.policy.estimates import CLOSED, response_on
from cluster_abm.policy.view import ArrivingTask, View


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
