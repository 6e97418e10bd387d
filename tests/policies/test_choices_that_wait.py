"""Policies under which tasks wait until a node is ready for them, worked by hand on four nodes.

They wait for a free slot (`central-queue`, `batch-sampling`, `hawk`, `eagle`, `work-stealing`), or for room for all
that they need (`tetris`). A slot is free, and an end is known, when the slice of 10 ms is over in which a task ends.
"""

from __future__ import annotations

import pytest
from by_hand import Drawn, Worked, full, on, tasks
from four_nodes import Case, Job, decided

# ---- one queue, and queues of probes -------------------------------------------------------------------------------

# Tasks end at 55, 35, 45 and 200 ms: slots are free at 60, 40, 50 and 200 ms.
ENDING = [Job(0, 55.0), Job(1, 35.0), Job(2, 45.0), Job(3, 200.0)]

CENTRAL = [
    Case("central-queue", "the oldest to the first free slot", ENDING, [Job(3, at_ms=at) for at in (1.0, 2.0, 3.0)],
         [1, 2, 0], order=[0, 1, 2], until_ms=70.0),
    # Node 1's end is known first; of the ends of one slice the lower node's is known first, whichever was earlier.
    Case("central-queue", "free in one slice", [Job(0, 55.0), Job(1, 25.0), Job(2, 37.0), Job(3, 32.0)],
         [Job(0, at_ms=at) for at in (1.0, 2.0, 3.0)], [1, 2, 3], order=[0, 1, 2], until_ms=70.0, is_tie=True),
    Case("central-queue", "all free: in the order of nodes", (), [Job(2, 500.0)] * 5, [0, 1, 2, 3], is_tie=True,
         until_ms=50.0),
    Case("central-queue", "two slots a core", on(2, 1, 2, 2), [Job(0)], [1], given={"policy__slots_per_core": 2}),
    # Node 2's tasks end at 15 and 30 ms: two slots, announced one after the other, and not three.
    Case("central-queue", "each slot once", [*on(2, 2, 0, 2, cpu_ms=500.0), *tasks(2, 2, 15.0)],
         [Job(0, 500.0, at_ms=41.0)] * 3, [2, 2], until_ms=60.0, given={"policy__slots_per_core": 2}),
]  # fmt: skip

ALL_PROBED = {"policy__probe_ratio": 4.0}
SLOW = {"interconnect__latency_ms": 1.0}
SAMPLING = [
    # Two tasks probe 2 2 nodes, all: the first two that have a free slot get one each.
    Case("batch-sampling", "late binding", ENDING, [Job(3, tasks=2)], [1, 2], until_ms=70.0),
    Case("batch-sampling", "the one node with a free slot", on(1, 1, 0, 1), [Job(3)], [2], given=ALL_PROBED),
    # Every node has places for both jobs: 1 asks the older one at 40 ms, 2 the other one at 50 ms.
    Case("batch-sampling", "places in their order", ENDING, [Job(3, at_ms=1.0), Job(3, at_ms=2.0)], [1, 2],
         order=[0, 1], until_ms=70.0, given=ALL_PROBED),
    # Node 2 has asked for one, and has no slot for the other one until that has ended.
    Case("batch-sampling", "a slot that is asked for is taken", on(1, 1, 0, 1), [Job(3, 5.0), Job(3, at_ms=1.5)], [2],
         order=[0], until_ms=5.0, given=ALL_PROBED | SLOW),
    Case("batch-sampling", "a slot that was taken is free again", on(1, 1, 0, 1), [Job(3, 5.0), Job(3, at_ms=1.5)],
         [2, 2], order=[0, 1], until_ms=30.0, given=ALL_PROBED),
    Worked(
        "batch-sampling", "probes for each task",
        lambda: sorted(decided("batch-sampling", (), [Job(3, tasks=4)], policy__probe_ratio=1.0).targets), [0, 1, 2, 3],
    ),
    Case("batch-sampling", "all free: home needs no message", (), [Job(2)], [2], given=ALL_PROBED | SLOW, is_tie=True),
    # Half a probe is one; none would never be answered.
    Worked(
        "batch-sampling", "probes are rounded up",
        lambda: len(decided("batch-sampling", (), [Job(3)], policy__probe_ratio=0.5).targets), 1,
    ),
]  # fmt: skip


def test_of_nodes_alike_that_are_probed_the_first_in_a_random_order():
    targets = {
        decided("batch-sampling", on(0, 0, 1, 0), [Job(2)], seed=seed, **ALL_PROBED).targets[0] for seed in range(12)
    }
    assert targets == {0, 1, 3}


# ---- long tasks and short ones -------------------------------------------------------------------------------------

BY_SIZE = {"policy__long_ms": 150.0, "policy__short_share": 0.25}
LONGS = [Job(0, 1000.0, at_ms=at_ms) for at_ms in (1, 2, 3)]
IN_QUEUE, BOUND = "next in the node's queue", "late binding: a slot is free"
LONG_AND_SHORT = [
    # One of four nodes is kept for short tasks. Long ones: 300, 200 and 400 ms on nodes 1-3, then behind the 200.
    *(
        case
        for policy in ("hawk", "eagle")
        for case in (
            Case(
                policy, "long tasks to the least work, outside the short partition", (),
                [Job(0, 300.0), Job(0, 200.0, at_ms=2), Job(0, 400.0, at_ms=3), Job(0, 500.0, at_ms=4)], [1, 2, 3, 2],
                rules=[IN_QUEUE] * 4, order=range(4), until_ms=500, given=BY_SIZE,
            ),
            # 150 ms are not above 150 ms.
            Case(policy, "a short task to a free node", (), [*LONGS, Job(1, 150.0, at_ms=4)], [1, 2, 3, 0],
                 rules=[*[IN_QUEUE] * 3, BOUND], given=BY_SIZE | {"policy__probe_ratio": 4.0}),
            Case(policy, "no long work: by their numbers", (), LONGS, [1, 2, 3], is_tie=True, given=BY_SIZE),
        )
    ),
    # One probe for a job of two tasks, which only node 0 does not refuse. When the first has ended, the node asks for
    # the second; the later job waits.
    Case(
        "eagle", "it finishes the job that it had first", (),
        [*LONGS, Job(1, 20.0, at_ms=4, tasks=2), Job(1, 20.0, at_ms=5)], [1, 2, 3, 0, 0, 0], order=range(6),
        until_ms=100, given=BY_SIZE | {"policy__probe_ratio": 0.5},
    ),
]  # fmt: skip


@pytest.mark.parametrize("policy", ["hawk", "eagle"])
def test_four_short_tasks_probe_four_free_nodes_and_start_there_at_once(policy):
    seen = decided(policy, (), [Job(1, 20.0, tasks=4)], **BY_SIZE, policy__probe_ratio=1.0)
    assert sorted(seen.targets) == [0, 1, 2, 3]


@pytest.mark.slow
def test_hawk_steals_from_nodes_that_may_have_long_tasks_only():
    """Nodes 0-2 are kept for short tasks, so that node 0 has one node to ask: one attempt does what ten do."""
    given = {"policy__long_ms": 150.0, "policy__short_share": 0.75, "policy__probe_ratio": 1.0}
    comes = [Job(0, 1000.0), Job(1, 20.0, at_ms=4)]
    starts = []
    for attempts in (1, 10):
        runs = [
            decided("hawk", [Job(0, 30.0), *full(1, 2)], comes, until_ms=60, seed=seed, **given,
                    policy__steal_attempts=attempts)
            for seed in range(12)
        ]  # fmt: skip
        starts.append([len(seen.targets) for seen in runs])
    assert starts[0] == starts[1]
    # Of twelve places some are on nodes 0 or 3, and some behind what runs on 1 and 2.
    assert set(starts[0]) == {1, 2}


@pytest.mark.parametrize("seed", range(5))
def test_hawks_idle_node_steals_a_short_task_from_behind_a_long_one(seed):
    """The short job has one place, on some node. Node 0, whose task has ended at 30, is the only idle one at 40."""
    seen = decided(
        "hawk", [Job(0, 30.0)], [*LONGS, Job(1, 20.0, at_ms=4)], until_ms=200, seed=seed, **BY_SIZE,
        policy__probe_ratio=1.0,
    )  # fmt: skip
    assert (seen.of(3).target, seen.of(3).time_ms, seen.of(3).rule) == (0, 40.0, BOUND)


@pytest.mark.parametrize("seed", range(5))
def test_eagles_nodes_with_a_long_task_refuse_a_short_one(seed):
    """One place, on whichever node: it is refused until it is on node 0, which is free, in no time."""
    seen = decided("eagle", (), [*LONGS, Job(1, 20.0, at_ms=4)], seed=seed, **BY_SIZE, policy__probe_ratio=1.0)
    assert seen.targets == [1, 2, 3, 0]


# ---- stealing ------------------------------------------------------------------------------------------------------

STEALING = [
    # At 10 ms node 2 gets the newer half of four tasks and starts the older of them; later the newer of the other two.
    Case(
        "work-stealing", "the newest half", full(0, 1, 3), [Job(0, at_ms=at) for at in (1, 2, 3, 4)], [2] * 4,
        order=[2, 3, 1, 0], rules=["stolen"] * 4, until_ms=600,
        given={"policy__retry_slices": 1, "policy__victims": "all"},
    ),
    Case(
        "work-stealing", "one task", full(0, 1, 3), [Job(0, at_ms=at) for at in (1, 2, 3, 4)], [2] * 4,
        order=[3, 2, 1, 0], until_ms=600,
        given={"policy__retry_slices": 1, "policy__victims": "all", "policy__amount": "one"},
    ),
    Case("work-stealing", "those that wait here: the oldest", full(0, 2, 3), [Job(1, at_ms=at) for at in (1, 2)],
         [1, 1], order=[0, 1], rules=["next of those that wait here"] * 2, until_ms=150),
    # One waits at node 0 and one at node 1: the thief asks one of them first.
    Drawn("work-stealing", full(0, 1, 3), [Job(0), Job(1)], {0, 1}, place=None, given={"policy__retry_slices": 1}),
]  # fmt: skip

# ---- Tetris --------------------------------------------------------------------------------------------------------

# It needs half a core, half a disk and 0.2 of the memory. Left are half of both and 0.9, 0.5 and 0.2 of the memory on
# 0, 1 and 2; a core, no disk on 3. Dot products 0.5 + 0.18, 0.5 + 0.1 and, at home, 0.5 + 0.04.
NEEDS = Job(2, 100.0, 0.1, memory_mb=200.0)
LEFT = [Job(0, io_per_ms=0.1, memory_mb=100.0), Job(1, io_per_ms=0.1, memory_mb=500.0),
        Job(2, io_per_ms=0.1, memory_mb=800.0), Job(3)]  # fmt: skip
TETRIS = [
    # A remote one counts a tenth less: 0.612 is still more than 0.54.
    Case("tetris", "largest dot product", LEFT, [NEEDS], [0], until_ms=20.0),
    # 0.476 is not.
    Case("tetris", "home by the penalty", LEFT, [NEEDS], [2], until_ms=20.0, given={"policy__remote_penalty": 0.3}),
    # One MB more does not fit at home.
    Case("tetris", "it has to fit", LEFT, [NEEDS._replace(memory_mb=201.0)], [0], until_ms=20.0,
         given={"policy__remote_penalty": 0.3}),
    Case("tetris", "it just fits", [*tasks(0, 1), *tasks(1, 1), *LEFT[2:]], [NEEDS], [2], until_ms=20.0),
    Case("tetris", "as well at home", on(1, 0, 0, 0), [Job(2)], [2], until_ms=20.0, is_tie=True),
    Case("tetris", "as well on several others: the first", on(1, 0, 1, 0), [Job(2)], [1], until_ms=20.0, is_tie=True),
    Case("tetris", "of jobs alike the oldest", on(1, 0, 1, 1, cpu_ms=1e4), [Job(2, 1e4), Job(2, 1e4, at_ms=2.0)], [1],
         order=[0], until_ms=20.0, is_tie=True),
]  # fmt: skip

CASES = [*CENTRAL, *SAMPLING, *LONG_AND_SHORT, *STEALING, *TETRIS]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_choice_worked_by_hand(case):
    case.check()
