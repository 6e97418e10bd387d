"""Dask for real: a scheduler and workers as processes of their own on loopback, some of which die."""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from queue import SimpleQueue

import executor_tasks as work
import pytest
from support import scenario

from cluster_abm.errors import InputError
from cluster_abm.study.compare import compare, with_policy
from cluster_abm.study.runner.code_version import with_same_code
from cluster_abm.study.runner.executors import WorkerLost, open_executor
from cluster_abm.study.runner.executors.kinds import dask as dask_cluster
from cluster_abm.study.runner.tasks import SeededRun, Where

HERE = ["--host", "127.0.0.1", "--no-dashboard"]


class Cluster:
    """A scheduler and its workers."""

    def __init__(self, folder, **settings):
        self.folder = folder
        self.settings = settings
        self.processes = []
        self.start("scheduler", "--port", "0", "--scheduler-file", folder / "scheduler.json")
        told = folder / "scheduler.json"
        # It is there before it is whole.
        until(lambda: told.exists() and told.read_text().rstrip().endswith("}"))
        self.address = json.loads(told.read_text())["address"]

    def start(self, what, *arguments):
        path = [Path(work.__file__).parent, *filter(None, [os.environ.get("PYTHONPATH")])]
        command = [sys.executable, "-m", "dask", what, *HERE, *arguments]
        with open(self.folder / f"{what}.log", "a") as log:
            process = subprocess.Popen(
                list(map(str, command)),
                stdout=log,
                stderr=log,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path))} | self.settings,
            )
        self.processes.append(process)
        return process

    def worker(self):
        # Without a nanny, which would start another one in the place of one that is killed.
        return self.start("worker", self.address, "--no-nanny", "--nthreads", 1, "--local-directory", self.folder)

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()


def until(there, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    found = Cluster(tmp_path_factory.mktemp("dask"))
    found.worker()
    yield found
    found.end()


@pytest.fixture
def impatient(monkeypatch):
    """No worker here takes more than a second to answer."""
    monkeypatch.setattr(dask_cluster, "ANSWERS_WITHIN_S", 1)


@pytest.fixture
def executor(cluster):
    with open_executor("dask", dask=cluster.address) as found:
        yield found


@pytest.mark.slow
def test_results_and_errors_come_back_as_they_are(executor):
    squares = [executor.submit(work.square, number) for number in range(20)]
    failed, bad = executor.submit(work.fail, "disk on fire"), executor.submit(work.bad_input, "a: wrong")
    assert [future.result() for future in squares] == [number * number for number in range(20)]
    assert isinstance(failed.exception(), ValueError)
    assert bad.exception().problems == ["a: wrong", "and more"]


@pytest.mark.slow
def test_a_run_is_the_same_there(executor):
    task = SeededRun(with_policy(scenario(workload__duration_s=5.0, cluster__nodes=2), "jsq"), 1)
    assert executor.submit(work.mean_slowdown, task).result() == work.mean_slowdown(task)


@pytest.mark.slow
def test_a_comparison_is_the_same_there(cluster):
    given = (scenario(workload__duration_s=5.0, cluster__nodes=2), ["none", "jsq"], 3)
    there = compare(*given, quiet=True, where=Where("dask", dask=cluster.address))
    assert there.as_json() == compare(*given, workers=1, quiet=True).as_json()


@pytest.mark.slow
def test_a_policy_from_a_file_is_the_same_there(cluster, tmp_path):
    text = "from cluster_abm.policies import Decision, Policy\n\n\nclass Mine(Policy):\n"
    (tmp_path / "mine.py").write_text(
        f"{text}    def place(self, task, view):\n        return Decision(view.next_node, 'own')\n"
    )
    given = (scenario(workload__duration_s=5.0, cluster__nodes=2), ["none", f"{tmp_path}/mine.py:Mine"], 1)
    there = compare(*given, quiet=True, where=Where("dask", dask=cluster.address))
    assert there.as_json() == compare(*given, workers=1, quiet=True).as_json()


@pytest.mark.slow
def test_the_same_task_again_is_carried_out_again(executor, tmp_path):
    for _ in range(2):
        assert executor.submit(work.note_and_square, (str(tmp_path), 3)).result() == 9
    (tmp_path / "count").write_text("1")
    assert [executor.submit(work.die_the_first_time, str(tmp_path / "count")).result() for _ in range(2)] == [2, 2]


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_loses_nothing_and_nothing_counts_twice(cluster, executor, tmp_path):
    victim = cluster.worker()
    until(lambda: len(executor._client.scheduler_info()["workers"]) == 2)
    numbers = list(range(30))
    done = SimpleQueue()
    for number in numbers:
        future = executor.submit(work.note_and_square, (str(tmp_path), number))
        future.add_done_callback(lambda future, number=number: done.put((number, future.result())))

    def mid_task():
        begun, ended = (
            {path.stem for path in tmp_path.glob(f"*.{victim.pid}.{state}")} for state in ("begun", "ended")
        )
        return ended and begun - ended

    def stopped_in_mid_task():
        victim.send_signal(signal.SIGSTOP)
        if mid_task():
            return True
        victim.send_signal(signal.SIGCONT)
        return False

    until(stopped_in_mid_task)
    victim.send_signal(signal.SIGKILL)
    results = [done.get(timeout=60) for _ in numbers]
    # Both had their share, and what the victim left half done was begun again by the other.
    died_over = mid_task()
    assert died_over
    for name in died_over:
        assert list(tmp_path.glob(f"{name.split('.')[0]}.*.ended"))
    assert Counter(number for number, _ in results) == Counter(numbers)
    with open_executor("inline") as inline:
        assert sorted(results) == [(number, inline.submit(work.square, number).result()) for number in numbers]
    assert done.empty()


@pytest.mark.slow
def test_a_task_that_kills_its_workers_is_given_up_and_a_scheduler_that_goes_is_named(tmp_path, impatient):
    # A cluster of its own, which forgives no death: Dask forgives three.
    cluster = Cluster(tmp_path, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
    try:
        cluster.worker()
        with open_executor("dask", dask=cluster.address) as executor:
            deadly = executor.submit(work.die, None)
            assert isinstance(deadly.exception(timeout=60), WorkerLost)
            assert "KilledWorker" in str(deadly.exception())
            # There is no worker any more: this one waits.
            waiting = executor.submit(work.square, 3)
            cluster.processes[0].kill()
            # First it is lost, as a scheduler may come back; submitting it again tells what is the matter.
            assert isinstance(waiting.exception(timeout=60), WorkerLost)
            with pytest.raises(InputError, match=r"the scheduler at tcp://.* has gone; what is finished is kept"):
                executor.submit(work.square, 3).result(timeout=60)
    finally:
        cluster.end()


@pytest.mark.slow
def test_there_is_a_next_task_for_every_thread_of_a_cluster_that_grows(cluster, executor, monkeypatch):
    assert executor.window == 256
    monkeypatch.setattr(dask_cluster, "FEWEST_IN_FLIGHT", 1)
    monkeypatch.setattr(dask_cluster, "COUNTED_EVERY_S", 0.0)
    before = len(executor._client.scheduler_info()["workers"])
    until(lambda: executor.window == 2 * before)
    another = cluster.worker()
    until(lambda: executor.window == 2 * (before + 1))
    another.terminate()
    until(lambda: executor.window == 2 * before)


@pytest.mark.slow
def test_a_scheduler_that_is_not_there_is_named_within_seconds(impatient):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{closed.getsockname()[1]}"
        began = time.monotonic()
        with pytest.raises(InputError) as caught, open_executor("dask", dask=address):
            pass
        assert time.monotonic() - began < 30
    assert f"no Dask scheduler answers at '{address}'" in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("address", ["carrier-pigeon://attic", "127.0.0.1:notaport"])
def test_an_address_that_is_none_is_named(address):
    with pytest.raises(InputError) as caught, open_executor("dask", dask=address):
        pass
    assert "no Dask scheduler answers at" in str(caught.value)
    # A client that is left open closes when it is garbage, and hangs if that happens while the next one starts.
    clients = [one for one in gc.get_objects() if type(one).__name__ == "Client" and hasattr(one, "scheduler_info")]
    assert "connecting" not in [client.status for client in clients]


@pytest.mark.slow
def test_workers_with_other_sources_are_named_at_once(cluster, monkeypatch):
    with open_executor("dask", dask=cluster.address) as executor:
        # The worker has joined the scheduler.
        assert executor.submit(work.square, 2).result(timeout=60) == 4
    monkeypatch.setattr(dask_cluster, "result_version", work.another_version)
    with pytest.raises(
        InputError,
        match=r"worker tcp://127\.0\.0\.1:\d+: other sources \(\d+\): install the cluster_abm that is used here",
    ):
        open_executor("dask", dask=cluster.address).__enter__()


def test_a_worker_with_other_sources_carries_nothing_out():
    with pytest.raises(InputError, match="install the same version everywhere"):
        with_same_code("0123456789abcdef", work.square, 3)
