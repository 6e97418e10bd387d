"""Nodes and links with two causes of failure, such as a scenario's plan and an agent: when they are up, and counts."""

from __future__ import annotations

from support import act_at
from test_failures import LONG, two_nodes

from cluster_abm import ClusterModel
from cluster_abm.policies import Decision


def test_a_node_that_an_agent_fails_stays_down_until_the_agent_recovers_it(tmp_path):
    """The plan has node 0 down from 2 to 3 s, and from 6 to 7. An agent fails it at 1 s and recovers it at 5: these 4 s
    are one failure. From 5 s on only the plan counts."""
    model = two_nodes(tmp_path, [(0, 1, 10_000, 0, 8, 1, 0)], [(0, 2.0, 1.0), (0, 6.0, 1.0)])
    act_at(model, (1_000, 0, "fail"))
    seen = []
    for at_s in (2.5, 3.5, 4.5, 5.5, 6.5, 7.5):
        model.run(until_ms=at_s * 1000)
        seen.append((model.node_agents[0].is_up, model.summary()["metrics"]["node_failures"]))
        if at_s == 4.5:
            act_at(model, (5_000, 0, "recover"))
    assert seen == [(False, 1), (False, 1), (False, 1), (True, 1), (False, 2), (True, 2)]
    # Down from 1 to 5 s and from 6 to 7.
    assert model.parts.availability.down_ns(model.now_ns).tolist() == [5_000_000_000, 0]


def test_a_failed_node_that_was_draining_accepts_tasks_when_it_is_back(tmp_path):
    """Node 0 drains from 1 s on, and an agent fails it at 2 s: when it is back, at 3 s, its own job starts there."""
    model = two_nodes(tmp_path, [LONG, (4_000, 0, 1_000, 0, 8, 1, 0)], [])
    act_at(model, (1_000, 0, "drain"), (2_000, 0, "fail"), (3_000, 0, "recover"))
    assert not model.node_agents[0].is_draining
    model.run()
    # The first went to node 1, its 2 s of work lost.
    assert model.jobs_frame().set_index("job")["node"].sort_index().tolist() == [1, 0]


def test_lost_work_is_counted_while_its_task_still_runs(tmp_path):
    """A task has had 4 s of CPU when its node fails; at 5 s it runs on the other node, from scratch."""
    model = two_nodes(tmp_path, [LONG], [(0, 4.0, None)])
    model.run(until_ms=5_000)
    metrics = model.summary()["metrics"]
    assert model.summary()["jobs"]["running"] == 1
    assert (metrics["lost_cpu_ms"], metrics["restarts"], metrics["node_failures"]) == (4_000, 1, 1)


def test_a_link_that_two_causes_take_down_fails_once_and_is_up_when_both_have_ended(tmp_path):
    """One event takes node 0's link down from 1 to 3 s, another one from 2 to 4."""
    plain = two_nodes(tmp_path, [LONG], [], interconnect__kind="star")
    outages = [
        {"link": link, "at_s": at_s, "for_s": 2.0} for link, at_s in (([0, "switch"], 1.0), (["switch", 0], 2.0))
    ]
    model = ClusterModel(plain.setup, seed=1, failures__event=outages)
    seen = []
    for at_s in (0.5, 1.5, 2.5, 3.5, 4.5):
        model.run(until_ms=at_s * 1000)
        reaches = model.network.routes_from(0)[0][1] > 0
        seen.append((bool(reaches), model.summary()["metrics"]["link_failures"]))
    assert seen == [(True, 0), (False, 1), (False, 1), (False, 1), (True, 1)]


def test_the_decision_about_a_task_that_has_lost_its_node_names_that_node(tmp_path):
    """Both jobs have home 2. The second task runs on node 0, which fails: home sends the task to the empty node 1."""
    jobs = [(0, 2, 10_000, 0, 8, 1, 0), (100, 2, 10_000, 0, 8, 1, 0)]
    model = two_nodes(tmp_path, jobs, [(0, 4.0, None)], nodes=3, policy__name="jsq")
    model.run(until_ms=5_000)
    decided = model.decisions_frame()
    # The first task starts at home; then nodes 0 and 1 are empty, and node 0 is the next one after home.
    assert decided[["task", "source", "target"]].to_numpy().tolist() == [[0, 2, 2], [1, 2, 0], [1, 0, 1]]
    assert decided["time_ms"].tolist() == [0, 100, 4_000]
    assert decided["accepted"].all()


def test_a_transfer_turns_back_when_an_agent_fails_a_node_on_its_route(tmp_path):
    """A ring of five, and no planned failure: the route from node 0 to 2 passes node 1. The transfer begins at 5 ms and
    would take more than e = 100; at 50 node 1 fails, 45 ms later. The task runs for 1000 ms at home."""
    model = two_nodes(
        tmp_path, [(5, 0, 1_000, 0, 8, 1, 1)], [], nodes=5, policy__name="jsq", interconnect__kind="torus",
        interconnect__dimensions=[5],
    )  # fmt: skip
    model.policy.place = lambda arriving, view: Decision(2, "test")
    act_at(model, (50, 1, "fail"))
    model.run()
    task = model.jobs_frame().iloc[0]
    assert (task["node"], task["finish_ms"], task["migration_ms"]) == (0, 1_050, 45)
