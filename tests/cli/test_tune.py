"""`tune` as a user meets it: what is printed and kept, what is refused, and that stopping it changes nothing."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import sys
import tomllib

import pandas as pd
import pytest

from cluster_abm.scenario import load_scenario
from cluster_abm.study.tuning import search

SMALL = ["--set", "workload.duration_s=5", "--set", "cluster.nodes=2", "--set", "workload.utilisation=0.9"]
OVER = ["--over", "policy.d=1:2", "--over", "cluster.exchange_period_ms=100:9000:log"]
ASKED = ["tune", "cpu-bound", "--policy", "power-of-d", *OVER, "--seeds", 2, "--judge-seeds", 3, *SMALL]
BUDGET = ["--budget", 10]
INLINE = ["--executor", "inline"]
WRITTEN = {"command.json", "scenario.toml", "tune.json", "trials.parquet", "best.toml", "tune.png"}

# By its default it never sends a task anywhere, and is as bad as none.
THRESHOLD = """
from cluster_abm.policies import Decision, Policy


class Mine(Policy):
    class Parameters(Policy.Parameters):
        most: int = 1000

    def place(self, task, view):
        stays = view.load("tasks", view.me) < self.parameters.most
        return Decision(view.me if stays else view.least("tasks"), "threshold", "tasks")
"""


def contents(folder):
    return {name: (folder / name).read_bytes() for name in WRITTEN}


@pytest.mark.slow
def test_what_is_printed_and_kept(cli, tmp_path, lasting):
    lasting("frame", 7.5)
    code, out, err = cli(*ASKED, *BUDGET, *INLINE, "--out", "a")
    assert code == 0, err
    assert {path.name for path in (tmp_path / "a").iterdir()} == WRITTEN | {"timing.json", "store"}
    assert json.loads((tmp_path / "a" / "timing.json").read_text()) == {"wall_s": 7.5}
    found = json.loads((tmp_path / "a" / "tune.json").read_text())
    assert found["runs"] == 10
    assert found["search"]["seeds"] == [1, 2]
    assert found["candidates"] == {"finished": 5}
    table = pd.read_parquet(tmp_path / "a" / "trials.parquet")
    assert table["candidate"].tolist() == [0, 1, 2, 3, 4]
    assert table["seeds"].sum() == 10
    assert table["policy.d"].isin([1, 2]).all()
    assert table["cluster.exchange_period_ms"].between(100, 9000).all()
    assert (tmp_path / "a" / "tune.png").read_bytes().startswith(b"\x89PNG")
    assert "5 candidates: 5 on all 2 seeds" in out
    assert "searched on seeds 1 to 2" in out
    assert "the defaults" in out
    best = tomllib.loads((tmp_path / "a" / "best.toml").read_text())
    assert best["policy"]["name"] == "power-of-d"
    if found["judged"] is None:
        assert "no candidate was better than the defaults on seeds 1 to 2" in out
        return
    assert found["judged"]["seeds"] == [3, 4, 5]
    assert "judged on seeds 3 to 5, which the search did not see" in out
    assert best["policy"]["d"] == found["best"]["policy.d"]
    assert err.splitlines()[-1] == "16 runs in 7.5 s"
    # The printed command has the best values, and runs.
    words = shlex.split(next(line for line in out.splitlines() if line.startswith("cluster-abm run")))[1:]
    assert f"policy.d={found['best']['policy.d']}" in words
    assert cli(*words, "--json")[0] == 0


@pytest.mark.slow
def test_json_is_one_document_that_is_in_the_folder_too(cli, tmp_path):
    code, out, _ = cli(*ASKED, *BUDGET, *INLINE, "--out", "a", "--json")
    assert code == 0
    assert out == (tmp_path / "a" / "tune.json").read_text()
    document = json.loads(out)
    assert list(document) == [
        "scenario", "policy", "metric", "over", "budget", "from_s", "warmup", "relaxation_times", "runs", "optuna",
        "candidates", "defaults", "best", "search", "judged",
    ]  # fmt: skip
    assert document["over"] == ["policy.d=1:2", "cluster.exchange_period_ms=100:9000:log"]


@pytest.mark.slow
def test_what_is_there_is_not_run_again_and_the_bytes_are_the_same(cli, tmp_path):
    assert cli(*ASKED, *BUDGET, *INLINE, "--out", "a")[0] == 0
    runs = sorted((tmp_path / "a" / "store" / "runs").iterdir())
    # As after a kill: some of the runs, and nothing else but the command.
    (tmp_path / "b" / "store" / "runs").mkdir(parents=True)
    shutil.copy(tmp_path / "a" / "command.json", tmp_path / "b")
    for path in runs[::2]:
        shutil.copy(path, tmp_path / "b" / "store" / "runs")
    code, _, err = cli(*ASKED, *BUDGET, *INLINE, "--out", "b")
    assert code == 0
    assert f"{len(runs[::2])} of them carried out before" in err
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    _, _, err = cli(*ASKED, *BUDGET, *INLINE, "--out", "b")
    assert f"{len(runs)} runs in" in err
    assert f"{len(runs)} of them carried out before" in err
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


@pytest.mark.slow
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_keeps_what_has_finished(cli, tmp_path, monkeypatch):
    assert cli(*ASKED, *BUDGET, *INLINE, "--out", "a")[0] == 0
    real = search.Search._race

    def pressed(self, racing):
        os.kill(os.getpid(), signal.SIGINT)
        real(self, racing)

    monkeypatch.setattr(search.Search, "_race", pressed)
    code, out, err = cli(*ASKED, *BUDGET, *INLINE, "--out", "b")
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert (code, out) == (130, "")
    assert "interrupted: what is finished is kept in b; the same command goes on" in err
    assert not (tmp_path / "b" / "tune.json").exists()
    code, _, err = cli(*ASKED, *BUDGET, *INLINE, "--out", "b")
    assert code == 0
    assert "2 of them carried out before" in err
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


@pytest.mark.slow
def test_the_number_of_workers_changes_nothing(cli, tmp_path):
    for folder, where in (("one", INLINE), ("three", ["--workers", 3])):
        assert cli(*ASKED, "--budget", 24, *where, "--out", folder)[0] == 0
    assert contents(tmp_path / "one") == contents(tmp_path / "three")


@pytest.mark.slow
def test_another_command_does_not_go_on(cli):
    assert cli(*ASKED, *BUDGET, *INLINE, "--out", "a")[0] == 0
    code, out, err = cli(*ASKED, *INLINE, "--budget", 12, "--set", "cluster.slice_ms=20", "--out", "a")
    assert (code, out) == (2, "")
    assert "--out 'a': holds a search by another command: budget was 10, is 12; " in err
    assert "scenario.cluster.slice_ms was 10.0, is 20.0; another folder is needed" in err


def test_a_folder_that_cannot_be_read_is_named(cli, tmp_path):
    (tmp_path / "a").mkdir()
    for spoilt in ("{", "[" * 100_000, '"text"'):
        (tmp_path / "a" / "command.json").write_text(spoilt)
        code, _, err = cli(*ASKED, *BUDGET, *INLINE, "--out", "a")
        assert code == 2
        assert "a/command.json: is damaged" in err or "by another command" in err


@pytest.mark.slow
def test_a_policy_in_a_file_is_named_by_it(cli, tmp_path):
    (tmp_path / "mine.py").write_text(THRESHOLD)
    asked = ["tune", "cpu-bound", "--policy", "mine.py:Mine", "--over", "policy.most=1:2", "--seeds", 2]
    code, out, err = cli(
        *asked, "--set", "workload.duration_s=20", *SMALL[2:], "--judge-seeds", 2, "--budget", 4, *INLINE, "--out", "a"
    )
    assert code == 0, err
    assert "--policy mine.py:Mine" in next(line for line in out.splitlines() if line.startswith("cluster-abm run"))
    best = (tmp_path / "a" / "best.toml").read_text()
    assert "run it with --policy mine.py:Mine" in best
    assert tomllib.loads(best)["policy"]["name"] == "mine"


@pytest.mark.parametrize("text", ["policy.d", "policy.d=", "=1:2", "policy.d=1", "policy.d=a:b", "policy.d=1:2:lin",
                                  "policy.d=1:2:log:log", "policy.d=1|[2]", "policy.d=1||2"])  # fmt: skip
def test_what_is_no_range(cli, tmp_path, text):
    code, out, err = cli("tune", "cpu-bound", "--policy", "power-of-d", "--over", text, "--out", "a")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: --over {text!r}: ")
    assert list(tmp_path.iterdir()) == []


def test_all_that_is_wrong_is_said_at_once(cli, tmp_path):
    code, _, err = cli(
        "tune", "cpu-bound", "--policy", "power-of-d", "--over", "policy.e=1:2", "--over", "policy.d=3:2",
        "--metric", "slowness", "--out", "a",
    )  # fmt: skip
    assert code == 2
    assert "power-of-d has no parameter 'e'" in err
    assert "LOW has to be below HIGH" in err
    assert "--metric 'slowness'" in err
    assert list(tmp_path.iterdir()) == []
    code, _, err = cli(*ASKED, "--set", "compare.seeds=4", "--out", "a")
    assert code == 2
    assert "--set compare.seeds: has no effect: only `cluster-abm compare` reads it" in err


@pytest.mark.slow
def test_choices_are_of_the_type_of_the_key(cli, tmp_path):
    words = ["tune", "quickstart", "--policy", "wal-re", "--over", "policy.normalised=true|false"]
    words += ["--over", "negotiation.mode=papers|negotiated", "--seeds", 2, "--judge-seeds", 2, "--budget", 8]
    code, out, err = cli(*words, *INLINE, "--set", "workload.duration_s=30", "--set", "cluster.nodes=2", "--out", "a")
    assert code == 0, err
    table = pd.read_parquet(tmp_path / "a" / "trials.parquet")
    # All four of them, each once.
    assert sorted(zip(table["policy.normalised"], table["negotiation.mode"], strict=True)) == [
        (False, "negotiated"), (False, "papers"), (True, "negotiated"), (True, "papers")
    ]  # fmt: skip
    assert "False" not in out
    best = tmp_path / "best.toml"
    best.write_text((tmp_path / "a" / "best.toml").read_text() + "[workload]\nutilisation = 0.5\n")
    assert load_scenario(best).policy.name == "wal-re"


def test_without_the_extra(cli, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    code, _, err = cli(*ASKED, "--out", "a")
    assert code == 2
    assert err == ("error: tune: optuna is not installed: pip install '.[tune]' (the extra `tune`: Optuna)\n")
    assert list(tmp_path.iterdir()) == []
