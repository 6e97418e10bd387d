"""Many slices in one call, as far as nobody outside the engine has a say in them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.barriers import meet
from cluster_abm.engine.ending import bury
from cluster_abm.engine.slice import serve
from cluster_abm.engine.tables import MEETING, NEVER, RECORDS, Table
from cluster_abm.jit import kernel

Integers = npt.NDArray[np.int64]


@kernel
def advance(
    nodes: Table,
    tasks: Table,
    records: Table,
    free: Integers,
    counters: Integers,
    meetings: Table,
    opening: Integers,
    phases: Table,
    slice_ns: int,
    end_ns: int,
    until_records: int,
) -> int:
    """Serve and meet, slice after slice, until `end_ns`.

    While a task depends on others of its job, or the end of a task is waited for, this goes from slice to slice, over
    those in which nothing happens; else in one leap.

    Args:
        nodes, tasks, records, free, counters, meetings, opening, phases: as for `serve`, changed in place.
        slice_ns: length of a slice [ns].
        end_ns: a border [ns].
        until_records: stop at the border of the first slice by whose end so many tasks have ended; NEVER: do not.

    Returns:
        the border reached [ns].
    """
    while counters[MEETING] > 0 or until_records < NEVER:
        next_ns = NEVER
        for index in range(nodes.shape[0]):
            next_ns = min(next_ns, nodes[index].next_event_ns)
        if next_ns >= end_ns:
            return end_ns
        border_ns = min(end_ns, (next_ns // slice_ns + 1) * slice_ns)
        serve(nodes, tasks, records, free, counters, meetings, opening, phases, border_ns)
        bury(nodes, tasks, records, free, counters, meetings, opening, border_ns)
        meet(nodes, tasks, counters, meetings, opening, slice_ns)
        if border_ns == end_ns or counters[RECORDS] >= until_records:
            return border_ns
    serve(nodes, tasks, records, free, counters, meetings, opening, phases, end_ns)
    return end_ns
