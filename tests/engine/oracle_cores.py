"""The cores of the oracles' node and their one ready queue: quanta and context switches, in whole ns."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Generic

from oracle_live import AnyLive


@dataclass(eq=False)
class Core(Generic[AnyLive]):
    """One core.

    Attributes:
        live: the task that has it, also while the core still switches to it.
        last_task: number of the task that it had last; None: none since the start.
        quantum_start: when that task's quantum began; in the future while the core switches.
        accounted: up to here the task's CPU, gap and credit are booked.
    """

    number: int
    live: AnyLive | None = None
    last_task: int | None = None
    quantum_start: int = 0
    accounted: int = 0


class Cores(Generic[AnyLive]):
    """All cores and the tasks that wait for one. While a task waits, no core is free."""

    def __init__(self, count: int, quantum_ns: float, switch_ns: int) -> None:
        self.all: list[Core[AnyLive]] = [Core(number) for number in range(count)]
        self.quantum_ns, self.switch_ns = quantum_ns, switch_ns
        self.ready: deque[AnyLive] = deque()
        self.switches = 0

    def core_of(self, live: AnyLive) -> Core[AnyLive] | None:
        """The core that the task has."""
        return next((core for core in self.all if core.live is live), None)

    def make_ready(self, live: AnyLive, now: int) -> None:
        """The free core of lowest number for the task, or the end of the queue."""
        live.turn("cpu_queue", now)
        free = next((core for core in self.all if core.live is None), None)
        if free is not None:
            self._take(free, live, now)
            return
        if not self.ready:
            self._end_quanta_that_passed(now)
        self.ready.append(live)

    def vacate(self, core: Core[AnyLive], now: int) -> None:
        """The core's task has gone; the first of the queue takes the core."""
        core.live = None
        if self.ready:
            self._take(core, self.ready.popleft(), now)

    def rotate(self, core: Core[AnyLive], now: int) -> None:
        """The core's task goes behind all that wait, the first of them takes the core."""
        assert core.live is not None
        core.live.turn("cpu_queue", now)
        self.ready.append(core.live)
        self.vacate(core, now)

    def quantum_end(self, core: Core[AnyLive]) -> float | None:
        """When the core's task has to go behind those that wait; None: no task waits, its quantum renews itself."""
        return core.quantum_start + self.quantum_ns if self.ready else None

    def _end_quanta_that_passed(self, now: int) -> None:
        """No task waited until now: whole quanta are over, the last one that began counts."""
        for core in self.all:
            # Also with quanta without end; fewer than 0 ns while the core switches.
            if now - core.quantum_start >= self.quantum_ns:
                core.quantum_start = now - (now - core.quantum_start) % int(self.quantum_ns)

    def _take(self, core: Core[AnyLive], live: AnyLive, now: int) -> None:
        start = now
        if core.last_task not in (None, live.id):
            self.switches += 1
            start += self.switch_ns
        core.live, core.last_task = live, live.id
        core.quantum_start = core.accounted = start
        live.turn("cpu", start)  # the switch is still queueing of the incoming task
