"""Placements without migration (WAL-PM section 5, IOCM section 3.4) against the transcription's loads;
and what must hold of all of WAL-PM's policies whichever node refuses."""

from __future__ import annotations

import itertools

import pytest
from support import breakdown_sum_ns, finished, same_records, scenario
from test_wal_pm import ALIKE, E_MS, F_MS, GROUPS, SMALL, WEIGHTS, Snapshot, crowded, least, near_tie

from cluster_abm import ClusterModel
from cluster_abm.model.agents import LoadManager
from cluster_abm.policies import create
from cluster_abm.scenario.schema import PolicyChoice

GREEDY = ("io-re", "cpu-based", "memory-based")
POLICIES = [
    ("wal-re", "io"), ("cm-re", ""), ("cpu-based", ""),
    *(pytest.param(*case, marks=pytest.mark.slow) for case in (
        ("wal-re", "half"), ("wal-re", "memory"), ("io-re", ""), ("memory-based", ""),
    )),
]  # fmt: skip


def watched(seed, settings, check):
    """A run in which `check(model, arriving task, view, decision)` is called after every decision."""
    model = ClusterModel(scenario(**settings), seed=seed)
    real_place = model.policy.place

    def place(arriving, view):
        decision = real_place(arriving, view)
        check(model, arriving, view, decision)
        return decision

    model.policy.place = place
    model.run()
    return model


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "weights"), POLICIES)
def test_papers_mode_places_by_the_papers_loads(policy, weights):
    compared = sent = stays = skipped = 0
    for seed, (nodes, more) in enumerate(SMALL):

        def check(model, arriving, view, decision, nodes=nodes):
            nonlocal compared, sent, stays, skipped
            see, home = Snapshot(model, nodes), arriving.home
            assert arriving.task not in [task.number for tasks in see.tasks for task in tasks]
            loads = see.load(policy, WEIGHTS.get(weights), home)
            if near_tie(see, loads, home):
                skipped += 1
                return
            moves = policy in GREEDY or loads[home] == max(loads)
            target = least(loads, home) if moves else home
            assert decision.target == target, (loads, home)
            compared += 1
            sent += target != home
            stays += not moves

        model = watched(seed, crowded(policy, weights, **more), check)
        frame = model.decisions_frame()
        assert model.summary()["metrics"]["remote_executions"] == (frame["source"] != frame["target"]).sum()
        assert model.summary()["metrics"]["migrations"] == 0
    assert compared > 800
    assert skipped < 60
    assert sent > 200
    assert (stays > 100) == (policy not in GREEDY)


def test_wal_re_by_io_alone_places_as_io_re_when_home_is_overloaded():
    io_re = create(PolicyChoice(name="io-re"))
    agreed = stayed = 0

    def check(model, arriving, view, decision):
        nonlocal agreed, stayed
        if view.load("io_load", arriving.home) >= max(view.load("io_load", node) for node in range(len(ALIKE))):
            assert decision.target == io_re.place(arriving, view).target
            agreed += decision.target != arriving.home
        else:
            assert decision.target == arriving.home
            stayed += 1

    watched(5, crowded("wal-re", "io"), check)
    assert agreed > 50
    assert stayed > 50


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["papers", "negotiated"])
def test_run_leaves_the_same_bytes_and_decisions_as_step(mode):
    settings = crowded("wal-pm", negotiation__mode=mode, interconnect__latency_ms=1.0)
    leapt = finished(3, **settings)
    stepped = ClusterModel(scenario(**settings), seed=3)
    while stepped.running:
        stepped.step()
    assert leapt.summary()["metrics"]["migrations"] > 20
    assert same_records(leapt, stepped)
    assert leapt.decisions_frame().equals(stepped.decisions_frame())
    assert leapt.summary() == stepped.summary()


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["wal-pm", "io-pm", "cm-pm"])
@pytest.mark.parametrize("answers", ["own", "one", "all"])
def test_negotiated_no_task_is_lost_or_run_twice_and_each_pays_its_moves(policy, answers):
    """`one`: of the nodes asked for a running task the first always refuses; `all`: every one does."""
    for seed in (1, 2):
        settings = crowded(policy, negotiation__mode="negotiated", workload__initial_data_mb__mean=0.2)
        model = ClusterModel(scenario(**settings), seed=seed)
        real_answer = LoadManager.answer
        asked = []

        def answer(manager, arriving, decision, asker, asked=asked, real_answer=real_answer):
            why_not = real_answer(manager, arriving, decision, asker)
            key = (manager.model.now_ns, asker.index, arriving.task)
            first = key not in asked
            asked.append(key)
            return "not today" if answers == "all" or (answers == "one" and first) else why_not

        real_migration = model.policy.migration

        def migration(arriving, view, real_migration=real_migration):
            decision = real_migration(arriving, view)
            if decision is not None:
                loads = known(view, decision.index)
                assert decision.load_there == min(loads[k] for k in range(5) if k not in view.refused)
                assert decision.load_there < sum(loads) / 5
            return decision

        model.policy.migration = migration
        for manager in model.load_managers:
            manager.answer = answer.__get__(manager)
        model.run()
        check_nothing_is_lost(model)
        offers = model.decisions_frame()
        offers = offers[offers["source"] != offers["target"]]
        moved = offers[offers["accepted"]]
        check_offers_in_turn(offers)
        metrics = model.summary()["metrics"]
        assert metrics["refused_offers"] == (~offers["accepted"]).sum()
        assert metrics["migrations"] + metrics["remote_executions"] == len(moved)
        assert (len(moved) == 0) == (answers == "all")
        assert answers != "one" or len(moved) > 3
        assert answers != "own" or len(moved) > 20
        paid_ms = model.jobs_frame().set_index("task")["migration_ms"]
        costs_ms = moved.groupby("task")["cost_ms"].sum().reindex(paid_ms.index, fill_value=0.0)
        assert paid_ms.to_numpy() == pytest.approx(costs_ms.to_numpy(), abs=1e-5)


def known(view, index):
    """The load index of every node as the load manager knows it."""
    if index != "weighted":
        return view.loads[index].tolist()
    return [(row["cpu_queue"] + row["io_load"]) / 2 for row in view.loads]


def check_nothing_is_lost(model):
    records = model.engine.sorted_records()
    assert sorted(records["task"]) == list(range(model.jobs["tasks"].sum()))
    assert model.engine.live == 0
    # Nodes alike: a task gets the CPU that it asks for, once.
    assert (records["cpu_ns"] == records["isolated_cpu_ns"]).all()
    assert (breakdown_sum_ns(records) == records["finish_ns"] - records["arrival_ns"]).all()


def check_offers_in_turn(offers):
    """A node that refused is not asked again for the same occasion, and the next one is no lighter."""
    assert offers["mce"].notna().all()
    assert (offers["cost_ms"] >= min(E_MS, F_MS)).all()
    refused_before = 0
    for (_, before), (_, now) in itertools.pairwise(offers.iterrows()):
        if not before["accepted"] and (before["time_ms"], before["source"]) == (now["time_ms"], now["source"]) and (
            now["target"] != before["target"]
        ):  # fmt: skip
            refused_before += 1
            if now["index"] == before["index"] and now["load_here"] == before["load_here"]:
                assert now["load_there"] >= before["load_there"]
    assert refused_before > 0 or offers["accepted"].all()


def test_a_newborn_has_age_0_so_that_its_effectiveness_is_0():
    frame = finished(0, **crowded("wal-pm")).decisions_frame()
    assert frame["mce"].count() > 50
    assert frame["mce"].min() == 0.0


def test_a_task_without_io_that_has_run_asks_for_none_on_a_slower_node_either():
    """Not served any further: an access that is due before now would never end."""
    settings = crowded("none", cluster__nodes=6, cluster__group=GROUPS, workload__no_io_share=1.0)
    model = ClusterModel(scenario(**settings), seed=1)
    while not (model.engine.nodes["running"][0] >= 0 and model.busy_ns()[0][0] > 0):
        model.step()
    slot = int(model.engine.nodes["running"][0])
    model.engine.migrate(slot, 1, 0, model.now_ns)
    assert model.engine.tasks["gap_left_ns"][slot] > model.engine.tasks["cpu_left_ns"][slot]
