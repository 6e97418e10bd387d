"""The README is short, and its Python says nothing that does not work (its commands: tests/docs/test_examples.py)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cluster_abm

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
POLICY, RUN = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.slow
def test_the_policy_example_is_a_policy():
    space = {}
    exec(POLICY, space)
    model = cluster_abm.ClusterModel("quickstart", policy=space["LightestDisk"], workload__duration_s=10.0)
    model.run()
    assert model.policy_name == "lightest-disk"
    # Tasks go to other nodes, by the rule that the example names.
    assert model.summary()["metrics"]["remote_executions"] > 0
    assert set(model.decisions_frame()["rule"]) == {"least I/O"}


@pytest.mark.slow
def test_the_run_example_runs(capsys):
    exec(RUN, {})
    slowdown, columns = capsys.readouterr().out.splitlines()[:2]
    assert float(slowdown) >= 1.0
    assert "job" in columns


def test_it_is_a_screen_and_a_half():
    assert len(README.splitlines()) <= 110


def test_every_link_leads_to_a_file():
    links = re.findall(r"\]\((?!http)([^)#]+)", README)
    assert len(links) > 20
    assert [link for link in links if not (ROOT / link).exists()] == []
