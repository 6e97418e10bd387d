"""Policies that send a task to the node of least load, whatever the move costs, worked by hand on four nodes.

The load is one: tasks (`jsq`), the CPU queue (`cpu-based`, `queue-length`), memory (`memory-based`), work left (`lwl`),
I/O (`io-re`), the CPU queue or memory (`cm-re`). Or it is a weighted sum (`wal-re`).
"""

from __future__ import annotations

import pytest
from by_hand import HEAVY, QUEUES, SIZED, STALE, TIES, E, on, tasks
from four_nodes import Case, Job

# ---- the fewest tasks, the shortest CPU queue, the least memory ----------------------------------------------------

# At 10 ms the four tasks on node 3 are at its disk, with requests of seconds: tasks 2, 1, 3, 4, CPU queues 2, 1, 3, 0.
AT_DISK = [*on(2, 1, 3, 0), *tasks(3, 4, io_per_ms=10.0, request_kb=4e6)]
UNLIKE = {"policy__heterogeneous": True}
# Memory 30, 40, 50 and 35 MB: least where there are most tasks.
MEMORY = [
    *tasks(0, 3, memory_mb=10.0), Job(1, memory_mb=40.0), *tasks(2, 2, memory_mb=25.0), Job(3, memory_mb=35.0),
]  # fmt: skip
LEAST = [
    Case("cpu-based", "shortest CPU queue, whatever it costs", AT_DISK, [HEAVY], [3]),
    Case("queue-length", "shortest CPU queue, whatever it costs", AT_DISK, [HEAVY], [3]),
    Case("memory-based", "least memory, whatever it costs", MEMORY, [HEAVY], [0]),
    Case("jsq", "fewest tasks, at the CPU or at the disk", AT_DISK, [HEAVY], [1]),
    # (n + 1)/mu: 3/4 on the fast node, 1 on an empty one; n/mu would be 1/2 against 0.
    Case("jsq", "shortest expected delay", on(2, 0, 1, 1), [Job(2)], [0], nodes=[{"cpu_speed": 4.0}], given=UNLIKE),
    # 2/2 on node 0, 1/1 at home.
    Case(
        "jsq", "equal delays: home", on(1, 1, 0, 1), [Job(2)], [2], nodes=[{"cpu_speed": 2.0}], given=UNLIKE,
        is_tie=True,
    ),
    *(
        Case(name, what, on(*counts), [Job(home)], [target], is_tie=True)
        for name in ("cpu-based", "queue-length", "memory-based", "jsq")
        for what, counts, home, target in TIES
    ),
    # Reports of time 0 say that all others are empty. Node 3 refuses, for it has as many as home, or more; 0 accepts:
    # the frame counts a task's second offer as a move.
    *(
        Case(name, f"refused by one that has {count}", on(0, 0, 2, count), [Job(2)], [3, 0], [(2 + count, 2, 0)],
             given=STALE)
        for name in ("cpu-based", "queue-length", "memory-based", "jsq")
        for count in (2, 5)
    ),
]  # fmt: skip

# ---- the least work left -------------------------------------------------------------------------------------------

LWL = [
    # Work until 301, 102, 203 (50 ms of CPU and 150 at the disk) and 404; then node 1's until 152 and 212.
    Case(
        "lwl", "least work, of CPU and disk", (),
        [*SIZED[:2], Job(0, 50.0, 0.3, at_ms=3), SIZED[3], Job(0, 50.0, at_ms=5), Job(0, 60.0, at_ms=6),
         Job(0, 10.0, at_ms=7)],
        [0, 1, 2, 3, 1, 1, 2], rules=["least work left"] * 7,
    ),
    Case("lwl", "none has work: idle for longest", (), [*SIZED, Job(0, at_ms=1001)], [0, 1, 2, 3, 1], is_tie=True),
]  # fmt: skip

# ---- I/O load alone, and CPU queues unless a node pages ------------------------------------------------------------

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

# ---- WAL-RE: W_CPU 0.5, W_IO 0.5 -----------------------------------------------------------------------------------

# Tasks 1, 2, 3, 3; I/O load 1.5 on node 0: weighted 1.25, 1, 1.5, 1.5.
WEIGHTED = [Job(0, io_per_ms=1.5), *on(0, 2, 3, 3)]
# Tasks 1, 2, 3, 2 (mean 2); I/O load 0.3 on node 0 (mean 0.075): each over its mean, 2.25, 0.5, 0.75, 0.5.
NORMALISED = [Job(0, io_per_ms=0.3), *on(0, 2, 3, 2)]
BY_MEMORY = {"policy__cpu_weight": 0.0, "policy__memory_weight": 1.0, "policy__io_weight": 0.0}
OVER_MEAN = {"policy__normalised": True}
WAL_RE = [
    # By tasks alone it would be node 0; by I/O load alone home. It is as loaded as the largest: overloaded.
    Case("wal-re", "least weighted load", WEIGHTED, [Job(2)], [1], rules=["least load"], given={E: 5000.0}),
    # Weighted 2.05 on node 0, above home's 1.5.
    Case(
        "wal-re", "home is not overloaded", [Job(0, io_per_ms=3.1), *on(0, 0, 3, 0)], [Job(2)], [2], rules=["transfer"]
    ),
    Case("wal-re", "as they are: 0.65, 1, 1.5, 1", NORMALISED, [Job(2)], [0], rules=["least load"]),
    Case("wal-re", "over the mean: home is not overloaded", NORMALISED, [Job(2)], [2], rules=["transfer"],
         given=OVER_MEAN),
    Case("wal-re", "over the mean: two have least", NORMALISED, [Job(0)], [1], is_tie=True, given=OVER_MEAN),
    Case("wal-re", "by memory alone", MEMORY, [Job(2)], [0], rules=["least load"], given=BY_MEMORY),
    # Weighted 1.375, 0.5, 0.75, 0.75 by a quarter and three quarters.
    Case("wal-re", "more by I/O: home is not overloaded", WEIGHTED, [Job(2)], [2], rules=["transfer"],
         given={"policy__cpu_weight": 0.25, "policy__io_weight": 0.75}),
    # 0.5 1.1 faults per ms on node 0: weighted 0.775, 1, 1.5, 0.7.
    Case("wal-re", "page faults are I/O load", [Job(0, memory_mb=1100.0), *on(0, 2, 3, 0), Job(3, io_per_ms=0.4)],
         [Job(2)], [3], rules=["least load"]),
    Case("wal-re", "as large as the largest is overloaded", on(2, 0, 2, 1), [Job(2)], [1], is_tie=True),
    Case("wal-re", "all equal: home", on(1, 1, 1, 1), [Job(2)], [2], rules=["least load"], is_tie=True),
    *(Case("wal-re", what, on(*counts), [Job(home)], [target], is_tie=True) for what, counts, home, target in TIES[1:]),
]  # fmt: skip

CASES = [*LEAST, *LWL, *IO_RE, *CM_RE, *WAL_RE]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_choice_worked_by_hand(case):
    case.check()
