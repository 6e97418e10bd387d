"""The load indices on nodes of several kinds, worked by hand: the task X of task_by_hand.py after 20 ms of CPU, alone.

980 of its 1000 ms are left: 39.2 accesses and, where it pages by the rate 0.006, 11.76 page faults.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from task_by_hand import EMPTY, MS, X, ahead, engine_of, measured, send, start

from cluster_abm.engine.pooled.state import PooledState
from cluster_abm.engine.tables import BACKGROUND, LOAD, NEVER

RUNNING = X | ahead(980) | {"cpu_queue": 1, "newest_ms": 20}


def of_faults(fault_ms, work_ms):
    """Where a page fault takes so long, and keeps the disk from others for so long."""
    return {"page_ms": 11.76 * work_ms, "queue_paging": 1 / (1.42 + 0.012 * fault_ms)}


# No faults, or none that is known: nothing but the CPU and the explicit accesses, of which 0.0185 reach the disk.
FITS = {"faults_per_ms": 0, "page_ms": 0, "queue_paging": 1 / 1.42, "io_load": 0.0185}

# What the nodes have otherwise, what X has, and which indices are others than on the papers' node.
NODES = {
    "the papers' node": ({}, {}),
    # Accesses that reach the disk, 0.0185 at speed 1, and faults count: 0.037 x 10.5 = 0.3885, and 0.0972.
    "effective rates": (
        {"effective": True},
        {"io_ms": 980 * 0.3885, "queue": 1 / 1.4857, "queue_paging": 1 / 1.4857, "at_disk": 0.4857 / 1.4857,
         "io_per_ms": 0.0185, "disk_work": 0.3885, "disk_square": 0.037 * 110.25},
    ),
    # On three channels a request of 10.5 ms keeps the disk for 3.5, a fault for 2.7. On five the bus is what is short
    # for requests, 2.5 against 2.1; on a hundred for faults too, 0.1 against 0.081.
    "two cores, three channels": (
        {"cores": 2, "channels": 3}, {"cpu_ms": 490, "io_ms": 39.2 * 3.5} | of_faults(8.1, 2.7)
    ),
    "five channels": ({"channels": 5}, {"io_ms": 39.2 * 2.5} | of_faults(8.1, 1.62)),
    "a hundred channels": ({"channels": 100}, {"io_ms": 39.2 * 2.5} | of_faults(8.1, 0.1)),
    # Remote memory spares the seek first: of 8 + 0.1 ms 5 + 0.1 are left, or half of the transfer.
    "remote memory spares 3 ms": ({"fault_saved_ns": 3 * MS}, of_faults(5.1, 5.1)),
    "and on 64 channels": ({"fault_saved_ns": 3 * MS, "channels": 64}, {"io_ms": 98.0} | of_faults(5.1, 0.1)),
    "remote memory spares all but 0.05 ms": (
        {"fault_saved_ns": 8_050_000, "channels": 4}, {"io_ms": 39.2 * 2.625} | of_faults(0.05, 0.05)
    ),
    # 4000 ms of CPU at speed 0.5, in each of which are 0.01 accesses and 0.003 faults.
    "speed 0.5": (
        {"speed": 0.5},
        {"cpu_ms": 3980, "page_ms": 3980 * 0.0243, "io_ms": 3980 * 0.105, "queue": 1 / 1.105,
         "queue_paging": 1 / 1.1293, "at_disk": 0.105 / 1.105, "disk_work": 0.105, "disk_square": 0.01 * 110.25},
    ),
    "endless swap": ({"limit_kb": NEVER}, {"virtual_free_mb": math.inf}),
    "it fits exactly": (
        {"memory_kb": 1000},
        FITS | {"memory_mb": 1, "oversize": 0, "oversize_here": 0, "virtual_free_mb": 3},
    ),
    "it fits": (
        {"memory_kb": 600},
        FITS | {"memory_mb": 0.6, "oversize": -0.4, "oversize_here": -0.4, "free_mb": 0.4, "virtual_free_mb": 3.4},
    ),
    # At most so many times the rate; or by the overflowing third of the pages.
    "paging capped at 1.25": (
        {"fault_ratio_cap": 1.25},
        {"faults_per_ms": 0.005, "page_ms": 980 * 0.01 * 8.1, "queue_paging": 1 / 1.501, "io_load": 0.0235},
    ),
    "paging of the overflow": (
        {"overflow_only": 1, "fault_rate_per_ms": 0.018}, {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", NODES)
def test_each_index_on_nodes_of_several_kinds(kind):
    has, differs = NODES[kind]
    engine = engine_of(**has)
    start(engine)
    assert measured(engine, 20) == pytest.approx(EMPTY | RUNNING | differs)


@pytest.mark.slow
@pytest.mark.parametrize("device", ["cpu", "disk", "both"])
def test_work_ahead_of_a_degraded_device_counts_as_at_full_speed(device):
    """At 20 ms it becomes half as fast; 2 ms later X has received 2 ms of a CPU at full speed, or 1 ms."""
    engine = engine_of()
    start(engine)
    engine.serve(20 * MS)
    if device != "disk":
        engine.slow_cpu(0, 0.5, 20 * MS)
    if device != "cpu":
        engine.slow_disk(0, 0.5, 20 * MS)
    left_ms = 978 if device == "disk" else 979
    assert measured(engine, 22) == pytest.approx(EMPTY | RUNNING | ahead(left_ms) | {"newest_ms": 22})


# MCLS: R_p(0.5) = 120 - 4/(0.31 x 0.25 + 0.19 x 0.5 + 0.034) = 120 - 4/0.2065 a second; 3000 reads and writes add
# -174.98 + 0.061 x 3000 = 8.02. Its buffer lives in memory that is free, and is empty at first.
@pytest.mark.parametrize(("accesses", "rate_per_s"), [(0, 120 - 4 / 0.2065), (3000, 128.02 - 4 / 0.2065)])
def test_paging_by_oversize_counts_accesses(accesses, rate_per_s):
    engine = engine_of(by_oversize=1)
    start(engine)
    engine.serve(4 * MS)
    engine.nodes["accesses"][0] = accesses
    rate = rate_per_s / 1000
    assert measured(engine, 4) == pytest.approx(
        EMPTY | RUNNING | ahead(996)
        | {"newest_ms": 4, "faults_per_ms": rate, "page_ms": 996 * 2 * rate * 8.1, "io_load": rate + 0.02,
           "queue_paging": 1 / (1.42 + 2 * rate * 8.1), "accesses": accesses, "cache_mb": 0}
    )  # fmt: skip


def test_a_buffer_in_free_memory_is_what_has_been_read():
    """600 of 1000 KB, and after X's access, 25 ms of CPU and 10.5 of the disk, 100 KB in the buffer: 300 are free, and
    h = 1/2 x 100/2000."""
    engine = engine_of(by_oversize=1, memory_kb=600)
    start(engine)
    assert measured(engine, 40) == pytest.approx(
        EMPTY | RUNNING | NODES["it fits"][1] | ahead(970.5)
        | {"page_ms": 0, "newest_ms": 40, "accesses": 1, "free_mb": 0.3, "cache_mb": 0.1, "io_load": 0.0195,
           "effective_tasks": 29.5 / 40}
    )  # fmt: skip


# ---- several tasks ---------------------------------------------------------------------------------------------------

# Tasks A, B and C of the project's cases: 10.5, 14.4 ms and none; E(L) = 2.70057 there.
A = {"cpu_ms": 2000.0, "io_per_ms": 0.02, "request_kb": 100.0, "reaccess_rate": 1.0, "memory_mb": 4.0, "phases": 0}
B = {"cpu_ms": 5000.0, "io_per_ms": 0.01, "request_kb": 256.0, "reaccess_rate": 3.0, "memory_mb": 8.0, "phases": 0}
C = {"cpu_ms": 3000.0, "io_per_ms": 0.0, "memory_mb": 16.0, "phases": 0}


def test_tasks_a_b_c_on_their_way_to_a_node():
    """Traffic 2 + 2.56 KB/ms; a buffer of 3 MB: 1315.8 KB of A's 2 MB and 1684.2 of B's 3.2, so that they hit with
    1/2 x 0.65789 and 3/4 x 0.52632."""
    engine = engine_of(A, B, C, speed=1.0, user_memory_kb=100_000, limit_kb=NEVER, buffer_kb=3000)
    for job in range(3):
        start(engine, job, delay_ms=50)
    assert measured(engine, 10) == pytest.approx(
        EMPTY
        | {"tasks": 3, "cpu_queue": 3, "memory_mb": 28, "cpu_ms": 10_000, "io_ms": 40 * 10.5 + 50 * 14.4,
           "queue": 2.70057, "queue_paging": 2.70057, "at_disk": 3 - 2.70057, "io_per_ms": 0.03, "disk_work": 0.354,
           "disk_square": 0.02 * 110.25 + 0.01 * 207.36, "stream": 4.56, "oversize": -0.72, "free_mb": 72,
           "io_load": 0.02 * (1 - 0.328947) + 0.01 * (1 - 0.394737), "cache_mb": 3, "newest_ms": 0,
           "virtual_free_mb": math.inf, "effective_tasks": 3},
        rel=1e-5,
    )  # fmt: skip


def test_tasks_that_only_compute_are_counted_by_the_cpu_alone():
    engine = engine_of(C, C, user_memory_kb=100_000, limit_kb=100_000)
    start(engine, 0)
    start(engine, 1, delay_ms=50)
    # 1500 ms each, of which one has received 20.
    assert measured(engine, 20) == pytest.approx(
        EMPTY
        | {"tasks": 2, "cpu_queue": 2, "memory_mb": 32, "cpu_ms": 2980, "queue": 2, "queue_paging": 2, "newest_ms": 0,
           "oversize": -0.68, "oversize_here": -0.84, "free_mb": 68, "virtual_free_mb": 68,
           "effective_tasks": 2}
    )  # fmt: skip


def test_the_newest_is_the_last_job_that_was_started_here():
    """One at 0, one at 7; at 40 one comes that was started elsewhere, and a background program has always been there;
    from 60 on a third job is on its way."""
    engine = engine_of(C, C, C, C, user_memory_kb=100_000, limit_kb=NEVER)
    program = np.zeros(1, BACKGROUND)
    program["burst_ns"] = program["period_ns"] = 500 * MS
    engine.start_background(program)
    start(engine, 0)
    start(engine, 1, delay_ms=7)
    start(engine, 2, target=1)
    found = [measured(engine, at_ms)["newest_ms"] for at_ms in (5, 8)]
    send(engine, 1, 0, 10, task=2)
    found += [measured(engine, at_ms)["newest_ms"] for at_ms in (20, 45)]
    # The second is sent away: the first is the newest again.
    send(engine, 0, 1, 60, task=1)
    found.append(measured(engine, 65)["newest_ms"])
    start(engine, 3, delay_ms=90)
    found += [measured(engine, at_ms)["newest_ms"] for at_ms in (70, 95)]
    # A job that is on its way is 0 old from its decision on: the tables know no time before.
    assert found == [0, 1, 13, 38, 65, 0, 5]


# ---- the pooled reference --------------------------------------------------------------------------------------------


def of_pool(**differs):
    """Each node's part of X on three nodes of two cores with 3 MB for programs and 900 KB of buffer together."""
    # X has computed 20 ms, of which nothing is booked yet. 1500 of 3000 KB are asked for: no fault is counted.
    # h = 1/2 x 900/2000: 0.0155 accesses reach the disk. Nothing is noted of averages, links and bandwidths.
    whole = {"tasks": 1, "cpu_queue": 1, "memory_mb": 1.5, "cpu_ms": 1000, "io_ms": 420, "queue": 1 / 1.42,
             "queue_paging": 1 / 1.42, "at_disk": 0.42 / 1.42, "io_per_ms": 0.02, "io_load": 0.0155, "disk_work": 0.42,
             "disk_square": 4.41, "stream": 2, "free_mb": 1.5, "cache_mb": 0.9,
             "virtual_free_mb": math.inf, "effective_tasks": 1}  # fmt: skip
    nothing = dict.fromkeys(LOAD.names, 0.0)
    of_each = {name: value / 3 for name, value in whole.items()}
    return nothing | of_each | {"cpu_ms": 1000 / 6, "oversize": -0.5, "oversize_here": -0.5, "newest_ms": 20} | differs


POOLS = {
    "plain": (20, {}, {}),
    # Four channels a disk: 420/4 = 105 against 40 x 2.5 = 100 ms of transfers.
    "four channels": (20, {"channels": 4}, {"io_ms": 35}),
    # 4500 of 3000 KB are asked for: no task is short of memory together with others, so that no fault is counted.
    "more than all memory": (
        20, {"memory_kb": 4500}, {"memory_mb": 1.5, "oversize": 0.5, "oversize_here": 0.5, "free_mb": 0},
    ),
    "more than all memory, by MCLS": (
        4, {"memory_kb": 4500, "by_oversize": 1},
        {"memory_mb": 1.5, "oversize": 0.5, "oversize_here": 0.5, "free_mb": 0, "cache_mb": 0, "io_load": 0.02 / 3,
         "newest_ms": 4},
    ),
    # After an access 100 KB lie in free memory: h = 1/2 x 100/2000; 600 of 3000 KB are asked for.
    "a buffer in free memory": (
        30, {"by_oversize": 1, "memory_kb": 600},
        {"memory_mb": 0.2, "cpu_ms": 975 / 6, "io_ms": 409.5 / 3, "cpu_queue": 0, "io_load": 0.0195 / 3,
         "accesses": 1 / 3, "oversize": -0.8, "oversize_here": -0.8, "free_mb": 2.3 / 3, "cache_mb": 0.1 / 3,
         "newest_ms": 30, "effective_tasks": 25 / 30 / 3},
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", POOLS)
def test_a_node_of_the_pooled_reference_has_its_part_of_each_index(kind):
    at_ms, has, differs = POOLS[kind]
    engine = engine_of(count=3, cores=2, kind=PooledState, **has)
    start(engine)
    expected = of_pool(**differs)
    assert measured(engine, at_ms) == pytest.approx(expected)
    loads = engine.empty_loads()
    engine.measure(int(at_ms * MS), loads, 1, 2)
    # Rows that were not asked for stay as they are.
    assert loads["cpu_ms"].tolist() == pytest.approx([0, expected["cpu_ms"], 0])
    assert loads["newest_ms"].tolist() == [0, expected["newest_ms"], 0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("jobs", "at_ms", "cpu_ms", "disk_ms"),
    [
        # X: 25 ms of CPU, then 5 of its access.
        ([{}], 30, 25, 5),
        # Three on two CPUs: two thirds of the time each.
        ([C, C, C], 30, 60, 0),
        ([C], 30, 30, 0),
        ([C, {}], 30, 55, 5),
    ],
)
def test_what_the_pool_has_done_is_dealt_out_to_the_nodes(jobs, at_ms, cpu_ms, disk_ms):
    engine = engine_of(*jobs, kind=PooledState, user_memory_kb=100_000)
    for job in range(len(jobs)):
        start(engine, job)
    engine.serve(at_ms * MS)
    done = engine.busy_ns(at_ms * MS)
    for each_ns, whole_ms in zip((*done, engine.in_device_ns(at_ms * MS)), (cpu_ms, disk_ms, disk_ms), strict=True):
        assert each_ns / MS == pytest.approx([whole_ms / 2] * 2)
        assert each_ns.sum() == whole_ms * MS
