"""low-load, worked by hand on four nodes (LMIP, Related work)."""

from __future__ import annotations

import pytest
from by_hand import LONG, STALE, Drawn, on
from four_nodes import Case, Job

FIRST = {"policy__choice": "first"}
STAYS = {"rules": ["low load"]}
CASES = [
    # The threshold is two tasks.
    Case("low-load", "home is below", on(1, 0, 0, 0), [Job(0)], [0], **STAYS),
    Case("low-load", "one node is below", on(2, 2, 1, 5), [Job(0)], [2], **STAYS),
    Case("low-load", "no node is below", on(2, 2, 2, 5), [Job(0)], [0], **STAYS),
    Case("low-load", "first after home, not the least", on(1, 2, 3, 1), [Job(2)], [3], given=FIRST),
    Case("low-load", "first, going round", on(1, 0, 3, 2), [Job(2)], [0], given=FIRST),
    Case("low-load", "another index and threshold", [Job(node, io_per_ms=0.2) for node in (0, 1, 3)], [Job(0)], [2],
         given={"policy__load_index": "io_load", "policy__threshold": 0.1}),
    # Reported are four empty nodes; 1 and 3 refuse by their true state, or the first is asked at once.
    Case("low-load", "refused", on(2, 2, 1, 2), [Job(0)], [1, 2], [(7, 0, 2)], given=STALE | FIRST),
    Drawn("low-load", [Job(0, LONG)] * 2 + [Job(1, LONG), Job(2, LONG)], [Job(0)], {1, 2, 3}),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_by_hand(case):
    case.check()
