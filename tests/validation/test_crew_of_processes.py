"""Processes of a validation: what they log, and that none of them outlives its block."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from cluster_abm.validation import memory
from cluster_abm.validation import worker as worker_module
from cluster_abm.validation.bench import Bench, shared_instant
from cluster_abm.validation.crew import WORKER, Crew, DeadlinePassed
from cluster_abm.validation.machine import chosen_cores, machine, missing_features
from cluster_abm.validation.memory import candidates, limited_group
from cluster_abm.validation.plans import Disk, Program, ProgramRow
from cluster_abm.validation.worker import ASKED, COMPUTED, SERVED, START

pytestmark = pytest.mark.skipif(bool(missing_features()), reason="needs Linux")


def lives(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ended(pids, within_s=10.0):
    deadline = time.monotonic() + within_s
    while any(map(lives, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not any(map(lives, pids))


def test_what_a_process_logs():
    with shared_instant() as file, Crew(2, [file]) as crew:
        service_ns = 20_000_000
        start_ns = time.monotonic_ns() + 30_000_000
        for worker in crew.workers:
            worker.tell("run", start_ns, [[2, service_ns, 3], [1, 0, 1]], file)
        assert [worker.answer(time.monotonic() + 30) for worker in crew.workers] == ["done", "done"]
        logs = [worker.log() for worker in crew.workers]
    for log in logs:
        assert log[:, 0].tolist() == [START, *[COMPUTED] * 2, ASKED, SERVED, *[COMPUTED] * 5]
        assert (np.diff(log[:, 1]) >= 0).all()
        assert (np.diff(log[:, 2]) >= 0).all()
        assert log[0, 1] == start_ns
    # First come, first served: the second access begins when the first one ends, or later if it was asked for later.
    first, second = sorted((log[3, 1], log[4, 1]) for log in logs)
    assert first[1] == first[0] + service_ns
    assert second[1] == max(second[0], first[1]) + service_ns


@pytest.mark.slow
def test_a_set_is_carried_out():
    programs = (
        Program(0.0, (ProgramRow(40, False),)),
        Program(2.0, (ProgramRow(20, True), ProgramRow(10, True)), 50.0),
    )
    with shared_instant() as file, Crew(3, [file]) as crew:
        bench = Bench(crew, machine().cores[:1], Disk(1.0, 50.0), file)
        found, delivered, others, steal, wall_s = bench.carry_out(programs, time.monotonic() + 60)
        outcome = next(bench.outcomes(iter([programs]), time.monotonic() + 60, time.monotonic() + 60))
        slice_ms = bench.slice_ms(0.02, time.monotonic() + 60)
    assert found[0].start_ms == 0
    assert found[1].wall_ms >= 2 * Disk(1.0, 50.0).service_ms(50.0)
    assert slice_ms is None or slice_ms > 0
    assert 0 < delivered < 1.2
    assert -1 < others <= 1
    assert 0 <= steal <= 1
    assert wall_s > 0
    assert outcome.number == outcome.repeat == 0
    assert len(outcome.unit_ns) == 2


@pytest.mark.slow
def test_demands_are_measured_alone_on_a_core_beside_others_that_are_busy():
    cores = machine().cores
    with Crew(2 * len(cores) + 1) as crew:
        assert len(Bench(crew, cores[:1]).alone(3)) == 3
        assert Bench(crew, cores[:1]).slower_together() is None
        bench = Bench(crew, cores)
        # Not a multiple of the cores.
        assert len(bench.alone(2 * len(cores) + 1)) == 2 * len(cores) + 1
        together = bench.slower_together()
        assert (together is None) == (len(cores) == 1)
        # All of them may run anywhere again.
        assert {frozenset(os.sched_getaffinity(worker.pid)) for worker in crew.workers} == {frozenset(cores)}


def test_a_unit_alone_is_its_median(capfdbinary, monkeypatch):
    """Clocks that are told: units of 5, 7, 7, 90 and 9 ns after a first one that is not counted."""
    instants = iter([1000, 1005, 1012, 1019, 1109, 1118])
    monkeypatch.setattr(worker_module.time, "process_time_ns", lambda: next(instants))
    monkeypatch.setattr(worker_module, "end_with_parent", lambda: None)
    monkeypatch.setattr(worker_module.signal, "signal", lambda *_: None)
    monkeypatch.setattr(worker_module.signal, "alarm", lambda _: None)
    monkeypatch.setattr(worker_module.gc, "disable", lambda: None)
    lines = io.TextIOWrapper(io.BytesIO(b'["unit", 1]\n["alone", 1, 5]\n'))
    monkeypatch.setattr(worker_module.sys, "stdin", lines)
    worker_module.main()
    assert capfdbinary.readouterr().out == b"ok\n7\n"


def test_none_outlives_its_block():
    with pytest.raises(KeyboardInterrupt), Crew(3) as crew:  # noqa: PT012
        pids = [worker.pid for worker in crew.workers]
        # In the middle of a minute of computing.
        crew.workers[0].tell("unit", 1_000_000)
        crew.workers[0].tell("alone", 1, 10_000)
        assert all(map(lives, pids))
        assert {os.getsid(pid) for pid in pids} == {os.getsid(0)}
        raise KeyboardInterrupt
    assert not any(map(lives, pids))


def test_one_that_does_not_answer_in_time():
    with pytest.raises(DeadlinePassed, match="in time"), Crew(1) as crew:  # noqa: PT012
        (worker,) = crew.workers
        worker.tell("unit", 1_000_000)
        worker.tell("alone", 1, 10_000)
        worker.answer(time.monotonic() + 0.5)
        worker.answer(time.monotonic() + 0.05)
    with pytest.raises(DeadlinePassed, match="has ended"), Crew(1) as crew:  # noqa: PT012
        os.kill(crew.workers[0].pid, signal.SIGKILL)
        crew.workers[0].ask("unit", 1)


@pytest.mark.slow
def test_workers_end_when_their_parent_is_killed():
    script = (
        "import time; from cluster_abm.validation.crew import Crew\n"
        "with Crew(2) as crew:\n"
        "    for worker in crew.workers: worker.ask('unit', 1_000_000)\n"
        "    crew.workers[0].tell('alone', 1, 10_000)\n"
        "    print(*[worker.pid for worker in crew.workers], flush=True)\n"
        "    time.sleep(60)\n"
    )
    root = str(Path(__file__).parents[2])
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=root) as parent:
        pids = [*map(int, parent.stdout.readline().split())]
        assert len(pids) == 2
        parent.kill()
        parent.wait()
        assert ended(pids)


@pytest.mark.slow
def test_one_that_hangs_ends_by_itself():
    """In the middle of a minute of computing, a second being the longest that it may live."""
    script = (
        "import importlib.util, sys\n"
        "spec = importlib.util.spec_from_file_location('worker', sys.argv[1])\n"
        "worker = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(worker)\n"
        "worker.LONGEST_S = 1\n"
        "worker.main()\n"
    )
    command = [sys.executable, "-I", "-S", "-c", script, str(WORKER)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(b'["unit", 1000000]\n["alone", 1, 10000]\n')
        process.stdin.flush()
        assert process.stdout.readline() == b"ok\n"
        try:
            assert process.wait(20.0) == -signal.SIGALRM
        finally:
            process.kill()
    assert worker_module.LONGEST_S == 3600


def test_a_worker_needs_nothing_but_the_standard_library():
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", str(WORKER)], input="", capture_output=True, text=True
    )
    assert done.returncode == 0
    assert "numpy" not in done.stderr
    assert "cluster_abm" not in done.stderr


def test_one_processor_of_each_physical_core(monkeypatch):
    from cluster_abm.validation import machine as module

    pairs = {0: "0,4", 1: "1,5", 4: "0,4", 5: "1,5", 2: None, 3: None}
    monkeypatch.setattr(module, "text_of", lambda path: pairs[int(path.split("cpu/cpu")[1].split("/")[0])])
    assert chosen_cores([0, 1, 4, 5]) == (5, 4)
    assert chosen_cores([0, 1, 2, 3]) == (3, 2, 1, 0)
    assert chosen_cores([]) == ()


def test_where_a_group_with_a_memory_limit_may_be(tmp_path):
    own = "4:memory:/a/b\n0::/c/d\n"
    assert candidates(own, tmp_path) == [
        (tmp_path / "memory/a/b", "memory.limit_in_bytes"), (tmp_path / "memory", "memory.limit_in_bytes"),
        (tmp_path / "c", "memory.max"), (tmp_path, "memory.max"),
        (tmp_path / "unified/c", "memory.max"), (tmp_path / "unified", "memory.max"),
    ]  # fmt: skip
    assert candidates("", tmp_path) == []


@pytest.mark.parametrize(("own", "files", "expected"), [
    ("4:memory:/\n", ["memory"], "have no memory.limit_in_bytes"),
    ("", [], "no control group with a memory limit was found"),
    ("4:memory:/gone\n", [], "can be made in"),
])  # fmt: skip
def test_why_there_is_no_such_group(tmp_path, monkeypatch, own, files, expected):
    for name in files:
        (tmp_path / name).mkdir()
    monkeypatch.setattr(memory, "text_of", lambda _: own)
    monkeypatch.setattr(memory, "candidates", lambda text: candidates(text, tmp_path))
    with limited_group() as group:
        assert expected in group
    assert [path for path in tmp_path.rglob("*") if "cluster-abm" in path.name] == []
