"""What `arena` and `reproduce` tell at their end, and with which exit code: the runs are made up."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from cluster_abm.study.arena.arena import FOUND, FRESH
from cluster_abm.study.papers.plan import load_plan, reproduction_names
from cluster_abm.study.runner.tasks import RunsOutcome

ROW = {"mean_slowdown": 1.0}


# ---- arena ----


@pytest.fixture
def held(monkeypatch):
    """What the arena was asked for; its outcome is set by a test."""
    found = SimpleNamespace(outcome=RunsOutcome([]), asked=None)

    def hold(ranked, plan, *, where, more):
        found.asked = (ranked, plan, where, more)
        return SimpleNamespace(found=[], outcome=found.outcome)

    monkeypatch.setattr("cluster_abm.study.arena.arena.hold", hold)
    return found


@pytest.mark.parametrize(("outcome", "code", "said"), [
    (RunsOutcome([ROW] * 3, made=3), 0, ["3 runs in 7.5 s"]), (RunsOutcome([ROW] * 3, made=1), 0, ["1 runs in 7.5 s"]),
    (RunsOutcome([ROW, None], policy_faults={"a fault": 2}, made=2), 2,
     ["2 runs in 7.5 s", "error: a fault (ended 2 runs)"]),
    (RunsOutcome([ROW, None, None], interrupted=True, made=1), 130,
     ["1 runs in 7.5 s", "interrupted: kept 1 of 3 runs in out/arena; the same command goes on with the others"]),
])  # fmt: skip
def test_the_end_of_an_arena(cli, held, lasting, outcome, code, said):
    lasting("frame", 7.5)
    held.outcome = outcome
    ended, out, err = cli("arena", "--quick")
    # Nothing was found: nothing is shown, and no report is written.
    assert (ended, out) == (code, "")
    assert err.splitlines() == said
    assert not Path("out", "arena", "arena.md").exists()


def test_an_arena_is_asked_for_what_was_given(cli, held):
    words = ["--policies", "jsq,none,jsq", "--policy", "random", "--regimes", 7, "--seeds", 3, "--workers", 1]
    assert cli("arena", *words, "--set", "cluster.slice_ms=5", "--out", "mine")[0] == 0
    ranked, plan, where, more = held.asked
    # One's own come first, each policy once.
    assert ranked == ["random", "jsq", "none"]
    assert (plan.regimes, plan.seeds) == (7, 3)
    assert (where.folder, where.workers) == (Path("mine", "store"), 1)
    assert dict(more) == {"cluster.slice_ms": 5}
    assert cli("arena", "--quick")[0] == 0
    ranked, plan, where, _ = held.asked
    assert {"jsq", "none", "iolb"} <= set(ranked)
    # As the help says.
    assert (plan.regimes, plan.seeds, where.folder) == (24, 4, Path("out", "arena", "store"))
    assert cli("arena")[0] == 0
    assert held.asked[1][:2] == (60, 6)


def test_an_arena_that_was_interrupted_is_not_verified(cli, held, monkeypatch):
    """And if the fresh runs are interrupted, the arena's own report is kept, and the end says so."""
    draws, outcomes = [], [RunsOutcome([ROW] * 3, made=3), RunsOutcome([ROW, None], interrupted=True, made=1)]

    def hold(ranked, plan, *, where, more, draw=FOUND):
        draws.append(draw)
        return SimpleNamespace(found={0: None}, outcome=outcomes[len(draws) - 1])

    monkeypatch.setattr("cluster_abm.study.arena.arena.hold", hold)
    saved = []
    monkeypatch.setattr("cluster_abm.study.arena.report.write_report", lambda *given: saved.append("report"))
    monkeypatch.setattr("cluster_abm.study.arena.verify.write_verification", lambda *given: saved.append("verify"))
    monkeypatch.setattr("cluster_abm.cli.studies.arena._print_arena", lambda *given: None)
    code, _, err = cli("arena", "--quick", "--verify")
    assert (code, draws, saved) == (130, [FOUND, FRESH], ["report"])
    assert err.splitlines()[0].startswith("4 runs in ")
    assert err.splitlines()[1].startswith("interrupted: kept 1 of 2 runs in out/arena; the same command goes on")
    outcomes[0] = RunsOutcome([ROW, None], interrupted=True, made=1)
    draws.clear()
    assert cli("arena", "--quick", "--verify")[0] == 130
    assert draws == [FOUND]


# ---- reproduce ----


@pytest.fixture
def reproduced(monkeypatch):
    """What was to be reproduced; the outcomes are set by a test, the last one is all further ones'."""
    found = SimpleNamespace(outcomes=[RunsOutcome([ROW], made=1)], asked=[])

    def reproduce(name, seeds, quick, overrides, *, where):
        found.asked.append((name, seeds, quick, dict(overrides), where))
        outcome = found.outcomes[min(len(found.asked), len(found.outcomes)) - 1]
        return SimpleNamespace(
            points=(), outcome=outcome, as_json=lambda: {"name": name}, plan=load_plan(name), seeds=seeds,
            verdict_words="shape" if name.startswith("lmip") else "not reproduced",
        )  # fmt: skip

    monkeypatch.setattr("cluster_abm.study.papers.reproduce.reproduce", reproduce)
    return found


@pytest.mark.parametrize(("outcome", "code", "said"), [
    (RunsOutcome([ROW] * 3, made=3), 0, ["3 runs in 7.5 s"]),
    (RunsOutcome([ROW] * 3, made=2), 0, ["3 runs in 7.5 s, 1 of them carried out before"]),
    # One that failed was made, and has not finished: none was there before.
    (RunsOutcome([ROW, None], policy_faults={"a fault": 1}, made=2), 2, ["1 runs in 7.5 s", "error: a fault"]),
    (RunsOutcome([ROW, None, None], interrupted=True, made=1), 130,
     ["1 runs in 7.5 s", "interrupted: kept 1 runs of iolb-table-1"]),
])  # fmt: skip
def test_the_end_of_a_reproduction(cli, reproduced, lasting, outcome, code, said):
    lasting("frame", 7.5)
    reproduced.outcomes = [outcome]
    ended, out, err = cli("reproduce", "iolb-table-1", "--json")
    assert ended == code
    assert err.splitlines() == said
    assert json.loads(out) == {"name": "iolb-table-1"}


def test_the_tables_after_an_interrupt_are_not_begun(cli, reproduced):
    reproduced.outcomes = [RunsOutcome([ROW], made=1), RunsOutcome([None], interrupted=True)]
    code, out, _ = cli("reproduce", "all", "--json")
    assert code == 130
    assert len(reproduced.asked) == 2
    assert json.loads(out) == [{"name": name} for name, *_ in reproduced.asked]


def test_all_verdicts_are_written_at_the_end(cli, reproduced, tmp_path):
    assert cli("reproduce", "all", "--json", "--seeds", "3", "--out", str(tmp_path))[0] == 0
    table = pd.read_csv(tmp_path / "verdicts.csv")
    assert table["name"].tolist() == reproduction_names()
    assert table.loc[table["name"] == "lmip-fig2"].to_dict("records") == [
        {"name": "lmip-fig2", "paper": "LMIP, Fig. 2", "verdict": "shape", "seeds": 3}
    ]
    assert set(table["verdict"]) == {"shape", "not reproduced"}


def test_runs_are_kept_where_results_are(cli, reproduced):
    def folder_of(*words):
        reproduced.asked.clear()
        assert cli("reproduce", "iolb-table-1", "--json", *words)[0] == 0
        (name, seeds, quick, overrides, where), = reproduced.asked  # fmt: skip
        assert (name, seeds, quick) == ("iolb-table-1", 4 if "--seeds" in words else None, "--quick" in words)
        assert overrides == ({"cluster.slice_ms": 5} if "--set" in words else {})
        return where.folder

    # With --json nothing is kept unless it is asked for.
    assert folder_of("--quick") is None
    assert folder_of("--seeds", "4", "--set", "cluster.slice_ms=5") is None
    assert folder_of("--out", "mine") == Path("mine", "store")
