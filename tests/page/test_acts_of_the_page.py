"""Acts in the page: as text for the address, what a browser may send, and the scenario that follows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import scenario

from cluster_abm.errors import InputError
from cluster_abm.scenario.script import Act
from viz.acts import MOST_ACTS, WITHOUT, acts_of, tables_of_acts, text_of
from viz.address import query_of, texts_of
from viz.settings import check_acts, scenario_with, script_of, settings_of
from viz.tasks import tasks_of

FAIL = {"at_s": 54.2, "act": "fail", "node": 3}
SMALL = scenario(cluster__nodes=4, workload__jobs=10)
TIMES = st.floats(0, 1e9)
NUMBERS = st.integers(0, 10**9)
ACTS = st.one_of(
    st.builds(Act, at_s=TIMES, act=st.sampled_from(["fail", "drain", "recover"]), node=NUMBERS),
    st.builds(Act, at_s=TIMES, act=st.just("slow"), node=NUMBERS, device=st.sampled_from(["cpu", "disk", "link"]),
              factor=st.floats(1e-9, 1)),
    st.builds(Act, at_s=TIMES, act=st.just("kill"), job=NUMBERS),
    st.builds(Act, at_s=TIMES, act=st.just("send"), task=NUMBERS, node=NUMBERS),
    st.builds(Act, at_s=TIMES, act=st.just("arrivals"), factor=st.floats(1e-9, 1e6)),
)  # fmt: skip


@given(st.lists(ACTS, max_size=8))
def test_acts_are_what_their_text_says(acts):
    assert [Act.model_validate(table) for table in acts_of(text_of(acts))] == acts


def test_the_text_is_short():
    acts = [FAIL, {"at_s": 60, "act": "slow", "node": 1, "device": "disk", "factor": 0.2}]
    assert text_of(Act.model_validate(act) for act in acts) == "fail@54.2:n3;slow@60:n1:disk:x0.2"


@pytest.mark.parametrize("text", [
    "x", "fail@nan:n3", "fail@:n3", ";", "fail@1:n3;", "fail@1:n3:n3:n3:n3:n3", "a" * 99,
    "fail@1:n1.5", "fail@1.2.3:n1", "send@1:t9:n3:n4",
])  # fmt: skip
def test_a_text_of_no_act_is_refused(text):
    with pytest.raises(ValueError, match="no act"):
        acts_of(text)
    with pytest.raises(InputError, match="no act"):
        scenario_with(SMALL, replace(settings_of(SMALL), script=text), "none")


@pytest.mark.parametrize("sent", [
    None, {}, "fail", [1], [{"act": "fail"}], [FAIL | {"why": 1}], [FAIL | {"node": "3"}], [FAIL | {"node": True}],
    [FAIL | {"at_s": None}], [FAIL | {"act": "x" * 30}], [FAIL] * (MOST_ACTS + 1), [FAIL | {"node": 10**400}],
])  # fmt: skip
def test_a_browser_may_send_nothing_else(sent):
    with pytest.raises(InputError, match="script"):
        tables_of_acts(sent)


@pytest.mark.parametrize(("act", "why"), [
    ({"at_s": 1, "act": "fail", "node": 4}, "script.0.node 4: must be below cluster.nodes 4"),
    ({"at_s": 1, "act": "explode", "node": 1}, "script.0.act"),
    ({"at_s": -1, "act": "fail", "node": 1}, "script.0.at_s"),
    ({"at_s": 1, "act": "slow", "node": 1, "device": "disk", "factor": 3.0}, "script.0.factor 3"),
])  # fmt: skip
def test_what_is_wrong_is_said_with_its_entry(act, why):
    assert tables_of_acts([act]) == [act]
    with pytest.raises(InputError) as caught:
        script_of(SMALL, [act])
    assert why in str(caught.value.problems)


def test_the_scenario_has_the_acts_and_they_are_in_the_address():
    first = settings_of(SMALL)
    changed = replace(first, script=script_of(SMALL, [FAIL]))
    assert scenario_with(SMALL, changed, "jsq").script == (Act.model_validate(FAIL),)
    offered = {"policy": ["jsq"], "other": [WITHOUT], "hardware": []}
    assert texts_of(query_of(changed, first), offered)[0]["script"] == "fail@54.2:n3"
    own = scenario(cluster__nodes=4, workload__jobs=10, script=[FAIL])
    assert settings_of(own).script == "fail@54.2:n3"
    assert scenario_with(own, replace(settings_of(own), script=""), "jsq").script == ()


def test_beside_it_the_same_policy_without_acts():
    settings = replace(settings_of(SMALL), policy="jsq", other=WITHOUT, script="fail@54.2:n3")
    tasks = tasks_of(settings)
    assert [task.policies for task in tasks.values()] == [("jsq",), ("jsq",)]
    assert [task.settings["script"] for task in tasks.values()] == ["fail@54.2:n3", ""]
    # The second run is that of a page without acts, which may have been computed before.
    assert tasks["B"].key == tasks_of(replace(settings, script="", other=""))["A"].key


@pytest.mark.parametrize("chosen", [{"policy": "pooled"}, {"policy": "jsq", "other": "pooled"}])
def test_no_policy_that_pools_all_nodes_beside_acts(chosen):
    settings = replace(settings_of(SMALL), **chosen)
    check_acts(settings)
    check_acts(replace(settings, policy="jsq", other="", script="fail@1:n3"))
    with pytest.raises(InputError, match="script: policy 'pooled' pools all nodes"):
        check_acts(replace(settings, script="fail@1:n3"))
