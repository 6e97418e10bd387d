"""Yardsticks: a CPU shared by its jobs, event by event, written by hand over SimPy, in three forms.

Two share it exactly and work in virtual time (the service that a job present since time 0 has received): a job's end
is known when it enters, and a node needs a heap and one pending event. `run_usual` is a SimPy process per node that is
interrupted by an arrival, as SimPy's own examples do it. `run_fast` hangs callbacks on timeouts, and since a new job
only makes the others later, leaves the pending event alone unless the new job is the next to end; it looks again when
it fires. `run_round_robin` is what `cluster_abm` simulates, quantum by quantum; a job alone on its node is served at
one go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from heapq import heappop, heappush

import simpy
from work import NODES, Outcome, cpu_only_jobs

Process = Generator[simpy.Event, None, None]
# Rounding may leave the next to end a hair of service [s].
HAIR_S = 1e-12
QUANTUM_S = 0.01


class SharedCpu:
    """A node's CPU, shared equally by the jobs on it."""

    def __init__(self, env: simpy.Environment) -> None:
        self.env = env
        self.jobs: list[tuple[float, float]] = []
        self.share_s = self.last_s = self.busy_s = self.total_response_s = 0.0
        self.finished = 0

    def enter(self, cpu_s: float) -> None:
        """A job starts now."""
        raise NotImplementedError

    def catch_up(self) -> None:
        """Give the jobs what they have received since the last event."""
        now_s = self.env.now
        if self.jobs:
            self.share_s += (now_s - self.last_s) / len(self.jobs)
            self.busy_s += now_s - self.last_s
        self.last_s = now_s

    def add(self, cpu_s: float) -> bool:
        """A job starts now; True if it is the next to end."""
        self.catch_up()
        job = (self.share_s + cpu_s, self.env.now)
        heappush(self.jobs, job)
        return self.jobs[0] is job

    def end_due_jobs(self) -> None:
        """Let go of the jobs that have all they asked for."""
        self.catch_up()
        jobs = self.jobs
        while jobs and jobs[0][0] <= self.share_s + HAIR_S:
            self.finished += 1
            self.total_response_s += self.env.now - heappop(jobs)[1]

    def next_end_s(self) -> float:
        """Time until the next end if no job arrives [s]."""
        return max(0.0, (self.jobs[0][0] - self.share_s) * len(self.jobs))


class UsualCpu(SharedCpu):
    """The CPU as a process that sleeps until the next end, or is interrupted by an arrival."""

    def __init__(self, env: simpy.Environment) -> None:
        super().__init__(env)
        self.process = env.process(self._live())

    def enter(self, cpu_s: float) -> None:
        """A job starts now."""
        self.add(cpu_s)
        self.process.interrupt()

    def _live(self) -> Process:
        while True:
            try:
                yield self.env.timeout(self.next_end_s()) if self.jobs else self.env.event()
                self.end_due_jobs()
            except simpy.Interrupt:
                pass


class FastCpu(SharedCpu):
    """The CPU as callbacks of timeouts."""

    def __init__(self, env: simpy.Environment) -> None:
        super().__init__(env)
        self.pending: simpy.Timeout | None = None

    def enter(self, cpu_s: float) -> None:
        """A job starts now."""
        if self.add(cpu_s):
            self._expect_next_end()

    def _expect_next_end(self) -> None:
        self.pending = simpy.Timeout(self.env, self.next_end_s())
        self.pending.callbacks.append(self._look)

    def _look(self, event: simpy.Event) -> None:
        if event is not self.pending:
            return
        self.end_due_jobs()
        if self.jobs:
            self._expect_next_end()


class RoundRobinCpu(SharedCpu):
    """The CPU as a process that serves a queue of (CPU left, submission), one quantum after another."""

    def __init__(self, env: simpy.Environment) -> None:
        super().__init__(env)
        self.ready: deque[tuple[float, float]] = deque()
        self.alone = False
        self.process = env.process(self._live())

    def enter(self, cpu_s: float) -> None:
        """A job starts now."""
        self.ready.append((cpu_s, self.env.now))
        if self.alone:
            self.alone = False
            self.process.interrupt()

    def _live(self) -> Process:
        env, ready = self.env, self.ready
        while True:
            while not ready:
                yield from self._alone(env.event())
            left_s, submitted_s = ready.popleft()
            begun_s = env.now
            if ready:
                yield simpy.Timeout(env, min(left_s, QUANTUM_S))
            else:
                yield from self._alone(simpy.Timeout(env, left_s))
                # A task that has come waits until the quantum is over that began last.
                rest_s = min((begun_s - env.now) % QUANTUM_S, left_s - (env.now - begun_s))
                if ready and rest_s > HAIR_S:
                    yield simpy.Timeout(env, rest_s)
            served_s = env.now - begun_s
            self.busy_s += served_s
            if left_s - served_s > HAIR_S:
                ready.append((left_s - served_s, submitted_s))
            else:
                self.finished += 1
                self.total_response_s += env.now - submitted_s

    def _alone(self, event: simpy.Event) -> Process:
        """Wait for the event, or for a job to come."""
        self.alone = True
        try:
            yield event
            self.alone = False
        except simpy.Interrupt:
            pass


def _submit(
    env: simpy.Environment, cpus: list[SharedCpu], times_s: list[float], homes: list[int], demands_s: list[float]
) -> Process:
    for time_s, home, cpu_s in zip(times_s, homes, demands_s, strict=True):
        yield simpy.Timeout(env, time_s - env.now)
        cpus[home].enter(cpu_s)


def _run(cpu_class: type, seed: int, window_s: float, nodes: int) -> Outcome:
    env = simpy.Environment()
    cpus = [cpu_class(env) for _ in range(nodes)]
    env.process(_submit(env, cpus, *cpu_only_jobs(seed, window_s, nodes)))
    env.run(until=window_s)
    finished = sum(cpu.finished for cpu in cpus)
    return Outcome(
        finished,
        sum(cpu.total_response_s for cpu in cpus) / max(1, finished) * 1000.0,
        sum(cpu.busy_s for cpu in cpus) / (window_s * nodes),
    )


def run_usual(seed: int, window_s: float, nodes: int = NODES) -> Outcome:
    """The CPU-only work for `window_s` simulated seconds, a process per node."""
    return _run(UsualCpu, seed, window_s, nodes)


def run_fast(seed: int, window_s: float, nodes: int = NODES) -> Outcome:
    """The CPU-only work for `window_s` simulated seconds, callbacks and as few events as possible."""
    return _run(FastCpu, seed, window_s, nodes)


def run_round_robin(seed: int, window_s: float, nodes: int = NODES) -> Outcome:
    """The CPU-only work for `window_s` simulated seconds, round robin with a quantum of 10 ms."""
    return _run(RoundRobinCpu, seed, window_s, nodes)
