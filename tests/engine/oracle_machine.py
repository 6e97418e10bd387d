"""The life of an oracle's node, event by event: what is the same whatever the law of its page faults.

Written from the model's specification alone and sharing nothing with the engine. Times are integer nanoseconds; rates
and credits are fractions of the decimals as they are typed, so nothing here is rounded. Slow on purpose.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Generic

from oracle_cores import Core, Cores
from oracle_disk import Disk, Request
from oracle_live import AnyLive


@dataclass(frozen=True)
class Hardware:
    """The constants of any node. `quantum_ns` may be inf; a page fault takes `fault_ns`, its seek included."""

    quantum_ns: float
    switch_ns: int
    user_memory_kb: int
    cores: int = field(default=1, kw_only=True)
    channels: int = field(default=1, kw_only=True)
    seek_ns: int = field(default=0, kw_only=True)
    ns_per_kb: float = field(default=0.0, kw_only=True)
    fault_ns: int = field(default=0, kw_only=True)
    fault_seek_ns: int = field(default=0, kw_only=True)


@dataclass
class OracleResult:
    """What became of a task; `breakdown` is ns per part and sums to `finish_ns - enter_ns`."""

    id: int
    finish_ns: int
    killed: bool
    breakdown: dict[str, int]
    requests: int
    hits: int
    faults: int


@dataclass
class OracleRun:
    """Results in task id order, and the node's own record; `cpu_busy_ns`, over all cores, holds no switches.

    `disk_order` are the tasks as their requests came into the device, and `disk_busy_ns` how long at least one was in
    it. `closest_call_ns` is how near, at the nearest, some credit came to reach 1 exactly at a whole ns: there the next
    floating-point number decides in which ns a page fault falls, and a sum that is rounded has no reason to agree.
    """

    results: list[OracleResult]
    disk_order: list[int]
    switches: int
    cpu_busy_ns: int
    disk_busy_ns: int
    closest_call_ns: Fraction


class Machine(Generic[AnyLive]):
    """A node and the tasks in it. Subclasses say what page faults come by, and what a program does between its gaps."""

    def __init__(self, hardware: Hardware) -> None:
        self.hardware = hardware
        self.present: dict[int, AnyLive] = {}
        self.cores: Cores[AnyLive] = Cores(hardware.cores, hardware.quantum_ns, hardware.switch_ns)
        self.disk: Disk[AnyLive] = Disk(hardware.channels)
        self.results: list[OracleResult] = []
        self.cpu_busy_ns = 0
        self.closest_call_ns = Fraction(1)

    # -- what subclasses say -----------------------------------------------------------------------------------------
    def credit_per_ns(self, live: AnyLive) -> Fraction:
        """What the task earns per ns of its CPU, with the node as it is."""
        raise NotImplementedError

    def end_gap(self, core: Core[AnyLive], now: int) -> None:
        """The task on the core has come to the end of a gap."""
        raise NotImplementedError

    def enter(self, live: AnyLive) -> None:
        """The task enters."""
        self.present[live.id] = live
        self.cores.make_ready(live, live.since)

    # -- CPU ---------------------------------------------------------------------------------------------------------
    def account(self, now: int) -> None:
        """Book what all tasks on cores ran since last time, at the rates that held until now."""
        for core in self.cores.all:
            live, ran = core.live, now - core.accounted
            if live is None or ran <= 0:  # negative: still switching
                continue
            live.cpu_left -= ran
            if live.gap_left is not None:
                live.gap_left -= ran
            rate = self.credit_per_ns(live)
            if rate > 0:
                live.credit += ran * rate
                self.watch_closeness(live.credit, rate)
            self.cpu_busy_ns += ran
            core.accounted = now

    def watch_closeness(self, credit: Fraction, rate: Fraction) -> None:
        """How near the instant at which the credit is 1 lies to a whole ns, if it is about now."""
        away = (1 - credit) / rate
        if abs(away) < 2:
            self.closest_call_ns = min(self.closest_call_ns, abs(away - round(away)))

    def fault_due_in(self, live: AnyLive) -> int | None:
        # Credit is not lost with its source: a task that has it faults even where memory now suffices.
        if live.credit >= 1:
            return 0
        rate = self.credit_per_ns(live)
        return math.ceil((1 - live.credit) / rate) if rate > 0 else None

    def stop_at(self, core: Core[AnyLive]) -> float | None:
        live = core.live
        if live is None:
            return None
        in_ns = [x for x in (live.cpu_left, live.gap_left, self.fault_due_in(live)) if x is not None]
        stop, quantum_end = core.accounted + min(in_ns), self.cores.quantum_end(core)
        return stop if quantum_end is None else min(stop, quantum_end)

    def cpu_stop(self, core: Core[AnyLive], now: int) -> None:
        live = core.live
        assert live is not None
        quantum_over = self.cores.quantum_end(core) == now
        if live.cpu_left == 0:
            self.leave(live, now)
            self.cores.vacate(core, now)
        elif live.gap_left == 0:
            self.end_gap(core, now)
        elif live.credit >= 1:
            live.credit -= 1
            live.faults += 1
            self.ask_disk(core, self.fault_of(live), now)
        else:
            assert quantum_over, "the CPU stopped for no reason"
        # A task that was waiting may just have been killed, and so may the task itself.
        if quantum_over and core.live is live and self.cores.ready:
            self.cores.rotate(core, now)

    def leave(self, live: AnyLive, end: int, killed: bool = False) -> None:
        live.turn(live.part, end)
        del self.present[live.id]
        self.results.append(OracleResult(live.id, end, killed, live.spent, live.requests, live.hits, live.faults))

    # -- disk --------------------------------------------------------------------------------------------------------
    def fault_of(self, live: AnyLive) -> Request[AnyLive]:
        node = self.hardware
        seek_ns = live.fault_seek(live.faults) if live.fault_seek else node.fault_seek_ns
        return Request(live, seek_ns, node.fault_ns - node.fault_seek_ns, is_fault=True)

    def ask_disk(self, core: Core[AnyLive], request: Request[AnyLive], now: int) -> None:
        """The core's task makes a request, and gives the core away."""
        self.disk.ask(request, now)
        self.cores.vacate(core, now)

    def disk_done(self, now: int) -> None:
        request = self.disk.complete(now)
        if request.promised is None:
            self.cores.make_ready(request.live, now)

    # -- everything --------------------------------------------------------------------------------------------------
    def run(self, lives: Iterable[AnyLive]) -> OracleRun:
        """Live until all tasks have left. At equal instants: CPU stops by core, one request's end, entering by id.

        After each event the next one is chosen anew.
        """
        entering = deque(sorted(lives, key=lambda live: (live.since, live.id)))
        while entering or self.present or self.disk.device:
            events: list[tuple[float, int, int]] = []
            for core in self.cores.all:
                stop = self.stop_at(core)
                if stop is not None:
                    events.append((stop, 0, core.number))
            disk_end = self.disk.next_end()
            if disk_end is not None:
                events.append((disk_end, 1, 0))
            if entering:
                events.append((entering[0].since, 2, 0))
            at, kind, number = min(events)
            now = int(at)
            self.account(now)
            if kind == 0:
                self.cpu_stop(self.cores.all[number], now)
            elif kind == 1:
                self.disk_done(now)
            else:
                self.enter(entering.popleft())
        self.results.sort(key=lambda result: result.id)
        return OracleRun(
            self.results, self.disk.order, self.cores.switches, self.cpu_busy_ns, self.disk.busy_ns,
            self.closest_call_ns,
        )  # fmt: skip
