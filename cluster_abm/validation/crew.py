"""The processes that a validation starts: told what to do, waited for up to a deadline, and ended whatever happens."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from cluster_abm.arrays import Integers
from cluster_abm.interrupts import interrupt_held_back

WORKER = Path(__file__).with_name("worker.py")
# For answers that take no time of their own [s].
PATIENCE_S = 20.0


class DeadlinePassed(Exception):
    """A worker has not answered in time, or has ended."""


class WorkerProcess:
    """One process of `worker.py`.

    Args:
        files: descriptors that it inherits, under the same numbers.
    """

    def __init__(self, files: Sequence[int] = ()) -> None:
        # In the session of this process, as the kernel's autogroups share the CPU by session; in a group of its own,
        # as a terminal's Ctrl-C is for this process alone, which ends its workers.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, bufsize=0, pass_fds=tuple(files), process_group=0,
        )  # fmt: skip
        self._unread = b""

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def bind(self, cores: Sequence[int]) -> None:
        """Let it run on these cores only."""
        os.sched_setaffinity(self.pid, cores)

    def tell(self, *command: Any) -> None:
        """Send a command. Raises DeadlinePassed if the process has ended."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(command).encode() + b"\n")
        except OSError as problem:
            raise DeadlinePassed(f"a process of the validation has ended ({self._process.poll()})") from problem

    def answer(self, deadline_s: float) -> str:
        """The next line that it writes, by an instant of the monotonic clock. Raises DeadlinePassed."""
        while b"\n" not in self._unread:
            self._read(deadline_s)
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode()

    def ask(self, *command: Any, deadline_s: float | None = None) -> str:
        """Send a command and wait for its answer. Raises DeadlinePassed."""
        self.tell(*command)
        return self.answer(time.monotonic() + PATIENCE_S if deadline_s is None else deadline_s)

    def log(self) -> Integers:
        """The log of its last run: (kind, wall ns, CPU ns), shape (rows, 3). Raises DeadlinePassed."""
        size = 24 * int(self.ask("log"))
        deadline_s = time.monotonic() + PATIENCE_S
        while len(self._unread) < size:
            self._read(deadline_s)
        raw, self._unread = self._unread[:size], self._unread[size:]
        return np.frombuffer(raw, np.int64).reshape(-1, 3)

    def _read(self, deadline_s: float) -> None:
        assert self._process.stdout is not None
        file = self._process.stdout.fileno()
        waiting = select.poll()
        waiting.register(file, select.POLLIN)
        if not waiting.poll(1000.0 * max(0.0, deadline_s - time.monotonic())):
            raise DeadlinePassed("a process of the validation did not answer in time")
        data = os.read(file, 1 << 20)
        if not data:
            raise DeadlinePassed(f"a process of the validation has ended ({self._process.poll()})")
        self._unread += data

    def end(self) -> None:
        """Kill it and wait until it is gone."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


class Crew:
    """Workers for a block, at the end of which, however it is left, none of them lives.

    Args:
        count: how many.
        files: descriptors that they inherit.
    """

    def __init__(self, count: int, files: Sequence[int] = ()) -> None:
        self._count, self._files = count, files
        self.workers: list[WorkerProcess] = []

    def __enter__(self) -> Crew:
        try:
            for _ in range(self._count):
                # A signal between the start of a process and its entry here would leave it behind.
                with interrupt_held_back():
                    self.workers.append(WorkerProcess(self._files))
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _end(self) -> None:
        with interrupt_held_back():
            while self.workers:
                self.workers.pop().end()
