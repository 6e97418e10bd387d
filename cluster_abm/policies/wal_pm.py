"""WAL-PM: weighted average load, preemptive migration (WAL-PM, section 4, Fig. 1)."""

from __future__ import annotations

from cluster_abm.policy.indices import Preemptive, WeightedIndex


class WeightedPreemptiveMigration(Preemptive, WeightedIndex):
    """From an overloaded node the task migrates that moves most I/O load per cost; nodes are compared by weighted load.

    Fig. 1, asked when job j arrives at node i; load is the weighted
    average (9), (17): W_CPU load_CPU + W_MEM load_MEM + W_IO load_IO.

    1. Job j is assigned to node i, and its load added to that of i.
    2. If node i is overloaded, its load being the largest of all, a migration is sought.
    3. The candidate k is the node of smallest load, which must be below the mean of all; else there is none.
    4. EM(i, k) are the jobs on i that gain more than they cost, r(i, j) > r(k, j) + c_j (5); the new job among them.
    5. The job of EM with the largest benefit migrates to k: MCE(j) = a_j lambda_j / c_j (8), the I/O load moved per
       cost. One job migrates per arrival.

    r is the expected response time ((1)-(4), or `estimator`), c_j the cost (6): of a running job f + m_j/b_net +
    (d_INIT + d_W)(1/b_net + 2/b_disk), of the new one e + d_INIT(1/b_net + 2/b_disk).
    """

    name = "wal-pm"
    source = "WAL-PM, section 4, Fig. 1"
    summary = "from an overloaded node the task migrates that moves most I/O load per cost, by weighted load"

    class Parameters(WeightedIndex.Parameters, Preemptive.Parameters):
        """Weights, estimator and effectiveness."""

    parameters: Parameters
