"""Schedules of a node whose disk has several channels worked by hand, as data: for the oracles, and for the engine.

The arithmetic is in the comments, in ns (of programs with phases in ms); s is a context switch of 10 ns, c0 and c1 are
cores. An access is its gap, seek and transfer.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import oracle_memory
from cases_by_hand import Expected, HandCase, task
from cases_of_cores import TWO, TWO_PAGING, asking
from oracle_memory import NS_PER_MS as MS
from oracle_memory import Phase

TWO_TWO = replace(TWO, channels=2)
THREE_TWO = replace(TWO_TWO, cores=3)

CHANNEL_CASES = [
    # A asks at 20, seek to 120, bus 120-150, CPU 150-190. B asks at 40, seek to 140, bus 150-180, CPU 180-190 on c1.
    # B 190 = 50 + 130 + 10.
    HandCase(
        "seeks side by side, transfers one after the other",
        TWO_TWO,
        (asking(1, 0, 60, 20, 100, 30), asking(2, 0, 50, 40, 100, 30)),
        {1: Expected(190, cpu=60, io=130, requests=1), 2: Expected(190, cpu=50, io=130, io_queue=10, requests=1)},
        disk_order=(1, 2),
        disk_busy_ns=160,
    ),
    # A asks at 20, seek to 220. B asks at 40, seek to 190, bus 190-250. A's bus 250-300. At 250 c0, which had A: s, B
    # 260-270 ends. At 300 c0 s, A 310-350. A 350 = 60 + 10 + 250 + 30. B 270 = 50 + 10 + 210.
    HandCase(
        "a shorter seek overtakes",
        TWO_TWO,
        (asking(1, 0, 60, 20, 200, 50), asking(2, 0, 50, 40, 150, 60)),
        {
            1: Expected(350, cpu=60, cpu_queue=10, io=250, io_queue=30, requests=1),
            2: Expected(270, cpu=50, cpu_queue=10, io=210, requests=1),
        },
        switches=2,
        disk_order=(1, 2),
        disk_busy_ns=280,
    ),
    # Both seeks end at 140: A's bus 140-190, though its transfer is longer, B's 190-200. A 190-230, B 200-210 on c1.
    # B 210 = 50 + 110 + 50.
    HandCase(
        "of seeks that end together the one that began first",
        TWO_TWO,
        (asking(1, 0, 60, 20, 120, 50), asking(2, 0, 50, 40, 100, 10)),
        {1: Expected(230, cpu=60, io=170, requests=1), 2: Expected(210, cpu=50, io=110, io_queue=50, requests=1)},
        disk_order=(1, 2),
        disk_busy_ns=180,
    ),
    # A asks at 20, seek to 120, bus 120-170. B asks at 40, seek to 140, bus 170-220. C asks at 60, has A's channel from
    # 170, seek to 270, bus 270-320. Each has its core: A 170-370, B 220-330, C 320-340.
    # B 330 = 150 + 150 + 30. C 340 = 80 + 150 + 110.
    HandCase(
        "three requests and two channels",
        THREE_TWO,
        (asking(1, 0, 220, 20, 100, 50), asking(2, 0, 150, 40, 100, 50), asking(3, 0, 80, 60, 100, 50)),
        {
            1: Expected(370, cpu=220, io=150, requests=1),
            2: Expected(330, cpu=150, io=150, io_queue=30, requests=1),
            3: Expected(340, cpu=80, io=150, io_queue=110, requests=1),
        },
        disk_order=(1, 2, 3),
        disk_busy_ns=300,
    ),
    # A asks at 20, seek to 70, bus 70-100, CPU 100-400. B asks at 40, seek to 340, bus 340-380. C asks at 60, has A's
    # channel from 100, seek to 200, bus 200-220. At 220 c1, which had B: s, C 230-250. At 380 c1 s, B 390-400.
    # B 400 = 50 + 10 + 340. C 250 = 80 + 10 + 120 + 40.
    HandCase(
        "a request that waited for a channel overtakes",
        THREE_TWO,
        (asking(1, 0, 320, 20, 50, 30), asking(2, 0, 50, 40, 300, 40), asking(3, 0, 80, 60, 100, 20)),
        {
            1: Expected(400, cpu=320, io=80, requests=1),
            2: Expected(400, cpu=50, cpu_queue=10, io=340, requests=1),
            3: Expected(250, cpu=80, cpu_queue=10, io=120, io_queue=40, requests=1),
        },
        switches=2,
        disk_order=(1, 2, 3),
        disk_busy_ns=360,
    ),
    # As before, with one channel and more CPU after the first two: A's request 20-100, B's 100-440, C's 440-560.
    # A 100-560 on c0: it ends, and then C is back there, s, 570-590. B 440-550 on c1.
    # B 550 = 150 + 340 + 60. C 590 = 80 + 10 + 120 + 380.
    HandCase(
        "the same with one channel",
        replace(THREE_TWO, channels=1),
        (asking(1, 0, 480, 20, 50, 30), asking(2, 0, 150, 40, 300, 40), asking(3, 0, 80, 60, 100, 20)),
        {
            1: Expected(560, cpu=480, io=80, requests=1),
            2: Expected(550, cpu=150, io=340, io_queue=60, requests=1),
            3: Expected(590, cpu=80, cpu_queue=10, io=120, io_queue=380, requests=1),
        },
        switches=1,
        disk_order=(1, 2, 3),
        disk_busy_ns=540,
    ),
    # B asks at 200, seek to 900. A faults at 256, seek to 856, bus 856-1256, CPU 1256-1300. B's bus 1256-1356, c0 s,
    # 1366-1416. B 1416 = 250 + 10 + 800 + 356.
    HandCase(
        "a page fault and a request share the device",
        replace(TWO_PAGING, channels=2, fault_seek_ns=600),
        (task(1, 0, 300, memory_kb=2000), asking(2, 0, 250, 200, 700, 100)),
        {
            1: Expected(1300, cpu=300, paging=1000, faults=1),
            2: Expected(1416, cpu=250, cpu_queue=10, io=800, io_queue=356, requests=1),
        },
        switches=1,
        disk_order=(2, 1),
        disk_busy_ns=1156,
    ),
    # Both fault at 256: seeks to 856, bus 856-1256 and 1256-1656. A 1256-1300. B alone fits, c0 s, 1666-1710.
    HandCase(
        "two page faults seek side by side",
        replace(TWO_PAGING, channels=2, fault_seek_ns=600),
        (task(1, 0, 300, memory_kb=1000), task(2, 0, 300, memory_kb=1000)),
        {
            1: Expected(1300, cpu=300, paging=1000, faults=1),
            2: Expected(1710, cpu=300, cpu_queue=10, paging=1400, faults=1),
        },
        switches=1,
        disk_order=(1, 2),
        disk_busy_ns=1400,
    ),
    # A on c0 and B, from 200 on, on c1 ask at 256, c0 first. A's seek to 356, bus 356-406; B's seek to 406, a transfer
    # of no time. At 406 A ends first and takes c0; its fault has been due since 256 and goes before B's end: disk to
    # 1406. B finds c0 free, s, 416-420. A: c0 s, 1416-1460. B 220 = 60 + 10 + 150. A 1460 = 300 + 10 + 150 + 1000.
    HandCase(
        "between two requests that end at one instant the CPU goes first",
        replace(TWO_PAGING, channels=2, quantum_ns=1000),
        (asking(1, 0, 300, 256, 100, 50, memory_kb=2000), asking(2, 200, 60, 56, 150, 0)),
        {
            1: Expected(1460, cpu=300, cpu_queue=10, io=150, paging=1000, requests=1, faults=1),
            2: Expected(420, cpu=60, cpu_queue=10, io=150, requests=1),
        },
        switches=2,
        disk_order=(1, 2, 1),
        disk_busy_ns=1150,
    ),
]


class Fate(NamedTuple):
    """What became of a program with phases; `parts_ms` as in `oracle_live.PARTS`."""

    finish_ms: float
    parts_ms: tuple[float, ...]
    requests: int = 0
    faults: int = 0
    killed: bool = False


class PhaseCase(NamedTuple):
    """A node of `oracle_memory`, its programs, and what must come of each and of the node."""

    node: oracle_memory.OracleNode
    tasks: tuple[oracle_memory.OracleTask, ...]
    expected: dict[int, Fate]
    switches: int = 0
    disk_busy_ms: float = 0


def program(id: int, *phases: Phase) -> oracle_memory.OracleTask:
    """Submitted at 0, accesses of 100 KB."""
    return oracle_memory.OracleTask(id, 0, phases, 100.0)


# Quanta without end, a core for each, two channels. A request is 20 + 1 ms, a page fault 2 + 6. Accesses are made
# after half of their phase. One page fault is earned in 8.88815 ms at Q = 1.
SPACIOUS = oracle_memory.OracleNode(
    math.inf, 0, 10_000, cores=4, channels=2, seek_ns=20 * MS, ns_per_kb=10_000.0, fault_ns=8 * MS, fault_seek_ns=2 * MS
)

PHASE_CASES = {
    # The requests come at 1, 2 and 3, seeks to 21 and 22, bus 21-22 and 22-23; the third has a channel from 22, seek to
    # 42, bus 42-43. Task 1 computes 22-23 and ends before task 2 is back, which finds c1 free: 23-25. At 43 c1 is free
    # for task 3 too: 43-46.
    "three requests and two channels": PhaseCase(
        SPACIOUS,
        (
            program(0, Phase(60.0, 0)),
            program(1, Phase(2.0, 0, 1)),
            program(2, Phase(4.0, 0, 1)),
            program(3, Phase(6.0, 0, 1)),
        ),
        {
            0: Fate(60, (60, 0, 0, 0, 0)),
            1: Fate(23, (2, 0, 21, 0, 0), 1),
            2: Fate(25, (4, 0, 21, 0, 0), 1),
            3: Fate(46, (6, 0, 21, 19, 0), 1),
        },
        switches=2,
        disk_busy_ms=42,
    ),
    # Task 1 asks at 5, seek to 25. Task 0's page fault at 8.88815 seeks to 10.88815, bus to 16.88815, CPU to 18. Task
    # 1's bus 25-26; on c0 it computes 26-31.
    "a page fault overtakes": PhaseCase(
        replace(SPACIOUS, user_memory_kb=1000),
        (program(0, Phase(10.0, 2000)), program(1, Phase(10.0, 0, 1))),
        {0: Fate(18, (10, 0, 0, 0, 8), 0, 1), 1: Fate(31, (10, 0, 21, 0, 0), 1)},
        switches=1,
        disk_busy_ms=21,
    ),
    # The first three ask at 1, 2 and 3, the third waits. At 4 task 0 needs more: 2000 + 3 * 400 > 2900 KB. The last
    # goes at once. The others as above.
    "killed while it waits for a channel": PhaseCase(
        replace(SPACIOUS, limit_kb=2900),
        (
            program(0, Phase(4.0, 500), Phase(56.0, 2000)),
            program(1, Phase(2.0, 400, 1)),
            program(2, Phase(4.0, 400, 1)),
            program(3, Phase(6.0, 400, 1)),
        ),
        {
            0: Fate(60, (60, 0, 0, 0, 0)),
            1: Fate(23, (2, 0, 21, 0, 0), 1),
            2: Fate(25, (4, 0, 21, 0, 0), 1),
            3: Fate(4, (3, 0, 0, 1, 0), 1, killed=True),
        },
        switches=1,
        disk_busy_ms=22,
    ),
    # Seeks from 1 to 21 and from 1.5 to 21.5, bus 21-22 and 22-23. The second's task is killed at 4 and ends with it.
    "killed while it seeks, behind another": PhaseCase(
        replace(SPACIOUS, limit_kb=2500),
        (
            program(0, Phase(4.0, 100), Phase(56.0, 2000)),
            program(1, Phase(2.0, 400, 1)),
            program(2, Phase(3.0, 400, 1)),
        ),
        {
            0: Fate(60, (60, 0, 0, 0, 0)),
            1: Fate(23, (2, 0, 21, 0, 0), 1),
            2: Fate(23, (1.5, 0, 21, 0.5, 0), 1, killed=True),
        },
        disk_busy_ms=22,
    ),
    # Task 1 asks at 1, seek to 21, and is killed at 4: 2000 + 500 > 2400 KB. It ends at 22. Q = 1 from 4 on: task 0's
    # page fault at 12.88815 seeks to 14.88815; it must not have the bus before the request left behind: 22-28, CPU to
    # 29.11185.
    "no bus before a request left behind": PhaseCase(
        replace(SPACIOUS, user_memory_kb=1000, limit_kb=2400),
        (program(0, Phase(4.0, 500), Phase(10.0, 2000)), program(1, Phase(2.0, 500, 1))),
        {0: Fate(29.11185, (14, 0, 0, 0, 15.11185), 0, 1), 1: Fate(22, (1, 0, 21, 0, 0), 1, killed=True)},
        disk_busy_ms=27,
    ),
}
