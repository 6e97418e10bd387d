"""What was changed in a scenario is said where its results are: in print, and above pictures and films."""

from __future__ import annotations

import json

import pytest
from matplotlib.figure import Figure

from cluster_abm.cli.options import overrides_of
from cluster_abm.recording.films import Animation
from cluster_abm.results import pictures
from cluster_abm.results.of_studies import comparison_picture

SMALL = ["--set", "cluster.nodes=3", "--set", "workload.jobs=6", "--set", "workload.duration_s=5"]


def test_in_words():
    assert overrides_of([]).captioned("quickstart") == "quickstart"
    found = overrides_of(["cluster.nodes=3", 'compare.policies=["jsq"]', "run.seed=4"], policy="jsq")
    assert found.captioned("quickstart") == "quickstart; with cluster.nodes=3"
    many = overrides_of([f"workload.key{number}={number}" for number in range(12)])
    assert many.in_words().endswith("workload.key7=7, and 4 more")


def test_a_run(cli, monkeypatch, tmp_path):
    titles = []
    monkeypatch.setattr(pictures, "run_figure", lambda title, *others, **named: titles.append(title) or Figure())
    monkeypatch.setattr(Animation, "write", lambda self, found, progress: titles.append(found[0].title) or "")
    code, out, _ = cli("run", "cpu-bound", "--seed", "3", *SMALL, "--out", "o", "--animate", "f.gif")
    assert code == 0
    changed = "with cluster.nodes=3, workload.jobs=6, workload.duration_s=5"
    assert titles == [f"cpu-bound: policy none, seed 3; {changed}"] * 2
    assert out.splitlines()[:2] == ["cpu-bound, policy none, seed 3", changed]


@pytest.mark.slow
def test_a_comparison(cli, monkeypatch):
    titles = []
    monkeypatch.setattr(
        comparison_picture, "comparison_figure", lambda title, *others, **named: titles.append(title) or Figure()
    )
    code, out, _ = cli("compare", "cpu-bound", "--policies", "none,jsq", "--seeds", "2", *SMALL, "--out", "o")
    assert code == 0
    changed = "with cluster.nodes=3, workload.jobs=6, workload.duration_s=5"
    assert titles == [f"cpu-bound: 2 policies on the same jobs, 3 nodes; {changed}"]
    assert changed in out.splitlines()


def test_nodes_that_a_graph_brings_are_said(cli, tmp_path):
    document = {"nodes": [{"id": 1}, {"id": 2}], "edges": [{"source": 1, "target": 2}]}
    (tmp_path / "pair.json").write_text(json.dumps(document))
    code, _, err = cli("run", "cpu-bound", "--set", "interconnect.file=pair.json", "--set", "workload.duration_s=5")
    assert code == 0
    assert "note: cluster.nodes = 2: pair.json has 2 vertices for nodes; the scenario's own is " in err
