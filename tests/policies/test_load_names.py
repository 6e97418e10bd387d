"""The load indices as names, in Python and in compiled code."""

from __future__ import annotations

import pytest
from support import busy, same_records, scenario

from cluster_abm import ClusterModel, load
from cluster_abm.compiling.entries import compiled_policy
from cluster_abm.compiling.translating import NotCompilable
from cluster_abm.engine.tables import LOAD
from cluster_abm.errors import PolicyFault
from cluster_abm.policies import Decision, Policy

SHORT = busy(workload__duration_s=3.0)


class Named(Policy):
    index = load.io_ms

    def place(self, task, view):
        light = view.loads[load.tasks][view.me] < 2 and self.index == load.io_ms
        return Decision(view.me if light else view.least(load.cpu_ms), "named", load.cpu_ms)


class Quoted(Policy):
    index = "io_ms"

    def place(self, task, view):
        light = view.loads["tasks"][view.me] < 2 and self.index == "io_ms"
        return Decision(view.me if light else view.least("cpu_ms"), "named", "cpu_ms")


class Misnamed(Policy):
    def place(self, task, view):
        return Decision(view.least(load.task), "own")


class Misquoted(Policy):
    def place(self, task, view):
        return Decision(view.least("task"), "own")


class Sums(Policy):
    def place(self, task, view):
        return Decision(view.me, load.tasks + load.io_ms)


def test_all_indices_have_names_and_nothing_else():
    assert list(LOAD.names) == load.NAMES
    assert all(getattr(load, name) == name for name in LOAD.names)


@pytest.mark.slow
def test_names_and_texts_are_the_same():
    models = [
        ClusterModel(scenario(**SHORT), seed=3, policy=policy, compile_decisions=compiles)
        for policy in (Named, Quoted)
        for compiles in (True, False)
    ]
    for model in models:
        model.run()
    assert [model.decides_in_python for model in models[::2]] == ["", ""]
    first = models[0].decisions_frame()
    assert set(first["index"]) == {"cpu_ms"}
    assert first["target"].nunique() > 1
    for other in models[1:]:
        assert same_records(models[0], other)
        assert other.decisions_frame().equals(first)


@pytest.mark.slow
@pytest.mark.parametrize("compiles", [True, False])
@pytest.mark.parametrize("policy", [Misnamed, Misquoted])
def test_a_misspelt_index_is_found_with_the_nearest(policy, compiles, capfd):
    model = ClusterModel(scenario(**SHORT), policy=policy, compile_decisions=compiles)
    with pytest.raises(PolicyFault, match=r"no load index 'task'; did you mean 'tasks'\?.*line"):
        model.run()
    assert capfd.readouterr().err == ""


def test_texts_made_of_names_are_not_compiled():
    with pytest.raises(NotCompilable, match="a text of others"):
        compiled_policy(Sums())
