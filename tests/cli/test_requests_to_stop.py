"""Signals during a run: the first signal requests a stop, the second stops at once."""

from __future__ import annotations

import itertools
import signal
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from cluster_abm.cli import stopping
from cluster_abm.cli.stopping import stop_request
from cluster_abm.interrupts import Terminated, sigterm_raises, was_terminated

pytestmark = pytest.mark.usefixtures("ctrl_c")


def after(*numbers):
    """The request after these signals, and the type of exception that `raise_if_requested` raises."""
    with stop_request() as request:
        for number in numbers:
            signal.raise_signal(number)
        try:
            request.raise_if_requested()
        except KeyboardInterrupt as problem:
            return request, type(problem)
    return request, None


def test_without_a_signal_nothing_happens(capfd):
    request, raised = after()
    assert (request.requested, request.at_once, raised) == (False, False, None)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert capfd.readouterr().err == ""


def test_the_first_ctrl_c_is_noted_and_announced(capfd):
    request, raised = after(signal.SIGINT)
    assert (request.requested, request.at_once, raised) == (True, False, KeyboardInterrupt)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert capfd.readouterr().err == "\nstopping: what is finished will be kept (a second signal stops at once)\n"


def test_sigterm_and_ctrl_c_raise_different_exceptions():
    with sigterm_raises():
        assert after(signal.SIGINT)[1] is KeyboardInterrupt
        assert not was_terminated()
        assert after(signal.SIGTERM)[1] is Terminated
        assert was_terminated()


@pytest.mark.parametrize(("second", "kind"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Terminated)])
def test_the_second_signal_stops_at_once(second, kind):
    reached = []

    def press():
        with sigterm_raises(), stop_request() as request:
            reached.append(request)
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(second)
            reached.append("the next statement")

    with pytest.raises(KeyboardInterrupt) as caught:
        press()
    assert caught.type is kind
    (request,) = reached
    assert request.at_once


def test_a_request_outside_the_main_thread_hears_no_signal():
    found = []
    thread = threading.Thread(target=lambda: found.append(after()))
    thread.start()
    thread.join()
    assert found[0][1] is None


def goes_on(monkeypatch, numbers, seconds):
    """Whether a sleep goes on after a signal; each look at the current call finds the next one of `numbers`."""
    monkeypatch.setattr(stopping, "PATIENCE_S", 0.01)
    calls = iter(numbers)
    monkeypatch.setattr(stopping, "_call_number", lambda: next(calls))
    with stop_request():
        signal.raise_signal(signal.SIGINT)
        try:
            time.sleep(seconds)
        except KeyboardInterrupt:
            return False
    # A late look would raise KeyboardInterrupt here.
    time.sleep(0.03)
    return True


def test_a_method_that_does_not_return_is_interrupted(monkeypatch):
    # The second look finds the same call and interrupts it. 20 s are a limit for a busy machine.
    assert not goes_on(monkeypatch, itertools.repeat(7), 20.0)


def test_methods_that_return_are_not_interrupted(monkeypatch):
    assert goes_on(monkeypatch, itertools.count(), 0.08)
    assert goes_on(monkeypatch, itertools.repeat(None), 0.08)


def test_a_second_signal_stops_at_once_after_looks_too(monkeypatch):
    monkeypatch.setattr(stopping, "PATIENCE_S", 0.01)
    looks = []
    monkeypatch.setattr(stopping, "_call_number", lambda: looks.append("looked"))
    with stop_request() as request:
        signal.raise_signal(signal.SIGINT)
        until = time.monotonic() + 20.0
        while len(looks) < 3 and time.monotonic() < until:
            time.sleep(0.005)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert request.at_once


@pytest.mark.parametrize(("call", "number"), [(SimpleNamespace(number=3), 3), (None, None)])
def test_the_number_of_the_current_call(call, number, monkeypatch):
    monkeypatch.setitem(sys.modules, "cluster_abm.policy.calling", SimpleNamespace(current_call=lambda: call))
    assert stopping._call_number() == number
    monkeypatch.delitem(sys.modules, "cluster_abm.policy.calling")
    assert stopping._call_number() is None
