"""The view of a manager that talks, compiled (Surroundings.view_of): open from when it is read to the event's end."""

from __future__ import annotations

from cluster_abm.compiling.talking.tables import CHANGED, NONE, VIEW_OF, talk_of
from cluster_abm.jit import called, kernel
from cluster_abm.model.deciding.compiled.asking import close_view, look, open_view
from cluster_abm.model.deciding.compiled.scratch import NOW_NS, known_group, scratch_group, settings_group
from cluster_abm.model.talking.compiled.tables import tables_at, tables_of

scratch_of, settings_of, known_of = scratch_group.at, settings_group.at, known_group.at


@called
def close(talk_at: int) -> None:
    """Undo what was changed for the view that is open, if one is."""
    talk = talk_of(talk_at)
    manager = talk.counts[VIEW_OF]
    if manager != NONE:
        known, scratch, settings = known_of(talk.known_at), scratch_of(talk.scratch_at), settings_of(talk.settings_at)
        close_view(known, scratch, settings, manager, 0, talk.counts[CHANGED])
        talk.counts[VIEW_OF] = NONE


@kernel
def look_around(talk_at: int, me: int) -> int:
    """Have the view of a manager show what it knows now."""
    talk = talk_of(talk_at)
    if talk.counts[VIEW_OF] != me:
        known, scratch, settings = known_of(talk.known_at), scratch_of(talk.scratch_at), settings_of(talk.settings_at)
        tables, of = tables_of(talk.tables_at), tables_at(talk.tables_at)
        now_ns = scratch.counts[NOW_NS]
        if settings.all_is_known:
            look(tables, known, scratch, settings, now_ns)
        none_declined = 0 * me
        talk.counts[CHANGED] = open_view(
            tables, known, scratch, settings, talk.accepting, of.silent_ns, me, none_declined, now_ns
        )
        talk.counts[VIEW_OF] = me
    return 1
