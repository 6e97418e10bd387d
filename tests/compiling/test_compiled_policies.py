"""A policy of one's own: what compiles, what does not and why, and that it decides the same."""

from __future__ import annotations

import importlib
import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import busy, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.compiling import texts
from cluster_abm.compiling.blocks import (
    blocks_of,
    least_entry,
    least_of_row,
    least_open_entry,
    least_open_of_row,
    smallest,
    total_of_row,
)
from cluster_abm.compiling.entries import compiled_policy
from cluster_abm.compiling.tables import OF_LOADS
from cluster_abm.compiling.translating import NotCompilable
from cluster_abm.engine.tables import LOAD
from cluster_abm.errors import PolicyFault
from cluster_abm.formulas.sums import total, total_deviation
from cluster_abm.model.knowing.knowledge import note_change, nothing_known
from cluster_abm.policies import Decision, Policy

HEAD = '''
import numpy as np

import cluster_abm as ca
from cluster_abm.policies import ArrivingTask, Decision, Policy, View

SCALE = 2.0
RULES = ("light", "heavy")


def weigh(view: View, node: int) -> float:
    """A function beside the class."""
    return view.measured("cpu_ms", node) / SCALE + view.measured("io_ms", node)


class Mine(Policy):
    """A policy of one's own."""

    name = "mine"
    source = "a test"
    summary = "a test"
'''
FORMS = {
    "only a location": """
    def location(self, task, view):
        return view.least("io_ms", task)
""",
    "a function beside it, texts and a number in a text": '''
    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The lightest by a measure of its own."""
        best = view.me
        for node in range(view.nodes):
            if node not in view.refused and weigh(view, node) < weigh(view, best):
                best = node
        rule = RULES[0] if weigh(view, best) < 100.0 else RULES[1]
        if task.io_per_ms > 0.1:
            return Decision(best, f"busy {best}", "io_ms", load_there=view.load("io_ms", best), reason="lightest")
        return Decision(best, rule, index="cpu_ms", load_here=weigh(view, view.me))
''',
    "notes": """
    def place(self, task, view):
        seen = view.notes.get("seen", 0)
        view.notes["seen"] = seen + 1
        return Decision((view.me + seen) % view.nodes if seen % 3 else view.me, "in turn")

    def accept(self, task, decision, view):
        return "" if view.measured("tasks", view.me) < 4 else "full"
""",
    "names of the package": """
    def place(self, task: ca.ArrivingTask, view: ca.View) -> ca.Decision:
        here = view.load(ca.load.io_ms, view.me)
        return ca.Decision(view.least(ca.load.io_ms, task), "least", ca.load.io_ms, load_here=here)
""",
    "its parent's rule": """
    def place(self, task, view):
        return super().place(task, view)
""",
    "arrays that it keeps": """
    def __init__(self, **parameters):
        super().__init__(**parameters)
        self.weights = np.array([1.0, 0.001, 0.25])
        self.terms, self.reads = np.array([[2, 0], [1, 1]]), np.array([True, False, True])

    def place(self, task, view):
        column = self.weights[0] * view.column("tasks", task) + self.weights[self.terms[1, 1]] * view.loads["cpu_ms"]
        for place in range(len(self.reads)):
            if self.reads[place]:
                column = column + self.weights[place] / (1.0 + view.hardware_table["speed"])
        target = view.least_of(column)
        return Decision(target, "least", load_here=float(column[view.me]), load_there=float(column[target]))
""",
    "the loads as arrays": """
    def place(self, task, view):
        column = view.column("tasks", task) + 0.001 * view.loads["cpu_ms"]
        target = view.least_of(column)
        return Decision(target, "least", load_here=float(column[view.me]), load_there=float(column[target]))
""",
}


def policy_of(tmp_path, monkeypatch, body, name="mine"):
    """A policy in a file of its own."""
    (tmp_path / f"{name}_policy.py").write_text(HEAD + body, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    sys.modules.pop(f"{name}_policy", None)
    return importlib.import_module(f"{name}_policy").Mine


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_what_compiles_decides_the_same(tmp_path, monkeypatch, form):
    policy = policy_of(tmp_path, monkeypatch, FORMS[form])
    monkeypatch.setattr("cluster_abm.policy.finding.registry.available", lambda: {"mine": policy})
    models = []
    for compiles in (True, False):
        setup = scenario(**busy(policy__name="mine", workload__duration_s=5.0))
        models.append(ClusterModel(setup, seed=4, compile_decisions=compiles))
        models[-1].run()
    assert models[0].decides_in_python == ""
    assert same_records(*models)
    assert models[0].decisions_frame().equals(models[1].decisions_frame())
    assert models[0].decisions_frame()["target"].nunique() > 1


@pytest.mark.slow
@pytest.mark.parametrize(("body", "reason"), [
    ("    def place(self, task, view):\n        while True:\n            pass\n", "a `while` loop"),
    ("    def place(self, task, view):\n        return Decision(len(frozenset([1])), 'r')\n", "mine_policy.py"),
    ("    def place(self, task, view):\n        return Decision(self.k, 'r')\n", "Unknown attribute 'k'"),
    ("    def place(self, task, view):\n        return ca.Decison(view.me, 'r')\n", "cluster_abm has no 'Decison'"),
    ("    def place(self, task, view):\n        return Decision(view.me, 'r', ca.load.ios)\n", "'ios'"),
    ("    def place(self, task, view):\n        return Decision(len(view.candidates), 'r')\n", "candidate_rows"),
    ("    def place(self, task, view):\n        return Decision(view.me, f'{task.io_per_ms:.2f}')\n", "f-string"),
    ("    def place(self, task, view):\n        return Decision(view.me, 'a' + 'b')\n", "a text of others"),
    ("    def place(self, task, view):\n        return Decision(view.me, RULES[0] + RULES[1])\n", "a text of others"),
    ("    def place(self, task, view):\n        a = 'r'\n        a += a\n        return Decision(view.me, a)\n",
     "a text of others"),
    ("    kind = 'x'\n    def place(self, task, view):\n        return Decision(view.me, max('r', self.kind))\n",
     "a text of others"),
    ("    def place(self, task, view):\n        for a in ('r', 's'):\n            if a > 'b':\n"
     "                return Decision(view.me, a)\n        return Decision(0, a)\n", "a text of others"),
])  # fmt: skip
def test_what_does_not_compile_says_why(tmp_path, monkeypatch, body, reason):
    with pytest.raises(NotCompilable, match=r"line|Unknown") as caught:
        compiled_policy(policy_of(tmp_path, monkeypatch, body)())
    assert reason in str(caught.value)


KEEPS = """
    def __init__(self, **parameters):
        super().__init__(**parameters)
        self.kept = {kept}

    def place(self, task, view):
        {first}
        return Decision(view.me, 'r', load_here=float(self.kept[0]))
"""


@pytest.mark.parametrize(("kept", "first", "reason"), [
    ("[1.0, 2.0]", "pass", "the policy keeps 'kept' in itself"),
    ("np.ones(3, np.float32)", "pass", "the policy keeps 'kept' in itself"),
    ("np.ones((2, 2, 2))", "pass", "the policy keeps 'kept' in itself"),
    ("np.ones(8)[::2]", "pass", "the policy keeps 'kept' in itself"),
    ("np.ones(3)", "self.kept[0] = 2.0", "may be written to a table"),
    ("np.ones(3)", "self.kept = 2.0", "cannot be assigned to"),
])  # fmt: skip
def test_what_a_policy_keeps_and_does_not_compile(tmp_path, monkeypatch, kept, first, reason):
    with pytest.raises(NotCompilable) as caught:
        compiled_policy(policy_of(tmp_path, monkeypatch, KEEPS.format(kept=kept, first=first))())
    assert reason in str(caught.value)


@pytest.mark.slow
def test_arrays_are_read_where_they_lie_and_another_one_in_their_place_is_seen(tmp_path, monkeypatch):
    policy = policy_of(tmp_path, monkeypatch, KEEPS.format(kept="np.array([1.5, 2.5])", first="pass"))
    monkeypatch.setattr("cluster_abm.policy.finding.registry.available", lambda: {"mine": policy})
    model = ClusterModel(scenario(**busy(policy__name="mine", workload__duration_s=5.0)), seed=4)
    assert model.decides_in_python == ""
    model.run(until_ms=1000.0)
    model.policy.kept[0] = 3.5
    model.run(until_ms=2000.0)
    model.policy.kept = np.array([5.5])
    model.run()
    told = model.decisions_frame().groupby(lambda row: 0)["load_here"].unique()[0]
    assert told.tolist() == [1.5, 3.5, 5.5]


STAYS = "        return Decision(view.me, 'r')\n"
MIGRATES = "    migrates = True\n    def migration(self, task, view):\n"


@pytest.mark.slow
@pytest.mark.parametrize(("body", "said"), [
    ("        return Decision(view.least('no such index'), 'r')\n", "no such index"),
    ("        return Decision(view.me, 'r', cost_ms=task.cpu_ms / (view.nodes - 4))\n", "ZeroDivisionError"),
    ("        return Decision(view.me, 'r', mce=view.column('tasks')[view.nodes])\n", "IndexError"),
    ("        return Decision(view.me + 7, 'r')\n", "it chose node 7"),
    (STAYS + MIGRATES + "        return Decision(view.next_node, 'r')\n", "that names no task; expected task="),
    (STAYS + MIGRATES + "        return Decision(-1, 'r')\n", "it chose node -1"),
])  # fmt: skip
def test_what_python_finds_fault_with_is_its_fault_compiled_too(tmp_path, monkeypatch, capfd, body, said):
    policy = policy_of(tmp_path, monkeypatch, "    def place(self, task, view):\n" + body)
    monkeypatch.setattr("cluster_abm.policy.finding.registry.available", lambda: {"mine": policy})
    model = ClusterModel(scenario(**busy(policy__name="mine", workload__home__kind="skewed")), seed=1)
    assert model.decides_in_python == ""
    with pytest.raises(PolicyFault, match=r"^policy 'mine': ") as caught:
        model.run()
    assert said in str(caught.value)
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_what_python_alone_can_answer_leaves_notes_as_they_were(tmp_path, monkeypatch):
    """Compiled code has no whole number above 2^53: Python decides again, with the notes from before the decision."""
    body = """
    def place(self, task, view):
        seen = view.notes.get("seen", 0)
        view.notes["seen"] = seen + 1
        return Decision((view.me + seen) % view.nodes, 'r')

    def accept(self, task, decision, view):
        return '' if int(2.0 ** (50 + task.task % 5)) > 0 else 'refused'
"""
    policy = policy_of(tmp_path, monkeypatch, body)
    monkeypatch.setattr("cluster_abm.policy.finding.registry.available", lambda: {"mine": policy})
    settings = scenario(**busy(policy__name="mine", workload__duration_s=1.0))
    compiled, in_python = ClusterModel(settings, seed=1), ClusterModel(settings, seed=1, compile_decisions=False)
    assert compiled.decides_in_python == ""
    compiled.run()
    in_python.run()
    assert compiled.decisions_frame().equals(in_python.decisions_frame())
    assert len(compiled.decisions_frame()) > 8


@pytest.mark.slow
def test_an_edited_policy_is_compiled_anew(tmp_path, monkeypatch):
    found = []
    for target in ("view.me", "view.next_node"):
        body = f"    def place(self, task, view):\n        return Decision({target}, 'r')\n"
        policy = policy_of(tmp_path, monkeypatch, body)
        monkeypatch.setattr("cluster_abm.policy.finding.registry.available", lambda policy=policy: {"mine": policy})
        model = ClusterModel(scenario(**busy(policy__name="mine", workload__duration_s=2.0)), seed=1)
        assert model.decides_in_python == ""
        model.run()
        found.append((model.decisions_frame()["source"] == model.decisions_frame()["target"]).all())
    assert found == [True, False]


@pytest.mark.slow
def test_what_stands_in_its_class_now_is_compiled(tmp_path, monkeypatch):
    body = "    rule = 'first'\n    def place(self, task, view):\n        return Decision(view.me, self.rule)\n"
    policy = policy_of(tmp_path, monkeypatch, body)
    monkeypatch.setattr("cluster_abm.policy.finding.registry.available", lambda: {"mine": policy})

    def rules_of_a_run():
        model = ClusterModel(scenario(**busy(policy__name="mine", workload__duration_s=2.0)), seed=1)
        assert model.decides_in_python == ""
        model.run()
        return set(model.decisions_frame()["rule"])

    def other(self, task, view):
        return Decision(view.next_node, "third")

    assert rules_of_a_run() == rules_of_a_run() == {"first"}
    policy.rule = "second"
    assert rules_of_a_run() == {"second"}
    policy.place = other
    assert rules_of_a_run() == {"third"}


def test_what_it_keeps_in_itself_is_not_compiled(monkeypatch):
    class Keeps(Policy):
        name, source, summary = "keeps", "a test", "a test"

        def __init__(self, **parameters):
            super().__init__(**parameters)
            self.index = "io_ms"

    monkeypatch.setattr("cluster_abm.policy.finding.registry.available", lambda: {"keeps": Keeps})
    model = ClusterModel(scenario(**busy(policy__name="keeps")), seed=1)
    assert model.decides_in_python == (
        "the policy keeps 'index' in itself: compiled are its parameters, constants and arrays of numbers"
    )
    model.run()
    assert "io_ms" in set(model.decisions_frame()["index"])


def test_what_the_function_around_it_holds_is_read_in_python(monkeypatch):
    said = "from outside"

    class Around(Policy):
        name, source, summary = "around", "a test", "a test"

        def place(self, task, view):
            return Decision(view.me, said)

    monkeypatch.setattr("cluster_abm.policy.finding.registry.available", lambda: {"around": Around})
    model = ClusterModel(scenario(**busy(policy__name="around", workload__duration_s=2.0)), seed=1)
    assert "reads 'said' of the function around it" in model.decides_in_python
    model.run()
    assert set(model.decisions_frame()["rule"]) == {said}


def test_where_the_compiler_itself_fails_python_decides(monkeypatch):
    def stumbles(*given, **named):
        raise AssertionError

    monkeypatch.setattr("cluster_abm.compiling.entries._entry", stumbles)
    monkeypatch.setattr("cluster_abm.compiling.entries._COMPILED", {})
    model = ClusterModel(scenario(**busy(policy__name="jsq", workload__duration_s=2.0)), seed=1)
    assert model.decides_in_python == "the compiler failed (AssertionError: )"
    model.run()
    assert len(model.decisions_frame()) > 0


def test_texts_come_back():
    for text in ("", "tasks", "io_ms", "no gain in response", "größer als 1", "a {} b"):
        assert texts.text_of(texts.number_of(text)) == text
    pattern = texts.number_of("shortest of {}")
    assert texts.text_of(pattern + 8 * texts.COMPLETED) == "shortest of 7"
    assert [texts.number_of(name) for name in LOAD.names] == list(range(1, len(LOAD.names) + 1))


def test_texts_of_one_number_are_told():
    number = texts.number_of("one text")
    texts._texts[number] = "another"
    with pytest.raises(ValueError, match="the same number"):
        texts.number_of("one text")
    texts._texts[number] = "one text"


columns = st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.5, math.inf]), min_size=1, max_size=40)


def least_by_definition(column, me, refused=()):
    values = [math.inf if node in refused else value for node, value in enumerate(column)]
    least = min(values)
    return next(node % len(values) for node in range(me, me + len(values)) if values[node % len(values)] == least)


@settings(max_examples=33)
@given(values=columns, data=st.data())
def test_the_least_of_a_column_on_a_tie_the_next_after_me(values, data):
    me = data.draw(st.integers(0, len(values) - 1))
    flags = np.array(data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values))), np.uint8)
    column = np.array(values)
    assert smallest(column) == min(values)
    assert least_entry(column, me) == least_by_definition(values, me)
    assert least_open_entry(column, me, flags) == least_by_definition(values, me, np.flatnonzero(flags).tolist())


# The second number fills two groups of blocks and a part of a third one.
@pytest.mark.parametrize(("nodes", "blocks"), [(200, 4), (9000, 141)])
@settings(max_examples=40)
@given(data=st.data())
def test_a_row_that_changes_here_and_there_is_read_block_by_block(nodes, blocks, data):
    known = nothing_known(np.zeros(nodes, np.int64))
    # One audience's part of the tables: what compiled code sees as its load table.
    loads = known._replace(**{name: getattr(known, name)[0] for name in OF_LOADS})
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    # All alike and large: where the least is depends on the few that change.
    loads.table[:] = 5.0
    for _ in range(8):
        for node in rng.integers(0, nodes, 5).tolist():
            loads.table[:, node] = rng.integers(0, 7)
            note_change(known, 0, node)
        me = int(rng.integers(0, nodes))
        row = loads.table[4].tolist()
        assert least_of_row(loads, 4, me) == least_by_definition(row, me)
        flags = rng.random(nodes) < data.draw(st.sampled_from([0.0, 0.001, 0.5, 1.0]))
        # Those that would be chosen have refused.
        flags[np.argsort(row)[:3]] = True
        refused = np.flatnonzero(flags).tolist()
        assert least_open_of_row(loads, 4, me, flags) == least_by_definition(row, me, set(refused))
        assert total_of_row(loads, 4) == total(loads.table[4])
    assert blocks_of(nodes) == blocks


@given(values=st.lists(st.floats(0.0, 1e6), max_size=50))
def test_sums_in_lanes_are_sums(values):
    column = np.array(values)
    assert total(column) == pytest.approx(math.fsum(values))
    assert total_deviation(column, 10.0) == pytest.approx(math.fsum(abs(value - 10.0) for value in values))
