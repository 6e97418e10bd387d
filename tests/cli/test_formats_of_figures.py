"""`--format` of commands that draw, and `--figures` of `trace fit`."""

from __future__ import annotations

import pandas as pd
import pytest
from click import Group

from cluster_abm.cli import cluster_abm


def commands(group, before=()):
    for name, command in group.commands.items():
        if isinstance(command, Group):
            yield from commands(command, (*before, name))
        else:
            yield " ".join((*before, name)), command


def test_every_command_that_draws_takes_formats():
    taking = {
        name: parameter.opts
        for name, command in commands(cluster_abm)
        for parameter in command.params
        if parameter.name == "figure_formats"
    }
    assert {name for name in taking if name != "trace fit"} == {
        "run", "compare", "reproduce", "batch report", "plan", "tune", "calibrate", "arena", "validate",
    }  # fmt: skip
    assert taking.pop("trace fit") == ["--figures"]
    assert all(opts == ["--format"] for opts in taking.values())


@pytest.mark.slow
def test_a_run_writes_the_formats_asked_for(cli, tmp_path):
    out = tmp_path / "out"
    cli("run", "quickstart", "--set", "workload.duration_s=60", "--format", "pdf,csv", "--out", str(out))
    assert {path.name for path in out.glob("run.*")} == {"run.pdf", "run.csv"}
    assert set(pd.read_csv(out / "run.csv")["what"]) == {"steps", "grid", "line"}
