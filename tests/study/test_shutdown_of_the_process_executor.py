"""Shutdown and faults of the executor of processes: every worker is ended once, and every future is done.

The workers are stand-ins: no process is spawned.
"""

from __future__ import annotations

import sys
import weakref
from concurrent.futures import BrokenExecutor, wait
from functools import partial
from types import SimpleNamespace

import executor_tasks as work
import pytest
from waiting import some_polls, until

from cluster_abm.errors import InputError
from cluster_abm.study.runner.executors import WorkerLost
from cluster_abm.study.runner.executors.kinds import process as processes
from cluster_abm.study.runner.executors.kinds.process import ProcessExecutor


def ends(executor):
    """Wait for the thread of an executor; true if it ends."""
    executor._crew.thread.join(timeout=20)
    return not executor._crew.thread.is_alive()


def test_each_worker_has_a_task_and_a_next_one(crew, monkeypatch):
    monkeypatch.setattr(processes, "available_processors", lambda: 5)
    for workers, window in ((1, 2), (3, 6), (None, 10)):
        executor = ProcessExecutor(workers)
        assert executor.window == window
        assert (executor.is_here, executor.is_in_process) == (True, False)
        # A daemon thread does not keep alive a program that never shuts its executor down.
        assert executor._crew.thread.daemon
        executor.shutdown()
    assert crew.started == []


def test_a_task_gets_all_its_arguments(crew):
    executor = ProcessExecutor(1)
    future = executor.submit(work.slow_square, 3, seconds=0.0)
    until(lambda: crew.started and crew.started[0].tasks)
    crew.started[0].carry_out()
    assert future.result(timeout=20) == 9
    executor.shutdown()


def test_abandoning_kills_all_workers_and_then_waits_for_each(crew):
    executor = ProcessExecutor(2)
    futures = [executor.submit(work.square, number) for number in (2, 3)]
    until(lambda: len(crew.started) == 2 and all(worker.tasks for worker in crew.started))
    # The thread is busy when `abandon` is called.
    executor._crew.events.put(some_polls)
    executor.abandon()
    assert not executor._crew.thread.is_alive()
    assert [how for _, how in crew.log] == ["killed", "killed", "dropped", "dropped"]
    assert [str(future.exception(timeout=0)) for future in futures] == ["its process was stopped"] * 2


def test_a_worker_that_starts_is_killed_by_abandoning_and_not_by_shutdown(crew):
    crew.plan = ["starts"]
    executor = ProcessExecutor(1)
    future = executor.submit(work.square, 2)
    until(lambda: crew.started)
    executor.shutdown(wait=False)
    some_polls()
    # Without cancel_futures the task is still to be carried out.
    assert (future.done(), crew.started[0].ends) == (False, [])
    executor.abandon()
    assert ends(executor)
    assert crew.started[0].ends == ["killed", "dropped"]
    assert future.cancelled()


@pytest.mark.parametrize("leave", [lambda executor: executor.abandon(),
                                   lambda executor: executor.shutdown(wait=False, cancel_futures=True)])  # fmt: skip
def test_waiting_for_a_cancelled_task_ends(crew, leave):
    crew.plan = ["starts"]
    executor = ProcessExecutor(1)
    waiting = executor.submit(work.square, 2)
    until(lambda: crew.started)
    leave(executor)
    assert wait([waiting], timeout=20).done == {waiting}
    assert waiting.cancelled()
    executor.shutdown()


def test_the_thread_ends_although_a_worker_cannot_be_killed_at_first(crew):
    executor = ProcessExecutor(1)
    future = executor.submit(work.square, 2)
    until(lambda: crew.started and crew.started[0].tasks)

    real, failed = crew.started[0].kill, []

    def kill():
        if not failed:
            failed.append(True)
            raise PermissionError("not now")
        real()

    crew.started[0].kill = kill
    executor._crew.events.put(executor._crew.kill)
    assert ends(executor)
    assert str(future.exception(timeout=0)) == "executor 'process': PermissionError: not now"
    assert crew.started[0].ends == ["killed", "dropped"]


def test_later_tasks_fail_with_the_first_fault(crew):
    crew.plan = ["fault"]
    executor = ProcessExecutor(1)
    first = executor.submit(work.square, 2)
    assert "ZeroDivisionError: a fault" in str(first.exception(timeout=20))
    until(lambda: executor._crew.broken is not None)

    def another():
        raise LookupError("another one")

    executor._crew.events.put(another)
    # A task that was submitted just before the fault reaches the queue after it, and fails with it too.
    late = processes._PendingTask(partial(work.square, 3))
    executor._crew.events.put(partial(executor._crew.enqueue, late))
    assert str(late.future.exception(timeout=20)) == "executor 'process': ZeroDivisionError: a fault"
    assert isinstance(executor._crew.broken.__cause__, ZeroDivisionError)
    assert crew.started == []
    executor.shutdown()
    assert ends(executor)


def test_after_a_fault_workers_are_ended_once(crew):
    executor = ProcessExecutor(2)
    first = executor.submit(work.square, 2)
    until(lambda: crew.started and crew.started[0].tasks)
    crew.plan = ["fault"]
    second = executor.submit(work.square, 3)
    for future in (first, second):
        assert isinstance(future.exception(timeout=20), BrokenExecutor)
    until(lambda: crew.started[0].ends == ["killed", "dropped"])
    # A result that comes now changes nothing.
    crew.started[0].carry_out()
    executor.shutdown()
    assert ends(executor)
    assert crew.started[0].ends == ["killed", "dropped"]


@pytest.mark.parametrize("fate", ["refused", "no thread", "dies"])
def test_a_cancelled_task_stays_cancelled_when_no_process_can_be_started(crew, fate):
    executor = ProcessExecutor(1)
    first = executor.submit(work.square, 1)
    until(lambda: crew.started and crew.started[0].tasks)
    cancelled, other = executor.submit(work.square, 2), executor.submit(work.square, 3)
    assert cancelled.cancel()
    crew.plan = [fate] * 3
    crew.started[0].die()
    assert isinstance(first.exception(timeout=20), WorkerLost)
    assert "no process can be started here" in str(other.exception(timeout=20))
    assert cancelled.cancelled()
    # Afterwards one start is tried for each task.
    crew.plan = [fate]
    assert isinstance(executor.submit(work.square, 4).exception(timeout=20), InputError)
    assert crew.plan == []
    good = executor.submit(work.square, 5)
    until(lambda: crew.started[-1].tasks and not crew.started[-1].is_dead)
    crew.started[-1].carry_out()
    assert good.result(timeout=20) == 25
    executor.shutdown()


def test_cancelled_tasks_are_passed_over(crew):
    executor = ProcessExecutor(1)
    futures = [executor.submit(work.square, number) for number in range(4)]
    until(lambda: crew.started and crew.started[0].tasks)
    assert futures[1].cancel()
    assert futures[2].cancel()
    crew.started[0].carry_out()
    until(lambda: len(crew.started[0].tasks) == 2)
    crew.started[0].carry_out()
    assert futures[3].result(timeout=20) == 9
    executor.shutdown()
    assert (len(crew.started), len(crew.started[0].tasks)) == (1, 2)


def test_the_executor_keeps_no_results(crew):
    executor = ProcessExecutor(1)
    future = executor.submit(work.square, 2)
    until(lambda: crew.started and crew.started[0].tasks)
    crew.started[0].carry_out()
    assert future.result(timeout=20) == 4
    kept = weakref.ref(future)
    del future
    until(lambda: kept() is None)
    executor.shutdown()


@pytest.mark.parametrize(("main", "name"), [
    (SimpleNamespace(__file__="/home/me/runs.py"), "/home/me/runs.py"), (SimpleNamespace(__file__=None), "the script"),
    (SimpleNamespace(), "the script"), (None, "the script"),
])  # fmt: skip
def test_the_script_is_named_if_it_is_a_file(monkeypatch, main, name):
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert processes.script_name() == name
