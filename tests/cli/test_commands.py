"""The commands as a user meets them: exit codes, what goes to stdout, what lands in the folder."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pandas as pd
import pytest

from cluster_abm.cli.frame import StudyCall
from cluster_abm.cli.log_options import FromLog
from cluster_abm.cli.options import Executor, Overrides
from cluster_abm.cli.reproduce import ReproduceFrame, _print_reproduction
from cluster_abm.scenario import load_scenario
from cluster_abm.study.papers.plan import load_plan
from cluster_abm.study.papers.reproduce import Point, Reproduction
from cluster_abm.study.runner.tasks import RunsOutcome

SHORT = ["--set", "workload.duration_s=5", "--set", "workload.jobs_per_s=2", "--set", "cluster.nodes=3"]

RUN_KEYS = [
    "scenario", "policy", "seed", "slices", "simulated_ms", "offered_load", "jobs", "from_s", "warmup",
    "relaxation_times", "metrics",
]  # fmt: skip
JOB_KEYS = ["submitted", "finished", "killed", "lost", "blocked", "running"]
METRIC_KEYS = [
    "bounded_slowdown", "geometric_slowdown", "mean_wait_ms", "mean_slowdown", "mean_slowdown_job",
    "mean_slowdown_cpu_io", "mean_slowdown_cpu", "p95_slowdown",
    "mean_response_ms", "makespan_ms", "migrations", "remote_executions", "refused_offers", "messages_per_job",
    "cpu_utilisation",
    "disk_utilisation", "disk_requests", "page_faults", "page_faults_per_cpu_s", "breakdown_ms", "bounded_slowdown",
    "geometric_slowdown", "mean_wait_ms", "throughput_jobs_per_s",
]  # fmt: skip
PARTS = ["cpu", "cpu_queue", "io", "io_queue", "paging", "migration", "barrier", "blocked"]


def test_run_json_is_one_document_with_the_promised_keys(cli):
    code, out, _ = cli("run", "quickstart", "--policy", "iolb", "--seed", 3, "--json", *SHORT)
    assert code == 0
    document = json.loads(out)
    assert list(document) == RUN_KEYS
    assert list(document["jobs"]) == JOB_KEYS
    assert set(document["metrics"]) == set(METRIC_KEYS)
    assert list(document["metrics"]["breakdown_ms"]) == PARTS
    assert document["seed"] == 3
    assert document["policy"] == "iolb"
    counts = document["jobs"]
    assert counts["submitted"] == sum(counts[key] for key in JOB_KEYS[1:])


def test_run_without_json_is_for_people(cli, lasting):
    lasting("run", 7.5)
    code, out, err = cli("run", "quickstart", *SHORT)
    assert code == 0
    assert "quickstart, policy none, seed 1" in out
    for words in (
        "mean slowdown",
        "mean response",
        "makespan",
        "CPU busy",
        "disk busy",
        "remote executions",
        "I/O queue",
    ):
        assert f"{words} " in out
    assert "_" not in "".join(line for line in out.splitlines() if not line.startswith(("with ", "     ")))
    assert not re.search(r"\de[+-]\d", out)
    assert re.search(r"CPU busy +[\d.]+ %\n", out)
    assert re.search(r"mean response of a job +[\d,.]+ s\n", out)
    assert err.splitlines()[-1] == "7.5 s"


def test_run_in_which_nothing_finished_says_so(cli):
    code, out, _ = cli("run", "quickstart", "--set", "run.until=10", *SHORT)
    assert code == 0
    assert re.search(r"mean slowdown .* no job finished\n", out)
    assert "no task finished" in out


@pytest.mark.slow
def test_run_writes_its_folder_and_equal_runs_write_equal_bytes(cli, tmp_path):
    for folder in ("a", "b"):
        code, _, err = cli("run", "quickstart", "--policy", "iolb", "--out", folder, *SHORT)
        assert code == 0
        assert f"results in {folder}\n" in err
    names = {
        "scenario.toml",
        "summary.json",
        "jobs.parquet",
        "nodes.parquet",
        "decisions.parquet",
        "run.png",
        "timing.json",
    }
    assert {path.name for path in (tmp_path / "a").iterdir()} == names
    for name in names - {"timing.json"}:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    assert load_scenario(tmp_path / "a" / "scenario.toml").policy.name == "iolb"
    summary = json.loads((tmp_path / "a" / "summary.json").read_text())
    jobs = pd.read_parquet(tmp_path / "a" / "jobs.parquet")
    assert jobs["job"].nunique() == summary["jobs"]["finished"]
    again = cli("run", tmp_path / "a" / "scenario.toml", "--json")
    assert json.loads(again[1]) == summary


@pytest.mark.slow
def test_compare_prints_a_table_saves_a_picture_and_says_what_next(cli, tmp_path, lasting):
    lasting("frame", 7.5)
    code, out, err = cli("compare", "quickstart", "--seeds", 3, "--workers", 1, *SHORT)
    assert code == 0
    for name in ("none", "random", "jsq", "clb", "mlb", "iolb", "pooled", "srpt-pool"):
        assert f"{name} " in out
    assert "what to try next" in out
    # The reference and the bound win nothing.
    assert "pooled (a reference, no policy)" in out
    assert "pooled has the lowest" not in out
    assert "run quickstart --policy pooled" not in out
    folder = tmp_path / "out" / "compare-quickstart"
    assert (folder / "compare.png").read_bytes().startswith(b"\x89PNG")
    assert len(pd.read_parquet(folder / "runs.parquet")) == 3 * 7
    assert json.loads((folder / "summary.json").read_text())["seeds"] == [1, 2, 3]
    assert err.splitlines()[-1] == "21 runs in 7.5 s"
    assert json.loads((folder / "timing.json").read_text()) == {"wall_s": 7.5}


@pytest.mark.slow
def test_compare_json(cli, tmp_path):
    code, out, _ = cli(
        "compare", "quickstart", "--policies", "none,jsq", "--seeds", 2, "--workers", 1, "--json", *SHORT
    )
    assert code == 0
    document = json.loads(out)
    assert list(document) == [
        "scenario", "from_s", "warmup", "relaxation_times", "seeds", "replications", "intervals_about",
        "notes", "reference_seeds", "headline", "bound_ms", "baseline", "dispatchers", "policies", "pairs",
    ]  # fmt: skip
    assert list(document["policies"]) == ["none", "jsq"]
    assert {"mean_slowdown", "ci95", "cpu_utilisation", "breakdown_ms"} <= set(document["policies"]["jsq"])
    assert list(document["pairs"][0]) == [
        "a", "b", "ratio", "ratio_ci95", "significant", "tails_unlike", "verdict", "difference", "ci95", "means_differ"
    ]  # fmt: skip
    assert list(tmp_path.iterdir()) == []
    one = json.loads(cli("compare", "quickstart", "--policies", "jsq", "--seeds", 1, "--json", *SHORT)[1])
    assert one["policies"]["jsq"]["ci95"] is None


def test_policies_and_scenarios(cli):
    policies = json.loads(cli("policies", "--json")[1])
    assert {"name", "source", "summary", "parameters"} == set(policies[0])
    assert "iolb" in {policy["name"] for policy in policies}
    assert "index = " in cli("policies", "iolb")[1]
    scenarios = json.loads(cli("scenarios", "--json")[1])
    assert "quickstart" in {scenario["name"] for scenario in scenarios}
    assert "quickstart" in cli("scenarios")[1]


@pytest.mark.slow
def test_reproduce_quick_json(cli):
    code, out, _ = cli("reproduce", "iolb-table-2", "--quick", "--seeds", 1, "--workers", 1, "--json")
    assert code == 0
    document = json.loads(out)
    assert document["name"] == "iolb-table-2"
    assert len(document["rows"]) == 9


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["run", "quikstart"], "did you mean 'quickstart'"),
        (["run", "quickstart", "--policy", "iobl"], "did you mean 'iolb'"),
        (["run", "quickstart", "--set", "cluster.noodes=3"], "did you mean 'cluster.nodes'"),
        (["run", "quickstart", "--set", "cluster.nodes=-3"], "cluster.nodes = -3"),
        (["run", "quickstart", "--set", "cluster.memory_mb=nan"], "cluster.memory_mb"),
        (["run", "quickstart", "--set", "nodes"], "KEY=VALUE"),
        (["run", "quickstart", "--seed", "-1"], "--seed"),
        (["run", "quickstart", "--seed", "abc"], "--seed"),
        (["run", "quickstart", "--trace", "none.csv"], "none.csv"),
        (["run", "quickstart", "--out", "file/inside"], "--out"),
        (["compare", "quickstart", "--policies", "none,jqs"], "did you mean 'jsq'"),
        (["compare", "quickstart", "--policies", ""], "none named"),
        (["compare", "quickstart", "--seeds", "0"], "--seeds"),
        (["reproduce", "iolb-tabel-1"], "did you mean 'iolb-table-1'"),
        (["trace", "info", "none.swf"], "none.swf"),
        (["frobnicate"], "No such command"),
    ],
)
def test_bad_input_is_exit_2_one_message_and_no_traceback(cli, tmp_path, arguments, expected):
    (tmp_path / "file").write_text("in the way")
    code, out, err = cli(*arguments)
    assert code == 2
    assert expected in err
    assert "Traceback" not in err
    assert out == ""


def test_several_problems_are_listed_at_once(cli):
    _, _, err = cli("run", "quickstart", "--set", "cluster.nodes=0", "--set", "run.seed=x", "--set", "polcy.name=iolb")
    assert err.count("error:") == 3


def test_our_own_fault_is_exit_1_with_a_traceback(cli, monkeypatch):
    monkeypatch.setattr("cluster_abm.policies.describe", lambda: 1 / 0)
    code, _, err = cli("policies")
    assert code == 1
    assert "ZeroDivisionError" in err


@pytest.mark.parametrize(
    "command", [[], ["run"], ["compare"], ["reproduce"], ["policies"], ["scenarios"], ["trace", "info"]]
)
def test_every_command_has_help(cli, command):
    code, out, _ = cli(*command, "--help")
    assert code == 0
    assert "Usage:" in out


def test_help_waits_for_no_heavy_library():
    code = (
        "import sys; from cluster_abm.cli import cluster_abm; "
        "sys.exit(any(name in sys.modules for name in ('mesa', 'numba', 'pandas', 'matplotlib')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("x", [1.0, 3.0])
def test_parts_of_a_figure_are_one_table_and_one_picture_where_they_were_measured(x, tmp_path, capsys):
    plan = load_plan("memory-centric-fig2")
    points = [
        Point(x, f"{series.name}{further}", None, (10.0,))
        for series in plan.series
        for further in ("", *(f": {also.name}" for also in plan.also if x in also.at and series.name in also.of))
    ]
    found = Reproduction(plan, 1, tuple(points), RunsOutcome([None]), quick=True)
    _print_reproduction(found)
    call = StudyCall("", (), FromLog(), Executor("inline", None, None, ()), tmp_path, False)
    ReproduceFrame(call, Overrides({}, {}), "memory-centric-fig2", None, True, []).write(tmp_path, found)
    printed = capsys.readouterr().out
    assert "Empty" not in printed
    assert ("where the time went, trace 1: mean per finished job [s]" in printed) == (x == 1)
    assert printed.count("queuing  paging  migration") == (x == 1)
    assert (tmp_path / "memory-centric-fig2-breakdown.png").exists() == (x == 1)
