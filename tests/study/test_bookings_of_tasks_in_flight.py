"""Tasks in flight: retries of lost tasks, bookings of results, and bookings when the block is left.

The executor is a stand-in; the tests set its futures.
"""

from __future__ import annotations

import os
import signal
from concurrent.futures import BrokenExecutor, Future
from queue import Empty, SimpleQueue
from types import SimpleNamespace

import pytest

from cluster_abm.errors import InputError, PolicyFault
from cluster_abm.study.runner import in_flight
from cluster_abm.study.runner.executors import WorkerLost
from cluster_abm.study.runner.executors.kinds.inline import InlineExecutor
from cluster_abm.study.runner.in_flight import EndedTask, InFlight


@pytest.fixture
def executor(monkeypatch):
    """An executor that keeps the future and the arguments of each task, in order."""
    monkeypatch.setattr(in_flight, "WAIT_S", 0.01)
    found = SimpleNamespace(window=2, futures=[], given=[])

    def submit(*given):
        found.given.append(given)
        found.futures.append(Future())
        return found.futures[-1]

    found.submit = submit
    return found


def test_a_lost_task_is_sent_again_three_times_and_then_its_loss_is_booked(executor):
    booked = []
    flight = InFlight(executor, booked.append)
    flight.send("a", pow, 2, 3)
    for count in (1, 2, 3):
        executor.futures[-1].set_exception(WorkerLost(f"loss {count}"))
        assert not flight.book_next()
        assert (len(executor.futures), len(flight), booked) == (count + 1, 1, [])
    last = WorkerLost("killed by SIGKILL")
    executor.futures[-1].set_exception(last)
    assert flight.book_next()
    ((ended,), made) = booked, len(executor.futures)
    assert (ended.name, ended.result, made) == ("a", None, 4)
    assert str(ended.problem) == "its worker was lost 4 times; the last time: killed by SIGKILL"
    assert ended.problem.__cause__ is last
    assert len(flight) == 0
    assert executor.given == [(pow, 2, 3)] * 4


def test_tasks_are_booked_in_the_order_in_which_they_end(executor):
    booked = []
    flight = InFlight(executor, booked.append)
    for name in ("a", "b", "c"):
        flight.send(name, abs, 1)
    problem, fault = ValueError("disk on fire"), PolicyFault("no node 9")
    executor.futures[2].set_exception(fault)
    # None is a result, too.
    executor.futures[0].set_result(None)
    executor.futures[1].set_exception(problem)
    assert [flight.book_next() for _ in range(4)] == [True, True, True, False]
    # A fault of a policy is booked like an error of its task.
    assert booked == [EndedTask("c", None, fault), EndedTask("a", None, None), EndedTask("b", None, problem)]


@pytest.mark.parametrize("problem", [InputError("wrong"), KeyboardInterrupt(), BrokenExecutor("fault")])
def test_a_problem_that_ends_all_tasks_is_raised_and_not_booked(executor, problem):
    flight = InFlight(executor, pytest.fail)
    flight.send("a", abs, 1)
    executor.futures[0].set_exception(problem)
    with pytest.raises(type(problem)):
        flight.book_next()
    assert len(flight) == 1


def test_bad_input_in_the_block_books_results_and_faults_of_policies(executor):
    booked = []

    def ends():
        with InFlight(executor, booked.append) as flight:
            for name in ("fault", "input", "good"):
                flight.send(name, abs, 1)
            executor.futures[0].set_exception(PolicyFault("no node 9"))
            executor.futures[1].set_exception(InputError("wrong"))
            executor.futures[2].set_result(7)
            raise InputError("wrong")

    with pytest.raises(InputError):
        ends()
    assert [(ended.name, ended.result) for ended in booked] == [("fault", None), ("good", 7)]
    assert isinstance(booked[0].problem, PolicyFault)


@pytest.mark.parametrize("problem", [ZeroDivisionError, None])
def test_a_fault_of_this_program_and_a_normal_end_book_no_further_task(executor, problem):
    def ends():
        with InFlight(executor, pytest.fail) as flight:
            flight.send("a", abs, 1)
            executor.futures[0].set_result(7)
            if problem is not None:
                raise problem

    if problem is None:
        ends()
    else:
        with pytest.raises(problem):
            ends()


def test_a_booking_that_fails_is_not_repeated(executor):
    booked = []

    def book(ended):
        booked.append(ended.name)
        raise InputError("the disk is full")

    def ends():
        with InFlight(executor, book) as flight:
            flight.send("a", abs, 1)
            executor.futures[0].set_result(7)
            flight.book_next()

    with pytest.raises(InputError):
        ends()
    assert booked == ["a"]


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_takes_effect_when_a_task_has_been_booked(executor):
    steps = []

    def book(ended):
        steps.append("begins")
        os.kill(os.getpid(), signal.SIGINT)
        steps.append("ends")

    flight = InFlight(executor, book)
    flight.send("a", abs, 1)
    executor.futures[0].set_result(7)
    with pytest.raises(KeyboardInterrupt):
        flight.book_next()
    assert (steps, len(flight)) == (["begins", "ends"], 0)


def test_a_task_that_is_interrupted_while_it_is_submitted_is_not_booked(executor):
    def submit(*_):
        raise KeyboardInterrupt

    executor.submit = submit

    def ends():
        with InFlight(executor, pytest.fail) as flight:
            flight.send("a", abs, 1)

    with pytest.raises(KeyboardInterrupt):
        ends()


def test_one_wait_for_a_task_takes_half_a_second_at_most(monkeypatch):
    """A Ctrl-C in the instant before a wait begins is noticed only when the wait ends."""
    waits = []

    class Queue(SimpleQueue):
        def get(self, timeout):
            waits.append(timeout)
            raise Empty

    monkeypatch.setattr(in_flight, "SimpleQueue", Queue)
    assert not InFlight(InlineExecutor(), pytest.fail).book_next()
    assert waits == [0.5]
