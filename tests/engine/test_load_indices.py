"""Every load index over every state of a task, worked by hand: the nodes and the task X of task_by_hand.py."""

from __future__ import annotations

import numpy as np
import pytest
from task_by_hand import AS_NOTED, EMPTY, MEMORY, MS, X, ahead, engine_of, measured, send, start

from cluster_abm.engine.tables import (
    ARRIVAL_WRITE,
    AT_BARRIER,
    AT_DISK,
    BACKGROUND,
    EXPLICIT,
    FAULT,
    FIRST_BACKGROUND,
    IN_TRANSIT,
    LOAD,
    NEVER,
    NONE,
    READY,
    RUNNING,
    WAKING,
)
from cluster_abm.policy.tasks import CANDIDATE

# On its way its memory counts already, but the node does not page by it yet.
ON_ITS_WAY = X | {"oversize_here": -1}
# What sleeps asks for no CPU and no disk, but has its memory and its share of the buffer.
ASLEEP = MEMORY | {"stream": 2.0}
# The program P beside X: always ready, without I/O and memory. It is no task of a job; it faults as X does.
P = {"queue": 1, "queue_paging": 1 / 1.0972, "io_load": 0.006, "effective_tasks": 1}


def beside_p(**more):
    """X and P on one core, and what is to be said of the instant."""
    return X | {name: X.get(name, 0) + P[name] for name in P} | {"cpu_queue": 2} | more


# State: at which time, what is there then. Elapsed times and CPU are those of the timelines in `SCENES`.
EXPECTED = {
    "no task": (20, {}),
    "in transit to its start": (5, ON_ITS_WAY | ahead(1000) | {"cpu_queue": 1, "newest_ms": 0}),
    "in transit, its files not known to come": (5, ON_ITS_WAY | ahead(1000) | {"cpu_queue": 1, "newest_ms": 0}),
    "running": (20, X | ahead(980) | {"cpu_queue": 1, "newest_ms": 20}),
    # X and P take turns of 10 ms: X 0-10, a switch, P 12-22, a switch, X from 24 on.
    "ready, P runs": (15, beside_p(**ahead(990 + 497, 990), newest_ms=15)),
    "the CPU switches to P": (11, beside_p(**ahead(990 + 500, 990), newest_ms=11)),
    "the CPU switches to it": (23, beside_p(**ahead(990 + 490, 990), newest_ms=23)),
    "running, P is ready": (27, beside_p(**ahead(987 + 490, 987), newest_ms=27)),
    # It computes 25 ms, then the disk serves it until 35.5.
    "its access is served": (30, X | ahead(975) | {"accesses": 1, "newest_ms": 30, "effective_tasks": 25 / 30}),
    "its access waits for the disk": (
        30, X | ahead(975) | {"accesses": 1, "newest_ms": 30, "effective_tasks": 25 / 30},
    ),
    # 83.33 ms of CPU and two accesses: from 104.33 to 112.43.
    "its page fault is served": (
        108, X | ahead(1000 - 250 / 3) | {"accesses": 2, "newest_ms": 108, "effective_tasks": 250 / 3 / 108},
    ),
    # 200 ms of CPU, four accesses, two faults: it sleeps from 258.2 to 558.2.
    "sleeping between two phases": (
        300, X | ahead(800) | {"accesses": 4, "newest_ms": 300, "effective_tasks": 200 / 258.2},
    ),
    "on again after its sleep": (
        560, X | ahead(798.2) | {"accesses": 4, "newest_ms": 560, "cpu_queue": 1, "effective_tasks": 201.8 / 260},
    ),
    # A barrier after 20 ms of CPU. The other task comes at 120 and communicates until 620.
    "waiting at its barrier": (25, X | ahead(980) | {"newest_ms": 25}),
    "its barrier opens soon": (200, X | ahead(980) | {"newest_ms": 200}),
    "on again after its barrier": (622, X | ahead(978) | {"newest_ms": 622, "cpu_queue": 1}),
    # Sent away at 40, when it had computed 25 ms and, after its access, 4.5; it arrives at 70. Its one access was made
    # elsewhere, and counts here from then on. A task that migrated in is no job that was started here.
    "in transit, migrating": (50, ON_ITS_WAY | ahead(970.5) | {"cpu_queue": 1, "effective_tasks": 29.5 / 40}),
    "migrated in": (80, X | ahead(960.5) | {"cpu_queue": 1, "accesses": 1, "effective_tasks": 39.5 / 50}),
    # It brings 1 MB, which takes 25 ms from 70 on.
    "it writes what it brought": (80, X | ahead(970.5) | {"accesses": 1, "effective_tasks": 29.5 / 40}),
    # It left its node while it waited at its barrier; it will go on waiting, but what travels counts as tasks do.
    "in transit, at its barrier": (50, ON_ITS_WAY | ahead(980) | {"cpu_queue": 1}),
    "migrated in, at its barrier": (80, X | ahead(980)),
    # A program of X's rates computes 20 of every 100 ms. It makes no hits: 0.006 + 0.02.
    "a background program runs": (10, X | ahead(10) | {"tasks": 0, "cpu_queue": 1, "io_load": 0.026}),
    "a background program sleeps": (50, ASLEEP),
    # When X has gone.
    "migrated away": (50, {}),
}  # fmt: skip


# Of 40 ms at speed 1, 20 here.
TWO_WITH_BARRIERS = {"tasks": 2, "barrier_ms": 40.0, "communication_ns": 500 * MS}


def add_program(engine, burst_ms, period_ms, **more):
    programs = np.zeros(1, BACKGROUND)
    programs["burst_ns"], programs["period_ns"] = burst_ms * MS, period_ms * MS
    for name, value in more.items():
        programs[name] = value
    engine.start_background(programs)


def alone():
    engine = engine_of()
    start(engine)
    return engine


def in_transit():
    engine = engine_of()
    start(engine, delay_ms=30)
    return engine


def staging():
    engine = in_transit()
    engine.arrive(engine.slot_of(0, 0), NEVER)
    return engine


def with_program():
    engine = alone()
    add_program(engine, 500, 500)
    return engine


def disk_taken():
    """At 20 ms the disk begins to read 2 MB, for 50 ms."""
    engine = alone()
    engine.serve(20 * MS)
    engine.read(0, 2.0, 20 * MS)
    return engine


def at_barriers(target=0):
    engine = engine_of(TWO_WITH_BARRIERS)
    start(engine, target=target)
    start(engine, target=1 - target, delay_ms=100, rank=1)
    return engine


def migrated_in(brings_mb=0.0):
    engine = engine_of()
    start(engine, target=1)
    send(engine, 1, 0, 40, brings_mb=brings_mb)
    return engine


def migrated_at_its_barrier():
    """The other task of the job starts on node 1 too, so that nothing else is on node 0."""
    engine = engine_of(TWO_WITH_BARRIERS)
    start(engine, target=1)
    start(engine, target=1, delay_ms=100, rank=1)
    send(engine, 1, 0, 40)
    return engine


def migrated_away():
    engine = alone()
    send(engine, 0, 1, 40)
    return engine


def background():
    engine = engine_of()
    add_program(engine, 20, 100, memory_kb=1500, io_per_ms=0.02, request_kb=100.0)
    return engine


# What leads to each state: the timeline, the state in the task table, and what the disk does for it.
SCENES = {
    "no task": (engine_of, None, None),
    "in transit to its start": (in_transit, IN_TRANSIT, NONE),
    "in transit, its files not known to come": (staging, IN_TRANSIT, NONE),
    "running": (alone, RUNNING, NONE),
    "ready, P runs": (with_program, READY, NONE),
    "the CPU switches to P": (with_program, READY, NONE),
    "the CPU switches to it": (with_program, RUNNING, NONE),
    "running, P is ready": (with_program, RUNNING, NONE),
    "its access is served": (alone, AT_DISK, EXPLICIT),
    "its access waits for the disk": (disk_taken, AT_DISK, EXPLICIT),
    "its page fault is served": (alone, AT_DISK, FAULT),
    "sleeping between two phases": (alone, WAKING, NONE),
    "on again after its sleep": (alone, RUNNING, NONE),
    "waiting at its barrier": (at_barriers, AT_BARRIER, NONE),
    "its barrier opens soon": (at_barriers, WAKING, NONE),
    "on again after its barrier": (at_barriers, RUNNING, NONE),
    "in transit, migrating": (migrated_in, IN_TRANSIT, NONE),
    "migrated in": (migrated_in, RUNNING, NONE),
    "it writes what it brought": (lambda: migrated_in(1.0), AT_DISK, ARRIVAL_WRITE),
    "in transit, at its barrier": (migrated_at_its_barrier, IN_TRANSIT, NONE),
    "migrated in, at its barrier": (migrated_at_its_barrier, AT_BARRIER, NONE),
    "a background program runs": (background, RUNNING, NONE),
    "a background program sleeps": (background, WAKING, NONE),
    "migrated away": (migrated_away, None, None),
}


@pytest.mark.slow
@pytest.mark.parametrize("state", EXPECTED)
def test_each_index_in_each_state_of_a_task(state):
    at_ms, there = EXPECTED[state]
    timeline, code, request = SCENES[state]
    engine = timeline()
    found = measured(engine, at_ms)
    if code is not None:
        task = FIRST_BACKGROUND if "background" in state else 0
        row = engine.tasks[engine.slot_of(0, task)]
        assert (row["state"], row["request_kind"]) == (code, request)
        assert (row["found_ns"] == NEVER) or "waits for the disk" not in state
    assert found == pytest.approx(EMPTY | there)


def test_each_index_has_its_row():
    assert EMPTY.keys() == set(LOAD.names)
    assert EXPECTED.keys() == SCENES.keys()
    # Each index but what is noted elsewhere, and the buffer, is moved by some task.
    moved = {name for _, there in EXPECTED.values() for name in there if there[name] != EMPTY[name]}
    assert set(LOAD.names) - moved == {*AS_NOTED, "cache_mb"}


# What the node's CPU and disk have done by then [ms]; and X as its manager may send it away: CPU still to receive and
# received at speed 1 [ms], whether it has entered, page faults, accesses, time since it came [ms], migrations. None: it
# may not be sent.
DONE = {
    "no task": (0, 0, None),
    "in transit to its start": (0, 0, (2000, 0, False, 0, 0, 0, 0)),
    "in transit, its files not known to come": (0, 0, None),
    "running": (20, 0, (1960, 40, True, 0, 0, 20, 0)),
    "ready, P runs": (13, 0, (1980, 20, True, 0, 0, 15, 0)),
    "the CPU switches to P": (10, 0, (1980, 20, True, 0, 0, 11, 0)),
    "the CPU switches to it": (20, 0, (1980, 20, True, 0, 0, 23, 0)),
    "running, P is ready": (23, 0, (1974, 26, True, 0, 0, 27, 0)),
    "its access is served": (25, 5, (1950, 50, True, 0, 1, 30, 0)),
    "its access waits for the disk": (25, 10, (1950, 50, True, 0, 1, 30, 0)),
    # Two accesses of 10.5 ms, and 108 - 104.33 of the fault.
    "its page fault is served": (250 / 3, 21 + 11 / 3, (2000 - 500 / 3, 500 / 3, True, 1, 2, 108, 0)),
    "sleeping between two phases": (200, 42 + 16.2, (1600, 400, True, 2, 4, 300, 0)),
    "on again after its sleep": (201.8, 58.2, (1596.4, 403.6, True, 2, 4, 560, 0)),
    "waiting at its barrier": (20, 0, (1960, 40, True, 0, 0, 25, 0)),
    "its barrier opens soon": (20, 0, (1960, 40, True, 0, 0, 200, 0)),
    "on again after its barrier": (22, 0, (1956, 44, True, 0, 0, 622, 0)),
    "in transit, migrating": (0, 0, None),
    "migrated in": (10, 0, (1921, 79, True, 0, 1, 10, 1)),
    "it writes what it brought": (0, 10, None),
    "in transit, at its barrier": (0, 0, None),
    "migrated in, at its barrier": (0, 0, (1960, 40, True, 0, 0, 10, 1)),
    "a background program runs": (10, 0, None),
    "a background program sleeps": (20, 0, None),
    "migrated away": (29.5, 10.5, None),
}
# How long X has been waiting for the disk and for a core; not at all in the other states.
WAITING = {"ready, P runs": (0, 5), "the CPU switches to P": (0, 1), "its access waits for the disk": (5, 0)}
# X is what it is in each state: home, lambda, request, memory, data, re-access rate, share of writes.
ALWAYS = (0, 0, 0, 0.02, 100, 1.5, 5, 1, 0.25)


@pytest.mark.slow
@pytest.mark.parametrize("state", EXPECTED)
def test_what_has_been_done_and_who_may_be_sent_in_each_state_of_a_task(state):
    now_ns = EXPECTED[state][0] * MS
    engine = SCENES[state][0]()
    engine.serve(now_ns)
    cpu_ms, disk_ms, candidate = DONE[state]
    assert [busy_ns[0] / MS for busy_ns in engine.busy_ns(now_ns)] == pytest.approx([cpu_ms, disk_ms])
    found = engine.candidates(0, now_ns, CANDIDATE)
    assert len(found) == (candidate is not None)
    for row in found:
        names = ("task", "job", "home", "io_per_ms", "request_kb", "memory_mb", "initial_data_mb", "reaccess_rate",
                 "write_share")  # fmt: skip
        assert tuple(row[name] for name in names) == ALWAYS
        names = ("cpu_ms", "age_ms", "running", "page_faults", "accesses", "here_ms", "migrations")
        assert [float(row[name]) for name in names] == pytest.approx([float(value) for value in candidate])
        waits = WAITING.get(state, (0, 0))
        assert [float(row[name]) for name in ("disk_wait_ms", "cpu_wait_ms")] == pytest.approx(list(waits))
