"""Policies of one's own: FILE.py:CLASS, a class, an object; and data that names a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tomli_w
from support import busy, same_records, scenario

import cluster_abm
from cluster_abm import ClusterModel, InputError, load_scenario
from cluster_abm.errors import PolicyFault
from cluster_abm.policies import Decision, Policy, available, choice_of, describe, name_of, register
from cluster_abm.policies.references import JoinShortestQueue, PowerOfD
from cluster_abm.policy.finding.files import digest_of, load_policy
from cluster_abm.scenario import scenario_from
from cluster_abm.scenario.policy_names import split_reference
from cluster_abm.study.compare import compare
from cluster_abm.study.design.study_file import load_study

HEAD = "from cluster_abm.policies import Decision, Policy\n\n\n"
SHORT = busy(workload__duration_s=3.0)


def source(of, target="view.me", /, **attributes):
    lines = [f"class {of}(Policy):", *(f"    {key} = {value!r}" for key, value in attributes.items())]
    lines += ["    def place(self, task, view):", f"        return Decision({target}, 'own')", ""]
    return "\n".join(lines)


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, text):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
        return name

    return write


@pytest.mark.parametrize(("text", "split"), [
    ("mine.py:Mine", ("mine.py", "Mine")), ("a/b c/mine.py", ("a/b c/mine.py", None)), ("mine.py:", ("mine.py", None)),
    ("C:\\x\\mine.py:Mine", ("C:\\x\\mine.py", "Mine")), ("a.py:b/mine.py:Mine", ("a.py:b/mine.py", "Mine")),
    ("jsq", None), ("mine:Mine", None), ("mine.pyc", None), (".py", None), ("", None),
])  # fmt: skip
def test_what_names_a_file(text, split):
    assert split_reference(text) == split


@pytest.mark.slow
def test_a_policy_in_a_file_runs_by_its_name(write):
    write("mine.py", HEAD + source("AlwaysHome", source="a test"))
    model = ClusterModel(scenario(**SHORT), policy="mine.py:AlwaysHome", seed=3)
    model.run()
    assert model.summary()["policy"] == "always-home"
    assert model.decides_in_python == ""
    decisions = model.decisions_frame()
    assert set(decisions["rule"]) == {"own"}
    assert (decisions["source"] == decisions["target"]).all()
    # From now on by its name, which a scenario may hold as well.
    assert load_scenario("quickstart", {"policy.name": "always-home"}).policy.name == "always-home"
    assert [one["source"] for one in describe(["always-home"])] == ["a test"]


def test_a_file_with_one_policy_needs_no_class(write):
    write("one.py", HEAD + "class _Base(Policy):\n    pass\n\n" + source("Mine", name="m1"))
    assert name_of("one.py") == "m1"


@pytest.mark.parametrize(("text", "reference", "said"), [
    (None, "gone.py:X", r"gone\.py: cannot be read: No such file"),
    ("x = 1\n", "mine.py", "has no policy: a class that inherits from"),
    (HEAD + source("A") + source("B"), "mine.py", "has several policies: name one, as mine.py:A; allowed: A, B"),
    (HEAD + source("Lightest"), "mine.py:Lightst", "has no policy 'Lightst'; did you mean 'Lightest'"),
    (HEAD + source("Lightest"), "mine.py:Policy", "has no policy 'Policy'; allowed: Lightest"),
    ("x = 1\n\ndef broken(:\n", "mine.py:X", "line 3: SyntaxError: "),
    ("import sys\n\nraise SystemExit('no')\n", "mine.py:X", "line 3: SystemExit: no"),
    ("def f():\n    return {}['k']\n\n\nf()\n", "mine.py:X", "line 2: KeyError: 'k'"),
    ("from .beside import X\n", "mine.py:X", "line 1: ImportError"),
    (HEAD + source("A", name="a b"), "mine.py", r"A\.name = 'a b': allowed are letters"),
    (HEAD + source("A", name="x.py"), "mine.py", r"A\.name = 'x\.py': allowed are letters"),
    (HEAD + source("A", name=7), "mine.py", r"A\.name = 7: a text is needed"),
])  # fmt: skip
def test_what_is_wrong_with_a_file_is_said(write, cli_of, text, reference, said):
    if text is not None:
        write("mine.py", text)
    with pytest.raises(InputError, match=said) as caught:
        name_of(reference)
    code, out, err = cli_of("run", "quickstart", "--policy", reference, "--json")
    assert (code, out) == (2, "")
    assert err == "".join(f"error: {line}\n" for line in caught.value.problems)
    assert reference.partition(":")[0] in err


@pytest.fixture
def cli_of(capfd, write):
    from cluster_abm.cli import main

    def call(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return left.value.code, captured.out, captured.err

    return call


def test_what_a_file_prints_is_not_among_the_results(write, cli_of):
    write("mine.py", f"print('hello')\n{HEAD}{source('Mine', summary='of a test')}")
    code, out, err = cli_of("policies", "mine.py:Mine", "--json")
    assert code == 0
    assert [one["name"] for one in json.loads(out)] == ["mine"]
    assert "hello" in err


def test_a_file_too_large_is_not_read(write):
    write("large.py", "#" * (4 * 2**20 + 1))
    with pytest.raises(InputError, match="more than 4 MB"):
        load_policy("large.py:X")


NAMES_A_FILE = [
    {"policy": {"name": "mine.py:Mine"}},
    {"compare": {"policies": ["jsq", "mine.py:Mine"]}},
    {"cluster": {"group": [{"count": 1, "policy": "mine.py:Mine"}]}},
]


@pytest.mark.parametrize("tables", NAMES_A_FILE)
def test_data_names_no_file_unless_the_caller_allows_it(write, tables):
    write("mine.py", f"raise RuntimeError('imported')\n{HEAD}{source('Mine')}")
    path = Path(write("s.toml", tomli_w.dumps({"workload": {"utilisation": 0.5}} | tables)))
    with pytest.raises(InputError, match=r"^s\.toml: .* = 'mine\.py:Mine': names a file, which is code"):
        load_scenario(path)
    dotted = {f"{section}.{key}": value for section, keys in tables.items() for key, value in keys.items()}
    with pytest.raises(InputError, match=r"^override: .*names a file"):
        load_scenario("quickstart", dotted)
    write("mine.py", HEAD + source("Mine"))
    found = load_scenario(path, policy_files=name_of)
    assert "mine" in (found.policy.name, *found.compare.policies, *(group.policy for group in found.cluster.group))
    # What has been allowed is a name from then on.
    assert scenario_from(found.model_dump(exclude_none=True)) == found


def test_a_study_names_no_file_unless_the_caller_allows_it(write):
    write("folder/mine.py", HEAD + source("Mine"))
    path = write("folder/s.toml", 'scenario = "quickstart"\npolicies = ["none", "mine.py:Mine"]\n')
    with pytest.raises(InputError, match=r"policies = 'mine\.py:Mine': names a file.*--policy-files"):
        load_study(path)
    assert "mine" not in available()
    # As seen from the study's folder.
    assert load_study(path, name_of).policies == ("none", "mine")


def test_the_page_names_no_file(write):
    from viz.settings import scenario_with, settings_of

    write("mine.py", f"raise RuntimeError('imported')\n{HEAD}{source('Mine')}")
    own = scenario(**SHORT)
    with pytest.raises(InputError, match="names a file"):
        scenario_with(own, settings_of(own), "mine.py:Mine")
    write("mine.py", HEAD + source("Mine"))
    # One that its command line has named it shows and takes by its name.
    assert scenario_with(own, settings_of(own), name_of("mine.py:Mine")).policy.name == "mine"


@pytest.mark.slow
def test_the_command_line_is_a_caller(write, cli_of):
    write("mine.py", HEAD + source("Mine"))
    short = ("--set", "workload.duration_s=2", "--set", "cluster.nodes=2", "--json")
    for words in (("--policy", "mine.py:Mine"), ("--set", "policy.name=mine.py:Mine"), ("--policy", "mine.py")):
        code, out, err = cli_of("run", "quickstart", *words, *short)
        assert (code, json.loads(out)["policy"]) == (0, "mine"), err
    given = ("--seeds", 1, "--workers", 1)
    code, out, _ = cli_of("compare", "quickstart", "--policies", "mine.py:Mine,jsq", *given, *short)
    assert (code, list(json.loads(out)["policies"])) == (0, ["mine", "jsq"])
    code, out, _ = cli_of("compare", "quickstart", "--policies", "mine.py:Mine,none", *given, *short[:-1], "--out", "o")
    # What it suggests can be pasted.
    assert "--policies mine.py:Mine" in out or "--policy mine.py:Mine" in out
    assert cli_of("run", "quickstart", "--set", 'policy={name="mine.py:Mine"}')[0] == 2


def test_an_edited_file_is_imported_anew_and_counts_as_another(write):
    write("rules.py", "def target(view):\n    return view.me\n")
    text = f"from rules import target\n{HEAD}{source('Mine', 'target(view)')}"
    write("mine.py", text)
    found, versions = [], []
    # Of the same length: what tells files apart is their content.
    for rule in ("view.me", "view.next_node", "view.next_node  # edited"):
        write("rules.py", f"def target(view):\n    return {rule}\n")
        model = ClusterModel(scenario(**SHORT), policy="mine.py:Mine", compile_decisions=False)
        model.run()
        decisions = model.decisions_frame()
        found.append((decisions["source"] == decisions["target"]).all())
        versions.append(digest_of(Path("mine.py")))
    assert found == [True, False, False]
    assert len(set(versions)) == 3


def test_what_counts_of_a_file(write):
    write("a/mine.py", "import numpy, random\nfrom pack.inner import x\ndef f():\n    import lazy\n")
    before = digest_of(Path("a/mine.py"))
    for name in ("a/other.py", "a/random.py", "a/numpy/deep.py", "b/lazy.py"):
        write(name, "x = 1\n")
        assert digest_of(Path("a/mine.py")) == before
    changed = {before}
    for name in ("a/lazy.py", "a/pack/__init__.py", "a/pack/inner.py", "a/mine.py"):
        write(name, "x = 1\n")
        changed.add(digest_of(Path("a/mine.py")))
    # Not the package's module before the package is one.
    assert len(changed) == 5
    write("c/mine.py", "x = 1\n")
    assert digest_of(Path("c/mine.py")) == digest_of(Path("a/mine.py"))


def test_a_module_of_another_folder_is_not_taken_for_the_one_beside(write):
    for folder in "ab":
        write(f"{folder}/rules_of_a_test.py", f"NAME = '{folder}'\n")
        write(f"{folder}/mine.py", f"from rules_of_a_test import NAME\n{HEAD}{source('Mine')}\n    name = NAME\n")
    assert name_of("a/mine.py") == "a"
    with pytest.raises(InputError, match=r"imports 'rules_of_a_test', which is .*a/rules_of_a_test\.py here"):
        name_of("b/mine.py")


def test_the_name_of_another_policy_is_not_taken(write):
    write("mine.py", HEAD + source("Mine", name="jsq"))
    assert name_of("mine.py:Mine") == "mine.jsq"
    assert available()["jsq"] is JoinShortestQueue
    # An edited file's takes the place of what it was before.
    write("mine.py", HEAD + source("Mine", "view.next_node", name="jsq"))
    assert name_of("mine.py:Mine") == "mine.jsq"
    write("more/mine.py", HEAD + source("Mine", name="jsq"))
    with pytest.raises(InputError, match=r"Mine\.name = 'jsq': is that of the policy in .*references"):
        name_of("more/mine.py:Mine")


class Own(Policy):
    """A policy of this module."""

    summary = "of a test"

    class Parameters(Policy.Parameters):
        """One number."""

        step: int = 0

    def place(self, task, view):
        return Decision((view.me + self.parameters.step) % view.nodes, "own")


class Shadow(JoinShortestQueue):
    """It inherits its name, and has none of its own."""


@pytest.mark.slow
def test_classes_and_objects(write):
    by_class = ClusterModel(scenario(**SHORT), policy=Own, seed=2)
    by_object = ClusterModel(scenario(**SHORT), policy=Own(step=1), seed=2)
    by_name = ClusterModel(scenario(**SHORT | {"policy__name": "own"}), seed=2, policy__step=1)
    for model in (by_class, by_object, by_name):
        model.run()
    assert by_object.summary()["policy"] == "own"
    assert by_object.setup.policy.parameters == {"step": 1, "heterogeneous": False}
    assert same_records(by_object, by_name)
    assert not same_records(by_object, by_class)
    assert name_of(Shadow) == "shadow"
    assert name_of(JoinShortestQueue) == "jsq"
    assert choice_of(PowerOfD(d=3), {"d": 5, "step": 2}).parameters == {
        "d": 3, "step": 2, **PowerOfD().parameters.model_dump(exclude={"d"}, exclude_none=True),
    }  # fmt: skip


def test_an_object_is_the_one_that_decides():
    class Remembers(Policy):
        def __init__(self, targets):
            super().__init__()
            self.targets = targets

        def place(self, task, view):
            return Decision(self.targets[view.me], "own")

    model = ClusterModel(scenario(**SHORT), policy=Remembers([0, 0, 0, 0]))
    model.run()
    assert set(model.decisions_frame()["target"]) == {0}
    with pytest.raises(InputError):
        compare(scenario(**SHORT), [Remembers([0, 0, 0, 0]), "none"], seeds=1, workers=1, quiet=True)


def test_wrong_policies_in_python():
    for wrong in (7, int, Policy, Policy()):
        with pytest.raises(InputError, match=r"a name, FILE\.py:CLASS, a class of policies or an object is needed"):
            ClusterModel(scenario(**SHORT), policy=wrong)
    with pytest.raises(InputError, match="no such policy; did you mean 'jsq'"):
        ClusterModel(scenario(**SHORT), policy="jsqq")
    with pytest.raises(InputError, match="give one of them"):
        ClusterModel("quickstart", policy="jsq", policy__name="none")
    groups = scenario(**SHORT, cluster__group=[{"count": 1, "policy": "jsq"}])
    with pytest.raises(InputError, match=r"policy = 'own': cluster\.group\.0\.policy = 'jsq' says the policy"):
        ClusterModel(groups, policy=Own)

    class Bare(Policy):
        def __init__(self):
            pass

    with pytest.raises(PolicyFault, match=r"super\(\).__init__"):
        ClusterModel(scenario(**SHORT), policy=Bare())


@pytest.mark.slow
def test_a_registered_policy_is_found_by_its_name(write):
    assert register(Own) is Own
    assert ClusterModel(scenario(**SHORT | {"policy__name": "own"})).policy.__class__ is Own
    with pytest.raises(InputError, match=r"Taken\.name = 'jsq': is that of the policy in"):

        @cluster_abm.register
        class Taken(Policy):
            name = "jsq"

    for wrong in ("own", Own(), int):
        with pytest.raises(InputError, match="a class that inherits from"):
            register(wrong)


def test_a_comparison_tells_objects_apart():
    policies = [PowerOfD(d=2), PowerOfD(d=3), "power-of-d", Own]
    with pytest.raises(InputError, match="'power-of-d' is named twice"):
        compare(scenario(**SHORT), policies, seeds=1, workers=1, quiet=True)
    found = compare(scenario(**SHORT), [*policies[1:], PowerOfD(d=4)], seeds=2, workers=1, quiet=True)
    assert found.policies == ("power-of-d[d=3]", "power-of-d", "own", "power-of-d[d=4]")
    alone = ClusterModel(scenario(**SHORT | {"policy__name": "power-of-d"}), seed=2, policy__d=3)
    alone.run()
    slowdown = alone.summary()["metrics"]["mean_slowdown"]
    assert found.values("power-of-d[d=3]", "mean_slowdown")[1] == slowdown


def test_a_comparison_of_a_shipped_scenario_by_its_name():
    found = cluster_abm.compare("cpu-bound", ["none"], seeds=1, workers=1, quiet=True)
    assert found.scenario.name == "cpu-bound"
