"""Policies that move running tasks when another one comes, worked by hand on four nodes.

They are those of WAL-PM (`cm-pm`, `io-pm`, `wal-pm`), `iocm-pm`, `iolb-pm` and `hbd`. Without I/O a task of which R ms
are left is expected to take R n among n tasks, itself included: the estimate `closed`.
"""

from __future__ import annotations

import pytest
from by_hand import IN_TURNS, LONG, STALE, E, F, full, on, tasks
from four_nodes import Case, Job

# I/O that makes no access in a run, so that only its rate counts: lambda in MCE, and as a load.
LITTLE = 1e-6

# ---- WAL-PM, Fig. 1: by CPU queue, by I/O load ---------------------------------------------------------------------

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

# ---- WAL-PM: by weighted load --------------------------------------------------------------------------------------

# Load is half the tasks at the CPU and half the I/O rate: at least 2.65 on node 0 with the newcomer, 0.65 on 1, 1 on 2
# and 0.5 on 3. After half a second task 0, which reads twice as often, has moved a little more I/O than task 1 has, but
# takes 5 (7.8 + 25 + 25) = 289 ms and its image of 1 MB 7.8; task 1 takes 7.8 ms.
WEIGHTED = [
    Job(0, LONG, 0.2, initial_data_mb=5.0), Job(0, LONG, 0.1), *full(0, 0, 0, 0), Job(1, LONG, 0.3), *full(1, 2, 2, 3),
]  # fmt: skip
WAL_PM = [
    Case("wal-pm", "most I/O moved per cost, to the least load", WEIGHTED, [Job(0, LONG, at_ms=501)], [0], [(1, 0, 3)],
         rules=["line 1"], given=IN_TURNS),
    # With the newcomer node 2 has 1.5, three times the least.
    Case("wal-pm", "home has not the largest load", WEIGHTED, [Job(2, LONG, at_ms=501)], [2], [], given=IN_TURNS),
    Case("wal-pm", "none gains what it costs", WEIGHTED, [Job(0, LONG, at_ms=501)], [0], [],
         given=IN_TURNS | {F: 1e9, E: 1e9}),
    # Nothing has computed yet: the MCE of all is 0.
    Case("wal-pm", "equal MCE: the first", WEIGHTED, [Job(0, LONG)], [0], [(0, 0, 3)], is_tie=True, given=IN_TURNS),
    Case("wal-pm", "equal loads: the next after home", full(2, 2, 2, 0, 1, 3), [Job(2, LONG)], [2], [(0, 2, 3)],
         is_tie=True),
    Case("wal-pm", "all equal: nothing moves", full(0, 1, 3), [Job(2, LONG)], [2], [], is_tie=True),
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
         [Job(2, 1000.0, memory_mb=990.0), *tasks(0, 2, 500.0, memory_mb=20.0), Job(1, 1000.0, memory_mb=300.0),
          Job(3, 1000.0, memory_mb=200.0)], [Job(2, memory_mb=20.0)], [0], rules=["(2) memory"], given=DEAR),
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
    Case("iocm-pm", "what is uneven", SOME_IO, [Job(2)], [0], rules=["(3) CPU"],
         given=DEAR | {"policy__io_rule": "imbalance"}),
    Case("iocm-pm", "what home has", SOME_IO, [Job(2)], [2], rules=["(1) I/O"], given=DEAR),
    # The newcomer to 3. Then 6 R > 1 R to node 0, 5 > 1 to 1, 4 > 2 to 3, 3 > 2 to 0; with 2 R = 2 R it is over.
    Case("iocm-pm", "EM: while it gains", on(0, 0, 6, 0), [Job(2)], [3], [(0, 2, 0), (1, 2, 1), (2, 2, 3), (3, 2, 0)],
         is_tie=True),
    # The newcomer to 0: 1, 6, 7, 6. Two move there: 3, 6, 5, 6, home is not the largest any more; 5 R > 4 R.
    Case("iocm-pm", "EM: while home is overloaded", on(0, 6, 7, 6), [Job(2)], [0], [(6, 2, 0), (7, 2, 0)]),
    Case("iocm-pm", "EM: all of it", on(0, 6, 7, 6), [Job(2)], [0], [(6, 2, 0), (7, 2, 0), (8, 2, 0)],
         given={"policy__migrates_all": True}),
]  # fmt: skip

# ---- IOLB-PM -------------------------------------------------------------------------------------------------------

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

CASES = [*FIG_1, *BY_MEMORY, *WAL_PM, *IOCM, *IOLB_PM, *HBD]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_choice_worked_by_hand(case):
    case.check()
