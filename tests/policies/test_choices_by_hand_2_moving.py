"""Decisions of the policies at odd places of the list that move running tasks, worked by hand on four nodes.

Without I/O a task of which R ms are left is expected to take R n among n tasks, itself included: the estimate `closed`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from by_hand import Worked, on, tasks
from four_nodes import Case, Job
from test_memory_centric import job as running
from test_memory_centric import policy as memory_centric
from test_memory_centric import view as machines

E, F = "negotiation__remote_execution_ms", "negotiation__migration_ms"
IN_TURNS, STALE = {"cluster__quantum_ms": 10.0}, {"negotiation__mode": "negotiated"}
# I/O that makes no access in a run, so that only its rate counts: lambda in MCE, and as a load.
LITTLE = 1e-6

# ---- WAL-PM, Fig. 1: by CPU queue, by I/O load -----------------------------------------------------------------------

# Two on home 2 and the newcomer make 3 of both loads; node 1 has none. Of a task with R left, 3 R > R + c is a gain.
CROWD = [*tasks(2, 2, 30.0, io_per_ms=LITTLE), Job(0, io_per_ms=LITTLE), Job(3, io_per_ms=LITTLE)]
# Two run in turns: at 20 ms each is 10 ms old, at 30 ms the first one 20. MCE is age times lambda over cost: f = 100
# ms, 7.8 ms for an image of 1 MB, 703 for one of 90 MB, 1156 for 20 MB of data.
OLD = {"cpu_ms": 1e4, "io_per_ms": LITTLE}
OTHERS = [Job(0, 1e4, LITTLE), Job(3, 1e4, LITTLE)]
MOVED = {F: 100.0, E: 100.0, **IN_TURNS}


def fig_1(what, there, comes, moved, at_ms=21.0, **more):
    """By both policies: two tasks on node 2 and OTHERS are there, and one moves to node 1; number 4 is the newcomer."""
    return [
        Case(name, what, [*there, *OTHERS], [comes._replace(at_ms=at_ms)], [2, 1] if moved == 4 else [2],
             [(moved, 2, 1)], **more)
        for name in ("cm-pm", "io-pm")
    ]  # fmt: skip


SHORT = Job(2, 1.0, LITTLE)
FIG_1 = [
    *(
        case
        for name in ("cm-pm", "io-pm")
        for case in (
            # The newcomer alone is long enough for e = f = 100: 2 R > 100.
            Case(name, "EM: the gain above the cost", CROWD, [Job(2, 50.5, LITTLE)], [2, 1], [(4, 2, 1)],
                 given={E: 100.0, F: 100.0}),
            Case(name, "EM: no gain", CROWD, [Job(2, 49.5, LITTLE)], [2], given={E: 100.0, F: 100.0}),
            Case(name, "line 2: not overloaded", on(4, 0, 2, 1, io_per_ms=LITTLE), [Job(2, 100.0, LITTLE)], [2]),
            # With the newcomer home has 3, as node 0 has. All ages, and so all MCE, are 0: the first that came to home.
            Case(name, "line 2: as large as the largest", on(3, 0, 2, 1, io_per_ms=LITTLE), [Job(2, 100.0, LITTLE)],
                 [2], [(3, 2, 1)], is_tie=True),
            Case(name, "line 3: next after home", on(1, 1, 3, 1, io_per_ms=LITTLE), [Job(2, 100.0, LITTLE)], [2],
                 [(2, 2, 3)], is_tie=True),
            Case(name, "line 3: going round", on(1, 1, 3, 2, io_per_ms=LITTLE), [Job(2, 100.0, LITTLE)], [2],
                 [(2, 2, 0)], is_tie=True),
            # Reported are empty nodes. With two tasks 3 is still lighter, but 3 R = 3 R: it refuses, and 0 accepts.
            Case(name, "refused: no gain", on(0, 0, 2, 2, io_per_ms=LITTLE), [Job(2, 100.0, LITTLE)], [2],
                 [(0, 2, 0)], given=STALE | {E: 1.0}),
            Case(name, "line 3: none below home", on(1, 1, 0, 1, io_per_ms=LITTLE), [Job(2, 100.0, LITTLE)], [2],
                 is_tie=True),
        )
    ),
    # Without I/O to the last digit: 3 50 = 50 + 100.
    Case("cm-pm", "EM: the gain is the cost", [*tasks(2, 2, 30.0), Job(0), Job(3)], [Job(2, 50.0)], [2],
         given={E: 100.0, F: 100.0}),
    # MCE: 10 1/108 against 10 4/803; 10 1/108 against 10 4/108; 10 1/108 against 10 4/1264.
    *fig_1("MCE: the image costs", [Job(2, **OLD), Job(2, 1e4, 4 * LITTLE, memory_mb=90.0)], SHORT, 0, given=MOVED),
    *fig_1("MCE: most I/O", [Job(2, **OLD), Job(2, 1e4, 4 * LITTLE)], SHORT, 1, given=MOVED),
    *fig_1("MCE: the data cost", [Job(2, **OLD), Job(2, 1e4, 4 * LITTLE, initial_data_mb=20.0)], SHORT, 0, given=MOVED),
    # 20 1 against 10 1.5, of CPU received.
    *fig_1("MCE: the age counts", [Job(2, **OLD), Job(2, 1e4, 1.5 * LITTLE)], SHORT, 0, 31.0, given=MOVED),
    # A newcomer has age 0, so its MCE is 0; by the CPU still to come it has the largest.
    *fig_1("MCE: a newborn last", [Job(2, **OLD), Job(2, **OLD)], Job(2, 1e4, 9 * LITTLE), 0, is_tie=True, given=MOVED),
    *fig_1("MCE by remaining CPU", [Job(2, **OLD), Job(2, **OLD)], Job(2, 1e4, 9 * LITTLE), 4,
           given=MOVED | {"policy__effectiveness": "remaining"}),
    # The CPU queue of node 1 is longer than those of 0 and 3; it has no I/O load. 4 R > 3 R.
    Case("io-pm", "by I/O load alone", [*tasks(1, 2), *on(1, 0, 3, 1, io_per_ms=LITTLE)], [Job(2, 100.0, LITTLE)], [2],
         [(3, 2, 1)]),
]  # fmt: skip

# Node 3 pages: each task there adds 0.5 1.1 faults per ms to its I/O load, which is then the largest.
FAULTS_ARE_IO = [*tasks(2, 2, io_per_ms=LITTLE), Job(0, io_per_ms=LITTLE), Job(3, io_per_ms=LITTLE, memory_mb=1100.0)]
FIG_1 += [
    Case("io-pm", "page faults and accesses", FAULTS_ARE_IO, [Job(2)], [2]),
    Case("io-pm", "accesses alone", FAULTS_ARE_IO, [Job(2)], [2], [(0, 2, 1)], given={"policy__io_counts": "explicit"}),
]

# With the newcomer 1100, 150, 1201 and 500 MB, and CPU queues 1, 3, 2, 1: home 2 and node 0 page. The newcomer takes
# 100 2 + 0.5 1.2 8.1 100 = 686 ms on home, 100 4 on node 1; there the other one would page as well.
PAGING = [Job(2, 1000.0, memory_mb=1200.0), Job(0, 1000.0, memory_mb=1100.0), *tasks(1, 3, 1000.0, memory_mb=50.0),
          Job(3, 1000.0, memory_mb=500.0)]  # fmt: skip
# Node 0 pages, home does not, and has the longest queue and 5 MB.
ONE_PAGES = [*tasks(2, 3), Job(0, memory_mb=1100.0), Job(3)]
BY_MEMORY = [
    # With the newcomer 3, 2, 4 and 500 MB, and CPU queues 3, 2, 4 and 1.
    Case("cm-pm", "by CPU queue while none pages", [*on(3, 2, 3, 0), Job(3, memory_mb=500.0)], [Job(2)], [2],
         [(5, 2, 3)]),
    Case("cm-pm", "by memory while a node pages", PAGING, [Job(2)], [2, 1], [(6, 2, 1)]),
    Case("cm-pm", "by memory while any node pages", ONE_PAGES, [Job(2)], [2]),
    Case("cm-pm", "by CPU queue while home does not page", ONE_PAGES, [Job(2)], [2], [(0, 2, 1)],
         given={"policy__paging_of": "own"}),
]  # fmt: skip

# ---- IOCM ----------------------------------------------------------------------------------------------------------

# 1 s of CPU each, and I/O 1000, 500, 200, 200 ms on 2, 0, 1, 3: the disks are what is uneven. 1 has less memory than 3.
DISKS = [Job(2, 1000.0, 0.1), Job(0, 1000.0, 0.05), Job(1, 1000.0, 0.02, memory_mb=10.0),
         Job(3, 1000.0, 0.02, memory_mb=50.0)]  # fmt: skip
# lambda s = 3. Here 100 + 300 (1 + 1/2) = 550; on node 1 100 (5/6 + 1/4) + 300 (1 + 1/6) = 458.3: a gain of 91.7.
READS = Job(2, 100.0, 0.3)
# At 0 ms nothing has begun: whatever moves costs e. So no task follows the newcomer, whose own move (2) and (3) do not
# weigh against its cost.
DEAR = {E: 5000.0}
SOME_IO = [Job(2, 100.0, 0.01), *on(0, 2, 2, 1)]
IOCM = [
    Case("iocm-pm", "(1) it gains", DISKS, [READS], [1], rules=["(1) I/O"], given={E: 91.6}),
    # It stays; then the other task on home gains, 1000 + 1000 (1 + 3/4) against 1000 (5/6 + 1/2) + 1000 (1 + 1/6).
    Case("iocm-pm", "(1) it costs more", DISKS, [READS], [2], [(0, 2, 1)], rules=["(1) I/O"], given={E: 91.7}),
    Case("iocm-pm", "EM: nothing gains", DISKS, [READS], [2], rules=["(1) I/O"], given={E: 250.1}),
    Case("iocm-pm", "(2) least memory, though most tasks are there",
         [Job(2, 1000.0, memory_mb=1100.0), *tasks(0, 2, 500.0, memory_mb=20.0), Job(1, 1000.0, memory_mb=300.0),
          Job(3, 1000.0, memory_mb=200.0)], [Job(2)], [0], rules=["(2) memory"], given=DEAR),
    # 1010 MB with the newcomer; LIF_page is that of node 0, and LIF_CPU 0. Node 0 has more memory load than home.
    Case("iocm-pm", "(2) with the newcomer it overflows",
         [Job(2, 1000.0, memory_mb=990.0), Job(0, 1000.0, memory_mb=1100.0), Job(1, 1000.0, memory_mb=300.0),
          Job(3, 1000.0, memory_mb=200.0)], [Job(2, memory_mb=20.0)], [3], rules=["(2) memory"], given=DEAR),
    Case("iocm-pm", "(3) shortest CPU queue", on(1, 2, 3, 2), [Job(2)], [0], rules=["(3) CPU"],
         given=DEAR),
    Case("iocm-pm", "(3) home is not overloaded", on(5, 1, 3, 2), [Job(2)], [2], rules=["(3) CPU"], given=DEAR),
    Case("iocm-pm", "(3) as large as the largest", on(3, 1, 3, 2), [Job(2)], [1], is_tie=True, given=DEAR),
    Case("iocm-pm", "(3) next after home", on(1, 1, 3, 1), [Job(2)], [3], is_tie=True, given=DEAR),
    # 0, 200, 300 and 100 ms of CPU, and 10 ms of I/O on home alone: LIF_CPU is the largest, but home has I/O load.
    Case("iocm-pm", "what is uneven", SOME_IO, [Job(2)], [0], rules=["(3) CPU"], given=DEAR),
    Case("iocm-pm", "what home has", SOME_IO, [Job(2)], [2], rules=["(1) I/O"],
         given=DEAR | {"policy__io_rule": "home"}),
    # The newcomer to 3. Then 6 R > 1 R to node 0, 5 > 1 to 1, 4 > 2 to 3, 3 > 2 to 0; with 2 R = 2 R it is over.
    Case("iocm-pm", "EM: while it gains", on(0, 0, 6, 0), [Job(2)], [3], [(0, 2, 0), (1, 2, 1), (2, 2, 3), (3, 2, 0)],
         is_tie=True),
    # The newcomer to 0: 1, 6, 7, 6. Two move there: 3, 6, 5, 6, home is not the largest any more; 5 R > 4 R.
    Case("iocm-pm", "EM: while home is overloaded", on(0, 6, 7, 6), [Job(2)], [0], [(6, 2, 0), (7, 2, 0)]),
    Case("iocm-pm", "EM: all of it", on(0, 6, 7, 6), [Job(2)], [0], [(6, 2, 0), (7, 2, 0), (8, 2, 0)],
         given={"policy__migrates_all": True}),
]  # fmt: skip

# ---- IOLB, Fig. 1 ----------------------------------------------------------------------------------------------------

CPU, STAYS, IO, MEMORY = "lines 16-20 (CPU)", "line 15 (CPU)", "lines 4-8 (I/O)", "lines 10-14 (memory)"
# L_CPU 300, 250, 500, 400 ms: least on node 1; most tasks on 0, of which three share 300 ms.
WORK = [*tasks(0, 3), Job(1, 250.0), *tasks(2, 2, 250.0), Job(3, 400.0)]
# The same 100 ms of CPU everywhere; L_IO 40, 20, 100, 30 ms.
READERS = [Job(0, io_per_ms=0.04), Job(1, io_per_ms=0.02), Job(2, io_per_ms=0.1), Job(3, io_per_ms=0.03)]
# L_CPU as in WORK; L_IO 0, 10, 50, 0 ms, far less uneven.
WORK_AND_IO = [*tasks(0, 3), Job(1, 250.0, 0.004), *tasks(2, 2, 250.0, io_per_ms=0.01), Job(3, 400.0)]
# L_page 404, 0, 486, 365 ms; L_CPU 95, 100, 100, 90: least on node 3.
PAGERS = [Job(0, 95.0, memory_mb=1050.0), Job(1, memory_mb=500.0), Job(2, memory_mb=1200.0),
          Job(3, 90.0, memory_mb=1001.0)]  # fmt: skip
IOLB = [
    # R: 100 3 here, 100 2 there.
    Case("iolb", "15-20: it gains", WORK, [Job(2)], [1], rules=[CPU], given={E: 99.0}),
    Case("iolb", "15-20: the gain is the cost", WORK, [Job(2)], [2], rules=[CPU], given={E: 100.0}),
    # 1 MB takes 1000 (1/128 + 2/40) = 57.8 ms.
    Case("iolb", "15-20: its data costs less", WORK, [Job(2, initial_data_mb=1.72)], [1], rules=[CPU]),
    Case("iolb", "15-20: its data costs more", WORK, [Job(2, initial_data_mb=1.74)], [2], rules=[CPU]),
    # t_j < L_i - L_k = 250.
    Case("iolb", "18: the gap just narrows", WORK, [Job(2, 249.0)], [1], rules=[CPU]),
    Case("iolb", "18: the gap stays as wide", WORK, [Job(2, 250.0)], [2], rules=[CPU]),
    Case("iolb", "15: another one has most work", WORK, [Job(3)], [3], rules=[STAYS]),
    Case("iolb", "15: by the expected queue home has not most", WORK, [Job(2)], [2], rules=[STAYS],
         given={"policy__index": "queue"}),
    Case("iolb", "15: as much as the most", [*WORK, Job(3)], [Job(2)], [1], rules=[CPU], is_tie=True),
    Case("iolb", "16: next after home", tasks(2, 2), [Job(2)], [3], rules=[CPU], is_tie=True),
    # t_IO = 40. R here 10 + 40 (1 + 1/2) = 70; on node 1 10 (5/6 + 1/5) + 40 (1 + 1/6) = 57: a gain of 13.
    Case("iolb", "4-8: it gains", READERS, [Job(2, 10.0, 0.4)], [1], rules=[IO], given={E: 12.9}),
    Case("iolb", "4-8: it costs more", READERS, [Job(2, 10.0, 0.4)], [2], rules=[IO], given={E: 13.1}),
    # t_IO = 4 t_j < 100 - 20.
    Case("iolb", "6: the gap just narrows", READERS, [Job(2, 19.9, 0.4)], [1], rules=[IO]),
    Case("iolb", "6: the gap stays as wide", READERS, [Job(2, 20.0, 0.4)], [2], rules=[IO]),
    Case("iolb", "3: another disk is busier", READERS, [Job(0, 10.0, 0.4)], [0], rules=[CPU]),
    Case("iolb", "3: a task without I/O", READERS, [Job(2, 10.0)], [2], rules=[CPU]),
    Case("iolb", "3: the CPUs are more uneven", WORK_AND_IO, [Job(2, io_per_ms=0.01)], [1], rules=[CPU]),
    Case("iolb", "4: next after home", [Job(0), Job(1), *READERS[2:]], [Job(2, 10.0, 0.4)], [0], rules=[IO],
         is_tie=True),
    # t_page = 0.5 1.201 8.1 10 = 48.6 ms. R: 10 2 + 48.6 here, 10 2 there.
    Case("iolb", "9-14: it gains", PAGERS, [Job(2, 10.0)], [1], rules=[MEMORY], given={E: 48.6}),
    Case("iolb", "9-14: it costs more", PAGERS, [Job(2, 10.0)], [2], rules=[MEMORY], given={E: 48.7}),
    # With 100 MB of its own t_page = 0.5 1.3 8.1 t_j = 5.265 t_j < 486.
    Case("iolb", "12: the gap just narrows", PAGERS, [Job(2, 92.0, memory_mb=100.0)], [1], rules=[MEMORY]),
    Case("iolb", "12: the gap would not narrow", PAGERS, [Job(2, 93.0, memory_mb=100.0)], [2], rules=[MEMORY]),
    Case("iolb", "9: another node pages more", PAGERS, [Job(0, 10.0)], [0], rules=[STAYS]),
    Case("iolb", "10: next after home", [Job(2, memory_mb=1100.0), Job(0, 95.0), Job(1, 10.0), Job(3, 90.0)],
         [Job(2, 10.0)], [3], rules=[MEMORY], is_tie=True),
    # Reported are empty nodes. 3 refuses: L_k = 450 leaves no gap; or with three tasks, R there would be 400. Then 0.
    Case("iolb", "refused: the gap", [*tasks(2, 2, 250.0), Job(3, 450.0)], [Job(2)], [3, 0], [(3, 2, 0)],
         given=STALE),
    Case("iolb", "refused: the gain", [*tasks(2, 2, 250.0), *tasks(3, 3, 10.0)], [Job(2)], [3, 0], [(5, 2, 0)],
         given=STALE),
]  # fmt: skip

# At home two tasks, at node 0 one of 2 ms. The newcomer goes to 3, since 50 3 > 50; then k = 1.
TWO = [Job(2, 400.0), Job(2, 100.0), Job(0, 2.0)]
# A third one of age 0 beside the two of 10 ms of age, on home 2 with the newcomer; node 0 is empty.
THIRD = [Job(2, 4e3, LITTLE), Job(1, 1e3), Job(3, 1e3)]


def of_two(what, cpu_ms, moves, node_0=2.0, at_ms=1.0, **more):
    """Two tasks on home without memory, one on node 0."""
    there = [*(Job(2, one, memory_mb=0.0) for one in cpu_ms), Job(0, node_0)]
    return Case("iolb-pm", what, there, [Job(2, 50.0, at_ms=at_ms)], [3], [(task, 2, 1) for task in moves], **more)


IOLB_PM = [
    # 400 ms would make the gap wider: 400 < (400 + 100 - 0)/2 does not hold, 100 < (100 + 400)/2 does.
    of_two("the one that narrows the gap", (400.0, 100.0), [1]),
    # At 10 ms the first one has begun, and keeps its core. R of the other: 100 2 here, 100 there.
    of_two("the gain is above the cost", (400.0, 100.0), [1], 20.0, 11.0, given={F: 99.0}),
    of_two("the gain is the cost", (400.0, 100.0), [], 20.0, 11.0, given={F: 100.0}),
    of_two("the gap stays as wide", (250.0, 250.0), []),
    of_two("the gap just narrows", (251.0, 249.0), [1]),
    Case("iolb-pm", "another one has most work", [*TWO, Job(0, 600.0)], [Job(2, 50.0)], [2]),
    of_two("as much as the most", (400.0, 100.0), [1], node_0=500.0, is_tie=True),
    # MCE as by Fig. 1 of WAL-PM, f = 100.
    *(
        Case("iolb-pm", what, [Job(2, 2e3, LITTLE), second, *THIRD], [Job(2, 1.0, at_ms=21.0)], [2], [(moved, 2, 0)],
             is_tie=is_tie, given=MOVED)
        for what, second, moved, is_tie in (
            ("MCE: the image costs", Job(2, 2e3, 4 * LITTLE, memory_mb=90.0), 0, False),
            ("MCE: most I/O", Job(2, 2e3, 4 * LITTLE), 1, False),
            ("MCE: the first that came", Job(2, 2e3, LITTLE), 0, True),
        )
    ),
    # L_CPU is 201 ms with the newcomer, 200 elsewhere; L_IO 20, 0, 130, 40 ms. 100 < (100 + 30)/2 does not hold, and
    # 30 < (30 + 100)/2 does; R is 100 (1/2 + 1/1.3 + 1) + 30 1.5 = 272 here, 100 (1/1.3 + 1) + 30 = 207 on node 1.
    Case("iolb-pm", "by I/O", [Job(2, io_per_ms=0.1), Job(2, io_per_ms=0.03), Job(0, 200.0, 0.01), Job(1, 200.0),
                               Job(3, 200.0, 0.02)], [Job(2, 1.0)], [2], [(1, 2, 1)]),
    Case("iolb-pm", "next after home, each time", tasks(2, 3), [Job(2, 50.0)], [3], [(0, 2, 0)], is_tie=True),
]  # fmt: skip

# ---- HBD -----------------------------------------------------------------------------------------------------------

# At 20 ms the task on home is 20 ms old; with the newcomer n = 2, and m = 0 on node 1: 20 (2 - 0) = 40.
AGED = [Job(2, 1e4, memory_mb=0.0), Job(0), Job(3)]
NEWCOMER, LATER = Job(2, at_ms=21.0), Job(2, at_ms=31.0)
# Two in turns, 20 and 10 ms old at 30 ms; the image of the older one takes 10 ms: 20/14 against 10/4.
PAIR = [Job(2, 1e4, memory_mb=1.28), Job(2, 1e4, memory_mb=0.0), Job(0), Job(3)]
LIKE_PAIR = [*tasks(2, 2, 1e4, memory_mb=0.0), Job(0), Job(3)]
HBD = [
    Case("hbd", "its age just pays", AGED, [NEWCOMER], [2], [(0, 2, 1)], given={F: 40.0}),
    Case("hbd", "its age does not pay", AGED, [NEWCOMER], [2], given={F: 40.1}),
    # n counts the process itself and m does not: 20 (2 - 1).
    Case("hbd", "m is the queue as it is", [*AGED, Job(1)], [NEWCOMER], [2], [(0, 2, 3)], given={F: 20.0}, is_tie=True),
    Case("hbd", "m is the queue as it is: too dear", [*AGED, Job(1)], [NEWCOMER], [2], given={F: 20.1}, is_tie=True),
    Case("hbd", "the oldest for its cost", PAIR, [LATER], [2], [(1, 2, 1)], given=IN_TURNS | {F: 4.0}),
    # 0.2 MB of data take 11.6 ms.
    Case("hbd", "the oldest for its cost, with data", [Job(2, 1e4, memory_mb=0.0, initial_data_mb=0.2), *PAIR[1:]],
         [LATER], [2], [(1, 2, 1)], given=IN_TURNS | {F: 4.0}),
    Case("hbd", "alike: the oldest", LIKE_PAIR, [LATER], [2], [(0, 2, 1)], given=IN_TURNS | {F: 4.0}),
    Case("hbd", "alike and as old: the first that came", LIKE_PAIR, [NEWCOMER], [2], [(0, 2, 1)],
         given=IN_TURNS | {F: 4.0}, is_tie=True),
    Case("hbd", "home has the shortest queue", on(2, 2, 1, 2, cpu_ms=1e4), [NEWCOMER], [2], given={F: 1.0},
         is_tie=True),
]  # fmt: skip

# ---- MCLS ----------------------------------------------------------------------------------------------------------

MCLS = ("combined", "pf-rate", "working-set")
AT_ONCE = {"policy__delay_ms": 0.0, "policy__settling_ms": 0.0}
# Q_o of home 2 is 0.3; free are 700, 900 and 800 MB on 0, 1 and 3.
PAGES = [*(Job(2, 1e5, memory_mb=one) for one in (500.0, 600.0, 200.0)), Job(0, 1e5, memory_mb=300.0),
         Job(1, 1e5, memory_mb=100.0), Job(3, 1e5, memory_mb=200.0)]  # fmt: skip
LOOP = [
    *(
        case
        for name in MCLS
        for case in (
            Case(name, "it pages: to the most free memory", PAGES, [Job(2)], [1], given=AT_ONCE),
            Case(name, "it pages: fewer than CT jobs", [*PAGES, Job(1)], [Job(2)], [3],
                 given=AT_ONCE | {"policy__cpu_threshold": 2}),
            Case(name, "N_job = CT blocks", [*tasks(2, 2), Job(0), Job(3)], [Job(2)], [1],
                 given=AT_ONCE | {"policy__cpu_threshold": 2}),
            Case(name, "it does not page", PAGES[1:], [Job(2)], [2], given=AT_ONCE),
            # With MT = 0 a full memory is not below it.
            Case(name, "its memory is full", [Job(2, memory_mb=1000.0), *PAGES[3:]], [Job(2)], [1], given=AT_ONCE),
            Case(name, "as much free: next after home", [*PAGES[:3], Job(1, memory_mb=9.0)], [Job(2)], [3],
                 given=AT_ONCE, is_tie=True),
            # At 20 ms the second one: what home has just started has not shown its memory. Home has most free memory.
            Case(name, "home has just started a job", [Job(0, 1e5, memory_mb=500.0), Job(1, 1e5, memory_mb=500.0),
                                                       Job(3, 1e5, memory_mb=400.0)],
                 [Job(2, at_ms=21.0), Job(2, at_ms=22.0)], [2, 3], given=AT_ONCE | {"policy__settling_ms": 15.0}),
        )
    ),
    Case("working-set", "at MT = 0 it waits", PAGES, (), (), until_ms=1500.0, given={"policy__delay_ms": 2000.0}),
    Case("working-set", "at MT = 0 it has waited", PAGES, (), (), [(1, 2, 1)], until_ms=3500.0,
         given={"policy__delay_ms": 2000.0}),
    Case("working-set", "the largest migrates to the most free memory", PAGES, (), (), [(1, 2, 1)], until_ms=2500.0,
         given=AT_ONCE),
    Case("working-set", "nothing pages at Q_o = 0", [*tasks(2, 2, 1e5, memory_mb=500.0)], (), (), until_ms=2500.0,
         given=AT_ONCE),
    Case("working-set", "as large: the first that came; as free: next after home", tasks(2, 2, 1e5, memory_mb=600.0),
         (), (), [(0, 2, 3)], until_ms=2500.0, given=AT_ONCE, is_tie=True),
]  # fmt: skip

ROOM, PAGED = (-0.5, 1, 61.0, 0.0), (0.4, 3, 0.0, 0.0)


def identified(name, jobs, faults, room=(ROOM, ROOM, ROOM), **parameters):
    """Which job of machine 2 migrates where; `faults` has how many each had made by the last look, a second ago."""
    notes = {"faults": dict(enumerate(faults)), "looked_ms": 9_000.0}
    rows = [running(number, **keys) for number, keys in enumerate(jobs)]
    seen = machines(room[0], room[1], rows, notes=notes, more=[PAGED, room[2]])
    decision = memory_centric(name, **parameters).relieve(replace(seen, me=2))
    return decision.task.task, decision.target


# 100 and 300 faults in the last second, of 900 and 500.
FAULTS = [{"faults": 900}, {"faults": 500}]
# 900, 100 and 300 in the last second; the first came a second ago, from another machine, and stays.
JUST_CAME = [{"faults": 900, "migrations": 1, "here_ms": 1000.0}, {"faults": 900}, {"faults": 500}]
# (age, faults, memory, accesses), each over its largest: 1 0 1 0, 0.6 0.6 0.6 0.6, 0 1 0.2 1: weights 0.5, 0.6, 0.55.
ACTIVE = [
    {"age_ms": 1e5, "faults": 0, "memory_mb": 50.0, "accesses": 0},
    {"age_ms": 6e4, "faults": 60, "memory_mb": 30.0, "accesses": 60},
    {"age_ms": 0.0, "faults": 100, "memory_mb": 10.0, "accesses": 100},
]
# 1 0 0.5 1 and 0.5 1 1 0: both 2.5/4.
AS_ACTIVE = [
    {"age_ms": 1e5, "faults": 0, "memory_mb": 25.0, "accesses": 100},
    {"age_ms": 5e4, "faults": 100, "memory_mb": 50.0, "accesses": 0},
]
# As free; less oversized on machine 1, which has more memory.
MORE = ((-0.5, 1, 61.0, 0.0), (-0.6, 1, 61.0, 0.0), (-0.5, 1, 61.0, 0.0))
JOBS = [
    Worked("pf-rate", "most faults of late", partial(identified, "pf-rate", FAULTS, (800, 200)), (1, 3)),
    Worked("pf-rate", "as many faults: the first", partial(identified, "pf-rate", FAULTS, (800, 400)), (0, 3), True),
    Worked("pf-rate", "as free: less oversized", partial(identified, "pf-rate", FAULTS, (800, 200), MORE), (1, 1),
           True),
    Worked("pf-rate", "one that has just come stays", partial(identified, "pf-rate", JUST_CAME, (0, 800, 200)), (2, 3)),
    Worked("combined", "most active in all", partial(identified, "combined", ACTIVE, (0, 0, 0)), (1, 3)),
    Worked("combined", "least active in all", partial(identified, "combined", ACTIVE, (0, 0, 0), which="lowest"),
           (0, 3)),
    Worked("combined", "as active: the first", partial(identified, "combined", AS_ACTIVE, (0, 0)), (0, 3), True),
]  # fmt: skip

CASES = [*FIG_1, *BY_MEMORY, *IOCM, *IOLB, *IOLB_PM, *HBD, *LOOP, *JOBS]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_move_worked_by_hand(case):
    case.check()
