"""Slurm's jobs and their futures when an executor is abandoned, has a fault, or is refused by submitit.

Jobs, thread and clock are stand-ins.
"""

from __future__ import annotations

from concurrent.futures import BrokenExecutor, wait
from types import SimpleNamespace

import executor_tasks as work
import pytest

from cluster_abm.errors import InputError
from cluster_abm.study.runner.code_version import with_same_code
from cluster_abm.study.runner.executors import WorkerLost, open_executor
from cluster_abm.study.runner.executors.kinds import slurm as slurm_jobs


def fault():
    raise ZeroDivisionError("a fault")


def test_abandoning_cancels_jobs_and_notifies_waiting_futures(turns):
    there = turns(workers=2)
    one, two, waiting = (there.executor.submit(work.square, number) for number in (3, 4, 5))
    there.turn()
    late = there.executor.submit(work.square, 6)
    there.waking.allowed = 1
    there.executor.abandon()
    assert [str(future.exception(timeout=0)) for future in (one, two)] == ["its job was cancelled"] * 2
    assert isinstance(one.exception(), WorkerLost)
    assert wait([waiting, late], timeout=0).done == {waiting, late}
    assert waiting.cancelled()
    assert late.cancelled()
    assert there.cancelled == [["scancel", "7"]]
    assert there.waking.periods[-1] == 5.0
    with pytest.raises(RuntimeError, match="after shutdown"):
        there.executor.submit(work.square, 7)


def test_without_running_jobs_scancel_is_not_called(turns):
    there = turns()
    waiting = there.executor.submit(work.square, 3)
    there.waking.allowed = 1
    there.executor.abandon()
    assert waiting.cancelled()
    assert (there.cancelled, there.jobs.arrays) == ([], [])


@pytest.mark.parametrize(("looks", "slept"), [(1, 0), (4, 3), (10_000, 100)])
def test_local_jobs_have_five_seconds_to_end(turns, looks, slept):
    """The executor looks at them 20 times a second."""
    there = turns("local")
    there.executor.submit(work.square, 3)
    there.turn()
    (job,) = there.jobs.made
    seen = []

    def done():
        seen.append(there.now_s)
        return len(seen) >= looks

    job.done = done
    there.waking.allowed = 1
    there.executor.abandon()
    assert job.cancelled == [False]
    assert there.slept == [0.05] * len(there.slept)
    assert len(there.slept) == pytest.approx(slept, abs=1 if slept == 100 else 0)
    assert there.cancelled == []


def test_abandoning_waits_for_every_local_job(turns):
    there = turns("local")
    for number in (3, 4):
        there.executor.submit(work.square, number)
    there.turn()
    first, last = there.jobs.made
    # The first job ends at once, the last one after half a second.
    last.done = lambda: there.now_s >= 1000.5 - 1e-6
    there.waking.allowed = 1
    there.executor.abandon()
    assert there.slept == [0.05] * 10
    assert (first.cancelled, last.cancelled) == ([False], [False])


def test_a_fault_fails_all_tasks_and_cancels_the_jobs(turns):
    there = turns(workers=1)
    running, waiting = there.executor.submit(work.square, 3), there.executor.submit(work.square, 4)
    there.turn()
    there.jobs.made[0].done = fault
    there.turn()
    for future in (running, waiting):
        assert isinstance(future.exception(timeout=0), BrokenExecutor)
        assert str(future.exception()) == "executor 'slurm': ZeroDivisionError: a fault"
        assert isinstance(future.exception().__cause__, ZeroDivisionError)
    assert there.cancelled == [["scancel", "7"]]
    with pytest.raises(BrokenExecutor, match="a fault"):
        there.executor.submit(work.square, 5)
    # Neither shutdown nor abandoning calls scancel again.
    there.executor.shutdown(wait=False)
    assert there.turn()
    assert len(there.cancelled) == 1
    there.waking.allowed = 1
    there.executor.abandon()
    assert len(there.cancelled) == 1


def test_a_task_that_is_submitted_during_the_fault_fails_too(turns):
    there = turns(workers=1)
    there.executor.submit(work.square, 3)
    there.turn()
    late = []

    def done():
        late.append(there.executor.submit(work.square, 4))
        fault()

    there.jobs.made[0].done = done
    there.turn()
    assert isinstance(late[0].exception(timeout=0), BrokenExecutor)
    assert len(there.jobs.made) == 1


def test_a_fault_in_submitting_fails_all_tasks(turns):
    there = turns(workers=1)
    there.jobs.refuses = ZeroDivisionError("a fault")
    first, second = there.executor.submit(work.square, 3), there.executor.submit(work.square, 4)
    there.turn()
    assert isinstance(first.exception(timeout=0), BrokenExecutor)
    assert isinstance(second.exception(timeout=0), BrokenExecutor)
    # The tasks have no jobs yet, so scancel is not called.
    assert there.cancelled == []


@pytest.mark.parametrize("leaves", [True, False])
def test_jobs_that_cannot_be_cancelled_are_named(turns, monkeypatch, caplog, leaves):
    there = turns()
    futures = [there.executor.submit(work.square, number) for number in range(2)]
    there.turn()

    def refuses(command, check):
        raise FileNotFoundError("no scancel")

    monkeypatch.setattr(slurm_jobs.subprocess, "run", refuses)
    if leaves:
        there.waking.allowed = 1
        there.executor.abandon()
    else:
        there.jobs.made[0].done = fault
        assert not there.turn()
    assert caplog.messages == ["jobs that could not be cancelled (FileNotFoundError: no scancel): 7_0 7_1"]
    said = "FileNotFoundError: no scancel" if leaves else "ZeroDivisionError: a fault"
    # The futures get the first fault.
    assert [str(future.exception(timeout=0)) for future in futures] == [f"executor 'slurm': {said}"] * 2


def test_a_task_without_a_job_is_not_named_among_jobs_that_cannot_be_cancelled(turns, monkeypatch, caplog):
    """One job runs, and a fault comes while the next is submitted."""
    there = turns()
    there.executor.submit(work.square, 3)
    there.turn()
    monkeypatch.setattr(slurm_jobs.subprocess, "run", lambda command, check: 1 / 0)
    there.jobs.refuses = LookupError("a fault")
    second = there.executor.submit(work.square, 4)
    there.turn()
    assert str(second.exception(timeout=0)) == "executor 'slurm': LookupError: a fault"
    assert caplog.messages == ["jobs that could not be cancelled (ZeroDivisionError: division by zero): 7_0"]


@pytest.mark.parametrize("problem", [
    RuntimeError("no srun"), ValueError("no such"), TypeError("no such"), NameError("Unknown argument"),
    AssertionError("must be set"),
])  # fmt: skip
def test_parameters_that_submitit_refuses_are_bad_input(monkeypatch, tmp_path, problem):
    def refuses(**_):
        raise problem

    for executor in (refuses, lambda **_: SimpleNamespace(update_parameters=refuses)):
        monkeypatch.setattr("submitit.AutoExecutor", executor)
        with pytest.raises(InputError) as found, open_executor("slurm", slurm={"folder": tmp_path}):
            pass
        assert found.value.problems == [f"executor 'slurm': {type(problem).__name__}: {problem}"]


def test_a_folder_that_cannot_be_made_is_named(monkeypatch, tmp_path):
    def refuses(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("submitit.AutoExecutor", refuses)
    with pytest.raises(InputError, match=rf"folder {tmp_path}/\w{{12}}: Permission denied"):
        open_executor("slurm", slurm={"folder": tmp_path}).__enter__()


def test_a_task_fails_in_a_job_with_other_sources(monkeypatch):
    raised, problem = slurm_jobs._carried("0123456789abcdef", lambda: 9)
    assert raised
    assert isinstance(problem, InputError)
    monkeypatch.setattr("cluster_abm.study.runner.code_version.result_version", lambda: "mine")
    assert slurm_jobs._carried("mine", lambda: 9) == (False, 9)
    # An exception that ends the process is not the task's.
    with pytest.raises(SystemExit):
        slurm_jobs._carried("mine", lambda: work.leave(3))
    assert with_same_code("mine", pow, 2, exp=3) == 8
    with pytest.raises(InputError, match=r"has other sources \(mine\) than the process that sends it work \(yours\)"):
        with_same_code("yours", pow, 2, 3)
