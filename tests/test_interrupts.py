"""Ctrl-C is heard when what belongs together is done, and never lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest
from support import hearing_ctrl_c

from cluster_abm.interrupts import interrupt_held_back

pytestmark = pytest.mark.usefixtures("ctrl_c")


def press():
    os.kill(os.getpid(), signal.SIGINT)


def test_it_is_heard_at_the_end_of_the_block():
    done = []

    def book():
        with interrupt_held_back():
            press()
            done.append("booked")

    with pytest.raises(KeyboardInterrupt):
        book()
    assert done == ["booked"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_it_nothing_happens():
    with interrupt_held_back():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_in_the_block_is_what_comes_out():
    with pytest.raises(OSError, match="full"), interrupt_held_back():
        raise OSError("full")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_callers_own_stays():
    heard = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        with interrupt_held_back():
            press()
            assert heard == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_threads_of_others_may_use_it():
    done = []

    def book():
        with interrupt_held_back():
            done.append("booked")

    thread = threading.Thread(target=book)
    thread.start()
    thread.join()
    assert done == ["booked"]


def test_tests_hear_it_in_a_shells_background_too():
    """So does what they start: these tests would else wait for ever there."""
    tell = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with hearing_ctrl_c():
            here = signal.getsignal(signal.SIGINT)
            there = subprocess.run([sys.executable, "-c", tell], stdout=subprocess.PIPE, text=True, check=True).stdout
        after = signal.getsignal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (here, there.strip(), after) == (signal.default_int_handler, "True", signal.SIG_IGN)
