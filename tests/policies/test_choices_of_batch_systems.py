"""Policies under which jobs wait for nodes of their own, worked by hand on four nodes.

First come first served (`batch-system`), or smaller jobs pass (`easy`, `conservative`). A slot is free, and an end is
known, when the slice of 10 ms is over in which a task ends.
"""

from __future__ import annotations

import pytest
from four_nodes import Case, Job

# ---- first come, first served --------------------------------------------------------------------------------------

IN_TURN = ["first come first served"]
BATCH = [
    # Job 0 has nodes 1 and 2 until 101. Job 1 needs three; job 2 would fit at once, and waits behind it.
    Case(
        "batch-system", "no job overtakes another", (), [Job(1, tasks=2), Job(0, at_ms=2, tasks=3), Job(3, at_ms=3)],
        [1, 2, 0, 1, 2, 3], rules=IN_TURN * 6, order=range(6), until_ms=200,
    ),
    Case("batch-system", "home, then the next ones", (), [Job(3, tasks=2)], [3, 0], is_tie=True),
]  # fmt: skip

# ---- a job that would delay the head of the queue waits ------------------------------------------------------------

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

# ---- a job that would delay another waits --------------------------------------------------------------------------


def job(home: int, tasks: int, at_ms: float, cpu_ms: float = 100.0) -> Job:
    """A job that requests what it takes."""
    return Job(home, cpu_ms, at_ms=at_ms, tasks=tasks, requested_ms=cpu_ms)


CONSERVATIVE = [
    # Tasks 0-1 run until 101. Job 1 (tasks 2-4) gets three nodes then, job 2 (5-8) all four when that has ended. Job 3
    # (task 9) would take the fourth node for 500 ms: job 1 would not mind, but job 2 would start later. Job 4 (task 10)
    # has ended before either.
    Case(
        "conservative", "it may delay none of those before it", (),
        [job(0, 2, 1), job(0, 3, 2), job(0, 4, 3), job(3, 1, 4, 500.0), job(2, 1, 5, 50.0)],
        [0, 1, 2, 0, 1, 2, 0, 1, 2, 3, 3], order=[0, 1, 10, 2, 3, 4, 5, 6, 7, 8, 9], until_ms=400,
        rules=["head of the queue"] * 2 + ["backfilling"] + ["head of the queue"] * 8,
    ),
    # Job 2 (task 3) begins in the slice at 0 and lasts 90 ms: until 93, known at 100; job 0 ends at 101, known at 110.
    # Had it 110 ms it would end at 113, after the reservation.
    Case(
        "conservative", "it ends before a reservation", (), [job(0, 3, 1), job(0, 4, 2), job(2, 1, 3, 90.0)],
        [0, 1, 2, 3, 0, 1, 2, 3], order=[0, 1, 2, 7, 3, 4, 5, 6], until_ms=200,
    ),
    Case(
        "conservative", "it ends after a reservation", (), [job(0, 3, 1), job(0, 4, 2), job(2, 1, 3, 110.0)],
        [0, 1, 2, 0, 1, 2, 3, 2], order=range(8), until_ms=300,
    ),
    # Jobs alike start in the order of submission, each at its home if that is free.
    Case(
        "conservative", "jobs alike: the first submitted", (), [job(0, 4, 1), job(2, 4, 2), job(1, 4, 3)],
        [0, 1, 2, 3, 2, 3, 0, 1], order=range(8), is_tie=True, until_ms=200,
    ),
]  # fmt: skip

CASES = [*BATCH, *EASY, *CONSERVATIVE]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_choice_worked_by_hand(case):
    case.check()
