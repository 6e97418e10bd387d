"""An ideal machine: a clock that a test moves, and processes that do no work."""

from __future__ import annotations

import numpy as np

from cluster_abm.validation.worker import COMPUTED, START

MS = 1_000_000


class Clock:
    """Stands in for the module `time`. Only `sleep`, or the test, moves it."""

    def __init__(self, now_s=1000.0):
        self.now_s, self.slept = now_s, []

    def monotonic(self):
        return self.now_s

    perf_counter = monotonic

    def monotonic_ns(self):
        return round(self.now_s * 1e9)

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now_s += seconds


def clock_in(monkeypatch, module, now_s=1000.0):
    """Put such a clock in the place of a module's `time`."""
    clock = Clock(now_s)
    monkeypatch.setattr(module, "time", clock)
    return clock


def computing(start_ms, end_ms, cpu_ms):
    """The log of a process that computes evenly: wall and CPU time at the start, half way and at the end."""
    cpus_ms = (7, 7 + cpu_ms / 2, 7 + cpu_ms)
    rows = zip((START, COMPUTED, COMPUTED), (start_ms, (start_ms + end_ms) / 2, end_ms), cpus_ms, strict=True)
    return np.array([(kind, wall_ms * MS, cpu * MS) for kind, wall_ms, cpu in rows], np.int64)


class IdealCrew:
    """Stands in for a Crew; its processes are numbered from 0.

    An iteration takes 50 ns. A core is slower by a quarter while other cores are busy. Two processes on one core have
    half of its speed each.

    Attributes:
        events: the calls of processes, in order: (number of the process, name of the call, its arguments).
        unit_ns: CPU time of a unit alone, by process, if a test sets it [ns].
        slower: factor by which a process is slower while other cores are busy, by process.
        ends_s: end of a run, by process [s].
        logs: logs of runs, by process.
    """

    def __init__(self, count, clock):
        self.clock, self.events = clock, []
        self.unit_ns, self.slower, self.ends_s, self.logs = {}, {}, {}, {}
        self.workers = [Process(self, number) for number in range(count)]

    @property
    def told(self):
        """The events without those of binding."""
        return [event for event in self.events if event[1] != "bind"]


class Process:
    def __init__(self, crew, number):
        self.crew, self.pid, self.cores, self.iterations = crew, number, (), 0
        self.left, self.beside = [], []

    def _note(self, *what):
        self.crew.events.append((self.pid, *what))

    def bind(self, cores):
        self._note("bind", *cores)
        self.cores = tuple(cores)

    def tell(self, *command):
        self._note(*command)
        if command[0] == "unit":
            self.iterations = command[1]
        busy = [other for other in self.crew.workers if other.left]
        self.beside = busy.copy()
        for other in busy:
            other.beside.append(self)
        self.left.append(command)

    def answer(self, deadline_s):
        self._note("answer", deadline_s)
        (what, *_) = self.left.pop(0)
        if what == "alone":
            return str(self._unit_ns())
        self.crew.clock.now_s = max(self.crew.clock.now_s, self.crew.ends_s.get(self.pid, 0.0))
        return "done"

    def ask(self, *command):
        self.tell(*command)
        return self.answer(None)

    def log(self):
        self._note("log")
        return self.crew.logs[self.pid]

    def _unit_ns(self):
        unit_ns = self.crew.unit_ns.get(self.pid, 50 * self.iterations)
        if any(other.cores != self.cores for other in self.beside):
            unit_ns *= self.crew.slower.get(self.pid, 1.25)
        return round(unit_ns * (1 + sum(other.cores == self.cores for other in self.beside)))
