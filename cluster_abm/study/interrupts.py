"""Ctrl-C at a time of our choosing."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Any


@contextmanager
def interrupt_held_back() -> Iterator[None]:
    """Ctrl-C in the block is heard when the block is left: what belongs together is done as a whole, or not begun."""
    # Only the main thread hears it, and only by Python's own handler does it become an exception.
    if current_thread() is not main_thread() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    heard: list[int] = []

    def note(number: int, _frame: Any) -> None:
        heard.append(number)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if heard:
            raise KeyboardInterrupt
