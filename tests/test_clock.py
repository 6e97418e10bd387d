"""The clock of a simulation: slice boundaries before and after a time, in whole nanoseconds."""

from __future__ import annotations

import pytest

from cluster_abm.clock import Clock


@pytest.mark.parametrize(("time_ns", "not_after", "not_before"), [
    (0, 0, 0), (1, 0, 10), (9, 0, 10), (10, 10, 10), (11, 10, 20),
    # 2^62 + 1: as a float it would be a multiple of 1024 ns.
    (4_611_686_018_427_387_905, 4_611_686_018_427_387_900, 4_611_686_018_427_387_910),
])  # fmt: skip
def test_boundaries_around_a_time(time_ns, not_after, not_before):
    clock = Clock(10)
    assert clock.boundary_up_to(time_ns) == not_after
    assert clock.boundary_from(time_ns) == not_before


def test_a_clock_counts_slices():
    clock = Clock(10_000_000)
    assert (clock.now_ms, clock.slices, clock.next_boundary_ns) == (0.0, 0, 10_000_000)
    clock.now_ns = clock.next_boundary_ns
    clock.now_ns = clock.next_boundary_ns
    # Two slices of 10 ms.
    assert (clock.now_ms, clock.slices, clock.next_boundary_ns) == (20.0, 2, 30_000_000)
