"""Threads that help another one: all of an order is done when it goes on, whatever happens to them."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
from support import hearing_ctrl_c, scenario

from cluster_abm import ClusterModel
from cluster_abm.engine.tables import LOAD, RECORDS
from cluster_abm.engine.threads import crew as module
from cluster_abm.engine.threads import shares
from cluster_abm.engine.threads.crew import Crew
from cluster_abm.engine.threads.orders import AWAY, MEASURE, SERVE, WAITING

NODES = 200


def names():
    return [thread.name for thread in threading.enumerate() if thread.name == "cluster-abm-nodes"]


def wait_until(holds):
    end = time.monotonic() + 20.0
    while not holds() and time.monotonic() < end:
        time.sleep(0.005)
    assert holds()


@pytest.fixture(autouse=True)
def together(monkeypatch):
    """Helping threads have begun before the calling one does; they end soon."""
    monkeypatch.setattr(module, "EARLY", 10**8)
    monkeypatch.setattr(module, "IDLE_S", 0.02)
    wait_until(lambda: not names())
    yield
    wait_until(lambda: not names())


@pytest.fixture
def busy_tables():
    """The tables of a run at 2 s, with tasks on its nodes."""
    overrides = {"cluster__nodes": NODES, "workload__duration_s": 8.0, "workload__cpu_ms__mean": 300.0}
    model = ClusterModel(scenario(**overrides, policy__name="none"), seed=2)
    model.run(until_ms=2000.0)
    return model.engine.tables


def rooms(tables, threads):
    return shares.Shares(threads)._every(tables, threads)


def measured(crew, tables, threads):
    """Loads as a crew measures them, and as one thread does."""
    loads = [np.zeros(NODES, LOAD) for _ in range(2)]
    crew.carry_out(MEASURE, rooms(tables, threads), 2_000_000_000, loads[0])
    Crew(1).carry_out(MEASURE, [tables], 2_000_000_000, loads[1])
    return loads


def check_measured(crew, tables, threads):
    loads = measured(crew, tables, threads)
    assert loads[0].tobytes() == loads[1].tobytes()
    assert loads[0]["tasks"].sum() > 0


def states(crew):
    return [int(crew._board[helper._state]) for helper in crew._helpers]


def test_each_has_its_part(busy_tables):
    alone = copy.deepcopy(busy_tables)
    crew, every = Crew(2), rooms(busy_tables, 2)
    reached_ns = 2_000_000_000
    # A core that has other work leaves all to the other one for a while.
    while not int(every[1].counters[RECORDS]) and reached_ns < 6_000_000_000:
        reached_ns += 50_000_000
        crew.carry_out(SERVE, every, reached_ns)
    assert int(every[1].counters[RECORDS]) > 0
    Crew(1).carry_out(SERVE, [alone], reached_ns)
    begun = int(alone.counters[RECORDS])
    assert sum(int(own.counters[RECORDS]) for own in every) == begun
    finished = [own.records["finish_ns"][: int(own.counters[RECORDS])] for own in every]
    assert sorted(np.concatenate(finished).tolist()) == sorted(alone.records["finish_ns"][:begun].tolist())


def test_one_alone_needs_no_thread(busy_tables):
    check_measured(Crew(1), busy_tables, 1)
    check_measured(Crew(4), busy_tables, 1)
    assert names() == []


def test_threads_without_work_end_and_come_back(busy_tables):
    crew = Crew(3)
    for _ in range(3):
        check_measured(crew, busy_tables, 3)
        wait_until(lambda: not names())
        assert states(crew) == [AWAY, AWAY]


def test_fewer_may_be_ordered_than_there_are(busy_tables):
    crew = Crew(4)
    for threads in (4, 2, 3, 1, 4):
        check_measured(crew, busy_tables, threads)


def test_a_thread_takes_other_tables_of_its_own(busy_tables):
    crew = Crew(2)
    for end_ns in (3_000_000_000, 4_000_000_000):
        every = rooms(busy_tables, 2)
        crew.carry_out(SERVE, every, end_ns)
        assert crew._helpers[0]._own is every[1]
        assert (busy_tables.nodes["next_event_ns"] >= end_ns).all()


def test_one_that_comes_late_is_not_waited_for(busy_tables, monkeypatch):
    monkeypatch.setattr(module, "EARLY", 0)
    crew, held = Crew(2), threading.Event()
    call = module._Helper._call
    monkeypatch.setattr(module._Helper, "_call", lambda self, given: call(self, lambda: (held.wait(20.0), given())))
    check_measured(crew, busy_tables, 2)
    assert states(crew) == [WAITING]
    held.set()
    wait_until(lambda: states(crew) == [AWAY])
    check_measured(crew, busy_tables, 2)


def test_a_problem_is_raised_when_all_are_over(busy_tables, monkeypatch):
    crew, entry = Crew(3), module.entry

    def wrong(*given):
        raise ValueError("this one")

    with monkeypatch.context() as patch:
        patch.setattr(
            module, "entry", lambda kernel, *given: wrong if kernel is module.stand_by else entry(kernel, *given)
        )
        patch.setattr(module, "EARLY", 0)
        with pytest.raises(ValueError, match="this one"):
            wait_until(lambda: measured(crew, busy_tables, 3) is None)
    wait_until(lambda: not names())
    for helper in crew._helpers:
        helper._problem = None
    assert states(crew) == [AWAY, AWAY]
    check_measured(crew, busy_tables, 3)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals to a thread")
def test_an_interrupt_waits_for_what_has_begun(busy_tables, monkeypatch):
    crew, asked, entry = Crew(2), [], module.entry

    def compiled(kernel, *like):
        found = entry(kernel, *like)

        def ended(*given):
            asked.append(1)
            if len(asked) == 1:
                signal.pthread_kill(threading.get_ident(), signal.SIGINT)
            return len(asked) > 3 and found(*given)

        return ended if kernel is module.have_ended else found

    monkeypatch.setattr(module, "entry", compiled)
    with hearing_ctrl_c(), pytest.raises(KeyboardInterrupt):
        measured(crew, busy_tables, 2)
    assert len(asked) > 3
    monkeypatch.undo()
    check_measured(crew, busy_tables, 2)


def test_where_no_thread_can_be_started_the_caller_does_it_all(busy_tables, monkeypatch):
    def refused(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    crew = Crew(4)
    check_measured(crew, busy_tables, 4)
    assert states(crew) == [AWAY] * 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_has_threads_of_its_own(busy_tables, monkeypatch):
    crew = Crew(3)
    check_measured(crew, busy_tables, 3)
    here, forgotten = os.getpid(), crew._helpers
    # As after a fork, which leaves the threads behind: a real one of a process with threads is warned of.
    monkeypatch.setattr(os, "getpid", lambda: here + 1)
    check_measured(crew, busy_tables, 3)
    assert not set(forgotten) & set(crew._helpers)


def test_a_copy_has_threads_of_its_own(busy_tables):
    crew = Crew(2)
    check_measured(crew, busy_tables, 2)
    for other in (pickle.loads(pickle.dumps(crew)), copy.deepcopy(crew)):
        assert states(other) == [AWAY]
        check_measured(other, busy_tables, 2)
