"""A thread that does a page's work, and that the page can leave behind where a policy does not return."""

from __future__ import annotations

import ctypes
import math
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import FrameType

from numba.core import compiler_lock

from cluster_abm.policies import Policy

# Time that a policy has for one slice once something else is wanted [s].
GRACE_S = 2.0
WATCH_S = 0.05
# How often a policy that catches every exception is stopped again.
MOST_TOLD = 100
MOST_WORDS = 600
Task = Callable[[], None]


class GivenUp(BaseException):
    """Ends a thread when nothing waits for its work any more."""


class PageWorker:
    """Does one task after another in a thread of its own.

    A task that calls `goes_on` at each slice boundary can be cut short there. Where a policy does not come back to such
    a boundary, the thread is left behind, GivenUp is raised in it, and another thread does the tasks that follow.

    Args:
        unasked: with no task left, what to do now, or None, and for how long to wait then [s]; None: until nudged.
        given_up: called when a thread is left behind, with the policy's name and for how long it had not returned [s];
            gives what the next thread does first.
        failed: called with what a task has raised; the thread goes on with the next task.
    """

    def __init__(
        self,
        unasked: Callable[[], tuple[Task | None, float | None]],
        given_up: Callable[[str, float], Task],
        failed: Callable[[BaseException], None],
    ) -> None:
        self._unasked, self._given_up, self._failed = unasked, given_up, failed
        # GivenUp may come while a thread takes the lock: only a plain one is sure to be let go then.
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._tasks: deque[Task] = deque()
        self._thread: threading.Thread | None = None
        self._watcher: threading.Thread | None = None
        self._closed = self._busy = False
        self._further_s, self._asked_s, self._end_s = 0.0, 0.0, math.inf

    def do(self, task: Task) -> None:
        """A task to be done after all that have been asked for before."""
        with self._lock:
            if self._closed:
                return
            self._tasks.append(task)
            self._begin()
            self._changed.notify_all()

    def nudge(self) -> None:
        """What `unasked` answers may have changed."""
        with self._lock:
            self._changed.notify_all()

    def hurry(self, within_s: float = 0.0) -> None:
        """What is being done now ends at a slice boundary after `within_s`, or is given up with its thread."""
        with self._lock:
            if not self._busy or self._thread is None:
                return
            now_s = time.monotonic()
            if self._end_s == math.inf:
                self._asked_s = now_s
            self._end_s = min(self._end_s, now_s + within_s)
            if self._watcher is None:
                self._watcher = threading.Thread(
                    target=self._watch, args=(self._thread,), name="cluster-abm watcher", daemon=True
                )
                self._watcher.start()

    def goes_on(self) -> bool:
        """Whether the task goes on at this slice boundary. Raises GivenUp in a thread that has been left behind."""
        with self._lock:
            if self._thread is not threading.current_thread():
                raise GivenUp
            self._further_s = time.monotonic()
            return self._further_s < self._end_s

    def close(self) -> None:
        """No task is begun any more."""
        with self._lock:
            self._closed = True
            self._tasks.clear()
            self._changed.notify_all()
        self.hurry()

    # ---- in the thread ---------------------------------------------------------------------------------------

    def _begin(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._busy = False
            self._thread = threading.Thread(target=self._work, name="cluster-abm player", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        try:
            while (task := self._next()) is not None:
                self._do(task)
        except GivenUp:
            # Said already, by the thread that came after.
            return

    def _do(self, task: Task) -> None:
        try:
            task()
        except GivenUp:
            raise
        except BaseException as problem:
            # Also what is wrong with saying so.
            with suppress(Exception):
                self._failed(problem)

    def _next(self) -> Task | None:
        with self._lock:
            self._busy, self._end_s = False, math.inf
            while True:
                if self._closed or self._thread is not threading.current_thread():
                    return None
                wait_s: float | None = None
                task = self._tasks.popleft() if self._tasks else None
                if task is None:
                    task, wait_s = self._unasked()
                if task is not None:
                    self._busy, self._further_s = True, time.monotonic()
                    return task
                self._changed.wait(wait_s)

    # ---- beside it -------------------------------------------------------------------------------------------

    def _watch(self, thread: threading.Thread) -> None:
        while True:
            with self._lock:
                if self._thread is not thread or self._end_s == math.inf or not thread.is_alive():
                    self._watcher = None
                    return
                now_s = time.monotonic()
                if is_compiling(thread):
                    # The policy waits for the compiler, which is no fault of its own.
                    self._further_s = now_s
                late_s = now_s - self._further_s
                # The policy has its time from the wish on: it could not know of it before.
                policy = policy_in(thread) if min(late_s, now_s - self._asked_s) >= GRACE_S else None
                if policy is not None:
                    self._leave(thread, policy, late_s)
                    break
            time.sleep(WATCH_S)
        for _ in range(MOST_TOLD):
            time.sleep(WATCH_S)
            if policy_in(thread) is None:
                return
            if not is_compiling(thread):
                _raise_in(thread)

    def _leave(self, thread: threading.Thread, policy: str, late_s: float) -> None:
        self._thread = self._watcher = None
        self._busy, self._end_s = False, math.inf
        _raise_in(thread)
        if not self._closed:
            self._tasks.appendleft(self._given_up(policy, late_s))
            self._begin()


def policy_in(thread: threading.Thread) -> str | None:
    """Name of the policy that a thread is in; None if it is in none, or has ended."""
    return _policy_of(_frames_of(thread))


def is_compiling(thread: threading.Thread) -> bool:
    """Whether a thread compiles, or waits for another one to finish compiling."""
    return any(frame.f_code.co_filename == compiler_lock.__file__ for frame in _frames_of(thread))


def _frames_of(thread: threading.Thread) -> list[FrameType]:
    """Where a thread is, the innermost frame first."""
    # The number of a thread that has ended may be that of another by now.
    frame = sys._current_frames().get(thread.ident or 0) if thread.is_alive() else None
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames


def words_of(problem: BaseException) -> str:
    """What went wrong, and in which policy, in one line of bounded length."""
    try:
        words = f"{type(problem).__name__}: {problem}"
    except BaseException:
        # Even its text may be of the policy's making.
        words = type(problem).__name__
    frames, at = [], problem.__traceback__
    while at is not None:
        frames.append(at.tb_frame)
        at = at.tb_next
    policy = _policy_of(reversed(frames))
    return shortened(words if policy is None else f"policy {policy!r}: {words}", MOST_WORDS)


def shortened(words: str, most: int) -> str:
    """Words, cut to at most that many characters, with how many there were."""
    return words if len(words) <= most else f"{words[:most]}… ({len(words):,} characters)"


def _policy_of(frames: Iterable[FrameType]) -> str | None:
    """The policy of the innermost frame that is a policy's method."""
    for frame in frames:
        code = frame.f_code
        first = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
        # Not isinstance, which asks the object: its answer would be the policy's code, under a lock.
        kind: type = type(first)
        if issubclass(kind, Policy):
            return str(kind.name)
    return None


def _raise_in(thread: threading.Thread) -> None:
    """Raises GivenUp in another thread, as soon as that one is in Python code."""
    if thread.ident is not None and thread.is_alive():
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(GivenUp))
