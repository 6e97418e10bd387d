"""Runs that are the same from every seed: one sample, without intervals and tests, and made once."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from support import scenario

from cluster_abm import Study, compare, load_scenario, run_batch
from cluster_abm.policies import available
from cluster_abm.study.design import unread
from cluster_abm.study.planning.plan import PlanningQuestion, plan
from cluster_abm.study.runner import tasks, work
from cluster_abm.study.runner.tasks import SeededRun, run_all
from cluster_abm.study.statistics.one_sample import of_one_sample
from cluster_abm.study.statistics.paired import all_pairs, corrected
from cluster_abm.workload import work_of
from cluster_abm.workload.named_files import NamedFiles


@pytest.fixture
def log(tmp_path):
    """A log that says everything: jobs of 2 s on four nodes, most of which come to node 0."""
    rows = [f"{200 * job},{0 if job % 3 else job % 4},{500 + 37 * (job % 11)},0,1,100,0,0,0" for job in range(60)]
    head = "arrival_ms,home,cpu_ms,io_per_ms,memory_mb,request_kb,initial_data_mb,write_share,reaccess_rate"
    path = tmp_path / "said.csv"
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def replay(log, **more):
    return load_scenario(
        "replay", {"workload.kind": "trace", "workload.trace.file": str(log), "cluster.nodes": 4, **more}
    )


def test_work_of_other_files_is_not_the_same(log):
    work = work_of(replay(log), 1)
    needs = [work._replace(files=NamedFiles(np.array([0, 1]), np.array([file]))) for file in (0, 0, 1)]
    assert unread._equal(work, work_of(replay(log), 2))
    assert unread._equal(needs[0], needs[1])
    assert not unread._equal(needs[0], needs[2])
    assert not unread._equal(work, needs[0])
    assert not unread._equal(needs[0], work)


@pytest.mark.slow
def test_a_log_that_says_everything_is_one_sample(log):
    found = compare(replay(log), ["none", "jsq", "iolb", "srpt-pool"], seeds=6, workers=1, quiet=True)
    assert found.seeds == (1, 2, 3, 4, 5, 6)
    # One run a policy.
    assert found.outcome.made == 3
    assert found.seeds_words.startswith("one sample: this log")
    document = found.as_json()
    assert document["replications"] == 1
    assert [row["ci95"] for row in document["policies"].values()] == [None] * 4
    assert [row["gap_closed_ci95"] for row in document["policies"].values()] == [None] * 4
    assert [(pair["ci95"], pair["significant"]) for pair in document["pairs"]] == [(None, None)] * 2
    slowdowns = {name: set(found.values(name, "mean_slowdown")) for name in found.policies}
    assert all(len(values) == 1 for values in slowdowns.values())
    (none,), (jsq,) = slowdowns["none"], slowdowns["jsq"]
    assert document["pairs"][0]["difference"] == jsq - none
    assert document["policies"]["jsq"]["mean_slowdown"] == jsq
    assert "significant" not in found.conclusion
    assert found.estimates()["low"].isna().all()
    assert "one sample: this log" in found._repr_html_()
    # No error bars: a mark is all there is of a policy.
    means = found.plot().axes[0]
    assert "one sample" in means.get_title(loc="left") + means.get_title()
    assert [line.get_xdata().tolist() for line in means.lines] == [
        pytest.approx([found.estimate(name, found.headline).mean]) for name in found.policies
    ]
    assert len(means.containers) == 0


@pytest.mark.slow
def test_where_only_some_are_constant_the_others_keep_their_intervals(log):
    found = compare(replay(log), ["none", "jsq", "random", "power-of-d"], seeds=4, workers=1, quiet=True)
    assert found.outcome.made == 1 + 1 + 4 + 4
    assert found.one_run == {"none", "jsq"}
    document = found.as_json()
    assert document["replications"] == 4
    assert {name for name, row in document["policies"].items() if row["ci95"] is None} == {"none", "jsq"}
    untested = [(pair["a"], pair["b"]) for pair in document["pairs"] if pair["significant"] is None]
    assert untested == [("jsq", "none")]
    assert [(pair["a"], pair["b"]) for pair in document["pairs"] if pair["ci95"] is None] == untested
    assert "none, jsq: one sample" in found.seeds_words


def test_drawn_jobs_are_no_single_sample():
    found = compare(scenario(), ["none", "jsq"], seeds=3, workers=1, quiet=True)
    assert (found.one_run, found.outcome.made, found.as_json()["replications"]) == (frozenset(), 6, 3)
    assert all(pair["significant"] is not None for pair in found.as_json()["pairs"])


def test_one_seed_is_no_sample_of_equal_ones(log):
    found = compare(replay(log), ["none", "jsq"], seeds=1, workers=1, quiet=True)
    assert found.one_run == frozenset()
    assert found.seeds_words.startswith("1 seed,")


def test_what_agrees_by_hand():
    table = pd.DataFrame(
        {
            "policy": ["a", "a", "b", "b", "c", "d", "d"], "seed": [1, 2, 1, 2, 1, 1, 2],
            "x": [1.0, 1.0, 1.0, 1.0, 1.0, math.nan, math.nan],
            "y": [2.0, 2.0, 2.0, math.nextafter(2.0, 3.0), 2.0, 3.0, 3.0],
        }
    )  # fmt: skip
    # b differs in the last digit, c has one seed.
    assert of_one_sample(table) == {"a", "d"}


def test_a_family_has_the_tested_pairs_alone():
    """Of three pairs one is of one sample: Holm's steps are those of two hypotheses."""
    values = {"a": [1.0, 1, 1], "b": [2.0, 2, 2], "c": [3.0, 3.4, 3.1]}
    found = corrected(all_pairs(values, one_sample={"a", "b"}))
    assert (found["a", "b"].significant, found["a", "b"].difference.mean, found["a", "b"].difference.ci95) == (
        None,
        -1,
        None,
    )
    two = {pair: one for pair, one in all_pairs(values).items() if pair != ("a", "b")}
    assert corrected(two) == {pair: one for pair, one in found.items() if pair != ("a", "b")}


def rows_of(result):
    """Rows as text, in which NaN is NaN and no digit is lost."""
    return [repr(sorted(row.items())) for row in result.rows]


@pytest.mark.slow
def test_the_same_bytes_as_if_all_had_been_made(log, monkeypatch):
    asked = [
        SeededRun(replay(log, **{"policy.name": name}), seed)
        for name in ("none", "lwl", "random")
        for seed in (3, 4, 5)
    ]
    once = run_all(asked, workers=1, quiet=True)
    monkeypatch.setattr(work.Seeds, "are_alike", lambda *_: False)
    monkeypatch.setattr(unread, "unread_keys", lambda _: [])
    every = run_all(asked, workers=1, quiet=True)
    assert (once.made, every.made) == (1 + 1 + 3, 9)
    assert rows_of(once) == rows_of(every)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "more"),
    [
        ("a column is missing", None),
        ("a node may fail", {"failures.node.kind": "exponential", "failures.node.mean_up_s": 1e6}),
        ("messages get lost", {"interconnect.loss_share": 0.1}),
        ("seeks are drawn", {"cluster.disk_latency": "exponential"}),
    ],
)
def test_where_it_is_not_certain_all_are_made(what, more, log):
    if more is None:
        # Of homes, which are drawn then.
        pd.read_csv(log).drop(columns="home").to_csv(log, index=False)
    found = compare(replay(log, **(more or {})), ["none", "jsq"], seeds=3, workers=1, quiet=True)
    assert found.outcome.made == 6


@pytest.mark.slow
def test_a_policy_of_ones_own_is_never_certain(log):
    from cluster_abm.policies.references import JoinShortestQueue

    class Mine(JoinShortestQueue):
        name = "mine-as-jsq"

    found = compare(replay(log), ["jsq", Mine], seeds=3, workers=1, quiet=True)
    # Its runs agree all the same: it is told by them.
    assert found.outcome.made == 1 + 3
    assert found.is_one_sample


@pytest.mark.slow
def test_policies_that_draw_are_known():
    drawing = {name for name, policy in available().items() if not unread.never_draws(policy)}
    assert {"random", "power-of-d", "jiq", "hawk", "prequal", "learned", "batch-sampling"} <= drawing
    assert {"none", "jsq", "iolb", "clb", "lwl", "round-robin", "pooled", "wal-pm"}.isdisjoint(drawing)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(available()))
def test_policies_that_are_said_not_to_draw_do_not(name, log, monkeypatch):
    if not unread.never_draws(available()[name]):
        pytest.skip("it draws")
    monkeypatch.setattr(work.Seeds, "are_alike", lambda *_: False)
    file = pd.read_csv(log)
    file.assign(requested_ms=2 * file["cpu_ms"]).to_csv(log, index=False)
    given = replay(log, **{"policy.name": name})
    found = run_all([SeededRun(given, seed) for seed in (1, 2, 3)], workers=1, quiet=True)
    assert found.made == 3
    assert len(set(rows_of(found))) == 1


@pytest.mark.parametrize("policy", ["none", "random", "round-robin", "sita-e"])
def test_a_key_that_a_policy_does_not_read_makes_no_other_run(policy, monkeypatch):
    asked = [
        SeededRun(scenario(policy__name=policy, cluster__exchange_period_ms=period_ms), 1)
        for period_ms in (50.0, 900.0)
    ]
    once = run_all(asked, workers=1, quiet=True)
    assert once.made == 1
    monkeypatch.setattr(tasks, "cell_key", lambda scenario: scenario.model_dump_json())
    every = run_all(asked, workers=1, quiet=True)
    assert every.made == 2
    assert rows_of(once) == rows_of(every)


def test_a_key_that_it_reads_does():
    asked = [
        SeededRun(scenario(policy__name="jsq", cluster__exchange_period_ms=period_ms), 1) for period_ms in (50.0, 900.0)
    ]
    assert run_all(asked, workers=1, quiet=True).made == 2
    failing = {"failures__event": [{"node": 0, "at_s": 5.0, "for_s": 5.0}]}
    asked = [SeededRun(scenario(policy__name="random", cluster__exchange_period_ms=period_ms, **failing), 1)
             for period_ms in (50.0, 900.0)]  # fmt: skip
    assert run_all(asked, workers=1, quiet=True).made == 2


@pytest.mark.slow
def test_a_batch_makes_them_once_and_reports_one_sample(log, tmp_path):
    study = Study(
        name="said", scenario="replay", policies=("none", "jsq"), replications=4,
        overrides={"workload.trace.file": str(log), "cluster.nodes": 4}, grid={"cluster.quantum_ms": [50.0, 100.0]},
    )  # fmt: skip
    results = run_batch(study, tmp_path / "out", workers=1, quiet=True)
    assert len(results) == 2 * 2 * 4
    assert results.groupby(["point", "policy"])["mean_slowdown"].nunique().eq(1).all()
    assert results.estimates()["low"].isna().all()
    assert [value is None for value in results.differences()["significant"]] == [True, True]
    report = next(path for path in results.report(tmp_path / "report") if path.name == "report.md").read_text()
    assert "One sample: every seed gives the same run." in report
    assert "| one sample |" in report
    assert "Student's t" not in report


@pytest.mark.slow
def test_a_plan_of_one_sample_has_no_interval(log):
    asked = PlanningQuestion(replay(log), ("mean_response_ms<=900",), "cluster.cpu_speed", ("jsq",), 0.5, 8, 4)
    found = plan(asked, workers=1, quiet=True)
    document = found.as_json()
    assert document["replications"] == 1
    assert document["policies"]["jsq"]["ci95"] is None
    assert document["policies"]["jsq"]["value"] is not None
    assert document["policies"]["jsq"]["kept"]["mean_response_ms"]["ci95"] is None
    assert found.frame()["mean_response_ms low"].isna().all()
    assert found.made == len(found.frame())
