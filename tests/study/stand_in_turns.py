"""The executor of Slurm turn by turn: its thread is a stand-in's, and does what it would when a test says so."""

from __future__ import annotations

from types import SimpleNamespace

from stand_in_jobs import Jobs

from cluster_abm.study.runner.executors import slurm_jobs
from cluster_abm.study.runner.executors.slurm_jobs import SlurmExecutor


class Enough(Exception):
    """No more turns were allowed, and the thread would have gone on."""


class _Thread:
    def __init__(self, target, name, daemon):
        self.join, self.daemon = target, daemon

    def start(self):
        pass


class _Waking:
    """In place of the event that the thread waits for: it waits no time, and so often as is allowed."""

    def __init__(self):
        self.allowed, self.periods, self.is_set = 0, [], False

    def wait(self, period_s):
        if not self.allowed:
            raise Enough
        self.allowed -= 1
        self.periods.append(period_s)

    def set(self):
        self.is_set = True

    def clear(self):
        self.is_set = False


class Turns:
    """An executor, the stand-ins of its jobs, and the clock that it looks at [s]."""

    def __init__(self, monkeypatch, folder, cluster="slurm", workers=None, parameters=None):
        self.now_s, self.slept, self.asked, self.cancelled = 1000.0, [], [], []
        self.jobs = Jobs(folder)
        self.jobs.update_parameters = lambda **named: None

        def made(**given):
            self.asked.append(given)
            return self.jobs

        def sleep(seconds):
            self.slept.append(seconds)
            self.now_s += seconds

        monkeypatch.setattr("submitit.AutoExecutor", made)
        monkeypatch.setattr(slurm_jobs, "Thread", _Thread)
        monkeypatch.setattr(slurm_jobs, "time", SimpleNamespace(monotonic=lambda: self.now_s, sleep=sleep))
        monkeypatch.setattr(slurm_jobs.subprocess, "run", lambda command, check: self.cancelled.append(command))
        self.executor = SlurmExecutor(workers, {"cluster": cluster} | (parameters or {}))
        self.waking = self.executor._awake = _Waking()

    def turn(self, count=1):
        """Whether the thread comes to its end within so many turns."""
        self.waking.allowed = count
        try:
            self.executor._live()
        except Enough:
            return False
        return True
