"""`trace fit`: what it writes and prints, and what it does not take."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cluster_abm.scenario import load_scenario

HBD = "run,host,submit_s,cpu_s,prog\n" + "".join(f"{run},0,{second},0.5,sh\n" for run in (0, 3) for second in range(60))


def log(count=400, seed=5):
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.exponential(400.0, count))
    homes, cpu = rng.integers(0, 3, count), np.ceil(rng.lognormal(5, 1, count))
    io = np.round(cpu**0.2 / 100, 4)
    return "arrival_ms,home,cpu_ms,io_per_ms\n" + "".join(
        f"{t:.2f},{h},{c},{i}\n" for t, h, c, i in zip(times, homes, cpu, io, strict=True)
    )


@pytest.mark.slow
def test_it_writes_a_scenario_and_a_picture_and_prints_distances(cli, tmp_path):
    (tmp_path / "log.csv").write_text(log())
    code, out, err = cli(
        "trace", "fit", "log.csv", "--out", "like/it.toml", "--seeds", "2", "--no-judge", "--set", "run.seed=7"
    )
    assert code == 0, err
    assert "KS, law" in out
    assert "rank correlation of cpu_ms and io_per_ms" in out
    assert "memory_mb" in err
    assert (tmp_path / "like/it.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in (tmp_path / "like").iterdir()) == ["it.png", "it.toml"]
    scenario = load_scenario(tmp_path / "like/it.toml")
    assert scenario.name == "it"
    assert scenario.cluster.nodes == 3
    assert scenario.run.seed == 7
    assert scenario.workload.kind == "synthetic"
    assert scenario.workload.dependence["cpu_ms,io_per_ms"] > 0.9


@pytest.mark.slow
def test_its_json_is_one_document_and_the_same_every_time(cli, tmp_path):
    (tmp_path / "log.csv").write_text(log())
    command = (
        "trace",
        "fit",
        "log.csv",
        "--out",
        "it.toml",
        "--seeds",
        "2",
        "--scenario",
        "hbd97",
        "--no-judge",
        "--json",
    )
    code, out, _ = cli(*command)
    assert code == 0
    found = json.loads(out)
    assert found["jobs"] == 400
    assert found["fitted"] == ["cpu_ms", "io_per_ms"]
    assert found["distances"]["columns"]["cpu_ms"]["mean_ratio"] == pytest.approx(1.0, rel=1e-9)
    assert found["policies"] is None
    assert found["scenario"] == (tmp_path / "it.toml").read_text()
    kept = (tmp_path / "it.toml").read_bytes(), (tmp_path / "it.png").read_bytes()
    assert cli(*command)[1] == out
    assert ((tmp_path / "it.toml").read_bytes(), (tmp_path / "it.png").read_bytes()) == kept
    # Of the base stays what the log does not say.
    scenario, base = load_scenario(tmp_path / "it.toml"), load_scenario("hbd97")
    assert scenario.workload.memory_mb == base.workload.memory_mb
    assert scenario.cluster == base.cluster
    assert scenario.compare == base.compare


@pytest.mark.slow
def test_policies_are_ranked_on_both(cli, tmp_path):
    (tmp_path / "log.csv").write_text(log())
    code, out, err = cli(
        "trace", "fit", "log.csv", "--out", "it.toml", "--seeds", "3", "--policies", "none,random,pooled", "--workers",
        "1", "--no-judge", "--json",
    )  # fmt: skip
    assert code == 0, err
    found = json.loads(out)["policies"]
    assert found["pairs"] == 3
    assert found["alike"] + found["opposite"] <= min(found["decided_on_log"], found["decided_on_fitted"])
    for side in ("log", "fitted"):
        slowdowns = {name: one["mean_slowdown"] for name, one in found[side]["policies"].items()}
        assert min(slowdowns, key=slowdowns.get) == "pooled"
    assert -1 <= found["tau"] <= 1


@pytest.mark.parametrize(("text", "options", "said"), [
    (log(20), ["--out", "it.toml"], "20 jobs: a fit needs at least 50"),
    ("arrival_ms,cpu_ms\n" + "3,5\n" * 60, ["--out", "it.toml"], "all 60 jobs come at one instant"),
    (HBD, ["--out", "it.toml"], "holds several runs and none is chosen"),
    (log(), ["--out", "it.txt"], "allowed is a file that ends with .toml"),
    (log(), ["--out", "it.toml", "--set", "workload.cpu_ms.mean=5"], "has no effect"),
    (log(), ["--out", "it.toml", "--set", "cluster.nodes=2"], "allowed 0..1"),
    (log(), ["--out", "it.toml", "--policies", "nun"], "'nun': no such policy"),
    (log(), ["--out", "it.toml", "--scenario", "nothing"], "no such file or shipped scenario"),
    ("home,memory_mb\n0,5\n", ["--out", "it.toml"], "cpu_ms"),
])  # fmt: skip
def test_bad_input_is_said_and_nothing_is_written(cli, tmp_path, text, options, said):
    (tmp_path / "log.csv").write_text(text)
    code, out, err = cli("trace", "fit", "log.csv", *options)
    assert code == 2
    assert said in err
    assert "Traceback" not in err
    assert out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["log.csv"]


def test_bad_input_leaves_no_folder_behind(cli, tmp_path):
    (tmp_path / "log.csv").write_text(log(20))
    (tmp_path / "there").mkdir()
    for out in ("no/deep/f.toml", "there/f.toml"):
        assert cli("trace", "fit", "log.csv", "--out", out)[0] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.csv", "there"]


def test_a_folder_that_is_a_file_is_told_before_the_work(cli, tmp_path):
    (tmp_path / "log.csv").write_text(log(20))
    code, _, err = cli("trace", "fit", "log.csv", "--out", "log.csv/f.toml")
    assert code == 2
    assert "--out 'log.csv': cannot be written to" in err


def test_homes_beyond_any_cluster_are_named(cli, tmp_path):
    (tmp_path / "log.csv").write_text("arrival_ms,cpu_ms,home\n" + "".join(f"{at},5,100000\n" for at in range(60)))
    code, _, err = cli("trace", "fit", "log.csv", "--out", "f.toml")
    assert code == 2
    assert "error: log.csv: home = 100000: allowed 0..99999 (nodes of a cluster)" in err


@pytest.mark.slow
def test_jobs_of_two_instants_and_requests_far_above_the_work(cli, tmp_path):
    rows = "".join(f"{1000 * (place // 40)},1e-6,{1e12 if place % 2 else 60}\n" for place in range(80))
    (tmp_path / "log.csv").write_text(f"arrival_ms,cpu_ms,requested_ms\n{rows}")
    command = ("trace", "fit", "log.csv", "--out", "f.toml", "--seeds", "2", "--no-judge", "--json", "--set")
    code, out, err = cli(*command, "cluster.context_switch_ms=0")
    assert code == 0, err
    assert "40 jobs request 1e+12 times what they take alone, or more: cut to it" in err
    assert json.loads(out)["jobs"] == 80
    assert load_scenario(tmp_path / "f.toml").workload.requested_over_actual.values[-1] == 1e12


@pytest.mark.slow
def test_a_window_so_long_that_draws_have_no_job(cli, tmp_path):
    """60 jobs at one burst in 32 years: with bursts as large, most draws hold none."""
    (tmp_path / "log.csv").write_text("arrival_ms,cpu_ms\n" + "".join(f"{at},{5 + at % 3}\n" for at in range(60)))
    command = ("trace", "fit", "log.csv", "--out", "f.toml", "--seeds", "2", "--no-judge", "--json", "--set")
    code, out, err = cli(*command, "workload.trace.duration_s=1e9")
    assert code == 0, err
    assert json.loads(out)["distances"]["jobs"]["log"] == 60


@pytest.mark.slow
def test_a_log_of_equal_jobs_has_fixed_laws(cli, tmp_path):
    (tmp_path / "log.csv").write_text("arrival_ms,cpu_ms\n" + "".join(f"{100 * place},50\n" for place in range(80)))
    code, _, err = cli("trace", "fit", "log.csv", "--out", "it.toml", "--seeds", "2", "--no-judge")
    assert code == 0, err
    assert "cpu_ms: the same for all jobs, 50" in err
    assert load_scenario(tmp_path / "it.toml").workload.cpu_ms.kind == "fixed"
