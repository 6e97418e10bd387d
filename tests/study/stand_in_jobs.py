"""Jobs of a stand-in for the executor of Slurm, whose states a test sets: nothing is spawned or waited for."""

from __future__ import annotations

import time
from contextlib import contextmanager
from types import SimpleNamespace

POLL_S = 0.005


class Job:
    """A job of array 7 whose state is what a test sets; its files are those that submitit has of one."""

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
        """Let it end; one that is completed leaves its result."""
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
    """Submits as submitit does: a batch without a job in it is an error there too."""

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


def until(holds):
    began = time.monotonic()
    while not holds():
        assert time.monotonic() < began + 20, "it does not come to that"
        time.sleep(POLL_S)


def some_polls():
    time.sleep(20 * POLL_S)


def looked_at(job):
    """Wait until the job has been looked at, from beginning to end."""
    before = job.looks
    until(lambda: job.looks >= before + 2)
