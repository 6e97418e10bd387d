"""Compiling ahead: the parts that scenarios need, their keys, the progress, and the compilers.

Compilers, models and processes are stand-ins: nothing is compiled.
"""

from __future__ import annotations

import itertools
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from cluster_abm.compiling.translating import NotCompilable
from cluster_abm.errors import InputError
from cluster_abm.policies import Policy, register
from cluster_abm.scenario import load_scenario
from cluster_abm.study.runner import ahead
from cluster_abm.study.runner.executors.kinds.inline import InlineExecutor

ONE_FILE = {"data.files": 1, "data.files_per_job.maximum": 1}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder for compiled parts."""
    monkeypatch.setattr(ahead, "cache_folder", lambda: str(tmp_path))
    return tmp_path


def under(policy, **settings):
    return load_scenario("cpu-bound", {"policy.name": policy, **settings})


def key_of(policy, **settings):
    """The key of the part that holds the policy."""
    (key,) = (part.key for part in ahead.missing_parts([under(policy, **settings)]) if part.kind == "policy")
    return key


@pytest.mark.parametrize(("attributes", "kinds"), [
    ({}, ["engine", "placement", "policy"]), ({"migrates": True}, ["engine", "placement", "policy"]),
    (
        {"migrates": True, "migration": lambda policy, task, view: None},
        ["engine", "placement", "migration", "policy"],
    ),
    ({"holds_jobs": True, "acts_every_ms": 1000.0}, ["engine", "waiting", "policy"]),
    # Policies of these kinds are not called from compiled code when a task arrives.
    ({"acts_on_arrival": False, "migrates": True}, ["engine"]), ({"holds_jobs": True}, ["engine"]),
    ({"pooled": True}, ["engine"]), ({"averages": True}, ["engine", "placement", "policy"]),
    ({"holds_jobs": True, "central": True}, ["engine", "policy", "head"]),
])  # fmt: skip
def test_the_parts_of_a_policy_follow_from_its_kind(folder, attributes, kinds):
    register(type("Asked", (Policy,), {"name": "asked", **attributes}))
    assert [part.kind for part in ahead.missing_parts([under("asked")])] == kinds


def test_only_a_part_with_a_registered_policy_carries_its_origin(folder):
    register(type("Mine", (Policy,), {"name": "mine"}))
    parts = {part.kind: part.policies for part in ahead.missing_parts([under("mine")])}
    assert [origin.name for origin in parts["policy"]] == ["mine"]
    assert parts["engine"] == parts["placement"] == ()
    # Other processes find the policies of the package by their names.
    assert [part.policies for part in ahead.missing_parts([under("jsq")])] == [(), (), ()]


def test_a_part_has_only_the_parameters_that_its_policy_knows(folder):
    parts = ahead.missing_parts([under("jsq", **{"policy.d": 3})])
    assert [part.scenario.policy.parameters for part in parts] == [{}] * 3
    assert ahead.missing_parts([under("power-of-d", **{"policy.d": 3})])[-1].scenario.policy.parameters == {"d": 3}


def test_an_unknown_policy_is_left_to_the_run(folder):
    scenario = under("jsq")
    wrong = scenario.model_copy(update={"policy": scenario.policy.model_copy(update={"name": "no-such"})})
    assert [part.kind for part in ahead.missing_parts([wrong])] == ["engine"]


@pytest.mark.parametrize(("place", "kinds"), [(63, ["engine", "placement", "policy"]), (64, ["engine"])])
def test_only_the_first_64_scenarios_are_looked_at(folder, place, kinds):
    none, jsq = under("none"), under("jsq")
    scenarios = itertools.chain([none] * place, [jsq], itertools.repeat(none))
    assert [part.kind for part in ahead.missing_parts(scenarios)] == kinds


def test_a_part_has_another_key_exactly_if_its_code_differs(folder, monkeypatch):
    plain = key_of("power-of-d")
    assert plain == key_of("power-of-d", **{"policy.d": 3, "workload.utilisation": 0.2})
    unlike = {"cluster.group": [{"count": 1, "cpu_speed": 2.0}, {"count": 31}]}
    keys = {plain, key_of("jsq"), key_of("power-of-d", **unlike), key_of("power-of-d", **ONE_FILE)}
    monkeypatch.setattr(ahead, "policy_version", lambda name: "edited")
    keys.add(key_of("power-of-d"))
    assert len(keys) == 5
    # The type of a parameter matters and its value does not.
    scenario = under("jsq")
    digests = [ahead._digest(scenario, SimpleNamespace(parameters=[("a", value)])) for value in (1, 2, 1.0, "1")]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


def test_progress_counts_every_part(folder, monkeypatch):
    told = []

    class Bar:
        def __init__(self, *given, quiet):
            told.append((*given, quiet))

        def __enter__(self):
            return self

        def __exit__(self, *_):
            told.append("closed")

        def update(self):
            told.append("part")

        def look(self):
            told.append("looked")

    def fails(_):
        raise RuntimeError("no room on the disk")

    monkeypatch.setattr(ahead, "Progress", Bar)
    monkeypatch.setitem(ahead._COMPILERS, "engine", lambda _: None)
    monkeypatch.setitem(ahead._COMPILERS, "placement", fails)
    monkeypatch.setitem(ahead._COMPILERS, "policy", lambda _: None)
    asked = []
    parts = ahead.missing_parts([under("jsq")])
    ahead.compile_ahead(InlineExecutor(), parts, True, lambda: asked.append(len(told)))
    # A part that fails counts as well; the run that needs it reports the error.
    assert told == [(3, "compiling, once", "part", True), *["looked", "part"] * 3, "closed"]
    assert asked == [1, 3, 5]


def test_a_part_is_marked_after_it_was_compiled_and_also_if_its_input_is_wrong(folder, monkeypatch):
    order = []

    def compiled(scenario):
        order.append((scenario.policy.name, [path.name for path in folder.iterdir()]))
        if scenario.policy.name == "none":
            raise InputError("wrong")

    monkeypatch.setattr(ahead, "admit", lambda origins: order.append(origins))
    monkeypatch.setitem(ahead._COMPILERS, "policy", compiled)
    for name in ("jsq", "none"):
        ahead.compile_part(ahead.Part("policy", under(name), f"{name}.compiled", ("from elsewhere",)))
    assert order == [("from elsewhere",), ("jsq", []), ("from elsewhere",), ("none", ["jsq.compiled"])]
    assert (folder / "none.compiled").exists()


def test_without_a_cache_folder_a_part_is_compiled_and_not_marked(monkeypatch):
    compiled = []
    monkeypatch.setattr(ahead, "cache_folder", lambda: None)
    monkeypatch.setitem(ahead._COMPILERS, "engine", compiled.append)
    ahead.compile_part(ahead.Part("engine", "scenario", "engine.compiled"))
    assert compiled == ["scenario"]


# ---- before one run ----


@pytest.mark.parametrize(("parts", "processors", "opened"), [
    # Processes are only opened if two of them can work at the same time.
    (0, 8, []), (1, 8, []), (3, 1, []), (2, 8, [("process", 2)]), (4, 3, [("process", 3)]),
])  # fmt: skip
def test_processes_compile_the_parts_of_one_run_if_two_can_work_at_once(monkeypatch, parts, processors, opened):
    asked, compiled = [], []

    @contextmanager
    def open_executor(*given):
        asked.append(given)
        yield "executor"

    def missing_parts(scenarios):
        assert scenarios == ["mine"]
        return list(range(parts))

    monkeypatch.setattr(ahead, "missing_parts", missing_parts)
    monkeypatch.setattr(ahead, "available_processors", lambda: processors)
    monkeypatch.setattr(ahead, "open_executor", open_executor)
    monkeypatch.setattr(ahead, "compile_ahead", lambda *given: compiled.append(given))
    ahead.compile_here("mine", True, len)
    assert asked == opened
    assert compiled == ([("executor", list(range(parts)), True, len)] if opened else [])


@pytest.mark.parametrize(("problem", "is_raised"), [(InputError("none"), False), (BrokenExecutor("fault"), False),
                                                  (KeyboardInterrupt(), True), (ValueError("x"), True)])  # fmt: skip
def test_without_processes_the_run_compiles_its_parts_itself(monkeypatch, problem, is_raised):
    def open_executor(*_):
        raise problem

    monkeypatch.setattr(ahead, "missing_parts", lambda _: [1, 2])
    monkeypatch.setattr(ahead, "available_processors", lambda: 2)
    monkeypatch.setattr(ahead, "open_executor", open_executor)
    if is_raised:
        with pytest.raises(type(problem)):
            ahead.compile_here("mine", True, len)
    else:
        ahead.compile_here("mine", True, len)


# ---- compilers ----


def test_engine_placement_and_migration_are_compiled_by_a_short_run_of_two_nodes(monkeypatch):
    done = []

    class Model:
        def __init__(self, scenario):
            workload = scenario.workload
            done.append((scenario.cluster.nodes, workload.duration_s, scenario.policy.name))
            self.engine = SimpleNamespace(address_of_migrate=lambda: done.append("address"))

        def run(self):
            done.append("ran")

    monkeypatch.setattr("cluster_abm.model.ClusterModel", Model)
    for module, name in (("negotiation", "placement"), ("inputs", "migration")):
        monkeypatch.setattr(
            f"cluster_abm.model.deciding.compiled.{module}.compiled_{name}", lambda engine, name=name: done.append(name)
        )
    for kind in ("engine", "placement", "migration"):
        ahead._COMPILERS[kind](under("jsq"))
    small = (2, 2.0, "none")
    assert done == [small, "ran", small, "placement", small, "address", "migration"]


@pytest.mark.parametrize(("settings", "passed"), [
    ({}, (False, False)), (ONE_FILE, (True, False)),
    # Unlike nodes need other code only if the policy compares loads by capacity.
    ({"cluster.group": [{"count": 32}]}, (False, False)), ({"policy.heterogeneous": True}, (False, False)),
    ({"cluster.group": [{"count": 32}], "policy.heterogeneous": True}, (False, True)),
])  # fmt: skip
def test_a_policy_is_compiled_for_data_and_for_unlike_nodes_if_its_runs_have_them(monkeypatch, settings, passed):
    asked = []

    def compiled(policy, has_data, has_capacities):
        asked.append((type(policy).name, has_data, has_capacities))
        raise NotCompilable("its managers decide in Python")

    monkeypatch.setattr("cluster_abm.compiling.entries.compiled_policy", compiled)
    ahead._COMPILERS["policy"](under("jsq", **settings))
    assert asked == [("jsq", *passed)]
