"""One node whose page faults come at a rate and whose tasks draw their accesses: a judge of the compiled engine.

Cores, disk and order of events are those of `oracle_machine`; here the law of the faults, the I/O buffer, and the
random streams, again in plain exact Python from the model's specification alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from oracle_cores import Core
from oracle_disk import Request
from oracle_live import Live, Seek, exact
from oracle_machine import Hardware, Machine, OracleRun

MASK = 2**64 - 1
GAP, SIZE, HIT = 1, 2, 3
NEVER = 2**62


class Access(NamedTuple):
    """One access to the disk: CPU ns of this task since its previous access, disk time, its uniform draw, its seek."""

    gap_ns: int
    service_ns: int
    u: float
    seek_ns: int = 0


@dataclass(frozen=True)
class OracleNode(Hardware):
    """The node's constants. `fault_rate_per_ms` is per ms of CPU at speed 1 and per unit of demand / memory."""

    speed: float = 1.0
    fault_rate_per_ms: float = 0.0
    fault_ratio_cap: float = math.inf
    buffer_kb: float = 0.0


@dataclass(frozen=True)
class OracleTask:
    """A task: `cpu_ns` is wall time on this node, `cpu_ms` the same demand at speed 1 (only the buffer reads it).

    `fault_seek` is the seek of its page fault of that number, counted from 1; None: the node's.
    """

    id: int
    enter_ns: int
    cpu_ns: int
    memory_kb: int = 0
    accesses: tuple[Access, ...] = ()
    lam_per_ms: float = 0.0
    size_kb: float = 0.0
    cpu_ms: float = 0.0
    reaccess: float = 0.0
    fault_seek: Seek | None = None


class _Reader(Live):
    """A task in the node, with its accesses still to come."""

    def __init__(self, task: OracleTask) -> None:
        super().__init__(task.id, task.enter_ns, task.cpu_ns, fault_seek=task.fault_seek)
        self.task = task
        self.ahead = list(task.accesses)
        self.start_gap()

    def start_gap(self) -> None:
        self.gap_left = self.ahead[0].gap_ns if self.ahead else None


class _Machine(Machine[_Reader]):
    def __init__(self, node: OracleNode) -> None:
        super().__init__(node)
        self.node = node

    def credit_per_ns(self, live: _Reader) -> Fraction:
        node = self.node
        demand = sum(other.task.memory_kb for other in self.present.values())
        if demand <= node.user_memory_kb:
            return Fraction(0)
        ratio = Fraction(demand, node.user_memory_kb)
        if node.fault_ratio_cap != math.inf:
            ratio = min(ratio, exact(node.fault_ratio_cap))
        return exact(node.fault_rate_per_ms) * ratio * exact(node.speed) / 1_000_000

    def hit_probability(self, live: _Reader) -> Fraction:
        task, reaccess = live.task, exact(live.task.reaccess)
        own = exact(task.lam_per_ms) * exact(task.size_kb)
        d_data = own * exact(task.cpu_ms) / (reaccess + 1)
        if reaccess == 0 or self.node.buffer_kb == 0 or d_data == 0:
            return Fraction(0)
        of_all = sum(exact(other.task.lam_per_ms) * exact(other.task.size_kb) for other in self.present.values())
        d_buf = own / of_all * exact(self.node.buffer_kb)
        return reaccess / (reaccess + 1) * min(Fraction(1), d_buf / d_data)

    def end_gap(self, core: Core[_Reader], now: int) -> None:
        """An access: a hit takes no time, a miss goes to the disk."""
        live = core.live
        assert live is not None
        access = live.ahead.pop(0)
        live.start_gap()
        if exact(access.u) < self.hit_probability(live):
            live.hits += 1
            return
        live.requests += 1
        request = Request(live, access.seek_ns, access.service_ns - access.seek_ns, is_fault=False)
        self.ask_disk(core, request, now)


def run_oracle(node: OracleNode, tasks: Iterable[OracleTask]) -> OracleRun:
    """Live until every task has left. At equal instants: CPU stops, then the disk, then entering by id."""
    return _Machine(node).run(_Reader(task) for task in tasks)


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


def drawn_seek(key: int, purpose: int, mean_ns: int) -> Seek:
    """Exponential seeks of that mean, in whole ns, by the number of the request."""
    return lambda count: math.floor(min(-math.log(uniform(key, purpose, count)) * mean_ns + 0.5, NEVER))


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
    seek: Seek | None = None,
) -> list[Access]:
    """A task's accesses before its CPU demand ends (one due exactly at the end never happens).

    Gaps are exponential; sizes Erlang of `shape` and mean `size_kb`, or exactly `size_kb` at shape 0. `seek` is the
    seek of the access of that number, counted from 0; None: all of them `seek_ns`.
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
        own_seek_ns = seek(c) if seek else seek_ns
        service_ns = math.floor(own_seek_ns + kb * ns_per_kb + 0.5)
        accesses.append(Access(gap_ns, service_ns, uniform(key, HIT, c), own_seek_ns))
