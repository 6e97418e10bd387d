"""Policies with parameters of their own in lists: NAME[PARAMETER=VALUE,...]."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import scenario

from cluster_abm.errors import InputError
from cluster_abm.policies import create, name_of
from cluster_abm.scenario import load_scenario
from cluster_abm.scenario.policy_names import current_name, in_parts, labelled, named_policy, plain_name
from cluster_abm.scenario.schema import PolicyChoice
from cluster_abm.study.design.policies import check_policies, with_policy

LABEL = "power-of-d[d=3,information=fresh]"
WORDS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=8)
VALUES = st.one_of(
    st.booleans(),
    st.integers(-9, 9),
    st.floats(-1e6, 1e6),
    WORDS,
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=3),
)


def test_a_label_is_taken_apart():
    assert named_policy("jsq") == ("jsq", {})
    assert named_policy("power-of-d[ d = 3 , information=fresh ]") == (
        "power-of-d", {"d": 3, "information": "fresh"}
    )  # fmt: skip
    assert named_policy("a/b[1]/mine.py:Mine[shares=[0.25, 0.75],by='a,b']") == (
        "a/b[1]/mine.py:Mine", {"shares": [0.25, 0.75], "by": "a,b"}
    )  # fmt: skip
    assert in_parts("jsq, power-of-d[d=3,k=[1,2]],x['a,]'],") == ["jsq", "power-of-d[d=3,k=[1,2]]", "x['a,]']"]
    assert plain_name(LABEL) == "power-of-d"
    assert current_name("ideal[heterogeneous = true]") == "pooled[heterogeneous=true]"


@given(st.dictionaries(st.from_regex(r"[a-z][a-z_]{0,6}", fullmatch=True).filter("name".__ne__), VALUES, min_size=1))
def test_a_label_gives_what_it_was_made_of(parameters):
    label = labelled("jsq", parameters)
    assert named_policy(label) == ("jsq", parameters)
    assert in_parts(f"none,{label},iolb") == ["none", label, "iolb"]
    assert current_name(label) == label


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("jsq[]", "nothing in the brackets"),
        ("jsq[d]", "'d' is no PARAMETER=VALUE"),
        ("jsq[=3]", "is no PARAMETER=VALUE"),
        ("jsq[d=]", "is no PARAMETER=VALUE"),
        ("jsq[name=3]", "is no PARAMETER=VALUE"),
        ("jsq[d=1,d=2]", "parameter 'd' is given twice"),
    ],
)
def test_what_is_no_label_is_refused(text, words):
    with pytest.raises(InputError, match=words):
        name_of(text)
    with pytest.raises(InputError, match=words):
        load_scenario("quickstart", {"policy.name": text})
    with pytest.raises(InputError, match=words):
        load_scenario("quickstart", {"compare.policies": ["none", text]})


def test_a_scenario_keeps_a_label_and_what_other_policies_share():
    made = scenario(policy__name=LABEL, policy__heterogeneous=True)
    choice = made.policy
    assert (choice.name, choice.label) == ("power-of-d", LABEL)
    assert choice.parameters == {"d": 3, "information": "fresh", "heterogeneous": True}
    assert (choice.own_parameters, choice.shared_parameters) == (
        {"d": 3, "information": "fresh"}, {"heterogeneous": True}
    )  # fmt: skip
    for again in (PolicyChoice(**choice.model_dump()), pickle.loads(pickle.dumps(choice)), choice.model_copy()):
        assert (again, again.label) == (choice, LABEL)
    other = with_policy(made, "jsq").policy
    assert (other.label, other.parameters) == ("jsq", {"heterogeneous": True})
    assert with_policy(made, "power-of-d[d=5]").policy.parameters == {"heterogeneous": True, "d": 5}
    with pytest.raises(InputError, match=r"policy\.d is 4: give one of them"):
        scenario(policy__name=LABEL, policy__d=4)


def test_a_parameter_of_a_label_belongs_to_its_policy():
    # `d` alone may be meant for another policy of a comparison; in a label it cannot.
    create(PolicyChoice(name="jsq", d=3))
    with pytest.raises(InputError, match=r"'jsq\[d=3\]': it has no parameter 'd'"):
        create(PolicyChoice(name="jsq[d=3]"))
    with pytest.raises(InputError, match=r"policy\.information = 'old'"):
        create(PolicyChoice(name="jsq[information=old]"))


def test_labels_tell_policies_apart():
    check_policies(["jsq", "jsq[information=fresh]", "power-of-d[d=3]"])
    with pytest.raises(InputError, match=r"'jsq\[information=fresh\]' is named twice"):
        check_policies(["jsq[information=fresh]", "jsq[information=fresh]"])
    with pytest.raises(InputError, match="'jqs': no such policy; did you mean 'jsq'"):
        check_policies(["jqs[information=fresh]"])
