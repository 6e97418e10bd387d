"""Tetris: dot products worked by hand, and schedules in which only memory, or only a disk, is short."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support import scenario
from test_scores_of_nodes import NODE, view_of

from cluster_abm import ClusterModel
from cluster_abm.policies import ArrivingTask, WaitingJobs, create
from cluster_abm.policy.waiting import RUNNING, WAITING, no_cores
from cluster_abm.scenario.schema import PolicyChoice

# Of node 0 are free: half of four cores, 60 of 100 MB, 0.8 of the disk; of node 1: all cores, 10 MB, 0.4.
LOADS = {"queue": [2.0, 0.0], "memory_mb": [40.0, 90.0], "at_disk": [0.2, 0.6]}
# Needs 1/4, 0.2 and 0; home is node 1.
COMPUTES = {"home": 1, "memory_mb": 20.0}
# Half its time at the disk: 0.5/4, 0.1 and 0.5; home is node 0.
READS = {"home": 0, "memory_mb": 10.0, "io_per_ms": 0.1}


def queue_of(*jobs):
    rows = np.zeros(len(jobs), WAITING)
    tasks = []
    for place, job in enumerate(jobs):
        rows["job"][place], rows["tasks"][place] = place, job.get("tasks", 1)
        tasks.append(
            ArrivingTask(place, place, job["home"], 100.0, job.get("io_per_ms", 0.0), 200.0, job["memory_mb"], 0.0)
        )
    return WaitingJobs(rows, tasks.__getitem__)


def started(jobs, hardware=(NODE, NODE), live=1, refused=(), **how):
    """The place of the job that starts, and the nodes of its tasks."""
    policy = create(PolicyChoice(name="tetris", **how))
    view = view_of(hardware, refused=refused, **LOADS)
    view.cores_of_all = lambda refused: replace(no_cores(), running=np.zeros(live, RUNNING))
    queue = queue_of(*jobs)
    place = policy.next_job(queue, view)
    if place < 0:
        return place, []
    tasks = jobs[place].get("tasks", 1)
    return place, policy.cores_for(queue.first_task(place), tasks, view).tolist()


@pytest.mark.slow
def test_the_largest_dot_product():
    """What computes fits on node 0 alone (memory): 1/4 0.5 + 0.2 0.6 = 0.245, a tenth less away from home: 0.2205.
    What reads fits there alone, too (disk): 1/8 0.5 + 0.1 0.6 + 0.5 0.8 = 0.5225."""
    assert started([COMPUTES, READS], srtf_weight=0.0) == (1, [0])
    # At the same home, without memory, by the free cores: 1/4 0.5 on node 0, 1/4 1.0 on node 1; a penalty of half.
    light = COMPUTES | {"memory_mb": 0.0, "home": 0}
    assert started([light], remote_penalty=0.4) == (0, [1])
    assert started([light], remote_penalty=0.6) == (0, [0])


@pytest.mark.slow
def test_short_remaining_work_counts_against_it():
    """Work: (1/4 + 0.2) 100 ms = 45; what reads takes 200 ms: 0.725 200 = 145. Mean alignment 0.3715, mean work 95:
    0.2205 - 0.3715/95 45 = 0.0445 is more than 0.5225 - 0.3715/95 145 = -0.0445. With weight 1/2 it is 0.1325 against
    0.2390."""
    assert started([COMPUTES, READS]) == (0, [0])
    assert started([COMPUTES, READS], srtf_weight=0.5) == (1, [0])


def test_only_what_fits_is_started_and_whole():
    """50 MB fit on node 0 once, not twice; 61 MB on neither. Of tasks of a core and 20 MB node 0 has room for two, by
    its cores, and node 1 for none, by its memory: a job of three waits."""
    assert started([COMPUTES | {"memory_mb": 50.0, "tasks": 2}]) == (-1, [])
    assert started([COMPUTES | {"memory_mb": 61.0}]) == (-1, [])
    assert started([COMPUTES | {"memory_mb": 61.0}, READS]) == (1, [0])
    assert started([COMPUTES | {"tasks": 2}]) == (0, [0, 0])
    assert started([COMPUTES | {"tasks": 3}]) == (-1, [])
    # Without memory: two cores of node 0, four of node 1, from the fullest vector on.
    place, nodes = started([COMPUTES | {"memory_mb": 0.0, "tasks": 6}])
    assert (place, sorted(nodes)) == (0, [0, 0, 1, 1, 1, 1])


def test_what_never_fits_starts_at_once_on_the_emptiest_node():
    """150 MB fit on no node: node 0 has half of its scarcest resource left, node 1 a tenth."""
    assert started([READS, COMPUTES | {"memory_mb": 150.0}]) == (1, [0])
    # Nine tasks of a core each for eight cores.
    place, nodes = started([COMPUTES | {"memory_mb": 0.0, "tasks": 9}])
    assert place == 0
    assert sorted(nodes)[:2] == [0, 0]
    # Two nodes could hold it; one of them is down.
    pair = COMPUTES | {"memory_mb": 90.0, "tasks": 2}
    assert started([pair]) == (-1, [])
    assert started([pair], refused=(1,)) == (0, [0, 0])


def test_an_idle_cluster_starts_the_oldest():
    """Background programs leave too little: no end of a task will ever change that."""
    assert started([COMPUTES | {"memory_mb": 61.0}], live=0) == (0, [0])


def run_of(tmp_path, rows, **cluster):
    path = tmp_path / "jobs.csv"
    path.write_text("arrival_ms,home,cpu_ms,io_per_ms,memory_mb\n" + "".join(f"{row}\n" for row in rows))
    keys = {f"cluster__{name}": value for name, value in cluster.items()}
    model = ClusterModel(
        scenario(
            workload={"kind": "trace", "trace": {"file": str(path)}}, policy__name="tetris",
            negotiation__remote_execution_ms=0.0, cluster__context_switch_ms=0.0, cluster__buffer_mb=0.0, **keys,
        ),
        seed=1,
    )  # fmt: skip
    model.run()
    return model.jobs_frame().sort_values("job")


@pytest.mark.slow
def test_cores_alone_do_not_make_room(tmp_path):
    """One node of four cores and 100 MB: of three jobs of 60 MB one at a time, and one of 40 MB beside it."""
    rows = ["0,0,95,0,60", "1,0,95,0,60", "2,0,95,0,40", "3,0,95,0,60"]
    frame = run_of(tmp_path, rows, nodes=1, cores=4, memory_mb=100.0, page_fault_rate_per_ms=0.0)
    assert frame["finish_ms"].tolist() == [95, 195, 97, 295]


@pytest.mark.slow
def test_jobs_of_unlike_needs_share_a_node(tmp_path):
    """Two nodes of one core: two jobs that compute have one each; the third waits for a core."""
    frame = run_of(tmp_path, ["0,0,95,0,1", "1,0,95,0,1", "2,0,95,0,1"], nodes=2)
    assert frame["finish_ms"].tolist() == [95, 96, 195]
    assert frame["node"].tolist()[:2] == [0, 1]


@pytest.mark.parametrize("nodes", [1, 3])
def test_no_job_waits_for_ever(tmp_path, nodes):
    """Random jobs, some larger than any node, with a background program that leaves little."""
    random = np.random.default_rng(5)
    rows = [
        f"{10 * at},0,{random.integers(1, 200)},{random.choice([0.0, 0.02])},{random.integers(1, 150)}"
        for at in range(40)
    ]
    path = tmp_path / "jobs.csv"
    path.write_text("arrival_ms,home,cpu_ms,io_per_ms,memory_mb\n" + "".join(f"{row}\n" for row in rows))
    model = ClusterModel(
        scenario(
            workload={
                "kind": "trace", "trace": {"file": str(path)},
                "background": [{"node": 0, "cpu_share": 0.9, "memory_mb": 50.0}],
            },
            policy__name="tetris", cluster__nodes=nodes, cluster__memory_mb=100.0, cluster__buffer_in_memory=False,
        ),
        seed=1,
    )  # fmt: skip
    model.run()
    assert model.summary()["jobs"]["finished"] == 40
