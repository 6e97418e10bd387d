"""An agent takes memory from a node, or fails it: jobs end at once, and memory is divided anew."""

from __future__ import annotations

import numpy as np
import pytest
from support import scenario
from test_failures import LONG, two_nodes

from cluster_abm import ClusterModel, InputError
from cluster_abm.model import Job


def submitted(model: ClusterModel) -> list[int]:
    """Numbers of the jobs that have an agent."""
    return sorted(agent.job for agent in model.agents_by_type[Job])


@pytest.mark.parametrize("act", ["memory", "fail"])
def test_a_job_that_an_act_ends_loses_its_agent_at_once(act, tmp_path):
    """Two jobs of 8 MB run on node 0, one on node 1. RAM of 10 MB without swap holds one of node 0's jobs: the newer
    one is killed. If node 0 fails, both are lost."""
    jobs = [LONG, (5, 0, 10_000, 0, 8, 1, 0), (5, 1, 10_000, 0, 8, 1, 0)]
    model = two_nodes(
        tmp_path, jobs, [], failures__on_failure="lost", cluster__swap_mb=0.0, cluster__buffer_in_memory=False
    )
    model.run(until_ms=1_000)
    assert submitted(model) == [0, 1, 2]
    if act == "memory":
        model.node_agents[0].memory_mb = 10.0
    else:
        model.node_agents[0].fail()
    assert submitted(model) == ([0, 2] if act == "memory" else [2])


@pytest.mark.slow
def test_a_node_whose_memory_is_set_anew_gets_its_buffer_of_the_set_up_again():
    """RAM is 1000 MB, the buffer has 100 of it, and a controller has let it grow by 5: 895 MB are left to programs. RAM
    has to stay above the buffer's 100. With 103 MB the buffer has its 100 again, and programs have 3."""
    model = ClusterModel(
        scenario(cluster__memory_mb=1000.0, cluster__buffer_mb=100.0, cluster__buffer_in_memory=True), seed=1
    )
    nodes = model.engine.nodes
    model.engine.grow_buffers(np.array([5_000, 5_000, 0, 0]), 0)
    assert nodes["user_memory_kb"].tolist() == [895_000, 895_000, 900_000, 900_000]
    with pytest.raises(InputError, match="must be above the 100 MB"):
        model.node_agents[0].memory_mb = 100
    model.node_agents[0].memory_mb = 103
    assert nodes["user_memory_kb"].tolist() == [3_000, 895_000, 900_000, 900_000]
    assert nodes["buffer_kb"].tolist() == [100_000, 105_000, 100_000, 100_000]
    assert nodes["buffer_shift_kb"].tolist() == [0, 5_000, 0, 0]


def test_a_job_that_no_node_takes_is_killed_beside_one_that_waits_at_a_manager(tmp_path):
    """Two nodes of one slot. Jobs 0 and 1 run for 10 s, job 2 waits for a slot. Both nodes drain at 1 s, so that job 3,
    submitted at 2 s, has no manager; killed at 3 s it counts, and the others end."""
    jobs = [(at, 0, 10_000, 0, 8, 1, 0) for at in (5, 15, 25, 2_000)]
    model = two_nodes(tmp_path, jobs, [], policy__name="central-queue", policy__slots_per_core=1)
    model.run(until_ms=1_000)
    for node in model.node_agents:
        node.drain()
    model.run(until_ms=3_000)
    assert model.conversation.waiting.count == 1
    agents = {agent.job: agent for agent in model.agents_by_type[Job]}
    agents[3].kill()
    assert model.summary()["jobs"]["killed"] == 1
    assert model.parts.submissions.held == {2}
    for node in model.node_agents:
        node.recover()
    model.run()
    jobs_by_end = model.summary()["jobs"]
    assert (jobs_by_end["finished"], jobs_by_end["killed"]) == (3, 1)
