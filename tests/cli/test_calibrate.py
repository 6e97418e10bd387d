"""`calibrate` as a user meets it: what is printed and kept, what is refused, and that stopping it changes nothing."""

from __future__ import annotations

import json
import shutil
import tomllib

import numpy as np
import pandas as pd
import pytest

from cluster_abm.scenario import load_scenario
from cluster_abm.study.runner.measuring import RESPONSES
from cluster_abm.study.runner.tasks import SeededRun, Where, run_all

WRITTEN = {"command.json", "scenario.toml", "calibration.json", "calibration.png", "fitted.csv", "calibrated.toml"}
ASKED = ["calibrate", "replay", "--trace", "jobs.csv", "--observed", "runs.csv", "--seeds", 2, "--executor", "inline"]
OVER = ["--over", "cluster.cpu_speed=0.5:2"]
SPEED = 1.25


def contents(folder):
    return {name: (folder / name).read_bytes() for name in WRITTEN}


@pytest.fixture
def measured(tmp_path):
    """A trace of 20 jobs, and their response times on nodes of another speed, one per cent off at random."""
    rng = np.random.default_rng(5)
    rows = [f"{1000 * place},{place % 2},{cpu:.1f}" for place, cpu in enumerate(rng.uniform(300.0, 1500.0, 20))]
    (tmp_path / "jobs.csv").write_text("arrival_ms,home,cpu_ms\n" + "\n".join(rows) + "\n")
    machine = load_scenario("replay", {"workload.trace.file": str(tmp_path / "jobs.csv"), "cluster.cpu_speed": SPEED})
    row = run_all([SeededRun(machine, 77)], where=Where("inline"), quiet=True, keeps_responses=True).rows[0]
    lines = [f"{job},{value * rng.lognormal(0, 0.01):.3f}" for job, value in enumerate(row[RESPONSES])]
    (tmp_path / "runs.csv").write_text("job,response_ms\n" + "\n".join(lines) + "\n")


@pytest.mark.slow
@pytest.mark.usefixtures("measured")
def test_what_is_printed_and_kept(cli, tmp_path, lasting):
    lasting("frame", 7.5)
    code, out, err = cli(*ASKED, *OVER, "--held-out", 0.25, "--out", "a")
    assert code == 0, err
    assert {path.name for path in (tmp_path / "a").iterdir()} == WRITTEN | {"timing.json", "store"}
    assert json.loads((tmp_path / "a" / "timing.json").read_text()) == {"wall_s": 7.5}
    found = json.loads((tmp_path / "a" / "calibration.json").read_text())
    key = found["keys"]["cluster.cpu_speed"]
    assert key["value"] == pytest.approx(SPEED, rel=0.02)
    assert key["ci95"][0] < key["ci90"][0] < key["value"] < key["ci90"][1] < key["ci95"][1]
    assert found["converged"]
    table = pd.read_csv(tmp_path / "a" / "fitted.csv")
    assert (table["use"] == "held-out").sum() == 5 == found["errors"]["held_out"]["calibrated"]["rows"]
    away = (table["predicted"] / table["observed"] - 1).abs()
    held_out = found["errors"]["held_out"]
    assert held_out["calibrated"]["median"] == pytest.approx(away[table["use"] == "held-out"].median(), rel=1e-6)
    assert held_out["calibrated"]["median"] < 0.02 < 0.15 < held_out["as_it_stands"]["median"]
    assert "held out (5)" in out
    assert "cpu_speed = " in out
    settings = tomllib.loads((tmp_path / "a" / "calibrated.toml").read_text())
    assert settings == {"cluster": {"cpu_speed": key["value"]}}
    assert (tmp_path / "a" / "calibration.png").read_bytes().startswith(b"\x89PNG")
    # As after a kill: some of the runs, and nothing else but the command.
    runs = sorted((tmp_path / "a" / "store" / "runs").iterdir())
    (tmp_path / "b" / "store" / "runs").mkdir(parents=True)
    shutil.copy(tmp_path / "a" / "command.json", tmp_path / "b")
    for path in runs[::2]:
        shutil.copy(path, tmp_path / "b" / "store" / "runs")
    code, out, err = cli(*ASKED, *OVER, "--held-out", 0.25, "--out", "b", "--json")
    assert code == 0
    assert err.splitlines()[-1] == f"{len(runs)} runs in 7.5 s, {len(runs[::2])} of them carried out before"
    assert out == (tmp_path / "b" / "calibration.json").read_text()
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    code, _, err = cli(*ASKED, "--over", "cluster.cpu_speed=0.6:2", "--out", "b")
    assert code == 2
    assert "--out 'b': holds a calibration by another command" in err


@pytest.mark.usefixtures("measured")
def test_what_is_wrong_is_said(cli, tmp_path):
    before = sorted(path.name for path in tmp_path.iterdir())
    with (tmp_path / "runs.csv").open("a") as file:
        file.write("20,10\n3,-5\n3,50\n")
    code, out, err = cli(*ASKED, "--over", "cluster.cpu_speed", "--out", "a")
    assert (code, out) == (2, "")
    assert "--over 'cluster.cpu_speed': allowed is KEY=LOW:HIGH" in err
    assert "runs.csv, line 23: response_ms = '-5': allowed: a number above 0" in err
    assert "runs.csv, line 24: job 3 of run '1' is there already, in line 5" in err
    (tmp_path / "runs.csv").write_text("job,response_ms\n20,10\n3,5\n")
    code, _, err = cli(*ASKED, *OVER, "--over", "cluster.nodes=2:4", "--over", "policy.x=1:2", "--out", "a")
    assert code == 2
    assert "runs.csv: 2 row(s) to fit 3 key(s): 4 at least are needed" in err
    assert "none has no parameter 'x'" in err
    code, _, err = cli(*ASKED, *OVER, "--out", "a")
    assert code == 2
    assert "runs.csv, line 2: job = 20: run '1' has jobs 0 to 19" in err
    code, _, err = cli(*ASKED, *OVER, "--set", "compare.seeds=3", "--out", "a")
    assert code == 2
    assert "--set compare.seeds: has no effect" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == before
