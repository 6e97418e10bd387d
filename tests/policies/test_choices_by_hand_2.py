"""Decisions of the policies at odd places of the list, worked by hand on four nodes: what each rule says, and ties.

Here are those that decide when a task arrives; test_choices_by_hand_2_moving.py has those that move running tasks too,
test_choices_by_hand_2_waiting.py those that keep tasks waiting.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from by_hand import Worked, on, tasks
from four_nodes import Case, Job, decided
from test_choices_by_hand_2_moving import CASES as MOVING
from test_choices_by_hand_2_waiting import CASES as WAITING
from test_data_access import by_distance, data_map, needs
from test_load_class import HIGH, IDLE, LOW, NORMAL
from test_load_class import view_of as view_of_classes
from test_scores_of_nodes import NODE, task_of, view_of

from cluster_abm.policies import create
from cluster_abm.policies.capacities import capacities_of
from cluster_abm.policies.features import FEATURES
from cluster_abm.policies.scorer import Scorer
from cluster_abm.scenario.schema import PolicyChoice

E = "negotiation__remote_execution_ms"
UNLIKE, STALE = {"policy__heterogeneous": True}, {"negotiation__mode": "negotiated"}
# Ties of every policy that takes the least: tasks on each node, home, and where the newcomer goes. Home first, else the
# next one after it.
TIES = [
    ("home first", (1, 1, 2, 1), 1, 1), ("next after home", (1, 2, 1, 1), 1, 2), ("going round", (1, 1, 2, 2), 2, 0),
]  # fmt: skip

# ---- the least load ------------------------------------------------------------------------------------------------

# At 10 ms the four tasks on node 3 are at its disk, with requests of seconds: tasks 2, 1, 3, 4, CPU queues 2, 1, 3, 0.
AT_DISK = [*on(2, 1, 3, 0), *tasks(3, 4, io_per_ms=10.0, request_kb=4e6)]
# What moves takes 500 MB along, for half a minute: the cost is not asked.
HEAVY = Job(2, at_ms=11.0, initial_data_mb=500.0)
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

# ---- WAL-RE: W_CPU 0.5, W_IO 0.5 -------------------------------------------------------------------------------------

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

# ---- in turn, and drawn --------------------------------------------------------------------------------------------


def in_turn(turns: int) -> list[int]:
    """Nodes of speed 1, 1, 2 and 4, from node 1."""
    hardware = tuple(NODE._replace(cores=1, speed=speed) for speed in (1.0, 1.0, 2.0, 4.0))
    policy, notes = create(PolicyChoice(name="round-robin", heterogeneous=True)), {}
    found = []
    for number in range(turns):
        view = view_of(hardware, me=1, notes=notes)
        view.capacities = capacities_of(hardware)
        found.append(policy.place(task_of(number), view).target)
    return found


def drawn(d: int, *counts: int) -> int:
    """The task's numbers 0.6, 0.3, 0.9 and 0.2 draw node 2 of four, 0 of 0, 1, 3, then 3 of 1, 3, then 1."""
    view = view_of([NODE] * 4, tasks=counts)
    view.uniform = lambda task, draw: (0.6, 0.3, 0.9, 0.2)[draw]
    return create(PolicyChoice(name="power-of-d", d=d)).place(task_of(), view).target


IN_TURN = [
    Case("round-robin", "home first, blind to load", on(0, 0, 9, 9), [Job(2)] * 6, [2, 3, 0, 1, 2, 3]),
    Case("round-robin", "each home by itself", (), [Job(2), Job(0), Job(2), Job(0)], [2, 0, 3, 1]),
    # A turn earns 0.5, 0.5, 1 and 2, and costs 4. The richest before they pay: 2 on node 3; 2 on 2; 2 on 3; 2 on 0 and
    # on 1, which is home; 2.5 on 0; 4 on 3; 3 on 2; 4 on 3. Then all is paid, and it begins anew.
    Worked("round-robin", "by speed, home if equally rich", partial(in_turn, 16), [3, 2, 3, 1, 0, 3, 2, 3] * 2, True),
    Case("power-of-d", "all are drawn: the shortest, whatever it costs", on(3, 1, 2, 3), [HEAVY], [1],
         given={"policy__d": 4}),
    Worked("power-of-d", "one drawn", partial(drawn, 1, 0, 0, 9, 0), 2),
    Worked("power-of-d", "shorter of two drawn, others empty", partial(drawn, 2, 5, 0, 6, 0), 0),
    Worked("power-of-d", "shortest of three drawn", partial(drawn, 3, 5, 0, 6, 4), 3),
    Worked("power-of-d", "equal: the first drawn", partial(drawn, 2, 5, 0, 5, 0), 2, True),
    Worked("power-of-d", "two of four equal: the first drawn", partial(drawn, 4, 5, 1, 5, 1), 3, True),
]  # fmt: skip


def test_every_node_is_drawn():
    """Of 24 tasks, by a number of its own each: that one node gets none has a chance of 0.4 %."""
    assert set(decided("power-of-d", (), [Job(2)] * 24, policy__d=1).targets) == {0, 1, 2, 3}


# ---- no balancing --------------------------------------------------------------------------------------------------


def stays(policy: str) -> tuple[list[int], float]:
    """Four tasks of 10 ms of one home, the others empty: where they ran, one after another, and when all had ended."""
    model = decided(policy, on(0, 0, 3, 0, cpu_ms=10.0), [Job(2, 10.0)], until_ms=100.0).model
    frame = model.jobs_frame()
    assert model.decisions_frame().empty
    return frame["node"].tolist(), float(frame["finish_ms"].max())


AT_HOME = [Worked(name, "every task at home", partial(stays, name), ([2] * 4, 40.0)) for name in ("none", "no-ls")]

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

# ---- mean and deviation --------------------------------------------------------------------------------------------


def risk(*samples: list[float], memory_mb=0.0, task_mb=0.0, me: int = 3, **parameters: float) -> tuple[int, str]:
    """Where a task of one core of four, 25 %, goes after these samples of CPU utilisation [%]."""
    policy, notes = create(PolicyChoice(name="load-risk", **parameters)), {}
    for sample in samples:
        policy.relieve(view_of([NODE] * 4, notes=notes, cpu_percent=sample, memory_mb=memory_mb))
    decision = policy.place(task_of(memory_mb=task_mb), view_of([NODE] * 4, me=me, notes=notes))
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

# ---- data, then classes --------------------------------------------------------------------------------------------

# Nodes 0 to 2 are a cluster. File 0, 100 MB, lies on node 1: T is 0 there, 8 s on 0 and 2, 80 s on 3, the home. With
# file 1, 50 MB on node 0, T is 8, 4, 12 and 120 s.
CLUSTERS = [0, 0, 0, 1]
FILES = data_map(CLUSTERS, [100, 50], [[1], [0]], by_distance(CLUSTERS, 12.5, 1.25))


def by_data(
    *samples: tuple[float, float, float], free_mb: list[float] | None = None, files: tuple[int, ...] = (0,)
) -> int:
    view = view_of_classes(3, samples, free_mb)
    view.data = FILES
    return create(PolicyChoice(name="data-class")).place(needs(*files, home=3), view).target


DATA = [
    Worked("data-class", "least T, and idle", partial(by_data, IDLE, IDLE, IDLE, IDLE), 1),
    Worked("data-class", "idle and near", partial(by_data, NORMAL, LOW, IDLE, IDLE), 2),
    Worked("data-class", "idle and nearest", partial(by_data, IDLE, LOW, IDLE, IDLE, files=(0, 1)), 0),
    Worked("data-class", "home is idle, but not near", partial(by_data, NORMAL, LOW, NORMAL, IDLE), 1),
    Worked("data-class", "not from a normal node to a low one", partial(by_data, LOW, NORMAL, LOW, IDLE), 1),
    Worked("data-class", "from a high node to most free memory",
           partial(by_data, LOW, HIGH, LOW, IDLE, free_mb=[300.0, 0.0, 200.0, 400.0]), 0),
    # After node 1 come 2, 3, 0.
    Worked("data-class", "alike near: next after the file", partial(by_data, IDLE, LOW, IDLE, IDLE), 2, True),
    Worked("data-class", "as much free memory: next after the file",
           partial(by_data, LOW, HIGH, LOW, IDLE, free_mb=[200.0, 0.0, 200.0, 400.0]), 2, True),
]  # fmt: skip

ARRIVING = [*LEAST, *WAL_RE, *IN_TURN, *AT_HOME, *DISK_IO, *LEARNED, *RISK, *DATA]
CASES = [*ARRIVING, *MOVING, *WAITING]
# Where there is no tie, and why.
NO_TIE = {"none": "every task starts at home", "no-ls": "every task starts at home"}


@pytest.mark.parametrize("case", ARRIVING, ids=str)
def test_a_choice_worked_by_hand(case):
    case.check()
