"""The offered load of programs with profiles, and warnings about a load, by hand."""

from __future__ import annotations

import pytest
from support import scenario

from cluster_abm.workload import offered_load, work_of
from cluster_abm.workload.offered import OfferedLoad, in_words, warnings_of

PROFILES = """program,cpu_ms,memory_mb,accesses,pause_ms
p,1000,10,20,0
p,1000,30,10,500
q,4000,5,0,0
"""


@pytest.mark.parametrize("tasks", [1, 3])
def test_programs_count_phase_by_phase(tmp_path, tasks):
    """In 10 s a job of program q and a job of program p come, to two nodes of speed 2 with 640 MB each.

    CPU: 6 of 40 s. Disks: 30 accesses of 10 + 20 ms are 0.9 of 20 s. Memory of p: 10 and 30 MB for 500 ms of CPU each,
    20,000 MB ms; for 20 and 10 accesses of 30 ms, (200 + 300) x 30 = 15,000; 30 MB for a pause of 500 ms, 15,000.
    Memory of q: 5 MB for 2000 ms, 10,000. The sum is 60,000 of 10,000 x 1280 MB ms.
    """
    (tmp_path / "programs.csv").write_text(PROFILES)
    (tmp_path / "jobs.csv").write_text(
        f"arrival_ms,cpu_ms,home,name,request_kb,tasks\n0,1,1,q,400,{tasks}\n10000,1,0,p,400,{tasks}\n"
    )
    setup = scenario(
        workload={"kind": "trace", "trace": {"file": str(tmp_path / "jobs.csv")},
                  "programs": {"file": str(tmp_path / "programs.csv")}},
        cluster={"nodes": 2, "cpu_speed": 2.0, "buffer_mb": 0.0, "disk_seek_rotation_ms": 10.0, "disk_mb_per_s": 20.0},
    )  # fmt: skip
    load = offered_load(setup, work_of(setup, 1))
    assert load is not None
    assert load.cpu == pytest.approx(tasks * 6 / 40)
    assert load.disk == pytest.approx(tasks * 0.9 / 20)
    assert load.memory == pytest.approx(tasks * 6 / 1280)
    assert load.largest_task == pytest.approx(30 / 640)


GROWS, NO_ROOM = "the queue grows as long as jobs come", "tasks do not fit into the nodes' memory as long as jobs come"
CAPPED = {"cluster__page_fault_ratio_cap": 1.5}


@pytest.mark.parametrize(("cpu", "disk", "memory", "said"), [
    (0.95, 0.95, 0.95, None), (0.96, 0.5, 0.5, f"CPU 0.96: {GROWS}"), (0.5, 1.5, 0.5, f"disk 1.5: {GROWS}"),
    (0.5, 0.5, 0.96, f"memory at least 0.96: {NO_ROOM}"),
    (2.0, 0.5, 3.0, f"CPU 2, memory at least 3: {GROWS}"),
])  # fmt: skip
def test_a_load_that_is_high(tmp_path, cpu, disk, memory, said):
    load = OfferedLoad(cpu, disk, memory, 10.0, 0.5)
    for setup, until in (
        (scenario(**CAPPED), "workload.duration_s"),
        (scenario(**CAPPED, workload={"kind": "trace", "trace": {"file": "x.csv"}}), "the trace's length"),
    ):
        expected = [] if said is None else [f"offered load: {said}, results depend on {until}"]
        assert warnings_of(setup, load) == expected


@pytest.mark.parametrize(("memory", "largest", "keys", "warns"), [
    (0.5, 1.0, {}, False), (0.51, 0.1, {}, True), (0.1, 1.01, {}, True), (0.51, 1.01, CAPPED, False),
    (0.51, 1.01, {"cluster__page_fault_rate_per_ms": 0.0}, False),
    # Only the nodes of the group have page faults.
    (0.51, 1.01, {"cluster__page_fault_rate_per_ms": 0.0, "cluster__group": [
        {"count": 1, "page_fault_rate_per_ms": 0.1}]}, True),
    (0.51, 1.01, {"cluster__group": [{"count": 4, "page_fault_rate_per_ms": 0.0}]}, False),
])  # fmt: skip
def test_memory_that_overflows_under_the_literal_law(memory, largest, keys, warns):
    lines = warnings_of(scenario(**keys), OfferedLoad(0.5, 0.5, memory, 10.0, largest))
    assert len(lines) == warns
    assert all(f"memory at least {memory:g}, largest task {largest:.2g} of a node's" in line for line in lines)


def test_words_of_a_load_and_none_without_one():
    assert warnings_of(scenario(), None) == []
    assert in_words({"cpu": 0.5, "memory": 0.123}) == "CPU 0.5, memory at least 0.12"
