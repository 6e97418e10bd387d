"""One node's life, event by event, in plain exact Python: the judge of the compiled engine.

Written from the model's specification alone and sharing nothing with the engine. Times are integer nanoseconds;
rates and credits are fractions of the decimals as they are typed, so nothing here is rounded. Slow on purpose.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

PARTS = ("cpu", "cpu_queue", "io", "io_queue", "paging")
MASK = 2**64 - 1
GAP, SIZE, HIT = 1, 2, 3


class Access(NamedTuple):
    """One access to the disk: CPU ns of this task since its previous access, disk time, and its uniform draw."""

    gap_ns: int
    service_ns: int
    u: float


@dataclass(frozen=True)
class OracleNode:
    """The node's constants. `fault_rate_per_ms` is per ms of CPU at speed 1 and per unit of demand / memory."""

    quantum_ns: int
    switch_ns: int
    user_memory_kb: int
    speed: float = 1.0
    fault_rate_per_ms: float = 0.0
    fault_ratio_cap: float = math.inf
    fault_ns: int = 0
    seek_ns: int = 0
    ns_per_kb: float = 0.0
    buffer_kb: float = 0.0


@dataclass(frozen=True)
class OracleTask:
    """A task: `cpu_ns` is wall time on this node, `cpu_ms` the same demand at speed 1 (only the buffer reads it)."""

    id: int
    enter_ns: int
    cpu_ns: int
    memory_kb: int = 0
    accesses: tuple[Access, ...] = ()
    lam_per_ms: float = 0.0
    size_kb: float = 0.0
    cpu_ms: float = 0.0
    reaccess: float = 0.0


@dataclass
class OracleResult:
    """What became of a task; `breakdown` is ns per part and sums to `finish_ns - enter_ns`."""

    id: int
    finish_ns: int
    breakdown: dict[str, int]
    requests: int
    hits: int
    faults: int


@dataclass
class OracleRun:
    """Results in task id order, and the node's own record; `cpu_busy_ns` holds no switches."""

    results: list[OracleResult]
    disk_order: list[int]
    switches: int
    cpu_busy_ns: int
    disk_busy_ns: int


def exact(number: float | int) -> Fraction:
    """The number as typed: 0.1 is one tenth."""
    return Fraction(repr(float(number))) if isinstance(number, float) else Fraction(number)


@dataclass
class _Live:
    """A task in the node."""

    task: OracleTask
    cpu_left: int
    gap_left: int | None = None
    next_access: int = 0
    credit: Fraction = Fraction(0)
    part: str = "cpu_queue"
    since: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    spent: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PARTS, 0))

    def turn(self, part: str, now: int) -> None:
        """From `now` on, time is booked on `part`."""
        self.spent[self.part] += now - self.since
        self.part, self.since = part, now

    def start_gap(self) -> None:
        accesses = self.task.accesses
        self.gap_left = accesses[self.next_access].gap_ns if self.next_access < len(accesses) else None


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
        self.run = OracleRun([], [], 0, 0, 0)

    # -- memory ------------------------------------------------------------------------------------------------------
    def fault_rate(self) -> Fraction:
        """Credit per ns of running."""
        node = self.node
        demand = sum(live.task.memory_kb for live in self.present.values())
        if demand <= node.user_memory_kb:
            return Fraction(0)
        ratio = Fraction(demand, node.user_memory_kb)
        if node.fault_ratio_cap != math.inf:
            ratio = min(ratio, exact(node.fault_ratio_cap))
        return exact(node.fault_rate_per_ms) * ratio * exact(node.speed) / 1_000_000

    def fault_due_in(self, live: _Live) -> int | None:
        if live.credit >= 1:
            return 0
        rate = self.fault_rate()
        return math.ceil((1 - live.credit) / rate) if rate > 0 else None

    def hit_probability(self, live: _Live) -> Fraction:
        task, reaccess = live.task, exact(live.task.reaccess)
        own = exact(task.lam_per_ms) * exact(task.size_kb)
        d_data = own * exact(task.cpu_ms) / (reaccess + 1)
        if reaccess == 0 or self.node.buffer_kb == 0 or d_data == 0:
            return Fraction(0)
        of_all = sum(exact(other.task.lam_per_ms) * exact(other.task.size_kb) for other in self.present.values())
        d_buf = own / of_all * exact(self.node.buffer_kb)
        return reaccess / (reaccess + 1) * min(Fraction(1), d_buf / d_data)

    # -- CPU ---------------------------------------------------------------------------------------------------------
    def account(self, now: int) -> None:
        """Book what the running task ran since last time, at the rate that held. Call BEFORE demand changes."""
        live = self.running
        ran = now - self.accounted
        if live is None or ran <= 0:  # negative: still switching
            return
        live.cpu_left -= ran
        if live.gap_left is not None:
            live.gap_left -= ran
        live.credit += ran * self.fault_rate()
        self.run.cpu_busy_ns += ran
        self.accounted = now

    def cpu_stop_at(self) -> int | None:
        live = self.running
        if live is None:
            return None
        in_ns = [x for x in (live.cpu_left, live.gap_left, self.fault_due_in(live)) if x is not None]
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
            self.finish(live, now)
        elif live.gap_left == 0:
            access = live.task.accesses[live.next_access]
            live.next_access += 1
            live.start_gap()
            if exact(access.u) < self.hit_probability(live):
                live.counts["hits"] += 1
                if quantum_over:
                    self.rotate(live, now)
                return
            live.counts["requests"] += 1
            self.to_disk(_Request(live, access.service_ns, is_fault=False), now)
        elif live.credit >= 1:
            live.credit -= 1
            live.counts["faults"] += 1
            self.to_disk(_Request(live, self.node.fault_ns, is_fault=True), now)
        else:
            assert quantum_over, "the CPU stopped for no reason"
            self.rotate(live, now)
            return
        self.dispatch(now)

    def rotate(self, live: _Live, now: int) -> None:
        live.turn("cpu_queue", now)
        self.ready.append(live)
        self.dispatch(now)

    def finish(self, live: _Live, now: int) -> None:
        live.turn("cpu", now)
        del self.present[live.task.id]
        counts = live.counts
        self.run.results.append(
            OracleResult(live.task.id, now, live.spent, counts["requests"], counts["hits"], counts["faults"])
        )

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
        self.run.disk_order.append(request.live.task.id)

    def disk_done(self, now: int) -> None:
        self.make_ready(self.disk.popleft().live, now)
        if self.disk:
            self.serve_head(now)

    # -- entering ----------------------------------------------------------------------------------------------------
    def enter(self, task: OracleTask) -> None:
        self.account(task.enter_ns)
        live = _Live(task, cpu_left=task.cpu_ns, since=task.enter_ns)
        live.start_gap()
        self.present[task.id] = live
        self.make_ready(live, task.enter_ns)


def run_oracle(node: OracleNode, tasks: Iterable[OracleTask]) -> OracleRun:
    """Live until every task has left. At equal instants: CPU stop, then disk completion, then entering by id."""
    machine = _Machine(node)
    entering = deque(sorted(tasks, key=lambda task: (task.enter_ns, task.id)))
    while entering or machine.present:
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


# -- the random streams, in Python's unbounded integers ---------------------------------------------------------------
def mix(z: int) -> int:
    """One step of SplitMix64 from state `z`."""
    z = (z + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def task_key(run_key: int, task_id: int) -> int:
    """The key of a task's streams."""
    return mix(run_key ^ mix(task_id))


def uniform(key: int, purpose: int, count: int, draw: int = 0) -> float:
    """Uniform on (0, 1): the top 53 bits, in the middle of their cell."""
    return ((mix(key ^ mix((purpose << 48) ^ (draw << 40) ^ count)) >> 12) + 0.5) * 2**-52


def accesses_of(
    run_key: int,
    task_id: int,
    cpu_ns: int,
    lam_per_ms: float,
    speed: float,
    size_kb: float,
    shape: int,
    seek_ns: int,
    ns_per_kb: float,
) -> list[Access]:
    """A task's accesses before its CPU demand ends (one due exactly at the end never happens).

    Gaps are exponential; sizes Erlang of `shape` and mean `size_kb`, or exactly `size_kb` at shape 0.
    """
    accesses: list[Access] = []
    if lam_per_ms == 0:
        return accesses
    key, used_ns = task_key(run_key, task_id), 0
    while True:
        c = len(accesses)
        gap_ns = max(1, math.floor(-math.log(uniform(key, GAP, c)) / (lam_per_ms * speed) * 1e6 + 0.5))
        used_ns += gap_ns
        if used_ns >= cpu_ns:
            return accesses
        kb = size_kb
        if shape:
            kb = -math.log(math.prod(uniform(key, SIZE, c, draw) for draw in range(shape))) * size_kb / shape
        accesses.append(Access(gap_ns, math.floor(seek_ns + kb * ns_per_kb + 0.5), uniform(key, HIT, c)))
