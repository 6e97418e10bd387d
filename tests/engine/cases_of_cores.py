"""Schedules of a node of several cores worked by hand, as data: for the oracle, and for the engine.

The arithmetic is in the comments, in ns; s+10 is a context switch of 10 ns, c0 and c1 are cores, the quantum is 100
unless said.
"""

from __future__ import annotations

import math
from dataclasses import replace

from cases_by_hand import NEVER, PAGING, PLAIN, Expected, HandCase, task
from oracle import OracleTask

TWO = replace(PLAIN, cores=2)
TWO_PAGING = replace(PAGING, cores=2)


def asking(id: int, enter_ns: int, cpu_ns: int, gap: int, seek: int, transfer: int, memory_kb: int = 0) -> OracleTask:
    """A task with one access, after `gap` ns of its CPU."""
    plain = task(id, enter_ns, cpu_ns, (gap, seek + transfer, NEVER), memory_kb=memory_kb)
    return replace(plain, accesses=(plain.accesses[0]._replace(seek_ns=seek),))


CORE_CASES = [
    # c0 A, c1 B, C waits from 0 on. At 100 first c0: queue C, A; C, s. Then c1: queue A, B; A, s: it has changed cores.
    # C 110-210: demand and quantum end together, it has ended. c0 B, s, 220-370. c1: no task waits any more when A's
    # quantum ends, 110-260. B: 120 = 100-220. C: 110.
    HandCase(
        "three tasks on two cores",
        TWO,
        (task(1, 0, 250), task(2, 0, 250), task(3, 0, 100)),
        {
            1: Expected(260, cpu=250, cpu_queue=10),
            2: Expected(370, cpu=250, cpu_queue=120),
            3: Expected(210, cpu=100, cpu_queue=110),
        },
        switches=3,
    ),
    # c0 A 0-50. c1 B 0-100, disk 100-200. Both cores are free: c0, which had A: s, 210-310. (c1 had B last.)
    HandCase(
        "the free core of lowest number, not the one that the task had last",
        TWO,
        (task(1, 0, 50), asking(2, 0, 200, 100, 60, 40)),
        {1: Expected(50, cpu=50), 2: Expected(310, cpu=200, cpu_queue=10, io=100, requests=1)},
        switches=1,
        disk_order=(2,),
        disk_busy_ns=100,
    ),
    # c0 A 0-300. c1 B 0-30, disk 30-130; only c1 is free, B had it last: 130-200.
    HandCase(
        "a core that takes its last task again pays no switch",
        TWO,
        (task(1, 0, 300), asking(2, 0, 100, 30, 50, 50)),
        {1: Expected(300, cpu=300), 2: Expected(200, cpu=100, io=100, requests=1)},
        disk_order=(2,),
        disk_busy_ns=100,
    ),
    # c0 A 0-40, disk 40-100, back behind D. c0: s, C 50-150 ends, s, D 160-210 ends, s, A 220-480. c1 B 0-500.
    # A 480 = 300 + 60 + 120 (100-220).
    HandCase(
        "quanta without end on two cores",
        replace(TWO, quantum_ns=math.inf),
        (asking(1, 0, 300, 40, 20, 40), task(2, 0, 500), task(3, 0, 100), task(4, 0, 50)),
        {
            1: Expected(480, cpu=300, cpu_queue=120, io=60, requests=1),
            2: Expected(500, cpu=500),
            3: Expected(150, cpu=100, cpu_queue=50),
            4: Expected(210, cpu=50, cpu_queue=160),
        },
        switches=3,
        disk_order=(1,),
        disk_busy_ns=60,
    ),
    # A core each: ten quanta, no switch.
    HandCase(
        "as many tasks as cores",
        TWO,
        (task(1, 0, 1000), task(2, 0, 1000)),
        {1: Expected(1000, cpu=1000), 2: Expected(1000, cpu=1000)},
    ),
    # c0 A from 0, c1 B from 30. C waits from 250 on: A's third quantum began at 200, B's at 230. At 300 queue C, A:
    # c0 s, C 310-370 ends. At 330 queue A, B: c1 s, A 340-540: 300 of its 500 it has had. At 370 c0 s, B 380-480.
    # C 120 = 60 + 60. A 540 = 500 + 40. B 450 = 400 + 50.
    HandCase(
        "quanta count from the first wait on",
        TWO,
        (task(1, 0, 500), task(2, 30, 400), task(3, 250, 60)),
        {
            1: Expected(540, cpu=500, cpu_queue=40),
            2: Expected(480, cpu=400, cpu_queue=50),
            3: Expected(370, cpu=60, cpu_queue=60),
        },
        switches=3,
    ),
    # C waits from 50 on. At 100 queue C, A: c0 s, C 110-130 ends; queue A, B: c1 s, A from 110. At 130 c0 s, B from
    # 140. No task waits until D comes at 400: A's quantum has begun at 310, B's at 340. At 410 queue D, A: c1 s, D
    # 420-430 ends, s, A 440-: it had 100 + 300 of its 600, 640. B's quantum ends at 440, no task waits: 140-540.
    # A 640 = 600 + 10 + 30. B 540 = 500 + 40. C 80 = 20 + 60. D 30 = 10 + 20.
    HandCase(
        "the queue empties and fills again",
        TWO,
        (task(1, 0, 600), task(2, 0, 500), task(3, 50, 20), task(4, 400, 10)),
        {
            1: Expected(640, cpu=600, cpu_queue=40),
            2: Expected(540, cpu=500, cpu_queue=40),
            3: Expected(130, cpu=20, cpu_queue=60),
            4: Expected(430, cpu=10, cpu_queue=20),
        },
        switches=5,
    ),
    # At 200 the quanta of A and B have just been renewed when C enters: it waits to 300. Queue C, A: c0 s, C 310-330
    # ends. B's quantum ends with A's: queue A, B, c1 s, A 310-370. c0 s, B 340-410.
    # A 370 = 360 + 10. B 410 = 370 + 40. C 130 = 20 + 110.
    HandCase(
        "an arrival at the border of quanta",
        TWO,
        (task(1, 0, 360), task(2, 0, 370), task(3, 200, 20)),
        {
            1: Expected(370, cpu=360, cpu_queue=10),
            2: Expected(410, cpu=370, cpu_queue=40),
            3: Expected(330, cpu=20, cpu_queue=110),
        },
        switches=3,
    ),
    # The second task has c0, the first, from 10 on, c1. Both ask at 60: c0 first, disk 60-160, 160-260. At 160 c0 takes
    # its last task again, 160-200. At 260 c0 s, 270-320. The first: 310 = 100 + 10 + 100 + 100.
    HandCase(
        "cores stop at one instant, lowest number first",
        TWO,
        (asking(1, 10, 100, 50, 50, 50), asking(2, 0, 100, 60, 50, 50)),
        {
            1: Expected(320, cpu=100, cpu_queue=10, io=100, io_queue=100, requests=1),
            2: Expected(200, cpu=100, io=100, requests=1),
        },
        switches=1,
        disk_order=(2, 1),
        disk_busy_ns=200,
    ),
    # 1/256 per ns of each one's CPU: both fault at 256, c0 first: disk 256-1256, 1256-2256. A 1256-1300 on c0, which it
    # had. B alone fits; c0, s, 2266-2310.
    HandCase(
        "two tasks earn page faults side by side",
        TWO_PAGING,
        (task(1, 0, 300, memory_kb=1000), task(2, 0, 300, memory_kb=1000)),
        {
            1: Expected(1300, cpu=300, paging=1000, faults=1),
            2: Expected(2310, cpu=300, cpu_queue=10, paging=2000, faults=1),
        },
        switches=1,
        disk_order=(1, 2),
        disk_busy_ns=2000,
    ),
    # 1/256 until B has ended at 128: half a fault. Then ratio 1.5, 3/1024: 512/3 -> 171 ns, fault at 299, disk to 1299,
    # then 101 ns.
    HandCase(
        "a task that leaves slows the faults on the other core",
        TWO_PAGING,
        (task(1, 0, 400, memory_kb=1500), task(2, 0, 128, memory_kb=500)),
        {1: Expected(1400, cpu=400, paging=1000, faults=1), 2: Expected(128, cpu=128)},
        disk_order=(1,),
        disk_busy_ns=1000,
    ),
]
