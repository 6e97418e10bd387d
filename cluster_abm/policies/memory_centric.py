"""Memory-centric load sharing (MCLS): a machine that pages migrates a job; the policies differ in which one."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from cluster_abm.formulas import activity_weight, is_less_oversized, migration_ms
from cluster_abm.policy.base import Decision, Flags, Policy
from cluster_abm.policy.kinds import Holding, Migrating
from cluster_abm.policy.parts.most_room import NO_NODE, node_of_most_room
from cluster_abm.policy.view import ArrivingTask, Loads, Table, View, written_mb_of
from cluster_abm.scenario.distributions import Count, NonNegative, Positive, Real

RULE = "memory or CPU threshold"
BLOCKED = "home blocks submissions, and no other machine takes it"


def _pages(oversize: Any, threshold: float) -> Any:
    """Whether a machine pages beyond a threshold, by its Q_o: 0 and less is no paging."""
    return (oversize > 0) & (oversize >= threshold)


class MemoryCentric(Holding, Migrating, ABC):
    """The loop of every machine (MCLS, section 4.1). No job announces its memory: a machine measures what is
    allocated, once a period of its loop.

    With demand D and memory M for programs its oversized share is Q_o = (D - M)/M; MT is the memory threshold, CT the
    CPU threshold, N_job the number of its jobs:

    * Q_o < MT and N_job < CT: it runs its jobs and accepts submissions, else it blocks them.
    * MT <= Q_o <= 0, which takes MT < 0: nothing pages yet; the first submission that waits is submitted remotely.
    * Q_o >= MT and Q_o > 0: it pages; the identified job migrates. With MT = 0 it waits a short time before
      (`delay_ms`), with MT > 0 it tolerates paging up to an inner threshold (`inner_threshold`).
    * N_job > CT: the identified job migrates; N_job = CT: submissions are blocked.

    The target k is the machine with most free memory and N_job < CT. It takes a migration if Q_o(k) < MT, or its free
    memory FM, or FM with the buffer FB that would make room, exceeds the job's working set; a remote submission if
    Q_o(k) < MT. If no machine takes it, it stays. The policies differ in which job is identified.
    """

    rules = (
        (
            "memory or CPU threshold",
            "home's memory or CPU is over its threshold and the target's is not",
            "MCLS, section 4.1",
        ),
    )

    class Parameters(Policy.Parameters):
        """Thresholds and times; where MCLS gives none, the default is ours (docs/concepts/model.md)."""

        memory_threshold: Annotated[Real, Field(gt=-1.0)] = 0.0
        """MT: oversized memory demand from which submissions are blocked, as a fraction"""
        cpu_threshold: Count = 8
        """CT: most jobs on a machine; with heterogeneous = true, on one of mean speed"""
        inner_threshold: NonNegative | None = None
        """MT > 0: oversized demand from which jobs are migrated; not set: MT"""
        delay_ms: NonNegative = 2000.0
        """MT = 0: a machine migrates only once it has paged for so long [ms]"""
        pause_ms: NonNegative = 60_000.0
        """a job that has migrated stays at least so long, or jobs go round without running [ms]"""
        settling_ms: NonNegative = 10_000.0
        """after a start a machine accepts the next submission so much later: memory shows only once a job runs [ms]"""
        period_ms: Annotated[Positive, Field(ge=1.0, le=1e9)] = 1000.0
        """how often a machine goes through its loop [ms]"""
        remote_submission: Literal["unless-paging", "always"] = "always"
        """when blocked submissions go elsewhere: only before paging begins (the paper's loop), or always (its text)"""
        fits: Literal["or", "and"] = "or"
        """a target takes a job if Q_o < MT or it has the free memory (the paper's), or only if both"""
        counts_incoming: bool = True
        """whether jobs on their way to a machine are a reason to migrate; not: it pages only once they are there"""
        gain_test: Literal["none", "oversize"] = "none"
        """oversize: a job migrates only if its target will not page, or be oversized less than its machine is now"""
        target_margin: NonNegative = 0.0
        """hysteresis: a target counts as below MT while its Q_o is below MT by more than this, as a fraction"""

    parameters: Parameters
    holds_for_events = True
    index = "oversize"
    # Whether the job is identified by page faults: else they need not be counted.
    by_faults = True

    @property
    def acts_every_ms(self) -> float | None:
        """The period of the loop."""
        return self.parameters.period_ms

    # ---- the loop ----------------------------------------------------------------------------------------------

    def accepts(self, view: View, node: int) -> bool:
        """Whether a machine accepts submissions: Q_o < MT and N_job < CT; and what it started last shows its memory."""
        below = view.load("oversize", node) < self.parameters.memory_threshold
        settled = view.load("newest_ms", node) >= self.parameters.settling_ms
        return below and settled and view.load("tasks", node) < self.parameters.cpu_threshold

    def holds(self, task: ArrivingTask, tasks: int, view: View) -> bool:
        """A blocked submission waits unless another machine takes it."""
        return not self.accepts(view, view.me) and self._submission_target(view) == NO_NODE

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """At home, or from a machine that blocks submissions at the suitable one."""
        here = view.load("oversize", view.me)
        if self.accepts(view, view.me):
            return Decision(view.me, RULE, self.index, load_here=here, reason="accepted at home")
        target = self._submission_target(view)
        if target == NO_NODE:
            return Decision(view.me, RULE, self.index, load_here=here, reason=BLOCKED)
        return Decision(target, RULE, self.index, load_here=here, load_there=view.load("oversize", target))

    def takes_back(self, task: ArrivingTask, view: View) -> bool:
        """Return whether a submission that every asked machine has refused waits: unless its home accepts it."""
        return not self.accepts(view, view.me)

    def in_trouble(self, loads: Table) -> Flags:
        """Machines that page, beyond MT, and those with more than CT jobs."""
        pages = _pages(loads[self._own_oversize], self._migrates_from)
        return np.asarray(pages | (loads["tasks"] > self.parameters.cpu_threshold))

    def relieve(self, view: View) -> Decision | None:
        """The identified job migrates if the machine pages, or has more than CT jobs, and another one can take it."""
        here = view.load(self._own_oversize, view.me)
        crowded = view.load("tasks", view.me) > self.parameters.cpu_threshold
        if not (crowded or _pages(here, self._migrates_from)):
            return None
        since_ms = self._in_trouble_since(view)
        rates = self._fault_rates(view) if self.by_faults else {}
        view.notes["looked_ms"] = view.now_ms
        # At MT = 0 a machine that pages waits: a job may end.
        waits_ms = self.parameters.delay_ms if self.parameters.memory_threshold == 0 and not crowded else 0.0
        if view.now_ms - since_ms < waits_ms:
            return None
        tasks, pause_ms = view.candidate_rows, self.parameters.pause_ms
        moves = zip(*(tasks[name].tolist() for name in ("running", "migrations", "here_ms")), strict=True)
        is_free = [runs and (not moved or here_ms >= pause_ms) for runs, moved, here_ms in moves]
        free = [place for place in range(len(tasks)) if is_free[place]]
        if not free:
            return None
        movable = tasks[free]
        fault_rates = np.zeros(len(movable))
        if rates:
            fault_rates[:] = [rates.get(number, 0.0) for number in movable["task"].tolist()]
        place = self.identified(movable, fault_rates, view)
        if place is None:
            return None
        task = view.candidate(free[place])
        target = self._roomiest(view)
        if target == NO_NODE or not self._takes(task, here, view, target):
            return None
        return Decision(
            target, RULE, self.index, load_here=here,
            load_there=view.load("oversize", target), cost_ms=view.cost_ms(task, target), task=task,
        )  # fmt: skip

    @abstractmethod
    def identified(self, tasks: Table, fault_rates: Loads, view: View) -> int | None:
        """Selection policy: place of the job to migrate, None if there is none.

        Args:
            tasks: the machine's tasks that may move, fields of `View.candidate_rows`; at least one.
            fault_rates: page faults per second of each, R_p [1/s]; 0 of each unless `by_faults`.
            view: what the load manager knows.
        """

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """The asked machine takes a job only if it would still be found suitable by its true state."""
        if decision.task is None:
            return "" if self.accepts(view, view.me) else "blocks submissions by now"
        return "" if self._takes(task, decision.load_here, view, view.me) else "no room by now"

    # ---- its parts ---------------------------------------------------------------------------------------------

    @property
    def _own_oversize(self) -> str:
        """The index by which a machine finds that it pages."""
        return "oversize" if self.parameters.counts_incoming else "oversize_here"

    @property
    def _migrates_from(self) -> float:
        """Q_o from which a machine migrates jobs: MT; at MT > 0 the inner threshold."""
        threshold, inner = self.parameters.memory_threshold, self.parameters.inner_threshold
        return max(threshold, inner) if threshold > 0 and inner is not None else threshold

    def _in_trouble_since(self, view: View) -> float:
        """When the machine was first found in its trouble [ms]; what was noted of an earlier one is dropped."""
        if view.now_ms - view.notes.get("looked_ms", -math.inf) > 1.5 * self.parameters.period_ms:
            view.notes.clear()
        return float(view.notes.setdefault("trouble_since_ms", view.now_ms))

    def _fault_rates(self, view: View) -> dict[int, float]:
        """Return the page faults per second of each task of the machine since the last poll, or since it came."""
        notes = view.notes
        looked_ms = notes.get("looked_ms", -math.inf)
        if looked_ms == view.now_ms:
            # Asked again at the same instant, because a machine has refused: no task can have faulted since.
            known: dict[int, float] = notes["rates"]
            return known
        # Few tasks: one by one takes less time than by arrays.
        tasks, before, rates = view.candidate_rows, notes.get("faults", {}), {}
        faults = dict(zip(tasks["task"].tolist(), tasks["page_faults"].tolist(), strict=True))
        for (task, count), here_ms in zip(faults.items(), tasks["here_ms"].tolist(), strict=True):
            elapsed_ms = view.now_ms - looked_ms if task in before else here_ms
            rates[task] = 1000.0 * (count - before.get(task, 0)) / elapsed_ms if elapsed_ms > 0 else 0.0
        notes["faults"], notes["rates"] = faults, rates
        return rates

    def _roomiest(self, view: View) -> int:
        """k: the machine with the largest free memory among those with fewer than CT jobs; NO_NODE if there is none."""
        # A job needs its MB: room is absolute, also among unlike machines.
        return node_of_most_room(
            view.column("tasks"), view.column("free_mb"), view.column("oversize"), view.is_open, view.me,
            self.parameters.cpu_threshold,
        )  # fmt: skip

    def _submission_target(self, view: View) -> int:
        """The machine that takes a submission which its home blocks; NO_NODE if none does."""
        if self.parameters.remote_submission == "unless-paging" and view.load("oversize", view.me) > 0:
            return NO_NODE
        target = self._roomiest(view)
        return target if target != NO_NODE and self.accepts(view, target) else NO_NODE

    def _takes(self, task: ArrivingTask, here: float, view: View, node: int) -> bool:
        """Return whether Q_o < MT or FM > WS or FM + FB > WS, with fewer than CT jobs; never where the job would exceed
        RAM and swap, for then a job would be killed; nor where it fails the gain test, `here` being its machine's Q_o.
        """
        is_full = view.load("tasks", node) >= self.parameters.cpu_threshold
        if is_full or view.load("virtual_free_mb", node) < task.memory_mb:
            return False
        there = view.load("oversize", node)
        # An offer that claims no gap (`LoadManager.send`) is judged by what concerns this machine alone.
        is_tested = self.parameters.gain_test == "oversize" and not math.isnan(here)
        if is_tested and not is_less_oversized(here, there, task.memory_mb, view.hardware[node].user_memory_mb):
            return False
        below = there < self.parameters.memory_threshold - self.parameters.target_margin
        has_room = view.load("free_mb", node) + view.load("cache_mb", node) > task.memory_mb
        return (below and has_room) if self.parameters.fits == "and" else (below or has_room)


class WorkingSet(MemoryCentric):
    """The job with the largest working set WS [MB] is identified: the most memory-active by what is allocated to it."""

    name = "working-set"
    source = "MCLS, sections 4.2 (1) and 6.1"
    summary = "a machine that pages migrates the job with the largest working set"
    by_faults = False

    def identified(self, tasks: Table, fault_rates: Loads, view: View) -> int | None:
        """The job with the largest WS."""
        return int(tasks["memory_mb"].argmax())


class PageFaultRate(MemoryCentric):
    """The job with the highest page fault rate R_p is identified: page faults per time since the last poll."""

    name = "pf-rate"
    source = "MCLS, sections 4.2 (1) and 6.1"
    summary = "a machine that pages migrates the job with the highest page fault rate"

    def identified(self, tasks: Table, fault_rates: Loads, view: View) -> int | None:
        """The job with the highest R_p."""
        return int(fault_rates.argmax())


class IoActive(MemoryCentric):
    """The job with the most reads and writes so far, N_io, is identified: its buffers take memory from the programs."""

    name = "io-active"
    source = "MCLS, section 4.2 (2)"
    summary = "a machine that pages migrates the job with the most reads and writes"
    by_faults = False

    def identified(self, tasks: Table, fault_rates: Loads, view: View) -> int | None:
        """The job with the highest N_io."""
        return int(tasks["accesses"].argmax())


class Age(MemoryCentric):
    """The oldest job is identified, for it is expected to live longest (Harchol-Balter and Downey).

    The age of a job is the CPU that it has received [ms]. "With a migration cost estimation": a job is eligible once it
    has executed as long as its migration would take.
    """

    class Parameters(MemoryCentric.Parameters):
        """Besides the loop's."""

        which: Literal["oldest", "youngest"] = "oldest"
        """which job is identified; the youngest without a cost estimation"""

    parameters: Parameters
    name = "age"
    source = "MCLS, sections 4.2 (3) and 6.1"
    summary = "a machine that pages migrates the oldest job, once its age has reached its migration cost"
    by_faults = False

    def identified(self, tasks: Table, fault_rates: Loads, view: View) -> int | None:
        """Return the job of highest Age among those with an age of at least their cost; or the one of lowest Age."""
        age_ms = tasks["age_ms"]
        if self.parameters.which == "youngest":
            return int(age_ms.argmin())
        # Whichever job goes, its target is the machine with most room.
        node = self._roomiest(view)
        if node == NO_NODE:
            return None
        cost_ms = migration_ms(
            view.fixed_ms(node)[1], tasks["memory_mb"], tasks["initial_data_mb"] + written_mb_of(tasks),
            view.network_mb_per_s(node), view.disk_mb_per_s(view.me), view.disk_mb_per_s(node),
        )  # fmt: skip
        pays = age_ms >= cost_ms
        return int(np.where(pays, age_ms, -1.0).argmax()) if pays.any() else None


class Combined(MemoryCentric):
    """The job d of highest weight is identified: the CPU-memory-I/O-based index.

    The weight, MCLS (5), is the mean of four activities, each over its maximum on the machine,

        Weight(d) = (Age(d)/max Age + R_p(d)/max R_p + WS(d)/max WS + N_io(d)/max N_io) / 4

    with the age [ms of CPU], the page fault rate, the working set [MB] and the accesses so far.
    """

    class Parameters(MemoryCentric.Parameters):
        """Besides the loop's."""

        which: Literal["highest", "lowest"] = "highest"
        """whether the job of highest or of lowest weight is identified"""

    parameters: Parameters
    name = "combined"
    source = "MCLS (5), sections 4.2 (4) and 6.1"
    summary = "a machine that pages migrates the job most active in CPU, memory and I/O"

    def identified(self, tasks: Table, fault_rates: Loads, view: View) -> int | None:
        """The job with the highest (lowest) Weight."""
        values = (tasks["age_ms"], fault_rates, tasks["memory_mb"], tasks["accesses"].astype(float))
        age, faults, memory, accesses = (float(column.max()) for column in values)
        weights = activity_weight(*values, (age, faults, memory, accesses))
        return int(weights.argmax() if self.parameters.which == "highest" else weights.argmin())
