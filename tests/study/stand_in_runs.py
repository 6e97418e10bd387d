"""Stand-ins for what `runner.work.RequestedRuns` uses: carrying out a run, the store of records, the progress bar."""

from __future__ import annotations

from support import scenario

from cluster_abm.errors import InputError
from cluster_abm.study.runner.tasks import SeededRun
from cluster_abm.study.runner.work import Request
from cluster_abm.study.store.store import Record


class CarriedOut:
    """Carries out assignments without a model, and keeps them in order.

    Attributes:
        assignments: the assignments so far.
        fates: by seed, the exception that a run raises, or the error of its record; all other runs finish.
    """

    def __init__(self):
        self.assignments, self.fates = [], {}

    @property
    def seeds(self):
        return [one.seed for one in self.assignments]

    @property
    def names(self):
        return [(one.key, one.seed) for one in self.assignments]

    def carry_out(self, assignment):
        self.assignments.append(assignment)
        fate = self.fates.get(assignment.seed)
        if isinstance(fate, InputError) and not assignment.raises_bad_input:
            # As in a real run, bad input is raised only if the assignment says so.
            fate = f"InputError: {fate}"
        if isinstance(fate, BaseException):
            raise fate
        if fate is not None:
            return Record(assignment.key, assignment.seed, error=fate, traceback=f"Traceback (of it):\n  {fate}\n")
        return Record(assignment.key, assignment.seed, row(assignment.scenario.cluster.nodes))


def row(nodes=4):
    """The metrics of every run that finishes."""
    return {"nodes": nodes, "x": 0.5}


def of(nodes, *seeds, policy="jsq"):
    """One task for each seed."""
    setup = scenario(cluster__nodes=nodes, policy__name=policy)
    return [SeededRun(setup, seed) for seed in seeds]


def request(keys=("a", "b"), seeds=(1, 2), policy="jsq", **more):
    """A request for runs of four nodes."""
    setup = scenario(cluster__nodes=4, policy__name=policy)
    return Request(keys, lambda _: setup, lambda key, values: seeds, **more)


class Keeper:
    """Keeps records in memory.

    Attributes:
        records: the records by run; a test adds those of other processes.
        foreign: runs that other processes have claimed.
        times: by run, when its record was written [ns].
        calls: the calls so far, and the run of each.
        claims: the runs that are claimed and not yet released.
        tidied: the number of runs made, at each call of `tidy`.
    """

    def __init__(self):
        self.records, self.foreign, self.times, self.calls, self.claims, self.tidied = {}, set(), {}, [], [], []

    def claim(self, run):
        self.calls.append(("claim", run))
        if run in self.foreign:
            return False
        self.claims.append(run)
        return True

    def release(self, run):
        self.calls.append(("release", run))
        self.claims.remove(run)

    def look_up(self, run):
        return self.records.get(run)

    def written_ns(self, run):
        return self.times.get(run)

    def add(self, record):
        self.calls.append(("add", record.name))
        self.records[record.name] = record

    def add_all(self, records):
        for record in records:
            self.add(record)

    def tidy(self, made):
        self.tidied.append(made)


class Bar:
    """A progress bar that draws nothing and keeps its calls."""

    is_quiet = True

    def __init__(self):
        self.total, self.done, self.calls, self.shown = None, 0, [], []

    def begin_at(self, done):
        self.done = done
        self.calls.append("begins")

    def hold(self):
        self.calls.append("held")

    def measure(self):
        self.calls.append(("measured at", self.done))

    def update(self):
        self.done += 1

    def set_postfix(self, *, refresh, **named):
        assert not refresh
        self.shown.append(named)
