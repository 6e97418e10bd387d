"""Beside a decision about another node stands what was true then, however decisions are carried out."""

from __future__ import annotations

import numpy as np
import pytest
from support import busy, scenario

import cluster_abm as ca
from cluster_abm.model.deciding.truths import KEPT
from cluster_abm.policies import available

MODES = ("papers", "negotiated")
# Old reports, so that what is believed and what is true differ.
STALE = {"cluster__exchange_period_ms": 700.0}


def setup_of(policy, mode):
    return scenario(**busy(policy__name=policy, workload__duration_s=3.0, negotiation__mode=mode, **STALE))


@pytest.mark.parametrize("mode", MODES)
def test_what_true_loads_say_at_the_decision(mode):
    """A policy looks at the true loads of both nodes each time that it decides in Python."""
    seen = []

    class Looking(available()["iolb"]):
        """As iolb, and keeps what is true."""

        def place(self, task, view):
            decision = super().place(task, view)
            if decision.target != view.me:
                rows = [model.true_loads(node).copy() for node in (view.me, decision.target)]
                seen.append((task.task, decision.target, view.now_ms, rows))
            return decision

    setup = setup_of("iolb", mode)
    model = ca.ClusterModel(setup, seed=3, policy=Looking, record=True, compile_decisions=False)
    model.run()
    decisions = model.recording().tables["decisions"].to_pandas()
    about_others = decisions[decisions["source"] != decisions["target"]]
    assert len(about_others) == len(seen) > 10
    for told, (task, target, now_ms, rows) in zip(about_others.itertuples(index=False), seen, strict=True):
        assert (told.task, told.target, told.time_ns / 1e6) == (task, target, pytest.approx(now_ms))
        for side, row in zip(("here", "there"), rows, strict=True):
            assert [getattr(told, f"true_{side}_{name}") for name in KEPT] == [float(row[name]) for name in KEPT]


@pytest.mark.parametrize("mode", MODES)
def test_when_the_target_told(mode):
    """Where all is known, just now; else when its last report was made, which takes at most the period, or when it
    answered since."""
    model = ca.ClusterModel(setup_of("iolb", mode), seed=3, record=True)
    model.run()
    decisions = model.recording().tables["decisions"].to_pandas()
    moves = decisions[decisions["source"] != decisions["target"]]
    stays = decisions[decisions["source"] == decisions["target"]]
    assert (stays["told_ns"] == -1).all()
    assert stays["true_here_tasks"].isna().all()
    age_ns = moves["time_ns"] - moves["told_ns"]
    if mode == "papers":
        assert (age_ns == 0).all()
    else:
        assert age_ns.between(0, 720_000_000).all()
        assert (age_ns > 100_000_000).any()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("policy", ["jsq", pytest.param("wal-pm", marks=pytest.mark.slow)])
def test_the_same_in_both_forms(policy, mode):
    tables = []
    for compiled in (True, False):
        model = ca.ClusterModel(setup_of(policy, mode), seed=3, record=True, compile_decisions=compiled)
        model.run()
        tables.append(model.recording().tables["decisions"].to_pandas())
    assert tables[0].equals(tables[1])
    moves = tables[0][tables[0]["source"] != tables[0]["target"]]
    assert np.isfinite(moves["true_there_tasks"]).all()


def test_the_index_compared_is_that_which_is_named():
    model = ca.ClusterModel(setup_of("jsq", "papers"), seed=3, record=True)
    model.run()
    recording = model.recording()
    decisions = recording.decisions_frame()
    table = recording.tables["decisions"].to_pandas()
    moves = (decisions["source"] != decisions["target"]) & (decisions["index"] == "tasks")
    assert moves.any()
    assert (table["true_there_index"][moves] == table["true_there_tasks"][moves]).all()
    # Where all is known, belief and truth are one.
    assert (table["true_there_index"][moves] == decisions["load_there"][moves]).all()
