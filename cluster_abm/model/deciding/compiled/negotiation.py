"""The negotiation about arriving tasks where all load managers have one policy that has a compiled form."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from cluster_abm.arrays import Integers
from cluster_abm.clock import Clock
from cluster_abm.compiling.texts import text_of
from cluster_abm.engine.admission import Starts
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import Table
from cluster_abm.jit import entry
from cluster_abm.model.deciding.compiled.arriving import place_arrivals
from cluster_abm.model.deciding.compiled.inputs import CompiledInputs
from cluster_abm.model.deciding.compiled.relieving import next_willing
from cluster_abm.model.deciding.compiled.scratch import (
    ASKED,
    ASKING_NS,
    AT_FAULT,
    AT_FAULT_OF_MIGRATION,
    DECIDED_ROWS,
    DECLINED,
    MIGRATIONS,
    NO_ROOM,
    NOW_NS,
    OUTCOME,
    REFUSED,
    REMOTE_EXECUTIONS,
    TAKEN,
    Scratch,
)
from cluster_abm.model.deciding.decisions import DECIDED, DecisionLog
from cluster_abm.model.deciding.in_python import Begun
from cluster_abm.model.deciding.questions import Questions
from cluster_abm.model.knowing.views import Views
from cluster_abm.model.moving.departures import Departures
from cluster_abm.model.moving.staging import Staging
from cluster_abm.model.part import part
from cluster_abm.model.waiting.queues import TaskArrivals
from cluster_abm.policies import Decision, Policy
from cluster_abm.policy.decision import NUMBERS, TEXTS

# One call places at most this many arrivals: in between Ctrl-C is heard, and progress shown.
AT_ONCE = 50_000

# Each exception of compiled code leaves a little memory behind: after this many managers decide in Python.
MOST_FAULTS = 1000

NO_ROWS: Table = np.zeros(0, DECIDED)

# Goes on about an arriving task, of that number; or only makes tasks migrate after it, if it has started.
AtFault = Callable[[int, bool, Begun], None]

# What a policy decides by when tasks arrive; and what those of some kinds have beside.
METHODS = (
    "place", "accept", "is_overloaded", "location", "task_load", "response_ms", "load_name", "load_of",
    "send_to_least", "restated", "relieve",
)  # fmt: skip
OF_SOME = ("migration", "holds", "takes_back", "next_job", "cores_for")
_methods = attrgetter(*METHODS)


class PolicyAsCompiled:
    """A policy as it was when it was compiled: a method of its class, or a value in it, may be replaced later.

    Args:
        policy: the policy.
        names: of the methods that policies of some kinds have beside METHODS.
    """

    def __init__(self, policy: Policy, names: tuple[str, ...] = OF_SOME) -> None:
        self._policy, self._names = policy, names
        # Kept alive, so that no other value can have its number.
        self._values = list(vars(policy).values())
        self._was = self._now()

    @property
    def is_same(self) -> bool:
        """Whether the policy is still the one that was compiled."""
        return self._now() == self._was

    def _now(self) -> tuple[object, ...]:
        of, own = type(self._policy), vars(self._policy)
        return _methods(of), [getattr(of, name, None) for name in self._names], list(own), list(map(id, own.values()))


@contextmanager
def faults_unprinted() -> Iterator[None]:
    """Print nothing of an exception of a compiled policy: the path in Python raises it again."""
    prints, sys.unraisablehook = sys.unraisablehook, lambda _: None
    try:
        yield
    finally:
        sys.unraisablehook = prints


@part
class CompiledForm:
    """The policy that is compiled, and whether it is still the one that decides.

    Attributes:
        faults: how often compiled code could not tell what it decides.
    """

    policy: Policy  # the policy of all load managers
    views: Views

    def __post_init__(self) -> None:
        self._compares_alike = self.views.capacities(0) is None
        self._as_compiled = PolicyAsCompiled(self.policy)
        self.faults = 0

    @property
    def is_right(self) -> bool:
        """Whether what is compiled is the policy as it is, and for the nodes as they are.

        A method may have been put in the place of another one since; unlike nodes are compared otherwise than alike
        ones.
        """
        are_alike = self.views.capacities(0) is None
        return are_alike == self._compares_alike and self._as_compiled.is_same and self.faults < MOST_FAULTS


@part
class Tallies:
    """Hands counts over to compiled code, and takes them back."""

    log: DecisionLog
    questions: Questions
    departures: Departures
    staging: Staging | None

    def begin(self, scratch: Scratch, now_ns: int) -> Table:
        """Set the counts of a call that begins; the rows into which it writes decisions."""
        counts, log = scratch.counts, self.log
        decided, position = (log.room(1), log.position) if log.is_read else (NO_ROWS, 0)
        counts[:] = 0
        counts[NOW_NS], counts[DECIDED_ROWS] = now_ns, position
        if self.staging is not None:
            scratch.fetched_mb[:] = self.staging.fetched_mb, self.staging.fetched_between_clusters_mb
        return decided

    def take_over(self, scratch: Scratch, asks: bool = True) -> None:
        """Add what a call has counted; `asks`: whether nodes are asked before a task is sent there."""
        counts = scratch.counts.tolist()
        refusals, remote_executions, migrations = (counts[row] for row in (REFUSED, REMOTE_EXECUTIONS, MIGRATIONS))
        self.log.count(counts[TAKEN], refusals)
        # Each node that was asked has refused, or was sent a task.
        self.questions.messages += 2 * (refusals + remote_executions + migrations) if asks else 0
        self.departures.remote_executions += remote_executions
        self.departures.migrations += migrations
        if self.staging is not None:
            self.staging.note_fetched(scratch.fetched_mb)


@part
class CompiledNegotiation:
    """Does what the load managers do when tasks arrive, in the same order and with the same results."""

    engine: EngineState
    clock: Clock
    form: CompiledForm  # of the policy of all of them
    inputs: CompiledInputs  # what compiled code reads
    tallies: Tallies  # takes over what it counts

    @property
    def is_right(self) -> bool:
        """Whether what is compiled is the policy as it is, for the nodes as they are."""
        return self.form.is_right

    @property
    def relieves(self) -> bool:
        """Whether it tells which managers would have a task leave their node in this period (`next_willing`)."""
        return self.inputs.compiled.relieve != 0 and self.is_right

    def next_willing(self, asked: Integers, first: int) -> int:
        """The place of the next manager whose policy would have a task leave its node; their number: there is none.

        Args:
            asked: the managers, in their order.
            first: place of the first one that is asked.
        """
        engine, inputs = self.engine, self.inputs
        inputs.make_room(int((engine.nodes["tasks"] + engine.nodes["in_transit"]).max()))
        inputs.views.memory.make_room(2 * len(asked))
        inputs.bring_up_to_date()
        inputs.receive_reports(writes=self.tallies.log.is_read)
        given = (
            engine.tables, *inputs.addresses, inputs.availability.accepting, inputs.silent_ns, asked, first,
            self.clock.now_ns,
        )  # fmt: skip
        compiled = entry(next_willing, *given)
        with faults_unprinted():
            return compiled(*given)

    def place(self, arrivals: TaskArrivals, stand_in: Integers, at_fault: AtFault) -> Integers:
        """Place arriving tasks, each at the beginning of its slice, up to which the nodes live first.

        Args:
            arrivals: the tasks, in the order of arrival.
            stand_in: the node that takes the arrivals of each node.
            at_fault: goes on about one of them by the path in Python, where compiled code cannot tell what the policy
                decides, or it or a cost is at fault.

        Returns:
            node, delay [ns] and time asking [ns] of each, shape (3, tasks).
        """
        count = len(arrivals.job)
        placed = np.zeros((3, count), np.int64)
        self.inputs.bring_up_to_date()
        done = 0
        while done < count:
            last = min(count, done + AT_ONCE)
            done = self.some(self._place_arrivals, arrivals, placed, stand_in, done, last, at_fault)
        return placed

    def some(
        self,
        kernel: Callable[..., int],
        arrivals: TaskArrivals,
        placed: Integers,
        stand_in: Integers,
        first: int,
        last: int,
        at_fault: AtFault,
    ) -> int:
        """Have a kernel with the arguments of arriving.place_arrivals do its part; which task comes next."""
        done, counts = self.carry_out(kernel, stand_in, tuple(arrivals), placed, first, last)
        if counts[OUTCOME] == NO_ROOM:
            self.make_room(int(arrivals.job[done]), stand_in)
        elif counts[OUTCOME] in (AT_FAULT, AT_FAULT_OF_MIGRATION):
            at_fault(done, counts[OUTCOME] == AT_FAULT_OF_MIGRATION, self.begun(counts))
            done += 1
        return done

    def carry_out(self, kernel: Callable[..., int], stand_in: Integers, *given: Any) -> tuple[int, list[int]]:
        """Call a kernel with the arguments of arriving.place_arrivals up to `stand_in`, and those given.

        Returns:
            what it returns, and its counts; the clock is at the time that it has reached.
        """
        engine, inputs = self.engine, self.inputs
        inputs.receive_reports(writes=self.tallies.log.is_read)
        scratch, availability = inputs.scratch, inputs.availability
        decided = self.tallies.begin(scratch, self.clock.now_ns)
        inputs.write_truths_to(self.tallies.log.truths_filling)
        with faults_unprinted():
            done = kernel(
                engine.tables, scratch.starts, *inputs.addresses, decided, availability.up, availability.accepting,
                inputs.silent_ns, stand_in, *given,
            )  # fmt: skip
        self.tallies.take_over(scratch)
        counts = scratch.counts.tolist()
        # Nodes that had nothing to do with the arrivals have lagged behind.
        if counts[NOW_NS] > self.clock.now_ns:
            self.clock.now_ns = engine.serve(counts[NOW_NS])
        return done, counts

    def note_fault(self) -> None:
        """Count a decision that compiled code could not tell."""
        self.form.faults += 1

    def begun(self, counts: list[int]) -> Begun:
        """How far compiled code has come with a task of which it cannot tell what is decided, by its counts."""
        self.note_fault()
        scratch = self.inputs.scratch
        refused = frozenset(scratch.declined[: counts[DECLINED]].tolist())
        return Begun(refused, counts[ASKING_NS], counts[ASKED], decision_of(scratch.decision[0]))

    def make_room(self, job: int, stand_in: Integers) -> None:
        """Make room for what the next task may bring about, and for many more."""
        engine, inputs, tasks = self.engine, self.inputs, 1
        migrates, offers, spare_rows = (int(inputs.settings[name][0]) for name in ("migrates", "offers", "spare_rows"))
        if migrates:
            home = engine.nodes[stand_in[int(engine.jobs["home"][job])]]
            tasks += int(home["tasks"] + home["in_transit"]) + 1
        answers = tasks * (min(offers, len(engine.nodes)) + 1)
        engine.make_room(tasks + spare_rows + 1024)
        inputs.reports.make_room(answers + 4096)
        if inputs.compiled.notes:
            inputs.views.memory.make_room(answers + 1024)
        if self.tallies.log.is_read:
            self.tallies.log.room(answers)
        if migrates:
            inputs.make_room(tasks)

    @cached_property
    def _place_arrivals(self) -> Callable[..., int]:
        return compiled_placement(self.engine)


def decision_of(row: Any) -> Decision:
    """The decision about an arriving task that stands in a row of scratch space."""
    said = {name: text_of(int(row[name])) for name in TEXTS} | {name: float(row[name]) for name in NUMBERS}
    return Decision(int(row["target"]), **said)  # type: ignore[arg-type]


def compiled_placement(engine: EngineState) -> Callable[..., int]:
    """The compiled code of arriving.place_arrivals: the same for all policies."""
    return entry(place_arrivals, *sample_arguments(engine))


def sample_arguments(engine: EngineState) -> tuple[Any, ...]:
    """Arguments of the types of arriving.place_arrivals."""
    rows, flags, numbers, table = np.zeros(0, DECIDED), np.zeros(1, bool), np.zeros(1, np.int64), np.zeros((1, 1), int)
    return (
        engine.tables, Starts(*(numbers,) * 6), 0, 0, 0, rows, flags, flags, table, numbers, (numbers,) * 3, table, 0,
        0,
    )  # fmt: skip
