"""One way to say overrides in Python: keywords, `overrides`, or both, for every call that takes a scenario."""

from __future__ import annotations

import json

import numpy as np
import pytest

import cluster_abm as ca
from cluster_abm.cli import main
from cluster_abm.policies.references import PowerOfD
from cluster_abm.study import asking
from cluster_abm.study import compare as comparing
from cluster_abm.study.papers import reproduce as reproducing

KEY, WORD = "workload.duration_s", "workload__duration_s"


class Seen(Exception):
    """What a call would run."""


@pytest.fixture
def calls(monkeypatch):
    """The calls, each giving the scenario that it would run."""

    def seen_tasks(tasks, *_, **__):
        raise Seen(tasks[0].scenario)

    def seen_question(name, budget, command, *_, **__):
        raise Seen(command["scenario"])

    monkeypatch.setattr(comparing, "run_all", seen_tasks)
    monkeypatch.setattr(reproducing, "run_all", seen_tasks)
    monkeypatch.setattr(asking, "counted_runs", seen_question)

    def running(function, *arguments, **own):
        def call(**given):
            with pytest.raises(Seen) as seen:
                function(*arguments, **own, **given)
            found = seen.value.args[0]
            return found["workload"]["duration_s"] if isinstance(found, dict) else found.workload.duration_s

        return call

    return {
        "load_scenario": lambda **given: ca.load_scenario("quickstart", **given).workload.duration_s,
        "ClusterModel": lambda **given: ca.ClusterModel("quickstart", **given).setup.workload.duration_s,
        "compare": running(ca.compare, "quickstart", "none", seeds=1, quiet=True),
        "reproduce": running(ca.reproduce, "iolb-table-1", quick=True, quiet=True),
        "plan": running(
            ca.plan, "quickstart", "p95_slowdown<3", "cluster.nodes", "none", low=8, high=16, quiet=True
        ),
    }  # fmt: skip


NAMES = ["load_scenario", "ClusterModel", "compare", "reproduce", "plan"]


WAYS = [
    {WORD: 7}, {"overrides": {KEY: 7.0}}, {"overrides": {KEY: 7}, WORD: 7.0}, {WORD: np.float64(7)},
    {"overrides": {KEY: np.array(7.0)}, "summary": "mine"},
]  # fmt: skip
# A section given whole takes away the key of a reproduction's axis, which `reproduce` refuses.
WHOLE_SECTIONS = [
    {"overrides": {"workload": {"duration_s": 7.0, "jobs_per_s": 1.0}}, WORD: 7},
    {"overrides": {"workload": {"jobs_per_s": 1.0}}, WORD: 7},
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "given"),
    [(name, given) for name in NAMES for given in (WAYS if name == "reproduce" else WAYS + WHOLE_SECTIONS)],
)
def test_all_ways_say_the_same(calls, name, given):
    assert calls[name](**given) == 7.0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"workload__duratoin_s": 7}, r"unknown key 'workload.duratoin_s'; did you mean 'workload.duration_s'"),
        ({"overrides": {"workload.duratoin_s": 7}}, r"unknown key 'workload.duratoin_s'; did you mean 'workload.dur"),
        ({"overrides": {WORD: 7}}, f"overrides: '{WORD}': did you mean '{KEY}'"),
        ({"duration_s": 7}, "duration_s = 7: no such argument, nor a key of a scenario; did you mean 'workload__dura"),
        ({"overides": {KEY: 7}}, r"overides = .*: no such argument, .*; did you mean 'overrides'"),
        ({WORD: "7"}, f"{KEY} = '7'"),
        ({WORD: -7}, f"{KEY} = -7"),
        ({WORD: len}, f"{WORD} = <built-in function len>: a number, a text"),
        ({"overrides": {KEY: 7}, WORD: 8}, f"{KEY}: is 7 in overrides and 8 as {WORD}: give one of them"),
        ({"overrides": {"workload": {"duration_s": 7}}, WORD: 8}, f"{KEY}: is 7 in overrides and 8 as {WORD}"),
        ({"overrides": [(KEY, 7)]}, r"overrides = \[.*\]: a mapping"),
        ({"overrides": {7: 7}}, "overrides: 7: a key is a text"),
    ],
)
def test_a_wrong_one_is_named(calls, name, given, said):
    call = {
        "load_scenario": lambda: ca.load_scenario("quickstart", **given),
        "ClusterModel": lambda: ca.ClusterModel("quickstart", **given),
        "compare": lambda: ca.compare("quickstart", "none", quiet=True, **given),
        "reproduce": lambda: ca.reproduce("iolb-table-1", quick=True, quiet=True, **given),
        "plan": lambda: ca.plan("quickstart", "p95_slowdown<3", "cluster.nodes", "none", quiet=True, **given),
    }[name]
    with pytest.raises(ca.InputError, match=said):
        call()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["workload.io_per_ms.mean=0.3"], "--set workload.io_per_ms.mean: is what is set by the points or series"),
        (["workload.io_per_ms={ kind = \"fixed\", mean = 2.0 }"], "changes workload.io_per_ms.mean"),
        (["policy.name=jsq"], "--set policy.name: is what is set by the points or series of iolb-table-1"),
        (["compare.seeds=3"], "--set compare.seeds: has no effect"),
        (["measure.period_ms=3"], "--set measure.period_ms: has no effect"),
        (["cluster.nods=3"], "did you mean 'cluster.nodes'"),
    ],
)  # fmt: skip
def test_reproduce_refuses_a_key_before_it_runs(tmp_path, monkeypatch, capfd, settings, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reproducing, "run_all", lambda *_, **__: pytest.fail("it runs"))
    words = [word for one in settings for word in ("--set", one)]
    with pytest.raises(SystemExit) as left:
        main(["reproduce", "iolb-table-1", "--quick", *words])
    assert left.value.code == 2
    assert said in capfd.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_reproduce_says_what_was_set(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    words = ["--set", "workload.duration_s=20", "--set", "cluster.nodes=2", "--workers", "1", "--seeds", "1"]
    with pytest.raises(SystemExit) as left:
        main(["reproduce", "iolb-table-2", "--quick", *words, "--json"])
    assert left.value.code == 0
    document = json.loads(capfd.readouterr().out)
    assert document["set"] == {"workload.duration_s": 20, "cluster.nodes": 2}
    assert "with workload.duration_s=20, cluster.nodes=2: this is not the paper's own scenario" in document["notes"]
    alone = ca.reproduce(
        "iolb-table-2", 1, quick=True, workers=1, quiet=True, cluster__nodes=2, overrides={"workload.duration_s": 20}
    )
    assert alone.rows["measured"].tolist() == [row["measured"] for row in document["rows"]]
    assert "with cluster.nodes=2" in repr(alone).replace("workload.duration_s=20, ", "")


def test_a_plan_from_python_is_that_of_the_command(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    given = {"workload__duration_s": 30, "overrides": {"cluster.nodes": 2, "workload.utilisation": 0.4}}
    found = ca.plan(
        "cpu-bound", "cpu_utilisation<0.9", "cluster.context_switch_ms", "none", low=0.1, high=0.2, seeds=2, workers=1,
        quiet=True, out="out", **given,
    )  # fmt: skip
    words = ["--set", "workload.duration_s=30", "--set", "cluster.nodes=2", "--set", "workload.utilisation=0.4"]
    with pytest.raises(SystemExit):
        main(
            ["plan", "cpu-bound", "--need", "cpu_utilisation<0.9", "--over", "cluster.context_switch_ms", "--policies",
             "none", "--low", "0.1", "--high", "0.2", "--seeds", "2", "--workers", "1", "--json", *words]
        )  # fmt: skip
    assert found.as_json() == json.loads(capfd.readouterr().out)
    assert found.values == {"none": found.as_json()["policies"]["none"]["value"]}
    assert f"none {found.values['none']}".replace("None", "none") in repr(found)
    assert found.plot().axes
    assert (tmp_path / "out" / "store").is_dir()
    with pytest.raises(ca.InputError, match=r"an object's parameters are not planned with"):
        ca.plan("cpu-bound", "cpu_utilisation<0.9", "cluster.cores", PowerOfD(d=3))
