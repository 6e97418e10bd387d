"""Ctrl-C once the work is done: what is said is what is on disk."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "study"))
from studies import study_path

from cluster_abm.cli import compare
from cluster_abm.recording.films import Animation
from cluster_abm.study import status
from cluster_abm.study.store.leases import Leases
from cluster_abm.study.store.store import Store

pytestmark = pytest.mark.usefixtures("ctrl_c")
SMALL = ["--set", "workload.duration_s=5", "--set", "cluster.nodes=2"]


def interrupted(*_, **__):
    os.kill(os.getpid(), signal.SIGINT)


def test_a_batch_while_its_files_are_put_together(cli, tmp_path, monkeypatch):
    monkeypatch.setattr(Store, "compact", interrupted)
    code, out, err = cli("batch", "run", study_path(tmp_path), "--out", "out", "--executor", "inline")
    assert code == 130
    assert "12 of 12 runs finished" in out
    assert "interrupted: kept 12 of 12 runs; the same command goes on" in err


@pytest.mark.slow
@pytest.mark.parametrize(("whose", "what"), [(status, "read_plan"), (Leases, "_session")])
def test_a_batch_that_is_through(cli, tmp_path, monkeypatch, whose, what):
    path = study_path(tmp_path)
    assert cli("batch", "run", path, "--out", "out", "--executor", "inline")[0] == 0
    real = getattr(whose, what)

    def pressed(*args):
        interrupted()
        return real(*args)

    monkeypatch.setattr(whose, what, pressed)
    code, _, err = cli("batch", "run", path, "--out", "out", "--executor", "inline")
    monkeypatch.undo()
    assert code == 130
    assert "interrupted: what is finished is kept in out; the same command goes on" in err
    assert "nothing" not in err


def test_a_run_whose_film_is_not_written(cli, tmp_path, monkeypatch):
    monkeypatch.setattr(Animation, "write", interrupted)
    code, out, err = cli("run", "quickstart", *SMALL, "--out", "out", "--animate", "run.gif")
    assert code == 130
    assert out.startswith("quickstart, policy")
    assert "interrupted: no film was written; results in out" in err
    assert (tmp_path / "out" / "summary.json").exists()


@pytest.mark.slow
def test_a_comparison_that_is_saved(cli, tmp_path, monkeypatch):
    monkeypatch.setattr(compare, "suggestions", interrupted)
    code, _, err = cli("compare", "quickstart", *SMALL, "--policies", "none", "--seeds", 1, "--workers", 1)
    assert code == 130
    assert err.splitlines()[-1] == "interrupted"
    assert (tmp_path / "out" / "compare-quickstart" / "summary.json").exists()
