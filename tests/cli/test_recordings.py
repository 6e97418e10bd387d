"""`run --record`, `compare --record`, `--detail`: files, and what cannot be."""

from __future__ import annotations

import json

import pytest

import cluster_abm as ca
from cluster_abm.recording import load_recordings

SMALL = ("--set", "workload.duration_s=20", "--set", "cluster.nodes=6")
RUN = ("run", "quickstart", "--policy", "iolb", *SMALL, "--json")


def test_a_run_is_recorded_and_stays_the_same(cli, tmp_path):
    _, without, _ = cli(*RUN)
    code, out, err = cli(*RUN, "--record", "run.rec")
    assert code == 0
    assert json.loads(out) == json.loads(without)
    assert "recording of iolb in run.rec" in err
    recording = ca.record("quickstart", "iolb", workload__duration_s=20, cluster__nodes=6)
    recording.save(tmp_path / "python.rec")
    assert (tmp_path / "run.rec").read_bytes() == (tmp_path / "python.rec").read_bytes()


@pytest.mark.slow
def test_a_window_in_detail_and_results_beside_it(cli):
    code, _, err = cli(*RUN, "--record", "run.rec", "--detail", "7:7.5", "--out", "out")
    assert code == 0
    assert "results in out" in err
    frame = ca.load_recording("run.rec").detail_frame()
    assert len(frame) > 10
    assert frame["from_ms"].min() >= 7000.0
    assert frame["to_ms"].max() <= 7500.0


@pytest.mark.slow
def test_a_film_and_a_recording_are_of_one_run(cli, tmp_path):
    cli(*RUN, "--record", "alone.rec", "--detail", "7:8")
    code, _, err = cli(*RUN, "--record", "both.rec", "--detail", "7:8", "--animate", "run.gif", "--to", "1")
    assert code == 0
    assert "film of iolb in run.gif" in err
    assert (tmp_path / "both.rec").read_bytes() == (tmp_path / "alone.rec").read_bytes()


@pytest.mark.slow
def test_two_policies_from_the_first_seed(cli, tmp_path):
    policies = ("--policies", "none,wal-pm,jsq", "--seeds", "2", "--executor", "inline", "--out", "out")
    code, _, err = cli("compare", "quickstart", *policies, *SMALL, "--record", "two.rec", "--json")
    assert code == 0
    assert "recording of none and wal-pm in two.rec" in err
    first, second = load_recordings(tmp_path / "two.rec")
    assert (first.meta["policy"]["name"], second.meta["policy"]["name"]) == ("none", "wal-pm")
    assert first.meta["seed"] == second.meta["seed"] == 1
    assert first.tables["jobs"].equals(second.tables["jobs"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--detail", "5:6"), "--detail '5:6': it is kept in a recording: --record FILE is needed, too"),
        (("--record", "a.rec", "--detail", "5"), "--detail '5': FROM:TO is needed, two times in s, as 10:12.5"),
        (("--record", "a.rec", "--detail", "nan:6"), "--detail 'nan:6': from_s = nan: a time of 0 to"),
        (("--record", "a.rec", "--detail", "7:6"), "the end has to be after the beginning"),
        (("--record", "no/a.rec"), "--record 'no/a.rec': there is no folder 'no'"),
        (("--record", "."), "--record '.': is a folder; the name of a file is needed"),
        (("--record", "a.gif", "--animate", "./a.gif"), "--animate writes this file, too"),
        (("--record", "a.rec", "--detail", "5:6", "--policy", "pooled"), "policy 'pooled' pools all nodes"),
    ],
)
def test_what_cannot_be_is_said_before_the_run(cli, tmp_path, options, words):
    code, out, err = cli(*RUN, *options)
    assert (code, out) == (2, "")
    assert words in err
    assert "Traceback" not in err
    assert [*tmp_path.iterdir()] == []


def test_a_comparison_with_a_pooled_reference_has_no_detail(cli):
    policies = ("--policies", "none,pooled", "--executor", "inline")
    code, _, err = cli("compare", "quickstart", *policies, *SMALL, "--record", "a.rec", "--detail", "5:6", "--json")
    assert code == 2
    assert "policy 'pooled' pools all nodes" in err
