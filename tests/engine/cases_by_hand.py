"""Schedules of one node worked by hand, as data: for the oracle, and for the engine.

The arithmetic is in the comments. Times are ns; s+10 is a context switch of 10 ns. Fault rates are chosen so that the
credit per ns is a multiple of a power of two: doubles hold it exactly (1953.125 per ms x ratio 2 / 1e6 = 1/256 per ns).
A case whose `draws_matter` is false has the same outcome whatever the random draws: an engine that draws its own
accesses can run it as it stands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from oracle import Access, OracleNode, OracleTask


@dataclass(frozen=True)
class Expected:
    """A task's outcome: the parts in ns, as in `oracle.PARTS`, then the counts (None: depends on the draws)."""

    finish_ns: int
    cpu: int
    cpu_queue: int = 0
    io: int = 0
    io_queue: int = 0
    paging: int = 0
    requests: int = 0
    hits: int | None = 0
    faults: int = 0


@dataclass(frozen=True)
class HandCase:
    """A node, its tasks, and what must come of each (by task id)."""

    name: str
    node: OracleNode
    tasks: tuple[OracleTask, ...]
    expected: dict[int, Expected]
    switches: int = 0
    disk_order: tuple[int, ...] = ()
    disk_busy_ns: int = 0

    @property
    def draws_matter(self) -> bool:
        """Whether the outcome hangs on the listed accesses (all certain to hit: it does not)."""
        return any(task.accesses and task.reaccess < SURE_HIT for task in self.tasks)


SURE_HIT = 1e15  # re-accesses per datum: the hit probability is 1 - 1e-15
NEVER = 0.999999  # a draw that misses unless the hit is sure
PLAIN = OracleNode(quantum_ns=100, switch_ns=10, user_memory_kb=1000)
PAGING = replace(PLAIN, fault_rate_per_ms=1953.125, fault_ns=1000)
BUFFERED = replace(PLAIN, buffer_kb=100.0)


def task(id: int, enter_ns: int, cpu_ns: int, *accesses: tuple[int, int, float], memory_kb: int = 0) -> OracleTask:
    """A task with explicit accesses and no re-access."""
    return OracleTask(id, enter_ns, cpu_ns, memory_kb, tuple(Access(*access) for access in accesses))


def reading(plain: OracleTask) -> OracleTask:
    """The task with re-access rate 4 on 1/ms x 10 ms x 50 kB / 5 = 100 kB of data: h = 0.8 min(1, buffer share)."""
    return replace(plain, lam_per_ms=1.0, size_kb=50.0, cpu_ms=10.0, reaccess=4.0)


CPU_CASES = [
    # One task: 7 + 350. Its quanta renew themselves, no task to switch to.
    HandCase("lone cpu task", PLAIN, (task(1, 7, 350),), {1: Expected(357, cpu=350)}),
    # A 0-100, s+10, B 110-210, s+10, A 220-320, s+10, B 330-380 ends, s+10, A 390-440 ends.
    # A waits 440-250 = 190; B 380-150 = 230.
    HandCase(
        "two tasks round robin",
        PLAIN,
        (task(1, 0, 250), task(2, 0, 150)),
        {1: Expected(440, cpu=250, cpu_queue=190), 2: Expected(380, cpu=150, cpu_queue=230)},
        switches=4,
    ),
    # A 0-100 (queue B, C, A), s, B 110-210: ends at its quantum's end (queue C, A), s, C 220-320 (A, C), s, A 330-350
    # ends, s, C 360-460 ends. C entered at 50: 410 = 200 + 210.
    HandCase(
        "three tasks round robin",
        PLAIN,
        (task(1, 0, 120), task(2, 0, 100), task(3, 50, 200)),
        {
            1: Expected(350, cpu=120, cpu_queue=230),
            2: Expected(210, cpu=100, cpu_queue=110),
            3: Expected(460, cpu=200, cpu_queue=210),
        },
        switches=4,
    ),
    # A's lone quanta end at 100, 200, 300: B, entered at 250, gets the CPU at 300: s, B 310-340, s, A 350-550.
    # B: 340-250 = 90 = 30 + 60. A: 550 = 500 + 50.
    HandCase(
        "arrival in the middle of a lone task's quantum",
        PLAIN,
        (task(1, 0, 500), task(2, 250, 30)),
        {1: Expected(550, cpu=500, cpu_queue=50), 2: Expected(340, cpu=30, cpu_queue=60)},
        switches=2,
    ),
    # At 200 A's quantum has just been renewed when B enters: B waits to 300. s, B 310-330, s, A 340-350.
    # B: 130 = 20 + 110. A: 350 = 310 + 40.
    HandCase(
        "arrival at the border of a lone task's quantum",
        PLAIN,
        (task(1, 0, 310), task(2, 200, 20)),
        {1: Expected(350, cpu=310, cpu_queue=40), 2: Expected(330, cpu=20, cpu_queue=110)},
        switches=2,
    ),
    # A 0-100 ends. The CPU switches to B 100-110; C enters at 105: B has its whole quantum 110-210 before it.
    # s, C 220-270 ends, s, B 280-330. B: 330 = 150 + 180. C: 165 = 50 + 115.
    HandCase(
        "arrival during a switch",
        PLAIN,
        (task(1, 0, 100), task(2, 0, 150), task(3, 105, 50)),
        {1: Expected(100, cpu=100), 2: Expected(330, cpu=150, cpu_queue=180), 3: Expected(270, cpu=50, cpu_queue=115)},
        switches=3,
    ),
    # A 0-50. The CPU idles to 200 and still has to switch from A to B: 210-260.
    HandCase(
        "a switch after idling",
        PLAIN,
        (task(1, 0, 50), task(2, 200, 50)),
        {1: Expected(50, cpu=50), 2: Expected(260, cpu=50, cpu_queue=10)},
        switches=1,
    ),
    # Turn n runs from 110 n to 110 n + 100: A in the even, B in the odd turns. C enters at 3333, in A's turn 30, and
    # queues behind B: from turn 31 on B, C, A. C has its 10 in 32, 35 .. 59 and ends at 6590; A, first in the queue,
    # the even ones again. Until 30 B had 15 turns, until 59 25, the last five are 61, 63 .. 69: it ends at 7690.
    # A until then had 16 + 9 + 5 = 30 turns; s, A 7700-9700. A 9700 = 5000 + 4700. B 7690 = 3000 + 4690.
    # C: 6590 - 3333 = 3257 = 1000 + 2257.
    HandCase(
        "many rounds and an arrival in the middle",
        PLAIN,
        (task(1, 0, 5000), task(2, 0, 3000), task(3, 3333, 1000)),
        {
            1: Expected(9700, cpu=5000, cpu_queue=4700),
            2: Expected(7690, cpu=3000, cpu_queue=4690),
            3: Expected(6590, cpu=1000, cpu_queue=2257),
        },
        switches=70,
    ),
]

DISK_CASES = [
    # 0-40, disk 40-140, 140-180, disk 180-280, 280-300: it held the CPU last, so no switch. The third access would be
    # due at the very end: dropped.
    HandCase(
        "a lone task comes back from disk without a switch",
        PLAIN,
        (task(1, 0, 100, (40, 100, NEVER), (40, 100, NEVER), (20, 100, NEVER)),),
        {1: Expected(300, cpu=100, io=200, requests=2)},
        disk_order=(1, 1),
        disk_busy_ns=200,
    ),
    # A 0-30 leaves 70 of its quantum, disk 30-530. s, B 40-190 alone (no switch at its quantum's end). 530 s, A
    # 540-710.
    HandCase(
        "a task blocking on disk gives its quantum away",
        PLAIN,
        (task(1, 0, 200, (30, 500, NEVER)), task(2, 0, 150)),
        {1: Expected(710, cpu=200, cpu_queue=10, io=500, requests=1), 2: Expected(190, cpu=150, cpu_queue=40)},
        switches=2,
        disk_order=(1,),
        disk_busy_ns=500,
    ),
    # A 0-30, disk 30-530; s, B 40-60, waits for the disk to 530, disk 530-830; s, C 70-80, waits to 830, disk 830-880.
    # 530 s, A 540-570. 830 s, B 840-860. 880 s, C 890-900.
    # A 570 = 60+10+500. B 860 = 40 + (40+10) + 470 wait + 300. C 900 = 20 + (70+10) + 750 wait + 50.
    HandCase(
        "the disk serves in order of arrival, not the shortest first",
        PLAIN,
        (task(1, 0, 60, (30, 500, NEVER)), task(2, 0, 40, (20, 300, NEVER)), task(3, 0, 20, (10, 50, NEVER))),
        {
            1: Expected(570, cpu=60, cpu_queue=10, io=500, requests=1),
            2: Expected(860, cpu=40, cpu_queue=50, io=300, io_queue=470, requests=1),
            3: Expected(900, cpu=20, cpu_queue=80, io=50, io_queue=750, requests=1),
        },
        switches=5,
        disk_order=(1, 2, 3),
        disk_busy_ns=850,
    ),
    # A 0-30, disk 30-130; s, B 40-130. At 130: B ends, then A is back and takes the CPU, then C enters.
    # s, A 140-170, s, C 180-190. C: 60 = 10 + 50.
    HandCase(
        "at one instant: CPU stop, disk completion, arrival",
        PLAIN,
        (task(1, 0, 60, (30, 100, NEVER)), task(2, 0, 90), task(3, 130, 10)),
        {
            1: Expected(170, cpu=60, cpu_queue=10, io=100, requests=1),
            2: Expected(130, cpu=90, cpu_queue=40),
            3: Expected(190, cpu=10, cpu_queue=50),
        },
        switches=3,
        disk_order=(1,),
        disk_busy_ns=100,
    ),
    # A 0-30, disk 30-140; s, B 40-140: its quantum ends as A comes back: queue C, B, A. s, C 150-170, s, B 180-230, s,
    # A 240-270. A: 140-240 waits 100: 270 = 60+100+110. B 230 = 150+80. C 170 = 20+150.
    HandCase(
        "at one instant: the rotated task queues before the one from disk",
        PLAIN,
        (task(1, 0, 60, (30, 110, NEVER)), task(2, 0, 150), task(3, 0, 20)),
        {
            1: Expected(270, cpu=60, cpu_queue=100, io=110, requests=1),
            2: Expected(230, cpu=150, cpu_queue=80),
            3: Expected(170, cpu=20, cpu_queue=150),
        },
        switches=4,
        disk_order=(1,),
        disk_busy_ns=110,
    ),
]

PAGING_CASES = [
    # 2000 kB in 1000: ratio 2, credit 1/256 per ns. Faults after 256 and 512 ns of CPU: 600 + 2 x 1000.
    HandCase(
        "page faults at the rate",
        PAGING,
        (task(1, 0, 600, memory_kb=2000),),
        {1: Expected(2600, cpu=600, paging=2000, faults=2)},
        disk_order=(1, 1),
        disk_busy_ns=2000,
    ),
    # Ratio 3: 3/512 per ns. 512/3 -> 171 ns, credit 513/512: 1/512 is kept. 511/3 -> 171 more, 514/512: 2/512 kept.
    # 510/3 = 170 more, exactly. Faults at 171, 342 and 512 of 513 ns (without the kept credit the third would be at
    # 513, the end, and dropped): 513 + 3000.
    HandCase(
        "the credit beyond a fault is kept",
        PAGING,
        (task(1, 0, 513, memory_kb=3000),),
        {1: Expected(3513, cpu=513, paging=3000, faults=3)},
        disk_order=(1, 1, 1),
        disk_busy_ns=3000,
    ),
    # Ratio 4 capped at 2: 1/256. One fault in 300 ns.
    HandCase(
        "the cap on the fault ratio",
        replace(PAGING, fault_ratio_cap=2.0),
        (task(1, 0, 300, memory_kb=4000),),
        {1: Expected(1300, cpu=300, paging=1000, faults=1)},
        disk_order=(1,),
        disk_busy_ns=1000,
    ),
    # Each has 1000 kB: ratio 2 together, 1/256 (also while one is at the disk); alone demand = memory: no faults.
    # A 0-100, s, B 110-210, s, A 220-320, s, B 330-430, s, A 440-496: 256 ns of CPU: fault, disk 496-1496.
    # s, B 506-562: 256 ns: fault, waits, disk 1496-2496. 1496 s, A 1506-1762: fault, waits, disk 2496-3496.
    # 2496 s, B 2506-2550 ends. 3496 s, A 3506-4194: 688 ns without a fault (1/512 would make one).
    # A: paging 1000 + 1734 = 2734, queue 120+120+10+10 = 260, 1200 + 260 + 2734 = 4194.
    # B: paging 1934, queue 110+120+76+10 = 316, 300 + 316 + 1934 = 2550.
    HandCase(
        "a task leaves, the rest fits, faults stop",
        PAGING,
        (task(1, 0, 1200, memory_kb=1000), task(2, 0, 300, memory_kb=1000)),
        {
            1: Expected(4194, cpu=1200, cpu_queue=260, paging=2734, faults=2),
            2: Expected(2550, cpu=300, cpu_queue=316, paging=1934, faults=1),
        },
        switches=8,
        disk_order=(1, 2, 1),
        disk_busy_ns=3000,
    ),
    # A 0-: 800 kB fit. B (1200 kB) enters at 150: ratio 2, 1/256 from there: A's fault at 150 + 256 = 406, disk to 906.
    # s, B 416-436 ends; A fits again. 906 s, A 916-1210. B: 286 = 20 + 266.
    HandCase(
        "an arrival starts the faults of the running task",
        replace(PAGING, quantum_ns=1000, fault_ns=500),
        (task(1, 0, 700, memory_kb=800), task(2, 150, 20, memory_kb=1200)),
        {1: Expected(1210, cpu=700, cpu_queue=10, paging=500, faults=1), 2: Expected(436, cpu=20, cpu_queue=266)},
        switches=2,
        disk_order=(1,),
        disk_busy_ns=500,
    ),
    # A alone: ratio 1.5, 3/1024 per ns. B enters at 100: A has 300/1024, from now on 6/1024 per ns: 724/6 -> 121 ns:
    # fault at 221 with 1026/1024 (2 kept), disk 221-721. s, B 231-281 ends (300/1024 of credit only); 3/1024 again.
    # 721 s, A 731-: 1022/3 -> 341 ns: fault at 1072, disk 1072-1572, then 600-221-341 = 38 ns: 1610.
    # B: 181 = 50 + 131.
    HandCase(
        "the fault rate changes while a task runs",
        replace(PAGING, quantum_ns=1000, fault_ns=500),
        (task(1, 0, 600, memory_kb=1500), task(2, 100, 50, memory_kb=1500)),
        {1: Expected(1610, cpu=600, cpu_queue=10, paging=1000, faults=2), 2: Expected(281, cpu=50, cpu_queue=131)},
        switches=2,
        disk_order=(1, 1),
        disk_busy_ns=1000,
    ),
    # Speed 2: twice the faults per ns. A 1500 + B 500 kB: ratio 2, 1/128. A 0-100, s, B 110-210 ends; ratio 1.5, 3/512;
    # A has 100/128 = 400/512. s, A 220-: 112/3 -> 38 ns: fault at 258, disk to 1258, no switch, the other 62 ns: 1320.
    # A: 1320 = 200 + 120 + 1000.
    HandCase(
        "a node of speed 2",
        replace(PAGING, speed=2.0),
        (task(1, 0, 200, memory_kb=1500), task(2, 0, 100, memory_kb=500)),
        {1: Expected(1320, cpu=200, cpu_queue=120, paging=1000, faults=1), 2: Expected(210, cpu=100, cpu_queue=110)},
        switches=2,
        disk_order=(1,),
        disk_busy_ns=1000,
    ),
    # After 256 ns both an access and a fault are due: the access goes first, disk 256-356; back on the CPU the fault
    # happens at once, disk 356-1356, then 44 ns: 1400.
    HandCase(
        "an access goes before a fault due with it",
        PAGING,
        (task(1, 0, 300, (256, 100, NEVER), memory_kb=2000),),
        {1: Expected(1400, cpu=300, io=100, paging=1000, requests=1, faults=1)},
        disk_order=(1, 1),
        disk_busy_ns=1100,
    ),
    # The same, but B (1000 of the 2000 kB) ends meanwhile, s, 266-316. A comes back at 456: its memory fits now, but
    # the fault was due: s, at 466 it happens, disk to 1466, then 44 ns: 1510 = 300 + 10 + 200 + 1000.
    HandCase(
        "a fault that is due happens even if memory has become free",
        replace(PAGING, quantum_ns=1000),
        (task(1, 0, 300, (256, 200, NEVER), memory_kb=1000), task(2, 0, 50, memory_kb=1000)),
        {
            1: Expected(1510, cpu=300, cpu_queue=10, io=200, paging=1000, requests=1, faults=1),
            2: Expected(316, cpu=50, cpu_queue=266),
        },
        switches=2,
        disk_order=(1, 1),
        disk_busy_ns=1200,
    ),
    # 1/2048 per ns (244.140625 x 2 / 1e6). Turn n runs from 110 n to 110 n + 100. A has used 2000 ns when its turn 40
    # begins at 4400: fault at 4448, disk to 5448. B has used 2000 as well: s, B 4458-4478 ends just short of a fault.
    # 5448 s, A 5458-5910. A 5910 = 2500 + 2410 + 1000. B 4478 = 2020 + 2458.
    HandCase(
        "many rounds and a fault",
        replace(PAGING, fault_rate_per_ms=244.140625),
        (task(1, 0, 2500, memory_kb=2000), task(2, 0, 2020)),
        {
            1: Expected(5910, cpu=2500, cpu_queue=2410, paging=1000, faults=1),
            2: Expected(4478, cpu=2020, cpu_queue=2458),
        },
        switches=42,
        disk_order=(1,),
        disk_busy_ns=1000,
    ),
]

BUFFER_CASES = [
    # Alone the task has the whole buffer of 100 kB for its 100 kB: h = 0.8. 0.79 at 30 ns hits and costs nothing; 0.81
    # at 60 ns misses: disk 60-460, then 40 ns: 500.
    HandCase(
        "a buffer hit costs nothing",
        BUFFERED,
        (reading(task(1, 0, 100, (30, 400, 0.79), (30, 400, 0.81))),),
        {1: Expected(500, cpu=100, io=400, requests=1, hits=1)},
        disk_order=(1,),
        disk_busy_ns=400,
    ),
    # A draws 0.5 twice. At 30 ns it is alone, h = 0.8: hit. B (as much data per ms) enters at 45: A's share is 50 kB,
    # h = 0.4: miss at 60, disk 60-460. s, B 70-170. 460 s, A 470-510. B: 125 = 100 + 25.
    HandCase(
        "a second task takes half the buffer",
        BUFFERED,
        (reading(task(1, 0, 100, (30, 400, 0.5), (30, 400, 0.5))), reading(task(2, 45, 100))),
        {1: Expected(510, cpu=100, cpu_queue=10, io=400, requests=1, hits=1), 2: Expected(170, cpu=100, cpu_queue=25)},
        switches=2,
        disk_order=(1,),
        disk_busy_ns=400,
    ),
    # A's hit falls on its quantum's end and B waits: A is rotated. s, B 110-130, s, A 140-190.
    HandCase(
        "a hit at the quantum's end",
        BUFFERED,
        (reading(task(1, 0, 150, (100, 400, 0.1))), task(2, 0, 20)),
        {1: Expected(190, cpu=150, cpu_queue=40, hits=1), 2: Expected(130, cpu=20, cpu_queue=110)},
        switches=2,
    ),
    # As before, and a fault is due at that instant too: A is rotated with it. s, B 266-286, s, 296: A's fault,
    # disk to 1296, then 44 ns: 1340 = 300 + 40 + 1000.
    HandCase(
        "a hit and a due fault at the quantum's end",
        replace(PAGING, quantum_ns=256, buffer_kb=100.0),
        (reading(task(1, 0, 300, (256, 400, 0.1), memory_kb=2000)), task(2, 0, 20)),
        {
            1: Expected(1340, cpu=300, cpu_queue=40, paging=1000, hits=1, faults=1),
            2: Expected(286, cpu=20, cpu_queue=266),
        },
        switches=2,
        disk_order=(1,),
        disk_busy_ns=1000,
    ),
    # An access every 10 ns or so, each a sure hit: as without any. A 0-100, s, B 110-160 ends, s, A 170-420.
    HandCase(
        "sure hits whatever the draws",
        BUFFERED,
        (
            replace(
                task(1, 0, 350, *[(10, 400, NEVER)] * 30),
                lam_per_ms=1e5,
                size_kb=50.0,
                cpu_ms=3.5e-4,
                reaccess=SURE_HIT,
            ),
            task(2, 0, 50),
        ),
        {1: Expected(420, cpu=350, cpu_queue=70, hits=None), 2: Expected(160, cpu=50, cpu_queue=110)},
        switches=2,
    ),
]

HAND_CASES = CPU_CASES + DISK_CASES + PAGING_CASES + BUFFER_CASES
