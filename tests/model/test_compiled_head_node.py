"""A head node starts jobs in compiled code as in Python, and each form goes on from the other's rows."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import busy, pairs, scenario
from test_compiled_decisions import SITUATIONS, UNLIKE

import cluster_abm
from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.policies import Decision, Holding, available
from cluster_abm.testing.subject import difference

POLICIES = ["batch-system", "easy", "conservative", "tetris"]
NOT_HERE = ("papers", "head node", "no refusals", "stale", "lossy")
HANDED_OVER = ["negotiated", "failing", "barriers", "files", "contended", "unlike", "far"]
CASES = {name: keys for name, keys in SITUATIONS.items() if name not in NOT_HERE} | {
    "cores": {"cluster__cores": 3, "cluster__memory_mb": 90.0},
    "unlike cores": {"cluster__group": [{"count": 2, "cpu_speed": 0.5, "cores": 4}], "policy__heterogeneous": True},
    "unlike, as measured": UNLIKE | {"policy__heterogeneous": False},
    "files on shared links": SITUATIONS["files"] | {"interconnect__mode": "contended"},
    "lost": SITUATIONS["failing"] | {"failures__on_failure": "lost"},
    "background": {"workload__background": [{"node": 1, "cpu_share": 0.2}]},
    "short slices": {"cluster__slice_ms": 3.7, "measure__period_ms": 100.0},
    "ends early": {"run__until": 3000.0, "workload__utilisation": 0.9},
}  # fmt: skip


def keys_of(policy, case):
    keys = busy(policy__name=policy, workload__duration_s=8.0, workload__utilisation=0.7) | CASES[case]
    if case == "closed users":
        keys.pop("workload__utilisation")
    return keys


def handing_over(setup, seed):
    """A run that goes from one form to the other every 700 ms; how often either was at work."""
    model, turns = ClusterModel(setup, seed=seed), 0
    starter = model.parts.submissions.starter
    while model.running:
        model.parts.submissions.starter = starter if turns % 2 else None
        turns += 1
        model.run(until_ms=700.0 * turns)
    return model, turns


def check(setup, seed=3):
    compiled, plain = (ClusterModel(setup, seed=seed, compile_decisions=one) for one in (True, False))
    assert compiled.decides_in_python == ""
    for model in (compiled, plain):
        model.run()
    assert compiled.parts.submissions.starter.negotiation.form.faults == 0
    mixed, turns = handing_over(setup, seed)
    assert turns > 3
    assert len(plain.decisions_frame()) > 20
    assert difference(compiled, plain) == ""
    assert difference(mixed, plain) == ""
    return compiled


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "case"), pairs(POLICIES, HANDED_OVER, 2))
def test_both_forms_and_either_after_the_other(policy, case):
    check(scenario(**keys_of(policy, case)))


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "case"), pairs(POLICIES, CASES, 2))
def test_the_same_whatever_happens(policy, case):
    check(scenario(**keys_of(policy, case)), seed=5)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["easy", "tetris"])
def test_files_that_would_take_longer_than_the_clock_are_refused_in_both_forms(policy):
    """Files of 10^12 MB, over links of at most 128 MB/s, take 7.8 * 10^12 ms at least."""
    setup = scenario(**keys_of(policy, "files") | {"data__size_mb": {"kind": "fixed", "mean": 1e12}})
    said = []
    for compiles in (True, False):
        model = ClusterModel(setup, seed=3, compile_decisions=compiles)
        with pytest.raises(InputError, match=r"for its files on node \d: allowed is 1e\+12") as problem:
            model.run()
        said.append((str(problem.value), model.now_ms, model.engine.finished))
    assert said[0] == said[1]


def test_step_by_step():
    setup = scenario(**busy(policy__name="easy", workload__duration_s=4.0))
    leaping, stepping = (ClusterModel(setup, seed=2) for _ in range(2))
    leaping.run()
    while stepping.running:
        stepping.step()
    assert difference(leaping, stepping) == ""


@pytest.mark.slow
@settings(max_examples=10)
@given(
    policy=st.sampled_from(POLICIES), nodes=st.integers(1, 9), cores=st.integers(1, 3), seed=st.integers(0, 99),
    utilisation=st.sampled_from([0.3, 0.9]), widest=st.sampled_from([2, 6, 40]),
)  # fmt: skip
def test_the_same_in_any_small_cluster(policy, nodes, cores, seed, utilisation, widest):
    keys = busy(
        policy__name=policy, cluster__nodes=nodes, cluster__cores=cores, workload__utilisation=utilisation,
        workload__duration_s=3.0, workload__tasks__maximum=widest,
    )  # fmt: skip
    compiled, plain = (ClusterModel(scenario(**keys), seed=seed, compile_decisions=one) for one in (True, False))
    for model in (compiled, plain):
        model.run()
    assert compiled.decides_in_python == ""
    assert difference(compiled, plain) == ""


# ---- policies of users ---------------------------------------------------------------------------------------------

OWN = '''
import math

from cluster_abm.policies.batch_systems import BatchSystem


class Shortest(BatchSystem):
    """Of the jobs that fit the one that requests least, unless the head has been passed twice."""

    source = "the test"
    summary = "shortest first"
    required_demands = ("requested_ms",)
    job_notes = ("passed",)

    def next_job(self, queue, view):
        best, least = -1, 1e300
        passed = queue.notes["passed"]
        for place in range(len(queue)):
            if math.isnan(passed[place]):
                passed[place] = 0.0
            if queue["cores"][place] <= view.free_cores and queue["requested_ms"][place] < least:
                best, least = place, queue["requested_ms"][place]
        if passed[0] >= 2.0:
            best = 0 if queue["cores"][0] <= view.free_cores else -1
        for place in range(max(0, best)):
            queue.notes["passed"][place] = passed[place] + 1.0
        if view.now_slices % 7 == 3:
            # Beyond 2^53: compiled code leaves it to Python, with the notes as they were before.
            return best + 2**60 * 3 - 2**60 * 3
        return best
'''


@pytest.mark.slow
def test_a_rule_of_a_users_own_compiles_and_copies_of_shipped_ones_do(tmp_path):
    """One that notes something of each job, and now and then is asked again in Python."""
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    copied = copy_of_shipped(tmp_path)
    for policy, faults in ((f"{file}:Shortest", True), (f"{copied}:Easy", False), (f"{copied}:Conservative", False)):
        setup = scenario(**busy(policy__name="easy", workload__duration_s=6.0, workload__utilisation=0.8))
        models = [ClusterModel(setup, seed=3, policy=policy, compile_decisions=one) for one in (True, False)]
        for model in models:
            model.run()
        assert models[0].decides_in_python == ""
        assert difference(*models) == ""
        assert (models[0].parts.submissions.starter.negotiation.form.faults > 5) == faults


def copy_of_shipped(folder: Path) -> Path:
    shipped = Path(cluster_abm.__file__).parent / "policies" / "batch_systems.py"
    return Path(shutil.copy(shipped, folder / "copied.py"))


class OneByOne(Holding):
    """One job at a time, whose tasks find their nodes one by one; now and then compiled code cannot tell."""

    name, source, summary = "one-by-one", "the test", "one job at a time"
    central = holds_for_events = True

    def holds(self, task, tasks, view):
        return len(view.running) > 0

    def place(self, task, view):
        if task.task % 5 == 0:
            # Beyond 2^53, which compiled code leaves to Python.
            return Decision((view.me + 2**60 * 3 + task.task) % view.nodes, "far")
        return Decision((view.me + task.task) % view.nodes, "near")


@pytest.mark.slow
def test_tasks_that_find_their_nodes_one_by_one_and_faults(monkeypatch):
    monkeypatch.setitem(available(), "one-by-one", OneByOne)
    check_faults = ClusterModel(scenario(**busy(policy__name="one-by-one", workload__duration_s=4.0)), seed=1)
    plain = ClusterModel(
        scenario(**busy(policy__name="one-by-one", workload__duration_s=4.0)), seed=1, compile_decisions=False
    )
    for model in (check_faults, plain):
        model.run()
    assert difference(check_faults, plain) == ""
    assert check_faults.decides_in_python == ""
    assert check_faults.parts.submissions.starter.negotiation.form.faults > 10
    assert set(plain.decisions_frame()["rule"]) == {"far", "near"}


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [[], [9], [-1], "none", np.array([0.5])])
def test_what_cores_for_must_not_return(monkeypatch, nodes):
    class Wrong(OneByOne):
        name = "one-by-one"

        def cores_for(self, task, tasks, view):
            return np.array(nodes) if isinstance(nodes, list) else nodes

    monkeypatch.setitem(available(), "one-by-one", Wrong)
    model = ClusterModel(scenario(**busy(policy__name="one-by-one", workload__duration_s=4.0)), seed=1)
    with pytest.raises(cluster_abm.errors.PolicyFault, match=r"cores_for returned .*; expected an array of nodes"):
        model.run()


class BesideTheLast(OneByOne):
    """Each task of a job beside the last one before it: compiled code does not know where that is, and leaves it."""

    name = "one-by-one"

    def place(self, task, view):
        held = view.nodes_of(task.job)
        if len(held) > 0:
            return Decision((int(held[-1]) + 1) % view.nodes, "beside the last")
        return Decision(view.me, "first")


@pytest.mark.slow
def test_nodes_of_a_job_that_compiled_code_does_not_know_are_not_made_up(monkeypatch):
    monkeypatch.setitem(available(), "one-by-one", BesideTheLast)
    several = {"parallel_share": 1.0, "minimum": 2, "maximum": 3}
    setup = scenario(**busy(policy__name="one-by-one", workload__duration_s=4.0, workload__tasks=several))
    compiled, plain = ClusterModel(setup, seed=1), ClusterModel(setup, seed=1, compile_decisions=False)
    for model in (compiled, plain):
        model.run()
    assert difference(compiled, plain) == ""
    assert compiled.decides_in_python == ""
    assert set(plain.decisions_frame()["rule"]) == {"first", "beside the last"}
