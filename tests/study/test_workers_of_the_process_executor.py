"""The executor of processes, with workers that start, work, die or cannot be started.

The workers are stand-ins: no process is spawned.
"""

from __future__ import annotations

from concurrent.futures import BrokenExecutor, CancelledError

import executor_tasks as work
import pytest
from waiting import some_polls, until

from cluster_abm.errors import InputError
from cluster_abm.study.runner.executors import WorkerLost, open_executor
from cluster_abm.study.runner.executors.kinds import process as processes


@pytest.mark.slow
def test_a_worker_starts_for_each_task_up_to_the_limit(crew):
    crew.plan = ["starts"] * 9
    with open_executor("process", 2) as executor:
        first = executor.submit(work.square, 2)
        until(lambda: len(crew.started) == 1)
        some_polls()
        # One task starts one worker; no second one is started while the first starts.
        assert len(crew.started) == 1
        others = [executor.submit(work.square, number) for number in (3, 4)]
        until(lambda: len(crew.started) == 2)
        some_polls()
        assert len(crew.started) == 2
        one, two = crew.started
        one.word.set_result(1)
        two.word.set_result(1)
        until(lambda: one.tasks and two.tasks)
        some_polls()
        # The third task waits, and gets the first free worker.
        assert [future.running() for future in (first, *others)] == [True, True, False]
        two.carry_out()
        assert others[0].result(timeout=20) == 9
        until(lambda: len(two.tasks) == 2)
        two.carry_out()
        one.carry_out()
        assert (first.result(timeout=20), others[1].result(timeout=20)) == (4, 16)
        # A free worker is used again.
        again = executor.submit(work.square, 5)
        until(lambda: len(one.tasks) + len(two.tasks) == 4)
        max(crew.started, key=lambda worker: not worker.tasks[-1][1].done()).carry_out()
        assert again.result(timeout=20) == 25
        assert len(crew.started) == 2
    assert [worker.ends for worker in crew.started] == [["left"], ["left"]]


def test_a_worker_that_dies_loses_one_task_and_is_replaced(crew):
    with open_executor("process", 1) as executor:
        lost, next_one = executor.submit(work.square, 2), executor.submit(work.square, 3)
        until(lambda: crew.started and crew.started[0].tasks)
        crew.started[0].die()
        problem = lost.exception(timeout=20)
        assert isinstance(problem, WorkerLost)
        assert str(problem).startswith("its process was killed by SIGKILL (out of memory?); ")
        until(lambda: len(crew.started) == 2 and crew.started[1].tasks)
        crew.started[1].carry_out()
        assert next_one.result(timeout=20) == 9
        # A worker that died idle loses the next task that it gets.
        crew.started[1].is_dead = True
        assert isinstance(executor.submit(work.square, 4).exception(timeout=20), WorkerLost)
        last = executor.submit(work.square, 5)
        until(lambda: len(crew.started) == 3 and crew.started[2].tasks)
        crew.started[2].carry_out()
        assert last.result(timeout=20) == 25


@pytest.mark.parametrize(("fates", "said"), [
    (["refused"] * 3, "OSError: no more processes"), (["dies"] * 3, "its process was killed by SIGKILL"),
    (["refused", "dies", "refused"], "OSError: no more processes"),
])  # fmt: skip
def test_after_three_failed_starts_in_a_row_tasks_fail(crew, fates, said):
    crew.plan = [*fates]
    with open_executor("process", 2) as executor:
        problem = executor.submit(work.square, 2).exception(timeout=20)
    assert isinstance(problem, InputError)
    assert f"executor 'process': no process can be started here ({said}" in str(problem)
    assert crew.plan == []


def test_a_start_that_succeeds_resets_the_count_of_failed_starts(crew):
    # Twice, two starts fail and the third succeeds; in between the worker dies.
    crew.plan = ["dies", "refused", "good", "refused", "dies", "good"]
    with open_executor("process", 1) as executor:
        first = executor.submit(work.square, 2)
        until(lambda: len(crew.started) == 2 and crew.started[1].tasks)
        crew.started[1].die()
        assert isinstance(first.exception(timeout=20), WorkerLost)
        second = executor.submit(work.square, 3)
        until(lambda: len(crew.started) == 4 and crew.started[3].tasks)
        crew.started[3].carry_out()
        assert second.result(timeout=20) == 9


def test_one_worker_does_all_tasks_if_no_second_can_be_started(crew):
    crew.plan = ["starts", *["refused"] * 9]
    with open_executor("process", 2) as executor:
        futures = [executor.submit(work.square, number) for number in range(3)]
        until(lambda: len(crew.plan) == 6)
        some_polls()
        # A second worker was tried three times. It is tried three times more once the first has started.
        assert len(crew.plan) == 6
        (worker,) = crew.started
        worker.word.set_result(1)
        for number, future in enumerate(futures):
            until(lambda count=number + 1: len(worker.tasks) == count)
            worker.carry_out()
            assert future.result(timeout=20) == number * number
    assert (len(crew.plan), crew.started) == (3, [worker])


def test_a_script_that_starts_runs_when_it_is_imported_is_explained(crew):
    crew.plan, crew.imports_the_runs = ["dies"], True
    with open_executor("process", 1) as executor:
        problem = executor.submit(work.square, 2).exception(timeout=20)
    assert "starts runs on several processes" in str(problem)
    assert len(crew.started) == 1


def test_an_error_of_the_executor_itself_fails_pending_and_later_tasks(crew):
    crew.plan = ["good", "fault"]
    executor = processes.ProcessExecutor(2)
    futures = [executor.submit(work.square, 2), executor.submit(work.square, 3)]
    for future in futures:
        problem = future.exception(timeout=20)
        assert isinstance(problem, BrokenExecutor)
        assert str(problem) == "executor 'process': ZeroDivisionError: a fault"
    until(lambda: crew.started[0].ends == ["killed", "dropped"])
    with pytest.raises(BrokenExecutor, match="a fault"):
        executor.submit(work.square, 4)
    executor.shutdown()


def test_an_exception_in_the_block_kills_workers_and_cancels_waiting_tasks(crew):
    with pytest.raises(RuntimeError, match="enough"), open_executor("process", 1) as executor:  # noqa: PT012
        running, waiting = executor.submit(work.square, 2), executor.submit(work.square, 3)
        until(lambda: crew.started and crew.started[0].tasks)
        raise RuntimeError("enough")
    assert isinstance(running.exception(timeout=20), WorkerLost)
    assert "its process was stopped" in str(running.exception())
    with pytest.raises(CancelledError):
        waiting.result(timeout=20)
    assert crew.started[0].ends == ["killed", "dropped"]
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(work.square, 4)


def test_a_worker_gets_its_next_task_before_the_last_future_is_done(crew):
    handed = []
    with open_executor("process", 1) as executor:
        first, second = executor.submit(work.fail, "disk on fire"), executor.submit(work.square, 3)
        first.add_done_callback(lambda _: handed.append(len(crew.started[0].tasks)))
        until(lambda: crew.started and crew.started[0].tasks)
        # An exception of a task does not end its worker.
        crew.started[0].tasks[0][1].set_exception(ValueError("disk on fire"))
        assert isinstance(first.exception(timeout=20), ValueError)
        until(lambda: handed)
        crew.started[0].carry_out()
        assert second.result(timeout=20) == 9
    assert (handed, len(crew.started)) == ([2], 1)


@pytest.mark.parametrize("cancels", [True, False])
def test_shutdown_carries_out_waiting_tasks_unless_it_cancels_them(crew, cancels):
    executor = processes.ProcessExecutor(1)
    running, waiting = executor.submit(work.square, 2), executor.submit(work.square, 3)
    until(lambda: crew.started and crew.started[0].tasks)
    executor.shutdown(wait=False, cancel_futures=cancels)
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(work.square, 4)
    if cancels:
        until(waiting.cancelled)
    some_polls()
    crew.started[0].carry_out()
    assert running.result(timeout=20) == 4
    if not cancels:
        until(lambda: len(crew.started[0].tasks) == 2)
        crew.started[0].carry_out()
        assert waiting.result(timeout=20) == 9
    executor.shutdown()
    assert crew.started[0].ends == ["left"]
