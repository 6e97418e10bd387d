"""Runs of a policy in all sorts of clusters: they come to their end, and nothing is lost."""

from __future__ import annotations

from typing import Any

import pytest

from cluster_abm.model import ClusterModel
from cluster_abm.testing.forms import MODES
from cluster_abm.testing.subject import LATEST_MS, SHORT, Subject, fail, faults_in_words

FAILING = {
    "failures__node__kind": "exponential",
    "failures__node__mean_up_s": 3.0,
    "failures__node__mean_down_s": 1.0,
    "workload__duration_s": 8.0,
}
UNLIKE = {"cluster__group": [{"count": 2, "cpu_speed": 0.5, "memory_mb": 20.0}, {"count": 1, "disk_mb_per_s": 80.0}]}
SITUATIONS: dict[str, dict[str, Any]] = {
    "one node": {"cluster__nodes": 1},
    "two nodes": {"cluster__nodes": 2},
    "unlike nodes": UNLIKE,
    "unlike nodes, heterogeneous form": UNLIKE | {"policy__heterogeneous": True},
    "slow links that lose messages": {
        "interconnect__loss_share": 0.3,
        "interconnect__latency_ms": 40.0,
        "negotiation__timeout_ms": 30.0,
    },
    "stale reports": {"cluster__exchange_period_ms": 5000.0},
    "no refusals": {"negotiation__refusals": False, "negotiation__offers": 1},
    "no work": {"workload__utilisation": 1e-6},
    "barriers": {"workload__tasks__barrier_ms": 20.0},
}


def check_sums(model: ClusterModel) -> None:
    """Fail unless the jobs that were submitted are those of all outcomes together."""
    jobs = model.summary()["jobs"]
    outcomes = {name: count for name, count in jobs.items() if name != "submitted"}
    if sum(outcomes.values()) != jobs["submitted"]:
        fail(f"jobs do not add up at {model.now_ms:g} ms: {jobs['submitted']} submitted, but {outcomes}")


class RunsAnywhere(Subject):
    """Work is finished once, sums are right, and a task is where the last decision about it says."""

    @pytest.mark.parametrize("mode", MODES)
    def test_all_work_is_finished_once(self, mode: str) -> None:
        """Where nothing fails and memory suffices."""
        model = self.finished(may_refuse=mode != MODES[0], negotiation__mode=mode)
        check_sums(model)
        jobs, tasks = model.summary()["jobs"], model.jobs_frame()
        if not jobs["submitted"] or jobs["finished"] != jobs["submitted"]:
            fail(f"{jobs['finished']} of {jobs['submitted']} jobs are finished: {jobs}")
        if not tasks["task"].is_unique:
            twice = tasks["task"][tasks["task"].duplicated()].tolist()
            fail(f"tasks {twice[:5]} have run to their end twice")
        missing = tasks.groupby("job")["task"].count() != tasks.groupby("job")["tasks_of_job"].first()
        if missing.any():
            fail(f"of job {missing.idxmax()} not all tasks have run")

    def test_jobs_add_up_at_any_time(self) -> None:
        """Submitted are those that wait, run or have ended."""
        model = self.model()
        for until_ms in (0.0, 500.0, 3000.0, 9000.0, LATEST_MS):
            with faults_in_words():
                model.run(until_ms=until_ms)
            check_sums(model)

    @pytest.mark.parametrize("mode", MODES[:2])
    def test_a_task_is_where_the_last_decision_says(self, mode: str) -> None:
        """Decisions, finished tasks and metrics tell the same story."""
        model = self.finished(may_refuse=True, negotiation__mode=mode)
        tasks, decided = model.jobs_frame(), model.decisions_frame()
        if not self.kind.acts_on_arrival:
            if len(decided) or (tasks["node"] != tasks["home"]).any():
                fail("acts_on_arrival is False, and yet a task has been sent somewhere")
            return
        if set(decided["task"]) != set(tasks["task"]):
            fail("not every task has a decision, or a decision is about no task")
        last = decided.groupby("task").last()
        settled = tasks.set_index("task")["node"].reindex(last.index)
        expected = last["target"].where(last["accepted"], last["source"])
        if (settled != expected).any():
            task: Any = (settled != expected).idxmax()
            fail(f"task {task} ended on node {settled[task]}; by the last decision it was on node {expected[task]}")
        silent = decided[~decided["accepted"] & (decided["reason"] == "")]
        if len(silent):
            fail(f"task {silent['task'].iloc[0]} was refused without a reason: `accept` has to say why")

    def test_no_task_moves_unless_the_class_says_so(self) -> None:
        """Remote starts and migrations are counted as such."""
        model = self.finished()
        tasks, metrics = model.jobs_frame(), model.summary()["metrics"]
        if metrics["remote_executions"] != tasks["remote"].sum() or metrics["migrations"] != tasks["migrations"].sum():
            fail("the metrics count other remote starts or migrations than the tasks do")
        if not self.kind.migrates and metrics["migrations"]:
            fail(f"{metrics['migrations']} running tasks have moved, and the class is no `Migrating`")
        if not self.kind.migrates and ((tasks["node"] != tasks["home"]) != tasks["remote"]).any():
            fail("a task ended on another node than its home without a remote start")

    @pytest.mark.parametrize("situation", SITUATIONS)
    def test_all_work_is_finished_in(self, situation: str) -> None:
        """Clusters and links of many kinds."""
        model = self.finished(may_refuse=True, compiled=False, **{**SHORT, **SITUATIONS[situation]})
        check_sums(model)
        jobs = model.summary()["jobs"]
        if jobs["finished"] != jobs["submitted"]:
            fail(f"{situation}: {jobs['finished']} of {jobs['submitted']} jobs are finished: {jobs}")

    @pytest.mark.parametrize("then", ["restart", "checkpoint", "lost"])
    def test_nodes_fail(self, then: str) -> None:
        """Tasks start again, go on from a checkpoint, or are lost; no other job is."""
        model = self.finished(may_refuse=True, compiled=False, **FAILING, failures__on_failure=then)
        check_sums(model)
        jobs = model.summary()["jobs"]
        if then != "lost" and jobs["finished"] + jobs["blocked"] != jobs["submitted"]:
            fail(f"nodes fail, tasks go on by {then}: {jobs['finished']} of {jobs['submitted']} jobs finish: {jobs}")

    def test_memory_is_full(self) -> None:
        """Tasks are killed where RAM and swap are full."""
        check_sums(self.finished(may_refuse=True, compiled=False, cluster__swap_mb=20.0, **SHORT))
