"""What a policy takes from outside the run, what it prints and what it returns: named, or harmless."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import time
from time import monotonic

import pytest
from support import scenario

import cluster_abm as ca
from cluster_abm import ClusterModel
from cluster_abm.errors import PolicyFault
from cluster_abm.policy.finding.mistakes import mistakes_in

KINDS = frozenset({"a", "b"})
JOBS = {"workload__duration_s": 5.0, "workload__utilisation": 0.5, "cluster__nodes": 3}


def hashed(self, task, view):
    return ca.Decision(hash("a") % view.nodes, "r")


def numbered(self, task, view):
    return ca.Decision(id(view) % view.nodes, "r")


def timed(self, task, view):
    return ca.Decision(int(time.time()) % view.nodes, "r")


def timed_by_name(self, task, view):
    return ca.Decision(int(monotonic()) % view.nodes, "r")


def dated(self, task, view):
    return ca.Decision(datetime.datetime.now().second % view.nodes, "r")


def from_the_system(self, task, view):
    return ca.Decision(os.urandom(1)[0] % view.nodes, "r")


def imported(self, task, view):
    import random

    return ca.Decision(random.randrange(view.nodes), "r")


def first_of_a_set(self, task, view):
    for kind in {"a", "b"}:
        return ca.Decision(int(kind == "a") % view.nodes, "r")


def first_of_a_global_set(self, task, view):
    return ca.Decision(0 if next(iter(KINDS)) == "a" else 1, "r")


@pytest.mark.parametrize(("place", "drawn"), [
    (hashed, "hash()"), (numbered, "id()"), (timed, "time.time"), (timed_by_name, "time.monotonic"),
    (dated, "datetime.now"), (from_the_system, "os.urandom"), (imported, "random"),
    (first_of_a_set, "the order of a set of texts"), (first_of_a_global_set, "the order of a set of texts"),
])  # fmt: skip
def test_what_no_seed_begins_is_named(place, drawn):
    policy = type("Mine", (ca.Policy,), {"place": place})
    (said,) = mistakes_in(policy)
    assert f"draws from {drawn}" in said.replace("datetime.datetime", "datetime")


def test_a_set_in_which_a_text_is_looked_up_is_no_chance():
    class Mine(ca.Policy):
        time = 3
        kinds = ("a", "b")

        def place(self, task, view):
            is_known = "a" in KINDS and "b" in {"a", "b"} and sorted(KINDS) == ["a", "b"]
            return ca.Decision(view.me if is_known else 0, "r")

    assert not list(mistakes_in(Mine))


@pytest.mark.parametrize(("attributes", "meant"), [
    ({"act_every_ms": 100.0}, "acts_every_ms"), ({"migrate": True}, "migrates"), ({"summery": "words"}, "summary"),
    ({"use_reports": False}, "uses_reports"),
])  # fmt: skip
def test_a_misspelt_attribute_is_named(attributes, meant):
    (said,) = mistakes_in(type("Mine", (ca.Policy,), attributes))
    assert f"would never be read: is {meant!r} meant?" in said


def test_names_of_a_policys_own_are_its_own():
    mine = type("Mine", (ca.Policy,), {"rule": "least", "limit": 3, "_act_every_ms": 1.0, "names": ("a",)})
    assert not list(mistakes_in(mine))


def run_of(place, **attributes):
    policy = type("Mine", (ca.Policy,), {"place": place, "name": "mine", **attributes})
    model = ClusterModel(scenario(**JOBS), seed=1, policy=policy())
    model.run()
    return model


@pytest.mark.parametrize(("decide", "said"), [
    (lambda view: ca.Decision(view.me, "\ud800"), "rule '\\ud800'"),
    (lambda view: ca.Decision(view.me, "r", reason="\udfff"), "reason '\\udfff'"),
    (lambda view: ca.Decision(view.me, "r", load_here=10**400), "load_here 1000"),
])  # fmt: skip
def test_what_no_file_can_hold_is_told_when_it_is_returned(decide, said):
    with pytest.raises(PolicyFault) as caught:
        run_of(lambda self, task, view: decide(view))
    assert said in str(caught.value)
    assert "place returned" in str(caught.value)


def test_a_reason_of_a_refusal_that_no_file_can_hold():
    with pytest.raises(PolicyFault, match=r"accept returned .*UTF-8"):
        run_of(
            lambda self, task, view: ca.Decision(view.next_node if not view.refused else view.me, "r"),
            accept=lambda self, task, decision, view: "\ud800",
        )


def test_a_text_that_depends_on_a_number_is_recorded():
    model = run_of(lambda self, task, view: ca.Decision(view.me, rule=f"turn {task.cpu_ms:.1f}"))
    rules = model.decisions_frame()["rule"]
    assert rules.str.fullmatch(r"turn [\d.]+").all()
    assert rules.nunique() > 3


def test_policies_that_compare_as_they_like():
    for equal in (lambda self, other: True, lambda self, other: False):
        model = run_of(lambda self, task, view: ca.Decision(view.me, "r"), __eq__=equal)
        assert len(model.jobs_frame()) > 3


@pytest.mark.slow
def test_a_method_that_a_property_gives_is_called():
    model = run_of(property(lambda self: lambda task, view: ca.Decision(view.me, "by property")))
    assert set(model.decisions_frame()["rule"]) == {"by property"}

    def fails(self):
        raise ValueError("no such thing")

    with pytest.raises(PolicyFault, match=r"place raised ValueError: no such thing"):
        run_of(property(fails))


MINE = """
import cluster_abm as ca


class Mine(ca.Policy):
    name = "mine"

    def place(self, task, view):
        print("placing", task.task)
        return ca.Decision(view.me, "r")
"""


@pytest.mark.parametrize("words", [
    ["run", "quickstart"],
    pytest.param(["compare", "quickstart", "--seeds", "2", "--policies", "none,mine.py:Mine"], marks=pytest.mark.slow),
])  # fmt: skip
@pytest.mark.slow
def test_what_a_policy_prints_goes_to_stderr(tmp_path, words):
    (tmp_path / "mine.py").write_text(MINE)
    policy = ["--policy", "mine.py:Mine"] if words[0] == "run" else []
    done = subprocess.run(
        [sys.executable, "-m", "cluster_abm", *words, *policy, "--set", "workload.duration_s=20", "--json"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)
    assert "placing" in done.stderr
