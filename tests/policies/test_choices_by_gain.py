"""Policies that send a task to where it gains more than the move costs, worked by hand on four nodes.

They look at CPU work (`clb`), page faults (`mlb`), disks as well (`iolb`, `iolb-net`), or disks first (`iocm-re`).
Without I/O a task of which R ms are left is expected to take R n among n tasks, itself included: the estimate `closed`.
"""

from __future__ import annotations

import pytest
from by_hand import QUEUES, STALE, E, tasks
from four_nodes import Case, Job

# Lines of IOLB's Fig. 1.
CPU, STAYS, IO, MEMORY = "lines 16-20 (CPU)", "line 15 (CPU)", "lines 4-8 (I/O)", "lines 10-14 (memory)"

# ---- CPU, memory ---------------------------------------------------------------------------------------------------

# L_CPU 600, 400, 100, 200 ms; tasks 3, 1, 2, 1: the CPU work is least where there are more tasks. Without I/O a task's
# share of the CPU is 1, so R(i, j) = t_j (1 + tasks).
BY_WORK = [*tasks(0, 3, 200.0), Job(1, 400.0), *tasks(2, 2, 50.0), Job(3, 200.0)]
CLB = [
    # R(0) = 50 4 = 200, R(2) = 50 3 = 150: it gains 50.
    Case("clb", "least work, gain above the cost", BY_WORK, [Job(0, 50.0)], [2], rules=[CPU], given={E: 49.0}),
    Case("clb", "gain equal to the cost", BY_WORK, [Job(0, 50.0)], [0], rules=[CPU], given={E: 50.0}),
    # t_j < L_0 - L_2 = 500.
    Case("clb", "the gap just narrows", BY_WORK, [Job(0, 499.0)], [2], rules=[CPU]),
    Case("clb", "the gap stays as wide", BY_WORK, [Job(0, 500.0)], [0], rules=[CPU]),
    Case("clb", "home has not the largest load", BY_WORK, [Job(1, 50.0)], [1], rules=[STAYS]),
    # 600 on home, 50 on 3, 0 and 1: the next one after home.
    Case(
        "clb", "next after home", [*tasks(2, 3, 200.0), Job(0), Job(1), Job(3)], [Job(2, 50.0)], [3], is_tie=True,
        rules=[CPU],
    ),
    # As large as the largest is the largest; as little as the least is the least: home.
    Case("clb", "all equal: home", [Job(node) for node in range(4)], [Job(2, 50.0)], [2], is_tie=True, rules=[CPU]),
]  # fmt: skip

# mu = 0.5, a fault takes 8.1 ms. Node 0: 0.5 1.2 8.1 200 = 972 ms of paging; 1: 0.5 1.1 8.1 100 = 446; 2: 0, although
# most CPU work is there in one piece; 3: 0.5 1.05 8.1 60 = 255, with least CPU work. LIF_page = 0.75 1162 (of 1673 ms
# of paging and 550 of CPU) is above LIF_CPU = 0.25 230.
PAGING = [*tasks(0, 2, memory_mb=600.0), Job(1, memory_mb=1100.0), Job(2, 190.0), Job(3, 60.0, memory_mb=1050.0)]
MLB = [
    # R(0) = 10 3 + 0.5 1.21 8.1 10 = 79.005, R(2) = 10 2: it gains 59.005.
    Case("mlb", "least paging", PAGING, [Job(0, 10.0, memory_mb=10.0)], [2], rules=[MEMORY], given={E: 59.0}),
    Case("mlb", "cost above the gain", PAGING, [Job(0, 10.0, memory_mb=10.0)], [0], rules=[MEMORY], given={E: 59.01}),
    # t_page = 4.9 t_j must be below 972.
    Case("mlb", "the gap would not narrow", PAGING, [Job(0, 200.0, memory_mb=10.0)], [0], rules=[MEMORY]),
    Case("mlb", "another node pages more", PAGING, [Job(1, 10.0, memory_mb=10.0)], [1], rules=[STAYS]),
    # Of 97 ms of paging and 5020 of CPU, LIF_page = 0.02 146 is the less: by CPU, of which home has not most.
    Case(
        "mlb", "paging is not what is uneven", [*tasks(0, 2, 10.0, memory_mb=600.0), Job(3, 5000.0)],
        [Job(0, 10.0, memory_mb=10.0)], [0], rules=[STAYS],
    ),
    # It fits into home, which has most CPU work; its I/O is not seen: R(2) = 10 5, R(0) = 10 1.
    Case(
        "mlb", "a task that would not fault", [*tasks(2, 4), Job(3), *tasks(1, 2)], [Job(2, 10.0, 9.0)], [0],
        rules=[CPU], given={E: 39.0},
    ),
    Case(
        "mlb", "next after home", [*tasks(2, 2, memory_mb=600.0), Job(3), Job(0), Job(1)],
        [Job(2, 10.0, memory_mb=10.0)], [3], is_tie=True, rules=[MEMORY],
    ),
]  # fmt: skip

# ---- IOLB, Fig. 1 --------------------------------------------------------------------------------------------------

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

# ---- IOCM: by I/O, else memory, else CPU ---------------------------------------------------------------------------

# I/O ahead 400, 200, 50 and 100 ms, with the same CPU everywhere. 80 KB take 10 ms, so lambda s = 4, 2, 0.5, 1.
DISKS = [Job(0, io_per_ms=0.4), Job(1, io_per_ms=0.2), Job(2, io_per_ms=0.05), Job(3, io_per_ms=0.1)]
READS = 0.3
IOCM_RE = [
    # R(i) = 100 + 300 (1 + lambda s/(1 + lambda s)), since less than one task wants the CPU: R(0) = 640, R(2) = 500.
    Case("iocm-re", "it gains", DISKS, [Job(0, io_per_ms=READS)], [2], rules=["(1) I/O"], given={E: 139.9}),
    Case("iocm-re", "it costs more", DISKS, [Job(0, io_per_ms=READS)], [0], rules=["(1) I/O"], given={E: 140.1}),
    # R(1) = 600: home need not have the largest load.
    Case("iocm-re", "a lighter one", DISKS, [Job(1, io_per_ms=READS)], [2], rules=["(1) I/O"], given={E: 99.9}),
    # By memory, though the node with least of it has most CPU work, and whatever it costs: 1010 MB with the newcomer.
    Case(
        "iocm-re", "memory overflows",
        [*tasks(0, 2, memory_mb=495.0), Job(1, memory_mb=900.0), *tasks(2, 3), Job(3, memory_mb=500.0)],
        [Job(0, memory_mb=20.0)], [2], rules=["(2) memory"], given={E: 5000.0},
    ),
    # Home pages already, so it has I/O load: (1), and the move does not gain 5 s.
    Case(
        "iocm-re", "page faults are I/O load", [*tasks(0, 2, memory_mb=600.0), Job(1), *tasks(2, 3), Job(3)],
        [Job(0, memory_mb=10.0)], [0], rules=["(1) I/O"], given={E: 5000.0},
    ),
    Case("iocm-re", "no I/O: shortest queue", QUEUES, [Job(0)], [2], rules=["(3) CPU"], given={E: 5000.0}),
    Case("iocm-re", "no I/O: home is not overloaded", QUEUES, [Job(1)], [1], rules=["(3) CPU"]),
    # Equal I/O on 1 and 3: least memory load breaks the tie, else the next one after home.
    Case(
        "iocm-re", "least memory", [Job(0, io_per_ms=0.4), Job(1, memory_mb=50.0), Job(2, io_per_ms=0.1),
                                    Job(3, memory_mb=40.0)],
        [Job(0, io_per_ms=READS)], [3], is_tie=True, rules=["(1) I/O"],
    ),
    Case(
        "iocm-re", "next after home", [Job(2, io_per_ms=0.4), Job(0), Job(1, io_per_ms=0.1), Job(3)],
        [Job(2, io_per_ms=READS)], [3], is_tie=True, rules=["(1) I/O"],
    ),
    Case("iocm-re", "all equal: home", [Job(node) for node in range(4)], [Job(2)], [2], is_tie=True,
         rules=["no choice"]),
]  # fmt: skip

# ---- IOLB and the links --------------------------------------------------------------------------------------------

# As IOLB, while no transfers share links; test_iolb_net.py has what it does about links.
IOLB_NET = [
    # R(0) = 640, R(2) = 500 as above; home has the largest L_IO.
    Case("iolb-net", "it gains", DISKS, [Job(0, io_per_ms=READS)], [2], rules=[IO], given={E: 139.9}),
    Case("iolb-net", "it costs more", DISKS, [Job(0, io_per_ms=READS)], [0], rules=[IO], given={E: 140.1}),
    # t_IO = t_j 0.3 10 must be below 400 - 50.
    Case("iolb-net", "the gap narrows", DISKS, [Job(0, 116.0, READS)], [2], rules=[IO]),
    Case("iolb-net", "the gap would not narrow", DISKS, [Job(0, 117.0, READS)], [0], rules=[IO]),
    # L_IO of node 1 is not the largest; nor is its L_CPU less than any: lines 15-20, in which no gap narrows.
    Case("iolb-net", "another disk is busier", DISKS, [Job(1, io_per_ms=READS)], [1], rules=[CPU]),
    Case(
        "iolb-net", "next after home", [Job(2, io_per_ms=0.4), Job(0), Job(1, io_per_ms=0.1), Job(3)],
        [Job(2, io_per_ms=READS)], [3], is_tie=True, rules=[IO],
    ),
]  # fmt: skip

CASES = [*CLB, *MLB, *IOLB, *IOCM_RE, *IOLB_NET]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_choice_worked_by_hand(case):
    case.check()
