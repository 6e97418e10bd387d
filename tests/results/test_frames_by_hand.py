"""Every number of a frame that the page and films show, worked by hand on the runs of small_runs.py."""

from __future__ import annotations

import math

import pytest
from small_runs import begun

from cluster_abm.engine.tables import BREAKDOWN
from cluster_abm.model import Watcher


def frames(name, folder, *times_ms, job=None):
    """Frames of a run at these times, read by one watcher."""
    model = begun(name, folder)
    watcher, found = Watcher(model), []
    for time_ms in times_ms:
        model.run(until_ms=time_ms)
        found.append(watcher.frame(job))
    return found


def parts(life):
    return {part: ms for part, ms in life.breakdown_ms.items() if ms}


def test_nodes_and_totals_of_a_frame(tmp_path):
    """`disk`, from 20 to 40 ms. Node 0 computed 20-26, 27-37 and 38-40, its disk was busy but for 25-26 and 36-37; node
    1 computed 20-30 and 31-40. Four accesses have been made, the last is in service. Of 640 MB tasks have 1 each."""
    before, frame, end = frames("disk", tmp_path, 20.0, 40.0, 60.0)
    assert before.totals["disk_requests"] == 2
    assert (before.cpu_utilisation, before.disk_utilisation) == pytest.approx((14 / 40, 15 / 40))
    assert frame.cpu_utilisation == pytest.approx((18 + 19) / 40)
    assert frame.disk_utilisation == pytest.approx((18 + 0) / 40)
    assert frame.tasks.tolist() == [2.0, 1.0]
    assert frame.loads["cpu"].tolist() == [1.0, 1.0]
    assert frame.loads["memory"].tolist() == pytest.approx([200 / 640, 100 / 640])
    assert (frame.now_ms, frame.running, frame.up.tolist()) == (40.0, True, [True, True])
    assert math.isnan(frame.mean_slowdown)
    assert dict(frame.jobs) == {"submitted": 3, "finished": 0, "killed": 0, "lost": 0, "blocked": 0, "running": 3}
    assert dict(frame.totals) == {
        "migrations": 0, "remote_executions": 0, "refused_offers": 0, "disk_requests": 4, "page_faults": 0,
    }  # fmt: skip
    assert end.mean_slowdown == pytest.approx((43 / 40 + 53 / 40 + 1.55) / 3)
    assert (end.running, end.jobs["finished"], end.totals["disk_requests"]) == (False, 3, 4)


def test_imbalance_and_weighted_load(tmp_path):
    """`cpu load`, at 20 ms: 80 ms are ahead of node 0 and none of node 1. The LIF is 1 x (40 + 40). By thirds: a queue
    of 1 and 1 MB are each twice their means, and there is no I/O."""
    (frame,) = frames("cpu load", tmp_path, 20.0)
    assert frame.lif_ms == pytest.approx(80.0)
    assert frame.loads["weighted"].tolist() == pytest.approx([(2 + 2 + 0) / 3, 0.0])
    assert frame.loads["io"].tolist() == [0.0, 0.0]


def test_moves_are_of_one_frame_and_decisions_stay(tmp_path):
    before, frame, after = frames("cpu load", tmp_path, 20.0, 30.0, 40.0)
    assert (len(before.moves), len(before.decisions)) == (0, 1)
    assert [(one.task, one.source, one.target) for one in frame.moves] == [(1, 0, 1)]
    assert (len(after.moves), len(after.decisions)) == (0, 2)
    # A stay is no move, nor is an offer that was refused.
    (refused,) = frames("refused", tmp_path, 10.0)
    assert (len(refused.moves), len(refused.decisions), refused.totals["refused_offers"]) == (0, 4, 1)


@pytest.mark.parametrize(("run", "job", "time_ms", "state", "finished", "nodes", "breakdown"), [
    # T0 has ended. T1 waited from 20 to 31; what it does just now is not in it.
    ("disk", 2, 40.0, "running", 1, (1,), {"cpu": 10.0, "cpu_queue": 11.0}),
    ("disk", 0, 60.0, "finished", 1, (), {"cpu": 20.0, "cpu_queue": 3.0, "io": 20.0}),
    ("held", 1, 50.0, "held", 0, (), {}),
    ("held", 1, 200.0, "finished", 1, (), {"cpu": 20.0, "blocked": 90.0}),
    ("killed", 1, 100.0, "killed", 1, (), {}),
    ("lost", 0, 100.0, "lost", 1, (), {"cpu": 40.0}),
    ("migration", 0, 40.0, "running", 0, (1,), {"cpu": 20.0, "migration": 11.0}),
])  # fmt: skip
def test_the_life_of_a_job(run, job, time_ms, state, finished, nodes, breakdown, tmp_path):
    (frame,) = frames(run, tmp_path, time_ms, job=job)
    life = frame.life
    assert (life.job, life.state, life.finished_tasks, life.nodes) == (job, state, finished, nodes)
    assert life.tasks == (2 if (run, job) == ("disk", 2) else 1)
    assert parts(life) == breakdown
    assert tuple(life.breakdown_ms) == BREAKDOWN


@pytest.mark.parametrize(("run", "counts"), [
    ("killed", {"finished": 1, "killed": 1}), ("lost", {"finished": 1, "lost": 1}),
    ("cut", {"blocked": 1, "running": 1}),
])  # fmt: skip
def test_counts_of_jobs(run, counts, tmp_path):
    (frame,) = frames(run, tmp_path, 50.0)
    usual = dict.fromkeys(("finished", "killed", "lost", "blocked", "running"), 0)
    assert dict(frame.jobs) == usual | counts | {"submitted": 2}
