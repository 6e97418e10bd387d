"""Stand-ins for the workers of the executor of processes: no process is spawned."""

from __future__ import annotations

from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool


class Crew:
    """The workers that were started, in order.

    Attributes:
        started: the workers.
        plan: the fate of each further start, see `Worker.start`; without one a start is "good".
        imports_the_runs: whether workers end because their script starts runs when it is imported.
        log: in order, the number of each worker that was ended, and how.
    """

    def __init__(self):
        self.started, self.plan, self.imports_the_runs, self.log = [], [], False, []

    def worker(self):
        return Worker(self)


class Worker:
    """A worker and its pool in one object; a task ends when a test calls `carry_out` or `die`."""

    def __init__(self, crew):
        self.crew, self.word, self.tasks, self.ends = crew, Future(), [], []
        self.pool, self.imports_the_runs = self, crew.imports_the_runs
        self.is_dead = False

    def start(self):
        fate = self.crew.plan.pop(0) if self.crew.plan else "good"
        if fate == "fault":
            raise ZeroDivisionError("a fault")
        if fate == "refused":
            raise OSError("no more processes")
        if fate == "no thread":
            raise RuntimeError("can't start new thread")
        self.crew.started.append(self)
        if fate == "good":
            self.word.set_result(1)
        elif fate == "dies":
            self.word.set_exception(BrokenProcessPool("died"))
        else:
            assert fate == "starts", f"{fate}: no such fate"
        return self.word

    def submit(self, call):
        if self.is_dead:
            raise BrokenProcessPool("died while it was idle")
        self.tasks.append((call, Future()))
        return self.tasks[-1][1]

    def carry_out(self):
        call, future = self.tasks[-1]
        future.set_result(call())

    def die(self):
        self.is_dead = True
        self.tasks[-1][1].set_exception(BrokenProcessPool("died"))

    def kill(self):
        self._end("killed")

    def shutdown(self, cancel_futures=False):
        self._end("left" if not cancel_futures else "dropped")

    def _end(self, how):
        self.ends.append(how)
        self.crew.log.append((self.crew.started.index(self), how))

    def last_words(self):
        return "its process was killed by SIGKILL (out of memory?)"
