"""Queues that compiled code serves: the same bytes as in Python, whatever happens, and whenever one form hands over.

The forms are those of Submissions (Python) and CompiledQueues.
"""

from __future__ import annotations

from types import MethodType

import pytest
from support import busy, mostly_slow, pairs, same_records, scenario

from cluster_abm import ClusterModel

POLICIES = ["pf-rate", "age", "working-set", "combined", "io-active", "no-ls-blocking"]
FAR = {"interconnect__kind": "clusters", "interconnect__clusters": 2, "interconnect__trunk_latency_ms": 480.0}
FAILING = {
    "failures__node__kind": "exponential", "failures__node__mean_up_s": 3.0, "failures__node__mean_down_s": 1.0,
    "failures__on_failure": "restart", "run__until": 9_000.0,
}  # fmt: skip
FILES = {"data__files": 20, "data__copies": 2, "workload__io_per_ms__mean": 0.01}
SHARED_LINKS = FAR | {"interconnect__mode": "contended", "workload__initial_data_mb__mean": 1.0}
SITUATIONS = {
    "negotiated": {}, "papers": {"negotiation__mode": "papers"}, "far": FAR, "files": FILES,
    "shared links": SHARED_LINKS,
    "files over shared links": FILES | SHARED_LINKS,
    "head node": {"negotiation__mode": "head-node", "interconnect__latency_ms": 5.0},
    "lossy": {"interconnect__loss_share": 0.3, "negotiation__timeout_ms": 30.0},
    "no refusals": {"negotiation__refusals": False, "negotiation__offers": 1},
    "unlike": {
        "cluster__group": [{"count": 2, "cpu_speed": 0.5, "memory_mb": 20.0}, {"count": 1, "disk_mb_per_s": 80.0}],
        "policy__heterogeneous": True,
    },
    "failing": FAILING, "failing in papers": FAILING | {"negotiation__mode": "papers"},
    "swap": {"cluster__swap_mb": 20.0}, "barriers": {"workload__tasks__barrier_ms": 20.0},
    "wrong sizes": {"workload__announced_error": 3.0, "workload__task_cpu": "each"},
    "closed users": {"workload__arrivals__kind": "closed", "workload__arrivals__jobs_per_user": 20},
    "script": {
        "script": [
            {"at_s": 1.0, "act": "drain", "node": 1}, {"at_s": 1.5, "act": "kill", "job": 25},
            {"at_s": 2.0, "act": "fail", "node": 2}, {"at_s": 3.0, "act": "recover", "node": 2},
            {"at_s": 3.5, "act": "recover", "node": 1},
        ],
    },
    "all drain": {
        "script": [
            *({"at_s": 1.0, "act": "drain", "node": node} for node in range(4)),
            *({"at_s": 1.5, "act": "recover", "node": node} for node in range(4)),
        ],
    },
    "many nodes": {"cluster__nodes": 40, "workload__duration_s": 1.5},
}  # fmt: skip


def crowded(policy: str, **more):
    """Overrides of a small cluster whose nodes page, hold jobs, refuse them, and migrate some."""
    given = {
        "workload__duration_s": 5.0, "workload__utilisation": 0.6, "policy__period_ms": 200.0,
        "policy__settling_ms": 80.0, "cluster__paging": "oversize", "cluster__page_fault_rate_per_ms": 0.02,
        "workload__memory_mb": {"kind": "exponential", "mean": 6.0},
    }  # fmt: skip
    if policy == "no-ls-blocking":
        given["policy__thrashing"] = 0.0
    else:
        given |= {"policy__cpu_threshold": 4, "policy__delay_ms": 200.0, "policy__pause_ms": 500.0}
    found = busy(policy__name=policy, **(given | more))
    if found.get("workload__arrivals__kind") == "closed":
        del found["workload__utilisation"]
    return found


def assert_alike(one: ClusterModel, other: ClusterModel) -> None:
    assert same_records(one, other)
    assert one.decisions_frame().equals(other.decisions_frame())
    assert one.nodes_frame().equals(other.nodes_frame())
    assert one.held_jobs == other.held_jobs
    assert one.summary() == other.summary()


def hand_over(model: ClusterModel) -> None:
    """Let Python serve the queues if compiled code did, and else the other way round."""
    own, policy = vars(model.policy), model.policy
    if "holds" in own:
        del policy.holds
    else:
        # What is compiled is no longer the policy as it is.
        policy.holds = MethodType(type(policy).holds, policy)


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "situation"), pairs(POLICIES, SITUATIONS, 2))
def test_both_forms_and_each_after_the_other_decide_the_same(policy, situation):
    setup = scenario(**crowded(policy, **SITUATIONS[situation]))
    python, compiled, mixed = (ClusterModel(setup, seed=3, compile_decisions=flag) for flag in (False, True, True))
    assert compiled.decides_in_python == ""
    assert not compiled.placement.places_slice_by_slice or "contended" in setup.interconnect.mode
    python.run()
    compiled.run()
    held_at_change = 0
    while mixed.running:
        mixed.run(until_ms=mixed.now_ms + 370.0)
        hand_over(mixed)
        held_at_change += len(mixed.held_jobs)
    assert_alike(compiled, python)
    assert_alike(mixed, python)
    if situation not in ("many nodes", "closed users"):
        assert held_at_change > 0


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["combined", "no-ls-blocking"])
@pytest.mark.parametrize("situation", ["negotiated", "papers", "failing"])
def test_slice_by_slice_it_is_the_same(policy, situation):
    setup = scenario(**crowded(policy, **SITUATIONS[situation]))
    leaping, stepping = ClusterModel(setup, seed=5), ClusterModel(setup, seed=5)
    leaping.run()
    while stepping.running:
        stepping.step()
    assert_alike(leaping, stepping)


@pytest.mark.slow
@pytest.mark.parametrize("situation", ["negotiated", "papers", "lossy", "failing"])
def test_a_recording_tells_the_same_truths(situation):
    setup = scenario(**crowded("age", **SITUATIONS[situation]))
    models = [ClusterModel(setup, seed=3, record=True, compile_decisions=compiles) for compiles in (True, False)]
    for model in models:
        model.run()
    assert_alike(*models)
    assert models[0].parts.log.truths().tobytes() == models[1].parts.log.truths().tobytes()


@pytest.mark.slow
def test_a_held_job_is_known_to_its_agent_and_can_be_killed():
    models = [ClusterModel(scenario(**crowded("age")), seed=3, compile_decisions=flag) for flag in (True, False)]
    for model in models:
        while not model.held_jobs:
            model.step()
        number = min(model.held_jobs)
        (agent,) = [one for one in model.agents_by_type[model.job_class] if one.job == number]
        assert agent.state == "held"
        agent.kill()
        assert number not in model.held_jobs
        model.run()
    assert_alike(*models)


def test_the_run_ends_when_all_that_is_left_waits_for_ever():
    given = crowded("no-ls-blocking", policy__thrashing=-0.99, cluster__memory_mb=12.0, workload__duration_s=2.0)
    models = [ClusterModel(scenario(**given), seed=1, compile_decisions=flag) for flag in (True, False)]
    for model in models:
        model.run()
    assert_alike(*models)


OWN = '''
from cluster_abm.policies import Decision, Holding, Migrating


def is_told(number):
    """True; above 2^53 compiled code cannot tell."""
    return int(2.0 ** (50 + number % 5)) > 0


class Mine(Holding, Migrating):
    name = "mine"
    source = summary = "test"
    rules = (("r", ""),)
    holds_for_events = True
    acts_every_ms = 150.0

    def holds(self, task, tasks, view):
        asked = view.notes.get("asked", 0)
        view.notes["asked"] = asked + 1
        return view.load("tasks", view.me) >= 3 and is_told(task.task)

    def place(self, task, view):
        asked = view.notes.get("asked", 0)
        if asked % 3 == 0 and is_told(task.job):
            return Decision(view.me, "r", "tasks", load_here=float(asked))
        return Decision(view.least("tasks"), "r", "tasks", load_there=view.load("tasks", view.me))

    def takes_back(self, task, view):
        view.notes["back"] = view.notes.get("back", 0) + 1
        return view.load("tasks", view.me) >= 1 and is_told(task.task + 1)

    def accept(self, task, decision, view):
        return "" if view.load("tasks", view.me) < 1 and is_told(task.job + 2) else "full"

    def migration(self, task, view):
        target = view.least("tasks")
        if view.load("tasks", view.me) < 3 or target == view.me or not is_told(task.job + 3):
            return None
        return Decision(target, "r", task=view.candidate(0))
'''


@pytest.mark.slow
@pytest.mark.parametrize("situation", mostly_slow(["negotiated", "papers", "lossy"], ["negotiated"]))
def test_where_compiled_code_cannot_tell_python_goes_on_from_there(tmp_path, situation):
    """In each of the five questions; with notes as they were before it."""
    (tmp_path / "mine.py").write_text(OWN, encoding="utf-8")
    given = busy(
        **SITUATIONS[situation], workload__duration_s=4.0, workload__utilisation=0.8, negotiation__offers=2,
    )  # fmt: skip
    models = [
        ClusterModel(scenario(**given), seed=2, policy=f"{tmp_path / 'mine.py'}:Mine", compile_decisions=compiles)
        for compiles in (True, False)
    ]
    assert models[0].decides_in_python == ""
    for model in models:
        model.run()
    assert models[0].placement.compiled.form.faults > 20
    frame = models[0].decisions_frame()
    if situation != "papers":
        # There no node that is asked refuses.
        assert {"full", "home blocks submissions, and every node that was asked has refused"} <= set(frame["reason"])
    assert_alike(*models)
    assert [dict(notes) for notes in models[0].parts.views.notes] == [
        dict(notes) for notes in models[1].parts.views.notes
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("holds", "reason"), [
    ("view.notes.setdefault('of', {}).get(task.job, 0) > 3", "setdefault"),
    ("task.job % 2", "as_truth"),
])  # fmt: skip
def test_what_holds_does_not_compile_decides_in_python_and_says_why(tmp_path, holds, reason):
    text = OWN.replace('view.load("tasks", view.me) >= 3 and is_told(task.task)', holds)
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    model = ClusterModel(scenario(**busy()), seed=2, policy=f"{tmp_path / 'mine.py'}:Mine")
    assert reason in model.decides_in_python
