"""Groups of nodes with policies of their own, which negotiate with each other."""

from __future__ import annotations

import pytest
from support import busy, finished, same_records, scenario

from cluster_abm import ClusterModel, InputError
from cluster_abm.model import LoadManager
from cluster_abm.policies import available


def mixed(*groups, **more):
    return busy(cluster__group=list(groups), **more)


HALF = ({"count": 2, "policy": "jsq"},)


def test_each_manager_decides_by_its_own_policy_and_answers_by_it():
    model = finished(1, **mixed({"count": 2, "policy": "jsq"}, workload__utilisation=0.7))
    assert [manager.policy.name for manager in model.load_managers] == ["jsq", "jsq", "iolb", "iolb"]
    assert model.summary()["policy"] == model.policy_name == "mixed(jsq:2,iolb:2)"
    frame = model.decisions_frame()
    by_source = frame.groupby("source")["rule"].unique()
    assert set(by_source[0]) == set(by_source[1])
    assert not set(by_source[0]) & set(by_source[2])
    refused = frame[~frame["accepted"] & (frame["source"] != frame["target"])]
    words = refused.groupby("target")["reason"].unique()
    # Either kind is asked by the other, and refuses in its own words.
    assert any("queue" in word for word in words[0])
    assert not any("queue" in word for word in words[2])
    assert len(refused[(refused["source"] < 2) & (refused["target"] >= 2)])


def test_a_group_that_names_the_policy_all_have_changes_nothing():
    plain = finished(1, **busy())
    grouped = finished(1, **mixed({"count": 3, "policy": "iolb"}))
    assert same_records(plain, grouped)
    assert grouped.summary()["policy"] == "iolb"
    assert plain.decisions_frame().equals(grouped.decisions_frame())


def test_parameters_of_a_group_are_its_own():
    group = {"count": 2, "policy": "power-of-d", "policy_parameters": {"d": 3}}
    model = ClusterModel(scenario(**mixed(group, policy__name="power-of-d", policy__d=2)), seed=1)
    assert [manager.policy.parameters.d for manager in model.load_managers] == [3, 3, 2, 2]


@pytest.mark.slow
@pytest.mark.parametrize(
    "groups",
    [
        ({"count": 1, "policy": "none"}, {"count": 1, "policy": "wal-pm"}),
        ({"count": 2, "policy": "random"}, {"count": 1, "policy": "load-class"}),
        ({"count": 2, "policy": "hbd"}, {"count": 2, "policy": "round-robin"}),
    ],
)
@pytest.mark.parametrize("mode", ["papers", "negotiated"])
def test_run_and_step_leave_the_same_bytes(groups, mode):
    settings = mixed(*groups, negotiation__mode=mode, workload__duration_s=6.0)
    ran, stepped = finished(2, **settings), ClusterModel(scenario(**settings), seed=2)
    while stepped.running:
        stepped.step()
    assert same_records(ran, stepped)
    assert ran.decisions_frame().equals(stepped.decisions_frame())
    assert ran.summary() == stepped.summary()


MIXABLE = [
    name
    for name, policy in available().items()
    if not (policy.pooled or policy.central or policy.holds_jobs or policy.talks)
]


@pytest.mark.slow
@pytest.mark.parametrize("other", ["jsq", "iolb", "wal-pm"])
@pytest.mark.parametrize("name", MIXABLE)
def test_any_two_policies_can_negotiate(name, other):
    settings = mixed({"count": 2, "policy": name}, policy__name=other, workload__duration_s=4.0)
    model = finished(1, **settings)
    assert model.summary()["jobs"]["running"] == 0


def test_an_offer_is_judged_by_the_index_of_the_node_that_is_asked():
    """An iolb manager (I/O load) offers to a jsq one, which takes what finds fewer tasks there, whatever the I/O."""
    settings = mixed({"count": 2, "policy": "jsq"}, workload__utilisation=0.7)
    model = ClusterModel(scenario(**settings), seed=1)
    judged = []
    for manager in model.load_managers[:2]:

        def answer(task, decision, asker, manager=manager):
            reason = LoadManager.answer(manager, task, decision, asker)
            here, there = (model.true_loads(node)["tasks"] for node in (asker.index, manager.index))
            if asker.index >= 2:
                judged.append((reason == "", there < here))
            return reason

        manager.answer = answer
    model.run()
    assert len(judged) > 50
    assert all(accepted == fewer for accepted, fewer in judged)
    assert {accepted for accepted, _ in judged} == {True, False}


def test_a_node_whose_policy_never_acts_keeps_its_arrivals_and_takes_those_of_others():
    model = finished(1, **mixed({"count": 2, "policy": "none"}, workload__utilisation=0.8))
    frame = model.jobs_frame()
    assert (frame[frame["home"] < 2]["node"] < 2).all()
    assert frame[frame["home"] >= 2]["node"].lt(2).any()
    assert not model.decisions_frame()["source"].lt(2).any()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (mixed({"count": 2, "policy": "pooled"}), "cluster.group.policy = 'pooled': it pools all nodes"),
        (mixed({"count": 2, "policy": "batch-system"}), "'batch-system': it decides at one head node"),
        (mixed({"count": 2, "policy": "no-ls-blocking"}), "'no-ls-blocking': it holds jobs in queues"),
        (mixed({"count": 2, "policy": "jsqq"}), r"cluster\.group\.0\.policy = 'jsqq': no such policy; .*jsq"),
        (mixed({"count": 2, "policy": "jsq", "policy_parameters": {"d": 2}}),
         r"cluster\.group\.0\.policy_parameters\.d: 'jsq' has no such parameter"),
        (mixed({"count": 2, "policy": "power-of-d", "policy_parameters": {"d": 0}}),
         r"cluster\.group\.0\.policy_parameters\.d = 0"),
        (mixed({"count": 2, "policy": "wal-pm", "policy_parameters": {"rates": "effective"}}),
         "count I/O rates in different ways"),
    ],
)  # fmt: skip
def test_what_cannot_be_mixed_is_named(settings, words):
    with pytest.raises(InputError, match=words):
        ClusterModel(scenario(**settings), seed=1)


@pytest.mark.parametrize(
    ("group", "words"),
    [
        ({"count": 2, "policy_parameters": {"d": 2}}, "of which policy is not said"),
        ({"count": 2, "policy": "jsq", "policy_parameters": {"name": "iolb"}}, "is named by its key policy"),
    ],
)
def test_parameters_without_a_policy(group, words):
    with pytest.raises(InputError, match=words):
        scenario(**mixed(group))
