"""Threads that help the one that runs a model: compiled code lets several of them compute at once.

A helping thread that has done its part waits for the next order in compiled code, awake: a sleeping one takes longer to
wake than a window of a thousand nodes lasts. Soon without an order it sleeps, and then ends.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Lock, Thread

import numpy as np

from cluster_abm.engine.admission import Starts
from cluster_abm.engine.tables import LOAD, Table, Tables
from cluster_abm.engine.threads.orders import (
    AWAY,
    DEPEND,
    ORDERED,
    Words,
    empty_board,
    has_left,
    have_ended,
    lead,
    post,
    stand_by,
    state_word,
)
from cluster_abm.jit import entry

Call = Callable[[], object]

# A thread that sleeps ends after so long [s]: none is left over from a run, nor in the way of a fork.
IDLE_S = 1.0
# How many times a thread looks for an order before it goes to sleep: some 300 us, in which Python does all that it has
# to do for a thousand nodes between two orders.
PATIENCE = 150_000
# How many times a thread looks whether the helping ones have begun, before it begins: not at all, but in tests.
EARLY = 0
# The helping threads' parts last as long as one's own: what keeps one that much longer is other work on its core.
LOOKS = 1_000_000
PAUSE_S = 100e-6
# Compiled code is told by it how rows of loads look.
ANY_LOADS = np.zeros(0, LOAD)
NO_STARTS = Starts(*(np.zeros(0, np.int64),) * 6)
NO_KEY = np.uint64(0)


class Crew:
    """Threads that carry out orders together. They start when first needed; a copy, or a fork, has its own.

    Args:
        most: at most so many, the calling one among them.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._board = empty_board(self._most)
        self._helpers = [_Helper(self._board, thread, self._most) for thread in range(1, self._most)]

    def __reduce__(self) -> tuple[type[Crew], tuple[int]]:
        return Crew, (self._most,)

    def carry_out(
        self, kind: int, every: Sequence[Tables], time_ns: int = 0, loads: Table = ANY_LOADS,
        effective_rates: bool = False, starts: Starts = NO_STARTS, run_key: np.uint64 = NO_KEY,
    ) -> int:  # fmt: skip
        """Carry out an order (orders.work); all that was begun of it is over when this returns, or raises.

        Where the system starts no more threads, there are fewer.

        Args:
            kind: of the work.
            every: the tables of each thread, the first those of the run.
            time_ns, loads, effective_rates, starts, run_key: as of `orders.post`.

        Returns:
            how many of the tasks that start depend on others of their job.
        """
        if os.getpid() != self._process:
            self._begin()
        board, tables = self._board, every[0]
        order = (kind, len(every), len(tables.nodes), time_ns, loads, effective_rates, starts, run_key)
        entry(post, board, 0, 0, 0, 0, ANY_LOADS, False, NO_STARTS, NO_KEY)(board, *order)
        ended = entry(have_ended, board, 0, 0)
        try:
            for helper, own in zip(self._helpers, every[1:], strict=False):
                helper.make_ready(tables, own)
            entry(lead, tables, ANY_LOADS, board, 0, 0, 0)(tables, ANY_LOADS, board, self._most, EARLY, LOOKS)
        finally:
            _insist(lambda: bool(ended(board, self._most, 1)))
        for helper in self._helpers:
            helper.raise_problem()
        return int(board[DEPEND])


def _insist(holds: Callable[[], bool]) -> None:
    """Wait until something holds, which raises nothing; an interrupt of this thread, Ctrl-C, is raised when it does."""
    interrupt = None
    while True:
        try:
            if holds():
                break
            time.sleep(PAUSE_S)
        except BaseException as problem:
            interrupt = problem
    if interrupt is not None:
        raise interrupt


class _Helper:
    """One helping thread.

    Args:
        board: where orders stand.
        thread, most: which of at most how many threads.
    """

    def __init__(self, board: Words, thread: int, most: int) -> None:
        self._board, self._thread, self._most = board, thread, most
        self._state = state_word(thread, most)
        self._own: Tables | None = None
        self._problem: BaseException | None = None
        self._calls: SimpleQueue[Call] = SimpleQueue()
        # Held while the thread decides to end, or a call is given to it.
        self._lock = Lock()
        self._lives = False

    def make_ready(self, tables: Tables, own: Tables) -> None:
        """Let the thread wait for orders about a run's tables, with some of its own; called first, it has one."""
        board, thread, most = self._board, self._thread, self._most
        if own is not self._own:
            left = entry(has_left, board, 0, 0, 0)
            _insist(lambda: bool(left(board, thread, most, LOOKS)))
            self._own = own
        if board[self._state] == AWAY:
            waits = entry(stand_by, tables, own, ANY_LOADS, board, 0, 0, 0)
            board[self._state] = ORDERED
            if not self._call(partial(waits, tables, own, ANY_LOADS, board, thread, most, PATIENCE)):
                board[self._state] = AWAY

    def raise_problem(self) -> None:
        """Raise what the thread met with, if anything."""
        if self._problem is not None:
            problem, self._problem = self._problem, None
            raise problem

    def _call(self, call: Call) -> bool:
        """Give the thread a call; False if there is no thread, and none can be started."""
        with self._lock:
            if not self._lives:
                with suppress(RuntimeError):
                    Thread(target=self._live, name="cluster-abm-nodes", daemon=True).start()
                    self._lives = True
            if self._lives:
                self._calls.put(call)
            return self._lives

    def _live(self) -> None:
        while True:
            try:
                call: Call | None = self._calls.get(timeout=IDLE_S)
            except Empty:
                with self._lock:
                    if self._calls.empty():
                        self._lives = False
                        return
                continue
            try:
                assert call is not None
                call()
            except BaseException as problem:
                self._problem = problem
                self._board[self._state] = AWAY
            # What it works on must not live on in a thread that waits.
            call = None
