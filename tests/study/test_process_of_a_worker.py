"""The process of a worker: its signals, its script, and its exit code.

The processes, the pool and the signals are stand-ins: no process is spawned.
"""

from __future__ import annotations

import os
import signal
import sys
from types import SimpleNamespace

import pytest

from cluster_abm.study.runner.executors import worker as module
from cluster_abm.study.runner.executors.worker import Worker

ENDING = {signal.SIGINT, signal.SIGTERM}


def blocked():
    return set(signal.pthread_sigmask(signal.SIG_BLOCK, []))


class Pool:
    """A pool of one process; at each spawn it keeps the blocked signals and the script."""

    def __init__(self, workers, mp_context, initializer):
        self.given, self.initializer, self.context = workers, initializer, mp_context
        self.problem, self.spawned, self.is_left = None, [], False

    def submit(self, function):
        self.spawned.append((function, blocked(), vars(sys.modules["__main__"]).get("__file__")))
        if self.problem is not None:
            raise self.problem
        return "first word"

    def shutdown(self):
        self.is_left = True


@pytest.fixture
def worker(monkeypatch):
    monkeypatch.setattr(module, "ProcessPoolExecutor", Pool)
    return Worker()


def ended(worker, *codes):
    """Give the worker processes with these exit codes; the list gets the codes of those that are killed."""
    killed = []
    worker._context.spawned += [
        SimpleNamespace(exitcode=code, kill=lambda code=code: killed.append(code)) for code in codes
    ]
    return killed


@pytest.mark.skipif(not module.MASKS, reason="needs masks of signals")
@pytest.mark.parametrize("problem", [None, OSError("no more processes")])
def test_signals_that_end_the_parent_are_blocked_while_a_process_is_spawned(worker, problem):
    before = blocked()
    assert not ENDING & before
    worker.pool.problem = problem
    if problem is None:
        assert worker.start() == "first word"
    else:
        with pytest.raises(OSError, match="no more"):
            worker.start()
    assert blocked() == before
    ((function, spawned_with, _),) = worker.pool.spawned
    assert spawned_with == before | ENDING
    # The first task of a process returns its number.
    assert function is os.getpid
    assert (worker.pool.given, worker.pool.initializer) == (1, module._begin_work)


def test_processes_that_were_spawned_are_remembered(worker):
    context = worker._context
    assert worker.pool.context is context
    first, second = context.Process(target=abs), context.Process(target=abs, name="mine")
    assert context.spawned == [first, second]
    assert [first.name, second.name] == ["cluster-abm worker", "mine"]
    assert context.get_start_method() == "spawn"


@pytest.mark.parametrize(("codes", "said"), [
    ([-9], "its process was killed by SIGKILL (out of memory?)"), ([-15], "its process was killed by SIGTERM"),
    ([-11], "its process was killed by SIGSEGV"), ([3], "its process ended with exit code 3"),
    ([0], "its process ended with exit code 0"), ([-300], "its process was killed by signal 300"),
    # A process that has not ended has no exit code.
    ([None], "its process ended"), ([], "its process ended"), ([None, -6], "its process was killed by SIGABRT"),
])  # fmt: skip
def test_how_a_process_ended(worker, codes, said):
    ended(worker, *codes)
    assert worker.last_words() == said
    # The worker waited for its process.
    assert worker.pool.is_left


@pytest.mark.parametrize(("codes", "imports"), [([97], True), ([None, 97], True), ([96], False), ([-9], False),
                                                ([], False)])  # fmt: skip
def test_exit_code_97_says_that_a_process_imported_a_script_that_starts_runs(worker, codes, imports):
    ended(worker, *codes)
    assert worker.imports_the_runs == imports


def test_all_processes_of_a_worker_are_killed(worker):
    killed = ended(worker, 1, 2)
    worker.kill()
    assert killed == [1, 2]


# ---- the script that a process imports first ----


@pytest.mark.parametrize(("file", "is_hidden"), [("<stdin>", True), ("/no/such/script.py", True), (__file__, False),
                                                 (None, False), ("none", False)])  # fmt: skip
def test_a_script_that_is_no_file_is_hidden_while_a_process_is_spawned(worker, monkeypatch, file, is_hidden):
    main = SimpleNamespace() if file == "none" else SimpleNamespace(__file__=file)
    before = dict(vars(main))
    monkeypatch.setitem(sys.modules, "__main__", main)
    worker.start()
    assert worker.pool.spawned[0][2] == (None if is_hidden else before.get("__file__"))
    assert vars(main) == before
    # The script is restored after a failed start, too.
    worker.pool.problem = OSError("no more processes")
    with pytest.raises(OSError, match="no more"):
        worker.start()
    assert vars(main) == before


class Ended(Exception):
    """In place of the end of the process."""


@pytest.fixture
def leaves(monkeypatch):
    """The exit codes with which the process would have ended."""
    codes = []

    def leave(code):
        codes.append(code)
        raise Ended

    monkeypatch.setattr(module.os, "_exit", leave)
    return codes


@pytest.mark.parametrize(("process", "ends"), [
    # A worker imports the script while it is being set up. It does not end later, nor does another process.
    (SimpleNamespace(name="cluster-abm worker", _inheriting=True), True),
    (SimpleNamespace(name="cluster-abm worker", _inheriting=False), False),
    (SimpleNamespace(name="cluster-abm worker"), False), (SimpleNamespace(name="MainProcess", _inheriting=True), False),
])  # fmt: skip
def test_a_worker_that_imports_a_script_which_starts_runs_ends(monkeypatch, leaves, process, ends):
    monkeypatch.setattr(module.multiprocessing, "current_process", lambda: process)
    if ends:
        with pytest.raises(Ended):
            module.end_if_imported()
    else:
        module.end_if_imported()
    assert leaves == ([97] if ends else [])


# ---- in the process itself ----


def test_a_worker_ignores_the_signals_that_end_its_parent_and_watches_its_parent(monkeypatch):
    done, threads = [], []
    monkeypatch.setattr(module, "signal", SimpleNamespace(
        signal=lambda number, handler: done.append((number, handler)), SIG_IGN="ignored", SIG_UNBLOCK="unblock",
        pthread_sigmask=lambda how, numbers: done.append((how, set(numbers))),
    ))  # fmt: skip
    monkeypatch.setattr(module, "MASKS", True)
    monkeypatch.setattr(module, "Thread", lambda **given: threads.append(given) or SimpleNamespace(
        start=lambda: threads.append("started")))  # fmt: skip
    module._begin_work()
    # The signals are ignored before they are unblocked.
    assert done == [(signal.SIGINT, "ignored"), (signal.SIGTERM, "ignored"), ("unblock", ENDING)]
    assert threads[1:] == ["started"]
    assert (threads[0]["target"], threads[0]["daemon"]) == (module._end_with_the_parent, True)


def test_a_worker_ends_when_its_parent_has_ended(monkeypatch, leaves):
    waited = []
    parent = SimpleNamespace(join=lambda: waited.append(len(leaves)))
    monkeypatch.setattr(module.multiprocessing, "parent_process", lambda: parent)
    with pytest.raises(Ended):
        module._end_with_the_parent()
    assert (waited, leaves) == ([0], [1])


def test_a_process_without_a_parent_does_not_end(monkeypatch, leaves):
    monkeypatch.setattr(module.multiprocessing, "parent_process", lambda: None)
    module._end_with_the_parent()
    assert leaves == []
