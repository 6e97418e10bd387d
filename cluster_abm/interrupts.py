"""The signals that end a command: SIGINT (Ctrl-C) and SIGTERM (Slurm, systemd, containers)."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Any

ENDING = (signal.SIGINT, signal.SIGTERM)
# The ending signals that have come.
_came: list[int] = []


class Terminated(KeyboardInterrupt):
    """SIGTERM: raised where Ctrl-C raises KeyboardInterrupt, so that the same results are kept."""


class PolicyInterrupted(KeyboardInterrupt):
    """Ctrl-C or SIGTERM came while a policy's method was at work; says which, and for how long."""


def raise_terminated(_number: int, _frame: Any) -> None:
    """Handle SIGTERM as Python handles SIGINT."""
    note_signal(signal.SIGTERM)
    raise Terminated


def note_signal(number: int) -> None:
    """Remember that an ending signal has come, for `was_terminated`."""
    _came.append(number)


def was_terminated() -> bool:
    """Whether SIGTERM has come since `sigterm_raises` was entered; Ctrl-C may have come too."""
    return signal.SIGTERM in _came


@contextmanager
def sigterm_raises() -> Iterator[None]:
    """Raise Terminated at SIGTERM in the block, unless the process ignores or handles the signal already."""
    _came.clear()
    if current_thread() is not main_thread() or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, raise_terminated)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def raising_handlers() -> dict[signal.Signals, Callable[[int, Any], Any]]:
    """The ending signals that would raise an exception here, with their handlers; none outside the main thread."""
    if current_thread() is not main_thread():
        return {}
    handlers = {number: signal.getsignal(number) for number in ENDING}
    return {
        number: handler
        for number, handler in handlers.items()
        if handler in (signal.default_int_handler, raise_terminated)
    }


@contextmanager
def interrupt_held_back() -> Iterator[None]:
    """Hold ending signals back until the block is left: what belongs together is done as a whole, or not begun."""
    handlers = raising_handlers()
    received: list[int] = []

    def note(number: int, _frame: Any) -> None:
        received.append(number)

    for number in handlers:
        signal.signal(number, note)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for received_number in received:
            note_signal(received_number)
        if received:
            handlers[signal.Signals(received[0])](received[0], None)
