"""Calls of a policy's methods: what a policy raises or wrongly returns is reported as its own fault, with its line."""

from __future__ import annotations

import itertools
import linecache
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import current_thread, get_ident, main_thread
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cluster_abm.errors import InputError, PolicyFault
from cluster_abm.interrupts import PolicyInterrupted
from cluster_abm.policy.base import Policy
from cluster_abm.policy.decision import NUMBERS, TEXTS, Decision, numbers_of, texts_of
from cluster_abm.policy.samples import Sampling, row_of_index
from cluster_abm.policy.view import ArrivingTask, Candidate, Table, View
from cluster_abm.policy.waiting import WaitingJobs

PACKAGE = Path(__file__).resolve().parents[1]
NUMBER = (float, int, np.floating, np.integer)
NO_MIGRATION = "None: no task migrates"
LONGEST_SHOWN, LONGEST_LINE, LONGEST_MESSAGE = 60, 120, 300


class Call(NamedTuple):
    """A call of a policy's method that has not returned: its number, the policy's name, the method, when it began."""

    number: int
    policy: str
    method: str
    begun_s: float


_numbers = itertools.count()
# By thread, the fields of the Call at work: a plain tuple costs a third of one, and there are many calls a job.
_at_work: dict[int, tuple[int, str, str, float]] = {}


def current_call() -> Call | None:
    """The call of a policy's method that is at work in this thread; None if there is none."""
    found = _at_work.get(get_ident())
    return None if found is None else Call(*found)


@contextmanager
def policy_at_work(policy: type[Policy] | Policy, method: str) -> Iterator[None]:
    """Attribute what is raised in the block to a policy.

    Raises:
        PolicyFault: the block raised anything but Ctrl-C, and but InputError where a policy is made.
        PolicyInterrupted: Ctrl-C or SIGTERM ended it.
    """
    thread = get_ident()
    before = _at_work.get(thread)
    call = _at_work[thread] = (next(_numbers), str(policy.name), method, time.monotonic())
    try:
        yield
    except BaseException as problem:
        attributed = _attributed(policy, Call(*call), problem)
        if attributed is None:
            raise
        raise attributed from problem
    finally:
        _leave(thread, before)


def _leave(thread: int, before: tuple[int, str, str, float] | None) -> None:
    """Note that a call is over, and that the one it was made in goes on."""
    if before is None:
        _at_work.pop(thread, None)
    else:
        _at_work[thread] = before


def _attributed(policy: type[Policy] | Policy, call: Call, problem: BaseException) -> BaseException | None:
    """What to raise instead of what a policy's method has raised; None: nothing else."""
    # Parameters that a policy is made with may be wrong without any fault of its own.
    if isinstance(problem, PolicyFault | PolicyInterrupted) or (
        isinstance(problem, InputError) and call.method == "__init__"
    ):
        return None
    # A policy may raise anything, SystemExit and BrokenPipeError too: none of it is to be taken for something else.
    place = _place(policy, problem.__traceback__)
    # Signals come to the main thread only; elsewhere the policy itself has raised it.
    if isinstance(problem, KeyboardInterrupt) and current_thread() is main_thread():
        took_s = time.monotonic() - call.begun_s
        return PolicyInterrupted(f"policy {call.policy!r}: {call.method} had not returned for {took_s:.1f} s{place}")
    message = " ".join("".join(traceback.format_exception_only(problem)).split())
    message = message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]} ..."
    return PolicyFault(f"policy {call.policy!r}: {call.method} raised {message}{place}")


def _place(policy: type[Policy] | Policy, trace: TracebackType | None) -> str:
    """The innermost line of the policy's own file, or else of any file outside this package, in brackets."""
    of = policy if isinstance(policy, type) else type(policy)
    own = {getattr(base, "__module__", "") for base in of.__mro__} - {Policy.__module__, "builtins"}
    frames = [
        (frame.f_globals.get("__name__") in own, frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(trace)
    ]
    chosen = [place for place in frames if place[0]] or [
        place for place in frames if PACKAGE not in Path(place[1]).resolve().parents
    ]
    if not chosen:
        return ""
    _, file, line = chosen[-1]
    source = linecache.getline(file, line).strip()
    source = source if len(source) <= LONGEST_LINE else f"{source[:LONGEST_LINE]} ..."
    return f" ({as_shown(file)}, line {line}{f': {source}' if source else ''})"


def as_shown(file: str) -> str:
    """Return a file's path as seen from the current folder, if it lies in there."""
    with suppress(OSError, ValueError):
        return str(Path(file).relative_to(Path.cwd()))
    return file


class CheckedPolicy:
    """Calls a policy's methods and checks their results. It knows nothing of the engine.

    Each method is called as the policy's own one of that name, with the same arguments and the same result.

    Args:
        policy: the policy.
        nodes: number of nodes of the cluster.

    Raises:
        PolicyFault: by each method: the policy raised an exception, or returned what it must not; by the constructor:
            `acts_every_ms` is no period, or `samples` no Sampling.
    """

    def __init__(self, policy: Policy, nodes: int) -> None:
        self._policy, self._nodes = policy, nodes
        self.name = str(policy.name)
        self.acts_every_ms = self._period()
        self.samples = self._sampling()

    @property
    def relieves(self) -> bool:
        """Whether the policy may send a task elsewhere at its period; else there is nothing to ask it."""
        methods = (getattr(getattr(self._policy, name), "__func__", None) for name in ("relieve", "in_trouble"))
        return tuple(methods) != (Policy.relieve, Policy.in_trouble)

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """`Policy.place`."""
        decision = self._call("place", task, view)
        self._check_decision("place", decision)
        return decision

    def recover(self, task: ArrivingTask, view: View) -> Decision:
        """`Policy.recover`."""
        decision = self._call("recover", task, view)
        self._check_decision("recover", decision)
        return decision

    def migration(self, task: ArrivingTask, view: View) -> Decision | None:
        """`Migrating.migration`."""
        decision = self._call("migration", task, view)
        return self._checked_migration("migration", decision, view)

    def relieve(self, view: View) -> Decision | None:
        """`Policy.relieve`."""
        decision = self._call("relieve", view)
        return self._checked_migration("relieve", decision, view)

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """`Policy.accept`."""
        reason = self._call("accept", task, decision, view)
        if not isinstance(reason, str):
            raise self._wrong("accept", reason, 'a text: "" accepts, anything else is the reason of the refusal')
        self._check_text("accept", reason, "a text")
        return reason

    def restated(self, task: ArrivingTask, decision: Decision, view: View, asker: int) -> Decision:
        """`Policy.restated`."""
        restated = self._call("restated", task, decision, view, asker)
        self._check_decision("restated", restated)
        return restated

    def found(self, task: ArrivingTask, tasks: int, view: View) -> None:
        """As of the policy, if it holds jobs."""
        self._call("found", task, tasks, view)

    def holds(self, task: ArrivingTask, tasks: int, view: View) -> bool:
        """`Holding.holds`."""
        return self._truth("holds", task, tasks, view)

    def next_job(self, queue: WaitingJobs, view: View) -> int:
        """`Holding.next_job`."""
        place = self._call("next_job", queue, view)
        if not isinstance(place, int | np.integer) or isinstance(place, bool) or not -1 <= place < len(queue):
            raise self._wrong("next_job", place, f"a place in the queue, 0 to {len(queue) - 1}, or -1: none starts now")
        return int(place)

    def cores_for(self, task: ArrivingTask, tasks: int, view: View) -> npt.NDArray[np.int64]:
        """`Holding.cores_for`, of a policy that has one; no node only where no core is free."""
        nodes = self._call("cores_for", task, tasks, view)
        is_array = isinstance(nodes, np.ndarray) and nodes.ndim == 1 and np.issubdtype(nodes.dtype, np.integer)
        if is_array and not len(nodes) and not view.free.any():
            return nodes
        if not is_array or not len(nodes) or nodes.min() < 0 or nodes.max() >= self._nodes:
            raise self._wrong("cores_for", nodes, f"an array of nodes, 0 to {self._nodes - 1}, one entry a core")
        return nodes

    def takes_back(self, task: ArrivingTask, view: View) -> bool:
        """`Holding.takes_back`."""
        return self._truth("takes_back", task, view)

    def talk(self, method: str, *given: Any) -> None:
        """One of the methods of `Talking`, all of which return nothing."""
        self._call(method, *given)

    def in_trouble(self, loads: Table) -> npt.NDArray[np.bool_]:
        """`Policy.in_trouble`."""
        flags = self._call("in_trouble", loads)
        if not (isinstance(flags, np.ndarray) and flags.dtype == bool and flags.shape == (self._nodes,)):
            raise self._wrong("in_trouble", flags, f"an array of {self._nodes} truth values, one a node")
        return flags

    def _call(self, method: str, *given: Any) -> Any:
        """As `policy_at_work`, written out: there are many calls a job, and a `with` block costs more than the rest."""
        thread = get_ident()
        before = _at_work.get(thread)
        call = _at_work[thread] = (next(_numbers), self.name, method, time.monotonic())
        try:
            return getattr(self._policy, method)(*given)
        except BaseException as problem:
            attributed = _attributed(self._policy, Call(*call), problem)
            if attributed is None:
                raise
            raise attributed from problem
        finally:
            _leave(thread, before)

    def _period(self) -> float | None:
        with policy_at_work(self._policy, "acts_every_ms"):
            period = self._policy.acts_every_ms
        if period is None:
            return None
        if callable(period):
            raise PolicyFault(
                f"policy {self.name!r}: acts_every_ms is a method; expected a property: write @property above it"
                f"{_definition(self._policy, 'acts_every_ms')}"
            )
        if not isinstance(period, NUMBER) or isinstance(period, bool) or not 1e-6 <= period <= 1e12:
            raise self._wrong("acts_every_ms", period, "None, or a period from 1e-06 to 1e+12 ms")
        return float(period)

    def _sampling(self) -> Sampling | None:
        with policy_at_work(self._policy, "samples"):
            sampling = self._policy.samples
        if sampling is None:
            return None
        is_right = (
            isinstance(sampling, Sampling)
            and bool(sampling.indices)
            and all(row_of_index(index) >= 0 for index in sampling.indices)
            and all(isinstance(ms, NUMBER) and 1e-6 <= ms <= 1e12 for ms in sampling[1:])
        )
        if not is_right:
            raise self._wrong("samples", sampling, "None, or a Sampling of indices and periods")
        return sampling

    def _truth(self, method: str, *given: Any) -> bool:
        answer = self._call(method, *given)
        if not isinstance(answer, bool | np.bool_):
            raise self._wrong(method, answer, "True or False")
        return bool(answer)

    def _checked_migration(self, method: str, decision: Decision | None, view: View) -> Decision | None:
        if decision is None:
            return None
        self._check_decision(method, decision, f"a Decision, or {NO_MIGRATION}")
        if decision.task is None and decision.target == view.me:
            return None
        if decision.task is None:
            raise PolicyFault(
                f"policy {self._policy.name!r}: {method} returned a Decision for node {decision.target} that names no "
                f"task; expected task=, one of view.candidates; or {NO_MIGRATION}"
                f"{_definition(self._policy, method)}"
            )
        if decision.target == view.me:
            raise PolicyFault(
                f"policy {self._policy.name!r}: {method}: a task of node {view.me} is to migrate to it; "
                f"expected another node, or {NO_MIGRATION}"
                f"{_definition(self._policy, method)}"
            )
        return decision

    def _check_decision(self, method: str, decision: Decision, expected: str = "a Decision") -> None:
        if not isinstance(decision, Decision):
            raise self._wrong(method, decision, expected)
        target = decision.target
        if not isinstance(target, int | np.integer) or isinstance(target, bool):
            raise self._wrong(method, target, "a Decision whose target is the number of a node", "target ")
        if not 0 <= target < self._nodes:
            raise PolicyFault(
                f"policy {self._policy.name!r}: it chose node {target}; allowed are 0 to {self._nodes - 1}, {method}"
                f"{_definition(self._policy, method)}"
            )
        # Most decisions are right: their types are checked together first, and by name only if one is wrong.
        texts = texts_of(decision)
        if set(map(type, texts)) != {str} or not all(map(str.isascii, texts)):
            for name, text in zip(TEXTS, texts, strict=True):
                if not isinstance(text, str):
                    raise self._wrong(method, text, f"a Decision whose {name} is a text", f"{name} ")
                self._check_text(method, text, f"a Decision whose {name} is a text", f"{name} ")
        if set(map(type, numbers_of(decision))) != {float}:
            for name in NUMBERS:
                value = getattr(decision, name)
                if not _is_float(value):
                    raise self._wrong(method, value, f"a Decision whose {name} is a number", f"{name} ")
        if not (decision.task is None or isinstance(decision.task, Candidate)):
            expected = "a Decision whose task is None or of view.candidates: view.candidate(place)"
            raise self._wrong(method, decision.task, expected, "task ")

    def _check_text(self, method: str, text: str, expected: str, what: str = "") -> None:
        """Refuse a text that no file can hold."""
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                raise self._wrong(method, text, f"{expected} that can be written as UTF-8", what) from None

    def _wrong(self, method: str, value: Any, expected: str, what: str = "") -> PolicyFault:
        with policy_at_work(self._policy, f"repr() of what {method} returned"):
            shown = repr(value)
        shown = shown if len(shown) <= LONGEST_SHOWN else shown[: LONGEST_SHOWN - 3] + "..."
        where = _definition(self._policy, method)
        return PolicyFault(f"policy {self._policy.name!r}: {method} returned {what}{shown}; expected {expected}{where}")


def _is_float(value: Any) -> bool:
    """Whether a value is a number that a float can hold."""
    if not isinstance(value, NUMBER) or isinstance(value, bool):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def _definition(policy: Policy, method: str) -> str:
    """File and line of a policy's method, in brackets; nothing where they are not known."""
    found = getattr(type(policy), method, None)
    code = getattr(getattr(found, "fget", found), "__code__", None)
    return "" if code is None else f" ({as_shown(code.co_filename)}, line {code.co_firstlineno})"
