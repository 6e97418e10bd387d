"""CM-PM: CPU queue, or memory load while nodes page, preemptive migration (WAL-PM, section 5)."""

from __future__ import annotations

from cluster_abm.policy.indices import CpuMemoryIndex, Preemptive


class CpuMemoryPreemptiveMigration(Preemptive, CpuMemoryIndex):
    """The procedure of `wal-pm` (WAL-PM, Fig. 1), with nodes compared by the CPU queue, or by memory while nodes page.

    Fig. 1, asked when job j arrives at node i; load is the CPU queue
    [tasks], and the memory load (10) [MB] while nodes page.

    1. Job j is assigned to node i, and its load added to that of i.
    2. If node i is overloaded, its load being the largest of all, a migration is sought.
    3. The candidate k is the node of smallest load, which must be below the mean of all; else there is none.
    4. EM(i, k) are the jobs on i that gain more than they cost, r(i, j) > r(k, j) + c_j (5); the new job among them.
    5. The job of EM with the largest benefit migrates to k: MCE(j) = a_j lambda_j / c_j (8), the I/O load moved per
       cost. One job migrates per arrival.

    r is the expected response time ((1)-(4), or `estimator`), c_j the cost (6): of a running job f + m_j/b_net +
    (d_INIT + d_W)(1/b_net + 2/b_disk), of the new one e + d_INIT(1/b_net + 2/b_disk).
    """

    name = "cm-pm"
    source = "WAL-PM, sections 4 and 6"
    summary = "as wal-pm, by CPU queue, or memory load while nodes page"

    class Parameters(CpuMemoryIndex.Parameters, Preemptive.Parameters):
        """Which node's paging counts, estimator and effectiveness."""

    parameters: Parameters
