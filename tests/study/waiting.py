"""Waiting for what another thread does."""

from __future__ import annotations

import time

POLL_S = 0.005


def until(holds, timeout_s=20.0):
    """Wait until the condition holds; fail after the timeout."""
    deadline = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < deadline, "the condition does not come to hold"
        time.sleep(POLL_S)


def some_polls():
    """Give another thread the time to do what it must not do."""
    time.sleep(20 * POLL_S)
