"""One node whose memory oversizes and whose programs have phases: a judge of the compiled engine.

Cores, disk and order of events are those of `oracle_machine`; here page faults come by oversize, and memory may have a
limit, again in plain exact Python from the model's specification alone.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from oracle_cores import Core
from oracle_disk import Request
from oracle_live import Live, Seek, exact
from oracle_machine import Hardware, Machine, OracleRun

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
class OracleNode(Hardware):
    """The node's constants; speed 1, no I/O buffer."""

    fault_evenness: float = 1.0
    limit_kb: int | None = None


@dataclass(frozen=True)
class OracleTask:
    """A task, submitted at `arrival_ns`; it comes to the node `delay_ns` later. All its accesses are of `size_kb`.

    `seek` is the seek of its access of that number, counted from 0, `fault_seek` of its page fault of that number,
    counted from 1; None: the node's.
    """

    id: int
    arrival_ns: int
    phases: tuple[Phase, ...]
    size_kb: float = 0.0
    delay_ns: int = 0
    seek: Seek | None = None
    fault_seek: Seek | None = None

    @property
    def enter_ns(self) -> int:
        """When it comes to the node."""
        return self.arrival_ns + self.delay_ns


def half_up(number: Fraction) -> int:
    """The nearest whole number, of two the larger."""
    return math.floor(number + Fraction(1, 2))


def faults_per_s(oversize: Fraction, accesses: int) -> Fraction:
    """Page faults per second of CPU, by the share of the demand beyond memory and the accesses made."""
    if oversize <= 0:
        return Fraction(0)
    missing = 4 / (Fraction("0.31") * oversize**2 + Fraction("0.19") * oversize + Fraction("0.034"))
    return min(Fraction(120), 120 - missing + max(Fraction(0), Fraction("-174.98") + Fraction("0.061") * accesses))


class _Program(Live):
    """A task in the node: its phase, and the gaps to each access of the phase still to come and to its end."""

    def __init__(self, task: OracleTask) -> None:
        super().__init__(task.id, task.enter_ns, sum(phase.cpu_ns for phase in task.phases), fault_seek=task.fault_seek)
        self.task = task
        self.phases_ahead = deque(task.phases)
        self.gaps_ahead: deque[int] = deque()
        self.start_gap()

    def start_gap(self) -> None:
        if not self.gaps_ahead:
            self.phase = self.phases_ahead.popleft()
            self.gaps_ahead.extend(self.phase.gaps_ns())
        self.gap_left = self.gaps_ahead.popleft()


class _Machine(Machine[_Program]):
    def __init__(self, node: OracleNode) -> None:
        super().__init__(node)
        self.node = node

    # -- memory ------------------------------------------------------------------------------------------------------
    def demand_kb(self) -> int:
        return sum(live.phase.memory_kb for live in self.present.values())

    def credit_per_ns(self, live: _Program) -> Fraction:
        oversize = Fraction(self.demand_kb() - self.node.user_memory_kb, self.node.user_memory_kb)
        if oversize <= 0:
            return Fraction(0)
        of_all = faults_per_s(oversize, sum(other.requests for other in self.present.values()))
        fresh = sum(other.phase.allocated_kb_per_s for other in self.present.values())
        share = Fraction(1)
        if fresh:
            even = exact(self.node.fault_evenness)
            share = even + (1 - even) * len(self.present) * Fraction(live.phase.allocated_kb_per_s, fresh)
        return of_all * share / NS_PER_S

    def keep_limit(self, now: int) -> None:
        """Kill the last submitted, again and again, until the limit holds."""
        limit = self.node.limit_kb
        while limit is not None and self.demand_kb() > limit:
            self.kill(max(self.present.values(), key=lambda live: (live.task.arrival_ns, live.id)), now)

    def kill(self, live: _Program, now: int) -> None:
        core = self.cores.core_of(live)
        if core is not None:
            if live.since > now:  # still switching to it: what is left of the switch it does not wait for
                live.spent["cpu_queue"] -= live.since - now
                live.since = now
            self.leave(live, now, killed=True)
            self.cores.vacate(core, now)
        elif live in self.cores.ready:
            self.cores.ready.remove(live)
            self.leave(live, now, killed=True)
        else:
            self.leave(live, self.disk.leave(live, now), killed=True)

    # -- events ------------------------------------------------------------------------------------------------------
    def end_gap(self, core: Core[_Program], now: int) -> None:
        """An access goes to the disk; at the end of a phase memory changes."""
        live, node = core.live, self.node
        assert live is not None
        ends_phase = not live.gaps_ahead
        number = live.requests
        live.start_gap()
        if ends_phase:
            self.keep_limit(now)
            return
        live.requests += 1
        seek_ns = live.task.seek(number) if live.task.seek else node.seek_ns
        service_ns = half_up(seek_ns + exact(live.task.size_kb) * exact(node.ns_per_kb))
        self.ask_disk(core, Request(live, seek_ns, service_ns - seek_ns, is_fault=False), now)

    def enter(self, live: _Program) -> None:
        now = live.since
        super().enter(live)
        self.keep_limit(now)


def run_oracle(node: OracleNode, tasks: Iterable[OracleTask]) -> OracleRun:
    """Live until every task has left. At equal instants: CPU stops, then the disk, then entering by id."""
    return _Machine(node).run(_Program(task) for task in tasks)
