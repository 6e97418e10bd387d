"""The one way in which runs are carried out: points, policies and seeds go in, records come out."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cluster_abm.errors import InputError
from cluster_abm.interrupts import interrupt_held_back
from cluster_abm.progress import Progress
from cluster_abm.scenario import Scenario
from cluster_abm.study.design.unread import Seeds, draws_nothing
from cluster_abm.study.runner.ahead import compile_ahead, missing_parts
from cluster_abm.study.runner.assigning import Assigning
from cluster_abm.study.runner.beginning import Beginning
from cluster_abm.study.runner.executors import BatchExecutor, open_executor
from cluster_abm.study.runner.in_flight import EndedTask, InFlight
from cluster_abm.study.runner.one_run import carry_out, looked_after
from cluster_abm.study.runner.record_keepers import ResultKeeper
from cluster_abm.study.runner.sending import Runs, Sending
from cluster_abm.study.runner.wanted import Values
from cluster_abm.study.store.store import Record, RunName

# How often it is looked whether other processes have finished what they claimed [s].
POLL_S = 0.5
# Keys whose policies are looked up, at most: a study has few policies, at many points.
MOST_LOOKED_UP = 64
# An interrupt names the runs that had taken longer than this: a policy may not have returned [s].
LONG_UNDER_WAY_S = 5.0


@dataclass(frozen=True)
class Request:
    """Runs that are asked for."""

    keys: Sequence[str]  # the name of each point under each policy, in order
    scenario: Callable[[RunName], Scenario]  # the scenario of a run
    # the seeds that a key needs, by the values of its runs so far
    seeds: Callable[[str, Mapping[int, float | None]], Sequence[int]]
    # the number of a record that `seeds` goes by; None: it goes by none
    value: Callable[[Record], float | None] | None = None
    load_seed: int | None = None  # the seed of the runs of which the load over time is kept; None: of none
    raises_bad_input: bool = False  # whether bad input that only a run notices ends all, else that run
    keeps_responses: bool = False  # as of `Assignment`
    to_come: int = 0  # how many more runs later requests will ask for, about, on the same executor


class RequestedRuns:
    """What is to be done, is being done, and is done.

    Args:
        request: the runs.
        keeper: where records are kept.
        known: values of runs that the keeper had from the beginning, by key and seed; None: the run failed.
        failed_before: records of those that failed then and are not to be tried again.
        to_retry: those that failed then and are, with when their record was written [ns].
        bar: shows the progress.
        on_finished: called with each record that comes while the work goes on.

    Attributes:
        finished, failed: runs that are there, those that were from the beginning included.
        made: how many were carried out here.
        under_way: after an interrupt, the runs that had begun long before it: name, and for how long [s].
    """

    def __init__(
        self,
        request: Request,
        keeper: ResultKeeper,
        bar: Progress,
        known: Mapping[str, Values] | None = None,
        failed_before: Mapping[RunName, Record] | None = None,
        to_retry: Mapping[RunName, int | None] | None = None,
        on_finished: Callable[[Record], None] | None = None,
    ) -> None:
        self._request, self._keeper, self._bar, self._on_finished = request, keeper, bar, on_finished
        self._values: dict[str, Values] = {key: dict((known or {}).get(key, {})) for key in request.keys}
        self._failed_before, self._to_retry = dict(failed_before or {}), dict(to_retry or {})
        self._needed: dict[str, Sequence[int]] = dict.fromkeys(self._values, ())
        self.finished: set[RunName] = set()
        self.failed: dict[RunName, Record] = {}
        self.queue: deque[RunName] = deque()
        self._elsewhere: list[RunName] = []
        # Runs that are known to be equal to another one: they are booked with it.
        self._seeds = Seeds()
        self._first: dict[str, int] = {}
        # By key, its scenario if no more than its work may differ from seed to seed; making one takes as long as a run.
        self._undrawn: dict[str, Scenario | None] = {}
        self._equal: dict[RunName, list[RunName]] = {}
        self.made = 0
        self.under_way: list[tuple[RunName, float]] = []
        for key in self._values:
            self._ask_for(key)
        # Seed by seed, so that policies can be compared before all is done.
        self.queue = deque(sorted(self.queue, key=lambda run: run[1]))
        self._assigning = Assigning(
            request.scenario, request.load_seed, request.raises_bad_input, request.keeps_responses
        )
        self._sending = Sending(self._assigning, self.queue)
        # What ended a task and ends all others.
        self._problem: InputError | None = None
        self._last_key = ""
        bar.begin_at(len(self.finished) + len(self.failed))
        # The first run of a policy may compile, or read the compiled code: it does not tell how long others take.
        bar.hold()
        self._policy_of = dict(self._policies())
        self._awaited = set(self._policy_of.values())

    def _policies(self) -> Iterator[tuple[str, str]]:
        """The policy of each key that is to be run; of many keys of the first ones."""
        first_of_keys = {key: (key, seed) for key, seed in reversed(self.queue)}
        for key, run in list(first_of_keys.items())[-MOST_LOOKED_UP:]:
            yield key, self._request.scenario(run).policy.name

    @property
    def expected(self) -> int:
        """Runs that are asked for, as far as is known."""
        return sum(map(len, self._needed.values()))

    def seeds_of(self, key: str) -> Sequence[int]:
        """The seeds that a key needs, as far as is known."""
        return self._needed[key]

    def carry_on(self, executor: BatchExecutor) -> None:
        """Carry out all that is asked for."""
        if executor.is_here and not self._compile_ahead(executor) and not executor.is_ready:
            self._begin_here()
        self._work_on(executor)

    def _begin_here(self) -> None:
        """Carry out runs in this process until it is known that there is work for others.

        A policy that comes from a file of a user's may end its process: its runs are left to others.
        """
        beginning = Beginning(self._sending.pace)
        with open_executor("inline") as executor, looked_after(beginning.look):

            def is_over() -> bool:
                if self._sending.pace.typical_s is None:
                    # The second run under a policy is the first to tell how long one takes.
                    self._sending.bring_forward(self._last_key)
                is_of_user = bool(self.queue and self._assigning.of(self.queue[0], is_in_process=False).policies)
                return is_of_user or beginning.is_over(len(self.queue) + self._request.to_come)

            self._work_on(executor, is_over)

    def _work_on(self, executor: BatchExecutor, is_over: Callable[[], bool] = lambda: False) -> None:
        """Carry out what is asked for on an executor, until all is done or it is over with it."""
        with InFlight(executor, self._book) as flight:
            try:
                while self.queue or self._elsewhere or flight:
                    if is_over() and not flight:
                        return
                    self._fill(flight, executor)
                    self._show()
                    self._keeper.tidy(self.made)
                    if flight:
                        if flight.book_next():
                            if self._problem is not None:
                                raise self._problem
                            continue
                    elif self._elsewhere:
                        time.sleep(POLL_S)
                    # No run has ended here for a while: other processes may have finished what they claimed.
                    self.queue.extend(self._elsewhere)
                    self._elsewhere.clear()
            except KeyboardInterrupt:
                self.under_way = [
                    (run, since) for runs, since in flight.under_way() if since >= LONG_UNDER_WAY_S for run in runs
                ]
                raise

    def _compile_ahead(self, executor: BatchExecutor) -> bool:
        """Compile what no process has compiled here; return whether there was anything."""
        first_of_keys = {key: (key, seed) for key, seed in reversed(self.queue)}
        parts = missing_parts(map(self._request.scenario, first_of_keys.values()))
        if parts:
            compile_ahead(executor, parts, self._bar.is_quiet, look=lambda: None)
        return bool(parts)

    def _ask_for(self, key: str) -> None:
        """Put what a key still needs into the queue."""
        before = set(self._needed[key])
        self._needed[key] = self._request.seeds(key, self._values[key])
        for seed in self._needed[key]:
            if seed in before:
                continue
            if seed not in self._values[key]:
                self._enqueue((key, seed))
            elif (key, seed) in self._failed_before:
                self.failed[key, seed] = self._failed_before[key, seed]
            else:
                self.finished.add((key, seed))
        self._bar.total = self.expected

    def _enqueue(self, run: RunName) -> None:
        """Put a run into the queue, or beside one there that is known to be equal."""
        key, seed = run
        first = self._first.setdefault(key, seed)
        # Each is the first of its key until it is over: what a seed changes is not known of runs that are there.
        if (
            seed not in (first, self._request.load_seed)
            and first not in self._values[key]
            and self._seeds.are_alike(self._scenario_without_draws(key), first, seed)
        ):
            self._equal.setdefault((key, first), []).append(run)
        else:
            self.queue.append(run)

    def _scenario_without_draws(self, key: str) -> Scenario | None:
        """The scenario of a key's first run, if nothing but the work is drawn in it."""
        if key not in self._undrawn:
            scenario = self._request.scenario((key, self._first[key]))
            self._undrawn[key] = scenario if draws_nothing(scenario) else None
        return self._undrawn[key]

    def _book_equal(self, record: Record) -> None:
        """Book the runs that are equal to one that is over; what may have ended it by chance ends none of them."""
        runs = self._equal.pop(record.name, [])
        if record.failed:
            self.queue.extend(runs)
            return
        for run in runs:
            if not self._keeper.claim(run):
                self._elsewhere.append(run)
                continue
            found = self._keeper.look_up(run)
            if found is None or found.failed:
                found = replace(record, seed=run[1], load=None)
                self._keeper.add(found)
            self._keeper.release(run)
            self._settle(found)

    def _fill(self, flight: InFlight[Runs], executor: BatchExecutor) -> None:
        while self.queue and self._sending.has_room(flight, executor):
            given_up = self._sending.send_next(flight, executor, self._takes, carry_out)
            for run in given_up:
                self._keeper.release(run)
            if given_up:
                return

    def _takes(self, run: RunName) -> bool:
        """Whether a run is to be carried out here, which is then claimed; what is there by now is settled."""
        if not self._keeper.claim(run):
            self._elsewhere.append(run)
            return False
        record = self._keeper.look_up(run)
        if record is None or (record.failed and self._is_as_before(run)):
            return True
        with interrupt_held_back():
            self._keeper.release(run)
            self._settle(record)
        return False

    def _is_as_before(self, run: RunName) -> bool:
        """Whether a failed run's record is that of before this call; else another process has tried it again."""
        written_ns = self._to_retry.get(run)
        return written_ns is not None and self._keeper.written_ns(run) == written_ns

    def _book(self, ended: EndedTask[Runs]) -> None:
        # Not interrupted in between, by `InFlight`: what is reported at the end is what is kept.
        back = self._sending.come_back(ended)
        if back is None:
            for run in ended.name:
                self._keeper.release(run)
            return
        if len(back.records) == 1:
            self._keeper.add(back.records[0])
        elif back.records:
            self._keeper.add_all(back.records)
        for record in back.records:
            self._keeper.release(record.name)
            self.made += 1
            self._last_key = record.key
            self._settle(record)
        self._problem = back.problem

    def _settle(self, record: Record) -> None:
        key, seed = record.name
        if record.failed:
            self.failed[record.name] = record
            self._values[key][seed] = None
        else:
            self.finished.add(record.name)
            if self._on_finished is not None:
                self._on_finished(record)
            self._values[key][seed] = None if self._request.value is None else self._request.value(record)
        self._bar.update()
        if self._awaited:
            self._awaited.discard(self._policy_of.get(key, ""))
            if not self._awaited:
                self._bar.measure()
        self._book_equal(record)
        if self._request.value is not None:
            self._ask_for(key)

    def _show(self) -> None:
        elsewhere = {"elsewhere": len(self._elsewhere)} if self._elsewhere else {}
        self._bar.set_postfix(running=self._sending.runs, failed=len(self.failed), **elsewhere, refresh=False)
