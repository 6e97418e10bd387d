"""Short runs on processes that are there: the same bytes as here, and a killed process costs no run."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import Counter

import pytest
from studies import study

from cluster_abm.study.batch import run_batch
from cluster_abm.study.runner import beginning
from cluster_abm.study.runner.in_flight import InFlight
from cluster_abm.study.runner.record_keepers import InFolder

pytestmark = pytest.mark.slow
ASKED = {"replications": 60}


@pytest.fixture
def sent(monkeypatch):
    """The runs of each task that was sent; processes start for whatever is left after the first runs."""
    monkeypatch.setattr(beginning, "WORTH_S", 0.0)
    found, real = [], InFlight.send

    def send(flight, name, *given, **named):
        found.append(name)
        return real(flight, name, *given, **named)

    monkeypatch.setattr(InFlight, "send", send)
    return found


def files(folder):
    return {path.name: path.read_bytes() for path in (folder / "runs").iterdir()}


@pytest.fixture
def alone(tmp_path, sent):
    """The files of all runs, carried out in this process."""
    run_batch(study(tmp_path, **ASKED), tmp_path / "alone", "inline", quiet=True)
    sent.clear()
    return files(tmp_path / "alone")


@pytest.mark.parametrize("workers", [2, 3])
def test_the_files_of_runs_are_the_same_bytes(tmp_path, sent, alone, workers):
    outcome = run_batch(study(tmp_path, **ASKED), tmp_path / "out", "process", workers, quiet=True)
    assert (outcome.made, outcome.finished, len(outcome.failed)) == (240, 240, 0)
    assert files(tmp_path / "out") == alone
    runs_sent = [run for runs in sent for run in runs]
    assert len(runs_sent) == len(set(runs_sent)) == 240


def test_the_task_of_a_killed_process_is_made_again_and_nothing_else_is(tmp_path, sent, monkeypatch):
    killed, real = [], InFolder.add_all

    def add_all(keeper, records):
        real(keeper, records)
        if not killed:
            # Each has a task, of which one is lost.
            killed.append(multiprocessing.active_children()[0].pid)
            os.kill(killed[0], signal.SIGKILL)

    monkeypatch.setattr(InFolder, "add_all", add_all)
    # Long enough that processes start before all is done, with tasks of some runs.
    asked = {"replications": 250, "overrides": {"workload.duration_s": 300.0}}
    outcome = run_batch(study(tmp_path, **asked), tmp_path / "out", "process", 2, quiet=True)
    assert killed
    assert (outcome.made, outcome.finished, len(outcome.failed)) == (1000, 1000, 0)
    times = Counter(run for runs in sent for run in runs)
    twice = {run for run, count in times.items() if count == 2}
    (lost,) = [runs for runs in sent if set(runs) == twice]
    assert len(lost) > 1
    # Then each was sent alone.
    assert {(run,) for run in lost} <= set(sent)
    assert times.total() == 1000 + len(lost)
