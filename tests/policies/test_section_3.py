"""WAL-PM, section 3, as a simulation: four jobs, two nodes, remote execution against preemptive migration."""

import pytest
from support import scenario

from cluster_abm import ClusterModel

# Jobs 1 and 2 on node 1, job 3 on node 2, job 4 new at node 1; each access takes 8 ms.
JOBS = """arrival_ms,home,cpu_ms,io_per_ms,memory_mb,initial_data_mb,request_kb
0,0,300,4,0.2,30,1e-9
0,0,800,5,0.3,5,1e-9
0,1,400,1,0.4,15,1e-9
205,0,700,2,0.5,120,1e-9
"""


def io_loads_after_job_4(tmp_path, policy):
    """The run at the end of the slice in which job 4 came, and both nodes' I/O rates."""
    path = tmp_path / "jobs.csv"
    path.write_text(JOBS)
    model = ClusterModel(
        scenario(
            cluster__nodes=2, workload={"kind": "trace", "trace": {"file": str(path)}}, workload__write_share=0.0,
            policy={"name": policy, "cpu_weight": 0.0, "memory_weight": 0.0, "io_weight": 1.0},
            negotiation={"mode": "papers", "remote_execution_ms": 0.0, "migration_ms": 0.0},
        ),
        seed=1,
    )  # fmt: skip
    # Jobs 1 and 2 find an empty cluster and stay at home; job 2, which would go, has company before and after.
    places = {1: 0, 2: 0, 3: 1}
    for newcomers in model.parts.submissions.arrive(1):
        homes = model.jobs["home"][newcomers.job].astype(int)
        model.engine.admit(*newcomers, homes, 0 * homes)
    while model.now_ms < 210:
        model.step()
    live = {int(row["task"]) + 1: int(row["node"]) for row in model.engine.tasks if row["state"] > 0}
    assert {job: live[job] for job in (1, 3)} == {job: places[job] for job in (1, 3)}
    return model, live, [model.node_agents[node].loads["io_per_ms"] for node in (0, 1)]


def test_remote_execution_leaves_a_gap_of_6(tmp_path):
    model, live, loads = io_loads_after_job_4(tmp_path, "wal-re")
    assert (live[2], live[4]) == (0, 1)
    assert loads == [9.0, 3.0]
    # 120 MB: 937.5 ms through the network, 6000 ms for two disk passes.
    travel = model.engine.tasks[model.engine.tasks["task"] == 3]
    assert (travel["enter_ns"] - travel["arrival_ns"]) / 1e6 == pytest.approx(6937.5)


def test_migrating_job_2_closes_it(tmp_path):
    model, live, loads = io_loads_after_job_4(tmp_path, "wal-pm")
    assert (live[2], live[4]) == (1, 0)
    assert loads == [6.0, 6.0]
    decision = model.decisions_frame().query("task == 1").iloc[0]
    # Its image of 0.3 MB, and 5 MB: 39 ms of network and 250 ms of two disk passes.
    assert decision["cost_ms"] == pytest.approx(0.3 / 128 * 1000 + 39.0625 + 250.0)
    assert model.summary()["metrics"]["migrations"] == 1
