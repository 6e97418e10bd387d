"""What is under way over shared links when nodes and links fail: who gives up, who goes on, and what an image weighs.

Timelines of crossings.timelines, worked by hand.
"""

from __future__ import annotations

import pytest
from crossings.table import crosses
from crossings.timelines import CHECKPOINTS, CONTENDED, ONE_FILE, fails, life, ns, send_all_to, timeline

# Links of 10 MB/s, which transfers share.
SLOW = CONTENDED | {"interconnect__bandwidth_mbps": 80.0}
# The same without sharing.
STAR = SLOW | {"interconnect__mode": "delay"}


@crosses("failure", "links")
def test_a_lost_job_leaves_its_link_to_the_other_one(tmp_path):
    """Task 0 brings 10 MB from node 0 to 2, read in 100 ms; task 1 brings 2 MB from node 1, read in 20: each is sent 10
    ms after that, from 110 and from 30 on. At 150 task 1 has 0.8 + 0.2 MB, and node 0 fails: task 0 is lost, and task 1
    has all of the link for the other MB. Then its data is written in 20 ms."""
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
        # Its 2 MB are under way from 30 to 230, and written in 20 once it has its file of 5 MB, at 730.
        (300, 1, 730 + 20 + 10),
        # It is back at its home at 200, and fetches its file there, until 700.
        (200, 0, 700 + 10),
    ],
)
@crosses("failure", "staging", "links")
def test_a_task_whose_own_data_has_come_needs_its_link_no_more(at_ms, node, ends_ms, tmp_path):
    """A task is sent from node 0 to 1, and then fetches its file from node 2, when node 0's link fails: files come as
    if nothing had failed."""
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
def test_a_file_comes_from_a_node_that_has_failed_and_over_a_link_that_has(shared, tmp_path):
    """Its 5 MB come as if node 2, which has them, worked, and node 0's link did."""
    events = [{"node": 2, "at_s": 0.1}, {"link": [0, "switch"], "at_s": 0.1}]
    model = timeline(
        tmp_path, [{"cpu_ms": 10, "arrival_ms": 200}], cluster__nodes=3, **ONE_FILE, failures__event=events,
        **(STAR | shared),
    )  # fmt: skip
    model.run()
    assert life(model) == {"finish": ns(710), "cpu": ns(10), "migration": ns(500)}


@crosses("failure", "staging", "links")
def test_a_task_that_begins_anew_on_its_managers_node_shares_the_link_when_it_fetches_its_file(tmp_path):
    """A file of 5 MB is on node 2. Task 0 has it by 500, and its node fails at 600: node 1, which stands in for that,
    takes the task; from 610 on the file comes anew. At 660 it has 0.5 MB, and task 1 begins to fetch its own: each gets
    half the link until task 0 has the other 4.5, at 1560, and task 1 then its last 0.5."""
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
def test_what_a_running_task_has_written_goes_along(write_share, data_ms, shared, tmp_path):
    """A task computes 100 ms, with an access of 100 KB at its 50th, from 50 to 60. At 70 it is sent on: 20 ms and an
    image of 1 MB. After 60 ms of CPU it has written, by its rate of 0.01 accesses per ms, 0.06 MB, or nothing: they are
    read, sent, and written again."""
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
        # Saved at 40, with 1 MB: 20 ms, and one for the image.
        (50, 50 + 20 + 1, 110 - 40),
        # Saved at 80, with 15 MB.
        (90, 90 + 20 + 15, 110 - 80),
    ],
)
@crosses("checkpoint", "failure", "programs")
def test_the_image_of_a_checkpoint_is_what_the_task_held_then(fails_ms, enters_ms, left_ms, tmp_path):
    """A program holds 1 MB for 60 ms of CPU, and 15 for the next 50. It is saved every 40 ms, and its node fails."""
    phases = [{"cpu_ms": 60, "memory_mb": 1}, {"cpu_ms": 50, "memory_mb": 15}]
    model = timeline(
        tmp_path, [{"name": "it"}], phases, **CHECKPOINTS, failures__checkpoint_period_ms=40.0, **fails((0, fails_ms))
    )
    model.run()
    parts = {"cpu": ns(fails_ms + left_ms), "migration": ns(enters_ms - fails_ms)}
    assert life(model) == {"finish": ns(enters_ms + left_ms)} | parts


@pytest.mark.parametrize(("slow", "factor"), [((0,), 0.5), ((1,), 0.25), ((0, 1), 0.25), ((2,), 1.0)])
def test_a_link_between_two_nodes_is_as_slow_as_the_slower_of_them(slow, factor, tmp_path):
    """A task brings 4 MB from node 0 to 1: read in 40 ms, sent 10 later, at 1 MB per ms if nothing is wrong, and
    written in 40. Links of node 0 work at half their speed, of 1 and 2 at a quarter."""
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
