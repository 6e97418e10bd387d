"""`plan` as a user meets it: what is printed and kept, what is refused, and that stopping it changes nothing."""

from __future__ import annotations

import json
import shutil

import pandas as pd
import pytest

SMALL = ["--set", "workload.duration_s=20", "--set", "cluster.nodes=2", "--executor", "inline"]
NEED = ["--need", "mean_slowdown<=2.5 and jobs.killed<=0"]
ASKED = ["plan", "cpu-bound", *NEED, "--over", "cluster.nodes", "--policies", "none,jsq", "--seeds", 2, *SMALL]
WRITTEN = {"command.json", "scenario.toml", "plan.json", "points.parquet", "plan.png"}


def contents(folder):
    return {name: (folder / name).read_bytes() for name in WRITTEN}


@pytest.mark.slow
def test_what_is_printed_and_kept(cli, tmp_path, lasting):
    lasting("frame", 7.5)
    code, out, err = cli(*ASKED, "--out", "a")
    assert code == 0, err
    assert {path.name for path in (tmp_path / "a").iterdir()} == WRITTEN | {"timing.json", "store"}
    assert json.loads((tmp_path / "a" / "timing.json").read_text()) == {"wall_s": 7.5}
    found = json.loads((tmp_path / "a" / "plan.json").read_text())
    assert (found["need"], found["key"]) == ("mean_slowdown<=2.5 and jobs.killed<=0", "cluster.nodes")
    assert list(found["policies"]) == ["none", "jsq"]
    assert "the same jobs for every value and policy; intervals at 95 %" in out
    assert "whatever cluster.nodes" in err
    table = pd.read_parquet(tmp_path / "a" / "points.parquet")
    for policy, one in found["policies"].items():
        assert one["side"] == "least"
        assert f"at least {one['value']}" in out
        assert one["ci95"][0] <= one["value"]
        own = table[table["policy"] == policy].set_index("cluster.nodes")
        # The value is where it begins: kept there, and not one below; both were run.
        assert own.loc[one["value"], "kept"]
        assert own.loc[one["value"], "mean_slowdown"] == one["kept"]["mean_slowdown"]["mean"] <= 2.5
        if one["value"] > 1:
            assert one["not_kept"]["value"] == one["value"] - 1
            assert one["not_kept"]["mean_slowdown"]["mean"] > 2.5
    assert found["policies"]["jsq"]["value"] <= found["policies"]["none"]["value"]
    assert (tmp_path / "a" / "plan.png").read_bytes().startswith(b"\x89PNG")
    # As after a kill: some of the runs, and nothing else but the command.
    runs = sorted((tmp_path / "a" / "store" / "runs").iterdir())
    (tmp_path / "b" / "store" / "runs").mkdir(parents=True)
    shutil.copy(tmp_path / "a" / "command.json", tmp_path / "b")
    for path in runs[::2]:
        shutil.copy(path, tmp_path / "b" / "store" / "runs")
    code, out, err = cli(*ASKED, "--out", "b", "--json")
    assert code == 0
    there = f"{len(runs)} runs in 7.5 s, {len(runs[::2])} of them carried out before"
    assert err.splitlines()[-1] == there
    assert out == (tmp_path / "b" / "plan.json").read_text()
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_what_is_never_met_is_said_and_is_no_error(cli):
    words = ["plan", "cpu-bound", "--need", "mean_slowdown<=0.5", "--over", "cluster.nodes", "--policies", "none"]
    code, out, err = cli(*words, "--seeds", 2, "--low", 1, "--high", 3, *SMALL)
    assert code == 0, err
    assert "none: not met at any value that was tried from 1 to 3" in out
    code, out, _ = cli(*words, "--seeds", 2, "--high", 3, *SMALL, "--json")
    assert code == 0
    one = json.loads(out)["policies"]["none"]
    assert (one["value"], one["ci95"], one["note"]) == (None, [None, None], "not met up to 3")


def test_all_that_is_wrong_is_said_at_once(cli, tmp_path):
    code, out, err = cli(
        "plan", "cpu-bound", "--need", "slowness<=3", "--over", "cluster.nodes", "--set", "compare.seeds=4",
        "--low", "nan", "--out", "a",
    )  # fmt: skip
    assert (code, out) == (2, "")
    assert "--need 'slowness<=3': no such metric" in err
    assert "--low nan: has to be a finite number" in err
    assert "--set compare.seeds: has no effect" in err
    assert list(tmp_path.iterdir()) == []
    assert cli("plan", "cpu-bound", "--need", "mean_slowdown<=3", "--over", "cluster.nods")[0] == 2
    assert cli("plan", "cpu-bound", "--over", "cluster.nodes")[0] == 2


def test_one_problem_is_said_once(cli):
    code, _, err = cli("plan", "replay-hadoop", "--need", "mean_response_ms<=1", "--over", "cluster.nodes")
    assert code == 2
    assert err.count("needs a file (or use --trace FILE)") == 1
