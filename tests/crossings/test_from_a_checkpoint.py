"""Nodes fail: what a checkpoint has saved of a task that pages, accesses its disk, or sleeps, and what it has not."""

from __future__ import annotations

from fractions import Fraction

import pytest
from crossings.table import crosses
from crossings.timelines import CHECKPOINTS, counts, fails, fault_cpu_ns, life, ns, timeline

# 20 MB on a node of 10: 0.035 x 2 faults a ms of CPU, the first at 14.285715 ms, the second at 28.571429.
PAGES = {"cluster__memory_mb": 10.0, "cluster__page_fault_rate_per_ms": 0.035, "cluster__slice_ms": 5.0}
FIRST_NS = fault_cpu_ns(1, Fraction("0.07"))


@pytest.mark.slow
@crosses("checkpoint", "failure", "paging")
def test_a_checkpoint_keeps_the_part_of_a_page_fault_that_was_earned(tmp_path):
    """At 30 the task has 25 ms of CPU, 1.75 faults earned and one had; at 40 its node fails, with 30 ms and two faults
    had. It enters the other node after 20 ms and an image of 20 MB, at 80, and has its second fault again in the 10 ms
    that are left of 35. Without the 0.75 of a fault it would come at 25 + 14.3 ms: never."""
    model = timeline(
        tmp_path, [{"cpu_ms": 35, "memory_mb": 20}], failures__checkpoint_period_ms=30.0,
        **PAGES, **CHECKPOINTS, **fails((0, 40)),
    )  # fmt: skip
    model.run()
    assert life(model) == {"finish": ns(95), "cpu": ns(40), "paging": ns(15), "migration": ns(40)}
    assert counts(model) == {"faults": 3, "restarts": 1, "lost_cpu_ns": ns(5)}


@pytest.mark.slow
@crosses("checkpoint", "failure", "paging")
def test_a_page_fault_in_service_at_a_checkpoint_is_made_again(tmp_path):
    """The first fault is in service from 14.285715 to 19.285715; the checkpoint is of 15, the failure of 20. At 60 the
    task has that fault, again, then computes up to its second one, and what is left of 35 ms."""
    model = timeline(
        tmp_path, [{"cpu_ms": 35, "memory_mb": 20}], failures__checkpoint_period_ms=15.0,
        **PAGES, **CHECKPOINTS, **fails((0, 20)),
    )  # fmt: skip
    model.run()
    lost_ns = ns(20) - (FIRST_NS + ns(5))
    assert life(model) == {
        "finish": ns(60 + 35 + 10) - FIRST_NS, "cpu": ns(35) + lost_ns, "paging": ns(15), "migration": ns(40),
    }  # fmt: skip
    assert counts(model) == {"faults": 3, "restarts": 1, "lost_cpu_ns": lost_ns}


@crosses("checkpoint", "failure", "paging")
def test_a_page_fault_that_waits_at_a_checkpoint_is_made_again_too(tmp_path):
    """Two tasks of 10 MB and 5 ms on 10 MB: 0.35 faults a ms. Task 0 faults at 2.857143, until 7.857143; task 1 then
    runs, faults at 5.714286 and waits. Saved at 7, failed at 8: both enter the other node at 38 and fault at once, one
    after the other; at 43 task 0 computes its last 2.142857 ms, at 48 task 1."""
    model = timeline(
        tmp_path, [{"cpu_ms": 5, "memory_mb": 10}] * 2, failures__checkpoint_period_ms=7.0, **CHECKPOINTS,
        **(PAGES | {"cluster__page_fault_rate_per_ms": 0.175, "cluster__slice_ms": 1.0}), **fails((0, 8)),
    )  # fmt: skip
    model.run()
    assert life(model, 0) == {"finish": 45_142_857, "cpu": 5_142_857, "paging": ns(10), "migration": ns(30)}
    assert life(model, 1) == {
        "finish": 50_142_857, "cpu": ns(5), "cpu_queue": 2_857_143, "paging": ns(10) + 2_285_714, "migration": ns(30),
    }  # fmt: skip
    assert [counts(model, task).get("lost_cpu_ns", 0) for task in (0, 1)] == [142_857, 0]


@pytest.mark.parametrize(
    ("channels", "first", "second"),
    [
        (2, {"finish": ns(156)}, {"finish": ns(176), "cpu_queue": ns(29), "io": ns(85), "io_queue": ns(1)}),
        (
            1,
            {"finish": ns(166), "io_queue": ns(10)},
            {"finish": ns(196), "cpu_queue": ns(10), "io": ns(65), "io_queue": ns(20 + 30 + 10)},
        ),
    ],
)
@crosses("checkpoint", "failure", "channels", "programs")
def test_accesses_that_a_disk_was_serving_are_made_again(channels, first, second, tmp_path):
    """Two tasks of 40 ms access 100 KB at their 10th and 30th ms; a seek takes 29 ms, a transfer 1.

    Task 0 accesses at 10, until 40. Task 1 accesses at 20: in the other channel, or it waits until 40. Saved at 30; at
    45 the node fails, with 15 ms of task 0, and 25 ms, or 5, of task 1's seek. At 66 both access again, and task 0 has
    its data at 96 and computes to 116.
    Two channels: task 0 accesses to 146 and ends at 156; task 1 has its data at 97 (the bus is task 0's until 96),
    waits for the CPU until 116, accesses from 136 to 166 and ends at 176. One channel: task 1 has the disk from 96 to
    126; task 0, which waits since 116, to 156, and ends at 166; task 1, since 146, to 186, and ends at 196.
    """
    model = timeline(
        tmp_path, [{}, {}], [{"cpu_ms": 40, "accesses": 2}], cluster__disk_channels=channels, cluster__slice_ms=5.0,
        cluster__disk_seek_rotation_ms=29.0, failures__checkpoint_period_ms=30.0, **CHECKPOINTS, **fails((0, 45)),
    )  # fmt: skip
    model.run()
    assert life(model, 0) == first | {"cpu": ns(45), "io": ns(90), "migration": ns(21)}
    assert life(model, 1) == second | {"cpu": ns(40), "migration": ns(21)}
    assert counts(model, 0) == {"requests": 3, "restarts": 1, "lost_cpu_ns": ns(5)}
    assert counts(model, 1) == {"requests": 3, "restarts": 1}
    # Two accesses of 30 ms in isolation, whatever was made again.
    assert model.jobs_frame()["dedicated_ms"].tolist() == [100.0, 100.0]


@pytest.mark.parametrize(
    ("saved", "failed_ms", "parts", "lost_ms"),
    [
        # From scratch at 50: 25 ms, the whole pause, 10 ms. It had slept from 25 to 40.
        ({}, 40, {"finish": ns(145), "cpu": ns(60), "barrier": ns(15 + 60), "migration": ns(10)}, 25),
        # Saved at 20. It had slept from 25 to 35; at 56 it computes 5 ms, sleeps 60, and computes 10.
        ({"period": 20}, 35, {"finish": ns(131), "cpu": ns(40), "barrier": ns(10 + 60), "migration": ns(21)}, 5),
        # Saved at 30, when it was to sleep until 85: it does, and has computed nothing in vain.
        ({"period": 30}, 45, {"finish": ns(95), "cpu": ns(35), "barrier": ns(20 + 19), "migration": ns(21)}, 0),
        # Saved at 90 in the second phase: that pause is over. Of the 5 ms since 85 nothing is lost; 5 ms from 116 on.
        ({"period": 90}, 95, {"finish": ns(121), "cpu": ns(40), "barrier": ns(60), "migration": ns(21)}, 5),
    ],
)
@crosses("checkpoint", "failure", "programs")
def test_a_program_that_slept_when_its_node_failed(saved, failed_ms, parts, lost_ms, tmp_path):
    """25 ms, a pause of 60 from 25 to 85, 10 ms. In isolation it takes 95 ms, with one pause."""
    more = CHECKPOINTS | {"failures__checkpoint_period_ms": saved["period"]} if saved else {}
    model = timeline(
        tmp_path, [{}], [{"cpu_ms": 25, "pause_ms": 60}, {"cpu_ms": 10}], cluster__slice_ms=5.0,
        **more, **fails((0, failed_ms)),
    )  # fmt: skip
    model.run()
    assert life(model) == parts
    assert counts(model).get("lost_cpu_ns", 0) == ns(lost_ms)
    assert model.jobs_frame()["dedicated_ms"].tolist() == [95.0]


@pytest.mark.parametrize(
    ("nodes", "parts"),
    [
        (2, {"finish": ns(138), "migration": ns(21)}),
        # The only node is back, empty, at 60: 20 ms for the start, and no network that an image could cross.
        (1, {"finish": ns(147), "migration": ns(20), "blocked": ns(10)}),
    ],
)
@crosses("checkpoint", "failure", "buffer", "programs")
def test_a_buffer_in_free_memory_is_lost_with_its_node(nodes, parts, tmp_path):
    """60 ms with accesses at the 10th, 30th and 50th, a pause of 7, and 10 ms. Once the buffer has anything it has all.

    The first one, from 10 to 20, fills the buffer; at 30 a checkpoint is taken, of 20 ms; the second one, at 40, is a
    hit; at 50 the node fails. At 71 the task goes on elsewhere, or at 80 here: its second access comes 10 ms later and
    takes 10, since the buffer is empty; its third one is a hit, and the last of the phase.
    """
    model = timeline(
        tmp_path, [{}], [{"cpu_ms": 60, "accesses": 3, "pause_ms": 7}, {"cpu_ms": 10}],
        cluster__paging="oversize", cluster__buffer_mb=1.0,
        workload__reaccess_rate=1e9, cluster__nodes=nodes, failures__checkpoint_period_ms=30.0, **CHECKPOINTS,
        failures__event=[{"node": 0, "at_s": 0.05, "for_s": 0.01}],
    )  # fmt: skip
    model.run()
    assert life(model) == {"cpu": ns(90), "io": ns(20), "barrier": ns(7)} | parts
    assert counts(model) == {"requests": 2, "hits": 2, "restarts": 1, "lost_cpu_ns": ns(20)}


@pytest.mark.slow
@crosses("buffer", "channels", "paging", "failure", "drain", "programs")
def test_a_controller_of_buffers_on_nodes_that_page_fail_and_drain(tmp_path):
    """RAM 100 MB, 40 of them buffer; at 100 ms each buffer changes by 0.5 (u F - v B).

    Nodes 0, 1 and 2 have a task of 10 MB with four accesses, 40 ms in a device of two channels: u = 0.2, free are 50
    MB: + 5 MB. Node 1 has failed at 90, and its buffer stays; that node 2 drains since 10 makes no difference. Node 3
    has a task of 80 MB, which faults every 14.285715 ms of its CPU, five times until 100: v = 25/200: - 2.5 MB.
    """
    other = {"program": "other", "cpu_ms": 200, "memory_mb": 80}
    jobs = [{"home": home, "name": "it" if home < 3 else "other"} for home in range(4)]
    model = timeline(
        tmp_path, jobs, [{"cpu_ms": 60, "memory_mb": 10, "accesses": 4}, other], cluster__nodes=4,
        cluster__memory_mb=100.0, cluster__buffer_mb=40.0, cluster__page_fault_rate_per_ms=0.0525,
        cluster__disk_channels=2, cluster__buffer_control={"kind": "feedback", "period_ms": 100.0, "gain": 0.5},
        failures__on_failure="lost", **fails((1, 90)),
    )  # fmt: skip
    model.run(until_ms=10.0)
    model.node_agents[2].drain()
    model.run(until_ms=100.0)
    assert model.engine.nodes["buffer_kb"].tolist() == [45_000, 40_000, 45_000, 37_500]
    assert model.engine.nodes["faults"].tolist() == [0, 0, 0, 5]
