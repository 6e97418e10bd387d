"""IO-PM: I/O load, preemptive migration (WAL-PM, section 5)."""

from __future__ import annotations

from cluster_abm.policy.indices import IoIndex, Preemptive


class IoPreemptiveMigration(Preemptive, IoIndex):
    """The procedure of `wal-pm` (WAL-PM, Fig. 1), with nodes compared by I/O load alone.

    Fig. 1, asked when job j arrives at node i; load is the I/O load
    (11): page faults, and accesses that miss the buffer [1/ms].

    1. Job j is assigned to node i, and its load added to that of i.
    2. If node i is overloaded, its load being the largest of all, a migration is sought.
    3. The candidate k is the node of smallest load, which must be below the mean of all; else there is none.
    4. EM(i, k) are the jobs on i that gain more than they cost, r(i, j) > r(k, j) + c_j (5); the new job among them.
    5. The job of EM with the largest benefit migrates to k: MCE(j) = a_j lambda_j / c_j (8), the I/O load moved per
       cost. One job migrates per arrival.

    r is the expected response time ((1)-(4), or `estimator`), c_j the cost (6): of a running job f + m_j/b_net +
    (d_INIT + d_W)(1/b_net + 2/b_disk), of the new one e + d_INIT(1/b_net + 2/b_disk).
    """

    name = "io-pm"
    source = "WAL-PM, sections 4 and 6"
    summary = "as wal-pm, by I/O load"

    class Parameters(Preemptive.Parameters, IoIndex.Parameters):
        """I/O load, estimator and effectiveness."""

    parameters: Parameters
