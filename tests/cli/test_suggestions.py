"""What a comparison suggests to try next is taken by the commands that it names."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from cluster_abm.cli.log_options import FromLog
from cluster_abm.cli.suggestions import Asked, suggestions
from cluster_abm.errors import InputError
from cluster_abm.scenario import load_scenario, scenario_names


def lines(scenario, settings=(), policies=None):
    chosen = policies or load_scenario(scenario).compare.policies
    found = SimpleNamespace(policies=list(chosen), headline="", estimate=lambda name, metric: SimpleNamespace(mean=1.0))
    return suggestions(found, Asked(scenario, settings, FromLog(), policies))


@pytest.fixture
def taken(cli, monkeypatch):
    """Whether a command comes as far as its first run."""

    def reached(*given, **named):
        raise InputError("reached")

    monkeypatch.setattr("cluster_abm.model.ClusterModel", reached)
    monkeypatch.setattr("cluster_abm.study.compare.compare", reached)

    def call(line):
        words = shlex.split(line.partition("    (")[0])
        return cli(*words[1:])[2].strip().splitlines()[-1] == "error: reached"

    return call


@pytest.mark.slow
@pytest.mark.parametrize("name", [one for one in scenario_names() if load_scenario(one).workload.kind != "trace"])
def test_of_every_shipped_scenario(taken, name):
    for line in lines(name)[:-2]:
        assert taken(line), line


@pytest.mark.parametrize(("settings", "policies"), [
    (["compare.seeds=2"], None),
    (['compare.policies=["none", "jsq"]'], None),
    (["policy.cpu_weight=0.5"], ["jsq", "wal-re"]),
    (["policy={cpu_weight=0.5}"], ["jsq", "wal-re"]),
    (["workload.io_per_ms.mean=0.1"], None),
    (["run.until=5e3"], ["none"]),
])  # fmt: skip
def test_after_settings(taken, settings, policies):
    for line in lines("quickstart", settings, policies)[:-2]:
        assert taken(line), line


def test_after_a_log_nothing_is_set_that_it_says_and_rules_of_one_kind_are_compared():
    found = SimpleNamespace(
        policies=["easy", "batch-system"], headline="", estimate=lambda *_: SimpleNamespace(mean=1.0)
    )
    asked = Asked("replay", ["workload.requested_over_actual.mean=2"], FromLog(Path("jobs.csv")), found.policies)
    text = "\n".join(suggestions(found, asked)[:-2])
    assert "--policies easy,batch-system,conservative " in text
    assert "io_per_ms" not in text


def test_they_keep_what_was_asked_for():
    run, compare, other, *_ = lines("quickstart", ["cluster.nodes=3"], ["jsq", "none"])
    assert run.startswith("cluster-abm run quickstart --set cluster.nodes=3 --policy jsq --out out/jsq ")
    assert compare.startswith("cluster-abm compare quickstart --set cluster.nodes=3 --policies jsq,power-of-d,random ")
    assert "--set workload.io_per_ms.mean=0.02 --policies jsq,none " in other


def test_the_command_line_itself_imports_nothing_heavy():
    heavy = "{'numpy', 'pandas', 'pydantic', 'mesa', 'numba', 'matplotlib', 'networkx'}"
    look = f"import sys, cluster_abm.cli; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", look], capture_output=True, text=True).stdout == "[]\n"
