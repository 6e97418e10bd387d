"""Load managers that decide in compiled code decide as they do in Python: the same bytes, decision by decision."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import COMPILED, busy, pairs, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.model.agents import LoadManager
from cluster_abm.policies import ArrivingTask, Decision, Policy, View, available

FAR = {"interconnect__kind": "clusters", "interconnect__clusters": 2, "interconnect__trunk_latency_ms": 480.0}
UNLIKE = {
    "cluster__group": [{"count": 2, "cpu_speed": 0.5, "memory_mb": 20.0}, {"count": 1, "disk_mb_per_s": 80.0}],
    "policy__heterogeneous": True,
}
FAILING = {
    "failures__node__kind": "exponential", "failures__node__mean_up_s": 3.0, "failures__node__mean_down_s": 1.0,
    "workload__duration_s": 8.0, "run__until": 12_000.0,
}  # fmt: skip
SITUATIONS = {
    "negotiated": {},
    "papers": {"negotiation__mode": "papers"},
    "head node": {"negotiation__mode": "head-node", "interconnect__latency_ms": 5.0},
    "no refusals": {"negotiation__refusals": False, "negotiation__offers": 1},
    "stale": {"cluster__exchange_period_ms": 5000.0, "interconnect__latency_ms": 40.0},
    "far": FAR,
    "lossy": {"interconnect__loss_share": 0.3, "negotiation__timeout_ms": 30.0},
    "unlike": UNLIKE,
    "failing": FAILING | {"failures__on_failure": "restart"},
    "failing far": FAILING | FAR | {"failures__on_failure": "checkpoint"},
    "swap": {"cluster__swap_mb": 20.0},
    "barriers": {"workload__tasks__barrier_ms": 20.0},
    "contended": FAR | {"interconnect__mode": "contended", "workload__initial_data_mb__mean": 1.0},
    "files": {"data__files": 20, "data__copies": 2, "workload__io_per_ms__mean": 0.01},
    "wrong sizes": {"workload__announced_error": 3.0},
    "unlike tasks": {"workload__task_cpu": "each", "workload__tasks__barrier_ms": 20.0},
    "closed users": {"workload__arrivals__kind": "closed", "workload__arrivals__jobs_per_user": 20},
}


def both(seed=3, **overrides):
    """The same run, decided in compiled code and in Python; and why the first one was not compiled."""
    setup = scenario(**overrides)
    models = [ClusterModel(setup, seed=seed, compile_decisions=compiles) for compiles in (True, False)]
    for model in models:
        model.run()
    assert models[1].decides_in_python == "compile_decisions is False"
    return (*models, models[0].decides_in_python)


def assert_alike(one, other):
    assert same_records(one, other)
    assert one.decisions_frame().equals(other.decisions_frame())
    assert one.nodes_frame().equals(other.nodes_frame())
    assert one.summary() == other.summary()


def test_every_policy_that_acts_on_arrivals_is_compiled_but_for_these():
    acting = {name for name, policy in available().items() if policy.acts_on_arrival}
    in_queues = {name for name in acting if available()[name].holds_jobs or available()[name].talks}
    assert acting - in_queues - {"pooled"} == set(COMPILED)


@pytest.mark.slow
@pytest.mark.parametrize("policy", COMPILED)
@pytest.mark.parametrize("situation", ["negotiated", "papers"])
def test_the_same_decisions(policy, situation):
    compiled, plain, reason = both(**busy(policy__name=policy, workload__duration_s=6.0, **SITUATIONS[situation]))
    assert reason == ""
    assert len(compiled.decisions_frame()) > 50
    assert_alike(compiled, plain)


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "choice"), [
    ("iocm-pm", {"policy__migrates_all": True}), ("iocm-pm", {"policy__io_rule": "imbalance"}),
    ("iocm-re", {"policy__io_rule": "imbalance"}), ("io-pm", {"policy__estimator": "closed-without-paging"}),
    ("iolb-pm", {"policy__index": "queue"}), ("iolb-pm", {"negotiation__mode": "head-node"}),
])  # fmt: skip
def test_the_same_decisions_by_what_a_policy_can_be_told(policy, choice):
    """And each choice makes some decision another one."""
    given = busy(
        policy__name=policy, workload__duration_s=8.0, workload__no_io_share=0.3, workload__utilisation=0.7,
        negotiation__migration_ms=2.0, negotiation__mode="papers", workload__write_share=0.0,
    )  # fmt: skip
    compiled, plain, reason = both(**(given | choice))
    assert reason == ""
    assert_alike(compiled, plain)
    without = ClusterModel(scenario(**given), seed=3)
    without.run()
    if "negotiation__mode" not in choice:
        assert not same_records(compiled, without)


def test_links_that_transfers_share_are_compared_in_python():
    model = ClusterModel(scenario(**busy(policy__name="iolb-net", **SITUATIONS["contended"])), seed=1)
    assert model.decides_in_python == "the policy compares the load of links that transfers share"


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "situation"), pairs(COMPILED, SITUATIONS))
def test_the_same_decisions_whatever_happens(policy, situation):
    overrides = busy(policy__name=policy) | SITUATIONS[situation]
    if situation == "closed users":
        overrides.pop("workload__utilisation", None)
    compiled, plain, _ = both(**overrides)
    assert_alike(compiled, plain)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["jsq", "iolb", "wal-pm", "power-of-d"])
def test_the_same_on_more_nodes_than_are_read_as_a_whole(policy):
    overrides = {
        "cluster__nodes": 300, "workload__utilisation": 0.8, "workload__duration_s": 1.5, "policy__name": policy,
        "workload__cpu_ms__mean": 200.0, "workload__io_per_ms__mean": 0.05,
    }  # fmt: skip
    compiled, plain, reason = both(**overrides)
    assert reason == ""
    assert_alike(compiled, plain)


@pytest.mark.slow
@settings(max_examples=12)
@given(
    policy=st.sampled_from(COMPILED), nodes=st.integers(1, 9), offers=st.integers(1, 9),
    mode=st.sampled_from(["papers", "negotiated"]), latency_ms=st.sampled_from([0.0, 0.3, 25.0]),
    period_ms=st.sampled_from([20.0, 300.0, 2000.0]), utilisation=st.sampled_from([0.3, 0.9]), seed=st.integers(0, 99),
)  # fmt: skip
def test_the_same_in_any_small_cluster(policy, nodes, offers, mode, latency_ms, period_ms, utilisation, seed):
    compiled, plain, reason = both(
        seed,
        **busy(
            policy__name=policy, cluster__nodes=nodes, negotiation__offers=offers, negotiation__mode=mode,
            interconnect__latency_ms=latency_ms, cluster__exchange_period_ms=period_ms, workload__duration_s=3.0,
            workload__utilisation=utilisation,
        ),
    )  # fmt: skip
    assert reason == ""
    assert_alike(compiled, plain)


def test_a_watched_run_and_one_without_records_decide_the_same():
    setup = scenario(**busy())
    kept, counted = ClusterModel(setup, seed=2), ClusterModel(setup, seed=2, keep_decisions=False)
    inbox = counted.parts.log.inbox()
    kept.run()
    counted.run()
    assert repr(inbox.take()) == repr(kept.parts.log.kept)
    assert kept.parts.log.taken == counted.parts.log.taken == len(kept.decisions_frame())


@pytest.mark.slow
def test_nodes_that_change_while_the_run_lasts():
    """Drained, slower and failed nodes: what happens to them between slices is seen by the next decision."""
    models = [ClusterModel(scenario(**busy()), seed=1, compile_decisions=compiles) for compiles in (True, False)]
    for model in models:
        model.run(until_ms=3000.0)
        model.node_agents[1].drain()
        model.node_agents[2].cpu_speed = 0.5
        model.run(until_ms=6000.0)
        model.node_agents[3].fail()
        model.run(until_ms=9000.0)
        model.node_agents[3].recover()
        model.run()
    assert_alike(*models)


def test_unlike_only_while_the_run_lasts():
    """What was compiled for alike nodes does not compare unlike ones: from then on managers decide in Python."""
    models = [
        ClusterModel(scenario(**busy(policy__heterogeneous=True, policy__name="jsq")), seed=1, compile_decisions=one)
        for one in (True, False)
    ]
    for model in models:
        model.run(until_ms=3000.0)
        model.node_agents[0].cpu_speed = 3.0
        model.run()
    assert_alike(*models)


class Answered(Policy):
    """To the node that is least loaded as far as it is known: nodes tell nothing but in answers to offers.

    Loads are read by one of the two methods, the other one reads none.
    """

    name = "answered"
    source = "a test"
    summary = "a test"
    rules = (("next", "next"),)
    uses_reports = False

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """As long as the node has few tasks."""
        return "" if view.load("tasks", view.me) < 3 else "drains: it accepts no further task"


class Chosen(Answered):
    """Loads are read by `place`."""

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The least known."""
        return Decision(view.least("tasks", task), "next")

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """Every other task."""
        return "" if task.task % 2 else "drains: it accepts no further task"


class Drawn(Answered):
    """Loads are read by `accept`."""

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """A drawn one."""
        return Decision(int(view.draw_nodes(task, 1, len(view.refused))[0]), "next")


@pytest.mark.slow
@pytest.mark.parametrize("policy", [Chosen, Drawn])
@pytest.mark.parametrize("situation", ["negotiated", "failing", "unlike"])
def test_what_only_answers_tell_is_known_where_one_method_reads_it(policy, situation):
    setup = scenario(**busy(policy__name="no-ls") | SITUATIONS[situation] | {"policy__heterogeneous": False})
    models = [ClusterModel(setup, seed=3, policy=policy, compile_decisions=compiles) for compiles in (True, False)]
    assert models[0].decides_in_python == ""
    for model in models:
        model.run()
    assert_alike(*models)
    assert models[0].summary()["metrics"]["refused_offers"] > 10


def test_a_method_put_in_the_place_of_another_one_is_called():
    model = ClusterModel(scenario(**busy(policy__name="jsq")), seed=1)
    assert model.decides_in_python == ""
    model.policy.place = lambda task, view: Decision(view.me, "mine")
    model.run()
    assert set(model.decisions_frame()["rule"]) == {"mine"}


class Own(LoadManager):
    """A load manager that keeps all tasks at home."""

    def place(self, task):
        """At home, after a look at what would have been."""
        found = super().place(task)
        return found._replace(target=self.index)


class OwnModel(ClusterModel):
    """With these managers."""

    load_manager_class = Own


@pytest.mark.slow
@pytest.mark.parametrize(("overrides", "reason"), [
    ({"policy__name": "none"}, "load managers do not decide about arriving tasks"),
    ({"policy__name": "batch-system"} | SITUATIONS["lossy"], "the policy holds jobs, and messages get lost"),
    ({"cluster__group": [{"count": 2, "policy": "jsq"}]}, "groups of nodes have policies of their own"),
    ({"policy__name": "wal-pm"} | SITUATIONS["files"], "tasks migrate, and so do the files that they have fetched"),
    ({"policy__name": "wal-pm"} | SITUATIONS["contended"], "tasks migrate over links that transfers share"),
    (
        {"policy__name": "wal-pm", "interconnect__kind": "torus"} | SITUATIONS["failing"],
        "tasks migrate over links that can fail",
    ),
    ({"policy__name": "round-robin"} | UNLIKE, "setitem"),
])  # fmt: skip
def test_why_they_decide_in_python(overrides, reason):
    assert reason in ClusterModel(scenario(**busy(**overrides)), seed=1).decides_in_python


def test_managers_of_ones_own_decide_in_python():
    model = OwnModel(scenario(**busy()), seed=1)
    assert model.decides_in_python == "the class of load managers has its own methods"
    model.run()
    frame = model.jobs_frame()
    assert (frame["home"] == frame["node"]).all()
    assert np.isfinite(frame["slowdown"]).all()
