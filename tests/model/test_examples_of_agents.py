"""The examples of docs/how-to/agents.md run, and do what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "agents.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def carried_out(word):
    """The names that the example with that word in it leaves behind."""
    (block,) = [block for block in BLOCKS if word in block]
    names = {"__name__": "example"}
    exec(compile(block, f"docs/how-to/agents.md ({word})", "exec"), names)
    return names


@pytest.mark.slow
def test_the_model_is_stepped_and_read(capsys):
    model = carried_out("for _ in range(1000)")["model"]
    lines = capsys.readouterr().out.splitlines()
    assert len(lines[0].split(",")) == 4
    # The run has ended: its last measurement has no tasks.
    assert lines[-1].split()[-2:] == ["0.0", "0.0"]
    assert model.summary()["jobs"]["running"] == 0


@pytest.mark.slow
def test_a_node_with_a_step_of_its_own(capsys):
    model = carried_out("class ThrottledNode")["model"]
    assert len(model.node_agents) == 4
    assert all(0 <= node.busy_slices <= model.steps for node in model.node_agents)


@pytest.mark.slow
def test_the_autoscaler_drains_and_recovers_nodes(capsys):
    model = carried_out("class Autoscaler")["model"]
    assert min(model.in_service) < max(model.in_service) <= 8
    assert model.summary()["jobs"]["running"] == 0
    # No task starts on a draining node, and each that was there has finished.
    assert model.summary()["jobs"]["finished"] == model.summary()["jobs"]["submitted"]


def test_the_chaos_agent_fails_nodes_and_no_job_is_lost(capsys):
    model = carried_out("class Chaos")["model"]
    metrics, jobs = model.summary()["metrics"], model.summary()["jobs"]
    assert metrics["node_failures"] >= 2
    assert jobs["finished"] == jobs["submitted"]


# Solara's check of hooks warns of Mesa's own component.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_mesas_page_takes_the_components():
    pytest.importorskip("solara")
    assert "page" in carried_out("heat_map")
    assert "page" in carried_out("make_space_component")
