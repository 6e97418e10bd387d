"""Memory-centric load sharing, worked by hand on four nodes.

A machine that pages sends a job away: the oldest (`age`), or the one with the most I/O (`io-active`), page faults
(`pf-rate`), memory (`working-set`), or activity (`combined`). Or jobs wait while it thrashes (`no-ls-blocking`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from by_hand import LONG, F, Worked, full, tasks
from four_nodes import Case, Job
from test_memory_centric import job as running
from test_memory_centric import policy as memory_centric
from test_memory_centric import view as machines

# ---- the oldest, the one that reads and writes most ----------------------------------------------------------------

# Machines of 10 MB, which look every second; CT = 3, MT = 0.
MACHINES = {
    "cluster__memory_mb": 10.0, "cluster__page_fault_rate_per_ms": 1e-9, "cluster__quantum_ms": 10.0,
    "policy__settling_ms": 0.0, "policy__delay_ms": 0.0, "policy__cpu_threshold": 3,
}  # fmt: skip


def uses(node: int, memory_mb: float, io_per_ms: float = 0.0, **more: float) -> Job:
    """A task that runs on, with so much memory."""
    return Job(node, LONG, io_per_ms, memory_mb, **more)


# Free: 0, 5, 9 and 9.7 MB, but node 3 has three jobs.
ROOMS = [uses(0, 10.0), uses(1, 5.0), uses(2, 1.0), *[uses(3, 0.1)] * 3]
# Node 0 has 12 of 10 MB. Its first task only computes and has the greater age; the second waits for its disk half of
# its time, and has more accesses.
PAIR = [uses(0, 6.0), uses(0, 6.0, 0.1)]
ELSEWHERE = [uses(1, 5.0), uses(2, 1.0), uses(3, 4.0)]
AGE_AND_IO = [
    case
    for policy, moved in (("age", 0), ("io-active", 1))
    for case in (
        Case(policy, "Q_o below MT: at home", [uses(0, 9.9), *ROOMS[1:]], [Job(0)], [0], given=MACHINES),
        Case(policy, "Q_o at MT: where most is free below CT", ROOMS, [Job(0)], [2], given=MACHINES),
        Case(policy, "CT jobs at home", ROOMS, [Job(3)], [2], given=MACHINES),
        Case(policy, "no machine takes it: it waits", [uses(node, 10.0) for node in range(4)], [Job(0)], [],
             given=MACHINES),
        Case(policy, "the job that moves", [*PAIR, *ELSEWHERE], (), [], [(moved, 0, 2)], until_ms=1100,
             given=MACHINES),
        Case(policy, "MT = 0: it pages for a while first", [*PAIR, *ELSEWHERE], (), [], [], until_ms=1100,
             given=MACHINES | {"policy__delay_ms": 2000.0}),
        Case(policy, "exactly full is not paging", [uses(0, 4.0), *PAIR[1:], *ELSEWHERE], (), [], [], until_ms=1100,
             given=MACHINES),
        Case(policy, "no machine has room", [*PAIR, *(uses(node, 10.0) for node in (1, 2, 3))], (), [], [],
             until_ms=1100, given=MACHINES),
        Case(policy, "more than CT jobs", [*[uses(0, 1.0, 0.1)] * 2, *[uses(0, 0.5)] * 2, *ELSEWHERE], (), [],
             [(2 if policy == "age" else 0, 0, 2)], until_ms=1100, is_tie=True, given=MACHINES),
        Case(policy, "submission: the next after home", [uses(2, 10.0), uses(0, 1.0), uses(1, 1.0), uses(3, 1.0)],
             [Job(2)], [3], is_tie=True, given=MACHINES),
        Case(policy, "migration: the first job, to the next after home",
             [*[uses(2, 6.0)] * 2, uses(0, 1.0), uses(1, 1.0), uses(3, 1.0)], (), [], [(0, 2, 3)], is_tie=True,
             until_ms=1100, given=MACHINES),
    )
] + [
    # 20 MB of data through network and both disks take 20 (7.8 + 25 + 25) = 1156 ms, more than it can have computed in
    # a second: the next oldest moves. A migration that takes 1 s and more is paid for by none.
    Case("age", "the oldest of those that pay", [uses(0, 6.0, initial_data_mb=20.0), *PAIR[1:], *ELSEWHERE], (), [],
         [(1, 0, 2)], until_ms=1100, given=MACHINES),
    Case("age", "none pays", [*PAIR, *ELSEWHERE], (), [], [], until_ms=1100,
         given=MACHINES | {F: 1000.0}),
]  # fmt: skip

# ---- waiting at home -----------------------------------------------------------------------------------------------

BLOCKING = {"cluster__memory_mb": 10.0, "cluster__page_fault_rate_per_ms": 1e-9}
# Q_o = 0.5 on node 0, just below on node 1.
THRASHES = [uses(0, 15.0), uses(1, 14.9)]
NO_LS_BLOCKING = [
    Case("no-ls-blocking", "it waits while its machine thrashes", THRASHES, [Job(0), Job(1), Job(3)], [1, 3],
         order=[1, 2], until_ms=1100, rules=["does not thrash"] * 2, given=BLOCKING | {"policy__settling_ms": 0.0}),
    # Node 0 started a job at 0: the next one starts when 10 s have passed; node 1 has started none.
    Case("no-ls-blocking", "just before it has settled", full(0), [Job(0), Job(1)], [1], order=[1], until_ms=9990,
         given=BLOCKING),
    Case("no-ls-blocking", "when it has settled", full(0), [Job(0), Job(1)], [1, 0], order=[1, 0], until_ms=10_010,
         given=BLOCKING),
]  # fmt: skip

# ---- the loop of every machine -------------------------------------------------------------------------------------

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

# ---- which job -----------------------------------------------------------------------------------------------------

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

CASES = [*AGE_AND_IO, *NO_LS_BLOCKING, *LOOP, *JOBS]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_choice_worked_by_hand(case):
    case.check()
