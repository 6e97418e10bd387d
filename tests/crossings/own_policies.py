"""Policies of the tests' own, whose every step can be worked out by hand, on nodes 0 and 1."""

from __future__ import annotations

from cluster_abm.policies import Decision, Policy
from cluster_abm.policies.talking import TalkingPolicy

PERIOD_MS = 100.0


class OneByOne(TalkingPolicy):
    """Node 0 keeps all jobs, and starts one on node 1; node 1 tells it when it is empty."""

    name, source, summary = "test-one-by-one", "test", "test"

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[float, float]] = []

    def arrives(self, tasks, post):
        self.go_on(post)

    def go_on(self, post):
        if post.waiting and not post.notes.get("busy"):
            post.notes["busy"] = True
            for task in post.waiting:
                if task.job == post.waiting[0].job:
                    post.start(task, 1, "next")

    def ended(self, tasks, post):
        self.told += [(post.now_ms, round(task.here_ms, 6)) for task in tasks]
        if not post.tasks_here:
            post.send(0, "empty")

    def hears(self, message, post):
        post.notes["busy"] = False
        self.go_on(post)


class HeldWhileBusy(Policy):
    """A head node holds the next job until node 1 is empty."""

    name, source, summary = "test-held", "test", "test"
    rules = (("sent to 1", ""),)
    central, holds_jobs, holds_for_events, uses_reports = True, True, True, False

    def holds(self, task, tasks, view):
        return bool(view.load("tasks", 1) > 0)

    def place(self, task, view):
        return Decision(1, "sent to 1")


class HeldByReports(HeldWhileBusy):
    """Node 0 holds the next job until it knows by a report that node 1 is empty, and looks every 100 ms."""

    name = "test-held-by-reports"
    central, uses_reports = False, True
    acts_every_ms = PERIOD_MS


class ByReports(Policy):
    """Node 0 sends a job to node 1 if that is empty as far as it knows."""

    name, source, summary = "test-by-reports", "test", "test"
    rules = (("known to be empty", ""), ("known to be busy", ""))

    def place(self, task, view):
        if view.measured("tasks", 1) == 0 or view.notes.get("sent", -1) == task.job:
            view.notes["sent"] = task.job
            return Decision(1, "known to be empty")
        return Decision(view.me, "known to be busy", reason="busy")
