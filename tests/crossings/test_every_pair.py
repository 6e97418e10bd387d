"""Every two of the optional mechanisms meet in a test of this folder, or are known never to meet."""

from __future__ import annotations

import importlib
from itertools import combinations
from pathlib import Path

import pytest
from crossings.table import MECHANISMS, NEVER_TOGETHER, OF_NODES, covered, crosses

for path in sorted(Path(__file__).parent.glob("test_*.py")):
    if path.stem != __name__:
        importlib.import_module(path.stem)


@pytest.mark.parametrize("of_nodes_alone", [True, False])
def test_every_pair_meets_in_a_case_or_is_known_never_to_meet(of_nodes_alone):
    pairs = [both for both in combinations(MECHANISMS, 2) if set(both).issubset(OF_NODES) == of_nodes_alone]
    missing = [both for both in pairs if frozenset(both) not in covered() and frozenset(both) not in NEVER_TOGETHER]
    assert missing == []


def test_no_pair_both_meets_and_never_meets():
    assert covered().keys() & NEVER_TOGETHER.keys() == set()


def test_a_mechanism_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="teleport: no mechanism"):
        crosses("paging", "teleport")
