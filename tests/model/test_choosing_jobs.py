"""Policies that choose among waiting jobs, and that need what jobs do not announce; requested times that they read."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from support import busy, finished, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError, PolicyFault
from cluster_abm.policies import Decision, Holding, Policy, available

TRACE = "arrival_ms,home,cpu_ms,io_per_ms,memory_mb,requested_ms\n"


class ShortestFirst(Holding):
    """One job at a time, of those that wait the one that requests least."""

    name, source, summary = "shortest-first", "the test", "the shortest job first"
    central = holds_for_events = True
    required_demands = ("requested_ms",)

    def next_job(self, queue, view):
        if len(view.live_jobs):
            return -1
        return int(queue["requested_ms"].argmin())

    def place(self, task, view):
        return Decision(view.me, f"requested {int(task.requested_ms)}")


class OneAtATime(Holding):
    """The same, first come first served, by `holds` alone."""

    name, source, summary = "one-at-a-time", "the test", "one job at a time"
    central = holds_for_events = True

    def holds(self, task, tasks, view):
        return bool(len(view.live_jobs))

    def place(self, task, view):
        return Decision(view.me, "the head")


class ByDefault(OneAtATime):
    """The same by the default of `next_job`."""

    name = "by-default"

    def next_job(self, queue, view):
        return super().next_job(queue, view)


class LongHere(Policy):
    """Jobs that request much stay at home; what else is known of no request goes on."""

    name, source, summary = "long-here", "the test", "long jobs at home"

    def place(self, task, view):
        if task.requested_ms > 150.0:
            return Decision(view.me, "long")
        return Decision(view.next_node, "short")


@pytest.fixture(autouse=True)
def found(monkeypatch):
    for policy in (ShortestFirst, OneAtATime, ByDefault, LongHere):
        monkeypatch.setitem(available(), policy.name, policy)


def trace(folder, *rows):
    path = folder / "jobs.csv"
    path.write_text(TRACE + "".join(f"{arrival},0,{cpu},0,1,{requested}\n" for arrival, cpu, requested in rows))
    return {
        "workload": {"kind": "trace", "trace": {"file": str(path)}}, "cluster__nodes": 1,
        "cluster__context_switch_ms": 0.0,
    }  # fmt: skip


def ends_ms(folder, policy, *rows):
    return (
        finished(1, **trace(folder, *rows), policy__name=policy).jobs_frame().sort_values("job")["finish_ms"].tolist()
    )


@pytest.mark.slow
def test_the_job_that_is_chosen_starts_next(tmp_path):
    """The first runs until 95 ms; then the one that requests least, from 100 ms on, until 115; the others behind it."""
    rows = [(0, 95, 100), (11, 45, 90), (12, 15, 20), (13, 25, 30)]
    assert ends_ms(tmp_path, "shortest-first", *rows) == [95, 195, 115, 145]
    assert ends_ms(tmp_path, "one-at-a-time", *rows) == [95, 145, 165, 195]
    assert ends_ms(tmp_path, "by-default", *rows) == [95, 145, 165, 195]


@pytest.mark.slow
def test_waiting_jobs_say_what_they_announce(tmp_path, monkeypatch):
    seen = []

    def look(self, queue, view):
        seen.append((view.now_ms, queue.rows.copy(), queue.first_task(len(queue) - 1), len(queue)))
        assert not queue.rows.flags.writeable
        return -1 if len(view.live_jobs) else 0

    monkeypatch.setattr(ShortestFirst, "next_job", look)
    finished(1, **trace(tmp_path, (3, 45, 100), (4, 45, 90), (12, 15, 20)), policy__name="shortest-first")
    now_ms, rows, last, count = seen[2]
    # At 10 ms the first runs; the second waits, and with it the one that comes at 12 ms.
    assert (now_ms, count) == (10.0, 2)
    assert rows["job"].tolist() == [1, 2]
    assert rows["submitted_ms"].tolist() == [4.0, 12.0]
    assert rows["requested_ms"].tolist() == [90.0, 20.0]
    assert (rows["tasks"].tolist(), rows["cpu_ms"].tolist(), rows["memory_mb"].tolist()) == ([1, 1], [45, 15], [1, 1])
    assert (last.job, last.task, last.requested_ms) == (2, 2, 20.0)


@pytest.mark.slow
def test_it_is_asked_when_something_has_happened_and_not_at_every_boundary(tmp_path, monkeypatch):
    """By steps, as by leaps: once a job has come, or has ended at 95, 145 or 165 ms."""
    asked = []

    def look(self, queue, view):
        asked.append(view.now_ms)
        return -1 if len(view.live_jobs) else 0

    monkeypatch.setattr(ShortestFirst, "next_job", look)
    given = trace(tmp_path, (0, 95, 100), (1, 45, 90), (33, 15, 20)) | {"policy__name": "shortest-first"}
    model = ClusterModel(scenario(**given, measure__period_ms=10.0), seed=1)
    while model.running:
        model.step()
    assert sorted(set(asked)) == [0.0, 30.0, 100.0, 150.0]


@pytest.mark.slow
def test_a_waiting_job_that_is_killed_lets_the_next_one_be_chosen(tmp_path):
    rows = [(0, 95, 100), (11, 45, 10), (12, 15, 20)]
    model = ClusterModel(scenario(**trace(tmp_path, *rows), policy__name="shortest-first"), seed=1)
    model.step()
    model.step()
    next(agent for agent in model.agents if getattr(agent, "job", None) == 1).kill()
    model.run()
    assert model.jobs_frame().sort_values("job")["finish_ms"].tolist()[2] == 115


@pytest.mark.slow
@pytest.mark.parametrize("place", [1, -2, 1.0, None, True, "0"])
def test_what_next_job_must_not_return(tmp_path, monkeypatch, place):
    monkeypatch.setattr(ShortestFirst, "next_job", lambda self, queue, view: place)
    said = r"policy 'shortest-first': next_job returned .*; expected a place in the queue, 0 to 0, or -1: none starts"
    with pytest.raises(PolicyFault, match=said):
        finished(1, **trace(tmp_path, (0, 95, 100)), policy__name="shortest-first")


# ---- what a policy needs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["easy", "conservative", "shortest-first"])
def test_requested_times_that_are_missing_are_named(tmp_path, policy):
    with pytest.raises(InputError) as caught:
        ClusterModel(scenario(policy__name=policy, workload__jobs=7), seed=1)
    assert str(caught.value) == (
        f"policy '{policy}': needs requested times: 7 of 7 jobs announce none; set workload.requested_over_actual, "
        "e.g. workload.requested_over_actual.mean = 2"
    )
    given = trace(tmp_path, (0, 5, 9), (1, 5, ""), (2, 5, 9))
    with pytest.raises(InputError, match=r"1 of 3 jobs announce none; .*column `requested_ms` \(CSV\), field 9"):
        ClusterModel(scenario(**given, policy__name=policy), seed=1)
    model = finished(1, **given, policy__name=policy, workload__requested_over_actual__mean=2.0)
    assert model.summary()["jobs"]["finished"] == 3


@pytest.mark.slow
def test_the_command_ends_with_2():
    command = [sys.executable, "-m", "cluster_abm", "run", "quickstart", "--policy", "easy", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "policy 'easy': needs requested times" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_need_that_no_scenario_has_is_the_policys_fault(monkeypatch):
    monkeypatch.setattr(ShortestFirst, "required_demands", ("a-crystal-ball",))
    with pytest.raises(
        PolicyFault, match=r"policy 'shortest-first': required_demands = 'a-crystal-ball': allowed are .*requested"
    ):
        ClusterModel(scenario(policy__name="shortest-first"), seed=1)


# ---- requested times in tasks ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("announced", [True, False])
def test_compiled_policies_are_told_the_same(announced):
    given = busy(policy__name="long-here", workload__duration_s=4.0, negotiation__mode="papers")
    if announced:
        given["workload__requested_over_actual"] = {"kind": "uniform", "mean": 1.5}
    compiled = ClusterModel(scenario(**given), seed=2)
    plain = ClusterModel(scenario(**given), seed=2, compile_decisions=False)
    assert (compiled.decides_in_python, plain.decides_in_python) == ("", "compile_decisions is False")
    compiled.run()
    plain.run()
    assert same_records(compiled, plain)
    assert compiled.decisions_frame().equals(plain.decisions_frame())
    rules = compiled.decisions_frame()["rule"].value_counts()
    assert set(rules.index) == ({"long", "short"} if announced else {"short"})


def test_a_running_task_has_no_request():
    model = ClusterModel(scenario(**busy(workload__requested_over_actual__mean=2.0)), seed=1)
    model.run(until_ms=3000.0)
    views = [model.view_of(manager) for manager in model.load_managers]
    candidates = [candidate for view in views for candidate in view.candidates]
    assert candidates
    assert all(math.isnan(candidate.requested_ms) for candidate in candidates)
    task = model.parts.announcements.of(0, 0)
    assert task.requested_ms == model.parts.announcements.requested_ms[0]
    assert np.isfinite(task.requested_ms)
