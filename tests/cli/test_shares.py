"""`run` of jobs that have users, and waits in their log: what is printed, what is written, and what JSON has."""

from __future__ import annotations

import json

import pandas as pd
import pytest

# ann's two jobs run from 0 to 20 ms and from 40 to 50 ms; ben's, of 10 ms, waits 20 ms for the first one.
LOG = (
    "arrival_ms,home,cpu_ms,io_per_ms,memory_mb,recorded_wait_ms,user,group\n"
    "0,0,20,0,1,5,ann,lab\n0,0,10,0,1,35,ben,lab\n40,0,10,0,1,,ann,\n"
)
SETTINGS = ("cluster.nodes=1", "cluster.quantum_ms=inf", "cluster.context_switch_ms=0", "measure.bound_ms=1",
            'measure.metrics=["response_within_25_ms", "p50_wait_ms"]')  # fmt: skip


@pytest.fixture
def run(cli, tmp_path):
    """The command with these jobs; further arguments."""

    def carried_out(*more):
        log = tmp_path / "log.csv"
        log.write_text(LOG)
        settings = [part for setting in SETTINGS for part in ("--set", setting)]
        code, out, err = cli("run", "replay", "--trace", log, *settings, *more)
        assert code == 0, err
        return out

    return carried_out


@pytest.mark.slow
def test_what_is_printed_and_written(run, tmp_path):
    out = tmp_path / "out"
    lines = run("--out", out).splitlines()
    printed = "\n".join(line.rstrip() for line in lines)
    # Of three jobs two have a response of at most 25 ms; the waits are 0, 20 and 0 ms.
    assert "jobs with a response within 25 ms" in printed
    assert any(line.split()[-2:] == ["66.7", "%"] for line in lines if "within 25 ms" in line)
    assert "mean 0.02 s, median 0.02 s, 95th percentile 0.0335 s (2 jobs)" in printed
    assert "mean 0.01 s, median 0.01 s, 95th percentile 0.019 s (2 jobs)" in printed
    cells = [line.split() for line in lines]
    assert ["ann", "2", "1", "0", "s", "0.015", "s", "75", "%"] in cells
    assert ["ben", "1", "3", "0.02", "s", "0.03", "s", "25", "%"] in cells
    assert ["lab", "2", "2", "0.01", "s", "0.025", "s", "75", "%"] in cells
    users = pd.read_parquet(out / "users.parquet")
    assert users["name"].tolist() == ["ann", "ben"]
    assert users["cpu_share"].tolist() == pytest.approx([0.75, 0.25])
    assert pd.read_parquet(out / "groups.parquet")["jobs"].tolist() == [2]


@pytest.mark.slow
def test_what_json_has(run):
    found = json.loads(run("--json"))
    assert found["metrics"]["response_within_ms"] == {"25": pytest.approx(2 / 3)}
    assert found["metrics"]["p50_wait_ms"] == 0.0
    assert found["metrics"]["jain_users"] == pytest.approx(16 / 20)
    assert found["metrics"]["throughput_jobs_per_s"] == pytest.approx(3 / 0.050)
    assert found["by_user"]["count"] == 2
    assert found["by_user"]["rows"][0]["name"] == "ann"
    assert found["recorded_wait_s"]["jobs"] == found["simulated_wait_s"]["jobs"] == 2
