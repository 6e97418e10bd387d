"""Background programs in the units of the engine, nanoseconds and KB, by hand."""

from __future__ import annotations

import pytest
from support import scenario

from cluster_abm.workload.background import background_table


@pytest.mark.parametrize(("program", "period_ns", "burst_ns", "memory_kb"), [
    # A quarter of 8 ms; an MB is 1000 KB.
    ({"cpu_share": 0.25, "period_ms": 8.0, "memory_mb": 1.5}, 8_000_000, 2_000_000, 1500),
    # Bursts are rounded: 2.6 ns become 3 ns. The smallest burst is 1 ns.
    ({"cpu_share": 2.6e-6, "period_ms": 1.0, "memory_mb": 0.0014}, 1_000_000, 3, 1),
    ({"cpu_share": 1e-9, "period_ms": 1.0, "memory_mb": 0.0016}, 1_000_000, 1, 2),
])  # fmt: skip
def test_a_program_in_the_units_of_the_engine(program, period_ns, burst_ns, memory_kb):
    first = {"node": 3, "io_per_ms": 0.5, "request_kb": 64.0} | program
    second = {"node": 1, "cpu_share": 0.5, "period_ms": 10.0}
    table = background_table(scenario(workload__background=[first, second]))
    assert table["node"].tolist() == [3, 1]
    assert table["period_ns"].tolist() == [period_ns, 10_000_000]
    assert table["burst_ns"].tolist() == [burst_ns, 5_000_000]
    assert table["memory_kb"].tolist()[0] == memory_kb
    assert (table["io_per_ms"][0], table["request_kb"][0]) == (0.5, 64.0)
    assert len(background_table(scenario())) == 0
