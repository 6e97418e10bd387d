"""The machine with most free memory. Compiled: it reads every node, in both forms of a policy."""

from __future__ import annotations

from cluster_abm.arrays import Flags
from cluster_abm.jit import kernel
from cluster_abm.policy.tasks import Loads

NO_NODE = -1


@kernel
def node_of_most_room(tasks: Loads, free_mb: Loads, oversize: Loads, is_open: Flags, me: int, most_tasks: int) -> int:
    """Find the node of largest free memory among the others that have room for a task; NO_NODE if none has.

    Among equals it is the least oversized one, then the next one after `me`, or all would ask the same.

    Args:
        tasks: number of tasks of every node, shape (nodes,).
        free_mb: free memory of every node, shape (nodes,) [MB].
        oversize: oversized memory demand of every node, shape (nodes,), a fraction.
        is_open: nodes that may be asked, shape (nodes,).
        me: the own node.
        most_tasks: a node has room for a task if it has fewer.
    """
    nodes, best = len(tasks), NO_NODE
    for step in range(1, nodes):
        node = (me + step) % nodes
        if not is_open[node] or not tasks[node] < most_tasks:
            continue
        is_larger = best == NO_NODE or free_mb[node] > free_mb[best]
        if is_larger or (free_mb[node] == free_mb[best] and oversize[node] < oversize[best]):
            best = node
    return best
