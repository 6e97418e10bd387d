"""Who holds which cores where a head node starts jobs: the steps by which it is kept up, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluster_abm.arrays import Integers
from cluster_abm.compiling.pointers import group
from cluster_abm.engine.tables import NONE, RECORDS, Tables
from cluster_abm.jit import inlined, kernel
from cluster_abm.policy.waiting import RUNNING

_integers, _flags = np.zeros(1, np.int64), np.zeros(1, bool)
# cores: of each node, shape (nodes,). taken: those that jobs hold; where a node has failed it may be more. is_open:
# which nodes are up and accept tasks. free: cores of open nodes that are not taken. unfinished: tasks of each job that
# have not ended, shape (jobs,). running: the jobs that hold cores, in the order of expected ends; `first` and `last` of
# each: its entries, a list by `following`, of which each is a core of `node`. spare: a stack of unused entries.
books_group = group(
    "Books",
    {
        "cores": _integers, "taken": _integers, "is_open": _flags, "free": _integers, "unfinished": _integers,
        "running": np.zeros(1, RUNNING), "first": _integers, "last": _integers, "node": _integers,
        "following": _integers, "spare": _integers, "counts": _integers,
    },
)  # fmt: skip
books_of = books_group.at
# In `counts`: jobs that hold cores, unused entries, records read, free cores, and cores of all open nodes.
JOBS, SPARES, READ, FREE_CORES, ALL_CORES, BOOKS_COUNTS = range(6)


@inlined
def row_of(books: Any, job: int) -> int:
    """The row of a job that holds cores; -1: it holds none."""
    for row in range(books.counts[JOBS]):
        if books.running[row].job == job:
            return row
    return -1


@inlined
def change_taken(books: Any, node: int, more: int) -> None:
    """Jobs hold more cores of a node, or fewer."""
    books.taken[node] += more
    if books.is_open[node]:
        free = max(0, books.cores[node] - books.taken[node])
        books.counts[FREE_CORES] += free - books.free[node]
        books.free[node] = free


@inlined
def move_row(books: Any, row: int, to: int) -> None:
    """Move a row of a running job to another place; those in between close up."""
    running, first, last = books.running, books.first, books.last
    job, cores, ends = running[row].job, running[row].cores, running[row].ends
    head, tail = first[row], last[row]
    step = 1 if to > row else -1
    for place in range(row, to, step):
        nearer = place + step
        running[place].job, running[place].cores = running[nearer].job, running[nearer].cores
        running[place].ends = running[nearer].ends
        first[place], last[place] = first[nearer], last[nearer]
    running[to].job, running[to].cores, running[to].ends = job, cores, ends
    first[to], last[to] = head, tail


@inlined
def begin_job(books: Any, job: int, ends: int) -> int:
    """A job starts, which holds no core yet; its row.

    Args:
        ends: when it is expected to end [slices].
    """
    counts = books.counts
    row = counts[JOBS]
    counts[JOBS] += 1
    books.running[row].job, books.running[row].cores, books.running[row].ends = job, 0, ends
    books.first[row], books.last[row] = NONE, NONE
    to = row
    while to > 0 and books.running[to - 1].ends > ends:
        to -= 1
    if to != row:
        move_row(books, row, to)
    return to


@inlined
def give_core(books: Any, row: int, node: int) -> None:
    """A job gets a core of a node."""
    counts = books.counts
    counts[SPARES] -= 1
    entry = books.spare[counts[SPARES]]
    books.node[entry], books.following[entry] = node, NONE
    if books.last[row] == NONE:
        books.first[row] = entry
    else:
        books.following[books.last[row]] = entry
    books.last[row] = entry
    books.running[row].cores += books.is_open[node]
    change_taken(books, node, 1)


@inlined
def give_back(books: Any, row: int) -> None:
    """A job gives all its cores back."""
    counts, entry = books.counts, books.first[row]
    while entry != NONE:
        change_taken(books, books.node[entry], -1)
        books.spare[counts[SPARES]] = entry
        counts[SPARES] += 1
        entry = books.following[entry]
    books.first[row] = books.last[row] = NONE
    books.running[row].cores = 0


@inlined
def end_job(books: Any, row: int) -> None:
    """A job has ended."""
    counts = books.counts
    give_back(books, row)
    move_row(books, row, counts[JOBS] - 1)
    counts[JOBS] -= 1


@inlined
def note_ends(books: Any, tables: Tables) -> None:
    """Jobs of which the last task has ended since the last call give their cores back."""
    counts = books.counts
    for record in range(counts[READ], tables.counters[RECORDS]):
        job = tables.records[record].job
        books.unfinished[job] -= 1
        if books.unfinished[job] == 0:
            row = row_of(books, job)
            if row >= 0:
                end_job(books, row)
    counts[READ] = tables.counters[RECORDS]


@inlined
def note_open(books: Any, is_open: Any) -> None:
    """Note which nodes are up and accept tasks: cores of others are not free, and no running job's."""
    has_changed = False
    for node in range(len(is_open)):
        has_changed = has_changed or books.is_open[node] != is_open[node]
    if not has_changed:
        return
    counts = books.counts
    counts[FREE_CORES] = counts[ALL_CORES] = 0
    for node in range(len(is_open)):
        books.is_open[node] = is_open[node]
        books.free[node] = max(0, books.cores[node] - books.taken[node]) if is_open[node] else 0
        counts[FREE_CORES] += books.free[node]
        counts[ALL_CORES] += books.cores[node] if is_open[node] else 0
    for row in range(counts[JOBS]):
        cores, entry = 0, books.first[row]
        while entry != NONE:
            cores += is_open[books.node[entry]]
            entry = books.following[entry]
        books.running[row].cores = cores


# ---- the same, called from Python ----------------------------------------------------------------------------------


@kernel
def note_ends_at(at: int, tables: Tables) -> None:
    """`note_ends`."""
    note_ends(books_of(at), tables)


@kernel
def note_open_at(at: int, is_open: Any) -> None:
    """`note_open`."""
    note_open(books_of(at), is_open)


@kernel
def start_at(at: int, job: int, ends: int, nodes: Any) -> None:
    """A job, which may hold cores already, gets cores of nodes; it is expected to end then, or later [slices]."""
    books = books_of(at)
    row = row_of(books, job)
    if row < 0:
        row = begin_job(books, job, ends)
    elif books.running[row].ends < ends:
        books.running[row].ends = ends
        to = row
        while to + 1 < books.counts[JOBS] and books.running[to + 1].ends <= ends:
            to += 1
        move_row(books, row, to)
        row = to
    for place in range(len(nodes)):
        give_core(books, row, nodes[place])


@kernel
def withdraw_at(at: int, job: int) -> None:
    """A job gives all its cores back, if it has any."""
    books = books_of(at)
    row = row_of(books, job)
    if row >= 0:
        end_job(books, row)


@kernel
def give_back_at(at: int, job: int) -> None:
    """A job gives all its cores back, if it has any, and goes on."""
    books = books_of(at)
    row = row_of(books, job)
    if row >= 0:
        give_back(books, row)


@kernel
def leave_closed_at(at: int, job: int) -> None:
    """A job gives its cores on nodes back that are down, or that drain."""
    books = books_of(at)
    row = row_of(books, job)
    if row < 0:
        return
    before, entry = NONE, books.first[row]
    while entry != NONE:
        following = books.following[entry]
        if books.is_open[books.node[entry]]:
            before = entry
        else:
            if before == NONE:
                books.first[row] = following
            else:
                books.following[before] = following
            if books.last[row] == entry:
                books.last[row] = before
            change_taken(books, books.node[entry], -1)
            books.spare[books.counts[SPARES]] = entry
            books.counts[SPARES] += 1
        entry = following


@kernel
def nodes_at(at: int, job: int, found: Integers) -> int:
    """Write the nodes of which a job holds cores into `found`; how many they are."""
    books = books_of(at)
    row = row_of(books, job)
    entry, count = books.first[row] if row >= 0 else NONE, 0
    while entry != NONE:
        found[count] = books.node[entry]
        count += 1
        entry = books.following[entry]
    return count
