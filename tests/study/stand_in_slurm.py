"""Stand-ins for Slurm: jobs whose states a test sets, and an executor whose thread takes its turns in the test."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

from waiting import until

from cluster_abm.study.runner.executors.kinds import slurm as slurm_jobs
from cluster_abm.study.runner.executors.kinds.slurm import SlurmExecutor


class Job:
    """A job of array 7, with the files that submitit keeps of a job; a test sets its state."""

    def __init__(self, number, folder, call):
        self.job_id, self.state, self.call = f"7_{number}", "RUNNING", call
        names = ("submitted_pickle", "result_pickle", "stdout", "stderr")
        self.paths = SimpleNamespace(**{name: folder / f"{self.job_id}.{name}" for name in names})
        self.paths.submitted_pickle.touch()
        self.error, self.cancelled, self.problem, self.looks = "", [], None, 0

    def done(self):
        self.looks += 1
        if self.problem is not None:
            raise self.problem
        return self.state != "RUNNING"

    def end(self, state="COMPLETED"):
        """End the job; a completed one leaves its result."""
        if state == "COMPLETED":
            self.paths.result_pickle.touch()
        self.state = state

    def result(self):
        return self.call()

    def stderr(self):
        return self.error

    def cancel(self, check=True):
        self.cancelled.append(check)
        self.state = "CANCELLED"


class Jobs:
    """Submits jobs as submitit does: a batch without a job is an error."""

    def __init__(self, folder):
        self.folder, self.arrays, self.refuses = folder, [], None

    @property
    def made(self):
        return [job for array in self.arrays for job in array]

    @contextmanager
    def batch(self):
        self.arrays.append([])
        yield
        if not self.arrays[-1]:
            raise RuntimeError("No job was submitted in the batch")

    def submit(self, call):
        if self.refuses is not None:
            raise self.refuses
        self.arrays[-1].append(Job(len(self.made), self.folder, call))
        return self.arrays[-1][-1]


def looked_at(job):
    """Wait for a look at the job that began after this call."""
    before = job.looks
    until(lambda: job.looks >= before + 2)


class Enough(Exception):
    """The thread took all the turns that it was allowed, and would have gone on."""


class _Thread:
    def __init__(self, target, name, daemon):
        self.join, self.daemon = target, daemon

    def start(self):
        pass


class _Waking:
    """Replaces the event that the thread waits for: a wait takes no time, and raises `Enough` if it is not allowed."""

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
    """An executor, its jobs, and its clock [s]; nothing happens between two calls of `turn`."""

    def __init__(self, monkeypatch, folder, cluster="slurm", workers=None, parameters=None):
        self.now_s, self.slept, self.given, self.cancelled = 1000.0, [], [], []
        self.jobs = Jobs(folder)
        self.jobs.update_parameters = lambda **named: None

        def made(**given):
            self.given.append(given)
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
        """Run the thread for at most this many turns; true if it ends."""
        self.waking.allowed = count
        try:
            self.executor._live()
        except Enough:
            return False
        return True
