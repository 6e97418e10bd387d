"""Slurm's executor with its own thread: submitting jobs, losing them, cancelling them, and their parameters.

The jobs are stand-ins: none is a process.
"""

from __future__ import annotations

import logging
import sys
import time
from concurrent.futures import CancelledError
from contextlib import contextmanager
from types import SimpleNamespace

import executor_tasks as work
import pytest
from stand_in_slurm import Jobs, looked_at
from waiting import POLL_S, some_polls, until

from cluster_abm.study.runner.executors import WorkerLost, open_executor
from cluster_abm.study.runner.executors.kinds import slurm as slurm_jobs


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Opens an executor, and gives it together with the stand-in for its jobs."""
    monkeypatch.setitem(slurm_jobs.POLL_INTERVAL_S, "local", POLL_S)

    @contextmanager
    def call(workers=4):
        with open_executor("slurm", workers, slurm={"cluster": "local", "folder": tmp_path / "jobs"}) as executor:
            jobs = Jobs(tmp_path)
            monkeypatch.setattr(executor, "_jobs", jobs)
            yield executor, jobs

    return call


def test_without_waiting_tasks_no_job_is_submitted(opened):
    with opened() as (executor, jobs):
        some_polls()
        assert jobs.arrays == []
        future = executor.submit(work.square, 3)
        until(lambda: jobs.made)
        # While the task runs, none waits and no further job is submitted.
        some_polls()
        assert len(jobs.arrays) == 1
        assert future.running()
        jobs.made[0].end()
        assert future.result(timeout=20) == 9


def test_an_array_has_no_more_jobs_than_slurm_allows(opened, monkeypatch):
    monkeypatch.setattr(slurm_jobs, "ARRAY", 3)
    with opened(100) as (executor, jobs):
        futures = [executor.submit(work.square, number) for number in range(7)]
        until(lambda: len(jobs.made) == 7)
        assert max(map(len, jobs.arrays)) == 3
        for job in jobs.made:
            job.end()
        assert [future.result(timeout=20) for future in futures] == [number**2 for number in range(7)]


def test_files_of_a_finished_job_are_removed_and_those_of_a_lost_one_are_kept(opened):
    with opened() as (executor, jobs):
        good, lost, failed = (executor.submit(work.square, 3), executor.submit(work.square, 4),
                              executor.submit(work.fail, "disk on fire"))  # fmt: skip
        until(lambda: len(jobs.made) == 3)
        jobs.made[1].error = "starting\nslurmstepd: out of memory\n\n"
        jobs.made[0].end()
        jobs.made[1].end("OUT_OF_MEMORY")
        jobs.made[2].end()
        assert good.result(timeout=20) == 9
        # The last line of its stderr is the reason.
        problem = lost.exception(timeout=20)
        assert isinstance(problem, WorkerLost)
        assert str(problem) == "job 7_1 out_of_memory: slurmstepd: out of memory"
        # A job whose task raised an exception is not lost.
        assert isinstance(failed.exception(timeout=20), ValueError)
    left = {path.name for path in jobs.folder.iterdir() if path.is_file()}
    assert left == {"7_1.submitted_pickle"}


def test_the_ten_minutes_without_files_start_again_after_a_look_that_succeeds(opened, monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr(slurm_jobs, "time", SimpleNamespace(monotonic=lambda: clock[0], sleep=time.sleep))
    with opened() as (executor, jobs):
        future = executor.submit(work.square, 3)
        until(lambda: jobs.made)
        for away in (True, False, True):
            jobs.made[0].problem = OSError("stale") if away else None
            looked_at(jobs.made[0])
            # The files are away for 400 s, back for 400 s and away for 400 s: never away for 600 s at a stretch.
            clock[0] += 400.0
            looked_at(jobs.made[0])
            assert future.running()
        clock[0] += 199.0
        looked_at(jobs.made[0])
        assert future.running()
        clock[0] += 2.0
        problem = future.exception(timeout=20)
    assert isinstance(problem, WorkerLost)
    assert str(problem) == "job 7_0: its files cannot be looked at: OSError: stale"


def test_an_exception_in_the_block_cancels_running_jobs(opened):
    with pytest.raises(RuntimeError, match="enough"), opened(1) as (executor, jobs):  # noqa: PT012
        running, waiting = executor.submit(work.square, 3), executor.submit(work.square, 4)
        until(lambda: jobs.made)
        raise RuntimeError("enough")
    assert isinstance(running.exception(), WorkerLost)
    assert "its job was cancelled" in str(running.exception())
    with pytest.raises(CancelledError):
        waiting.result()
    assert [job.cancelled for job in jobs.made] == [[False]]


def test_slurm_s_jobs_are_cancelled_by_their_arrays(opened, monkeypatch):
    asked = []
    monkeypatch.setattr(slurm_jobs.subprocess, "run", lambda command, check: asked.append((command, check)))
    with pytest.raises(RuntimeError, match="enough"), opened() as (executor, jobs):  # noqa: PT012
        monkeypatch.setattr(executor, "_local", False)
        futures = [executor.submit(work.square, number) for number in range(3)]
        until(lambda: len(jobs.made) == 3)
        jobs.made[2].job_id = "12_0"
        raise RuntimeError("enough")
    # One call of scancel names each array once.
    assert asked == [(["scancel", "12", "7"], False)]
    assert all(isinstance(future.exception(), WorkerLost) for future in futures)


def test_submitit_does_not_log_to_stdout(opened):
    logger = logging.getLogger("submitit")
    logger.addHandler(logging.StreamHandler(sys.stdout))
    with opened():
        assert logger.handlers == []


@pytest.mark.parametrize(("given", "passed"), [
    # submitit's own parameters keep their names; all others get the prefix of Slurm's. The default limit is 60 minutes.
    ({}, {"timeout_min": 60}), ({"time": 5}, {"slurm_time": 5}), ({"timeout_min": 5}, {"timeout_min": 5}),
    ({"slurm_time": 5}, {"slurm_time": 5}), ({"partition": "short"}, {"slurm_partition": "short", "timeout_min": 60}),
    ({"mem_gb": 4, "mem": "4GB"}, {"mem_gb": 4, "slurm_mem": "4GB", "timeout_min": 60}),
    ({"slurm_qos": "low", "name": "runs"}, {"slurm_qos": "low", "name": "runs", "timeout_min": 60}),
    ({"stderr_to_stdout": True}, {"stderr_to_stdout": True, "timeout_min": 60}),
])  # fmt: skip
def test_parameters_have_the_names_that_submitit_expects(given, passed, tmp_path, monkeypatch):
    seen = []

    def made(folder, cluster):
        return SimpleNamespace(update_parameters=lambda **named: seen.append((cluster, folder.parent, named)))

    monkeypatch.setattr("submitit.AutoExecutor", made)
    with open_executor("slurm", slurm={"folder": tmp_path, **given}) as executor:
        assert executor.window == 1000
    assert seen == [("slurm", tmp_path, passed)]


def raises(problem):
    raise problem


@pytest.mark.parametrize(("stderr", "said"), [
    (lambda: None, "it left no result"), (lambda: "", "it left no result"), (lambda: " a \n", "a"),
    (lambda: "one\ntwo\n", "two"),
    # Bytes that are no text say nothing.
    (lambda: raises(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid")), "it left no result"),
])  # fmt: skip
def test_the_last_line_of_stderr_says_why_a_job_ended(stderr, said):
    assert slurm_jobs._end_of(SimpleNamespace(stderr=stderr)) == said
