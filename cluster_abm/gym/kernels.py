"""Compiled code of placement from outside: what load managers know when tasks arrive, and placing them as told."""

from __future__ import annotations

from numba.core import types

from cluster_abm.arrays import Flags, Integers
from cluster_abm.compiling.tables import WHOLE, task_of, view_of
from cluster_abm.engine.admission import Starts
from cluster_abm.engine.advance import advance_at
from cluster_abm.engine.tables import DEPENDENT, FINISHED, NEVER, Table, Tables
from cluster_abm.formulas import slowdown
from cluster_abm.jit import kernel
from cluster_abm.jit.calls import address_of, native_call
from cluster_abm.model.deciding.compiled.arriving import announce, known_of, scratch_of, settings_of
from cluster_abm.model.deciding.compiled.asking import close_view, look, open_view
from cluster_abm.model.deciding.compiled.scratch import AT_STOP, DONE, NOW_NS, OUTCOME
from cluster_abm.policy.parts.features import ALL, Numbers, put_features

place_at = native_call(
    types.int64, "tables", "starts", "known_at", "scratch_at", "settings_at", "decided", "up", "accepting", "silent_ns",
    "stand_in", "arrivals", "placed", "first", "last",
)  # fmt: skip


@kernel
def observe(
    tables: Tables, starts: Starts, known_at: int, scratch_at: int, settings_at: int, decided: Table, up: Flags,
    accepting: Flags, silent_ns: Integers, stand_in: Integers, arrivals: tuple[Integers, Integers, Integers],
    placed: Integers, first: int, last: int, features: Numbers,
) -> int:  # fmt: skip
    """Let the nodes live until the slice of the first of some arriving tasks begins, and fill in what is known then.

    Arguments as of arriving.place_arrivals, which it prepares; it places no task.

    Args:
        features: filled for each of the tasks, shape (at least last - first, nodes, features).

    Returns:
        `last`, or `first` if reports have to be received before; `counts[OUTCOME]` says which.
    """
    known, scratch, settings = known_of(known_at), scratch_of(scratch_at), settings_of(settings_at)
    counts = scratch.counts
    now_ns = counts[NOW_NS]
    begins_ns = max(now_ns, tables.jobs[arrivals[0][first]].arrival_ns // settings.slice_ns * settings.slice_ns)
    if begins_ns >= settings.stop_ns:
        counts[NOW_NS], counts[OUTCOME] = begins_ns, AT_STOP
        return first
    if begins_ns > now_ns:
        now_ns = begins_ns
        if tables.counters[DEPENDENT] > 0:
            advance_at(settings.advance, tables, settings.slice_ns, now_ns, NEVER, 0, tables.nodes.shape[0])
    if settings.all_is_known:
        look(tables, known, scratch, settings, now_ns)
    for position in range(first, last):
        job = arrivals[0][position]
        manager = stand_in[tables.jobs[job].home]
        announce(scratch, tables.jobs, job, arrivals[1][position])
        # No literal 0: for that numba would compile `open_view` again.
        none_declined = 0 * manager
        changed = open_view(tables, known, scratch, settings, accepting, silent_ns, manager, none_declined, now_ns)
        put_features(
            features[position - first].T, task_of(address_of(scratch.task)), view_of(address_of(scratch.views)), ALL
        )
        close_view(known, scratch, settings, manager, 0, changed)
    counts[NOW_NS], counts[OUTCOME] = now_ns, DONE
    return last


@kernel
def act(
    tables: Tables, starts: Starts, known_at: int, scratch_at: int, settings_at: int, decided: Table, up: Flags,
    accepting: Flags, silent_ns: Integers, stand_in: Integers, arrivals: tuple[Integers, Integers, Integers],
    placed: Integers, first: int, last: int, targets: Integers, place: int, told: int,
) -> int:  # fmt: skip
    """Place arriving tasks as arriving.place_arrivals does, each on the node told; arguments and result as there.

    Args:
        targets: the node of each arrival, from the first of `arrivals` on.
        place: address of place_arrivals.
        told: number of the note by which the policy `Outside` is told.
    """
    scratch = scratch_of(scratch_at)
    for task in range(first, last):
        manager = stand_in[tables.jobs[arrivals[0][task]].home]
        scratch.note_names[manager, 0] = told
        scratch.note_values[manager, 0] = float(targets[task])
        scratch.note_kinds[manager, 0] = WHOLE
        done = place_at(
            place, tables, starts, known_at, scratch_at, settings_at, decided, up, accepting, silent_ns, stand_in,
            arrivals, placed, task, task + 1,
        )  # fmt: skip
        if done == task or scratch.counts[OUTCOME] != DONE:
            return done
    return last


@kernel
def add_up(records: Table, jobs: Table, first: int, last: int, now_ns: int, bound_ns: float, ago_ns: Integers) -> float:
    """Return the sum over finished tasks of their slowdown, each divided by how many tasks its job has.

    Args:
        records: records of ended tasks; those from `first` to `last` - 1 are looked at.
        jobs: the job table.
        now_ns: now [ns].
        bound_ns: of both times of a task at least so much counts [ns]; 0: the plain slowdown.
        ago_ns: set to how long ago all of them ended, added up, shape (1,) [ns].
    """
    slowdowns = 0.0
    ago_ns[0] = 0
    for position in range(first, last):
        record = records[position]
        ago_ns[0] += now_ns - record.finish_ns
        if record.outcome == FINISHED:
            alone_ns = record.isolated_cpu_ns + record.isolated_io_ns
            alone_ns += record.isolated_paging_ns + record.isolated_barrier_ns
            wall_ns = max(float(record.finish_ns - record.arrival_ns), bound_ns)
            slowdowns += slowdown(wall_ns, max(float(alone_ns), bound_ns)) / jobs[record.job].tasks
    return slowdowns
