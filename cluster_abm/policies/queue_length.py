"""Queue length: the traditional rival of LMIP's load classes."""

from __future__ import annotations

from cluster_abm.policy.indices import CpuIndex, Greedy


class QueueLength(Greedy, CpuIndex):
    """The shortest CPU queue as it is, home on a tie; nothing else counts.

    The queue is the one of this moment, not an average: LMIP averages its own metric only, and has the rival see what
    is on the queue "when collecting information".
    """

    name = "queue-length"
    source = "LMIP, Results and discussion (traditional)"
    summary = "every task to the node with the shortest CPU queue, home on a tie"
