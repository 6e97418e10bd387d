"""Transfers over shared links when nodes and links fail: which are given up, which go on, and how large an image is.

Timelines of crossings.timelines, worked by hand.
"""

from __future__ import annotations

import pytest
from crossings.table import crosses
from crossings.timelines import CHECKPOINTS, CONTENDED, ONE_FILE, fails, life, ns, send_all_to, timeline

# Links of 10 MB/s, which transfers share.
SLOW = CONTENDED | {"interconnect__bandwidth_mbps": 80.0}
# The same links, not shared.
STAR = SLOW | {"interconnect__mode": "delay"}


@crosses("failure", "links")
def test_after_the_loss_of_a_job_the_other_one_has_the_whole_link(tmp_path):
    """Task 0 brings 10 MB from node 0 to 2, read in 100 ms; task 1 brings 2 MB from node 1, read in 20. Their transfers
    begin 10 ms later, at 110 and at 30. Until 110 task 1 gets 0.8 MB, and at half the speed 0.2 until 150. Then node 0
    fails, and task 0 is lost: task 1 gets its last MB in 100 ms, and writes its data in 20: 270."""
    jobs = [{"home": home, "cpu_ms": 10, "initial_data_mb": mb} for home, mb in ((0, 10), (1, 2))]
    model = timeline(
        tmp_path, jobs, cluster__nodes=3, policy__name="jsq", failures__on_failure="lost", **SLOW, **fails((0, 150))
    )
    send_all_to(model, 2, 2)
    model.run()
    assert life(model, 0) == {"finish": ns(150), "migration": ns(150)}
    assert life(model, 1) == {"finish": ns(280), "cpu": ns(10), "migration": ns(270)}
    assert model.summary()["jobs"]["lost"] == 1


@pytest.mark.parametrize(
    ("at_ms", "node", "ends_ms"),
    [
        # Its 2 MB are in transit from 30 to 230, its file of 5 MB until 730; then the 2 MB are written in 20 ms.
        (300, 1, 730 + 20 + 10),
        # The link fails while the 2 MB are in transit: the task is back at home at 200, and has its file at 700.
        (200, 0, 700 + 10),
    ],
)
@crosses("failure", "staging", "links")
def test_a_task_whose_own_data_has_arrived_no_longer_needs_the_link_of_its_home(at_ms, node, ends_ms, tmp_path):
    """A task is sent from node 0 to 1, and fetches its file from node 2 after that. Node 0's link fails. The failure
    does not hold up files."""
    model = timeline(
        tmp_path, [{"cpu_ms": 10, "initial_data_mb": 2}], cluster__nodes=3, policy__name="jsq", **ONE_FILE, **SLOW,
        failures__event=[{"link": [0, "switch"], "at_s": at_ms / 1000}],
    )  # fmt: skip
    send_all_to(model, 1)
    model.run()
    found = life(model)
    # A transfer that follows another one begins a nanosecond after its end.
    assert found["finish"] == pytest.approx(ns(ends_ms), abs=1)
    assert found["migration"] == pytest.approx(ns(ends_ms - 10), abs=1)
    assert model.jobs_frame()["node"].tolist() == [node]
    assert model.summary()["metrics"]["remote_executions"] == node


@pytest.mark.parametrize("shared", [CONTENDED, {}])
@crosses("failure", "staging", "links")
def test_a_file_comes_from_a_failed_node_and_over_a_failed_link(shared, tmp_path):
    """Node 2, which has the file of 5 MB, and node 0's link have failed: it still takes 500 ms."""
    events = [{"node": 2, "at_s": 0.1}, {"link": [0, "switch"], "at_s": 0.1}]
    model = timeline(
        tmp_path, [{"cpu_ms": 10, "arrival_ms": 200}], cluster__nodes=3, **ONE_FILE, failures__event=events,
        **(STAR | shared),
    )  # fmt: skip
    model.run()
    assert life(model) == {"finish": ns(710), "cpu": ns(10), "migration": ns(500)}


@crosses("failure", "staging", "links")
def test_a_task_that_begins_anew_on_its_managers_node_shares_the_link_for_its_file(tmp_path):
    """A file of 5 MB is on node 2. Task 0 has it at 500, and its node fails at 600. Node 1 stands in for that node and
    takes the task, which fetches the file again from 610 on. At 660 it has 0.5 MB, and task 1 begins to fetch the file,
    too: each gets half the link. Task 0 has the other 4.5 MB at 660 + 900 = 1560; task 1 gets its last 0.5 by 1610."""
    jobs = [{"home": 0, "cpu_ms": 1000}, {"home": 1, "cpu_ms": 10, "arrival_ms": 660}]
    model = timeline(tmp_path, jobs, cluster__nodes=3, **ONE_FILE, **SLOW, **fails((0, 600)))
    model.run()
    assert life(model, 0) == {"finish": ns(2560), "cpu": ns(1100), "migration": ns(500 + 960)}
    assert life(model, 1) == {
        "finish": ns(2570), "cpu": ns(10), "migration": ns(1610 - 660), "cpu_queue": ns(2560 - 1610),
    }  # fmt: skip


@pytest.mark.parametrize("shared", [CONTENDED, {}])
@pytest.mark.parametrize(("write_share", "data_ms"), [(0.0, 0.0), (1.0, 0.6 + 0.06 + 0.6)])
@crosses("links", "programs")
def test_the_data_that_a_running_task_has_written_moves_with_it(write_share, data_ms, shared, tmp_path):
    """A task has 100 ms of CPU and an access of 100 KB, from 50 to 60. At 70 it migrates: 20 ms, and an image of 1 MB.
    By its rate of 0.01 accesses per ms it has written 0.06 MB after 60 ms of CPU, or nothing. They are read in 0.6 ms,
    sent in 0.06, and written in 0.6."""
    model = timeline(
        tmp_path, [{"name": "it"}], [{"cpu_ms": 100, "memory_mb": 1, "accesses": 1}], policy__name="jsq",
        workload__write_share=write_share, **({"interconnect__kind": "star"} | shared),
    )  # fmt: skip
    model.run(until_ms=70)
    assert model.load_managers[0].send(0, 1) == "accepted"
    model.run()
    travel_ms = 20 + 1 + data_ms
    parts = {"cpu": ns(100), "io": ns(10), "migration": ns(travel_ms)}
    assert life(model) == {"finish": ns(70 + travel_ms + 40)} | parts


@pytest.mark.parametrize(
    ("fails_ms", "enters_ms", "left_ms"),
    [
        # The checkpoint of 40 has 1 MB: 20 ms, and one for the image.
        (50, 50 + 20 + 1, 110 - 40),
        # The checkpoint of 80 has 15 MB.
        (90, 90 + 20 + 15, 110 - 80),
    ],
)
@crosses("checkpoint", "failure", "programs")
def test_the_image_of_a_checkpoint_is_as_large_as_the_memory_of_the_task_then(fails_ms, enters_ms, left_ms, tmp_path):
    """A program has 1 MB of memory for 60 ms of CPU, and 15 MB for the next 50. A checkpoint is taken every 40 ms, and
    the node fails."""
    phases = [{"cpu_ms": 60, "memory_mb": 1}, {"cpu_ms": 50, "memory_mb": 15}]
    model = timeline(
        tmp_path, [{"name": "it"}], phases, **CHECKPOINTS, failures__checkpoint_period_ms=40.0, **fails((0, fails_ms))
    )
    model.run()
    parts = {"cpu": ns(fails_ms + left_ms), "migration": ns(enters_ms - fails_ms)}
    assert life(model) == {"finish": ns(enters_ms + left_ms)} | parts


@pytest.mark.parametrize(("slow", "factor"), [((0,), 0.5), ((1,), 0.25), ((0, 1), 0.25), ((2,), 1.0)])
def test_a_link_between_two_nodes_is_as_slow_as_the_slower_of_them(slow, factor, tmp_path):
    """A task brings 4 MB from node 0 to 1: they are read in 40 ms, sent 10 ms later at 1 MB per ms over a link of full
    speed, and written in 40. A slow node 0 has links of half the speed, a slow node 1 or 2 of a quarter."""
    causes = [
        {"device": "link", "nodes": [node], "factor": 0.5 if node == 0 else 0.25, "kind": "schedule", "at_s": 0.0}
        for node in slow
    ]
    model = timeline(
        tmp_path, [{"cpu_ms": 10, "initial_data_mb": 4}], cluster__nodes=3, policy__name="jsq",
        interconnect__mode="contended", interconnect__kind="complete", failures__degrade=causes,
    )  # fmt: skip
    send_all_to(model, 1)
    model.run()
    travel_ms = 40 + 10 + 4 / factor + 40
    assert life(model) == {"finish": ns(travel_ms + 10), "cpu": ns(10), "migration": ns(travel_ms)}
