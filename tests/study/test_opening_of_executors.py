"""Opening an executor: its options, options that are refused, and the end of the `with` block."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

import executor_tasks as work
import pytest

from cluster_abm.errors import InputError
from cluster_abm.study.runner.executors import BatchExecutor, check_options, opening
from cluster_abm.study.runner.executors.base import fail, library
from cluster_abm.study.runner.executors.kinds import dask as dask_cluster
from cluster_abm.study.runner.executors.kinds import inline, process
from cluster_abm.study.runner.executors.kinds import slurm as slurm_jobs
from cluster_abm.study.runner.executors.kinds.inline import InlineExecutor
from cluster_abm.study.runner.executors.opening import open_executor


class Noted(BatchExecutor):
    """Keeps how it was shut down."""

    window = 1

    def __init__(self, *given):
        self.given, self.left = given, []

    def shutdown(self, wait=True, *, cancel_futures=False):
        self.left.append(("shutdown", wait, cancel_futures))

    def abandon(self):
        self.left.append("abandoned")


@pytest.mark.parametrize(("kind", "place", "name", "given"), [
    ("process", process, "ProcessExecutor", (3,)), ("slurm", slurm_jobs, "SlurmExecutor", (3, {"time": 5})),
    ("dask", dask_cluster, "DaskExecutor", ("tcp://here:1",)),
])  # fmt: skip
def test_each_kind_is_given_its_own_options(monkeypatch, kind, place, name, given):
    monkeypatch.setattr(place, name, Noted)
    asked = {"process": {"workers": 3}, "slurm": {"workers": 3, "slurm": {"time": 5}}, "dask": {"dask": "tcp://here:1"}}
    with open_executor(kind, **asked[kind]) as executor:
        assert isinstance(executor, Noted)
        assert executor.given == given
        assert executor.left == []
        # By default an executor has several processes, and they are not on this machine.
        assert (executor.is_in_process, executor.is_here) == (False, False)
    assert executor.left == [("shutdown", True, False)]


@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_exception_in_the_block_abandons_the_executor(monkeypatch, problem):
    monkeypatch.setattr(inline, "InlineExecutor", Noted)
    with pytest.raises(problem), open_executor("inline") as executor:
        raise problem
    assert executor.left == ["abandoned"]


@pytest.mark.parametrize(("kind", "opened"), [("process", 1), ("inline", 0)])
def test_only_the_executor_of_processes_checks_for_an_imported_script(monkeypatch, kind, opened):
    asked = []
    monkeypatch.setattr(process, "end_if_imported", lambda: asked.append(kind))
    monkeypatch.setattr(process, "ProcessExecutor", Noted)
    with open_executor(kind):
        assert len(asked) == opened


def test_a_policy_file_that_starts_runs_when_it_is_imported_is_refused(monkeypatch):
    monkeypatch.setattr(opening, "being_imported", lambda: Path("mine.py"))
    with pytest.raises(InputError, match=r"mine\.py: starts runs when it is imported"), open_executor("inline"):
        pass


@pytest.mark.parametrize(("options", "said"), [
    (("inline", None, None, None), []), (("inline", 1, None, None), []), (("process", 1, None, None), []),
    (("process", 64, None, None), []), (("dask", None, "tcp://here:1", None), []), (("dask", None, None, None), []),
    (("slurm", 64, None, {}), []), (("slurm", None, None, None), []),
    (("inline", 2, None, None), ["workers = 2: the executor 'inline' has one"]),
    (("inline", 0, None, None), ["workers = 0: allowed are 1 and more"]),
    (("dask", 1, None, None), ["workers = 1: the executor 'dask' has those of its scheduler"]),
    (("slurm", -1, None, {}), ["workers = -1: allowed are 1 and more"]),
    (("slurm", 2, "tcp://here:1", None), ["dask = 'tcp://here:1': `--dask` needs `--executor dask`; the executor is"]),
    (("process", 2, None, {}), ["slurm = {}: `--slurm` needs `--executor slurm`; the executor is 'process'"]),
    # All problems are named at once.
    (("threads", 0, "", {"time": 1}), ["executor = 'threads'", "dask = ''", "slurm = {'time': 1}", "workers = 0"]),
])  # fmt: skip
def test_options_of_another_executor_are_refused(options, said):
    if not said:
        check_options(*options)
        return
    with pytest.raises(InputError) as found:
        check_options(*options)
    assert [one[: len(start)] for one, start in zip(found.value.problems, said, strict=True)] == said


def test_with_refused_options_no_executor_is_opened(monkeypatch):
    monkeypatch.setattr(inline, "InlineExecutor", pytest.fail)
    with pytest.raises(InputError, match="workers = 2: the executor 'inline' has one"), open_executor("inline", 2):
        pass


def test_the_inline_executor_carries_out_a_task_when_it_is_submitted():
    executor = InlineExecutor()
    assert (executor.window, executor.is_in_process, executor.is_here) == (1, True, False)
    assert executor.submit(work.slow_square, 3, seconds=0.0).result(timeout=0) == 9
    failed = executor.submit(work.fail, "disk on fire")
    assert isinstance(failed.exception(timeout=0), ValueError)
    # An exception that ends the process is not the task's.
    with pytest.raises(SystemExit):
        executor.submit(work.leave, 3)


def test_a_library_that_cannot_be_imported_is_not_called_missing(monkeypatch):
    import json

    assert library("json", "dask") is json

    def broken(name):
        raise ImportError("undefined symbol")

    monkeypatch.setattr("importlib.import_module", broken)
    with pytest.raises(ImportError, match="undefined symbol"):
        library("json", "dask")


def test_a_cancelled_future_stays_cancelled():
    future = Future()
    future.cancel()
    future.set_running_or_notify_cancel()
    fail(future, ValueError("late"))
    assert future.cancelled()
