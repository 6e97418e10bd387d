"""`trace fit` judges by queueing: options, the head of the scenario, JSON, and an interrupt."""

from __future__ import annotations

import json
import tomllib

import numpy as np
import pytest

from cluster_abm.cli.traces import fit
from cluster_abm.clock import WEEK_S
from cluster_abm.study.fitting import judging
from cluster_abm.study.fitting.verdicts import MEASURES


def log(count=300, seconds=60_000.0, seed=5):
    rng = np.random.default_rng(seed)
    times, tasks = np.sort(rng.random(count)) * seconds * 1000.0, 2 ** rng.integers(0, 3, count)
    cpu = np.ceil(rng.lognormal(5, 1, count)) * 1000.0
    rows = zip(times, cpu, tasks, 2 * cpu, strict=True)
    return "arrival_ms,cpu_ms,tasks,requested_ms\n" + "".join(f"{t:.0f},{c},{k},{r}\n" for t, c, k, r in rows)


FIT = ("trace", "fit", "log.csv", "--out", "it.toml", "--seeds", "2")


@pytest.fixture(autouse=True)
def _without_pictures(monkeypatch):
    """To draw one takes longer than the fit; tests/cli/test_trace_fit.py looks at them."""
    monkeypatch.setattr(fit, "_draw", lambda path, *_: path)


def waits_in_place_of_runs(monkeypatch, of_sides):
    """Have no run carried out: `of_sides` says the waits of the log, of three shuffles, and of the draws, by policy
    [ms]. Returns a list to which each load adds what it would run, the log first."""
    asked = []

    def waits_under(policies, sides, *_):
        asked.append(sides)
        for policy in policies:
            yield policy, {measure: of_sides(policy)[: len(sides)] for measure in MEASURES}

    monkeypatch.setattr(judging, "waits_under", waits_under)
    return asked


def head_of(text):
    return " ".join(" ".join(line.removeprefix("#") for line in text.splitlines() if line.startswith("#")).split())


@pytest.mark.slow
def test_the_verdict_is_in_the_head_and_in_json(cli, tmp_path):
    """The runs are carried out. Of three draws the quartiles are halfway from the median to the range's ends."""
    (tmp_path / "log.csv").write_text(log(60))
    code, out, err = cli(*FIT, "--draws", "3", "--workers", "1", "--json")
    assert code == 0, err
    found = json.loads(out)
    queueing, text = found["queueing"], (tmp_path / "it.toml").read_text()
    assert found["scenario"] == text
    assert (len(queueing["waits"]), queueing["draws"], queueing["jobs"]) == (12, 3, 60)
    assert f"Judged by queueing: {queueing['words']}" in head_of(text)
    assert "load policy wait [s] log shuffled fitted quartiles ratio" in head_of(text)
    small, near = queueing["small_wait_ms"], []
    for one in queueing["waits"]:
        (low, high), median = one["range"], one["fitted"]
        assert one["quartiles"] == pytest.approx([(low + median) / 2, (median + high) / 2])
        near.append(2 / 3 <= max(median, small) / max(one["log"], small) <= 1.5)
        assert one["near"] == near[-1]
    assert any(one["log"] > small for one in queueing["waits"]), "nothing waits: the case says nothing"
    assert queueing["verdict"] == ("near" if all(near) else "far")


@pytest.mark.slow
def test_the_verdict_is_printed_and_the_file_is_the_same_again(cli, tmp_path, monkeypatch):
    """Under EASY the draws' median wait is thrice the log's, under first come first served 1.4 times."""
    (tmp_path / "log.csv").write_text(log(60))
    draws = {"easy": [9e6, 1e6, 3e6], "batch-system": [1.4e6, 1.4e6, 1.4e6]}
    waits_in_place_of_runs(monkeypatch, lambda policy: [1e6, 5e6, 5e6, 5e6, *draws[policy]])
    printed, texts = set(), set()
    for _ in range(2):
        code, out, err = cli(*FIT, "--draws", "3", "--workers", "1")
        assert code == 0, err
        printed.add(out)
        texts.add((tmp_path / "it.toml").read_text())
    assert (len(printed), len(texts)) == (1, 1)
    each = "; ".join(
        f"waits under EASY at load {load:g} (mean wait 3, 95th percentile 3 times the log's)" for load in judging.LOADS
    )
    words = f"Judged by queueing: Do not use it for {each}. 6 of 12 waits are within a factor 1.5 of the log's."
    assert words in printed.pop()
    assert words in head_of(texts.pop())


@pytest.mark.slow
def test_without_judgement_the_head_says_so(cli, tmp_path):
    (tmp_path / "log.csv").write_text(log(60))
    code, out, _ = cli(*FIT, "--no-judge", "--json")
    assert code == 0
    assert json.loads(out)["queueing"]["reason"] == "--no-judge"
    assert "# Not judged by queueing (--no-judge): do not use it for waits." in (tmp_path / "it.toml").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--policies", "none,jsq"]])
def test_an_interrupt_leaves_a_scenario_that_says_it_was_not_judged(cli, tmp_path, monkeypatch, options):
    def interrupted(*_, **__):
        assert "its runs had not ended" in head_of((tmp_path / "it.toml").read_text())
        raise KeyboardInterrupt

    (tmp_path / "log.csv").write_text(log(60))
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
def test_half_of_the_weeks_are_held_back(cli, tmp_path, monkeypatch):
    """Jobs of weeks that are fitted take 10 s, as draws do; those that are held back, by which is judged, 30 s."""
    asked = waits_in_place_of_runs(monkeypatch, lambda _: [1.0] * 6)
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
    for held_back, *others in asked:
        assert len(others) == 5
        assert [set(side.run_ms) for side in (held_back, *others)] == [{30_000.0}] * 4 + [{10_000.0}] * 2
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
