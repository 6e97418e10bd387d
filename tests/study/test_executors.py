"""One interface for all: what comes back, what a lost worker costs, and what is said when nothing can be had."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, wait
from pathlib import Path

import executor_tasks as work
import pytest

from cluster_abm.errors import InputError
from cluster_abm.found_modules import EXECUTORS
from cluster_abm.study.runner.executors import WorkerLost, open_executor
from cluster_abm.study.runner.executors.base import library
from cluster_abm.study.runner.executors.kinds.process import _Crew


@pytest.fixture(scope="module")
def processes():
    """Two processes that several tests use, as starting one takes a second."""
    with open_executor("process", 2) as executor:
        yield executor


@pytest.fixture(params=["inline", "process"])
def executor(request, processes):
    with open_executor("inline") as inline:
        yield processes if request.param == "process" else inline


@pytest.mark.slow
def test_results_and_errors_come_back_as_they_are(executor):
    squares = [executor.submit(work.square, number) for number in range(10)]
    failed, bad = executor.submit(work.fail, "disk on fire"), executor.submit(work.bad_input, "a: wrong")
    assert [future.result() for future in squares] == [number * number for number in range(10)]
    assert isinstance(failed.exception(), ValueError)
    assert str(failed.exception()) == "disk on fire"
    assert isinstance(bad.exception(), InputError)
    assert bad.exception().problems == ["a: wrong", "and more"]


@pytest.mark.slow
def test_inline_is_this_process_and_process_is_others(processes):
    with open_executor("inline") as executor:
        assert executor.submit(work.process_of, None).result() == os.getpid()
    others = {processes.submit(work.process_of, number).result() for number in range(6)}
    assert os.getpid() not in others
    assert len(others) <= 2


def test_each_process_has_a_next_task(processes):
    assert processes.window == 4
    with open_executor("inline") as executor:
        assert executor.window == 1


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["_finish", "_give", "_welcome"])
def test_a_fault_of_its_own_is_told_to_all_who_wait_and_leaves_no_process(monkeypatch, fault):
    def faulty(*_):
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(_Crew, fault, faulty)
    futures, others = [], {child.pid for child in multiprocessing.active_children()}

    def use():
        with open_executor("process", 1) as executor:
            futures.extend(executor.submit(work.slow_square, number, 0.1) for number in range(3))
            for future in futures:
                future.exception(timeout=60)
            executor.submit(work.square, 3)

    with pytest.raises(BrokenExecutor, match="executor 'process': ZeroDivisionError: a fault"):
        use()
    assert [type(future.exception(timeout=60)) for future in futures] == [BrokenExecutor] * 3
    assert {child.pid for child in multiprocessing.active_children()} == others


@pytest.mark.slow
def test_a_process_that_dies_takes_only_its_own_task_with_it(processes):
    deadly = (4, 9)
    tasks = [work.die if number in deadly else work.square for number in range(20)]
    futures = [processes.submit(task, number) for number, task in enumerate(tasks)]
    for number, future in enumerate(futures):
        if number in deadly:
            assert isinstance(future.exception(), WorkerLost)
            assert "SIGKILL" in str(future.exception())
        else:
            assert future.result() == number * number


@pytest.mark.slow
def test_a_process_that_dies_idle_is_replaced():
    with open_executor("process", 1) as executor:
        before = executor.submit(work.process_of, None).result()
        os.kill(before, signal.SIGKILL)
        answers = []
        # Whether the death is seen before the next task is handed over is a race; the one after is safe.
        for _ in range(2):
            future = executor.submit(work.process_of, None)
            wait([future])
            answers.append(future.exception() or future.result())
    assert isinstance(answers[0], (WorkerLost, int))
    assert isinstance(answers[1], int)
    assert answers[1] != before


@pytest.mark.slow
def test_what_ends_a_process_from_inside_is_the_tasks_error(processes):
    future, after = processes.submit(work.leave, 3), processes.submit(work.square, 3)
    assert isinstance(future.exception(), SystemExit)
    assert after.result() == 9


@pytest.mark.slow
def test_a_task_that_cannot_be_pickled_fails_alone(processes):
    future, after = processes.submit(lambda: 1), processes.submit(work.square, 2)
    assert "pickle" in str(future.exception())
    assert after.result() == 4


@pytest.mark.slow
def test_an_exception_in_the_block_stops_what_runs_and_cancels_what_waits():
    began = time.monotonic()
    with pytest.raises(RuntimeError, match="enough"), open_executor("process", 1) as executor:  # noqa: PT012
        executor.submit(work.square, 1).result()
        running, waiting = executor.submit(work.slow_square, 1, 100.0), executor.submit(work.square, 1)
        while not running.running():
            time.sleep(0.01)
        raise RuntimeError("enough")
    assert time.monotonic() - began < 90
    assert isinstance(running.exception(), WorkerLost)
    assert waiting.cancelled()


@pytest.mark.slow
def test_tasks_are_cancelled_while_they_wait(processes):
    running = [processes.submit(work.slow_square, number, 0.3) for number in range(4)]
    waiting = processes.submit(work.square, 3)
    assert waiting.cancel()
    assert [future.result() for future in running] == [0, 1, 4, 9]
    assert waiting.cancelled()


def test_no_submission_after_the_end():
    with open_executor("process", 1) as executor:
        pass
    with pytest.raises(RuntimeError, match="shutdown"):
        executor.submit(work.square, 1)


@pytest.mark.slow
def test_a_script_without_its_guard_is_told_so(tmp_path):
    script = tmp_path / "unguarded.py"
    script.write_text(
        "from cluster_abm.study.runner.executors import open_executor\n"
        "with open_executor('process', 1) as executor:\n"
        "    executor.submit(abs, -1).result()\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=False)
    last = done.stderr.strip().splitlines()[-1]
    assert "unguarded.py: starts runs on several processes" in last
    assert "__main__" in last


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="process groups are POSIX's")
@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_no_process_stays_behind(tmp_path, end):
    script = tmp_path / "ended.py"
    script.write_text(
        "import time\n"
        "import executor_tasks as work\n"
        "from cluster_abm.study.runner.executors import open_executor\n"
        "if __name__ == '__main__':\n"
        "    try:\n"
        "        with open_executor('process', 1) as executor:\n"
        "            print(executor.submit(work.process_of, 1).result(), flush=True)\n"
        "            future = executor.submit(work.slow_square, 1, 100.0)\n"
        # Not result(): a signal that comes just before that waits is heard after it.
        "            while not future.done():\n"
        "                time.sleep(0.05)\n"
        "    except KeyboardInterrupt:\n"
        "        print('interrupted', flush=True)\n"
    )
    path = os.pathsep.join([str(Path(work.__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    with subprocess.Popen(
        [sys.executable, script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": path},
    ) as parent:
        worker = int(parent.stdout.readline())
        if end == signal.SIGINT:
            # As a terminal does it: to all of them.
            os.killpg(parent.pid, end)
        else:
            parent.send_signal(end)
        # Both streams end when the last process that has them does.
        out, err = parent.communicate(timeout=60)
    assert out.strip() == ("interrupted" if end == signal.SIGINT else "")
    assert "Traceback" not in err
    deadline = time.monotonic() + 30
    while Path(f"/proc/{worker}").exists() and "zombie" not in Path(f"/proc/{worker}/status").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize(("kind", "said"), [("threads", "allowed are dask, inline, process, slurm"),
                                            ("dask", "--dask tcp://")])  # fmt: skip
def test_an_executor_that_cannot_be_opened_is_named(kind, said):
    with pytest.raises(InputError, match=said), open_executor(kind):
        pass


def test_kinds_are_those_that_open_knows():
    assert EXECUTORS == ("dask", "inline", "process", "slurm")


@pytest.mark.parametrize("extra", ["dask", "slurm"])
def test_a_missing_extra_is_named(extra):
    with pytest.raises(InputError, match=rf"no_such_library is not installed: pip install '\.\[{extra}\]'"):
        library("no_such_library", extra)


@pytest.mark.slow
def test_the_example_of_the_documentation_runs(capsys):
    text = (Path(__file__).parents[2] / "docs" / "how-to" / "more-machines.md").read_text()
    exec(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0], {})
    assert capsys.readouterr().out == "1024\n"
