"""Reports and offers that travel the graph: each on its own way, some of them never to arrive."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support import busy, finished, same_records, scenario, steps_with_reports

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.model import assembly
from cluster_abm.model.knowing.reports import Reports
from cluster_abm.model.part import wire
from cluster_abm.policies import Decision

# Two clusters of two nodes; 10 ms from a node to its switch, 480 ms between the switches: 20 ms near, 500 ms far.
FAR = {
    "interconnect__kind": "clusters",
    "interconnect__clusters": 2,
    "interconnect__latency_ms": 10.0,
    "interconnect__trunk_latency_ms": 480.0,
}


def watched(**more):
    """A model whose tasks all stay at home, and what each node's load was at each report."""
    model = ClusterModel(scenario(**busy(policy__name="jsq", **FAR, **more)), seed=1)
    model.policy.place = lambda arriving, view: Decision(view.me, "test")
    return model


def test_each_report_arrives_after_the_latency_of_its_own_way():
    model = watched()
    # The two nodes of a cluster are one audience.
    assert model.parts.reports.known.audience.tolist() == [0, 0, 1, 1]
    differed = 0
    for reported in steps_with_reports(model, 8000):
        known = model.load_managers[0].known_loads()["cpu_ms"]
        for node, latency_ms in ((1, 20), (2, 500), (3, 500)):
            newest = max((sent for sent in reported if sent + latency_ms <= model.now_ms), default=None)
            assert known[node] == (0.0 if newest is None else reported[newest][node])
        near, far = (max((sent for sent in reported if sent + ms <= model.now_ms), default=0) for ms in (20, 500))
        differed += near > far and known[1] != reported[far][1]
    assert differed > 10


def test_an_answer_is_newer_than_a_report_sent_before_it_and_older_than_one_sent_after():
    model = watched()
    manager, reports = model.load_managers[0], model.parts.reports
    while model.now_ms < 1200:
        model.step()
    told = model.true_loads(2).copy()
    told["cpu_ms"] = 12_345.0
    reports.learn(manager.index, 2, told)
    # The report of 1000 ms comes at 1500 ms: it was sent before the answer.
    while model.now_ms < 1900:
        model.step()
        assert manager.known_loads()["cpu_ms"][2] == 12_345.0
    # That of 2000 ms comes at 2500 ms.
    while model.now_ms < 2490:
        model.step()
    assert manager.known_loads()["cpu_ms"][2] == 12_345.0
    while model.now_ms < 2510:
        model.step()
    assert manager.known_loads()["cpu_ms"][2] != 12_345.0


def test_asking_far_away_takes_longer():
    model = ClusterModel(scenario(**busy(negotiation__remote_execution_ms=0.0, **FAR)), seed=1)
    model.policy.place = lambda arriving, view: Decision((view.me + 1) % 4, "test")
    model.policy.accept = lambda arriving, decision, view: ""
    model.run()
    frame = model.jobs_frame()
    # There and back, and there with the task: three times the way. From 0 to 1 and from 2 to 3 it is near.
    expected = np.where(frame["home"] % 2 == 0, 3 * 20.0, 3 * 500.0)
    assert frame["migration_ms"].to_numpy() == pytest.approx(expected)


@pytest.mark.parametrize("share", [0.1, pytest.param(0.6, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_so_many_messages_get_lost(share):
    """Of N questions, each lost there or back, 1 - (1 - p)^2 get no answer: within five standard errors."""
    model = ClusterModel(
        scenario(**busy(
            interconnect__loss_share=share, policy__name="jsq", negotiation__offers=1, workload__duration_s=150.0,
            negotiation__timeout_ms=30.0, workload__cpu_ms__mean=20.0, workload__io_per_ms__mean=0.0,
        )), seed=2,
    )  # fmt: skip
    model.policy.place = lambda arriving, view: Decision((view.me + 1) % 4, "test")
    model.policy.accept = lambda arriving, decision, view: ""
    model.run()
    frame = model.decisions_frame()
    unanswered = (frame["reason"] == "no answer").mean()
    expected = 1 - (1 - share) ** 2
    assert len(frame) > 3000
    assert abs(unanswered - expected) < 5 * math.sqrt(expected * (1 - expected) / len(frame))
    # A task without an answer waited for it, and stayed at home.
    tasks = model.jobs_frame().set_index("task").loc[frame[frame["reason"] == "no answer"]["task"]]
    assert (tasks["migration_ms"] == 30.0).all()
    assert not tasks["remote"].any()


@pytest.mark.slow
def test_lost_reports_leave_old_news_and_each_manager_loses_others():
    model = watched(interconnect__loss_share=0.5, workload__duration_s=60.0)
    differ = looks = 0
    while model.now_ms < 50_000:
        model.step()
        if model.now_ms % 1000 == 600:
            one, other = (model.load_managers[node].known_loads()["cpu_ms"] for node in (0, 1))
            # Both are as far from node 3; what they know of it differs if one has lost the last report.
            differ += one[3] != other[3]
            looks += 1
    # With chance 1/2 just one of them has it; loads that have not changed hide some.
    assert looks / 10 < differ < looks * 0.8


def test_when_nothing_differs_far_reports_are_the_near_ones(monkeypatch):
    """Where all routes are alike, each manager as an audience of its own: the same decisions and records."""
    settings = busy(policy__name="wal-pm", interconnect__latency_ms=4.0, interconnect__kind="star")
    near = finished(3, **settings)
    assert near.parts.reports.known.table.shape[0] == 1
    monkeypatch.setattr(
        assembly,
        "reports_of",
        lambda setup, parts, are_sent: wire(
            Reports,
            parts,
            audience=np.arange(4),
            period_ms=setup.cluster.exchange_period_ms,
            missed_reports=setup.negotiation.missed_reports,
            are_sent=are_sent,
        ),
    )
    far = finished(3, **settings)
    assert far.parts.reports.known.table.shape[0] == 4
    assert same_records(near, far)
    assert near.decisions_frame().equals(far.decisions_frame())


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["jsq", "wal-pm", "working-set"])
def test_run_and_step_leave_the_same_bytes_far_apart_and_with_losses(policy):
    settings = busy(policy__name=policy, interconnect__loss_share=0.3, workload__duration_s=6.0, **FAR)
    ran = finished(3, **settings)
    stepped = ClusterModel(scenario(**settings), seed=3)
    while stepped.running:
        stepped.step()
    assert same_records(ran, stepped)
    assert ran.decisions_frame().equals(stepped.decisions_frame())


def herding(policy, period_ms, seed=1, **more):
    settings = {
        "cluster__nodes": 16, "cluster__context_switch_ms": 0.0, "cluster__exchange_period_ms": period_ms,
        "workload__utilisation": 0.8, "workload__duration_s": 120.0, "workload__cpu_ms__mean": 1000.0,
        "workload__memory_mb__kind": "fixed", "workload__memory_mb__mean": 1.0, "negotiation__refusals": False,
        "negotiation__remote_execution_ms": 0.0, "policy__name": policy,
    } | more  # fmt: skip
    return finished(seed, **settings).summary()["metrics"]["mean_response_ms"]


@pytest.mark.slow
def test_old_news_makes_the_shortest_queue_herd_and_two_choices_less_and_chance_not_at_all():
    """Mitzenmacher 2000: the older the news, the worse for jsq; two random choices bear it better."""
    mean = {
        (policy, period): np.mean([herding(policy, period, seed) for seed in (1, 2, 3)])
        for policy in ("jsq", "power-of-d", "random")
        for period in (50.0, 10_000.0)
    }
    assert mean["jsq", 50.0] < mean["power-of-d", 50.0] < mean["random", 50.0]
    worse = {policy: mean[policy, 10_000.0] / mean[policy, 50.0] for policy in ("jsq", "power-of-d", "random")}
    assert worse["jsq"] > 1.5 * worse["power-of-d"]
    assert worse["power-of-d"] > 1.2
    assert worse["random"] == 1.0


def test_refusals_keep_the_herd_apart():
    free, refusing = (
        np.mean([herding("jsq", 10_000.0, seed, negotiation__refusals=on) for seed in (1, 2)]) for on in (False, True)
    )
    assert refusing < 0.8 * free


@pytest.mark.slow
def test_where_views_differ_there_is_room_for_so_many():
    """Every manager's table of every node: 12,000 of them would take 30 GB. A policy without reports needs none."""
    many = {"cluster__nodes": 12_000, "workload__duration_s": 0.1, "interconnect__loss_share": 0.1, **FAR}
    with pytest.raises(InputError, match=r"cluster.nodes = 12000: .* GB .*'clusters'.*allowed are \d+ nodes"):
        ClusterModel(scenario(policy__name="jsq", **many))
    # Where nothing gets lost the nodes of a cluster know the same: two tables.
    ClusterModel(scenario(policy__name="jsq", **many | {"interconnect__loss_share": 0.0}))
    ClusterModel(scenario(policy__name="none", **many))
    ClusterModel(scenario(policy__name="jsq", negotiation__mode="papers", **many))
