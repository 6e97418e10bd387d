"""kill -9 at any moment: what was finished is there, what is missing is run, and the end is that of a quiet life."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from studies import study, study_path

from cluster_abm import load_results
from cluster_abm.study.batch import run_batch
from cluster_abm.study.store.store import Store

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and kill -9")
SEED = int(os.environ.get("CLUSTER_ABM_TEST_SEED", "1"))


def killed(folder, times, replications):
    """A study whose batch was killed so many times, then left alone: what was found, and its folder."""
    path = study_path(folder, replications=replications, grid=None)
    command = [sys.executable, Path(__file__).with_name("kill_batches.py"), path, folder / "out", str(times), str(SEED)]
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=True, timeout=600)
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.long
def test_killed_at_random(tmp_path):
    times, replications = 100, 625
    found = killed(tmp_path, times, replications)
    kills = found["kills"]
    assert len(kills) > times / 3
    assert all(one["killed"] for one in kills)
    # Every run that counted once counts for ever.
    assert all(one["kept"] >= one["before"] for one in kills)
    assert len({one["kept"] for one in kills}) >= 4
    assert found["damaged"] == []
    # The last batch made what was missing, and no more.
    assert found["made"] == 2 * replications - kills[-1]["kept"] > 0
    store = Store(tmp_path / "out")
    assert list((tmp_path / "out" / "tmp").iterdir()) == []
    assert list((tmp_path / "out" / "sessions").iterdir()) == []
    assert len(list(store.segments.iterdir())) > 1
    run_batch(study(tmp_path, replications=replications, grid=None), tmp_path / "alone", "inline", quiet=True)
    ours, quiet = load_results(tmp_path / "out"), load_results(tmp_path / "alone")
    pd.testing.assert_frame_equal(ours, quiet)
    assert ours.to_csv() == quiet.to_csv()


def group(leader):
    """Processes of a group that live."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, of, *_ = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(of) == leader and state != "Z":
            found.append(int(path.parent.name))
    return found


def gone(leader, patience_s=20.0):
    deadline = time.monotonic() + patience_s
    while group(leader) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not group(leader)


def begin(path, out):
    """The command on two processes, in a group of its own, once these carry out runs."""
    process = subprocess.Popen(
        [sys.executable, "-m", "cluster_abm", "batch", "run", str(path), "--out", str(out), "--workers", "2", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60

    def kept():
        return len(list((out / "runs").glob("*.run"))) if (out / "runs").exists() else 0

    def wait(there):
        while not there():
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.01)

    # The command itself, its tracker of resources and two workers, which begin when it has carried out some runs.
    wait(lambda: len(group(process.pid)) == 4)
    before = kept()
    # More than the command may have carried out alone while they started.
    wait(lambda: kept() > before + 150)
    return process


# So much work that it starts processes: runs of 10 ms or more.
MUCH = {"replications": 250, "overrides": {"workload.duration_s": 300.0}}
RUNS = 4 * MUCH["replications"]


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@pytest.mark.slow
@pytest.mark.long
@needs_proc
def test_the_command_killed_with_its_processes_at_work(tmp_path):
    """Its workers, which hear nothing of it, end too; their runs are not claimed for long."""
    path, out = study_path(tmp_path, **MUCH), tmp_path / "out"
    process = begin(path, out)
    time.sleep(random.Random(SEED).uniform(0, 0.5))
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    assert gone(process.pid)
    kept = len(Store(out).contents().finished)
    assert 0 < kept < RUNS
    smaller = run_batch(study(tmp_path, **MUCH), out, "inline", quiet=True)
    assert smaller.made == RUNS - kept
    assert len(load_results(out)) == RUNS


@needs_proc
@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.slow
@pytest.mark.long
def test_ctrl_c_keeps_what_is_finished_and_the_same_command_goes_on(tmp_path):
    path, out = study_path(tmp_path, **MUCH), tmp_path / "out"
    process = begin(path, out)
    os.killpg(process.pid, signal.SIGINT)
    text, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert gone(process.pid)
    assert "Traceback" not in said
    document = json.loads(text)
    kept = int(re.search(r"interrupted: kept ([\d,]+) of 1,?000 runs", said).group(1).replace(",", ""))
    assert document["finished"] == document["made"] == kept == len(Store(out).contents().finished) < RUNS
    assert document["processes"] == 0
    assert list((out / "claims").iterdir()) == []
    assert run_batch(study(tmp_path, **MUCH), out, "inline", quiet=True).made == RUNS - kept
