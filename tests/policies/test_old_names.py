"""What users wrote before version 0.2 works as before, with one note: moved modules, and attributes that were kinds."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys

import pytest
from support import busy, same_records, scenario

import cluster_abm as ca
from cluster_abm import policies
from cluster_abm.errors import PolicyFault
from cluster_abm.policies import Holding, Migrating, Talking, available
from cluster_abm.policy import base, view
from cluster_abm.policy.finding.registry import name_of

OF_USERS = """
import pickle
import cluster_abm.policies.base as base
from cluster_abm.policies.view import View
from cluster_abm.policies.talking import TalkingPolicy
from cluster_abm.policies import easy
import cluster_abm.policies.view
from cluster_abm.policies import Decision, Policy
from cluster_abm.policies.easy import Easy

class Mine(TalkingPolicy):
    pass

assert base.Decision is Decision and cluster_abm.policies.view.View is View and easy.Easy is Easy
assert base.__name__ == base.__spec__.name == "cluster_abm.policy.base"
print(pickle.loads(pickle.dumps(Decision(3, "a rule"))).target, Mine.talks)
"""
NOTES = """\
note: cluster_abm.policies.base is cluster_abm.policy.base now
note: cluster_abm.policies.view is cluster_abm.policy.view now
note: cluster_abm.policies.talking is cluster_abm.policy.talking now
note: cluster_abm.policy.talking.TalkingPolicy is cluster_abm.policies.Talking now
note: cluster_abm.policies.easy is cluster_abm.policies.batch_systems now
"""


@pytest.mark.slow
def test_modules_that_have_moved_are_imported_by_their_old_names_with_one_note():
    done = subprocess.run([sys.executable, "-W", "error", "-c", OF_USERS], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("3 True\n", NOTES)


@pytest.mark.parametrize("name", sorted(policies._NOW))
def test_every_module_of_before_is_the_module_of_today(name):
    old = importlib.import_module(f"cluster_abm.policies.{name}")
    assert old is importlib.import_module(policies._NOW[name]) is getattr(policies, name)
    assert old.__spec__.name == old.__name__


def test_pickles_of_before_are_read():
    before = pickle.dumps(base.Decision(3, "a rule"), 0).replace(
        b"cluster_abm.policy.decision", b"cluster_abm.policies.base"
    )
    assert b"policies.base" in before
    assert pickle.loads(before).target == 3
    assert pickle.loads(b"ccluster_abm.policies.view\nView\n.") is view.View
    assert pickle.loads(b"ccluster_abm.policies.jsq\nJoinShortestQueue\n.") is available()["jsq"]


def test_no_other_module_is_found():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("cluster_abm.policies.no_such_module")
    with pytest.raises(AttributeError, match="has no attribute 'no_such_module'"):
        policies.no_such_module  # noqa: B018


class ByAttributes(ca.Policy):
    """As it was written before."""

    migrates = holds_jobs = True
    needs = ()

    def place(self, task, view):
        return ca.Decision(view.me, "at home")

    def holds(self, task, tasks, view):
        return view.load("tasks", view.me) >= 3

    def migration(self, task, view):
        if not view.is_largest("tasks") or not view.candidate_rows["running"].any():
            return None
        place = int(view.candidate_rows["running"].argmax())
        return ca.Decision(view.next_node, "away", task=view.candidate(place))


class ByKinds(Holding, Migrating):
    """The same as it is written now."""

    place, holds, migration = ByAttributes.place, ByAttributes.holds, ByAttributes.migration


def test_a_class_with_the_attributes_of_before_is_of_the_kinds(capfd):
    assert issubclass(ByAttributes, Holding)
    assert issubclass(ByAttributes, Migrating)
    setup = scenario(**busy(workload__duration_s=5.0))
    models = [ca.ClusterModel(setup, seed=1, policy=policy) for policy in (ByAttributes, ByAttributes(), ByKinds)]
    for model in models:
        model.run()
    assert same_records(models[0], models[1])
    assert same_records(models[0], models[2])
    assert models[0].summary()["metrics"]["migrations"] > 0
    assert capfd.readouterr().err == "".join(
        f"note: policy 'by-attributes': {words} now\n"
        for words in (
            "`migrates = True` is `class ByAttributes(Migrating)`",
            "`holds_jobs = True` is `class ByAttributes(Holding)`",
            "`needs` is `required_demands`",
        )
    )  # fmt: skip


def test_a_subclass_that_takes_an_attribute_back_is_taken_at_its_word():
    stays = type("Stays", (ByKinds,), {"migrates": False})
    assert not stays.migrates
    assert stays.written_as_before == ()


def test_required_demands_are_read_by_both_names(capfd):
    old = type("Old", (ca.Policy,), {"needs": ("requested_ms",)})
    below = type("Below", (old,), {"required_demands": ("memory",)})
    assert (old.required_demands, old.needs, old().needs) == (("requested_ms",),) * 3
    assert below.required_demands == ("memory",)
    easy = available()["easy"]
    assert easy.needs == easy().needs == easy.required_demands == ("requested_ms",)
    name_of(old)
    assert capfd.readouterr().err == "note: policy 'old': `needs` is `required_demands` now\n"


def test_shipped_policies_are_written_as_today():
    for policy in available().values():
        assert policy.written_as_before == (), policy
        kinds = {"migrates": Migrating, "holds_jobs": Holding, "talks": Talking}
        assert all(getattr(policy, name) == issubclass(policy, kind) for name, kind in kinds.items())


def test_an_attribute_from_a_class_that_is_no_policy_makes_the_kind_too():
    class Moves:
        migrates = True

    class Mine(Moves, ca.Policy):
        """Its own class says nothing."""

    assert issubclass(Mine, Migrating)
    assert [base for base in Mine.__mro__ if base in (Moves, Migrating, ca.Policy)] == [Moves, Migrating, ca.Policy]
    assert Mine.written_as_before == ()


@pytest.mark.parametrize(("attribute", "kind"), [("migrates", "Migrating"), ("holds_jobs", "Holding")])
@pytest.mark.parametrize("where", ["class", "object"])
def test_an_attribute_that_is_set_later_is_refused(attribute, kind, where):
    class Late(ca.Policy):
        """It is of no kind when it is made."""

        def place(self, task, view):
            return ca.Decision(view.me, "at home")

    policy = Late()
    setattr(Late if where == "class" else policy, attribute, True)
    with pytest.raises(PolicyFault, match=f"'late': {attribute} is set, and its class is no {kind}: inherit from"):
        ca.ClusterModel(scenario(**busy()), seed=1, policy=policy)
