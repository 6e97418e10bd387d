"""Decisions of the policies at odd places of the list that keep tasks waiting, worked by hand on four nodes.

A slot is free, and an end is known, when the slice of 10 ms is over in which a task ends.
"""

from __future__ import annotations

import pytest
from by_hand import Worked, on, tasks
from four_nodes import Case, Job, decided

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

# Every node tells within 50 ms, and every 50 ms.
TOLD = {"policy__intervals": "fixed", "policy__update_ms": 50.0}
UNTOLD = {"policy__intervals": "fixed", "policy__update_ms": 1e6}
SPARSE = [
    # 2, 2, 0, 2 are told; each task sent counts one.
    Case("sparse-jsq", "lowest estimate", on(2, 2, 0, 2), [Job(3, at_ms=61.0), Job(3, at_ms=62.0)], [2, 2], given=TOLD),
    # Node 1 has two tasks or more until 50 ms, and none from 100 ms on, which it tells by 150 ms.
    Case(
        "sparse-jsq",
        "told again",
        [*on(2, 0, 1, 2, cpu_ms=500.0), *tasks(1, 4, 25.0)],
        [Job(3, at_ms=161.0)],
        [1],
        given=TOLD,
    ),
]


def sent(seed: int, count: int, **more) -> list[int]:
    return sorted(decided("sparse-jsq", (), [Job(2, 5.0)] * count, seed=seed, **UNTOLD, **more).targets)


SPARSE += [
    # What is not told is not known to have ended: 0, 1, ... of each, drawn among those alike.
    Worked("sparse-jsq", f"alike: one each, seed {seed}", lambda seed=seed: sent(seed, 8), [0, 0, 1, 1, 2, 2, 3, 3],
           True)
    for seed in range(3)
]  # fmt: skip


def test_nodes_alike_are_drawn():
    assert {decided("sparse-jsq", (), [Job(2)], seed=seed, **UNTOLD).targets[0] for seed in range(16)} == {0, 1, 2, 3}


def test_of_nodes_alike_that_are_probed_the_first_in_a_random_order():
    targets = {
        decided("batch-sampling", on(0, 0, 1, 0), [Job(2)], seed=seed, **ALL_PROBED).targets[0] for seed in range(12)
    }
    assert targets == {0, 1, 3}


# ---- EASY ----------------------------------------------------------------------------------------------------------

# Three nodes from home on, 1, 2, 3, until 95 ms; then the head of the queue, for all four: at 100 ms, its shadow time.
FIRST, HEAD = Job(1, 95.0, tasks=3, requested_ms=95.0), Job(1, 45.0, tasks=4, requested_ms=45.0, at_ms=2.0)
NARROW_HEAD = HEAD._replace(tasks=3)
UNTIL = {"until_ms": 60.0}


def asks(requested_ms, at_ms=4.0, **more):
    """A job that ends long before what it asks for."""
    return Job(2, 5.0, requested_ms=requested_ms, at_ms=at_ms, **more)


EASY = [
    # 4 + 95 ms: in the slice that is over at 100 ms. 4 + 96 ms: an end at a border is known at the next one.
    Case("easy", "it just ends by the shadow time", (), [FIRST, HEAD, asks(95.0)], [1, 2, 3, 0], order=[0, 1, 2, 7],
         **UNTIL),
    Case("easy", "it ends after the shadow time", (), [FIRST, HEAD, asks(96.0)], [1, 2, 3], order=[0, 1, 2], **UNTIL),
    # For a head of three, one core is extra: as long as it likes; two do not fit now.
    Case("easy", "in the extra core", (), [FIRST, NARROW_HEAD, asks(1e4)], [1, 2, 3, 0], order=[0, 1, 2, 6], **UNTIL),
    Case("easy", "more than is free", (), [FIRST, NARROW_HEAD, asks(50.0, tasks=2)], [1, 2, 3], **UNTIL),
    Case("easy", "the second may pass as well", (), [FIRST, HEAD, asks(1e4), asks(50.0, 5.0)], [1, 2, 3, 0],
         order=[0, 1, 2, 8], **UNTIL),
    # Of two alike the one submitted first; the other one when it has ended, at 20 ms.
    Case("easy", "alike: first come", (), [FIRST, HEAD, asks(60.0, 4.0), asks(60.0, 5.0)], [1, 2, 3, 0, 0],
         order=[0, 1, 2, 7, 8], is_tie=True, **UNTIL),
    Case("easy", "all free: home, then the next ones", (), [Job(2, requested_ms=100.0, tasks=4)], [2, 3, 0, 1],
         is_tie=True),
]  # fmt: skip

# ---- Tetris ----------------------------------------------------------------------------------------------------------

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

CASES = [*CENTRAL, *SAMPLING, *SPARSE, *EASY, *TETRIS]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_wait_worked_by_hand(case):
    case.check()
