"""One node whose memory oversizes and whose programs have phases, event by event, in plain exact Python.

The judge of the compiled engine where page faults come by oversize, and memory may have a limit. Written from the
model's specification alone and sharing nothing with the engine. Times are integer nanoseconds; rates and credits are
fractions of the decimals as they are typed, so nothing here is rounded. Slow on purpose.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

PARTS = ("cpu", "cpu_queue", "io", "io_queue", "paging")
NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class Phase:
    """A part of a program: its CPU, its memory, its accesses evenly spread, the memory it asks anew."""

    cpu_ms: float
    memory_kb: int
    accesses: int = 0
    allocated_kb_per_s: int = 0

    @property
    def cpu_ns(self) -> int:
        """Its CPU in whole ns, rounded half up."""
        return max(1, half_up(exact(self.cpu_ms) * NS_PER_MS))

    def gaps_ns(self) -> list[int]:
        """CPU from its start to its first access, to the next one, ..., to its end."""
        cpu, count = self.cpu_ns, self.accesses
        borders = [0, *((2 * i + 1) * cpu // (2 * count) for i in range(count)), cpu]
        return [max(1, later - earlier) for earlier, later in pairwise(borders)]


@dataclass(frozen=True)
class OracleNode:
    """The node's constants; speed 1, no I/O buffer."""

    quantum_ns: int
    switch_ns: int
    user_memory_kb: int
    fault_evenness: float = 1.0
    fault_ns: int = 0
    seek_ns: int = 0
    ns_per_kb: float = 0.0
    limit_kb: int | None = None


@dataclass(frozen=True)
class OracleTask:
    """A task, submitted at `arrival_ns`; it comes to the node `delay_ns` later. All its accesses are of `size_kb`."""

    id: int
    arrival_ns: int
    phases: tuple[Phase, ...]
    size_kb: float = 0.0
    delay_ns: int = 0

    @property
    def enter_ns(self) -> int:
        """When it comes to the node."""
        return self.arrival_ns + self.delay_ns


@dataclass
class OracleResult:
    """What became of a task; `breakdown` is ns per part and sums to `finish_ns - enter_ns`."""

    id: int
    finish_ns: int
    killed: bool
    breakdown: dict[str, int]
    requests: int
    faults: int


@dataclass
class OracleRun:
    """Results in task id order, and the node's own record; `cpu_busy_ns` holds no switches.

    `closest_call_ns` is how near, at the nearest, some credit came to reach 1 exactly at a whole ns: there the next
    floating-point number decides in which ns a page fault falls, and a sum that is rounded has no reason to agree.
    """

    results: list[OracleResult]
    switches: int = 0
    cpu_busy_ns: int = 0
    disk_busy_ns: int = 0
    closest_call_ns: Fraction = Fraction(1)


def exact(number: float | int) -> Fraction:
    """The number as typed: 0.1 is one tenth."""
    return Fraction(repr(float(number))) if isinstance(number, float) else Fraction(number)


def half_up(number: Fraction) -> int:
    """The nearest whole number, of two the larger."""
    return math.floor(number + Fraction(1, 2))


def faults_per_s(oversize: Fraction, accesses: int) -> Fraction:
    """Page faults per second of CPU, by the share of the demand beyond memory and the accesses made."""
    if oversize <= 0:
        return Fraction(0)
    missing = 4 / (Fraction("0.31") * oversize**2 + Fraction("0.19") * oversize + Fraction("0.034"))
    return min(Fraction(120), 120 - missing + max(Fraction(0), Fraction("-174.98") + Fraction("0.061") * accesses))


@dataclass(eq=False)
class _Live:
    """A task in the node."""

    task: OracleTask
    cpu_left: int
    phase: int = 0
    gaps: deque[int] = field(default_factory=deque)  # to each access of the phase still to come, and to its end
    accesses: int = 0
    credit: Fraction = Fraction(0)
    part: str = "cpu_queue"
    since: int = 0
    faults: int = 0
    spent: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(PARTS, 0)))

    @property
    def now_in(self) -> Phase:
        return self.task.phases[self.phase]

    def turn(self, part: str, now: int) -> None:
        """From `now` on, time is booked on `part`."""
        self.spent[self.part] += now - self.since
        self.part, self.since = part, now


@dataclass
class _Request:
    live: _Live
    service_ns: int
    is_fault: bool


class _Machine:
    def __init__(self, node: OracleNode) -> None:
        self.node = node
        self.present: dict[int, _Live] = {}
        self.ready: deque[_Live] = deque()
        self.running: _Live | None = None
        self.last_holder: int | None = None
        self.run_start = 0  # when the running task's quantum began to count (after the switch)
        self.accounted = 0  # up to here the running task's CPU, gap and credit are booked
        self.quantum_end: int | None = None  # None: no task waits, quanta renew themselves
        self.disk: deque[_Request] = deque()  # the head is in service
        self.disk_free_at = 0
        self.run = OracleRun([])

    # -- memory ------------------------------------------------------------------------------------------------------
    def demand_kb(self) -> int:
        return sum(live.now_in.memory_kb for live in self.present.values())

    def credit_per_ns(self, live: _Live) -> Fraction:
        """What the task earns per ns of its CPU, with the node as it is."""
        oversize = Fraction(self.demand_kb() - self.node.user_memory_kb, self.node.user_memory_kb)
        if oversize <= 0:
            return Fraction(0)
        of_all = faults_per_s(oversize, sum(other.accesses for other in self.present.values()))
        fresh = sum(other.now_in.allocated_kb_per_s for other in self.present.values())
        share = Fraction(1)
        if fresh:
            even = exact(self.node.fault_evenness)
            share = even + (1 - even) * len(self.present) * Fraction(live.now_in.allocated_kb_per_s, fresh)
        return of_all * share / NS_PER_S

    def fault_due_in(self, live: _Live) -> int | None:
        # Credit is not lost with its source: a task that has it faults even where memory now suffices.
        if live.credit >= 1:
            return 0
        rate = self.credit_per_ns(live)
        return math.ceil((1 - live.credit) / rate) if rate > 0 else None

    def watch_closeness(self, credit: Fraction, rate: Fraction) -> None:
        """How near the instant at which the credit is 1 lies to a whole ns, if it is about now."""
        away = (1 - credit) / rate
        if abs(away) < 2:
            self.run.closest_call_ns = min(self.run.closest_call_ns, abs(away - round(away)))

    def keep_limit(self, now: int) -> None:
        """Kill the last submitted, again and again, until the limit holds."""
        limit = self.node.limit_kb
        while limit is not None and self.demand_kb() > limit:
            self.kill(max(self.present.values(), key=lambda live: (live.task.arrival_ns, live.task.id)), now)

    def kill(self, live: _Live, now: int) -> None:
        self.account(now)
        end = now
        if live is self.running:
            if live.since > now:  # still switching to it: what is left of the switch it does not wait for
                live.spent["cpu_queue"] -= live.since - now
                live.since = now
            self.leave(live, now, killed=True)
            self.dispatch(now)
            return
        if live in self.ready:
            self.ready.remove(live)
            if not self.ready:
                self.quantum_end = None
        elif self.disk[0].live is live:
            end = self.disk_free_at  # the disk does not stop halfway
        else:
            self.disk = deque(request for request in self.disk if request.live is not live)
        self.leave(live, end, killed=True)

    # -- CPU ---------------------------------------------------------------------------------------------------------
    def account(self, now: int) -> None:
        """Book what the running task ran since last time, at the rate that held. Call BEFORE the rate changes."""
        live = self.running
        ran = now - self.accounted
        if live is None or ran <= 0:  # negative: still switching
            return
        live.cpu_left -= ran
        live.gaps[0] -= ran
        rate = self.credit_per_ns(live)
        if rate > 0:
            live.credit += ran * rate
            self.watch_closeness(live.credit, rate)
        self.run.cpu_busy_ns += ran
        self.accounted = now

    def cpu_stop_at(self) -> int | None:
        live = self.running
        if live is None:
            return None
        in_ns = [x for x in (live.cpu_left, live.gaps[0], self.fault_due_in(live)) if x is not None]
        stop = self.accounted + min(in_ns)
        return stop if self.quantum_end is None else min(stop, self.quantum_end)

    def make_ready(self, live: _Live, now: int) -> None:
        live.turn("cpu_queue", now)
        self.ready.append(live)
        if self.running is None:
            self.dispatch(now)
        elif self.quantum_end is None:
            self.quantum_end = self.first_quantum_end_after(now)

    def first_quantum_end_after(self, now: int) -> int:
        whole = max(0, now - self.run_start) // self.node.quantum_ns
        return self.run_start + (whole + 1) * self.node.quantum_ns

    def dispatch(self, now: int) -> None:
        """Give the free CPU to the head of the ready queue, if there is one."""
        self.running, self.quantum_end = None, None
        if not self.ready:
            return
        live = self.running = self.ready.popleft()
        start = now
        if self.last_holder not in (None, live.task.id):
            self.run.switches += 1
            start += self.node.switch_ns
        self.last_holder = live.task.id
        self.run_start = self.accounted = start
        live.turn("cpu", start)  # the switch is still queueing of the incoming task
        if self.ready:
            self.quantum_end = start + self.node.quantum_ns

    def cpu_stop(self, now: int) -> None:
        live = self.running
        assert live is not None
        self.account(now)
        quantum_over = self.quantum_end == now
        if live.cpu_left == 0:
            self.leave(live, now)
        elif live.gaps[0] == 0:
            live.gaps.popleft()
            if not live.gaps:
                self.change_phase(live, now)
                # A task that was waiting may just have been killed, and so may the task itself.
                if quantum_over and self.ready and self.running is live:
                    self.rotate(live, now)
                return
            live.accesses += 1
            service_ns = half_up(self.node.seek_ns + exact(live.task.size_kb) * exact(self.node.ns_per_kb))
            self.to_disk(_Request(live, service_ns, is_fault=False), now)
        elif live.credit >= 1:
            live.credit -= 1
            live.faults += 1
            self.to_disk(_Request(live, self.node.fault_ns, is_fault=True), now)
        else:
            assert quantum_over, "the CPU stopped for no reason"
            self.rotate(live, now)
            return
        self.dispatch(now)

    def change_phase(self, live: _Live, now: int) -> None:
        live.phase += 1
        live.gaps.extend(live.now_in.gaps_ns())
        self.keep_limit(now)

    def rotate(self, live: _Live, now: int) -> None:
        live.turn("cpu_queue", now)
        self.ready.append(live)
        self.dispatch(now)

    def leave(self, live: _Live, end: int, killed: bool = False) -> None:
        live.turn(live.part, end)
        del self.present[live.task.id]
        self.run.results.append(OracleResult(live.task.id, end, killed, dict(live.spent), live.accesses, live.faults))

    # -- disk --------------------------------------------------------------------------------------------------------
    def to_disk(self, request: _Request, now: int) -> None:
        request.live.turn("paging" if request.is_fault else "io_queue", now)
        self.disk.append(request)
        if len(self.disk) == 1:
            self.serve_head(now)

    def serve_head(self, now: int) -> None:
        request = self.disk[0]
        if not request.is_fault:
            request.live.turn("io", now)
        self.disk_free_at = now + request.service_ns
        self.run.disk_busy_ns += request.service_ns

    def disk_done(self, now: int) -> None:
        live = self.disk.popleft().live
        if live.task.id in self.present:  # not killed meanwhile
            self.make_ready(live, now)
        if self.disk:
            self.serve_head(now)

    # -- entering ----------------------------------------------------------------------------------------------------
    def enter(self, task: OracleTask) -> None:
        now = task.enter_ns
        self.account(now)
        live = _Live(task, cpu_left=sum(phase.cpu_ns for phase in task.phases), since=now)
        live.gaps.extend(live.now_in.gaps_ns())
        self.present[task.id] = live
        self.make_ready(live, now)
        self.keep_limit(now)


def run_oracle(node: OracleNode, tasks: Iterable[OracleTask]) -> OracleRun:
    """Live until every task has left. At equal instants: CPU stop, then disk completion, then entering by id."""
    machine = _Machine(node)
    entering = deque(sorted(tasks, key=lambda task: (task.enter_ns, task.id)))
    while entering or machine.present or machine.disk:
        events: list[tuple[int, int]] = []
        stop = machine.cpu_stop_at()
        if stop is not None:
            events.append((stop, 0))
        if machine.disk:
            events.append((machine.disk_free_at, 1))
        if entering:
            events.append((entering[0].enter_ns, 2))
        now, kind = min(events)
        if kind == 0:
            machine.cpu_stop(now)
        elif kind == 1:
            machine.disk_done(now)
        else:
            machine.enter(entering.popleft())
    machine.run.results.sort(key=lambda result: result.id)
    return machine.run
