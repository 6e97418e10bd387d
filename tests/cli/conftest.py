"""What the tests of the commands share."""

import importlib
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace

import pytest

from cluster_abm.cli import main


@pytest.fixture
def cli(capfd, tmp_path, monkeypatch):
    """Run a command in an empty folder: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return left.value.code, captured.out, captured.err

    return call


@pytest.fixture
def warm_command(warm, tmp_path_factory):
    """The words that start a command in a fork of the warm process: with standard files, folder and exit code."""
    main_script = Path(importlib.import_module("cluster_abm").__file__).with_name("__main__.py")
    return [warm.python(tmp_path_factory.mktemp("warm") / "cluster-abm", main_script)]


@pytest.fixture
def lasting(monkeypatch):
    """Give a command a clock by which whatever it does takes `seconds`."""

    def lasts(command, seconds):
        times = cycle([1000.0, 1000.0 + seconds])
        module = importlib.import_module(f"cluster_abm.cli.{command}")
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: next(times)))

    return lasts
