"""BS: a batch system, first come first served, that shares the cluster in space (IOCM, section 3.4)."""

from __future__ import annotations

from cluster_abm.policy.space_sharing import SpaceSharing


class BatchSystem(SpaceSharing):
    """Nodes are partitioned into disjoint sets, and each set runs one job at a time; where nodes have several cores it
    is cores that are partitioned.

    A head node keeps one queue. The job at its head waits until as many nodes (cores) are free as it has tasks (or all
    of them, if it has more); no job overtakes it. It has these to itself until all its tasks have ended. A task that
    loses its node gets a free one, else goes to another node of its job. In the heterogeneous form a job gets the
    fastest of the free ones.
    """

    name = "batch-system"
    source = "IOCM, section 3.4 (BS)"
    summary = "first come first served: each job waits for nodes of its own, one per task; or cores"
