"""The load of a node's link: what is on its way from and to it, as time of the link; found anew at every slice."""

from __future__ import annotations

import numpy as np
import pytest
from support import busy, scenario

from cluster_abm import ClusterModel
from cluster_abm.engine.tables import FREE

# 20 Mbps are 2.5 MB/s: a MB takes 400 ms.
MB_MS = 400.0
NARROW = {
    "policy__name": "iolb-net", "interconnect__kind": "star", "interconnect__mode": "contended",
    "interconnect__bandwidth_mbps": 20.0, "workload__initial_data_mb__mean": 0.5, "workload__duration_s": 6.0,
}  # fmt: skip
FAILING_NODES = [{"node": one % 4, "at_s": 0.7 * one + 1.0, "for_s": 0.5} for one in range(12)]
FAILING_LINKS = [{"link": (one % 4, "switch"), "at_s": 0.7 * one + 1.0, "for_s": 0.5} for one in range(12)]


def in_progress(model):
    """Source, target and MB of each transfer in progress or about to begin, of those that share links now."""
    transfers = model.parts.transfers
    assert set(transfers._present) == set(transfers._flows.in_transit)
    return [(leg.source, leg.target, leg.mb) for leg, _ in transfers._present.values()]


def by_the_rows(model):
    """The same by the tasks' rows: a task that starts elsewhere takes its initial data from its home."""
    engine = model.engine
    found = []
    for row in engine.tasks[engine.tasks["state"] != FREE]:
        if row["task"] in model.parts.transfers._flows.in_transit:
            found.append((int(row["home"]), int(row["node"]), float(engine.jobs["initial_data_mb"][row["job"]])))
    return found


def watched(setup, transfers_of, acting=lambda model: None):
    """Run it slice by slice; at how many boundaries links were loaded, by one transfer or by several."""
    model = ClusterModel(scenario(**busy(**setup)), seed=2)
    loaded = shared = 0
    while model.running:
        assert model.now_ms < 60_000.0
        acting(model)
        model.step()
        crossing = transfers_of(model)
        mb = np.zeros(4)
        for source, target, amount in crossing:
            mb[source] += amount
            mb[target] += amount
        found = model.parts.views.measure_all()["net_ms"]
        # Amounts are kept in whole KB.
        assert np.abs(found - mb * MB_MS).max() <= 0.001 * MB_MS * len(crossing)
        loaded += bool(crossing)
        shared += len(crossing) > 1
    assert loaded > 50
    assert shared > 10
    assert model.parts.views.measure_all()["net_ms"].tolist() == [0.0] * 4
    return model


@pytest.mark.slow
def test_it_is_what_tasks_that_start_elsewhere_take_along():
    model = watched(NARROW | {"workload__io_per_ms__mean": 0.04}, by_the_rows)
    decisions = model.decisions_frame()
    assert {"links", "lines 4-8 (I/O)"} <= set(decisions["rule"])
    assert model.summary()["metrics"]["remote_executions"] > 10


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["failing nodes", "failing links", "killed", "files", "negotiated"])
def test_nothing_is_left_behind_whatever_happens(kind):
    more = {
        "failing nodes": {"failures__event": FAILING_NODES, "failures__on_failure": "restart"},
        "failing links": {"failures__event": FAILING_LINKS, "failures__on_failure": "restart"},
        "killed": {"cluster__swap_mb": 10.0, "workload__utilisation": 0.8},
        "files": {"data__files": 6, "data__size_mb__mean": 0.4},
        "negotiated": {"negotiation__mode": "negotiated", "cluster__exchange_period_ms": 50.0},
    }[kind]
    cut_off = 0

    def counted(model):
        nonlocal cut_off
        transfers = model.parts.transfers
        if not hasattr(transfers, "counted"):
            transfers.counted, cancel = True, transfers.cancel

            def counting(task):
                nonlocal cut_off
                cut_off += task in transfers._present
                cancel(task)

            transfers.cancel = counting

    model = watched(NARROW | {"negotiation__mode": "papers"} | more, in_progress, counted)
    summary = model.summary()
    if kind.startswith("failing"):
        assert summary["metrics"]["node_failures"] + summary["metrics"]["link_failures"] >= 10
        assert cut_off > 0
    if kind == "killed":
        assert (model.jobs_frame()["outcome"] == "killed").sum() > 10


def test_a_job_that_is_killed_on_its_way_loads_no_link():
    killed = []

    def kill(model):
        for task in list(model.parts.transfers._present)[:1]:
            row = model.engine.tasks[model.engine.tasks["task"] == task][0]
            if len(killed) < 5 and model.steps % 50 == 0:
                killed.append(int(row["job"]))
                model.job_actions.kill(int(row["job"]))

    model = watched(NARROW, in_progress, kill)
    found = model.jobs_frame()
    assert set(found["job"][found["outcome"] == "killed"]) == set(killed)
    assert len(killed) > 2


@pytest.mark.parametrize("other", [{"policy__name": "iolb"}, {"interconnect__mode": "delay"}])
def test_where_no_policy_reads_it_it_is_0(other):
    model = ClusterModel(scenario(**busy(**(NARROW | other))), seed=2)
    while model.running:
        assert model.now_ms < 60_000.0
        model.step()
        assert not model.parts.views.measure_all()["net_ms"].any()
    assert model.summary()["metrics"]["remote_executions"] > 10


def test_of_several_links_a_node_counts_its_fastest_route():
    """Two stars of two nodes, 80 Mbps inside and 8 Mbps between them: 10 MB/s, so 100 ms a MB."""
    wide = NARROW | {
        "interconnect__kind": "clusters", "interconnect__clusters": 2, "interconnect__bandwidth_mbps": 80.0,
        "interconnect__trunk_bandwidth_mbps": 8.0,
    }  # fmt: skip
    model = ClusterModel(scenario(**busy(**wide)), seed=2)
    assert model.engine.nodes["link_ms_per_mb"].tolist() == pytest.approx([100.0] * 4)
