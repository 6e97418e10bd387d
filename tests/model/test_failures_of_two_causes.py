"""Nodes that fail by a scenario's plan and by an agent's doing: when they are up, and how failures are counted."""

from __future__ import annotations

from test_failures import LONG, two_nodes


def test_a_node_that_an_agent_fails_is_up_when_the_agent_recovers_it_whatever_the_plan_says(tmp_path):
    """The plan has node 0 out from 2 to 3 s, and from 6 to 7. An agent fails it at 1 s and recovers it at 5: until then
    it has failed once. From 5 s on only the plan counts."""
    model = two_nodes(tmp_path, [(0, 1, 10_000, 0, 8, 1, 0)], [(0, 2.0, 1.0), (0, 6.0, 1.0)])
    model.run(until_ms=1_000)
    model.node_agents[0].fail()
    seen = []
    for at_s in (2.5, 3.5, 4.5, 5.5, 6.5, 7.5):
        model.run(until_ms=at_s * 1000)
        seen.append((model.node_agents[0].is_up, model.summary()["metrics"]["node_failures"]))
        if at_s == 4.5:
            model.run(until_ms=5_000)
            model.node_agents[0].recover()
    assert seen == [(False, 1), (False, 1), (False, 1), (True, 1), (False, 2), (True, 2)]
    # Out from 1 to 5 s and from 6 to 7.
    assert model.parts.availability.down_ns(model.now_ns).tolist() == [5_000_000_000, 0]


def test_a_failed_node_that_was_draining_accepts_tasks_when_it_is_back(tmp_path):
    """Node 0 drains from 1 s on, and an agent fails it at 2 s: when it is back, at 3 s, its own job starts there."""
    model = two_nodes(tmp_path, [LONG, (4_000, 0, 1_000, 0, 8, 1, 0)], [])
    model.run(until_ms=1_000)
    model.node_agents[0].drain()
    model.run(until_ms=2_000)
    model.node_agents[0].fail()
    model.run(until_ms=3_000)
    model.node_agents[0].recover()
    assert not model.node_agents[0].is_draining
    model.run()
    # The first went to node 1, its 2 s of work lost.
    assert model.jobs_frame().set_index("job")["node"].sort_index().tolist() == [1, 0]


def test_work_that_was_lost_is_counted_while_its_task_still_runs(tmp_path):
    """A task had 4 s of CPU when its node failed: at 5 s it runs elsewhere, and they were for nothing."""
    model = two_nodes(tmp_path, [LONG], [(0, 4.0, None)])
    model.run(until_ms=5_000)
    metrics = model.summary()["metrics"]
    assert model.summary()["jobs"]["running"] == 1
    assert (metrics["lost_cpu_ms"], metrics["restarts"], metrics["node_failures"]) == (4_000, 1, 1)
