"""Harchol-Balter and Downey's rule, from the raw rows: which task migrates, when and where."""

from __future__ import annotations

import numpy as np
import pytest
from support import busy, scenario

from cluster_abm import ClusterModel
from cluster_abm.engine.tables import FREE, IN_TRANSIT, NONE, REQUEST_ONLY, RUNNING

NODES, F_MS = 4, 5.0


def tasks_on(model, node):
    """(task, age in ms, cost in ms) of the processes that have begun on a node; how many are at its CPU or coming."""
    rows = model.engine.tasks
    found, queue = [], 0
    for row in rows[(rows["node"] == node) & (rows["state"] != FREE) & (rows["state"] != REQUEST_ONLY)]:
        at_disk = row["state"] not in (IN_TRANSIT, RUNNING) and row["request_kind"] != NONE
        queue += not at_disk
        if row["state"] == IN_TRANSIT:
            continue
        left_ns = int(row["cpu_left_ns"])
        if row["state"] == RUNNING:
            left_ns -= max(0, model.now_ns - int(row["leg_ns"]))
        age_ms = float(row["cpu_demand_ms"]) - left_ns / 1e6
        # f, the image over 128 MB/s, and what was written (a fifth of the accesses, each datum twice) over the network
        # and two disks of 40 MB/s.
        written_mb = age_ms * row["io_per_ms"] * 0.2 * row["request_kb"] / 2 / 1000
        cost_ms = F_MS + 1000 * (row["memory_kb"] / 1000 / 128 + written_mb * (1 / 128 + 1 / 40 + 1 / 40))
        found.append((int(row["task"]), age_ms, cost_ms))
    return found, queue


@pytest.mark.slow
def test_the_task_oldest_for_its_cost_migrates_once_its_age_pays():
    settings = busy(
        policy__name="hbd", negotiation__mode="papers", negotiation__migration_ms=F_MS, workload__duration_s=60.0,
        workload__utilisation=0.7,
    )  # fmt: skip
    model = ClusterModel(scenario(**settings), seed=4)
    real = model.policy.migration
    compared = {"moved": 0, "stayed": 0}

    def migration(arriving, view):
        mine, here = tasks_on(model, view.me)
        queues = [tasks_on(model, node)[1] for node in range(NODES)]
        decision = real(arriving, view)
        # Ties: the own node, else the first one after it, going round.
        target = min(range(NODES), key=lambda node: (queues[node], (node - view.me) % NODES))
        per_cost = {}
        for task, age_ms, cost_ms in mine:
            if age_ms * (here - queues[target]) >= cost_ms:
                per_cost[task] = age_ms / cost_ms
        if decision is None:
            assert not per_cost
            compared["stayed"] += 1
        else:
            assert decision.target == target
            assert per_cost[decision.task.task] == pytest.approx(max(per_cost.values()))
            compared["moved"] += 1
        return decision

    model.policy.migration = migration
    model.run()
    assert min(compared.values()) > 50
    frame = model.jobs_frame()
    assert frame["migrations"].sum() == compared["moved"]
    assert not frame["remote"].any()
    assert np.isfinite(model.decisions_frame().loc[lambda d: d["source"] != d["target"], "mce"]).all()
