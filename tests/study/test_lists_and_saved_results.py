"""What the lists say of what there is, and what a folder of `run` or `compare` is known by and holds."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import cluster_abm as ca
from cluster_abm.study.saved import is_saved


def test_studies_say_how_many_runs_they_have_at_least():
    listed = ca.list_studies()
    assert listed.index.name == "name"
    assert list(listed) == ["runs", "title"]
    # Four loads, four policies, six seeds.
    assert listed.loc["quick-study", "runs"] == 4 * 4 * 6
    assert listed.loc["quick-study", "title"] == "Four policies under rising load, on a small cluster"


def test_keys_say_their_defaults_and_what_they_allow():
    listed = ca.list_keys()
    assert list(listed) == ["default", "allowed", "meaning"]
    assert listed.loc["cluster.nodes", "default"] == 32
    assert listed.loc["cluster.swap_mb", "default"] == "not set"
    # 0, false and the like are defaults too; a key that has none says so.
    defaults = listed["default"].tolist()
    assert any(one is False for one in defaults)
    assert any(isinstance(one, float) and one == 0.0 for one in defaults)
    assert not any(one is None for one in defaults)
    some = ca.list_keys("SWAP")
    assert some.index.tolist() == ca.list_keys("swap").index.tolist()
    assert all("swap" in f"{key} {row.meaning}".lower() for key, row in some.iterrows())


def test_policies_say_their_parameters_with_their_defaults():
    listed = ca.list_policies()
    assert list(listed) == ["summary", "source", "parameters"]
    assert "d = 2" in listed.loc["power-of-d", "parameters"].split(", ")
    assert all(" = " in one for text in listed["parameters"] for one in text.split(", ") if text)


@pytest.mark.parametrize("listed", [ca.list_keys, ca.list_policies, ca.list_scenarios, ca.list_studies,
                                    ca.list_reproductions])  # fmt: skip
def test_a_notebook_shows_a_list_whole(listed):
    table = listed()
    shown = table._repr_html_()
    # One row for the head.
    assert shown.count("<tr>") == len(table) + 1
    assert "rows</" not in shown
    # A part of it is a table like any other.
    assert type(table.head(1)) is pd.DataFrame


@pytest.mark.parametrize(("names", "is_one"), [
    (["summary.json", "runs.parquet"], True), (["summary.json", "jobs.parquet"], True),
    (["summary.json", "runs.parquet", "jobs.parquet"], True), (["summary.json"], False), (["runs.parquet"], False),
    (["jobs.parquet"], False), (["summary.json", "nodes.parquet"], False), ([], False),
])  # fmt: skip
def test_a_folder_of_results_is_known_by_its_files(tmp_path, names, is_one):
    for name in names:
        (tmp_path / name).touch()
    assert is_saved(tmp_path) is is_one


@pytest.fixture
def saved(tmp_path):
    """A folder of `run` made by hand."""
    summary = {"scenario": "mine", "policy": "jsq", "seed": 3, "metrics": {f"metric_{n}": n for n in range(150)}}
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    (tmp_path / "scenario.toml").write_text('name = "mine"\n[workload]\nutilisation = 0.3\n')
    for number, name in enumerate(("jobs", "nodes", "decisions")):
        pd.DataFrame({name: [number, 7]}).to_parquet(tmp_path / f"{name}.parquet")
    return tmp_path


def test_what_run_left_is_read_again(saved):
    found = ca.load_results(saved)
    assert (found.jobs["jobs"].tolist(), found.nodes["nodes"].tolist()) == ([0, 7], [1, 7])
    assert found.decisions["decisions"].tolist() == [2, 7]
    assert found.metrics["metric_149"] == 149
    assert repr(found) == f"<SavedRun of 'mine', policy jsq, seed 3, in {saved}>"
    # All metrics are shown, more than a notebook's table has rows by default.
    assert found._repr_html_().count("<tr>") == 150 + 1


@pytest.mark.parametrize(("summary", "said"), [
    ({"policy": "jsq", "seed": 3, "metrics": {}}, "KeyError"),
    ({"scenario": "a", "policy": "b", "seed": 1}, "KeyError"),
    ({"scenario": "a", "policy": "b", "seed": 1, "metrics": 5}, "TypeError"),
])  # fmt: skip
def test_a_summary_of_something_else_is_refused_when_it_is_read(saved, summary, said):
    (saved / "summary.json").write_text(json.dumps(summary))
    with pytest.raises(ca.InputError, match=rf"summary\.json: is not what `run` or `compare` writes \({said}"):
        ca.load_results(saved)


def test_what_compare_left_has_its_policies_in_their_order_and_those_of_rows_besides(saved):
    runs = pd.DataFrame({"policy": ["jsq", "iolb", "none", "jsq"], "seed": [4, 4, 4, 5], "mean_slowdown": 2.0})
    runs.to_parquet(saved / "runs.parquet")
    (saved / "summary.json").write_text(json.dumps({"seeds": ["4", "5"], "policies": {"none": {}, "jsq": {}}}))
    found = ca.load_results(saved)
    assert isinstance(found, ca.Comparison)
    assert (found.policies, found.seeds) == (("none", "jsq", "iolb"), (4, 5))
    assert found.outcome.finished == len(runs)
