"""Load managers that talk do so in compiled code as in Python: the same bytes, wherever one form takes over."""

from __future__ import annotations

import dataclasses
from collections import deque
from pathlib import Path

import pytest
from model.test_compiled_decisions import FAILING, SITUATIONS, assert_alike
from support import busy, pairs, scenario

import cluster_abm as ca
from cluster_abm import ClusterModel
from cluster_abm.errors import PolicyFault
from cluster_abm.model.agents import LoadManager
from cluster_abm.policies import available

# `contract-net` moves running tasks.
TALKING = sorted(name for name, policy in available().items() if policy.talks and name != "contract-net")
# Such runs have both forms in them by themselves.
CHANGING = FAILING | {
    "failures__on_failure": "restart",
    "interconnect__loss_share": 0.1,
    "negotiation__timeout_ms": 30.0,
}


def setup_of(policy, **situation):
    overrides = busy(policy__name=policy) | situation
    if "workload__arrivals__kind" in situation:
        overrides.pop("workload__utilisation")
    return scenario(**overrides)


def notes_of(model):
    return [dataclasses.asdict(manager.notes) for manager in model.load_managers]


def assert_same_talk(one, other):
    """As the jobs and decisions, so all that is left of the talk: notes, waiting tasks, and what is to be told."""
    assert_alike(one, other)
    assert notes_of(one) == notes_of(other)
    assert [post.waiting for post in one.conversation.posts] == [post.waiting for post in other.conversation.posts]
    assert [post.drawn for post in one.conversation.posts] == [post.drawn for post in other.conversation.posts]
    assert one.parts.mail.take_all() == other.parts.mail.take_all()


def test_every_policy_that_talks_is_named_here():
    assert len(TALKING) == 11


@pytest.mark.slow
@pytest.mark.parametrize("policy", TALKING)
def test_the_same_talk_in_both_forms(policy):
    setup = setup_of(policy)
    models = [ClusterModel(setup, seed=3, compile_decisions=compiles) for compiles in (True, False)]
    assert [model.decides_in_python for model in models] == ["", "compile_decisions is False"]
    for model in models:
        model.run(until_ms=4000.0)
    assert models[0].conversation.in_rows.is_away
    assert len(models[0].decisions_frame()) > 30
    assert_same_talk(*models)


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "situation"), pairs(TALKING, SITUATIONS))
def test_the_same_talk_whatever_happens(policy, situation):
    setup = setup_of(policy, **SITUATIONS[situation])
    models = [ClusterModel(setup, seed=3, compile_decisions=compiles) for compiles in (True, False)]
    for model in models:
        model.run()
    assert_same_talk(*models)


@pytest.mark.slow
@pytest.mark.parametrize("policy", TALKING)
@pytest.mark.parametrize("situation", ["lossy", "contended", "changing"])
def test_either_form_goes_on_from_what_the_other_one_leaves(policy, situation):
    """Each 70 ms all goes from rows to objects, and back in the slice that follows."""
    setup = setup_of(policy, **(SITUATIONS | {"changing": CHANGING})[situation])
    whole, by_turns = (ClusterModel(setup, seed=3) for _ in range(2))
    whole.run()
    turns = 0
    while by_turns.running:
        by_turns.run(until_ms=by_turns.now_ms + 70.0)
        turns += by_turns.conversation.in_rows.is_away
        by_turns.conversation.come_back()
    assert turns > 20
    assert_same_talk(whole, by_turns)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["jiq", "work-stealing", "eagle"])
def test_slice_by_slice_as_by_leaps(policy):
    setup = setup_of(policy, **CHANGING)
    leaps, steps = (ClusterModel(setup, seed=3, agents_step=False) for _ in range(2))
    leaps.run()
    while steps.running:
        steps.step()
    assert_same_talk(leaps, steps)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["central-queue", "work-stealing", "hawk"])
def test_a_job_is_killed_while_its_tasks_wait(policy):
    setup = setup_of(policy, workload__utilisation=1.5)
    models = [ClusterModel(setup, seed=3, compile_decisions=compiles) for compiles in (True, False)]
    for model in models:
        model.run(until_ms=2000.0)
        job = min(model.held_jobs)
        model.job_actions.kill(job)
        assert job not in model.held_jobs
        model.run()
    assert models[0].summary()["jobs"]["killed"] == 1
    assert_same_talk(*models)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["jiq", "hawk"])
def test_a_recorded_run_tells_the_same(policy):
    setup = setup_of(policy, **SITUATIONS["lossy"])
    models = [ClusterModel(setup, seed=3, record=True, compile_decisions=compiles) for compiles in (True, False)]
    for model in models:
        model.run()
    assert models[0].decides_in_python == ""
    one, other = (model.parts.happenings.messages_table() for model in models)
    assert len(one) > 100
    assert one.equals(other)
    truths = [model.parts.log.truths() for model in models]
    assert (truths[0] == truths[1])[truths[0] == truths[0]].all()
    assert_same_talk(*models)


def own_policy(folder: Path, hears: str, notes: str = "last: int = -1") -> str:
    path = folder / "mine.py"
    path.write_text(
        "from dataclasses import dataclass\n"
        "from cluster_abm.policies import Talking\n\n\n"
        "class Mine(Talking):\n"
        "    name = 'mine'\n    source = 'here'\n    summary = 'to the next node'\n\n"
        f"    @dataclass\n    class Notes:\n        {notes}\n\n"
        "    def arrives(self, tasks, post):\n"
        "        for task in tasks:\n"
        "            post.start(task, (task.home + 1) % post.nodes, 'next')\n"
        "            post.send((post.me + 1) % post.nodes, 'came by', about=task.job)\n\n"
        f"    def hears(self, message, post):\n        {hears}\n"
    )
    return f"{path}:Mine"


@pytest.mark.slow
def test_a_policy_of_a_users_own_talks_in_compiled_code(tmp_path):
    setup, policy = setup_of("no-ls"), own_policy(tmp_path, "post.notes.last = message.about")
    models = [ClusterModel(setup, seed=3, policy=policy, compile_decisions=compiles) for compiles in (True, False)]
    assert models[0].decides_in_python == ""
    for model in models:
        model.run()
    assert_same_talk(*models)
    assert max(notes["last"] for notes in notes_of(models[0])) > 10


@pytest.mark.slow
@pytest.mark.parametrize("drawn", [
    "post.draw_nodes(3, (post.me, 2), first=1)", "post.draw_nodes(2, (0,), 1, 3)", "post.draw_nodes(9, stop=3)",
    "post.draw_nodes(2, (4, 0), first=-2, stop=message.about)",
])  # fmt: skip
def test_nodes_of_a_range_are_drawn_alike_while_nodes_fail(tmp_path, drawn):
    setup = setup_of("no-ls", **CHANGING)
    # The number depends on each node and on their order.
    noted = f"for node in {drawn}:\n            post.notes.last = (7 * post.notes.last + node + 1) % 1000003"
    policy = own_policy(tmp_path, noted, "last: int = 0")
    models = [ClusterModel(setup, seed=3, policy=policy, compile_decisions=compiles) for compiles in (True, False)]
    assert models[0].decides_in_python == ""
    for model in models:
        model.run(until_ms=4000.0)
    assert_same_talk(*models)
    assert max(notes["last"] for notes in notes_of(models[0])) > 1000


@pytest.mark.slow
def test_what_a_policy_raises_is_told_as_python_tells_it(tmp_path):
    setup, policy = setup_of("no-ls"), own_policy(tmp_path, "post.start(post.waiting[message.about - 5], 0, 'x')")
    told = []
    for compiles in (True, False):
        model = ClusterModel(setup, seed=3, policy=policy, compile_decisions=compiles)
        assert (model.decides_in_python == "") == compiles
        with pytest.raises(ca.InputError) as problem:
            model.run()
        told.append((model.now_ms, str(problem.value)))
    assert told[0] == told[1]
    assert "IndexError" in told[0][1]


@pytest.mark.slow
def test_where_only_compiled_code_fails_it_says_so(tmp_path):
    policy = own_policy(tmp_path, "post.notes.last = 3 * 2**52 * 2")
    model = ClusterModel(setup_of("no-ls"), seed=3, policy=policy)
    with pytest.raises(PolicyFault, match=r"its compiled `hears` fails, .* compile_decisions=False"):
        model.run()


@pytest.mark.parametrize(("notes", "reason"), [
    ("last: dict = None", "note 'last': compiled are int, float, bool, and a Queue of them or of records"),
    ("last: str = ''", "note 'last': compiled are int, float, bool, and a Queue of them or of records"),
])  # fmt: skip
def test_a_policy_that_notes_anything_else_decides_in_python(tmp_path, notes, reason):
    model = ClusterModel(setup_of("no-ls"), seed=3, policy=own_policy(tmp_path, "pass", notes))
    assert model.decides_in_python == reason


def test_of_notes_in_a_dictionary_the_reason_is_that():
    model = ClusterModel(setup_of("contract-net"), seed=3)
    assert model.decides_in_python == "load managers talk about running tasks"


def test_managers_that_are_told_in_a_way_of_their_own_are_told_in_python():
    told = []

    class Listening(LoadManager):
        def told(self, event, post):
            told.append(event.kind)
            super().told(event, post)

    class Model(ClusterModel):
        load_manager_class = Listening

    model = Model(setup_of("jiq"), seed=3)
    model.run(until_ms=500.0)
    assert model.decides_in_python == "the class of load managers has its own methods"
    assert {"begins", "hears", "arrives"} <= set(told)


def test_a_queue_of_notes_is_empty_at_first_and_each_manager_has_its_own():
    notes = [available()["jiq"].Notes() for _ in range(2)]
    notes[0].idle.append(3)
    assert notes[0].idle == deque([3])
    assert not notes[1].idle
