"""Fixtures of the tests of studies: stand-ins for the processes, Slurm jobs and models that carry out runs."""

from __future__ import annotations

import pytest
from stand_in_processes import Crew
from stand_in_runs import CarriedOut
from stand_in_slurm import Turns

from cluster_abm.study.runner import work
from cluster_abm.study.runner.executors.kinds import process as processes


@pytest.fixture
def carried(monkeypatch):
    """The runs that were carried out; none runs a model."""
    found = CarriedOut()
    monkeypatch.setattr(work, "carry_out", found.carry_out)
    return found


@pytest.fixture
def crew(monkeypatch):
    """The workers of the executor of processes; none has a process."""
    found = Crew()
    monkeypatch.setattr(processes, "Worker", found.worker)
    return found


@pytest.fixture
def turns(monkeypatch, tmp_path):
    """Makes executors of Slurm whose thread, jobs and clock are stand-ins."""
    return lambda *given, **named: Turns(monkeypatch, tmp_path, *given, **named)
