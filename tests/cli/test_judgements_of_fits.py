"""`trace fit` judges by queueing: options, the head of the scenario, JSON, and an interrupt."""

from __future__ import annotations

import json
import tomllib

import numpy as np
import pytest

from cluster_abm.clock import WEEK_S
from cluster_abm.study.fitting import judging


def log(count=300, seconds=60_000.0, seed=5):
    rng = np.random.default_rng(seed)
    times, tasks = np.sort(rng.random(count)) * seconds * 1000.0, 2 ** rng.integers(0, 3, count)
    cpu = np.ceil(rng.lognormal(5, 1, count)) * 1000.0
    rows = zip(times, cpu, tasks, 2 * cpu, strict=True)
    return "arrival_ms,cpu_ms,tasks,requested_ms\n" + "".join(f"{t:.0f},{c},{k},{r}\n" for t, c, k, r in rows)


FIT = ("trace", "fit", "log.csv", "--out", "it.toml", "--seeds", "2")


@pytest.mark.slow
def test_the_verdict_is_printed_in_the_head_and_in_json(cli, tmp_path):
    (tmp_path / "log.csv").write_text(log())
    code, out, err = cli(*FIT, "--draws", "3", "--workers", "1", "--json")
    assert code == 0, err
    found = json.loads(out)
    queueing, text = found["queueing"], (tmp_path / "it.toml").read_text()
    assert found["scenario"] == text
    assert queueing["verdict"] == ("far" if queueing["not_for"] else "near")
    assert len(queueing["waits"]) == 12
    assert queueing["draws"] == 3
    assert queueing["jobs"] == 300
    head = " ".join(line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#"))
    assert f"Judged by queueing: {queueing['words']}" in head
    assert "load policy wait [s] log shuffled fitted quartiles ratio" in " ".join(head.split())
    # Each draw's range holds its quartiles, and these the median.
    for one in queueing["waits"]:
        order = [one["range"][0], one["quartiles"][0], one["fitted"], one["quartiles"][1], one["range"][1]]
        assert order == sorted(order)
    again = cli(*FIT, "--draws", "3", "--workers", "1")
    assert again[0] == 0
    assert queueing["words"] in again[1]
    assert (tmp_path / "it.toml").read_text() == text


@pytest.mark.slow
def test_without_judgement_the_head_says_so(cli, tmp_path):
    (tmp_path / "log.csv").write_text(log())
    code, out, _ = cli(*FIT, "--no-judge", "--json")
    assert code == 0
    assert json.loads(out)["queueing"]["reason"] == "--no-judge"
    assert "# Not judged by queueing (--no-judge): do not use it for waits." in (tmp_path / "it.toml").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--policies", "none,jsq"]])
def test_an_interrupt_leaves_a_scenario_that_says_it_was_not_judged(cli, tmp_path, monkeypatch, options):
    def interrupted(*_, **__):
        assert "its runs had not ended" in " ".join((tmp_path / "it.toml").read_text().replace("#", "").split())
        raise KeyboardInterrupt

    (tmp_path / "log.csv").write_text(log())
    monkeypatch.setattr(judging, "waits_under", interrupted)
    code, out, err = cli(*FIT, *options)
    assert code == 130
    assert "the scenario in it.toml was not judged by queueing" in err
    assert "KS, law" in out
    text = (tmp_path / "it.toml").read_text()
    assert "# Not judged by queueing (interrupted): do not use it for waits." in text
    assert tomllib.loads(text)["name"] == "it"


@pytest.mark.slow
def test_what_no_run_takes_is_not_judged_and_the_reason_is_said(cli, tmp_path):
    """Each second a job that takes 100 s on 10,000 processors: a million are busy."""
    rows = "".join(f"{1000 * at},{100_000 + at},10000\n" for at in range(60))
    (tmp_path / "log.csv").write_text(f"arrival_ms,cpu_ms,tasks\n{rows}")
    code, out, err = cli(*FIT, "--draws", "2", "--workers", "1", "--json", "--set", "cluster.nodes=2")
    assert code == 0, err
    reason = json.loads(out)["queueing"]["reason"]
    assert reason.startswith("its work keeps 1.00")
    assert reason.endswith("processors busy: allowed up to 100,000")
    assert f"Not judged by queueing ({reason})" in " ".join((tmp_path / "it.toml").read_text().replace("#", "").split())


@pytest.mark.slow
def test_half_of_the_weeks_are_held_back(cli, tmp_path):
    """Jobs of weeks that are fitted take 10 s; those that are held back 30 s, and wait three times as long."""
    rng = np.random.default_rng(8)
    times = np.sort(rng.random(800)) * 4 * WEEK_S
    runs = np.where(times // WEEK_S % 2 == 0, 10_000, 30_000)
    rows = "".join(f"{1000 * at:.0f},{run}\n" for at, run in zip(times, runs, strict=True))
    (tmp_path / "log.csv").write_text(f"arrival_ms,cpu_ms\n{rows}")
    window = ("--set", f"workload.trace.duration_s={4 * WEEK_S}", "--set", "cluster.context_switch_ms=0")
    code, out, err = cli(*FIT, "--hold-back", "--draws", "2", "--workers", "1", "--json", *window)
    assert code == 0, err
    found, text = json.loads(out), (tmp_path / "it.toml").read_text()
    fitted = int((runs == 10_000).sum())
    assert (found["jobs"], found["window_s"]) == (fitted, 2 * WEEK_S)
    assert found["queueing"]["jobs"] == 800 - fitted
    assert found["queueing"]["small_wait_ms"] == pytest.approx(300.0)
    assert "Fitted to its first, third, fifth ... week; the second, fourth ... were held back." in text
    assert f"{800 - fitted} jobs that were held back" in " ".join(text.replace("#", "").split())
    assert tomllib.loads(text)["workload"]["cpu_ms"]["mean"] == 10_000.0


@pytest.mark.parametrize(("options", "said"), [
    (["--no-judge", "--draws", "5"], "--draws 5: with --no-judge nothing is drawn for it"),
    (["--draws", "1"], "'--draws': 1 must be at least 2"),
    (["--hold-back", "--policies", "none"], "--policies: would run on all weeks of the log"),
    (["--hold-back"], "log.csv: lasts 0.0995 weeks: to hold half of them back it needs at least 2"),
])  # fmt: skip
def test_options_that_mean_nothing_are_refused(cli, tmp_path, options, said):
    (tmp_path / "log.csv").write_text(log())
    code, out, err = cli(*FIT, *options)
    assert code == 2
    assert said in err
    assert out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["log.csv"]
