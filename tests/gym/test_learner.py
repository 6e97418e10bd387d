"""The small learner that ships as an example."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from cluster_abm.gym import OPPONENTS, read_scorer

# What they share is compiled for ten seconds.
pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parents[2] / "scenarios" / "learn_placement.py"


def test_it_learns_saves_and_judges(tmp_path):
    done = subprocess.run([sys.executable, SCRIPT, "--quick", "--out", tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "2 generations of 4, seed 1" in read_scorer(tmp_path / "learned.json").words
    judged = pd.read_csv(tmp_path / "learning.csv")
    assert set(judged["policy"]) == {"learned", *OPPONENTS}
    assert set(judged["refusals"]) == {True, False}
    own = judged[judged["policy"] != "learned"]
    # No interval of a mean slowdown or of a difference is left out.
    assert own.notna().all(axis=None)
    assert (own["difference_low"] <= own["learned_minus_it"]).all()
