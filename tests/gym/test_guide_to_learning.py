"""docs/how-to/learning.md says nothing that does not work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cluster_abm.gym import FEATURES
from cluster_abm.policy.parts.scorer import read_scorer

# What they share is compiled for ten seconds.
pytestmark = pytest.mark.slow

GUIDE = (Path(__file__).parents[2] / "docs" / "how-to" / "learning.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)


# The second one plays held-out scenarios.
RUN = [pytest.param(block, marks=[pytest.mark.slow] * (number == 1)) for number, block in enumerate(BLOCKS)]


@pytest.mark.parametrize("block", RUN, ids=range(len(BLOCKS)))
def test_its_python_runs(block, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(block, {})
    printed = capsys.readouterr().out.split()
    if "rewards" in block:
        assert printed[0] == printed[1]
    if "save" in block:
        assert read_scorer("weights.json").words == "by hand"


def test_it_names_every_feature_in_its_order():
    assert re.findall(r"^\| `(\w+)` \|", GUIDE, re.MULTILINE)[: len(FEATURES)] == list(FEATURES)
