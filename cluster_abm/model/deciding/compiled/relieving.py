"""Which of the load managers that act periodically would send a task elsewhere, compiled: in most periods none.

Those that would do so in Python (NegotiationInPython.rebalance).
"""

from __future__ import annotations

from cluster_abm.arrays import Flags, Integers
from cluster_abm.compiling.tables import NO_DECISION
from cluster_abm.engine.loads import describe
from cluster_abm.engine.tables import Tables
from cluster_abm.jit import kernel
from cluster_abm.jit.calls import address_of, call_at
from cluster_abm.model.deciding.compiled.asking import close_view, keep_notes, look, open_view, restore_notes
from cluster_abm.model.deciding.compiled.scratch import known_group, scratch_group, settings_group

scratch_of, known_of, settings_of = scratch_group.at, known_group.at, settings_group.at


@kernel
def next_willing(
    tables: Tables, known_at: int, scratch_at: int, settings_at: int, accepting: Flags, silent_ns: Integers,
    asked: Integers, first: int, now_ns: int,
) -> int:  # fmt: skip
    """The place of the next manager whose policy would have a task leave its node, or is at fault.

    Args:
        tables, known_at, scratch_at, settings_at, accepting, silent_ns: of arriving.place_arrivals.
        asked: the managers, in their order.
        first: place of the first one that is asked.
        now_ns: the beginning of the slice, up to which all nodes have lived [ns].

    Returns:
        how many managers there are, if none of them would.
    """
    known, scratch, settings = known_of(known_at), scratch_of(scratch_at), settings_of(settings_at)
    view = scratch.views[0]
    if settings.all_is_known:
        look(tables, known, scratch, settings, now_ns)
    for place in range(first, len(asked)):
        manager = asked[place]
        node = tables.nodes[manager]
        if node.tasks + node.in_transit > scratch.candidates.shape[0]:
            return place
        # No literal 0: for that numba would compile `open_view` again.
        none_declined = 0 * manager
        changed = open_view(tables, known, scratch, settings, accepting, silent_ns, manager, none_declined, now_ns)
        if settings.has_notes:
            keep_notes(scratch, manager, 0)
        view.candidate_count = describe(tables.nodes, tables.tasks, tables.jobs, manager, now_ns, scratch.candidates)
        answer = call_at(
            settings.relieve, address_of(scratch.task), address_of(scratch.views), settings.numbers,
            address_of(scratch.decision),
        )  # fmt: skip
        close_view(known, scratch, settings, manager, none_declined, changed)
        if answer != NO_DECISION:
            if settings.has_notes:
                restore_notes(scratch, manager, 0)
            return place
    return len(asked)
