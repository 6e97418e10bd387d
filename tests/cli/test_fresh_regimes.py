"""`arena --verify`: what the report claims, on fresh regimes, in a folder that keeps the runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cluster_abm.study.arena.arena import ArenaSize


@pytest.mark.slow
def test_fresh_regimes_are_run_once_and_the_arena_is_taken_as_it_is(cli, monkeypatch):
    """--verify on a folder of an arena runs the fresh regimes alone: six, two seeds, three policies, and two regimes of
    two seeds in three variants without the pooled reference. Called again it runs nothing, and prints the same."""
    monkeypatch.setattr("cluster_abm.study.arena.arena.QUICK", ArenaSize(6, 2, 4, 60, 2))
    words = ["arena", "--quick", "--policies", "random", "--executor", "inline", "--out", "o"]
    runs = 6 * 2 * 3 + 2 * 2 * 3 * 2
    code, _, err = cli(*words)
    assert (code, f"{runs} runs in" in err, Path("o", "verify.md").exists()) == (0, True, False)
    code, out, err = cli(*words, "--verify")
    assert (code, f"{runs} runs in" in err) == (0, True)
    assert "fresh regimes (hypercube of seed 2027)" in out
    told = json.loads(Path("o", "verify.json").read_text())
    assert f"{sum(claim['kind'] == 'rank' for claim in told['claims'])} ranks" in Path("o", "verify.md").read_text()
    code, again, err = cli(*words, "--verify", "--json")
    assert (code, "0 runs in" in err) == (0, True)
    assert json.loads(again)["verify"] == told
