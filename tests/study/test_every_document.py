"""Every document that the package writes is JSON, whatever value a scenario may have; folders are read as they are."""

from __future__ import annotations

import json
import math
import os
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

import cluster_abm as ca
from cluster_abm.cli import main
from cluster_abm.json_text import json_line, to_json
from cluster_abm.scenario import scenario_from, scenario_keys, scenario_to_toml
from cluster_abm.study.saved import SavedRun

TINY = ["--set", "workload.duration_s=30", "--set", "cluster.nodes=2", "--set", "workload.utilisation=0.3"]
ENDLESS = ["--set", "cluster.quantum_ms=inf"]
BY_COMMAND = {
    "run": ["run", "cpu-bound", "--out", "out"],
    "compare": ["compare", "cpu-bound", "--policies", "none,random", "--seeds", "2", "--workers", "1", "--out", "out"],
    "plan": [
        "plan", "cpu-bound", "--policies", "none", "--need", "cpu_utilisation<0.9",
        "--over", "cluster.context_switch_ms", "--low", "0.1", "--high", "0.2", "--seeds", "2", "--workers", "1",
        "--out", "out",
    ],
    "tune": [
        "tune", "cpu-bound", "--policy", "none", "--over", "negotiation.remote_execution_ms=1:2", "--budget", "4",
        "--seeds", "2", "--judge-seeds", "2", "--workers", "1", "--out", "out",
    ],
}  # fmt: skip


def call(*arguments: object) -> int:
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    return int(left.value.code or 0)


def documents(folder: Path) -> dict[str, object]:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    return {
        path.name: json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
        for path in folder.glob("*.json")
    }  # fmt: skip


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, np.float64("inf"), np.array([math.nan, 1.0])])
def test_the_writer_knows_no_other_numbers(value):
    json.loads(to_json({"a": [value]}), parse_constant=lambda word: pytest.fail(word))
    assert json_line({"a": math.inf, "b": math.nan, 3: (1, Path("x"))}) == '{"a": "inf", "b": null, "3": [1, "x"]}'
    assert json.loads(json_line("a\udcffb")) == "a\udcffb"
    json_line("a\udcffb").encode("utf-8")


@pytest.mark.slow
def test_a_scenario_comes_back_from_its_file_whatever_it_may_say():
    taken = []
    for entry in scenario_keys():
        for value in (math.inf, -math.inf, math.nan, "inf", "nan"):
            try:
                made = ca.load_scenario("quickstart", {entry["key"]: value})
            except ca.InputError:
                continue
            taken.append(entry["key"])
            assert scenario_from(tomllib.loads(scenario_to_toml(made))) == made
    assert "cluster.quantum_ms" in taken


@pytest.mark.slow
@pytest.mark.parametrize("command", BY_COMMAND)
def test_of_a_command(command, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    arguments = [*BY_COMMAND[command], *TINY, *ENDLESS, "--json"]
    assert call(*arguments) == 0
    assert isinstance(json.loads(capfd.readouterr().out), dict)
    assert documents(tmp_path / "out")
    # What was kept counts when the same command is given again.
    if command in ("plan", "tune"):
        assert call(*arguments) == 0
        path = tmp_path / "out" / "command.json"
        for content in (b"", b"{", b"\xff", b"[1]", b"null", b"[" * 100_000):
            path.write_bytes(content)
            capfd.readouterr()
            assert call(*arguments) == 2
            said = capfd.readouterr().err
            assert "command.json: is damaged" in said
            assert "remove it" in said
        path.unlink()
        assert call(*arguments) == 0
        counts = re.search(r"(\d+) runs in .*, (\d+) of them carried out before", capfd.readouterr().err)
        assert counts is not None
        assert counts[1] == counts[2]


@pytest.mark.slow
def test_results_of_run_and_compare_are_read_again(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert call("run", "cpu-bound", "--policy", "random", "--out", "one", "--json", *TINY) == 0
    printed = json.loads(capfd.readouterr().out)
    one = ca.load_results("one")
    assert isinstance(one, SavedRun)
    assert one.summary == printed
    assert one.metrics == printed["metrics"]
    assert one.scenario.cluster.nodes == 2
    assert len(one.jobs) == printed["jobs"]["submitted"]
    assert set(one.nodes["node"]) == {0, 1}
    assert "policy random" in repr(one)
    assert "mean_slowdown" in one._repr_html_()

    two = ["compare", "cpu-bound", "--policies", "random,none", "--seeds", "2", "--workers", "1", "--out", "two", *TINY]
    assert call(*two, "--json") == 0
    printed = json.loads(capfd.readouterr().out)
    found = ca.load_results("two")
    assert isinstance(found, ca.Comparison)
    assert found.policies == ("random", "none")
    assert json.loads(to_json(found.as_json())) == printed
    assert list(found.estimates().index) == ["random", "none"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("summary.json", b"{"), ("summary.json", b"[]"), ("summary.json", b"{}"), ("summary.json", b"\xff"),
        ("scenario.toml", b"="), ("runs.parquet", b"PAR1"), ("runs.parquet", b""), ("scenario.toml", None),
    ],
)  # fmt: skip
def test_damaged_results_are_named(tmp_path, name, content):
    import pandas as pd

    (tmp_path / "scenario.toml").write_text("[workload]\nutilisation = 0.3\n")
    (tmp_path / "summary.json").write_text('{"seeds": [1], "policies": {"none": {}}}')
    pd.DataFrame({"policy": ["none"], "seed": [1], "mean_slowdown": [1.0]}).to_parquet(tmp_path / "runs.parquet")
    assert ca.load_results(tmp_path).seeds == (1,)
    path = tmp_path / name
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ca.InputError, match=name):
        ca.load_results(tmp_path)


def test_a_folder_without_results_says_what_makes_some(tmp_path):
    with pytest.raises(ca.InputError, match="no results of a study, of `compare` or of `run`"):
        ca.load_results(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["study.toml", "scenario.toml", "plan.json", "runs/a-1.run", "parts/b.parquet"])
def test_a_pipe_in_a_folder_of_a_study_is_not_waited_for(tmp_path, name, capfd):
    study = ca.Study(name="s", scenario="cpu-bound", policies=("none",), replications=1, overrides={
        "workload.duration_s": 2.0, "cluster.nodes": 2, "workload.utilisation": 0.3,
    })  # fmt: skip
    ca.run_batch(study, tmp_path, workers=1, quiet=True)
    path = tmp_path / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    # Each ends; that it would hang is what failed.
    code = call("batch", "status", tmp_path)
    said = capfd.readouterr()
    assert code == (2 if name in ("plan.json", "study.toml") else 0)
    assert "it is no regular file" in said.out + said.err
    assert len(ca.run_batch(study, tmp_path, workers=1, quiet=True)) == 1
    assert not path.is_fifo()


@pytest.mark.parametrize("name", ["summary.json", "runs.parquet", "scenario.toml", "command.json"])
def test_a_pipe_elsewhere_is_not_waited_for(tmp_path, name):
    os.mkfifo(tmp_path / name)
    for other in {"summary.json", "runs.parquet", "scenario.toml"} - {name}:
        (tmp_path / other).write_bytes(b"{}")
    with pytest.raises(ca.InputError):
        ca.load_results(tmp_path)
    with pytest.raises(ca.InputError, match=r"command\.json|no regular file|cannot be written"):
        ca.plan(
            "cpu-bound", "cpu_utilisation<0.9", "cluster.cores", "none", low=1, high=2, seeds=2, workers=1, quiet=True,
            out=tmp_path if name == "command.json" else tmp_path / name,
        )  # fmt: skip
