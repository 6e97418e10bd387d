"""Computes runs for all tabs, on processes of its own: none of them can hold up, or end, the server or another's run.

A thread owns the workers and what waits for them: whatever happens is put into its queue as something to call, so that
nothing here needs a lock. What a task comes to is kept a while: the same task always gives the same bytes.
"""

from __future__ import annotations

import json
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from cluster_abm.limits import available_processors
from viz.server.crew import Worker, started
from viz.server.said import Made, Stage, Task

# Workers that are kept ready; and how many there are at most, while some visitor has none.
LEAST_READY, MOST_READY, MORE = 2, 4, 2
# So often is looked after what waits, and what has not been heard of [s].
TICK_S = 0.1
# A task that is not wanted any more has this time to end before its process is ended [s].
GRACE_S = 0.5
# A policy that has not returned for this time is stopped where others wait [s].
SILENT_S = 20.0
# What is kept of what was computed [bytes].
MOST_KEPT = 200_000_000
# Processes that ended before they were ready, one after the other, until a task is told so.
MOST_IN_VAIN = 3

Seen = Callable[[Stage | Made], None]


class Asked:
    """A task that somebody waits for.

    Args:
        whose: names the visitor's tab.
        seen: told how far it is, and what it has come to, from a thread of the runs'.
    """

    def __init__(self, whose: str, task: Task, seen: Seen) -> None:
        self.whose, self.task, self.seen = whose, task, seen
        self.first = Stage("waiting", since=time.monotonic())


class Running:
    """A task, those that wait for it, and how far it is."""

    def __init__(self, number: int, task: Task) -> None:
        self.number, self.task = number, task
        self.waiting: list[Asked] = []
        self.stage = Stage("waiting", since=time.monotonic())
        self.worker: Worker | None = None
        # When its worker is ended if it has not ended it before.
        self.end_s = math.inf
        self.error = ""


class Runs:
    """The workers, and what they are asked for.

    Args:
        asked: what the page is asked to show (first.ASKED): {"scenario", "overrides"} at least.
        ready: workers that are kept ready; None: by the processors.
    """

    def __init__(self, asked: Mapping[str, Any], ready: int | None = None) -> None:
        self._asked = dict(asked)
        self._ready = ready or min(MOST_READY, max(LEAST_READY, available_processors()))
        self._events: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._workers: dict[Worker, Running | None] = {}
        self._starting: set[Worker] = set()
        self._tasks: dict[str, Running] = {}
        self._kept: OrderedDict[str, Made] = OrderedDict()
        self._numbers = self._in_vain = 0
        self._over = False
        self._thread = Thread(target=self._live, name="cluster-abm runs", daemon=True)
        self._thread.start()

    def ask(self, whose: str, task: Task, seen: Seen) -> Asked:
        """Have a task carried out; `seen` is told of it until it is done or stopped."""
        asked = Asked(whose, task, seen)
        self._events.put(partial(self._ask, asked))
        return asked

    def stop(self, asked: Asked) -> None:
        """It is not wanted any more; where nobody else waits for the same, its run is stopped."""
        self._events.put(partial(self._stop, asked))

    def close(self) -> None:
        """End all processes."""
        self._events.put(self._close)
        self._thread.join(5)

    # ---- in the thread ---------------------------------------------------------------------------------------

    def _live(self) -> None:
        while not self._over:
            with suppress(Empty):
                self._events.get(timeout=TICK_S)()
            if not self._over:
                self._look()
                self._employ()

    def _ask(self, asked: Asked) -> None:
        key = asked.task.key
        if key in self._kept:
            self._kept.move_to_end(key)
            asked.seen(self._kept[key])
            return
        running = self._tasks.get(key)
        if running is None:
            self._numbers += 1
            running = self._tasks[key] = Running(self._numbers, asked.task)
        running.waiting.append(asked)
        running.end_s = math.inf
        asked.seen(running.stage)

    def _stop(self, asked: Asked) -> None:
        running = self._tasks.get(asked.task.key)
        if running is None or asked not in running.waiting:
            return
        running.waiting.remove(asked)
        if not running.waiting:
            self._end(running, GRACE_S)

    def _end(self, running: Running, within_s: float) -> None:
        """Have a task end: at its worker's next word, or with its worker."""
        # The same may be asked for again: that is another task then.
        if self._tasks.get(running.task.key) is running:
            del self._tasks[running.task.key]
        if running.worker is not None:
            running.end_s = time.monotonic() + within_s
            running.worker.abandon(running.number)

    def _close(self) -> None:
        self._over = True
        for worker in self._workers:
            worker.kill()
        self._tasks.clear()

    # ---- workers ---------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """End what has had its time."""
        now_s = time.monotonic()
        hungry = any(one.worker is None for one in self._tasks.values())
        for running in [one for one in self._workers.values() if one is not None]:
            silent_s = now_s - running.stage.heard
            if running.stage.phase == "running" and silent_s > SILENT_S and hungry and running.end_s == math.inf:
                running.error = (
                    f"policy {running.task.policies[0]!r} had not returned for {silent_s:.0f} s when it was stopped: "
                    "others wait"
                )
                running.end_s = now_s
            if now_s >= running.end_s and running.worker is not None:
                running.worker.kill()
                running.end_s = math.inf

    def _employ(self) -> None:
        """Give what waits to idle workers, the tab that has fewest first; and have enough of them."""
        waiting = [one for one in self._tasks.values() if one.worker is None]
        busy = [one for one in self._workers.values() if one is not None]
        idle = [worker for worker, one in self._workers.items() if one is None and worker not in self._starting]
        while waiting and idle:
            first = min(waiting, key=lambda one: (_most_busy(one, busy), one.number))
            waiting.remove(first)
            busy.append(first)
            # One that has loaded what the policy needs begins at once.
            chosen = max(idle, key=lambda worker: len(worker.knows & set(first.task.policies)))
            idle.remove(chosen)
            self._give(chosen, first)
        hungry = sum(not _most_busy(one, busy) for one in waiting)
        while self._in_vain < MOST_IN_VAIN and self._needs_another(hungry):
            self._start()
        if not waiting and len(self._workers) > self._ready and idle:
            self._workers.pop(leaver := idle.pop())
            leaver.kill()

    def _needs_another(self, hungry: int) -> bool:
        """Whether a worker is to be started; `hungry`: how many tasks wait of visitors for whom nothing is computed.

        Each worker that is starting will take one of them. Without such a need workers start one after another: on a
        few processors the first is ready sooner.
        """
        if hungry > len(self._starting):
            return len(self._workers) < self._ready + MORE
        return not self._starting and len(self._workers) < self._ready

    def _start(self) -> None:
        try:
            worker, word = started(self._asked, self._told)
        except (OSError, RuntimeError) as problem:
            self._start_in_vain(str(problem))
            return
        self._workers[worker] = None
        self._starting.add(worker)
        word.add_done_callback(lambda done: self._events.put(partial(self._welcome, worker, done)))

    def _told(self, worker: Worker, said: bytes) -> None:
        self._events.put(partial(self._hear, worker, said))

    def _welcome(self, worker: Worker, done: Future[Any]) -> None:
        self._starting.discard(worker)
        if done.exception() is None:
            self._in_vain = 0
        elif self._workers.pop(worker, None) is None and not self._over:
            self._start_in_vain(worker.last_words())

    def _start_in_vain(self, words: str) -> None:
        self._in_vain += 1
        if self._in_vain >= MOST_IN_VAIN and not self._workers:
            for running in list(self._tasks.values()):
                self._tell(running, Made(error=f"no process can be started for a run: {words}"))
            self._tasks.clear()
            self._in_vain = 0

    def _give(self, worker: Worker, running: Running) -> None:
        now_s = time.monotonic()
        self._workers[worker], running.worker = running, worker
        running.stage = Stage("preparing", since=now_s, heard=now_s)
        self._tell(running, running.stage)
        done = worker.compute(running.number, running.task)
        done.add_done_callback(lambda done: self._events.put(partial(self._finish, worker, running, done)))

    def _hear(self, worker: Worker, said: bytes) -> None:
        """A worker says how far it is."""
        running = self._workers.get(worker)
        words = json.loads(said)
        if running is None or words.pop("number") != running.number:
            return
        now_s, before = time.monotonic(), running.stage
        since = before.since if words["phase"] == before.phase and words.get("what", "") == before.what else now_s
        running.stage = Stage(**words, since=since, heard=now_s)
        self._tell(running, running.stage)

    def _finish(self, worker: Worker, running: Running, done: Future[Made]) -> None:
        problem = done.exception()
        if problem is None:
            made = done.result()
            self._workers[worker] = None
        else:
            self._workers.pop(worker, None)
            words = "stopped" if not running.waiting else worker.last_words()
            made = Made(error=running.error or f"the run has ended: {words}")
        if self._tasks.get(running.task.key) is running:
            del self._tasks[running.task.key]
        if not made.error:
            self._keep(running.task.key, made)
        self._tell(running, made)
        worker.knows |= set(running.task.policies)

    def _tell(self, running: Running, seen: Stage | Made) -> None:
        for asked in running.waiting:
            asked.seen(seen)

    def _keep(self, key: str, made: Made) -> None:
        self._kept[key] = made
        while len(self._kept) > 1 and sum(len(one.data) for one in self._kept.values()) > MOST_KEPT:
            self._kept.popitem(last=False)


def _most_busy(running: Running, busy: list[Running]) -> int:
    """How many tasks are under way of those that wait for this one: of whoever has fewest."""
    counts = [sum(any(one.whose == other.whose for other in at.waiting) for at in busy) for one in running.waiting]
    return min(counts, default=0)


_shared: list[Runs] = []


def shared_runs(asked: Mapping[str, Any]) -> Runs:
    """Those of this process, which all tabs share."""
    if not _shared:
        _shared.append(Runs(asked))
    return _shared[0]


def close_shared() -> None:
    """End those of this process."""
    while _shared:
        _shared.pop().close()
