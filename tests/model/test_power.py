"""Energy of a run, worked by hand."""

from __future__ import annotations

import pytest
from support import finished

from cluster_abm import ClusterModel
from cluster_abm.scenario import scenario_from


def one_job(tmp_path, **cluster):
    trace = tmp_path / "jobs.csv"
    trace.write_text("arrival_ms,home,cpu_ms,memory_mb\n0,0,1000,1.0\n")
    return ClusterModel(
        scenario_from(
            {
                "policy": {"name": "none"}, "workload": {"kind": "trace", "trace": {"file": str(trace)}},
                "cluster": {"nodes": 2, **cluster}, "run": {"until": 4000.0},
            },
            "power",
        ),
        seed=1,
    )  # fmt: skip


def test_energy_by_hand(tmp_path):
    """4 s at 100 W idle for two nodes, and of one half of its two cores for 1 s: 800 J + 50 W x 1 s / 2 = 825 J."""
    model = one_job(tmp_path, cores=2, idle_watts=100.0, cpu_watts=50.0, disk_watts=7.0)
    model.run()
    metrics = model.summary()["metrics"]
    assert metrics["energy_kwh"] == pytest.approx(825.0 / 3.6e6)
    assert metrics["joules_per_job"] == pytest.approx(825.0)


def test_a_node_that_is_down_draws_nothing(tmp_path):
    model = one_job(tmp_path, idle_watts=100.0)
    while model.now_ms < 1000.0:
        model.step()
    model.node_agents[1].fail()
    while model.now_ms < 3000.0:
        model.step()
    model.node_agents[1].recover()
    model.run()
    # 2 s of one node's idle power are saved.
    assert model.summary()["metrics"]["energy_kwh"] == pytest.approx((800.0 - 200.0) / 3.6e6)


def test_groups_have_power_of_their_own(tmp_path):
    model = one_job(tmp_path, idle_watts=100.0, group=[{"count": 1, "idle_watts": 10.0}])
    model.run()
    assert model.summary()["metrics"]["energy_kwh"] == pytest.approx((400.0 + 40.0) / 3.6e6)


def test_there_is_no_energy_unless_the_idle_power_of_every_node_is_set(tmp_path):
    assert "energy_kwh" not in finished().summary()["metrics"]
    model = one_job(tmp_path, group=[{"count": 1, "idle_watts": 10.0}])
    assert "energy_kwh" not in model.summary()["metrics"]
