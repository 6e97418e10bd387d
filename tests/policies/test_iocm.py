"""IOCM-RE and IOCM-PM, rule by rule, on what a manager sees: the resource balanced, the node, the condition."""

from __future__ import annotations

import numpy as np
import pytest
from support import busy, scenario

from cluster_abm import ClusterModel
from cluster_abm.formulas import load_imbalance_factors

E_MS, F_MS = 7.0, 2.0


def estimate(view, task, node, counted):
    """model.md's `closed` estimate: a task on a node, of whose loads it is part (`counted`) or not; nodes alike."""
    row = view.loads[node]
    share = 1 / (1 + task.io_per_ms * (8 + task.request_kb / 40))
    queue = row["queue"] + (0 if counted else share)
    others = row["at_disk"] - ((1 - share) if counted else 0)
    demand_mb = row["memory_mb"] + (0 if counted else task.memory_mb)
    faults = 0.5 * min(demand_mb / 30, 1.5) if demand_mb > 30 else 0.0
    io_ms = task.cpu_ms * task.io_per_ms * (8 + task.request_kb / 40) + task.cpu_ms * faults * 8.1
    return task.cpu_ms * max(1, queue) + io_ms * (1 + max(0, others))


def balanced(view, pages, io_rule="home"):
    """The resource to balance; memory only while the node pages.

    Rule (1) applies while home has any I/O load, or while I/O has the largest load imbalance factor.
    """
    if io_rule == "home":
        if view.loads["io_load"][view.me] > 0:
            return "io_load"
        return "memory_mb" if pages else "cpu_queue"
    cpu, page, io = load_imbalance_factors(view.loads["cpu_ms"], view.loads["page_ms"], view.loads["io_ms"])
    if io > 0 and io >= max(cpu, page):
        return "io_load"
    return "memory_mb" if pages and page > cpu else "cpu_queue"


def lightest(view, resource):
    """Least load, then least memory, then the own node, else the first one after it."""
    loads, memory, count = view.loads[resource], view.loads["memory_mb"], len(view.loads)
    return min(range(count), key=lambda k: (loads[k], memory[k], (k - view.me) % count))


@pytest.mark.slow
@pytest.mark.parametrize("io_rule", ["home", "imbalance"])
@pytest.mark.parametrize("io_mean", [0.12, 0.0])
def test_iocm_re_balances_io_else_memory_else_cpu(io_mean, io_rule):
    settings = busy(
        policy__name="iocm-re", policy__io_rule=io_rule, negotiation__mode="papers",
        negotiation__remote_execution_ms=E_MS, workload__duration_s=60.0, workload__io_per_ms__mean=io_mean,
        workload__cpu_ms__kind="exponential",
    )  # fmt: skip
    model = ClusterModel(scenario(**settings), seed=2)
    real = model.policy.place
    seen = {}

    def place(arriving, view):
        demand_mb = view.loads["memory_mb"][view.me] + arriving.memory_mb
        resource = balanced(view, demand_mb > 30, io_rule)
        loads = view.loads[resource]
        target = lightest(view, resource)
        goes = loads[target] < loads[view.me]
        if resource == "io_load":
            here, there = (estimate(view, arriving, node, False) for node in (view.me, target))
            goes = goes and here > there + E_MS
        elif resource == "cpu_queue":
            goes = goes and loads[view.me] >= loads.max()
        decision = real(arriving, view)
        assert decision.target == (target if goes else view.me)
        assert decision.index == resource
        # Without I/O only the page faults of home are I/O load.
        assert io_mean or resource != "io_load" or view.loads["memory_mb"][view.me] > 30
        seen[resource, bool(goes)] = seen.get((resource, bool(goes)), 0) + 1
        return decision

    model.policy.place = place
    model.run()
    # Without I/O it is hardly ever about I/O; with it, here, hardly ever about anything else.
    expected = [("io_load", True), ("io_load", False)] if io_mean else [("cpu_queue", True), ("cpu_queue", False)]
    assert all(seen.get(case, 0) > 20 for case in expected), seen


@pytest.mark.slow
def test_all_three_rules_are_reached():
    """Most of the jobs have no I/O: a home without any balances memory while it pages, else its CPU."""
    settings = busy(
        policy__name="iocm-re", negotiation__mode="papers",
        negotiation__remote_execution_ms=E_MS, workload__duration_s=40.0, workload__cpu_ms__kind="exponential",
        workload__no_io_share=0.7, workload__io_per_ms__mean=0.02, workload__utilisation=0.4,
    )  # fmt: skip
    seen: dict[object, int] = {}
    differ = 0
    for seed in range(3):
        model = ClusterModel(scenario(**settings), seed=seed, compile_decisions=False)
        real = model.policy.place

        def place(arriving, view, real=real):
            nonlocal differ
            pages = view.loads["memory_mb"][view.me] + arriving.memory_mb > 30
            resource = balanced(view, pages)
            differ += resource != balanced(view, pages, "imbalance")
            loads, target = view.loads[resource], lightest(view, resource)
            goes = loads[target] < loads[view.me]
            if resource == "cpu_queue":
                goes = goes and loads[view.me] >= loads.max()
            elif resource == "io_load":
                here, there = (estimate(view, arriving, node, False) for node in (view.me, target))
                goes = goes and here > there + E_MS
            decision = real(arriving, view)
            assert (decision.index, decision.target) == (resource, target if goes else view.me)
            seen[resource, bool(goes)] = seen.get((resource, bool(goes)), 0) + 1
            return decision

        model.policy.place = place
        model.run()
    assert differ > 50
    cases = [(resource, goes) for resource in ("io_load", "memory_mb", "cpu_queue") for goes in (True, False)]
    assert min(seen.get(case, 0) for case in cases) > 3, seen


def migrations_of(migrates_all, seed):
    """Of each arrival in a run of iocm-pm, whether home was the most loaded each time the policy was asked, and what
    it said; nothing is assumed of how it decides."""
    settings = busy(
        policy__name="iocm-pm", policy__migrates_all=migrates_all, negotiation__mode="papers",
        workload__duration_s=20.0, workload__utilisation=0.7, negotiation__migration_ms=F_MS,
        workload__write_share=0.0,
    )  # fmt: skip
    model = ClusterModel(scenario(**settings), seed=seed, compile_decisions=False)
    real = model.policy.migration
    asked: dict[int, list[tuple[bool, bool, bool]]] = {}

    def migration(arriving, view):
        resource = balanced(view, view.loads["memory_mb"][view.me] > 30)
        loads, target = view.loads[resource], lightest(view, resource)
        gains = False
        for task in view.candidates:
            cost_ms = F_MS + 1000 * task.memory_mb / 128 if task.running else 7.0
            gains |= estimate(view, task, view.me, True) > estimate(view, task, target, False) + cost_ms
        decision = real(arriving, view)
        is_most_loaded = bool(loads[view.me] >= loads.max())
        asked.setdefault(arriving.task, []).append(
            (is_most_loaded, bool(gains and loads[target] < loads[view.me]), decision is not None)
        )
        return decision

    model.policy.migration = migration
    model.run()
    return list(asked.values())


@pytest.mark.slow
def test_all_of_em_migrate_once_home_was_the_most_loaded():
    """It goes on until no task gains; else until home is not the most loaded node any more."""
    went_on = stopped = 0
    for seed in range(2):
        for answers in migrations_of(True, seed):
            was_most_loaded = answers[0][0]
            for is_most_loaded, gains, sent in answers:
                was_most_loaded |= is_most_loaded
                assert sent == (was_most_loaded and gains)
                went_on += sent and not is_most_loaded
        for answers in migrations_of(False, seed):
            for is_most_loaded, gains, sent in answers:
                assert sent == (is_most_loaded and gains)
            stopped += len(answers) > 1 and answers[-1][1] and not answers[-1][0]
    assert went_on > 5
    assert stopped > 5


@pytest.mark.slow
def test_iocm_pm_sends_all_that_gain_while_home_is_overloaded():
    settings = busy(
        policy__name="iocm-pm", negotiation__mode="papers", workload__duration_s=60.0, workload__utilisation=0.7,
        negotiation__migration_ms=F_MS, workload__write_share=0.0,
    )  # fmt: skip
    model = ClusterModel(scenario(**settings), seed=2)
    real = model.policy.migration
    seen = {"sent": 0, "none gains": 0}

    def migration(arriving, view):
        resource = balanced(view, view.loads["memory_mb"][view.me] > 30)
        loads = view.loads[resource]
        target = lightest(view, resource)
        eligible = {}
        if loads[view.me] >= loads.max() and loads[target] < loads[view.me]:
            for task in view.candidates:
                # Nothing on disk to move: f and the image over 128 MB/s, or e for one that has not begun.
                cost_ms = F_MS + 1000 * task.memory_mb / 128 if task.running else 7.0
                if estimate(view, task, view.me, True) > estimate(view, task, target, False) + cost_ms:
                    eligible[task.task] = task.age_ms * task.io_per_ms / cost_ms
        decision = real(arriving, view)
        if decision is None:
            assert not eligible
            seen["none gains"] += 1
        else:
            assert decision.target == target
            assert eligible[decision.task.task] == pytest.approx(max(eligible.values()))
            seen["sent"] += 1
        return decision

    model.policy.migration = migration
    model.run()
    assert min(seen.values()) > 50, seen
    decisions = model.decisions_frame()
    moved = decisions[(decisions["rule"] == "EM") & decisions["accepted"]]
    assert len(moved) == seen["sent"]
    # More than one for some arrivals: "all of EM".
    assert moved.groupby(["time_ms", "source"]).size().max() > 1
    assert np.isfinite(moved["mce"]).all()
