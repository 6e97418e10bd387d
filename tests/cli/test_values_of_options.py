"""Values of options: how they are read, conflicts between keys, and captions and file names made of them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from own_policy import MINE

from cluster_abm.cli.log_options import FromLog
from cluster_abm.cli.options import (
    Executor,
    Interrupted,
    as_given,
    exit_code_of,
    file_name,
    interruptible,
    names_of,
    overrides_of,
    policies_named,
    settings_of,
)
from cluster_abm.errors import InputError
from cluster_abm.scenario import load_scenario
from cluster_abm.scenario.filling.values import value_of


def problems_of(call, *given, **named):
    with pytest.raises(InputError) as caught:
        call(*given, **named)
    return caught.value.problems


@pytest.mark.parametrize(("text", "value"), [
    ("3", 3), ("2.5", 2.5), ("true", True), ("inf", math.inf), ('"3"', "3"), ("[1, 2]", [1, 2]), ("{a = 1}", {"a": 1}),
    # A text that is no TOML value stays a text, and so does a text of several values.
    ("jsq", "jsq"), ("", ""), ("power of d", "power of d"), ("1\nother = 2", "1\nother = 2"),
])  # fmt: skip
def test_a_value_is_read_as_toml(text, value):
    found = value_of(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(("text", "names"), [
    (None, None), ("", []), ("jsq", ["jsq"]), (" jsq , none,,iolb,", ["jsq", "none", "iolb"]),
])  # fmt: skip
def test_names_are_separated_by_commas(text, names):
    assert names_of(text) == names


def test_settings_are_keys_and_values():
    assert settings_of("--set", ["a=1", " b.c = x ", "d=e=f"]) == {"a": 1, "b.c": "x", "d": "e=f"}


def test_all_wrong_settings_are_reported_at_once():
    assert problems_of(settings_of, "--set", ["nodes", "a=1", "=3", "a=2", "b={c=1, d=2}", "b.d=3"]) == [
        "--set 'nodes': allowed is KEY=VALUE, e.g. cluster.nodes=64", "--set '=3': allowed is KEY=VALUE, e.g. "
        "cluster.nodes=64", "--set a: is given twice", "--set b.d: is given twice",
    ]  # fmt: skip
    (problem,) = problems_of(settings_of, "--slurm", ["x"], "partition=short")
    assert problem == "--slurm 'x': allowed is KEY=VALUE, e.g. partition=short"
    (problem,) = problems_of(settings_of, "--set", [f"a={'9' * 5000}"])
    assert problem.startswith("--set a: '9999")
    assert "cannot be read as a TOML value" in problem


@pytest.mark.parametrize("settings", [["a.b=1", "a.b={c=2}"], ["a={b={c=2}}", "a.b=1"], ["a={b=1}", "a.b.c=2"]])
def test_a_value_and_a_key_inside_it_are_refused(settings):
    with pytest.raises(
        InputError, match=r"^--set a\.b\.c: a\.b is given too, as a value of its own: allowed is one of both$"
    ):
        settings_of("--set", settings)


def test_keys_that_begin_alike_are_no_part_of_each_other():
    assert settings_of("--set", ["a.b=1", "a.bc=2"]) == {"a.b": 1, "a.bc": 2}


def test_two_tables_of_one_section_are_merged():
    assert settings_of("--set", ["a={b=1, c={d=2}}", "a={e=3, c={f=4}}"]) == {
        "a": {"b": 1, "c": {"d": 2, "f": 4}, "e": 3}
    }
    found = load_scenario("quickstart", overrides_of(["cluster={nodes=3}", "cluster={cores=2}", "cluster.cpu_speed=2"]))
    assert (found.cluster.nodes, found.cluster.cores, found.cluster.cpu_speed) == (3, 2, 2.0)


def test_options_are_keys_too():
    found = overrides_of(["cluster.nodes=3"], FromLog(Path("a", "jobs.csv"), 0), "jsq", 0, "auto")
    assert found == {
        "cluster.nodes": 3, "workload.kind": "trace", "workload.trace.file": "a/jobs.csv", "workload.trace.run": 0,
        "policy.name": "jsq", "run.seed": 0, "run.threads": "auto",
    }  # fmt: skip
    assert overrides_of([], threads="3") == {"run.threads": 3}
    given = {key: found.given_by(key) for key in found}
    assert given == {
        "cluster.nodes": "--set cluster.nodes", "workload.kind": "--trace", "workload.trace.file": "--trace",
        "workload.trace.run": "--trace-run", "policy.name": "--policy", "run.seed": "--seed",
        "run.threads": "--threads",
    }  # fmt: skip


def test_two_options_may_not_set_a_key_to_different_values():
    assert overrides_of(["run.seed=4"], seed=4) == {"run.seed": 4}
    assert problems_of(overrides_of, ["run.seed=4", "policy.name=none"], policy="jsq", seed=5) == [
        "--set policy.name: --policy sets this key too; give one of them",
        "--set run.seed: --seed sets this key too; give one of them",
    ]


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("mine")
def test_a_policy_in_a_file_is_loaded_from_every_option():
    assert overrides_of([], policy="mine.py:Mine") == {"policy.name": "mine"}
    assert overrides_of(["policy.name=mine.py:Mine"]) == {"policy.name": "mine"}
    found = overrides_of(['compare.policies=["none", "mine.py:Mine"]'])
    assert found == {"compare.policies": ["none", "mine"]}
    assert policies_named("none, mine.py:Mine") == ["none", "mine"]
    assert policies_named(None) is None
    # A number stays as it is; the scenario reports it.
    assert overrides_of(["policy.name=3"]) == {"policy.name": 3}
    # Other keys name no policies.
    assert overrides_of(["name=mine.py:Mine"]) == {"name": "mine.py:Mine"}


@pytest.mark.parametrize(("keys", "more"), [(8, None), (9, "and 1 more"), (11, "and 3 more")])
def test_a_caption_names_eight_changes(keys, more):
    words = overrides_of([f"k{number}={number}" for number in range(keys)]).in_words().split(", ")
    assert words == [f"k{number}={number}" for number in range(8)] + ([] if more is None else [more])


def test_changes_in_a_caption():
    found = overrides_of(["a=text", "b=[1, 2.5]", "c=true", "d=inf"], FromLog(Path("logs", "jobs.csv")), "jsq", seed=3)
    assert found.in_words() == 'a=text, b=[1, 2.5], c=true, d="inf", trace jobs.csv'
    assert found.captioned("A title").startswith("A title; with a=text, ")
    assert overrides_of([], policy="jsq").captioned("A title") == "A title"


def test_options_are_quoted_for_the_next_command():
    assert as_given("quickstart", [], FromLog()) == "quickstart"
    given = as_given("my own.toml", ["a=1", "b=x y"], FromLog(Path("jobs.csv"), 0))
    assert given == "'my own.toml' --set a=1 --set 'b=x y' --trace jobs.csv --trace-run 0"


@pytest.mark.parametrize(("name", "part"), [
    ("quickstart", "quickstart"), ("a b/c", "a-b-c"), ("../../evil", "evil"), ("v1.2+x_y", "v1.2+x_y"), ("", "unnamed"),
    ("-.-", "unnamed"), (".hidden", "hidden"), ("x" * 81, "x" * 80), ("\u00e9", "\u00e9"),
])  # fmt: skip
def test_a_name_becomes_a_part_of_a_file_name(name, part):
    assert file_name(name) == part


@pytest.mark.parametrize(("errors", "code"), [
    ([], 0), (["PolicyFault: jsq"], 2), (["PolicyFault: a", "PolicyFault: b"], 2), (["ValueError: a"], 1),
    # Code 1, a fault of this program, outranks code 2, faults of the user's policy.
    (["PolicyFault: a", "ValueError: b"], 1), (["ValueError: PolicyFault: a"], 1),
])  # fmt: skip
def test_the_exit_code_of_errors(errors, code):
    assert exit_code_of(errors) == code


def test_ctrl_c_says_which_results_are_kept():
    with pytest.raises(Interrupted, match=r"^kept in out$"), interruptible("kept in out"):
        raise KeyboardInterrupt
    with pytest.raises(ZeroDivisionError), interruptible("kept in out"):
        raise ZeroDivisionError


def test_the_settings_of_an_executor():
    plain = Executor("process", 3, None, ()).where(None)
    assert (plain.executor, plain.workers, plain.dask, plain.slurm, plain.folder) == ("process", 3, None, None, None)
    assert Executor("inline", None, None, ()).where(Path("out"), Path("store")).folder == Path("store")
    (problem,) = problems_of(Executor("slurm", 2, None, ()).where, None)
    assert problem.startswith("--executor slurm: needs --out DIR")
    (problem,) = problems_of(Executor("process", None, "tcp://here:8786", ()).where, Path("out"))
    assert "`--dask` needs `--executor dask`" in problem
    cluster = Executor("slurm", 2, None, ("partition=short", "nodes=3")).where(Path("out"))
    assert cluster.slurm == {"folder": "out/slurm", "partition": "short", "nodes": 3}
    # A folder that the user gives outranks the default.
    assert Executor("slurm", 2, None, ("folder=mine",)).where(Path("out")).slurm == {"folder": "mine"}
