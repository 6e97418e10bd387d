"""Ctrl-C and SIGTERM while a run is carried out: they take effect between two windows, so that its state is whole."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from cluster_abm.interrupts import Terminated, note_signal, raising_handlers

# A policy's method that has not returned this long after a signal will hardly ever return [s].
PATIENCE_S = 2.0
REMARK = b"\nstopping: what is finished will be kept (a second signal stops at once)\n"


class StopRequest:
    """Whether an ending signal has come, and the means to end a policy's method that does not return.

    Attributes:
        requested: whether one has come.
        at_once: whether a second one has come, which raises its exception wherever the program is.
    """

    def __init__(self) -> None:
        self.requested = self.at_once = False
        self._raise_at: dict[signal.Signals, Any] = {}
        self._first = signal.SIGINT
        self._looked_at: int | None = None
        self._looks = False
        self._timer: threading.Timer | None = None
        # Held while the timer sends a signal: none of its may come after the handlers are what they were.
        self._sends = threading.Lock()
        self._ended = False

    def raise_if_requested(self) -> None:
        """Raise KeyboardInterrupt, or Terminated after SIGTERM, if a signal has come."""
        if self.requested:
            raise Terminated if self._first == signal.SIGTERM else KeyboardInterrupt

    def _begin(self) -> None:
        self._raise_at = dict(raising_handlers())
        for number in self._raise_at:
            signal.signal(number, self._note)

    def _end(self) -> None:
        with self._sends:
            self._ended = True
        if self._timer is not None:
            self._timer.cancel()
        for number, handler in self._raise_at.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: Any) -> None:
        if self._looks:
            self._looks = False
            self._look()
        elif self.requested:
            self.at_once = True
            self._raise_at[signal.Signals(number)](number, frame)
        else:
            self.requested, self._first = True, signal.Signals(number)
            note_signal(number)
            # Not through Python's own stream: the signal may have come while that was being written.
            with suppress(OSError):
                os.write(2, REMARK)
            self._look_later()

    def _look_later(self) -> None:
        if self._ended:
            return
        self._looked_at = _call_number()
        self._timer = threading.Timer(PATIENCE_S, self._wake_main_thread)
        self._timer.daemon = True
        self._timer.start()

    def _wake_main_thread(self) -> None:
        with self._sends:
            if self._ended:
                return
            self._looks = True
            thread = threading.main_thread().ident
            if hasattr(signal, "pthread_kill") and thread is not None:
                # One that the system delivers ends a policy that waits for something, too.
                signal.pthread_kill(thread, self._first)
            else:
                _thread.interrupt_main(self._first)

    def _look(self) -> None:
        """End the same call of a policy's method that was at work before; else look again later."""
        number = _call_number()
        if number is not None and number == self._looked_at:
            self.raise_if_requested()
        self._look_later()


def _call_number() -> int | None:
    """The number of the call of a policy's method that is at work; None if there is none."""
    # Not imported here: a signal may come before anything heavy is, or in the middle of that import.
    current_call = getattr(sys.modules.get("cluster_abm.policy.calling"), "current_call", None)
    call = None if current_call is None else current_call()
    return None if call is None else int(call.number)


@contextmanager
def stop_request() -> Iterator[StopRequest]:
    """Note the first ending signal in the block instead of raising an exception; the second one raises it."""
    request = StopRequest()
    request._begin()
    try:
        yield request
    finally:
        request._end()
