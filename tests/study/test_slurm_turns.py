"""Slurm's executor, one turn of its thread at a time: jobs end, get lost, or cannot be looked at.

Jobs, thread and clock are stand-ins.
"""

from __future__ import annotations

from concurrent.futures import wait

import executor_tasks as work
import pytest
from stand_in_slurm import Enough

from cluster_abm.errors import InputError
from cluster_abm.study.runner.executors import WorkerLost
from cluster_abm.study.runner.executors.kinds import slurm as slurm_jobs


@pytest.mark.parametrize(("cluster", "period_s"), [("local", 0.1), ("slurm", 5.0)])
def test_jobs_of_this_machine_are_looked_at_more_often_than_those_of_a_cluster(turns, cluster, period_s):
    there = turns(cluster)
    there.executor._awake.set()
    assert not there.turn(3)
    assert there.waking.periods == [period_s] * 3
    # The event is cleared, so that it wakes the thread once.
    assert not there.waking.is_set
    # A daemon thread does not keep alive a program that never shuts its executor down.
    assert there.executor._thread.daemon


@pytest.mark.parametrize(("cluster", "workers", "window"), [
    ("slurm", None, 1000), ("local", None, 6), ("slurm", 7, 7), ("local", 7, 7), ("slurm", 2000, 2000),
])  # fmt: skip
def test_the_window_is_the_number_of_workers_or_a_default(turns, monkeypatch, cluster, workers, window):
    monkeypatch.setattr(slurm_jobs, "available_processors", lambda: 6)
    executor = turns(cluster, workers).executor
    assert executor.window == window
    assert (executor.is_here, executor.is_in_process) == (False, False)


def test_each_executor_has_its_own_folder_below_the_given_one(turns, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    given = [{}, {}, {"folder": "mine"}]
    folders = [turns(parameters=parameters).given[0]["folder"] for parameters in given]
    assert [folder.parent for folder in folders] == [tmp_path / "slurm-jobs"] * 2 + [tmp_path / "mine"]
    assert len({folder.name for folder in folders}) == 3


def test_an_array_has_a_job_for_each_free_place_and_none_for_a_cancelled_task(turns):
    there = turns(workers=3)
    futures = [there.executor.submit(work.square, number) for number in range(6)]
    assert futures[1].cancel()
    there.turn()
    assert [len(array) for array in there.jobs.arrays] == [3]
    assert [future.running() for future in futures] == [True, False, True, True, False, False]
    there.turn(3)
    assert len(there.jobs.made) == 3
    there.jobs.made[0].end()
    # The first turn sees that the job is over, the second submits the next job.
    there.turn(2)
    assert [len(array) for array in there.jobs.arrays] == [3, 1]
    assert futures[0].result(timeout=0) == 0
    assert futures[4].running()


@pytest.mark.parametrize(("problem", "said"), [
    (OSError("no room"), "OSError: no room"), (RuntimeError("sbatch failed"), "RuntimeError: sbatch failed"),
    (slurm_jobs.subprocess.SubprocessError("sbatch"), "SubprocessError: sbatch"),
])  # fmt: skip
def test_a_task_that_sbatch_refuses_fails_and_running_jobs_go_on(turns, problem, said):
    there = turns()
    # Two jobs run and one task is refused.
    futures = [there.executor.submit(work.square, number) for number in (3, 5)]
    there.turn()
    there.jobs.refuses = problem
    refused = there.executor.submit(work.square, 4)
    there.turn()
    assert isinstance(refused.exception(timeout=0), InputError)
    assert str(refused.exception()).startswith("executor 'slurm': the jobs could not be submitted: ")
    assert str(refused.exception()).endswith(said)
    assert all(future.running() for future in futures)
    there.executor.shutdown(wait=False)
    # The thread ends after the last job.
    assert not there.turn(3)
    there.jobs.made[0].end()
    assert not there.turn(3)
    there.jobs.made[1].end()
    assert there.turn()
    assert [future.result(timeout=0) for future in futures] == [9, 25]


def test_the_result_of_a_job_of_a_cluster_may_come_a_minute_after_its_end(turns):
    there = turns()
    future, other = there.executor.submit(work.square, 3), there.executor.submit(work.square, 4)
    there.turn()
    for job in there.jobs.made:
        job.end("TIMEOUT")
    there.turn()
    there.now_s += 30.0
    there.turn()
    there.now_s += 29.9
    there.turn()
    assert (future.done(), other.done()) == (False, False)
    there.jobs.made[1].end()
    there.now_s += 0.2
    there.turn()
    assert str(future.exception(timeout=0)) == "job 7_0 timeout: it left no result"
    assert other.result(timeout=0) == 16


def test_the_result_of_a_job_of_this_machine_is_there_at_its_end(turns):
    there = turns("local")
    future = there.executor.submit(work.square, 3)
    there.turn()
    there.jobs.made[0].end("FAILED")
    there.turn()
    assert str(future.exception(timeout=0)) == "job 7_0 failed: it left no result"


@pytest.mark.parametrize(("problem", "kind", "said"), [
    (RuntimeError("the job was preempted"), WorkerLost, "job 7_0: RuntimeError: the job was preempted"),
    (EOFError("ran out of input"), WorkerLost, "job 7_0: EOFError: ran out of input"),
    (ModuleNotFoundError("no module 'theirs'"), ModuleNotFoundError, "no module 'theirs'"),
])  # fmt: skip
def test_a_result_that_cannot_be_loaded_fails_its_task(turns, problem, kind, said):
    there = turns("local")
    future, other = there.executor.submit(work.square, 3), there.executor.submit(work.square, 4)
    there.turn()
    job = there.jobs.made[0]

    def result():
        raise problem

    job.result = result
    for one in there.jobs.made:
        one.end()
    there.turn()
    assert (type(future.exception(timeout=0)), str(future.exception())) == (kind, said)
    assert other.result(timeout=0) == 16
    # The files of the failed job are kept: they may contain the reason.
    assert job.paths.result_pickle.exists()
    assert not there.jobs.made[1].paths.result_pickle.exists()


def test_a_result_that_the_file_system_withholds_is_read_in_a_later_turn(turns):
    there = turns("local")
    future = there.executor.submit(work.square, 3)
    there.turn()
    job = there.jobs.made[0]
    real, problems = job.result, [OSError("stale"), OSError("stale")]

    def result():
        if problems:
            raise problems.pop()
        return real()

    job.result = result
    job.end()
    there.turn(2)
    assert not future.done()
    there.turn()
    assert future.result(timeout=0) == 9


def test_a_job_whose_files_are_away_for_ten_minutes_is_lost(turns):
    there = turns()
    future = there.executor.submit(work.square, 3)
    there.turn()
    there.jobs.made[0].problem = OSError("stale")
    there.turn()
    for later_s, is_lost in ((300.0, False), (299.9, False), (0.2, True)):
        there.now_s += later_s
        there.turn()
        assert future.done() == is_lost
    assert str(future.exception(timeout=0)) == "job 7_0: its files cannot be looked at: OSError: stale"
    # A lost job is not looked at again.
    looks = there.jobs.made[0].looks
    there.turn(2)
    assert there.jobs.made[0].looks == looks


def test_a_file_that_cannot_be_removed_is_left_and_the_others_are_removed(turns):
    there = turns("local")
    future = there.executor.submit(work.square, 3)
    there.turn()
    paths = there.jobs.made[0].paths
    paths.submitted_pickle.unlink()
    # `unlink` refuses to remove a folder.
    paths.submitted_pickle.mkdir()
    paths.stdout.touch()
    there.jobs.made[0].end()
    there.turn()
    assert future.result(timeout=0) == 9
    assert [path.exists() for path in vars(paths).values()] == [True, False, False, False]


def test_shutdown_with_cancel_futures_cancels_waiting_tasks_and_waits_for_running_ones(turns):
    there = turns(workers=1)
    running, waiting, late = (there.executor.submit(work.square, number) for number in (3, 4, 5))
    there.turn()
    there.executor.shutdown(wait=False, cancel_futures=True)
    assert there.waking.is_set
    assert not there.turn()
    # `wait` returns the cancelled futures: they have been notified.
    assert wait([waiting, late], timeout=0).done == {waiting, late}
    assert waiting.cancelled()
    assert running.running()
    with pytest.raises(RuntimeError, match="after shutdown"):
        there.executor.submit(work.square, 6)
    there.jobs.made[0].end()
    assert there.turn()
    assert (running.result(timeout=0), len(there.jobs.made)) == (9, 1)


def test_shutdown_carries_out_all_submitted_tasks(turns):
    there = turns(workers=1)
    futures = [there.executor.submit(work.square, number) for number in (3, 4)]
    there.executor.shutdown(wait=False)
    for number in (0, 1):
        assert not there.turn(2)
        there.jobs.made[number].end()
    assert there.turn()
    assert [future.result(timeout=0) for future in futures] == [9, 16]


def test_shutdown_waits_for_the_thread_unless_the_caller_says_otherwise(turns):
    there = turns(workers=1)
    future = there.executor.submit(work.square, 3)
    there.turn()
    there.executor.shutdown(wait=False)
    # Joining the stand-in for the thread takes its turns: one job still runs, so that it does not end.
    with pytest.raises(Enough):
        there.executor.shutdown()
    there.jobs.made[0].end()
    there.waking.allowed = 1
    there.executor.shutdown()
    assert future.result(timeout=0) == 9
