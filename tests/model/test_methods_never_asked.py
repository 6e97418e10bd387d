"""A policy with a method that is never asked is refused when a run is set up."""

from __future__ import annotations

import pytest
from support import scenario

from cluster_abm import ClusterModel
from cluster_abm.errors import PolicyFault
from cluster_abm.model.policy_checks import check_all_asked
from cluster_abm.policies import Decision, Policy, available


class Home(Policy):
    def place(self, task, view):
        return Decision(view.me, "home")


class Migrant(Home):
    def migration(self, task, view):
        return None


class Chooser(Home):
    def next_job(self, queue, view):
        return 0


class Reliever(Home):
    def relieve(self, view):
        return None


class Troubled(Home):
    def in_trouble(self, loads):
        return loads["tasks"] > 3


@pytest.mark.parametrize("policy", [Reliever, Troubled])
def test_what_is_asked_periodically_needs_a_period(policy):
    with pytest.raises(PolicyFault, match=r"its method '(relieve|in_trouble)' would never be asked: .*acts_every_ms"):
        ClusterModel(scenario(), policy=policy)
    check_all_asked([type("Periodic", (policy,), {"acts_every_ms": 500.0})()])


@pytest.mark.parametrize(("policy", "said"), [(Migrant, "'migration' .*Migrating"), (Chooser, "'next_job' .*Holding")])
def test_a_method_that_is_never_asked_is_refused(policy, said):
    with pytest.raises(PolicyFault, match=rf"its method {said}$"):
        ClusterModel(scenario(), policy=policy)


def test_an_attribute_that_the_class_sets_is_taken_at_its_word():
    stays = type("Stays", (Migrant,), {"migrates": False})
    moves = type("Moves", (Migrant,), {"migrates": True})
    check_all_asked([stays(), moves(), Home()])


def test_no_shipped_policy_is_refused():
    shipped = [one for one in available().values() if one.__module__.startswith("cluster_abm.")]
    assert len(shipped) > 40
    check_all_asked([one() for one in shipped])
