"""`step` with agents that step, `step` in compiled code and `run` leave the same bytes, whatever a scenario has."""

from __future__ import annotations

import numpy as np
import pytest
from support import BY_SIZE, busy, mostly_slow, needed_by, same_records, scenario

from cluster_abm import ClusterModel, InputError
from cluster_abm.engine.tables import BLOCK
from cluster_abm.model import Job, LoadManager, Node
from cluster_abm.policies import available
from cluster_abm.scenario import scenario_of
from cluster_abm.scenario.shipped import names_in

SHORT = {"workload__duration_s": 3.0}
PARALLEL = {
    "workload__tasks__parallel_share": 0.6, "workload__tasks__barrier_ms": 30.0,
    "workload__tasks__communication_ms": 3.0,
}  # fmt: skip
FEATURES = {
    "barriers": PARALLEL,
    "kills": {"cluster__swap_mb": 10.0, **PARALLEL},
    "failures": {
        "failures__node": {"kind": "exponential", "mean_up_s": 1.0, "mean_down_s": 0.3},
        "failures__checkpoint_period_ms": 500.0, "run__until": 8000.0, **PARALLEL,
    },
    "lost": {
        "failures__node": {"kind": "exponential", "mean_up_s": 1.0, "mean_down_s": 0.3},
        "failures__on_failure": "lost", "run__until": 8000.0,
    },
    "contended": {
        "interconnect__mode": "contended", "interconnect__kind": "bus", "workload__initial_data_mb__mean": 1.0,
        "policy__name": "iocm-pm",
    },
    "talking": {"policy__name": "work-stealing", "interconnect__latency_ms": 4.0},
    "head node": {"negotiation__mode": "head-node", "policy__name": "jsq", "interconnect__latency_ms": 5.0},
    "held": {"policy__name": "easy", **PARALLEL},
    "periodic": {"policy__name": "age"},
    "pooled": {"policy__name": "pooled", **PARALLEL},
    "background": {"workload__background": [{"node": 0, "memory_mb": 4.0, "cpu_share": 0.2, "period_ms": 100.0}]},
    "closed users": {"workload__arrivals__kind": "closed", "workload__arrivals__users_per_node": 2,
                     "workload__arrivals__jobs_per_user": 4},
    "degraded": {"failures__degrade": [{"device": "cpu", "factor": 0.5, "nodes": [1], "at_s": 0.7, "for_s": 1.0}]},
    "buffers": {
        "cluster__buffer_control__kind": "feedback", "workload__io_per_ms__mean": 0.1,
        "cluster__buffer_in_memory": True, "cluster__buffer_mb": 5.0, "cluster__memory_mb": 60.0,
    },
    "odd slices": {"cluster__slice_ms": 7.3, "cluster__quantum_ms": 33.3, "cluster__cores": 2},
}  # fmt: skip
QUICK = ("barriers", "kills", "failures", "contended", "talking", "held", "periodic", "pooled")


def check_the_same(setup, until_ms=None):
    """All three forms of a run; up to a time where one is given."""
    ran = ClusterModel(setup, seed=1)
    ran.run(until_ms=until_ms)
    for agents_step in (True, False):
        model = ClusterModel(setup, seed=1, agents_step=agents_step)
        while model.running and (until_ms is None or model.now_ms < until_ms):
            model.step()
        assert same_records(ran, model)
        assert ran.summary() == model.summary()
        assert ran.decisions_frame().equals(model.decisions_frame())
        assert ran.nodes_frame().equals(model.nodes_frame())
        # What is still under way, too.
        assert np.array_equal(ran.parts.measurements.loads(), model.parts.measurements.loads())
        assert np.array_equal(ran.parts.measurements.busy_ns(), model.parts.measurements.busy_ns())


@pytest.mark.slow
@pytest.mark.parametrize("feature", mostly_slow(FEATURES, QUICK))
def test_the_bytes_are_the_same_with_every_feature(feature):
    given = FEATURES[feature]
    settings = busy(**SHORT, policy__name=given.get("policy__name", "wal-pm")) | given
    if "closed" in feature:
        del settings["workload__utilisation"]
    check_the_same(scenario(**settings))


@pytest.mark.slow
@pytest.mark.parametrize("feature", FEATURES)
def test_no_node_has_an_event_before_what_is_noted_of_its_block(feature):
    """Else its block would be passed over. Two blocks and a part of a third one; run and step take turns."""
    given = FEATURES[feature]
    settings = busy(**SHORT, cluster__nodes=2 * BLOCK + 3, policy__name=given.get("policy__name", "wal-pm")) | given
    if "closed" in feature:
        del settings["workload__utilisation"]
    model = ClusterModel(scenario(**settings), seed=1)
    assert len(model.engine.tables.first_event_ns) >= (1 if feature == "pooled" else 3)
    while model.running:
        model.run(until_ms=model.now_ms + 170.0)
        model.step()
        events_ns = model.engine.serving_nodes["next_event_ns"]
        noted_ns = model.engine.tables.first_event_ns[np.arange(len(events_ns)) // BLOCK]
        assert (noted_ns <= events_ns).all()
        assert (events_ns >= model.now_ms * 1e6).all()


@pytest.mark.parametrize("policy", mostly_slow(sorted(available()), ("iolb", "prequal")))
def test_the_bytes_are_the_same_under_every_policy(policy):
    law = {} if policy in BY_SIZE else PARALLEL
    check_the_same(scenario(**busy(**SHORT, policy__name=policy) | law | needed_by(policy)))


# Those that replay a log of the user's need its file.
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in names_in("", ".toml") if not name.startswith("replay")])
def test_the_bytes_are_the_same_in_every_shipped_scenario(name):
    check_the_same(scenario_of(name), until_ms=3000.0)


def test_step_calls_every_agent_and_no_node_is_served_again(monkeypatch):
    model = ClusterModel(scenario(**busy(**SHORT)), seed=1)
    served, calls = [], {LoadManager: 0, Node: 0, Job: 0}
    for kind in calls:
        step = kind.step
        monkeypatch.setattr(
            kind, "step", lambda agent, kind=kind, step=step: calls.update({kind: calls[kind] + 1}) or step(agent)
        )
    advance = model.engine._compiled_advance
    monkeypatch.setitem(
        vars(model.engine), "_compiled_advance", lambda *given: served.append(given[-2:]) or advance(*given)
    )
    monkeypatch.setattr(model.engine, "serve", None)
    for _ in range(200):
        model.step()
    assert calls[Node] == calls[LoadManager] == 4 * 200
    assert calls[Job] > 0
    assert served
    assert all(last == first + 1 for first, last in served)


def test_a_node_that_mesa_no_longer_knows_is_served_all_the_same():
    setup = scenario(**busy(**SHORT))
    model = ClusterModel(setup, seed=1)
    model.node_agents[2].remove()
    while model.running:
        model.step()
    ran = ClusterModel(setup, seed=1)
    ran.run()
    assert same_records(ran, model)


def test_run_and_step_take_turns():
    setup = scenario(**busy(**SHORT) | PARALLEL)
    model, ran = ClusterModel(setup, seed=1), ClusterModel(setup, seed=1)
    ran.run()
    while model.running:
        model.run(until_ms=model.now_ms + 200.0)
        for _ in range(7):
            model.step()
    assert same_records(ran, model)
    assert ran.summary() == model.summary()


def test_a_models_own_step_leaps_within_run_and_steps_agents_without(monkeypatch):
    class Mine(ClusterModel):
        def step(self):
            super().step()

    calls, step = [], Node.step
    monkeypatch.setattr(Node, "step", lambda node: calls.append(node.index) or step(node))
    model = Mine(scenario(**busy(**SHORT)), seed=1)
    model.run(until_ms=100.0)
    assert calls == []
    model.step()
    assert calls == [0, 1, 2, 3]


def test_load_managers_of_failed_nodes_do_not_step(monkeypatch):
    calls, step = [], LoadManager.step
    monkeypatch.setattr(LoadManager, "step", lambda manager: calls.append(manager.index) or step(manager))
    model = ClusterModel(scenario(**busy(**SHORT)), seed=1)
    model.step()
    model.node_agents[1].fail()
    model.step()
    assert calls == [0, 1, 2, 3, 0, 2, 3]


def test_agents_step_is_a_flag():
    with pytest.raises(InputError, match="agents_step = 1"):
        ClusterModel("quickstart", agents_step=1)
    with pytest.raises(InputError, match="agents_step"):
        ClusterModel("quickstart", agent_step=False)
