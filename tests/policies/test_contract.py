"""What every policy must keep: run over all that are found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import busy, finished

from cluster_abm.engine.tables import LOAD
from cluster_abm.errors import InputError
from cluster_abm.policies import ArrivingTask, Hardware, Paths, View, available, create, describe
from cluster_abm.policy.capacities import capacities_of
from cluster_abm.policy.tasks import Demands
from cluster_abm.scenario.schema import PolicyChoice

NAMES = sorted(available())
PLACING = [name for name in NAMES if available()[name].acts_on_arrival and not available()[name].talks]
# One policy of each kind that sends tasks on which have lost their node.
RECOVERING = sorted({policy.recover: name for name, policy in sorted(available().items(), reverse=True)}.values())
DEMANDS = Demands(*(np.array(column) for column in ([1, 2, 1], [1.0, 30.0, 4000.0], [0.0, 0.1, 0.0], [1.0, 2.0, 3.0])))


def test_the_papers_and_the_yardsticks_are_there():
    assert {"none", "clb", "mlb", "iolb", "random", "round-robin", "jsq", "power-of-d"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_is(name):
    policy = available()[name]
    assert policy.name == name
    assert policy.source
    assert policy.summary
    assert policy.__doc__
    described = {entry["name"]: entry for entry in describe()}[name]
    assert all(parameter["meaning"] for parameter in described["parameters"])


@st.composite
def views(draw):
    count = draw(st.integers(1, 6))
    loads = np.zeros(count, LOAD)
    for name in LOAD.names:
        loads[name] = draw(st.lists(st.sampled_from([0.0, 0.5, 3.0, 40.0, 2000.0]), min_size=count, max_size=count))
    me = draw(st.integers(0, count - 1))
    others = [node for node in range(count) if node != me]
    refused = frozenset(draw(st.lists(st.sampled_from(others), unique=True)) if others else [])
    hardware = tuple(
        Hardware(draw(st.sampled_from([0.5, 1.0, 2.0])), 100.0, 0.5, 1.5, False, 8.1, 8.0, 40.0, 160.0)
        for _ in range(count)
    )
    return View(
        me,
        loads,
        hardware,
        Paths.alike(count, 128.0),
        100.0,
        lambda task, draw: (0.37 * (task + draw + 1)) % 1,
        refused,
        capacities=draw(st.sampled_from([None, capacities_of(hardware)])),
    )


newcomers = st.builds(
    ArrivingTask,
    task=st.integers(0, 10**6), job=st.integers(0, 10**6), home=st.integers(0, 5), cpu_ms=st.floats(0.01, 1e6),
    io_per_ms=st.sampled_from([0.0, 0.01, 1.0]), request_kb=st.floats(1, 1000), memory_mb=st.floats(0, 500),
    initial_data_mb=st.floats(0, 10),
)  # fmt: skip


@pytest.mark.parametrize("name", PLACING)
@settings(max_examples=8)
@given(data=st.data(), view=views(), arriving=newcomers)
def test_it_names_a_node_there_is_and_not_one_that_refused(name, data, view, arriving):
    policy = create(PolicyChoice(name=name))
    policy.prepare(DEMANDS, view.nodes)
    before = view.loads.copy()
    if policy.holds(arriving, 1, view):
        return
    decision = policy.place(arriving, view)
    assert 0 <= decision.target < view.nodes
    if not policy.central:  # it is never refused
        assert decision.target not in view.refused
    assert decision.rule
    assert np.array_equal(view.loads, before)
    assert isinstance(policy.accept(arriving, decision, view), str)


@pytest.mark.parametrize("name", RECOVERING)
@settings(max_examples=20)
@given(view=views(), arriving=newcomers)
def test_a_task_that_lost_its_node_goes_on_where_a_node_answers(name, view, arriving):
    before = view.loads.copy()
    decision = create(PolicyChoice(name=name)).recover(arriving, view)
    assert 0 <= decision.target < view.nodes
    assert decision.target not in view.refused
    assert np.array_equal(view.loads, before)


@pytest.mark.parametrize("mode", ["papers", "negotiated"])
@pytest.mark.parametrize("name", NAMES)
def test_it_finishes_all_work_in_both_modes_and_records_every_decision(name, mode):
    model = finished(3, **busy(policy__name=name, negotiation__mode=mode))
    jobs = model.summary()["jobs"]
    assert jobs["finished"] == jobs["submitted"] > 0
    frame, decided = model.jobs_frame(), model.decisions_frame()
    if not create(PolicyChoice(name=name)).acts_on_arrival:
        assert len(decided) == 0
        assert (frame["node"] == frame["home"]).all()
        return
    # The last decision about a task says where it ran.
    assert set(decided["task"]) == set(frame["task"])
    last = decided.groupby("task").last()
    settled = frame.set_index("task")["node"].reindex(last.index)
    assert (settled == last["target"].where(last["accepted"], last["source"])).all()
    assert (decided["accepted"] | (decided["reason"] != "")).all()
    metrics = model.summary()["metrics"]
    assert metrics["remote_executions"] == frame["remote"].sum()
    assert metrics["migrations"] == frame["migrations"].sum()
    if not model.policy.migrates:
        assert metrics["migrations"] == 0
        assert ((frame["node"] != frame["home"]) == frame["remote"]).all()


def test_a_wrong_parameter_is_named_with_what_is_allowed():
    with pytest.raises(InputError, match=r"policy\.indx.*did you mean 'policy\.index'"):
        create(PolicyChoice(name="iolb", indx="queue"))
    with pytest.raises(InputError, match=r"policy\.index = 'length'.*'remaining' or 'queue'"):
        create(PolicyChoice(name="iolb", index="length"))
    with pytest.raises(InputError, match=r"policy\.d = 0"):
        create(PolicyChoice(name="power-of-d", d=0))
    with pytest.raises(InputError, match=r"policy\.name = 'iobl'.*did you mean 'iolb'"):
        create(PolicyChoice(name="iobl"))


def test_a_scenario_may_hold_parameters_of_several_policies():
    assert create(PolicyChoice(name="none", index="queue", d=3)).name == "none"
    assert create(PolicyChoice(name="power-of-d", index="queue", d=3)).parameters.d == 3
