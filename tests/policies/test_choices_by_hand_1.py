"""Decisions of the policies at even places of the list, worked by hand on four nodes: what each rule says, and ties.

Here are those that decide when a task arrives; test_choices_by_hand_1_waiting.py has those that keep tasks waiting,
move running ones, or talk.
"""

from __future__ import annotations

import pytest
from four_nodes import Case, Job
from test_choices_by_hand_1_waiting import CASES as WAITING
from test_choices_by_hand_1_waiting import TIES_BY_DRAWING


def tasks(node: int, count: int, cpu_ms: float = 100.0, **more: float) -> list[Job]:
    """Tasks alike on one node."""
    return [Job(node, cpu_ms, **more)] * count


E = "negotiation__remote_execution_ms"
STAYS = "line 15 (CPU)"
SENT = "lines 16-20 (CPU)"

# L_CPU 600, 400, 100, 200 ms; tasks 3, 1, 2, 1: the CPU work is least where there are more tasks. Without I/O a task's
# share of the CPU is 1, so R(i, j) = t_j (1 + tasks).
BY_WORK = [*tasks(0, 3, 200.0), Job(1, 400.0), *tasks(2, 2, 50.0), Job(3, 200.0)]
CLB = [
    # R(0) = 50 4 = 200, R(2) = 50 3 = 150: it gains 50.
    Case("clb", "least work, gain above the cost", BY_WORK, [Job(0, 50.0)], [2], rules=[SENT], given={E: 49.0}),
    Case("clb", "gain equal to the cost", BY_WORK, [Job(0, 50.0)], [0], rules=[SENT], given={E: 50.0}),
    # t_j < L_0 - L_2 = 500.
    Case("clb", "the gap just narrows", BY_WORK, [Job(0, 499.0)], [2], rules=[SENT]),
    Case("clb", "the gap stays as wide", BY_WORK, [Job(0, 500.0)], [0], rules=[SENT]),
    Case("clb", "home has not the largest load", BY_WORK, [Job(1, 50.0)], [1], rules=[STAYS]),
    # 600 on home, 50 on 3, 0 and 1: the next one after home.
    Case(
        "clb", "next after home", [*tasks(2, 3, 200.0), Job(0), Job(1), Job(3)], [Job(2, 50.0)], [3], is_tie=True,
        rules=[SENT],
    ),
    # As large as the largest is the largest; as little as the least is the least: home.
    Case("clb", "all equal: home", [Job(node) for node in range(4)], [Job(2, 50.0)], [2], is_tie=True, rules=[SENT]),
]  # fmt: skip

# mu = 0.5, a fault takes 8.1 ms. Node 0: 0.5 1.2 8.1 200 = 972 ms of paging; 1: 0.5 1.1 8.1 100 = 446; 2: 0, although
# most CPU work is there in one piece; 3: 0.5 1.05 8.1 60 = 255, with least CPU work. LIF_page = 0.75 1162 (of 1673 ms
# of paging and 550 of CPU) is above LIF_CPU = 0.25 230.
PAGING = [*tasks(0, 2, memory_mb=600.0), Job(1, memory_mb=1100.0), Job(2, 190.0), Job(3, 60.0, memory_mb=1050.0)]
MEMORY = "lines 10-14 (memory)"
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
        rules=[SENT], given={E: 39.0},
    ),
    Case(
        "mlb", "next after home", [*tasks(2, 2, memory_mb=600.0), Job(3), Job(0), Job(1)],
        [Job(2, 10.0, memory_mb=10.0)], [3], is_tie=True, rules=[MEMORY],
    ),
]  # fmt: skip

# CPU queues 3, 2, 1, 2; memory 3, 20, 900, 2 MB.
QUEUES = [*tasks(0, 3), *tasks(1, 2, memory_mb=10.0), Job(2, memory_mb=900.0), *tasks(3, 2)]
# Node 3 pages with one task; queues 3, 2, 2, 1; memory 300, 400, 100, 1100 MB.
ONE_PAGES = [
    *tasks(0, 3, memory_mb=100.0), *tasks(1, 2, memory_mb=200.0), *tasks(2, 2, memory_mb=50.0),
    Job(3, memory_mb=1100.0),
]  # fmt: skip
CM_RE = [
    Case("cm-re", "shortest queue, whatever it costs", QUEUES, [Job(0)], [2], rules=["least load"], given={E: 5000.0}),
    Case("cm-re", "home is not overloaded", QUEUES, [Job(1)], [1], rules=["transfer"]),
    Case("cm-re", "a node pages: least memory", ONE_PAGES, [Job(3)], [2], rules=["least load"]),
    Case("cm-re", "a node pages: queues do not count", ONE_PAGES, [Job(0)], [0], rules=["transfer"]),
    Case(
        "cm-re", "next after home", [*tasks(2, 3), *tasks(1, 2), Job(0), Job(3)], [Job(2)], [3], is_tie=True,
        rules=["least load"],
    ),
    Case("cm-re", "all equal: home", [Job(node) for node in range(4)], [Job(2)], [2], is_tie=True,
         rules=["least load"]),
]  # fmt: skip

# I/O loads 0.2, 0.05, 0.3, 0.02 /ms, the least on the node with most tasks and most CPU.
RATES = [Job(0, 10.0, 0.2), Job(1, 10.0, 0.05), Job(2, 10.0, 0.3), *tasks(3, 2, 900.0, io_per_ms=0.01)]
IO_RE = [
    # Home 1 is not overloaded, and the move costs more than it brings: neither is asked.
    Case("io-re", "least I/O load", RATES, [Job(1)], [3], rules=["least load"], given={E: 5000.0}),
    Case("io-re", "home has the least", RATES, [Job(3)], [3]),
    # 1100 MB on node 3: 0.5 1.1 faults per ms and task are I/O too.
    Case("io-re", "page faults count", [*RATES, Job(3, memory_mb=1100.0)], [Job(0)], [1]),
    Case("io-re", "accesses alone, if so chosen", [*RATES, Job(3, memory_mb=1100.0)], [Job(0)], [3],
         given={"policy__io_counts": "explicit"}),
    Case("io-re", "home first", [Job(0, 10.0, 0.2), Job(1), Job(2, 10.0, 0.3)], [Job(3)], [3], is_tie=True),
    Case("io-re", "next after home", [Job(1, 10.0, 0.1), Job(2, 10.0, 0.3)], [Job(2)], [3], is_tie=True),
]  # fmt: skip

# I/O ahead 400, 200, 50 and 100 ms, with the same CPU everywhere. 80 KB take 10 ms, so lambda s = 4, 2, 0.5, 1.
DISKS = [Job(0, io_per_ms=0.4), Job(1, io_per_ms=0.2), Job(2, io_per_ms=0.05), Job(3, io_per_ms=0.1)]
READS = 0.3
IOCM_RE = [
    # R(i) = 100 + 300 (1 + lambda s/(1 + lambda s)), since less than one task wants the CPU: R(0) = 640, R(2) = 500.
    Case("iocm-re", "it gains", DISKS, [Job(0, io_per_ms=READS)], [2], rules=["(1) I/O"], given={E: 139.9}),
    Case("iocm-re", "it costs more", DISKS, [Job(0, io_per_ms=READS)], [0], rules=["(1) I/O"], given={E: 140.1}),
    # R(1) = 600: home need not have the largest load.
    Case("iocm-re", "a lighter one", DISKS, [Job(1, io_per_ms=READS)], [2], rules=["(1) I/O"], given={E: 99.9}),
    # By memory, though the node with least of it has most CPU work, and whatever it costs.
    Case(
        "iocm-re", "memory overflows",
        [*tasks(0, 2, memory_mb=600.0), Job(1, memory_mb=900.0), *tasks(2, 3), Job(3, memory_mb=500.0)],
        [Job(0, memory_mb=10.0)], [2], rules=["(2) memory"], given={E: 5000.0},
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

# As IOLB, while no transfers share links; test_iolb_net.py has what it does about links.
IO = "lines 4-8 (I/O)"
IOLB_NET = [
    # R(0) = 640, R(2) = 500 as above; home has the largest L_IO.
    Case("iolb-net", "it gains", DISKS, [Job(0, io_per_ms=READS)], [2], rules=[IO], given={E: 139.9}),
    Case("iolb-net", "it costs more", DISKS, [Job(0, io_per_ms=READS)], [0], rules=[IO], given={E: 140.1}),
    # t_IO = t_j 0.3 10 must be below 400 - 50.
    Case("iolb-net", "the gap narrows", DISKS, [Job(0, 116.0, READS)], [2], rules=[IO]),
    Case("iolb-net", "the gap would not narrow", DISKS, [Job(0, 117.0, READS)], [0], rules=[IO]),
    # L_IO of node 1 is not the largest; nor is its L_CPU less than any: lines 15-20, in which no gap narrows.
    Case("iolb-net", "another disk is busier", DISKS, [Job(1, io_per_ms=READS)], [1], rules=[SENT]),
    Case(
        "iolb-net", "next after home", [Job(2, io_per_ms=0.4), Job(0), Job(1, io_per_ms=0.1), Job(3)],
        [Job(2, io_per_ms=READS)], [3], is_tie=True, rules=[IO],
    ),
]  # fmt: skip

DATA = [
    # No job needs files here, so fetching them takes no time anywhere: the fewest tasks, home, then the next one after
    # it. test_data_access.py has placement by files.
    *(
        case
        for name, rule in (("data-access", "least T"), ("data-majority", "most data"))
        for case in (
            Case(name, "without files, fewest tasks", QUEUES, [Job(1)], [2], rules=[rule]),
            Case(name, "home first", [*tasks(0, 2), *tasks(3, 2), Job(1), Job(2)], [Job(2)], [2], is_tie=True),
            Case(name, "next after home", [*tasks(2, 2), Job(1), Job(3), Job(0)], [Job(2)], [3], is_tie=True),
        )
    ),
]

# The sizes are 4 x 11, 2 x 21, 41 and 42 ms: of 169 ms a quarter is 42.25, and the classes end at 11, 21 and 41.
SIZES = [11.0, 42.0, 21.0, 11.0, 41.0, 21.0, 11.0, 11.0]
SITA_E = [
    Case("sita-e", "classes of equal work", (), [Job(3, size) for size in SIZES], [0, 3, 1, 0, 2, 1, 0, 0]),
    # Node 0 is as fast as the others together: half of the work, 84.5 ms of 169, is in 4 x 11 and 2 x 21. The others
    # have a sixth each: 112.7 ms are reached by the task of 41, 140.8 by that of 42, and nothing is left for node 3.
    Case(
        "sita-e", "unlike nodes", (), [Job(3, size) for size in SIZES], [0, 2, 0, 0, 1, 0, 0, 0],
        nodes=[{"cpu_speed": 3.0}],
    ),
    Case(
        "sita-e", "a size at which a class ends", (), [Job(3, size) for size in (100.0, 100.1, 200.0, 300.0, 300.1)],
        [0, 1, 1, 2, 3], is_tie=True, given={"policy__cutoffs_ms": [100.0, 200.0, 300.0]},
    ),
]  # fmt: skip

# Nodes of four cores; a task that only computes uses one of them, 25 %; one that reads half of its time 12.5 %.
FOUR_CORES = {"cluster__cores": 4, "negotiation__mode": "negotiated"}
LONG = 1e5
TARGET_LOAD = [
    # With the newcomer's 25 %: 75, 37.5, 50 and 25 %: scores 17, 96, 33 and 78: the fullest that is below 40 %.
    Case(
        "target-load", "packed up to 40 %", [*tasks(0, 2, LONG), Job(1, LONG, 0.1), Job(2, LONG)], [Job(0, at_ms=6001)],
        [1], given=FOUR_CORES,
    ),
    # 125, 100, 75 and 100 %: scores 0, 0, 17 and 0.
    Case(
        "target-load", "spread beyond it",
        [*tasks(0, 4, LONG), *tasks(1, 3, LONG), *tasks(2, 2, LONG), *tasks(3, 3, LONG)], [Job(0, at_ms=6001)],
        [2], rules=["score 17"], given=FOUR_CORES,
    ),
    # 25 % here scores 78, and 50 % 33: what was just placed counts, and others are as good as each other.
    Case(
        "target-load", "home, then the next ones", (), [Job(2)] * 4, [2, 3, 0, 1], rules=["score 78"] * 4, is_tie=True,
        given=FOUR_CORES,
    ),
]  # fmt: skip

# CPU [%], queue and memory [%] of the last seconds, of nodes with 1000 MB. Node 0: 90 % of memory, high; 1 and 2: one
# task, low by their queue; 3: three tasks and 60 %, normal.
CLASSES = [
    Job(0, LONG, memory_mb=900.0), Job(1, LONG, memory_mb=100.0), Job(2, LONG, memory_mb=50.0),
    *tasks(3, 3, LONG, memory_mb=200.0),
]  # fmt: skip
STILL = {"policy__migration": False}
LATER = {"at_ms": 6001.0}
LOAD_CLASS = [
    Case("load-class", "home is high: the low node with most free memory", CLASSES, [Job(0, **LATER)], [2],
         rules=["N_sel"], given=STILL),
    Case("load-class", "home is normal", CLASSES, [Job(3, **LATER)], [3], rules=["placement"], given=STILL),
    # Node 2 is empty: idle, and an idle node goes before a low one.
    Case("load-class", "home is low: an idle node", CLASSES[:2] + CLASSES[3:], [Job(1, **LATER)], [2],
         rules=["an idle node"], given=STILL),
    Case("load-class", "home is idle", CLASSES[:1], [Job(3, **LATER)], [3], rules=["placement"], given=STILL),
    # Its CPU is busy half of the time, so that only memory above 85 % makes it high.
    Case("load-class", "memory at the threshold", [Job(0, LONG, 0.1, 850.0), *CLASSES[1:]], [Job(0, **LATER)], [0],
         rules=["placement"], given=STILL),
    Case("load-class", "memory above the threshold", [Job(0, LONG, 0.1, 851.0), *CLASSES[1:]], [Job(0, **LATER)], [2],
         rules=["N_sel"], given=STILL),
    Case("load-class", "two are idle: the next after home", [Job(1, LONG), Job(2, LONG)], [Job(2, **LATER)], [3],
         is_tie=True, rules=["an idle node"], given=STILL),
    Case("load-class", "equal free memory: the next after home", [
        Job(2, LONG, memory_mb=900.0), Job(1, LONG), Job(3, LONG), Job(0, LONG),
    ], [Job(2, **LATER)], [3], is_tie=True, rules=["N_sel"], given=STILL),
]  # fmt: skip

ARRIVING = [*CLB, *MLB, *CM_RE, *IO_RE, *IOCM_RE, *IOLB_NET, *DATA, *SITA_E, *TARGET_LOAD, *LOAD_CLASS]
CASES = [*ARRIVING, *WAITING]
# Where there is no tie, and why.
NO_TIE = {
    "no-ls-blocking": "a job starts at its home or waits",
    "pooled": "there is one station",
    "random": "all nodes are alike for every task",
    **TIES_BY_DRAWING,
}


@pytest.mark.parametrize("case", ARRIVING, ids=str)
def test_a_choice_worked_by_hand(case):
    case.check()
