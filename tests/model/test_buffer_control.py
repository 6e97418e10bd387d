"""Feedback control of the I/O buffer's size: periods worked by hand, and what it never changes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import busy, finished, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.scenario import scenario_from

ON = {"cluster__buffer_control__kind": "feedback"}
HEADER = "arrival_ms,home,cpu_ms,io_per_ms,memory_mb,tasks\n"
# All that makes a buffer grow and shrink, within some seconds.
MIXED = {
    "cluster__nodes": 3, "cluster__memory_mb": 60.0, "cluster__buffer_mb": 20.0, "cluster__page_fault_ratio_cap": 1.5,
    "workload__duration_s": 10.0, "workload__cpu_ms__mean": 150.0, "workload__memory_mb__kind": "exponential",
    "workload__memory_mb__mean": 20.0, "workload__io_per_ms__kind": "uniform", "workload__io_per_ms__mean": 0.06,
    "workload__reaccess_rate": 1.0, "policy__name": "none",
    "cluster__buffer_control__period_ms": 500.0,
}  # fmt: skip


def replayed(tmp_path, rows, **more):
    """Jobs of a trace at nodes with 100 MB, of which 20 MB are the buffer; looked at each second, gain 1/2."""
    (tmp_path / "jobs.csv").write_text(HEADER + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    given = {
        "cluster__nodes": 2, "cluster__context_switch_ms": 0.0, "cluster__memory_mb": 100.0,
        "cluster__buffer_mb": 20.0, "policy__name": "none", "workload__kind": "trace",
        "workload__trace__file": str(tmp_path / "jobs.csv"), **ON,
    }  # fmt: skip
    return ClusterModel(scenario(**given | more))


def sizes_kb(model):
    """Buffer and memory for programs of each node [KB]."""
    nodes = model.engine.nodes
    return list(zip(nodes["buffer_kb"].tolist(), nodes["user_memory_kb"].tolist(), strict=True))


def test_paging_alone_shrinks_it(tmp_path):
    """160 MB on 80 MB: a fault each ms of CPU, 9 ms at the disk: 90 % of the time. Half of that of 20 MB is 9 MB."""
    model = replayed(tmp_path, [(0, 0, 10_000, 0, 160, 1)], cluster__fault_service_ms=9.0)
    model.run(until_ms=990)
    assert sizes_kb(model) == [(20_000, 80_000)] * 2
    model.run(until_ms=1000)
    assert model.engine.nodes["faults"].tolist() == [100, 0]
    assert sizes_kb(model) == [(11_000, 89_000), (20_000, 80_000)]
    # The idle node's stays; the other one gives more of what is left, and less than before.
    model.run(until_ms=2000)
    assert sizes_kb(model)[1] == (20_000, 80_000)
    assert 11_000 * 0.5 < sizes_kb(model)[0][0] < 11_000 * 0.6


def test_what_the_disk_did_for_page_faults_lets_no_buffer_grow(tmp_path):
    """The task of 160 MB ends after 50 ms of CPU, with 49 faults: half of 44.1 % of 20 MB are given."""
    model = replayed(tmp_path, [(0, 0, 50, 0, 160, 1)], cluster__fault_service_ms=9.0, run__until=2000.0)
    model.run(until_ms=1000)
    assert sizes_kb(model)[0] == (15_590, 84_410)


def test_faults_that_wait_count_up_to_the_whole_period(tmp_path):
    """Four tasks: 111 faults of 9 ms have been served, others wait. More than half is given at no time."""
    model = replayed(tmp_path, [(0, 0, 10_000, 0, 160, 4)], cluster__fault_service_ms=9.0)
    model.run(until_ms=1000)
    assert model.engine.nodes["faults"][0] * 9 > 1000
    assert sizes_kb(model)[0] == (10_000, 90_000)


def test_a_kb_is_left_to_programs(tmp_path):
    """A task without memory, and one access of 25 s: with gain 1 the buffer takes all that is free but for this."""
    model = replayed(
        tmp_path, [(0, 0, 10_000, 1, 0, 1)], cluster__buffer_control__gain=1.0, workload__request_kb__mean=1e6,
        workload__request_kb__kind="fixed",
    )  # fmt: skip
    model.run(until_ms=4000)
    assert sizes_kb(model)[0] == (99_999, 1)


def grown(tmp_path, **more):
    """A task of 30 MB that makes an access each 4 ms of its CPU, which takes 5 ms and 1 ms for 40 KB."""
    (tmp_path / "programs.csv").write_text("program,cpu_ms,memory_mb,accesses,turnover_mb_per_s\na,4000,30,1000,0\n")
    (tmp_path / "jobs.csv").write_text("arrival_ms,home,cpu_ms,io_per_ms,memory_mb,name\n0,0,1,0,1,a\n")
    given = {
        "cluster__nodes": 2, "cluster__context_switch_ms": 0.0, "cluster__memory_mb": 100.0,
        "cluster__buffer_mb": 20.0, "cluster__disk_seek_rotation_ms": 5.0, "policy__name": "none",
        "workload__kind": "trace", "workload__trace__file": str(tmp_path / "jobs.csv"),
        "workload__programs__file": str(tmp_path / "programs.csv"), "workload__request_kb__mean": 40.0,
        "workload__request_kb__kind": "fixed", **ON,
    }  # fmt: skip
    return ClusterModel(scenario(**given | more))


def test_misses_alone_let_it_grow_into_free_memory(tmp_path):
    """The disk is busy 6 of each 10 ms, and 50 MB are free: half of 60 % of it is 15 MB; then of 35 MB, 10.5 MB."""
    model = grown(tmp_path)
    model.run(until_ms=1000)
    assert sizes_kb(model) == [(35_000, 65_000), (20_000, 80_000)]
    model.run(until_ms=2000)
    assert sizes_kb(model) == [(45_500, 54_500), (20_000, 80_000)]


@pytest.mark.parametrize(("period_ms", "gain", "buffer_kb"), [(500.0, 0.5, 35_000), (1000.0, 0.1, 23_000)])
def test_period_and_gain(period_ms, gain, buffer_kb, tmp_path):
    model = grown(tmp_path, cluster__buffer_control__period_ms=period_ms, cluster__buffer_control__gain=gain)
    model.run(until_ms=period_ms - 10)
    assert sizes_kb(model)[0] == (20_000, 80_000)
    model.run(until_ms=period_ms)
    assert sizes_kb(model)[0] == (buffer_kb, 100_000 - buffer_kb)


def test_what_is_on_its_way_to_the_node_is_not_free(tmp_path):
    """A further 40 MB are in transit from the first ms to the end of the period: 10 MB are free, of which 3 taken."""
    model = grown(tmp_path)
    model.run(until_ms=990)
    model.engine.nodes["transit_kb"][0] += 40_000
    model.run(until_ms=1000)
    assert sizes_kb(model)[0] == (23_000, 77_000)


def test_an_idle_cluster_keeps_its_buffers(tmp_path):
    model = replayed(tmp_path, [(0, 0, 5000, 0, 30, 1)])
    model.run()
    assert sizes_kb(model) == [(20_000, 80_000)] * 2


def test_it_gives_whole_kb_and_no_more_than_it_has(tmp_path):
    """Two tasks that page keep the disk busy all the time; with gain 1 all of the 20 000.7 KB are given."""
    model = replayed(
        tmp_path, [(0, 0, 10_000, 0, 160, 2)], cluster__buffer_mb=20.0007, cluster__buffer_control__gain=1.0
    )
    model.run(until_ms=1000)
    buffer_kb, user_kb = sizes_kb(model)[0]
    assert buffer_kb == pytest.approx(0.7)
    assert user_kb == 80_000 - 1 + 20_000
    model.run(until_ms=3000)
    assert sizes_kb(model)[0] == (buffer_kb, user_kb)


def small(nodes=2, utilisation=0.8, io=0.05, memory_mb=20.0, buffer_mb=10.0, gain=0.5, period_ms=300.0, swap=None):
    given = MIXED | ON | {
        "cluster__nodes": nodes, "workload__utilisation": utilisation, "workload__io_per_ms__mean": io,
        "workload__memory_mb__mean": memory_mb, "cluster__buffer_mb": buffer_mb, "workload__duration_s": 3.0,
        "cluster__buffer_control__gain": gain, "cluster__buffer_control__period_ms": period_ms,
        "run__until": 5000.0, "cluster__context_switch_ms": 0.0,
    }  # fmt: skip
    return given if swap is None else given | {"cluster__swap_mb": swap}


@pytest.mark.slow
@settings(max_examples=15)
@given(
    seed=st.integers(0, 999), nodes=st.integers(1, 4), utilisation=st.sampled_from([0.1, 0.6, 1.5]),
    io=st.sampled_from([0.0, 0.02, 0.3]), memory_mb=st.sampled_from([1.0, 15.0, 60.0]),
    buffer_mb=st.sampled_from([0.0, 0.0123456, 7.7777, 59.99]), gain=st.sampled_from([0.001, 0.5, 1.0]),
    period_ms=st.sampled_from([10.0, 155.0, 1000.0]), swap=st.sampled_from([None, 30.0]),
)  # fmt: skip
def test_buffer_and_memory_for_programs_stay_what_they_are_together(seed, **kind):
    """And neither is ever below 0; the buffer takes nothing that programs have, and the end of swap stays where it was,
    for the buffer gives back what it took; `run` and `step` give the same."""
    overrides = small(**kind)
    stepped, ran = (ClusterModel(scenario(**overrides), seed=seed) for _ in range(2))
    nodes = stepped.engine.nodes
    both_kb = nodes["buffer_kb"] + nodes["user_memory_kb"]
    limit_kb = nodes["limit_kb"].copy()
    is_limited = kind["swap"] is not None
    while stepped.running:
        before_kb = nodes["buffer_kb"].copy()
        stepped.step()
        assert nodes["buffer_kb"] + nodes["user_memory_kb"] == pytest.approx(both_kb)
        assert (nodes["buffer_kb"] >= 0).all()
        assert (nodes["user_memory_kb"] >= 1).all()
        grew = nodes["buffer_kb"] > before_kb
        assert (nodes["demand_kb"] <= nodes["user_memory_kb"])[grew].all()
        if is_limited:
            assert (nodes["limit_kb"] == limit_kb).all()
    ran.run()
    assert same_records(ran, stepped)
    assert sizes_kb(ran) == sizes_kb(stepped)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["none", "jsq", "wal-pm", "iolb", "working-set"])
def test_run_and_step_leave_the_same_bytes(policy):
    settings = busy(
        policy__name=policy, cluster__buffer_in_memory=True, cluster__buffer_mb=10.0, workload__duration_s=6.0,
        cluster__buffer_control__period_ms=470.0, **ON,
    )  # fmt: skip
    ran = finished(5, **settings)
    stepped = ClusterModel(scenario(**settings), seed=5)
    while stepped.running:
        stepped.step()
    assert len(set(sizes_kb(ran))) > 1
    assert sizes_kb(ran) == sizes_kb(stepped)
    assert same_records(ran, stepped)
    assert ran.decisions_frame().equals(stepped.decisions_frame())
    assert ran.nodes_frame().equals(stepped.nodes_frame())


@pytest.mark.parametrize("more", [
    {}, {"workload__tasks__parallel_share": 0.4, "workload__tasks__maximum": 4, "workload__tasks__barrier_ms": 30.0},
    {"workload__memory_mb__mean": 50.0},
])  # fmt: skip
def test_what_a_task_takes_alone_is_the_same(more):
    fixed, controlled = (finished(2, **MIXED | more | kind) for kind in ({}, ON))
    assert sizes_kb(fixed) != sizes_kb(controlled)
    assert not same_records(fixed, controlled)
    one, other = (model.engine.records for model in (fixed, controlled))
    one, other = (records[records["task"].argsort()] for records in (one, other))
    names = [name for name in one.dtype.names if name.startswith("isolated_")]
    assert len(names) == 4
    assert one["isolated_paging_ns"].any()
    for name in names:
        assert one[name].tolist() == other[name].tolist(), name


def test_hits_follow_the_buffer(tmp_path):
    """A buffer that grows serves more accesses: of the same tasks fewer reach the disk."""
    settings = MIXED | {"workload__memory_mb__mean": 2.0, "cluster__buffer_mb": 1.0, "workload__cpu_ms__mean": 400.0}
    fixed, controlled = (finished(2, **settings | kind) for kind in ({}, ON))
    hits = [int(model.engine.nodes["hits"].sum()) for model in (fixed, controlled)]
    made = [int((model.engine.nodes["hits"] + model.engine.nodes["requests"]).sum()) for model in (fixed, controlled)]
    assert made[0] == made[1] > 500
    assert hits[1] > 1.2 * hits[0]


@pytest.mark.slow
@pytest.mark.parametrize("compiles", [True, False])
def test_load_managers_go_by_buffers_as_they_were_set_up(compiles):
    """What a controller does on a node shows in the node's reports alone: its free memory, and its page faults."""
    settings = MIXED | ON | {"policy__name": "wal-pm", "workload__duration_s": 5.0}
    model = ClusterModel(scenario(**settings), seed=1, compile_decisions=compiles)
    at_first = [(one.buffer_mb, one.user_memory_mb) for one in model.view_of(model.load_managers[0]).hardware]
    sizes = set()
    while model.running:
        model.step()
        for manager in model.load_managers[:2]:
            hardware = model.view_of(manager).hardware
            assert [(one.buffer_mb, one.user_memory_mb) for one in hardware] == at_first
        sizes.add(tuple(sizes_kb(model)))
    assert len(sizes) > 5


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["wal-pm", "iolb", "jsq"])
@pytest.mark.parametrize("heterogeneous", [False, True])
def test_compiled_decisions_are_those_in_python(policy, heterogeneous):
    setup = scenario(**MIXED | ON | {"policy__name": policy, "policy__heterogeneous": heterogeneous})
    compiled, plain = (ClusterModel(setup, seed=3, compile_decisions=compiles) for compiles in (True, False))
    for model in (compiled, plain):
        model.run()
    assert compiled.decides_in_python == ""
    assert len(plain.decisions_frame()) > 50
    assert same_records(compiled, plain)
    assert compiled.decisions_frame().equals(plain.decisions_frame())


def everything(model):
    return json.dumps(model.summary()), model.nodes_frame().to_csv(), model.jobs_frame().to_csv(), sizes_kb(model)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["none", "wal-pm"])
def test_a_fixed_buffer_is_that_without_the_section(policy):
    settings = MIXED | {"policy__name": policy}
    plain = {key: value for key, value in settings.items() if "buffer_control" not in key}
    without, fixed = finished(4, **plain), finished(4, **settings, cluster__buffer_control__kind="fixed")
    assert same_records(without, fixed)
    assert everything(without) == everything(fixed)
    assert everything(without) != everything(finished(4, **settings | ON))


def test_of_a_pool_nothing_changes():
    fixed, controlled = (finished(4, **MIXED | {"policy__name": "pooled"} | kind) for kind in ({}, ON))
    assert same_records(fixed, controlled)
    assert everything(fixed) == everything(controlled)


FEEDBACK = {"kind": "feedback", "gain": 1.0, "period_ms": 1.0}


@pytest.mark.parametrize(("cluster", "words"), [
    ({"paging": "oversize"}, r'cluster\.buffer_control\.kind "feedback": needs .*paging = "oversize"'),
    ({"buffer_in_memory": False}, r'cluster\.buffer_control\.kind "feedback": needs .*buffer_in_memory = false'),
    ({"buffer_control": FEEDBACK | {"gain": 0.0}}, r"cluster\.buffer_control\.gain"),
    ({"buffer_control": FEEDBACK | {"gain": 1.01}}, r"cluster\.buffer_control\.gain"),
    ({"buffer_control": FEEDBACK | {"gain": -0.5}}, r"cluster\.buffer_control\.gain"),
    ({"buffer_control": FEEDBACK | {"period_ms": 0.0}}, r"cluster\.buffer_control\.period_ms"),
    ({"buffer_control": FEEDBACK | {"kind": "adaptive"}}, r"cluster\.buffer_control\.kind"),
])  # fmt: skip
def test_bad_settings(cluster, words):
    given = {"cluster": {"buffer_control": FEEDBACK}, "workload": {"utilisation": 0.5}}
    scenario_from(given)
    with pytest.raises(InputError, match=words):
        scenario_from(given | {"cluster": {"buffer_control": FEEDBACK} | cluster})
