"""IOLB: I/O-aware load balancing for parallel jobs. Qin, "Performance Comparisons of Load Balancing Algorithms for
I/O-Intensive Workloads on Clusters", Fig. 1, per task; lines 1, 21 and 22 are the load manager's."""

from __future__ import annotations

from cluster_abm.policies.mlb import MemoryLoadBalancing
from cluster_abm.policy.base import Decision
from cluster_abm.policy.estimates import CLOSED, response_on
from cluster_abm.policy.view import ArrivingTask, View


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
