"""Policies that give each node a score or a class, worked by hand on four nodes.

A score is of utilisation (`target-load`, `load-risk`), of the disk (`disk-io-score`), or learnt (`learned`). Classes
are of load (`load-class`).
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from by_hand import LONG, TIES, Worked, on, tasks
from four_nodes import Case, Job, decided
from test_scores_of_nodes import NODE, samples_of, task_of, view_of

from cluster_abm.policies import create
from cluster_abm.policy.parts.features import FEATURES
from cluster_abm.policy.parts.scorer import Scorer
from cluster_abm.scenario.schema import PolicyChoice

# ---- target utilisation --------------------------------------------------------------------------------------------

# Nodes of four cores; a task that only computes uses one of them, 25 %; one that reads half of its time 12.5 %.
FOUR_CORES = {"cluster__cores": 4, "negotiation__mode": "negotiated"}
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

# ---- mean and deviation --------------------------------------------------------------------------------------------


def risk(*samples: list[float], memory_mb=0.0, task_mb=0.0, me: int = 3, **parameters: float) -> tuple[int, str]:
    """Where a task of one core of four, 25 %, goes after these samples of CPU utilisation [%]."""
    policy = create(PolicyChoice(name="load-risk", **parameters))
    taken = samples_of([NODE] * 4, *({"cpu_percent": sample, "memory_mb": memory_mb} for sample in samples))
    decision = policy.place(task_of(memory_mb=task_mb), view_of([NODE] * 4, me=me, samples=taken))
    return decision.target, decision.rule


# Node 0 is steady at 41 %, 1 has 1 and 61 %, 2 always 51 and 3 always 61: with the task mu = 0.66, 0.56, 0.76, 0.86,
# sigma 0.3 on node 1, 100 (1 - (mu + sigma)/2) = 67, 57, 62, 57.
UNSTEADY = ([41.0, 1.0, 51.0, 61.0], [41.0, 61.0, 51.0, 61.0])
RISK = [
    Worked("load-risk", "least mean and deviation", partial(risk, *UNSTEADY), (0, "score 67")),
    Worked("load-risk", "least mean", partial(risk, *UNSTEADY, margin=0.0), (1, "score 72")),
    # With the task's 10 MB 90, 60, 100 and 95 of 100 MB.
    Worked(
        "load-risk", "least memory", partial(risk, [0.0] * 4, memory_mb=[80.0, 50.0, 90.0, 85.0], task_mb=10.0),
        (1, "score 70"),
    ),
    # 69.8, 69.6, 70 and 69.5 are 70 as whole numbers.
    Worked("load-risk", "equal scores: least mean", partial(risk, [35.4, 35.8, 35.0, 36.0]), (2, "score 70")),
    # Spreads of 2 sigma^2: mu 0.68, sigma 0.4 and mu 0.92, sigma 0.2 both make 1. mu + 2 sigma is 1.48 and 1.32; mu,
    # mu + sigma and mu - 2 sigma are less on node 0.
    Worked(
        "load-risk", "equal scores: least mean and deviation",
        partial(risk, [3.0, 47.0, 0.0, 0.0], [83.0, 87.0, 100.0, 100.0], margin=2.0, sensitivity=0.5), (1, "score 50"),
    ),
    # 0.8 on node 0; 0.56 + 2 0.09 = 0.74 on node 1, whose mu + 2 sigma is 1.16.
    Worked(
        "load-risk", "the score before all", partial(risk, [55.0, 1.0, 90.0, 90.0], [55.0, 61.0, 90.0, 90.0],
                                                     margin=2.0, sensitivity=0.5), (1, "score 63"),
    ),
    # Whatever is above 100 % scores 50: 120, 115, 112, 118 %.
    Worked("load-risk", "equal scores: not clipped", partial(risk, [95.0, 90.0, 87.0, 93.0]), (2, "score 50")),
    # CPU 120, 110, 110, 110 %; memory 20, 150, 130, 140 %: the worse of the two is least on node 0.
    Worked(
        "load-risk", "equal scores: the worse of CPU and memory",
        partial(risk, [95.0, 85.0, 85.0, 85.0], memory_mb=[20.0, 150.0, 130.0, 140.0]), (0, "score 50"),
    ),
    *(
        Worked("load-risk", what, partial(risk, [10.0 * one for one in counts], me=home), (target, "score 83"), True)
        for what, counts, home, target in TIES
    ),
]  # fmt: skip

# ---- disk bandwidth ------------------------------------------------------------------------------------------------

# Each reader takes a quarter of 40 MB/s: 20, 30, 40 and 10 MB/s are left where there are two, one, none and three.
READER = 1.0 / 30.0
DISKS = [*tasks(0, 2, io_per_ms=READER), Job(1, io_per_ms=READER), *tasks(3, 3, io_per_ms=READER)]
# Exactly 20 MB/s are left on node 0, 30 on 2.
HALF = [Job(0, io_per_ms=0.1), Job(2, io_per_ms=READER)]
PACKED = {"policy__strategy": "most-allocated"}
MOST_LEFT = ["most disk bandwidth left"]
# lambda s = 1: at its disk for half of the time, it needs R = 20 MB/s; one at 9 needs 36.
HALF_THE_TIME, MOST_OF_THE_TIME = 0.1, 0.9
DISK_IO = [
    # 100 (T - R)/T: 0, 33, 50, and too little.
    Case("disk-io-score", "most left", DISKS, [Job(0, io_per_ms=HALF_THE_TIME, initial_data_mb=500.0)], [2],
         rules=["score 50"]),
    # 100 R/T: 50, 67, 50, and too little on node 3.
    Case("disk-io-score", "least left", DISKS[2:], [Job(0, io_per_ms=HALF_THE_TIME)], [1], rules=["score 67"],
         given=PACKED),
    Case("disk-io-score", "exactly enough", HALF, [Job(1, io_per_ms=HALF_THE_TIME)], [0], rules=["score 100"],
         given=PACKED),
    Case("disk-io-score", "exactly enough everywhere", on(1, 1, 1, 1, io_per_ms=0.1), [Job(1, io_per_ms=HALF_THE_TIME)],
         [1], rules=["score 0"], is_tie=True),
    Case("disk-io-score", "too little everywhere", [*DISKS, *tasks(2, 2, io_per_ms=READER)],
         [Job(0, io_per_ms=MOST_OF_THE_TIME)], [1], rules=MOST_LEFT),
    Case("disk-io-score", "too little everywhere, home first", on(1, 1, 1, 1, io_per_ms=READER),
         [Job(2, io_per_ms=MOST_OF_THE_TIME)], [2], rules=MOST_LEFT, is_tie=True),
    *(
        Case("disk-io-score", what, on(*(count - 1 for count in counts), io_per_ms=READER),
             [Job(home, io_per_ms=HALF_THE_TIME)], [target], rules=["score 50"], is_tie=True)
        for what, counts, home, target in TIES
    ),
]  # fmt: skip

# ---- learnt weights ------------------------------------------------------------------------------------------------


def by_fewest_tasks(counts: tuple[int, ...], home: int) -> list[int]:
    """Where weights put a task that say -1 for tasks and 0 for all else."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "weights.json"
        Scorer.linear([-1.0 if name == "tasks" else 0.0 for name in FEATURES]).save(file)
        return decided("learned", on(*counts), [Job(home)], policy__file=str(file)).targets


# Shipped: home 0.503; n tasks of a second, which only compute, (-1 + 0.345) n/(n + 4) - 0.673 n/(n + 1): 0, -0.467,
# -0.667, -0.785 for n = 0 to 3, -1.23 for 30; and noise of up to 0.146.
SECOND = Job(2, 1000.0)
LEARNED = [
    Case("learned", "highest score", on(0, 2, 3, 2, cpu_ms=1000.0), [SECOND], [0], rules=["highest score"]),
    Case("learned", "home by its weight", on(1, 1, 1, 1, cpu_ms=1000.0), [SECOND], [2]),
    # A task with a second of I/O on node 0: -0.2 - 0.336 - 0.989/2 + 0.345 0.5/4.5 = -0.992.
    Case("learned", "its disk counts", [Job(0, 1000.0, 0.1), *on(0, 1, 30, 9, cpu_ms=1000.0)], [SECOND], [1]),
    *(
        Worked("learned", what, partial(by_fewest_tasks, counts, home), [target], True)
        for what, counts, home, target in TIES
    ),
]

# ---- classes of load -----------------------------------------------------------------------------------------------

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

CASES = [*TARGET_LOAD, *RISK, *DISK_IO, *LEARNED, *LOAD_CLASS]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_choice_worked_by_hand(case):
    case.check()
