"""What the executor of Dask makes of the answers of a scheduler, which is a stand-in: nothing is started."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace

import executor_tasks as work
import pytest

from cluster_abm.errors import InputError
from cluster_abm.study.runner.executors import WorkerLost, base
from cluster_abm.study.runner.executors.kinds import dask as dask_cluster
from cluster_abm.study.runner.executors.kinds.dask import DaskExecutor


class Killed(Exception):
    """As Dask's own."""


@pytest.fixture
def dask():
    """An executor without its scheduler: a client whose state a test sets."""
    executor = DaskExecutor.__new__(DaskExecutor)
    executor._killed, executor._address = Killed, "tcp://here:1"
    executor._client = SimpleNamespace(status="running")
    executor._window, executor._counted_s = dask_cluster.FEWEST_IN_FLIGHT, float("-inf")
    return executor


def passed_on(executor, inner):
    future = Future()
    executor._pass_on(future, inner)
    return future


def test_what_dask_gives_back_is_passed_on(dask):
    good, bad, killed, dropped = Future(), Future(), Future(), Future()
    good.set_result(9)
    bad.set_exception(ValueError("disk on fire"))
    killed.set_exception(Killed("three workers died"))
    dropped.cancel()
    assert passed_on(dask, good).result(timeout=0) == 9
    assert passed_on(dask, bad).exception(timeout=0) is bad.exception()
    lost = passed_on(dask, killed).exception(timeout=0)
    assert isinstance(lost, WorkerLost)
    assert str(lost).endswith("Killed: three workers died")
    assert lost.__cause__ is killed.exception()
    # A scheduler that is there has lost it; one that has gone ends the batch.
    for status, kind in (("running", WorkerLost), ("connecting", WorkerLost), ("closed", InputError)):
        dask._client.status = status
        assert isinstance(passed_on(dask, dropped).exception(timeout=0), kind), status
    with pytest.raises(InputError, match="the scheduler at tcp://here:1 has gone"):
        dask.submit(work.square, 3)


def test_two_tasks_for_each_thread_of_dask_s_workers(dask, monkeypatch):
    now_s, threads, asked = [100.0], {"a": 100, "b": 60}, []

    def nthreads(callback_timeout):
        asked.append(now_s[0])
        if not threads:
            raise OSError("no answer")
        return threads

    dask._client.nthreads = nthreads
    monkeypatch.setattr(dask_cluster, "time", SimpleNamespace(monotonic=lambda: now_s[0]))
    assert dask.window == 320
    # Counted every two seconds at most, and only where the scheduler is there.
    threads["b"] = 61
    now_s[0] = 101.9
    assert dask.window == 320
    now_s[0] = 102.1
    assert dask.window == 322
    now_s[0] = 105.0
    dask._client.status = "connecting"
    threads["b"] = 62
    assert dask.window == 322
    dask._client.status = "running"
    assert dask.window == 324
    # One that does not answer changes nothing; few threads still have 256 tasks.
    threads.clear()
    now_s[0] = 110.0
    assert dask.window == 324
    threads["a"] = 4
    now_s[0] = 120.0
    assert dask.window == 256
    assert asked == [100.0, 102.1, 105.0, 110.0, 120.0]


@pytest.mark.parametrize(("answers", "refused"), [
    ({"a": "same"}, []), ({}, []), ({"a": OSError("gone"), "b": "same"}, []), ({"b": "other", "a": "same"}, ["b"]),
    ({"b": "other", "a": ImportError("no cluster_abm")}, ["a", "b"]),
])  # fmt: skip
def test_workers_of_other_sources_are_named(dask, monkeypatch, caplog, answers, refused):
    monkeypatch.setattr(dask_cluster, "result_version", lambda: "same")

    def run(function, on_error):
        # The exception of a worker is returned as its answer.
        assert (function(), on_error) == ("same", "return")
        return answers

    dask._client.run = run
    if refused:
        with pytest.raises(InputError) as found:
            dask._check_workers()
        assert [problem.split()[3].rstrip(":") for problem in found.value.problems] == refused
    else:
        dask._check_workers()
    assert ("has no worker yet" in caplog.text) == (answers == {})


def test_a_future_that_is_over_keeps_what_it_has():
    done, waits = Future(), Future()
    done.set_result(1)
    base.fail(done, ValueError("late"))
    base.fail(waits, ValueError("now"))
    assert done.result() == 1
    assert isinstance(waits.exception(), ValueError)
    assert base.message_of(ValueError("a\n  b")) == "ValueError: a b"


# ---- coming and going ----


class Scheduler:
    """A client of Dask's, and its executor, that note what they are asked for."""

    def __init__(self, raises=None, answers=None):
        self.raises, self.answers, self.asked, self.inner = raises, answers or {}, [], Future()
        self.sent = []
        outer = self

        class Client:
            status = "running"

            def __init__(self, address, timeout, set_as_default):
                outer.asked.append(("open", address, timeout, set_as_default))
                if outer.raises is not None:
                    raise outer.raises

            def run(self, function, on_error):
                return outer.answers

            def get_executor(self, pure):
                outer.asked.append(("executor", pure))
                return self

            def submit(self, call):
                outer.asked.append(("submit",))
                outer.sent.append(call)
                return outer.inner

            def shutdown(self, wait):
                outer.asked.append(("shutdown", wait))

            def close(self):
                outer.asked.append(("close",))

        self.library = SimpleNamespace(Client=Client, KilledWorker=Killed)


@pytest.fixture
def scheduler(monkeypatch):
    def call(**given):
        found = Scheduler(**given)
        monkeypatch.setattr(dask_cluster, "library", lambda name, extra: found.library)
        return found

    return call


OPENED = [("open", "tcp://here:1", 5, False), ("executor", False)]


def test_a_task_that_was_sent_is_under_way_and_its_result_comes_back(scheduler):
    there = scheduler()
    executor = DaskExecutor("tcp://here:1")
    future = executor.submit(work.square, 3)
    # The same run again is another task (`pure` would make it the first one's result).
    assert there.asked == [*OPENED, ("submit",)]
    assert future.running()
    there.inner.set_result(9)
    assert future.result(timeout=0) == 9


def test_the_first_look_at_the_window_counts_the_workers(scheduler):
    scheduler()
    executor = DaskExecutor("tcp://here:1")
    executor._client.nthreads = lambda callback_timeout: {"a": 200}
    assert executor.window == 400


def test_a_worker_carries_out_a_task_only_with_the_same_sources(scheduler, monkeypatch):
    there = scheduler()
    monkeypatch.setattr(dask_cluster, "result_version", lambda: "mine")
    DaskExecutor("tcp://here:1").submit(work.slow_square, 3, seconds=0.0)
    (call,) = there.sent
    monkeypatch.setattr("cluster_abm.study.runner.code_version.result_version", lambda: "mine")
    assert call() == 9
    monkeypatch.setattr("cluster_abm.study.runner.code_version.result_version", lambda: "other")
    with pytest.raises(InputError, match=r"has other sources \(other\) than the process that sends it work \(mine\)"):
        call()


@pytest.mark.parametrize(("leave", "waits"), [
    # At the end tasks are waited for, unless they are to be dropped or the caller does not wait.
    (lambda executor: executor.shutdown(), True), (lambda executor: executor.shutdown(wait=False), False),
    (lambda executor: executor.shutdown(cancel_futures=True), False), (lambda executor: executor.abandon(), False),
])  # fmt: skip
def test_a_scheduler_is_left(scheduler, leave, waits):
    there = scheduler()
    leave(DaskExecutor("tcp://here:1"))
    assert there.asked == [*OPENED, ("shutdown", waits), ("close",)]


@pytest.mark.parametrize("problem", [OSError("refused"), ValueError("no address")])
def test_where_no_scheduler_answers_the_client_is_closed(scheduler, problem):
    there = scheduler(raises=problem)
    with pytest.raises(InputError, match=f"no Dask scheduler answers at 'tcp://here:1' .*{problem}"):
        DaskExecutor("tcp://here:1")
    assert there.asked == [OPENED[0], ("close",)]


def test_where_workers_are_others_the_client_is_closed(scheduler):
    there = scheduler(answers={"w": "other"})
    with pytest.raises(InputError, match="worker w: other sources"):
        DaskExecutor("tcp://here:1")
    assert there.asked == [OPENED[0], ("close",)]


@pytest.mark.parametrize("address", [None, ""])
def test_an_address_is_needed(scheduler, address):
    there = scheduler()
    with pytest.raises(InputError, match="the scheduler's address is missing"):
        DaskExecutor(address)
    assert there.asked == []
