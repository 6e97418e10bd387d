"""Mistakes in classes of policies that would go through: named, with what to write instead."""

from __future__ import annotations

import random
from random import random as drawn

import numpy as np
import pytest

import cluster_abm as ca
from cluster_abm.errors import InputError
from cluster_abm.policy.finding.naming import free_name

GENERATOR = np.random.default_rng(1)


class Misspelt(ca.Policy):
    def placee(self, task, view):
        return ca.Decision(view.me, "here")


class ByModule(ca.Policy):
    def place(self, task, view):
        return ca.Decision(int(random.random() * view.nodes), "anywhere")


class ByName(ca.Policy):
    def place(self, task, view):
        return ca.Decision(int(drawn() * view.nodes), "anywhere")


class ByNumpy(ca.Policy):
    def place(self, task, view):
        return ca.Decision(int(np.random.random() * view.nodes), "anywhere")  # noqa: NPY002


class ByGenerator(ca.Policy):
    def place(self, task, view):
        return ca.Decision(int(GENERATOR.random() * view.nodes), "anywhere")


class InAHelper(ca.Policy):
    def place(self, task, view):
        return ca.Decision(max(range(view.nodes), key=lambda node: random.random()), "anywhere")


class Dictionary(ca.Policy):
    rules = {"here": "it is here"}  # noqa: RUF012

    def place(self, task, view):
        return ca.Decision(view.me, "here")


class NoUtf8(ca.Policy):
    paper = "half of a pair: \ud800"

    def place(self, task, view):
        return ca.Decision(view.me, "here")


@pytest.mark.parametrize(("policy", "said"), [
    (NoUtf8, "NoUtf8.paper = 'half of a pair: \\ud800': a text that can be written as UTF-8 is needed"),
    (Misspelt, "Misspelt.placee would never be asked: is 'place' meant?"),
    (ByModule, "ByModule.place draws from random"),
    (ByName, "ByName.place draws from random"),
    (ByNumpy, "ByNumpy.place draws from numpy.random"),
    (ByGenerator, "ByGenerator.place draws from GENERATOR"),
    (InAHelper, "InAHelper.place draws from random"),
    (Dictionary, "Dictionary.rules = "),
])  # fmt: skip
def test_it_is_refused_and_told(policy, said):
    with pytest.raises(InputError) as caught:
        ca.ClusterModel("quickstart", policy=policy)
    assert said in str(caught.value)


class Right(ca.Policy):
    rules = (("near", "it is near"), ("far", "it is far", "my notes, line 1"))

    def _placed(self, view):
        return view.me

    def weigh(self, view):
        return np.sum(view.column("tasks"))

    def place(self, task, view):
        return ca.Decision(self._placed(view), "near")


class Placed(Right):
    """A helper whose name is near that of a method which is there as well is no mistake."""

    def placed(self, view):
        return view.me


@pytest.mark.parametrize("policy", [Right, Placed])
def test_what_is_right_is_taken(policy):
    assert free_name(policy, {}) == policy.__name__.lower()
