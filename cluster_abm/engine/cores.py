"""The cores of a node: which of them stops first, and which is free.

Both are winners of a tournament over the node's cores, in which each match is between two cores or the winners of two
earlier matches: after something has happened on one of c cores, log2 c matches are played again. Match 1 is the final;
match m is between the winners of the matches 2m and 2m + 1; from c on these numbers stand for the cores themselves. A
node of one core plays none.
"""

from __future__ import annotations

from cluster_abm.engine.rows import row_at
from cluster_abm.engine.tables import NEVER, NONE, Row, Table
from cluster_abm.jit import called, inlined, kernel


@inlined
def core_of(node: Row, cores: Table, position: int) -> Row:
    """The row of one of a node's cores."""
    return row_at(cores, node.first_core + position)


@inlined
def decide(node: Row, cores: Table, match: int, changed: int) -> bool:
    """Decide a match. Of two tasks that stop at one instant, that on the core of lower number stops first.

    Returns whether later matches may go otherwise than before, if but one core below this match has `changed`.
    """
    first, count = node.first_core, node.cores
    one, other = 2 * match - count, 2 * match + 1 - count
    if one >= 0:
        one_free = one if cores[first + one].running == NONE else count
    else:
        one_free = cores[first + 2 * match].lowest_free
        one = cores[first + 2 * match].first_to_stop
    if other >= 0:
        other_free = other if cores[first + other].running == NONE else count
    else:
        other_free = cores[first + 2 * match + 1].lowest_free
        other = cores[first + 2 * match + 1].first_to_stop
    one_ns, other_ns = cores[first + one].stop_ns, cores[first + other].stop_ns
    is_one = one_ns < other_ns or (one_ns == other_ns and one < other)
    winner, free = one if is_one else other, min(one_free, other_free)
    result = cores[first + match]
    goes_on = winner == changed or winner != result.first_to_stop or free != result.lowest_free
    result.first_to_stop = winner
    result.lowest_free = free
    return bool(goes_on)


@inlined
def plan_cpu_stop(node: Row, cores: Table) -> None:
    """Set when the first of the running tasks stops, by what the tournament says."""
    first = cores[node.first_core + first_to_stop(node, cores)]
    node.cpu_stop_ns = first.stop_ns
    node.stopping = first.running


@inlined
def first_to_stop(node: Row, cores: Table) -> int:
    """The core of which the task stops first."""
    return int(cores[node.first_core + 1].first_to_stop) if node.cores > 1 else 0


@inlined
def lowest_free(node: Row, cores: Table) -> int:
    """The free core of lowest number; there is one."""
    return int(cores[node.first_core + 1].lowest_free) if node.cores > 1 else 0


@inlined
def set_stop(node: Row, cores: Table, core: Row, position: int, slot: int, stop_ns: int) -> None:
    """A core, the one of that number, has this task (NONE: none) from now on, or still, which stops then."""
    core.running = slot
    core.stop_ns = stop_ns
    if node.cores == 1:
        node.cpu_stop_ns = stop_ns
        node.stopping = slot
    else:
        play(node, cores, position)


@called
def play(node: Row, cores: Table, position: int) -> None:
    """Play again the matches from one core's on, up to the final or to one that goes as it did."""
    match = (node.cores + position) // 2
    while match >= 1 and decide(node, cores, match, position):
        match //= 2
    plan_cpu_stop(node, cores)


@called
def note_cores(node: Row, cores: Table) -> None:
    """Something has changed on many of the node's cores."""
    for match in range(node.cores - 1, 0, -1):
        decide(node, cores, match, NONE)
    if node.cores > 0:
        plan_cpu_stop(node, cores)


@inlined
def free_all(node: Row, cores: Table) -> None:
    """All cores are free, as at the start: none has had a task."""
    for position in range(node.cores):
        core = core_of(node, cores, position)
        core.running = NONE
        core.last_task = NONE
        core.stop_ns = NEVER
    node.running = 0
    note_cores(node, cores)


@kernel
def free_cores(nodes: Table, cores: Table) -> None:
    """The cores of idle nodes; `first_core` of each node says where they are.

    Args:
        nodes: idle nodes, changed in place.
        cores: as many rows as all nodes have cores, written.
    """
    for index in range(nodes.shape[0]):
        free_all(nodes[index], cores)
