"""What `runner.work` works with, as stand-ins: where records are kept, the progress, and what carries runs out."""

from __future__ import annotations

from types import SimpleNamespace

from support import scenario

from cluster_abm.study.runner import work
from cluster_abm.study.runner.work import Request
from cluster_abm.study.store.store import Record


class Keeper:
    """Records in memory, of which a test says when others have claimed or written one; notes what is asked."""

    def __init__(self):
        self.records, self.foreign, self.times, self.asked, self.tidied = {}, set(), {}, [], []
        # Which were claimed and not given up.
        self.claims = []

    def claim(self, run):
        self.asked.append(("claim", run))
        if run in self.foreign:
            return False
        self.claims.append(run)
        return True

    def release(self, run):
        self.asked.append(("release", run))
        self.claims.remove(run)

    def look_up(self, run):
        return self.records.get(run)

    def written_ns(self, run):
        return self.times.get(run)

    def add(self, record):
        self.asked.append(("add", record.name))
        self.records[record.name] = record

    def tidy(self, made):
        self.tidied.append(made)


class Bar:
    """Of progress: what it is told."""

    is_quiet = True

    def __init__(self):
        self.total, self.done, self.told, self.shown = None, 0, [], []

    def begin_at(self, done):
        self.done = done
        self.told.append("begins")

    def hold(self):
        self.told.append("held")

    def measure(self):
        self.told.append(("measured at", self.done))

    def update(self):
        self.done += 1

    def set_postfix(self, *, refresh, **named):
        assert not refresh
        self.shown.append(named)


def carrying_out(monkeypatch):
    """Assignments that were carried out; seeds in `fails` fail."""
    seen = SimpleNamespace(assignments=[], fails=set(), slept=[])

    def carry_out(assignment):
        seen.assignments.append(assignment)
        name = (assignment.key, assignment.seed)
        return Record(*name, error="ValueError: x") if assignment.seed in seen.fails else Record(*name, {"x": 0.5})

    monkeypatch.setattr(work, "carry_out", carry_out)
    monkeypatch.setattr(work.time, "sleep", seen.slept.append)
    seen.names = lambda: [(one.key, one.seed) for one in seen.assignments]
    return seen


def request(keys=("a", "b"), seeds=(1, 2), policy="jsq", **more):
    setup = scenario(policy__name=policy, run__threads=3)
    return Request(keys, lambda _: setup, lambda key, values: seeds, **more)
