"""The README says nothing that does not work: its commands parse, its Python runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from cluster_abm.cli import cluster_abm
from cluster_abm.policies import create
from cluster_abm.scenario.schema import PolicyChoice

README = (Path(__file__).parent.parent / "README.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def commands():
    lines = "\n".join(blocks("sh")).replace("\\\n", " ").splitlines()
    shown = [part for line in lines for part in line.split("&&") if "cluster-abm" in part]
    return [shlex.split(text[text.index("cluster-abm") :], comments=True)[1:] for text in shown]


@pytest.mark.parametrize("arguments", commands(), ids=" ".join)
def test_every_command_shown_takes_its_options(arguments):
    command, rest = cluster_abm, list(arguments)
    while isinstance(command, click.Group):
        command = command.commands[rest.pop(0)]
    command.make_context(command.name, rest)


def test_commands_were_found():
    assert len(commands()) >= 10


def test_the_python_example_runs(capsys):
    exec(blocks("python")[0], {})
    slowdown, columns = capsys.readouterr().out.splitlines()[:2]
    assert float(slowdown) >= 1.0
    assert "job" in columns


def test_the_policy_example_is_a_policy(monkeypatch):
    space = {}
    exec(blocks("python")[2], space)
    policy = space["LightestDisk"]
    monkeypatch.setattr("cluster_abm.policies.available", lambda: {policy.name: policy})
    assert create(PolicyChoice(name="lightest-disk")).summary
