"""Policies that know of some nodes only, worked by hand on four nodes.

A few nodes are asked (`power-of-d`, `jsq-memory`, `prequal`). Or nodes tell by themselves: that they are idle (`jiq`,
`persistent-idle`), or how many tasks they have (`sparse-jsq`).
"""

from __future__ import annotations

from functools import partial

import pytest
from by_hand import HEAVY, LONG, SIZED, Drawn, Worked, full, on, tasks
from four_nodes import Case, Job, decided
from test_scores_of_nodes import NODE, task_of, view_of

from cluster_abm.policies import create
from cluster_abm.scenario.schema import PolicyChoice

EQUAL = [Job(0, LONG)] * 2

# ---- the shortest of those drawn -----------------------------------------------------------------------------------


def drawn(d: int, *counts: int) -> int:
    """The task's numbers 0.6, 0.3, 0.9 and 0.2 draw node 2 of four, 0 of 0, 1, 3, then 3 of 1, 3, then 1."""
    view = view_of([NODE] * 4, tasks=counts)
    view.uniform = lambda task, draw: (0.6, 0.3, 0.9, 0.2)[draw]
    return create(PolicyChoice(name="power-of-d", d=d)).place(task_of(), view).target


POWER_OF_D = [
    Case("power-of-d", "all are drawn: the shortest, whatever it costs", on(3, 1, 2, 3), [HEAVY], [1],
         given={"policy__d": 4}),
    Worked("power-of-d", "one drawn", partial(drawn, 1, 0, 0, 9, 0), 2),
    Worked("power-of-d", "shorter of two drawn, others empty", partial(drawn, 2, 5, 0, 6, 0), 0),
    Worked("power-of-d", "shortest of three drawn", partial(drawn, 3, 5, 0, 6, 4), 3),
    Worked("power-of-d", "equal: the first drawn", partial(drawn, 2, 5, 0, 5, 0), 2, True),
    Worked("power-of-d", "two of four equal: the first drawn", partial(drawn, 4, 5, 1, 5, 1), 3, True),
]  # fmt: skip


def test_power_of_d_draws_every_node():
    """Of 24 tasks, by a number of its own each: that one node gets none has a chance of 0.4 %."""
    assert set(decided("power-of-d", (), [Job(2)] * 24, policy__d=1).targets) == {0, 1, 2, 3}


# ---- the shortest of those drawn and remembered --------------------------------------------------------------------

SHORTEST = [Job(node, LONG) for node, count in enumerate((5, 4, 1, 3)) for _ in range(count)]
JSQ_MEMORY = [
    Case("jsq-memory", "fewest tasks of those probed", SHORTEST, [Job(0, LONG), Job(0, LONG, at_ms=2)], [2, 2],
         rules=["shortest of 4"] * 2, given={"policy__d": 4}),
    Drawn("jsq-memory", full(0, 1, 2, 3), EQUAL, {0, 1, 2, 3}, given={"policy__d": 4}),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_jsq_memory_remembers_the_emptiest_node_it_has_seen(seed):
    """Nodes 0-2 have nine tasks, node 3 none. One node is drawn for each task; once it was 3, that is probed again, and
    stays the emptiest until it has nine."""
    there = [Job(node, LONG) for node in range(3) for _ in range(9)]
    seen = decided("jsq-memory", there, [Job(0, LONG, at_ms=at) for at in range(1, 10)], seed=seed, policy__d=1)
    first = seen.targets.index(3)
    assert seen.targets[first:] == [3] * (9 - first)
    assert [row.rule for row in seen.decisions] == ["shortest of 1"] + ["shortest of 2"] * 8


def test_jsq_memory_remembers_the_emptiest_with_the_task_that_it_has_sent():
    """All have one task: the one that got another is not the emptiest any more."""
    seen = decided("jsq-memory", full(0, 1, 2, 3), [Job(0, LONG)], policy__d=4)
    [remembered] = seen.model.load_managers[0].notes.remembered
    assert [remembered] != seen.targets


@pytest.mark.parametrize(("comes", "given"), [
    ([Job(0, LONG, tasks=4)], {}),
    # Each question takes 2 ms, and so does its answer: all are on their way when the first task is sent, at 5 ms.
    (
        [Job(0, LONG, at_ms=1.0 + place / 2) for place in range(4)],
        {"negotiation__mode": "negotiated", "interconnect__latency_ms": 2.0},
    ),
])  # fmt: skip
def test_jsq_memory_counts_what_it_sent_while_it_was_probing(comes, given):
    """Queues 5, 4, 1 and 3, and four tasks: two to node 2, then one to each of nodes 2 and 3."""
    seen = decided("jsq-memory", SHORTEST, comes, policy__d=4, **given)
    assert seen.targets[:2] == [2, 2]
    assert sorted(seen.targets[2:]) == [2, 3]
    # What was sent is forgotten once no task is probing.
    notes = seen.model.load_managers[0].notes
    assert notes.remembered
    assert list(notes.sent) == []


# ---- the fastest that is not hot -----------------------------------------------------------------------------------

# Latencies 300, 100, 50 and 200 ms are known from tasks that have ended. Node 2, the fastest, has three more.
ENDED = [Job(0, 300.0), Job(1, 100.0), Job(2, 50.0), *full(2, 2, 2), Job(3, 200.0)]
PROBED = {"policy__probes": 4}
COLD, UNKNOWN = "the cold one of least latency", "random: the pool is too small"
# All have answered that they took no time.
PREQUAL = [Drawn("prequal", (), [Job(0, LONG), Job(0, LONG, at_ms=2.0)], {0, 1, 2, 3}, place=1, given=PROBED)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("quantile", "at_ms", "rule", "target"), [
    # One of 0, 0, 1, 3 tasks in flight (or 0, 0, 0, 4) is above their quantile 0.75: node 2 is hot.
    (0.75, 505.0, COLD, 1),
    # The quantile 0.84 is the most that was seen: none is above it.
    (0.84, 505.0, COLD, 2),
    # Answers are used for one second, that one included.
    (0.75, 1501.0, COLD, 1),
    (0.75, 1501.1, UNKNOWN, None),
])  # fmt: skip
def test_prequal_takes_the_fastest_of_those_that_are_not_hot(seed, quantile, at_ms, rule, target):
    comes = [Job(0, LONG, at_ms=501), Job(0, LONG, at_ms=at_ms)]
    seen = decided("prequal", ENDED, comes, seed=seed, **PROBED, policy__hot_quantile=quantile)
    assert [row.rule for row in seen.decisions] == [UNKNOWN, rule]
    assert target is None or seen.targets[1] == target


@pytest.mark.parametrize(("probes", "rule"), [(1, UNKNOWN), (2, COLD)])
def test_prequal_goes_by_two_answers_and_not_by_one(probes, rule):
    seen = decided("prequal", ENDED, [Job(0, LONG, at_ms=501), Job(0, LONG, at_ms=505)], policy__probes=probes)
    assert [row.rule for row in seen.decisions] == [UNKNOWN, rule]


# ---- idle nodes that tell ------------------------------------------------------------------------------------------

IDLE = "first in the idle queue"
TOLD_IDLE = [
    # Nodes 1-3 end at 301, 102 and 203: the first to be idle is the first in the queue. Then none is known.
    Case("jiq", "idle for longest", full(0), [*SIZED[:3], *(Job(0, LONG, at_ms=at) for at in (401, 402, 403))],
         [1, 2, 3, 2, 3, 1], rules=[IDLE] * 6),
    Case("jiq", "idle from the start: by their numbers", full(0), [Job(0, LONG)] * 3, [1, 2, 3], is_tie=True,
         rules=[IDLE] * 3),
    # Only node 2 is idle, then none, then node 1 from 100 on.
    Case(
        "persistent-idle", "an idle node, else the one that was idle last", [*full(0, 3), Job(1, 100.0)],
        [Job(1, LONG, at_ms=at) for at in (1, 2, 201, 202)], [2, 2, 1, 1],
        rules=["an idle node", "the node that was idle last"] * 2,
    ),
    Drawn("persistent-idle", full(0), EQUAL, {1, 2, 3}),
]  # fmt: skip

# ---- estimates that nodes correct ----------------------------------------------------------------------------------

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


def test_sparse_jsq_draws_one_of_nodes_alike():
    assert {decided("sparse-jsq", (), [Job(2)], seed=seed, **UNTOLD).targets[0] for seed in range(16)} == {0, 1, 2, 3}


CASES = [*POWER_OF_D, *JSQ_MEMORY, *PREQUAL, *TOLD_IDLE, *SPARSE]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_choice_worked_by_hand(case):
    case.check()
