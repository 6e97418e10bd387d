"""Bandwidths as the last request and the last transfer left them: waits worked by hand, and what moving costs then."""

from __future__ import annotations

import json

import pytest
from support import busy, finished, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.policies import ArrivingTask, Decision

MEASURED = {"negotiation__bandwidths": "measured"}
HEADER = "arrival_ms,home,cpu_ms,io_per_ms,memory_mb,tasks,initial_data_mb,name\n"
CONTENDED = {"interconnect__mode": "contended", "interconnect__kind": "star", "interconnect__bandwidth_mbps": 80.0}


def replayed(tmp_path, jobs, to=(0, 1), **more):
    """Jobs (arrival_ms, home, initial_data_mb, program), of which those with data start on node `to[home]`.

    Program `calm` computes 50 ms, without an access. Program `eager` makes an access each 3 ms of its CPU: 5 ms, and
    1 ms for its 40 KB.
    """
    (tmp_path / "programs.csv").write_text(
        "program,cpu_ms,memory_mb,accesses,turnover_mb_per_s\neager,3000,8,1000,0\ncalm,50,8,0,0\n"
    )
    rows = [f"{arrival},{home},1,0,1,1,{data},{name}" for arrival, home, data, name in jobs]
    (tmp_path / "jobs.csv").write_text(HEADER + "\n".join(rows) + "\n")
    settings = {
        "cluster__nodes": len(to), "cluster__context_switch_ms": 0.0, "cluster__memory_mb": 10_000.0,
        "cluster__disk_seek_rotation_ms": 5.0, "workload__kind": "trace",
        "workload__trace__file": str(tmp_path / "jobs.csv"),
        "workload__programs__file": str(tmp_path / "programs.csv"), "workload__request_kb__mean": 40.0,
        "workload__request_kb__kind": "fixed", "workload__write_share": 0.0, "policy__name": "jsq",
        "negotiation__mode": "papers", **MEASURED,
    }  # fmt: skip
    model = ClusterModel(scenario(**(settings | more)), seed=1)
    model.policy.place = lambda arriving, view: Decision(
        to[view.me] if arriving.initial_data_mb > 0 else view.me, "test"
    )
    return model


def delays(model, index="disk_delay_share"):
    return model.engine.nodes[index].tolist()


def task_with(data_mb):
    return ArrivingTask(99, 99, 0, 50.0, 0.0, 40.0, 8.0, data_mb)


def view_of(model, node):
    """What a node's load manager sees now."""
    model.parts.views.look()
    return model.view_of(model.load_managers[node])


def costs(model, data_mb, source=0, target=1):
    """What starting a task with so much data elsewhere costs, by the source's view [ms]."""
    return view_of(model, source).cost_ms(task_with(data_mb), target)


def test_an_access_that_waits_for_another_one(tmp_path):
    """The first task asks after half of its 3 ms, at 1.5 ms, and is served until 7.5; the second one asks at 3 and is
    served until 13.5: it has waited 4.5 ms for a service of 6. The first asks again at 10.5 and waits 3 ms."""
    model = replayed(tmp_path, [(0, 0, 0, "eager"), (0, 0, 0, "eager")], cluster__slice_ms=1.0)
    found = {}
    while model.now_ms < 20:
        model.step()
        found[model.now_ms] = delays(model)
    assert found[8] == found[13] == [0.0, 0.0]
    assert found[14] == found[19] == [0.75, 0.0]
    assert found[20] == [0.5, 0.0]


def test_an_access_without_company_leaves_no_delay(tmp_path):
    model = replayed(tmp_path, [(0, 0, 0, "eager")])
    model.run()
    assert int(model.engine.nodes["requests"].sum()) > 900
    assert delays(model) == [0.0, 0.0]


@pytest.mark.parametrize(("tasks", "seek_ms", "delay"), [(1, 5.0, 0.0), (2, 5.0, 0.5), (3, 5.0, 1.5), (4, 5.0, 2.5)])
def test_each_waits_for_all_others(tasks, seek_ms, delay, tmp_path):
    """Of n tasks, 6 ms at the disk and 3 at the CPU, each waits for n - 1 others, less what it computes meanwhile."""
    jobs = [(0, 0, 0, "eager")] * tasks
    model = replayed(tmp_path, jobs, cluster__disk_seek_rotation_ms=seek_ms)
    model.run(until_ms=2000)
    assert delays(model)[0] == delay


def test_costs_with_a_busy_disk(tmp_path):
    """10 MB: e, 78.125 ms at 128 MB/s, 250 ms at each disk of 40 MB/s; of the busy one 2/3 of that are left."""
    jobs = [(0, 0, 0, "eager"), (0, 0, 0, "eager")]
    nominal, model = (replayed(tmp_path, jobs, negotiation__bandwidths=one) for one in ("nominal", "measured"))
    for one in (nominal, model):
        assert costs(one, 10.0) == 100 + 78.125 + 250 + 250
        one.run(until_ms=1000)
    assert delays(nominal) == [0.0, 0.0]
    assert costs(nominal, 10.0) == 100 + 78.125 + 250 + 250
    assert costs(model, 10.0) == 100 + 78.125 + 375 + 250
    assert costs(model, 10.0, source=1, target=0) == 100 + 78.125 + 250 + 375
    view = view_of(model, 0)
    assert [view.disk_mb_per_s(node) for node in (0, 1)] == pytest.approx([40 / 1.5, 40])
    assert [one.disk_mb_per_s for one in view.hardware] == [40.0, 40.0]


@pytest.mark.parametrize("mode", ["papers", "negotiated"])
@pytest.mark.parametrize(("bandwidths", "travels_ms"), [("measured", 803.125), ("nominal", 678.125)])
def test_a_transit_takes_what_it_costs_then(mode, bandwidths, travels_ms, tmp_path):
    """In mode `delay`; however old the report is that its manager knows."""
    jobs = [(0, 1, 0, "eager"), (0, 1, 0, "eager"), (1000, 0, 10, "calm")]
    model = replayed(
        tmp_path, jobs, to=(1, 1), negotiation__mode=mode, negotiation__bandwidths=bandwidths,
        negotiation__refusals=False, cluster__exchange_period_ms=100_000.0,
    )  # fmt: skip
    model.run()
    assert model.jobs_frame().set_index("task")["migration_ms"][2] == travels_ms


def test_a_manager_knows_its_own_disk_now_and_anothers_as_reported(tmp_path):
    jobs = [(0, home, 0, "eager") for home in (0, 0, 1, 1)]
    model = replayed(tmp_path, jobs, negotiation__mode="negotiated", cluster__exchange_period_ms=2000.0)
    model.run(until_ms=1000)
    assert delays(model) == [0.5, 0.5]
    view = view_of(model, 0)
    assert [view.disk_mb_per_s(node) for node in (0, 1)] == pytest.approx([40 / 1.5, 40])
    model.run(until_ms=2000)
    view = view_of(model, 0)
    assert [view.disk_mb_per_s(node) for node in (0, 1)] == pytest.approx([40 / 1.5, 40 / 1.5])


def test_only_accesses_tell_of_the_disk(tmp_path):
    """Tasks that only page wait for each other at the disk, as does what is read to be sent: nothing is measured."""
    model = finished(
        cluster__nodes=1, cluster__memory_mb=20.0, cluster__buffer_mb=10.0, workload__memory_mb__mean=20.0,
        workload__utilisation=0.5, cluster__page_fault_ratio_cap=1.1, workload__duration_s=5.0, **MEASURED,
        workload__cpu_ms__mean=100.0,
    )  # fmt: skip
    assert model.jobs_frame()["paging_ms"].sum() > 100
    assert delays(model) == [0.0]
    model = replayed(tmp_path, [(0, 0, 10, "calm"), (0, 0, 10, "calm")], to=(1, 1), **CONTENDED)
    model.run()
    assert model.busy_ns()[1].tolist() == [500_000_000] * 2
    assert delays(model) == [0.0, 0.0]


# Read at 40 MB/s in 250 ms, then e = 100 ms, then 1000 ms at 10 MB/s.
@pytest.mark.parametrize(("second_ms", "expected"), [
    # Both share node 0's link all the time.
    (0, [0.0, 1.0, 1.0]),
    # The first has half of its 10 MB left when the second begins; the second half left when the first is there.
    (500, [0.0, 0.5, 0.5]),
    # One after the other.
    (1000, [0.0, 0.0, 0.0]),
])  # fmt: skip
@pytest.mark.parametrize("latency_ms", [0.0, 4.0])
def test_transfers_that_share_a_link(second_ms, expected, latency_ms, tmp_path):
    jobs = [(0, 1, 10, "calm"), (second_ms, 2, 10, "calm")]
    model = replayed(tmp_path, jobs, to=(0, 0, 0), interconnect__latency_ms=latency_ms, **CONTENDED)
    model.run()
    assert delays(model, "net_delay_share") == pytest.approx(expected)
    view = view_of(model, 1)
    assert view.network_mb_per_s(2) == pytest.approx(10 / (1 + expected[1]))
    assert view.mb_per_s(2) == 10.0
    # The source's: 1000 ms at 10 MB/s take longer by as much.
    assert costs(model, 10.0, 1, 2) == pytest.approx(100 + 2 * latency_ms + 1000 * (1 + expected[1]) + 500)
    assert costs(model, 10.0, 0, 2) == pytest.approx(100 + 2 * latency_ms + 1000 + 500)


def test_with_nominal_bandwidths_nothing_is_measured(tmp_path):
    jobs = [(0, 1, 10, "calm"), (0, 2, 10, "calm"), (0, 0, 0, "eager"), (0, 0, 0, "eager")]
    for more in (CONTENDED, {}):
        model = replayed(tmp_path, jobs, to=(0, 0, 0), negotiation__bandwidths="nominal", **more)
        model.run()
        assert delays(model) == delays(model, "net_delay_share") == [0.0] * 3
        assert model.true_loads(1)["net_delay_share"] == model.true_loads(0)["disk_delay_share"] == 0.0


def test_a_transfer_that_is_given_up_tells_nothing(tmp_path):
    """Two share the link and would take 2 s each, one of which they take alone; after 1.45 s their target fails."""
    model = replayed(
        tmp_path, [(0, 1, 10, "calm"), (0, 2, 10, "calm")], to=(0, 0, 0), **CONTENDED,
        failures__event=[{"node": 0, "at_s": 1.8, "for_s": 0.1}], run__until=1850.0,
    )  # fmt: skip
    model.run()
    assert delays(model, "net_delay_share") == [0.0] * 3


ALL = busy(workload__initial_data_mb__mean=0.5, workload__duration_s=5.0, workload__utilisation=0.8)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["delay", "contended"])
@pytest.mark.parametrize("policy", ["jsq", "wal-pm", "working-set"])
def test_run_and_step_leave_the_same_bytes(policy, mode):
    network = {"interconnect__kind": "star", "interconnect__bandwidth_mbps": 50.0, "interconnect__mode": mode}
    settings = ALL | network | MEASURED | {"policy__name": policy}
    ran = finished(5, **settings)
    stepped = ClusterModel(scenario(**settings), seed=5)
    waited, shared = False, False
    while stepped.running:
        stepped.step()
        waited, shared = waited or any(delays(stepped)), shared or any(delays(stepped, "net_delay_share"))
    assert waited
    assert shared == (mode == "contended")
    assert delays(ran) == delays(stepped)
    assert delays(ran, "net_delay_share") == delays(stepped, "net_delay_share")
    assert same_records(ran, stepped)
    assert ran.summary() == stepped.summary()
    assert ran.decisions_frame().equals(stepped.decisions_frame())
    # By nominal bandwidths the run is another one, but where transfers take as long as they do, whatever they cost.
    nominal = finished(5, **settings | {"negotiation__bandwidths": "nominal"})
    assert same_records(ran, nominal) == (mode == "contended" and policy != "wal-pm")


def test_decisions_that_read_them_are_taken_in_python():
    model = ClusterModel(scenario(**ALL, **MEASURED))
    assert model.decides_in_python == "bandwidths are measured: what moving costs changes while tasks run"


@pytest.mark.parametrize("policy", ["none", "pooled"])
def test_where_nothing_moves_nothing_depends_on_them(policy):
    nominal, measured = (
        finished(5, **ALL | {"policy__name": policy, "negotiation__bandwidths": one}) for one in ("nominal", "measured")
    )
    assert same_records(nominal, measured)
    assert json.dumps(nominal.summary()) == json.dumps(measured.summary())


def test_a_request_that_takes_no_time_leaves_no_nonsense():
    """A task that was sent on with a request to make again, to a disk that serves it in less than a nanosecond."""
    fast = {"cluster__group": [{"count": 2, "disk_seek_rotation_ms": 0.0, "disk_mb_per_s": 1e9}]}
    model = finished(
        5, **ALL | MEASURED | fast | {"policy__name": "wal-pm", "workload__request_kb": {"kind": "fixed", "mean": 1e-4}}
    )
    assert all(delay >= 0.0 for delay in delays(model))
