"""Threads that help another one: all calls are over when it goes on, whatever happens in them."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import threading
import time

import pytest
from support import hearing_ctrl_c

from cluster_abm.engine.threads import crew as module
from cluster_abm.engine.threads.crew import Crew


def names():
    return [thread.name for thread in threading.enumerate() if thread.name == "cluster-abm-nodes"]


def wait_until(holds):
    end = time.monotonic() + 20.0
    while not holds() and time.monotonic() < end:
        time.sleep(0.005)
    assert holds()


@pytest.fixture
def crew(monkeypatch):
    monkeypatch.setattr(module, "IDLE_S", 0.02)
    wait_until(lambda: not names())
    yield Crew()
    wait_until(lambda: not names())


def test_calls_are_carried_out_at_once(crew):
    together = threading.Barrier(4, timeout=20.0)
    by = set()

    def call():
        by.add(threading.get_ident())
        together.wait()

    for _ in range(50):
        crew.carry_out([call] * 4)
    assert threading.get_ident() in by
    assert len(by) >= 4


def test_one_call_needs_no_thread(crew):
    done = []
    crew.carry_out([lambda: done.append(threading.get_ident())])
    assert done == [threading.get_ident()]
    assert names() == []


def test_threads_without_work_end_and_come_back(crew):
    done = []
    for _ in range(3):
        crew.carry_out([lambda: done.append(1)] * 3)
        wait_until(lambda: not names())
    assert len(done) == 9


def test_a_problem_is_raised_when_all_are_over(crew):
    done = []

    def slow():
        time.sleep(0.05)
        done.append(1)

    def wrong():
        raise ValueError("this one")

    for calls in ([wrong, slow, slow], [slow, wrong, slow]):
        done.clear()
        with pytest.raises(ValueError, match="this one"):
            crew.carry_out(calls)
        assert len(done) == 2
    crew.carry_out([slow] * 3)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals to a thread")
def test_an_interrupt_waits_for_what_has_begun(crew):
    done, main = [], threading.get_ident()

    def interrupting():
        signal.pthread_kill(main, signal.SIGINT)
        time.sleep(0.05)
        done.append(1)

    with hearing_ctrl_c():
        with pytest.raises(KeyboardInterrupt):
            crew.carry_out([lambda: None, interrupting])
        assert done == [1]
        crew.carry_out([lambda: done.append(2)] * 2)
    assert done == [1, 2, 2]


def test_where_no_thread_can_be_started_the_caller_does_it_all(crew, monkeypatch):
    def refused(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    done = []
    crew.carry_out([lambda: done.append(threading.get_ident())] * 4)
    assert done == [threading.get_ident()] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_has_threads_of_its_own(crew, monkeypatch):
    monkeypatch.setattr(module, "IDLE_S", 60.0)
    used = Crew()
    used.carry_out([lambda: None] * 3)
    here = os.getpid()
    monkeypatch.setattr(module, "IDLE_S", 0.02)
    # As after a fork, which leaves the threads behind: a real one of a process with threads is warned of.
    monkeypatch.setattr(os, "getpid", lambda: here + 1)
    together = threading.Barrier(3, timeout=20.0)
    forgotten = used._helpers
    used.carry_out([together.wait] * 3)
    assert not set(forgotten) & set(used._helpers)
    for helper in forgotten:
        helper._calls.put(lambda: None)


def test_a_copy_has_threads_of_its_own(crew):
    crew.carry_out([lambda: None] * 2)
    for other in (pickle.loads(pickle.dumps(crew)), copy.deepcopy(crew)):
        assert other._helpers == []
        other.carry_out([lambda: None] * 2)
