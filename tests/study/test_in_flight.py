"""What has come back is booked, once, whatever ends the work; and no more is in flight than the executor wants."""

from __future__ import annotations

import os
import signal
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from studies import study
from support import scenario

from cluster_abm.errors import InputError
from cluster_abm.study import batch
from cluster_abm.study.batch import run_batch
from cluster_abm.study.compare import with_policy
from cluster_abm.study.runner import in_flight
from cluster_abm.study.runner import tasks as tasks_module
from cluster_abm.study.runner.executors import BatchExecutor, WorkerLost
from cluster_abm.study.runner.in_flight import InFlight
from cluster_abm.study.runner.tasks import SeededRun, run_all
from cluster_abm.study.store.store import Store

pytestmark = pytest.mark.usefixtures("ctrl_c")


def press():
    os.kill(os.getpid(), signal.SIGINT)


class AtOnce(BatchExecutor):
    """Everything that was submitted has come back by the time that it is looked at."""

    window = 1000

    def submit(self, function, /, *args, **kwargs):
        future = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as problem:
            future.set_exception(problem)
        return future

    def abandon(self):
        pass


class Kept(AtOnce):
    """Nothing comes back before the test says so."""

    window = 2

    def __init__(self):
        self.futures = []

    def submit(self, function, /, *args, **kwargs):
        self.futures.append(Future())
        return self.futures[-1]


@pytest.fixture
def at_once(monkeypatch):
    @contextmanager
    def opened(*_):
        yield AtOnce()

    for module in (batch, tasks_module):
        monkeypatch.setattr(module, "open_executor", opened)


def test_ctrl_c_books_what_a_batch_has_got_back(tmp_path, monkeypatch, at_once):
    real, added = Store.add, []

    def interrupted(store, record):
        real(store, record)
        added.append(record.name)
        # The second time while the rest is booked: it has no less to be kept for that.
        if len(added) in (1, 5):
            press()

    monkeypatch.setattr(Store, "add", interrupted)
    outcome = run_batch(study(tmp_path / "study"), tmp_path / "out", "process", 2, quiet=True)
    assert outcome.interrupted
    assert outcome.made == outcome.finished == len(added) == 12
    assert len(Store(tmp_path / "out").contents().finished) == 12
    assert list((tmp_path / "out" / "claims").iterdir()) == []


def test_ctrl_c_books_what_a_comparison_has_got_back(monkeypatch, at_once):
    tasks = [
        SeededRun(with_policy(scenario(workload__duration_s=5.0, cluster__nodes=2), "jsq"), seed) for seed in (1, 2, 3)
    ]
    real, told = tasks_module.Progress.update, []

    def interrupted(bar, *count):
        told.append(bar)
        press()
        return real(bar, *count)

    monkeypatch.setattr(tasks_module.Progress, "update", interrupted)
    outcome = run_all(tasks, 2, quiet=True)
    assert outcome.interrupted
    assert outcome.finished == len(told) == 3


def test_what_was_taken_up_and_not_yet_booked_is_booked():
    """An instant between two lines, here made long enough to meet."""
    booked = []

    def hit():
        with InFlight(AtOnce(), lambda ended: booked.append((ended.name, ended.result))) as flight:
            flight.send("first", pow, 2, 3)
            flight.send("second", pow, 2, 4)
            real = flight._done

            class Hit:
                def get(self, timeout):
                    real.get(timeout=timeout)
                    raise KeyboardInterrupt

            flight._done = Hit()
            flight.book_next()

    with pytest.raises(KeyboardInterrupt):
        hit()
    assert booked == [("first", 8), ("second", 16)]


@pytest.mark.parametrize("end", [KeyboardInterrupt, InputError("the scheduler has gone"), BrokenExecutor("fault")])
def test_what_ends_all_leaves_what_is_not_back_or_says_nothing_of_its_task(end):
    executor, booked = Kept(), []

    def ended():
        with InFlight(executor, booked.append) as flight:
            for name in ("result", "error", "lost", "running", "cancelled", "told the same"):
                flight.send(name, pow, 2, 3)
            result, error, lost, _, cancelled, same = executor.futures
            result.set_result(8)
            error.set_exception(ValueError("disk on fire"))
            lost.set_exception(WorkerLost("killed"))
            cancelled.cancel()
            same.set_exception(InputError("the scheduler has gone"))
            raise end

    with pytest.raises(end if isinstance(end, type) else type(end)):
        ended()
    assert [one.name for one in booked] == ["result", "error"]
    assert booked[0].result == 8
    assert str(booked[1].problem) == "disk on fire"


def test_a_task_is_in_flight_until_it_is_booked_and_there_is_room_as_the_executor_says():
    executor = Kept()
    seen = []
    with InFlight(executor, lambda ended: seen.append(len(flight))) as flight:
        for name in ("first", "second"):
            assert flight.has_room
            flight.send(name, pow, 2, 3)
        assert not flight.has_room
        executor.window = 3
        assert flight.has_room
        for future in executor.futures:
            future.set_result(8)
        assert flight.book_next()
        assert flight.book_next()
    assert (seen, len(flight)) == ([1, 0], 0)


@pytest.mark.slow
def test_a_batch_has_as_many_runs_in_flight_as_the_executor_wants(tmp_path, monkeypatch):
    most = []

    class Counting(AtOnce):
        window = 300

        def submit(self, function, /, assignment):
            most.append(assignment.seed)
            if len(most) == self.window:
                raise KeyboardInterrupt
            return Future()

    @contextmanager
    def opened(*_):
        yield Counting()

    monkeypatch.setattr(batch, "open_executor", opened)
    outcome = run_batch(study(tmp_path / "study", replications=100), tmp_path / "out", "dask", dask="any", quiet=True)
    assert outcome.interrupted
    assert len(most) == 300


def test_for_how_long_a_task_has_been_under_way(monkeypatch):
    clock, futures = [1000.0], []

    def submit(*_):
        futures.append(Future())
        return futures[-1]

    monkeypatch.setattr(in_flight, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(in_flight, "WAIT_S", 0.01)
    flight = InFlight(SimpleNamespace(window=2, submit=submit), lambda _: None)
    flight.send("a", abs, 1)
    assert flight.has_room
    flight.send("b", abs, 2)
    assert not flight.has_room
    futures[0].set_running_or_notify_cancel()
    assert not flight.book_next()
    clock[0] += 7.0
    # The other one has not begun.
    assert flight.under_way() == [("a", 7.0)]
    # One that lost its worker begins anew.
    futures[0].set_exception(WorkerLost("gone"))
    assert not flight.book_next()
    assert (len(futures), flight.under_way()) == (3, [])
    clock[0] += 5.0
    futures[2].set_running_or_notify_cancel()
    assert not flight.book_next()
    clock[0] += 2.0
    assert flight.under_way() == [("a", 2.0)]
    futures[2].set_result(1)
    assert flight.book_next()
    assert (len(flight), flight.under_way()) == (1, [])
