"""Work on all nodes, which threads of a run share while they are in compiled code, and how one orders it of others.

The nodes are cut into as many ranges as there are threads. Each thread takes blocks of its own range, whose nodes are
still near its core from the last time, then what is left of the others' ranges. A helping thread that is not there in
time is not waited for: nothing is left for it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.admission import Starts, admit_between
from cluster_abm.engine.loads import measure
from cluster_abm.engine.slice import serve
from cluster_abm.engine.tables import BLOCK, Table, Tables
from cluster_abm.engine.threads.atomics import add, array_at, change, read, write
from cluster_abm.jit import called, kernel

Words = npt.NDArray[np.int64]

# Words of a board: the order, then in a cache line of its own for each thread where its range goes on, then its state.
KIND, THREADS, TIME_NS, ENTRIES, LOADS_AT, EFFECTIVE_RATES, RUN_KEY, DEPEND = range(8)
STARTS_AT = 8
RANGES = 16
LINE = 8
# Kinds of work.
SERVE, MEASURE, ADMIT = range(3)
# States of a helping thread: it is not there, waits in compiled code, has an order, works on one, is to leave.
AWAY, WAITING, ORDERED, BUSY, LEAVING = range(5)


def empty_board(threads: int) -> Words:
    """The board of so many threads, all helping ones away."""
    return np.zeros(RANGES + 2 * LINE * threads, np.int64)


def state_word(thread: int, threads: int) -> int:
    """Which word of the board of so many threads is a thread's state."""
    return RANGES + LINE * (threads + thread)


@called
def begin_of(count: int, thread: int, threads: int) -> int:
    """The first block of a thread's range, of so many nodes."""
    blocks = (count + BLOCK - 1) // BLOCK
    return blocks * thread // threads


@kernel
def post(
    board: Words, kind: int, threads: int, count: int, time_ns: int, loads: Table, effective_rates: bool,
    starts: Starts, run_key: np.uint64,
) -> None:  # fmt: skip
    """Write an order on the board, before any thread has it.

    Args:
        board: filled in.
        kind: of the work.
        threads: how many share it.
        count: number of nodes.
        time_ns: end of the window, or time of the measurement [ns].
        loads: filled in if nodes are measured.
        effective_rates: how they are.
        starts, run_key: the tasks that start, if any do, and the key of their streams (admission.admit).
    """
    board[KIND], board[THREADS], board[TIME_NS], board[DEPEND] = kind, threads, time_ns, 0
    board[LOADS_AT], board[EFFECTIVE_RATES] = loads.ctypes.data, effective_rates
    board[ENTRIES], board[RUN_KEY] = starts.job.shape[0], np.int64(run_key)
    board[STARTS_AT], board[STARTS_AT + 1] = starts.job.ctypes.data, starts.rank.ctypes.data
    board[STARTS_AT + 2], board[STARTS_AT + 3] = starts.held_ns.ctypes.data, starts.target.ctypes.data
    board[STARTS_AT + 4], board[STARTS_AT + 5] = starts.delay_ns.ctypes.data, starts.origin.ctypes.data
    for thread in range(threads):
        write(board, RANGES + LINE * thread, begin_of(count, thread, threads))


@kernel
def work(tables: Tables, own: Tables, loads: Table, board: Words, thread: int) -> None:
    """A thread's part of what the board orders: blocks of its own range of nodes, then of others'.

    Args:
        tables: the tables of the run.
        own: those that the thread has of its own (shares.Shares), or of the run.
        loads: any table of loads, which says how their rows look.
        board: the order.
        thread: which of the threads.
    """
    kind, threads, time_ns, count = board[KIND], board[THREADS], board[TIME_NS], tables.nodes.shape[0]
    if kind == MEASURE:
        loads = array_at(loads, board[LOADS_AT], count)
    entries = board[ENTRIES]
    starts = Starts(
        array_at(board, board[STARTS_AT], entries), array_at(board, board[STARTS_AT + 1], entries),
        array_at(board, board[STARTS_AT + 2], entries), array_at(board, board[STARTS_AT + 3], entries),
        array_at(board, board[STARTS_AT + 4], entries), array_at(board, board[STARTS_AT + 5], entries),
    )  # fmt: skip
    for other in range(threads):
        owner = (thread + other) % threads
        end = begin_of(count, owner + 1, threads)
        place = RANGES + LINE * owner
        if kind == ADMIT:
            # All who start are gone through for each range: it is taken as a whole.
            if change(board, place, begin_of(count, owner, threads), end):
                first, last = begin_of(count, owner, threads) * BLOCK, end * BLOCK
                add(board, DEPEND, admit_between(tables, np.uint64(board[RUN_KEY]), starts, first, last))
            continue
        block = add(board, place, 1)
        while block < end:
            first, last = block * BLOCK, min(count, (block + 1) * BLOCK)
            if kind == SERVE:
                serve(own, first, last, time_ns)
            else:
                measure(tables.nodes, tables.tasks, time_ns, loads, first, last, board[EFFECTIVE_RATES] != 0)
            block = add(board, place, 1)


@kernel
def stand_by(tables: Tables, own: Tables, loads: Table, board: Words, thread: int, most: int, patience: int) -> None:
    """A helping thread works on what the board orders, until nothing has been ordered for a while.

    Args:
        tables, own, loads, board: as of `work`.
        thread, most: which of at most how many threads.
        patience: how many times it looks for an order before it leaves.
    """
    state = RANGES + LINE * (most + thread)
    looks = 0
    while looks < patience or not change(board, state, WAITING, AWAY):
        looks += 1
        now = read(board, state)
        if now == ORDERED and change(board, state, ORDERED, BUSY):
            work(tables, own, loads, board, thread)
            write(board, state, WAITING)
            looks = 0
        elif now == LEAVING:
            write(board, state, AWAY)
            return


@kernel
def lead(tables: Tables, loads: Table, board: Words, most: int, early: int, patience: int) -> None:
    """Carry out what the board orders, with the threads that wait for orders, or have this one.

    Args:
        tables, loads, board: as of `work`.
        most: at most so many threads.
        early: how many times to look whether the others have begun, before this thread does.
        patience: how many times to look whether the others have ended.
    """
    threads = board[THREADS]
    for thread in range(1, threads):
        change(board, RANGES + LINE * (most + thread), WAITING, ORDERED)
    for thread in range(1, threads):
        looks = 0
        while looks < early and read(board, RANGES + LINE * (most + thread)) == ORDERED:
            looks += 1
    work(tables, tables, loads, board, 0)
    have_ended(board, most, patience)


@kernel
def have_ended(board: Words, most: int, patience: int) -> bool:
    """Whether no helping thread works any more; orders that none has begun are taken back."""
    looks = 0
    for thread in range(1, most):
        state = RANGES + LINE * (most + thread)
        if change(board, state, ORDERED, WAITING):
            continue
        while read(board, state) == BUSY:
            looks += 1
            if looks > patience:
                return False
    return True


@kernel
def has_left(board: Words, thread: int, most: int, patience: int) -> bool:
    """Tell a helping thread that waits to leave: whether it has, having been looked for so many times."""
    state = RANGES + LINE * (most + thread)
    change(board, state, WAITING, LEAVING)
    looks = 0
    while read(board, state) != AWAY:
        looks += 1
        if looks > patience:
            return False
    return True
