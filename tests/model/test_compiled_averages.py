"""Policies that read averages, samples, or what they have placed lately, in both forms, and in turns."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from support import busy, same_records, scenario
from test_compiled_decisions import FAR, SITUATIONS, UNLIKE, assert_alike, both

from cluster_abm import ClusterModel
from cluster_abm.model.knowing.sampling import SamplesOfPolicy
from cluster_abm.policies import Decision, create
from cluster_abm.policy.finding.files import load_policy
from cluster_abm.policy.memory import Memory
from cluster_abm.scenario.schema import PolicyChoice

SAMPLED = {"policy__sample_ms": 400.0, "policy__window_ms": 2000.0}
POLICIES = {"load-class": {}, "data-class": {}, "target-load": {}, "load-risk": SAMPLED}
FILES = SITUATIONS["files"]
REMOTE = {"cluster__remote_memory": True, "workload__utilisation": 0.7, "workload__cpu_ms__mean": 600.0}
WHATEVER = {
    "failing, unlike": SITUATIONS["failing"] | UNLIKE,
    "failing, files": SITUATIONS["failing"] | FILES,
    "files, far": FILES | FAR,
    "contended": SITUATIONS["contended"],
    "contended, files": SITUATIONS["contended"] | FILES,
    "remote memory": REMOTE,
    "lossy": SITUATIONS["lossy"],
}


def settings(policy, **more):
    return busy(policy__name=policy, **({"workload__duration_s": 6.0, "workload__utilisation": 0.6} | more))


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("situation", WHATEVER)
def test_both_forms_decide_the_same(policy, situation):
    compiled, plain, reason = both(**settings(policy, **WHATEVER[situation], **POLICIES[policy]))
    assert reason == ""
    assert_alike(compiled, plain)


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_slice_by_slice(policy):
    setup = scenario(**settings(policy, workload__duration_s=3.0, **FILES, **POLICIES[policy]))
    leaping, stepping, plain = (ClusterModel(setup, seed=5, compile_decisions=one) for one in (True, True, False))
    leaping.run()
    for model in (stepping, plain):
        while model.running:
            model.step()
    for model in (stepping, plain):
        assert same_records(leaping, model)
        assert leaping.decisions_frame().equals(model.decisions_frame())
        assert leaping.summary() == model.summary()


@pytest.mark.slow
@pytest.mark.parametrize("situation", ["negotiated", "failing", "files", "unlike"])
@pytest.mark.parametrize("policy", POLICIES)
def test_they_go_on_from_each_other(policy, situation):
    """A policy that has something of its own is asked in Python, until it has it no more: twice there and back."""
    setup = scenario(**settings(policy, **SITUATIONS[situation] | POLICIES[policy] | {"workload__duration_s": 6.0}))
    model, plain = (ClusterModel(setup, seed=7, compile_decisions=one) for one in (True, False))
    for until_ms in (1500.0, 2900.0):
        assert model.placement.compiled.is_right
        model.run(until_ms=until_ms)
        model.policy.something = 1
        assert not model.placement.compiled.is_right
        model.run(until_ms=until_ms + 700.0)
        del model.policy.something
    model.run()
    plain.run()
    assert_alike(model, plain)


@pytest.mark.slow
@pytest.mark.parametrize(("situation", "given"), {
    "negotiated": {}, "papers": {"negotiation__mode": "papers"}, "far": FAR, "lossy": SITUATIONS["lossy"],
    "failing": SITUATIONS["failing"], "refusing": {"negotiation__timeout_ms": 5.0},
}.items())  # fmt: skip
def test_shared_samples_are_those_that_each_manager_would_have_taken(situation, given, monkeypatch):
    """Against a list of each manager's own samples: what it knew when they were taken, its own node as it was."""
    taken: dict[int, deque] = {}
    take = SamplesOfPolicy.take

    def also_by_each(self, up):
        model.parts.views.measure_all()
        for manager in np.flatnonzero(up).tolist():
            view = model.parts.views.of(manager)
            memory_mb = np.array([node.user_memory_mb for node in view.hardware])
            sample = np.array([view.loads["cpu_percent"] / 100.0, view.loads["memory_mb"] / memory_mb])
            taken.setdefault(manager, deque(maxlen=5)).append(sample)
        take(self, up)

    monkeypatch.setattr(SamplesOfPolicy, "take", also_by_each)
    model = ClusterModel(scenario(**settings("load-risk", **(given | SAMPLED))), seed=3)
    for until_ms in (300.0, 900.0, 3300.0, 5000.0):
        model.run(until_ms=until_ms)
        for manager in range(len(model.load_managers)):
            view = model.parts.views.of(manager)
            mean = np.array([view.mean_share(index) for index in ("cpu_percent", "memory_mb")])
            deviation = np.array([view.share_deviation(index) for index in ("cpu_percent", "memory_mb")])
            if manager in taken:
                assert np.array_equal(mean, np.mean(taken[manager], axis=0))
                assert np.array_equal(deviation, np.std(taken[manager], axis=0))
            else:
                assert not deviation.any()
    assert len(taken) > 1


def test_a_memory_keeps_what_was_noted_in_order_and_forgets_what_is_asked():
    memory, expected = Memory(managers=3), [[], [], []]
    for turn in range(3000):
        manager, now_ms = turn * turn % 3, float(turn // 7)
        memory.note(manager, turn, turn % 5, turn / 8.0, now_ms)
        expected[manager].append((turn, turn % 5, turn / 8.0, now_ms))
        if turn % 4 == 0:
            found = memory.since(manager, now_ms - 9.0)
            expected[manager] = [entry for entry in expected[manager] if entry[3] > now_ms - 9.0]
            entries = list(zip(found.task.tolist(), found.node.tolist(), found.amount.tolist(), strict=True))
            assert entries == [entry[:3] for entry in expected[manager]]
    # What was forgotten gives way.
    assert len(memory.rows.noted_task) < 1500


OWN = """
import numpy as np
from cluster_abm.policies import Decision, Policy


class Spread(Policy):
    averages = True

    def place(self, task, view):
        counts = np.zeros(view.nodes)
        recent = view.remembered(view.now_ms - 500.0)
        for entry in range(len(recent.task)):
            counts[recent.node[entry]] += recent.amount[entry]
        target = view.least_of(counts + 0.001 * view.column("mean_queue"))
        view.remember(task.task, target, 1.0)
        if task.task % 5 == 0 and (task.task + 2) * 9007199254740991 > 0:
            view.remember(task.task, view.me, 2.0)
        return Decision(target, "spread")

    def accept(self, task, decision, view):
        view.remember(task.task, view.me, 0.5)
        if task.task % 4 == 0 and (task.task + 2) * 9007199254740991 > 0:
            return "so it is"
        return ""
"""


@pytest.mark.slow
def test_what_is_noted_before_a_fault_is_noted_once(tmp_path, monkeypatch):
    """Whole numbers above 2^53 are left to Python: the notes are those that it makes alone."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(OWN)
    setup, policy = scenario(**settings("jsq", workload__duration_s=4.0)), load_policy("mine.py:Spread")
    models = [ClusterModel(setup, seed=2, policy=policy, compile_decisions=one) for one in (True, False)]
    for model in models:
        model.run()
    assert models[0].decides_in_python == ""
    assert {"so it is", ""} == set(models[0].decisions_frame()["reason"])
    assert_alike(*models)


def test_a_load_index_that_is_not_sampled_is_told():
    policy = create(PolicyChoice(name="load-risk"))
    model = ClusterModel(scenario(**settings("load-risk", **SAMPLED)), seed=1)
    assert policy.samples.indices == ("cpu_percent", "memory_mb")
    with pytest.raises(ValueError, match="'tasks' is not sampled"):
        model.parts.views.of(0).mean_share("tasks")
    assert isinstance(model.policy.place(model.parts.announcements.of(0, 0), model.parts.views.of(0)), Decision)
