"""Messages between a validation and its processes, byte by byte; the other end of the pipes is in the test."""

from __future__ import annotations

import json
import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from ideal_machine import clock_in

from cluster_abm.validation import crew as module
from cluster_abm.validation.crew import WORKER, Crew, DeadlinePassed


class Popen:
    """Stands in for a process: it writes the bytes of a test, and records its input."""

    made = ()

    def __init__(self, command, **options):
        self.command, self.options, self.pid, self.code, self.ends = command, options, 100 + len(self.made), None, []
        out, self.out = os.pipe()
        self.stdout = os.fdopen(out, "rb", 0)
        self.told, self.refuses = [], False
        self.stdin = SimpleNamespace(write=self.write, close=lambda: self.ends.append("stdin closed"))
        self.made.append(self)

    def write(self, data):
        if self.refuses:
            raise BrokenPipeError
        self.told.append(data)

    def says(self, data):
        os.write(self.out, data)

    def exits(self, code):
        self.code = code
        os.close(self.out)

    def poll(self):
        return self.code

    def kill(self):
        self.ends.append("killed")

    def wait(self):
        self.ends.append("waited for")


@pytest.fixture
def begun(monkeypatch):
    """Started processes are stand-ins, in `Popen.made`. The clock stands still."""
    monkeypatch.setattr(module.subprocess, "Popen", Popen)
    monkeypatch.setattr(Popen, "made", [])
    yield clock_in(monkeypatch, module)
    for process in Popen.made:
        process.stdout.close()
        if process.code is None:
            os.close(process.out)


@pytest.fixture
def talk(begun):
    """A worker and its process."""
    worker = module.WorkerProcess([5, 9])
    return worker, Popen.made[0]


def in_pieces(monkeypatch, size):
    read = os.read
    monkeypatch.setattr(module.os, "read", lambda file, _: read(file, size))


def test_how_a_process_is_started(talk):
    worker, process = talk
    assert process.command == [sys.executable, "-I", "-S", str(WORKER)]
    options = process.options
    assert options["pass_fds"] == (5, 9)
    # Its own process group, so that Ctrl-C does not reach it; the same session.
    assert options["process_group"] == 0
    assert "start_new_session" not in options
    assert options["bufsize"] == 0
    assert worker.pid == 100


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_answers_in_pieces_and_several_at_once(talk, monkeypatch, size):
    worker, process = talk
    in_pieces(monkeypatch, size)
    process.says(b"done\n17\n\nok\n")
    assert [worker.answer(2000.0) for _ in range(4)] == ["done", "17", "", "ok"]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_log_between_answers(talk, monkeypatch, size):
    """The numbers have line ends among their bytes, and one is negative."""
    worker, process = talk
    in_pieces(monkeypatch, size)
    rows = np.array([[0, 10, 0x0A0A0A0A], [1, -10, 1 << 62]], "<i8")
    process.says(b"2\n" + rows.tobytes() + b"ok\n" + b"0\n" + b"after\n")
    found = worker.log()
    assert found.tolist() == rows.tolist()
    assert worker.answer(2000.0) == "ok"
    assert worker.log().shape == (0, 3)
    assert worker.answer(2000.0) == "after"
    assert process.told == [b'["log"]\n'] * 2


def test_commands_are_lines(talk):
    worker, process = talk
    process.says(b"done\n")
    assert worker.ask("run", 123, [(4, 0, 0)], -1) == "done"
    (line,) = process.told
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line) == ["run", 123, [[4, 0, 0]], -1]


def waits_of(monkeypatch, *answers):
    """Record the waits for answers [ms]; each wait ends with the next one of `answers`."""
    waits, left = [], list(answers)

    class Waiting:
        def register(self, file, events):
            assert events == module.select.POLLIN

        def poll(self, wait_ms):
            waits.append(wait_ms)
            return left.pop(0)

    monkeypatch.setattr(module.select, "poll", Waiting)
    return waits


@pytest.mark.parametrize(("given_s", "wait_ms"), [
    # The clock is at 1000 s. A deadline that has passed is a wait of 0, not one without end.
    (1002.5, 2500.0), (1000.0, 0.0), (990.0, 0.0), (None, 20_000.0),
])  # fmt: skip
def test_how_long_an_answer_is_waited_for(talk, monkeypatch, given_s, wait_ms):
    worker, _ = talk
    waits = waits_of(monkeypatch, [])
    with pytest.raises(DeadlinePassed, match="a process of the validation did not answer in time"):
        worker.ask("unit", 1, deadline_s=given_s)
    assert waits == [wait_ms]


def test_all_pieces_of_an_answer_have_one_deadline(talk, begun, monkeypatch):
    worker, process = talk
    waits = waits_of(monkeypatch, [1], [])
    read = os.read

    def slow(file, size):
        begun.now_s += 4.0
        return read(file, size)

    monkeypatch.setattr(module.os, "read", slow)
    process.says(b"don")
    with pytest.raises(DeadlinePassed, match="in time"):
        worker.answer(1010.0)
    assert waits == [10_000.0, 6_000.0]


def test_a_log_has_the_same_deadline_as_an_answer(talk, monkeypatch):
    worker, process = talk
    waits = waits_of(monkeypatch, [1], [])
    process.says(b"2\n" + bytes(47))
    with pytest.raises(DeadlinePassed, match="in time"):
        worker.log()
    assert waits == [20_000.0] * 2


def test_a_part_read_before_the_deadline_is_kept(talk, monkeypatch):
    worker, process = talk
    process.says(b"do")
    with pytest.raises(DeadlinePassed):
        worker.answer(0.0)
    process.says(b"ne\n")
    assert worker.answer(2000.0) == "done"


def test_a_process_that_has_ended(talk):
    worker, process = talk
    process.says(b"half an ans")
    process.exits(-9)
    with pytest.raises(DeadlinePassed, match=r"a process of the validation has ended \(-9\)"):
        worker.answer(2000.0)
    process.refuses = True
    with pytest.raises(DeadlinePassed, match=r"a process of the validation has ended \(-9\)"):
        worker.tell("unit", 1)


def test_a_worker_binds_its_own_process(talk, monkeypatch):
    bound = []
    monkeypatch.setattr(module.os, "sched_setaffinity", lambda *given: bound.append(given), raising=False)
    talk[0].bind((7, 3))
    assert bound == [(100, (7, 3))]


def test_all_processes_are_ended_after_the_block(begun):
    with Crew(3, [5]) as crew:
        assert [worker.pid for worker in crew.workers] == [100, 101, 102]
        assert [process.options["pass_fds"] for process in Popen.made] == [(5,)] * 3
        assert all(process.ends == [] for process in Popen.made)
    assert [process.ends for process in Popen.made] == [["killed", "waited for", "stdin closed"]] * 3
    assert all(process.stdout.closed for process in Popen.made)
    assert crew.workers == []


def test_if_a_process_cannot_start_those_before_it_are_ended(begun, monkeypatch):
    def begin(files):
        if len(Popen.made) == 2:
            raise OSError("too many processes")
        return worker(files)

    worker = module.WorkerProcess
    monkeypatch.setattr(module, "WorkerProcess", begin)
    with pytest.raises(OSError, match="too many"), Crew(3):
        raise AssertionError("the block began")
    assert [process.ends[0] for process in Popen.made] == ["killed", "killed"]
