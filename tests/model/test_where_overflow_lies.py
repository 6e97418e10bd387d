"""Pages that overflow a node's memory: which nodes hold them, and how long its faults take then, worked by hand.

A page of 4 KB takes 0.32 ms at 12.5 MB/s, and 0.2 ms for twice a latency of 0.1: 0.52 ms in all, against 8.1 ms for a
fault that the own disk serves.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from cluster_abm.clock import Clock
from cluster_abm.model.moving.remote_memory import RemoteMemory

MS = 1_000_000
FIELDS = ("user_memory_kb", "demand_kb", "transit_kb", "cache_kb", "by_oversize", "fault_ns")
OVERFLOWS = (1000, 1300, 0, 0, 0, 8.1 * MS)


def placed(rows, up=None, mb_per_s=12.5, latency_ms=0.1, now_ms=1000):
    """Place overflow at a time: the part of the model, and its calls of the engine. The period is 1 s, slices 10 ms."""
    nodes = np.array(rows, "i8,i8,i8,f8,i8,i8")
    nodes.dtype.names = FIELDS
    told = []
    engine = SimpleNamespace(nodes=nodes, shorten_faults=lambda *given: told.append([one.tolist() for one in given]))
    routes = np.full(len(rows), mb_per_s), np.full(len(rows), latency_ms)
    live = SimpleNamespace(network=SimpleNamespace(routes_from=lambda node: routes))
    availability = SimpleNamespace(up=np.ones(len(rows), bool) if up is None else np.array(up))
    clock = Clock(10 * MS)
    memory = RemoteMemory(
        engine=engine, clock=clock, live=live, availability=availability,
        settings=SimpleNamespace(page_kb=4, exchange_period_ms=1000.0), is_on=True,
    )  # fmt: skip
    clock.now_ns = now_ms * MS
    memory.act()
    return memory, told


def test_overflow_is_placed_on_nodes_that_are_up_and_have_free_memory():
    """Node 0 has an overflow of 300 KB. Node 1 has 600 KB, of which 400 are for tasks in transit and 150 for the buffer
    (149.2, rounded up): 50 are free. Node 2 has 300, of which 100 are for tasks in transit; its buffer takes none of
    them: 200 are free. Node 3 is empty, but down. So other nodes hold 250 of 300 KB: a fault on these pages is shorter
    by 8.1 - 0.52 ms, and a fault on average by 250/300 of that."""
    rows = [OVERFLOWS, (1000, 400, 400, 149.2, 1, 8.1 * MS), (1000, 700, 100, 99, 0, 8.1 * MS)]
    memory, told = placed([*rows, (5000, 0, 0, 0, 0, 8.1 * MS)], up=[True, True, True, False])
    (saved_ns, elsewhere) = told[0]
    assert saved_ns == [int(250 * 7.58 * MS / 300), 0, 0, 0]
    assert elsewhere == pytest.approx([250 / 300, 0, 0, 0])
    assert memory.held_by_others_mb(0).tolist() == [0, 0.05, 0.2, 0]
    assert memory.held_by_others_mb(1).tolist() == [0, 0, 0, 0]


def test_the_largest_overflow_is_placed_first_and_of_equal_ones_that_of_the_lower_node():
    """Nodes 0 and 1 overflow by 300 KB, node 2 by 400; node 3 has 800 free: 400, then 300, then the last 100."""
    rows = [OVERFLOWS, OVERFLOWS, (1000, 1400, 0, 0, 0, 8.1 * MS), (1000, 200, 0, 0, 0, 8.1 * MS)]
    memory, told = placed(rows)
    assert [memory.held_by_others_mb(node)[3] for node in range(3)] == [0.3, 0.1, 0.4]
    assert told[0][1] == pytest.approx([1, 1 / 3, 1, 0])


def test_a_fault_takes_a_nanosecond_at_least():
    """A network that takes no time would save all 8.1 ms of a fault; one nanosecond is left."""
    _, told = placed([OVERFLOWS, (1000, 0, 0, 0, 0, 8.1 * MS)], mb_per_s=np.inf, latency_ms=0.0)
    assert told == [[[8_099_999, 0], [1, 0]]]


@pytest.mark.parametrize(("now_ms", "acts", "due_ms"), [(990, 0, 1000), (1000, 1, 2000)])
def test_overflow_is_placed_anew_when_the_period_has_passed(now_ms, acts, due_ms):
    memory, told = placed([OVERFLOWS, (1000, 0, 0, 0, 0, 8.1 * MS)], now_ms=now_ms)
    assert (len(told), memory.due_ns) == (acts, due_ms * MS)


def test_a_node_from_which_a_page_takes_longer_than_from_the_own_disk_holds_none():
    """Twice 4 ms of latency and 0.32 ms are 8.32 ms, more than 8.1."""
    memory, told = placed([OVERFLOWS, (1000, 0, 0, 0, 0, 8.1 * MS)], latency_ms=4.0)
    assert told == [[[0, 0], [0, 0]]]
    assert memory.held_by_others_mb(0).tolist() == [0, 0]
