"""A task alone on its node, which pages, takes its isolated time: its slowdown is 1."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support import scenario

from cluster_abm import ClusterModel

ALONE = {
    "cluster__nodes": 1, "workload__kind": "trace", "cluster__memory_mb": 32.0, "cluster__buffer_in_memory": False,
    "cluster__context_switch_ms": 0.0,
}  # fmt: skip


def alone(tmp_path, row, **more):
    """The record of one task that asks for twice the memory of its node."""
    path = tmp_path / "one.csv"
    path.write_text(f"arrival_ms,home,cpu_ms,io_per_ms,memory_mb\n{row}\n")
    model = ClusterModel(scenario(workload__trace__file=str(path), **ALONE, **more), seed=1)
    model.run()
    (record,) = model.engine.records[: model.engine.finished]
    return record, float(model.jobs_frame()["slowdown"].iloc[0])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("alone")


# At .01 faults per ms and twice the memory there are .02: the 20th comes exactly as 1,000 ms end.
@pytest.mark.slow
@settings(max_examples=60)
@given(
    cpu_ms=st.one_of(st.integers(1, 3000), st.floats(0.5, 3000.0)), rate=st.sampled_from([0.001, 0.01, 0.02, 0.037]),
    speed=st.sampled_from([0.5, 1.0, 3.0]), io_per_ms=st.sampled_from([0.0, 0.01]),
)  # fmt: skip
@example(cpu_ms=1000, rate=0.01, speed=1.0, io_per_ms=0.0)
@example(cpu_ms=100, rate=0.01, speed=1.0, io_per_ms=0.01)
@example(cpu_ms=50, rate=0.02, speed=0.5, io_per_ms=0.0)
def test_a_lone_task_that_pages_is_not_faster_than_alone(folder, cpu_ms, rate, speed, io_per_ms):
    record, slowdown = alone(
        folder, f"0,0,{cpu_ms},{io_per_ms},64", cluster__page_fault_rate_per_ms=rate, cluster__cpu_speed=speed
    )
    assert record["paging_ns"] == record["isolated_paging_ns"]
    assert slowdown == pytest.approx(1.0, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("cpu_ms", [50, 100, 333, 1000])
def test_likewise_where_faults_come_by_oversize(folder, cpu_ms):
    record, slowdown = alone(
        folder, f"0,0,{cpu_ms},0,64", cluster__page_fault_rate_per_ms=0.01, cluster__paging="oversize"
    )
    assert record["paging_ns"] == record["isolated_paging_ns"]
    assert slowdown == pytest.approx(1.0, abs=1e-9)


@pytest.mark.slow
def test_what_is_left_of_a_fault_goes_along_into_the_next_phase_of_a_program(folder):
    """Phases of 30 ms at .02 faults per ms: .6 of a fault each, so that the second and the fourth phase have one."""
    (folder / "programs.csv").write_text("program,cpu_ms,memory_mb,accesses\n" + "p,30,64,0\n" * 4)
    path = folder / "one.csv"
    path.write_text("arrival_ms,home,cpu_ms,io_per_ms,memory_mb,name\n0,0,120,0,64,p\n")
    model = ClusterModel(
        scenario(
            workload__trace__file=str(path), workload__programs__file=str(folder / "programs.csv"),
            cluster__page_fault_rate_per_ms=0.01, cluster__fault_service_ms=10.0, **ALONE,
        ), seed=1,
    )  # fmt: skip
    model.run()
    (record,) = model.engine.records[: model.engine.finished]
    assert record["paging_ns"] == record["isolated_paging_ns"] == 2 * 10_000_000
