"""Reports, offers and answers: load managers with news that is old."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from support import busy, finished, scenario

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.policies import Decision


@pytest.mark.slow
def test_managers_know_themselves_exactly_and_the_others_as_last_reported():
    model = ClusterModel(scenario(**busy(cluster__exchange_period_ms=1000.0)), seed=1)
    at_report = None
    differed = False
    while model.now_ms < 8000:
        model.step()
        truth = np.array([model.true_loads(node)["cpu_ms"] for node in range(4)])
        if model.now_ms % 1000 == 0:
            at_report = truth.copy()
        if at_report is None:
            continue
        manager = model.load_managers[2]
        known = np.array(manager.known_loads()["cpu_ms"])
        assert known[2] == truth[2]
        for other in (0, 1, 3):
            if other not in model.parts.reports.learnt_by(manager.index):
                assert known[other] == at_report[other]
                differed |= known[other] != truth[other]
    assert differed


def test_reports_reach_the_others_after_the_networks_latency():
    # All at home and no node asked, so that nothing but reports is known.
    model = ClusterModel(scenario(**busy(interconnect__latency_ms=300.0, policy__name="jsq")), seed=1)
    model.policy.place = lambda arriving, view: Decision(view.me, "test")
    reported = {}
    differed = False
    while model.now_ms < 8000:
        model.step()
        if model.now_ms % 1000 == 0:
            reported[model.now_ms] = [model.true_loads(node)["cpu_ms"] for node in range(4)]
        newest = max((sent for sent in reported if sent + 300 <= model.now_ms), default=None)
        if newest is not None:
            known = model.load_managers[0].known_loads()["cpu_ms"]
            assert known[1:] == reported[newest][1:]
            differed |= newest + 1000 <= model.now_ms and reported[newest] != reported[newest + 1000]
    assert differed


def offers_to_node_3(answer, **more):
    """A run in which every node but 3 offers each arriving task to node 3; (time, asker, what it knew of node 3)."""
    settings = busy(negotiation__remote_execution_ms=0.0, negotiation__offers=1) | more
    model = ClusterModel(scenario(**settings), seed=1)
    asked = []

    def place(arriving, view):
        if view.me == 3:
            return Decision(3, "test")
        asked.append((model.now_ms, view.me, view.load("tasks", 3), model.true_loads(3)["tasks"]))
        return Decision(3, "test")

    model.policy.place = place
    model.policy.accept = lambda arriving, decision, view: answer
    return model, asked


@pytest.mark.parametrize("answer", ["", "not today"])
def test_an_answer_carries_the_state_of_who_gives_it_reservation_included(answer):
    model, asked = offers_to_node_3(answer, cluster__exchange_period_ms=100_000.0)
    model.run()
    times = [time for time, *_ in asked]
    same_slice = [
        (before, now) for before, now in pairwise(asked) if before[:2] == now[:2] and times.count(now[0]) == 2
    ]
    assert same_slice
    for before, now in same_slice:
        # Asked again in the same slice: it knows what is true, the task it has just sent included.
        assert now[2] == now[3] == before[3] + (not answer)


@pytest.mark.slow
def test_a_report_sent_before_an_answer_does_not_overwrite_it():
    model, _ = offers_to_node_3("", cluster__exchange_period_ms=1000.0, interconnect__latency_ms=400.0)
    late = []
    while model.running:
        model.step()
        for manager in model.load_managers:
            for told_ns in model.parts.reports.learnt_by(manager.index).values():
                late.append(model.now_ns - told_ns)
    # Told right after a report was sent, it stays until the next one is here.
    assert max(late) > 1_000e6
    assert max(late) <= 1_400e6


def test_reports_do_not_pile_up_while_nobody_decides():
    model = ClusterModel(scenario(**busy(workload__duration_s=2.0)), seed=1)
    while model.running:
        model.step()
        assert model.parts.reports.in_transit <= 1


def test_in_mode_papers_everybody_knows_the_truth():
    model = ClusterModel(scenario(**busy(negotiation__mode="papers")), seed=1)
    checked = 0
    real = model.policy.place

    def place(arriving, view):
        nonlocal checked
        for node in range(4):
            assert view.load("io_ms", node) == float(model.true_loads(node)["io_ms"])
        checked += 1
        return real(arriving, view)

    model.policy.place = place
    model.run()
    assert checked > 50


def test_a_refused_offer_goes_to_the_next_best_until_offers_run_out():
    model = ClusterModel(scenario(**busy(policy__name="jsq", negotiation__offers=2)), seed=1)
    model.policy.accept = lambda arriving, decision, view: "not today"
    model.run()
    frame = model.decisions_frame()
    assert (model.jobs_frame()["node"] == model.jobs_frame()["home"]).all()
    offers = frame[frame["source"] != frame["target"]]
    assert len(offers) > 10
    assert (offers["reason"] == "not today").all()
    by_task = offers.groupby("task")["target"]
    assert by_task.count().max() == 2
    assert by_task.nunique().equals(by_task.count())
    assert model.summary()["metrics"]["refused_offers"] == len(offers)


def test_refusals_happen_because_news_is_old_and_not_when_it_is_fresh():
    def refused(**more):
        settings = busy(policy__name="jsq", workload__utilisation=0.9, workload__duration_s=40.0)
        return finished(2, **(settings | more)).summary()["metrics"]["refused_offers"]

    assert refused(cluster__exchange_period_ms=1000.0) > 10
    assert refused(negotiation__mode="papers") == 0


def test_a_remote_start_takes_the_cost_of_the_formula_and_counts_as_migration_time():
    """e + d/b_net + 2 d/b_disk: 100 + 2 MB x (1000/128 + 2 x 1000/40) ms = 215.625 ms, by hand."""
    model = ClusterModel(
        scenario(**busy(negotiation__remote_execution_ms=100.0, workload__initial_data_mb__mean=2.0)), seed=1
    )
    model.policy.place = lambda arriving, view: Decision((view.me + 1) % 4, "test")
    model.policy.accept = lambda arriving, decision, view: ""
    model.run()
    frame = model.jobs_frame()
    assert len(frame) > 20
    assert frame["migration_ms"].to_numpy() == pytest.approx(215.625)


def test_every_question_and_answer_costs_twice_the_latency():
    model = ClusterModel(
        scenario(**busy(negotiation__remote_execution_ms=0.0, interconnect__latency_ms=5.0, interconnect__kind="star")),
        seed=1,
    )
    answers = iter(["no", ""] * 10_000)
    model.policy.place = lambda arriving, view: Decision(
        next(node for node in range(4) if node != view.me and node not in view.refused), "test"
    )
    model.policy.accept = lambda arriving, decision, view: next(answers)
    model.run()
    # Two nodes asked, there and back, over two links of 5 ms; then the task goes there.
    assert model.jobs_frame()["migration_ms"].to_numpy() == pytest.approx((2 * 2 + 1) * 2 * 5.0)


def test_an_accepted_task_is_counted_at_its_target_at_once():
    model = ClusterModel(scenario(**busy(negotiation__remote_execution_ms=500.0)), seed=1)
    model.policy.place = lambda arriving, view: Decision(3, "test")
    while not model.engine.live:
        model.step()
    arrived = model.submitted_jobs
    assert model.true_loads(3)["tasks"] == model.jobs["tasks"][:arrived].sum()
    assert model.true_loads(3)["memory_mb"] > 0


def test_views_are_read_only():
    """What a policy wrote there all others would take for true."""
    model = ClusterModel(scenario(**busy()), seed=1)
    view = model.parts.views.of(1)
    for column in (view.loads["tasks"], view.column("cpu_ms")):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1.0


@pytest.mark.parametrize("target", [-1, 4])
def test_a_policy_that_names_no_node_is_named(target):
    model = ClusterModel(scenario(**busy(policy__name="jsq")), seed=1)
    model.policy.place = lambda arriving, view: Decision(target, "mine")
    with pytest.raises(InputError, match=f"policy 'jsq': it chose node {target}; allowed are 0 to 3"):
        model.run()


@pytest.mark.parametrize(
    ("where", "said"), [(0, "is to migrate from node 1, where it is not"), (1, "a task of node 1 is to migrate to it")]
)
def test_a_policy_that_migrates_what_it_has_not_is_named(where, said):
    model = ClusterModel(scenario(**busy(policy__name="wal-pm")), seed=1)
    model.policy.place = lambda arriving, view: Decision(view.me, "mine")

    def elsewhere(arriving, view):
        return Decision(where, "mine", task=replace(view.candidate(0), task=10**6)) if view.me == 1 else None

    model.policy.migration = elsewhere
    with pytest.raises(InputError, match=f"policy 'wal-pm': .*{said}"):
        model.run()
