"""The instrument: sets of processes are carried out on this machine, and what they got is read from their logs."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from cluster_abm.validation.correction import Corrected, corrected
from cluster_abm.validation.crew import PATIENCE_S, Crew, DeadlinePassed, WorkerProcess
from cluster_abm.validation.machine import text_of, ticks_of
from cluster_abm.validation.plans import Disk, Set
from cluster_abm.validation.proc_files import parse_switches

# A unit of computing [ms]: what a log can tell apart.
UNIT_MS = 0.2
# Of a measurement of a unit alone.
ALONE_UNITS = 100
# Computed before it and not counted: the first units after a sleep are slower.
WARM_UNITS = 50
# From the command to the first start of a set: all processes have read theirs by then [ms].
LEAD_MS = 30
TICKS_PER_S = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True)
class SetOutcome:
    """One set, carried out once."""

    number: int  # of the set; its repeats have the same one
    repeat: int  # 0 or 1
    programs: Set  # what its processes did
    found: tuple[Corrected, ...]  # what they got
    # CPU of a unit of each process, alone on a core, measured just before and just after [ns]
    unit_ns: tuple[float, ...]
    drift: float  # how far these two lie apart, the mean over the processes, relative
    delivered_share: float  # CPU delivered over CPU that could have been used
    # of the cores' time that others used meanwhile; clock ticks make it inexact, so it may be below 0
    others_share: float
    steal_share: float  # of the cores' time that the hypervisor gave to others
    wall_s: float  # how long it took [s]


class Bench:
    """Workers that are bound to cores.

    Args:
        crew: their processes, at least as many as a set has programs.
        cores: numbers of the processors.
        disk: the virtual disk, whose state is in the shared memory of descriptor `file`.
        file: -1: no disk.
    """

    def __init__(self, crew: Crew, cores: Sequence[int], disk: Disk | None = None, file: int = -1) -> None:
        self._workers, self._cores, self._disk, self._file = crew.workers, tuple(cores), disk or Disk(), file
        for worker in self._workers:
            worker.bind(self._cores)
        self.iterations = self._iterations()
        for worker in self._workers:
            worker.ask("unit", self.iterations)

    def _iterations(self) -> int:
        """Iterations of a unit."""
        first = self._workers[0]
        tried = 1000
        first.ask("unit", tried)
        unit_ms = int(first.ask("alone", WARM_UNITS, ALONE_UNITS)) / 1e6
        return max(1, round(tried * UNIT_MS / unit_ms))

    def alone(self, count: int) -> list[float]:
        """CPU of a unit of each of the first `count` workers, each alone on a core [ns].

        On several cores as many are measured at a time, as all cores are busy in a set, too: where they share units,
        caches or a clock rate, a core is slower while the others are busy.
        """
        cores = len(self._cores)
        if cores == 1:
            return self._side_by_side(self._workers[:count])
        found: list[float] = []
        while len(found) < count:
            # The last ones have company whose numbers are not needed.
            turn = [self._workers[position % len(self._workers)] for position in range(len(found), len(found) + cores)]
            found += self._side_by_side(turn, self._cores)
        return found[:count]

    def slower_together(self) -> float | None:
        """CPU of a unit while all cores are busy over that on one core alone; None of one core."""
        if len(self._cores) == 1:
            return None
        workers = self._workers[: len(self._cores)]
        # Alternately, so that what changes in time is in both.
        together, single = [], []
        for _ in range(4):
            together += self._side_by_side(workers, self._cores)
            single += self._side_by_side(workers)
        return sum(together) / sum(single)

    def _side_by_side(self, workers: Sequence[WorkerProcess], cores: Sequence[int] = ()) -> list[float]:
        """CPU of a unit of each worker, each bound to one of these cores, at the same time; without cores one after
        another, on the first one [ns]."""
        for worker, core in zip(workers, cores or [self._cores[0]] * len(workers), strict=True):
            worker.bind([core])
        deadline_s = time.monotonic() + PATIENCE_S
        if cores:
            for worker in workers:
                worker.tell("alone", WARM_UNITS, ALONE_UNITS)
            answers = [worker.answer(deadline_s) for worker in workers]
        else:
            answers = [worker.ask("alone", WARM_UNITS, ALONE_UNITS) for worker in workers]
        for worker in workers:
            worker.bind(self._cores)
        return [float(answer) for answer in answers]

    def carry_out(self, programs: Set, deadline_s: float) -> tuple[list[Corrected], float, float, float, float]:
        """Carry out a set.

        Args:
            programs: one a worker.
            deadline_s: when it has to be over, by the monotonic clock [s].

        Returns:
            what the processes got, the delivered share, the shares of others and stolen, and the wall time [s].

        Raises DeadlinePassed: it was not.
        """
        workers = self._workers[: len(programs)]
        before, begun_s = ticks_of(self._cores), time.monotonic()
        first_ns = time.monotonic_ns() + LEAD_MS * 1_000_000
        for worker, program in zip(workers, programs, strict=True):
            service_ns = round(self._disk.service_ms(program.request_kb) * 1e6)
            rows = [row.for_worker(service_ns) for row in program.rows]
            worker.tell("run", first_ns + round(program.start_ms * 1e6), rows, self._file)
        for worker in workers:
            worker.answer(deadline_s)
        wall_s = time.monotonic() - begun_s
        passed = ticks_of(self._cores) - before
        logs = [worker.log() for worker in workers]
        found, delivered = corrected(logs, len(self._cores))
        own = sum(one.cpu_ms for one in found) / 1000.0 * TICKS_PER_S
        return (found, delivered, _share(passed.busy - own, passed.total), _share(passed.steal, passed.total), wall_s)

    def outcomes(self, sets: Iterator[Set], until_s: float, latest_s: float, repeats: int = 2) -> Iterator[SetOutcome]:
        """Carry out sets, each `repeats` times, as long as the next one is likely to be over in time.

        Args:
            sets: without end.
            until_s: when they should be over, by the monotonic clock [s].
            latest_s: when a set is given up [s].
            repeats: of each.

        Raises DeadlinePassed: a set was given up.
        """
        stretch = 1.5
        for number, programs in enumerate(sets):
            busy_s = sum(row.units for program in programs for row in program.rows) * UNIT_MS / 1000.0
            reads_s = max(
                sum(row.reads for row in program.rows) * self._disk.service_ms(program.request_kb) / 1000.0
                for program in programs
            )
            undisturbed_s = programs[-1].start_ms / 1000.0 + busy_s / len(self._cores) + reads_s
            one_s = (
                undisturbed_s * stretch
                + LEAD_MS / 1000.0
                + 2 * len(programs) * (WARM_UNITS + ALONE_UNITS) * UNIT_MS / 1000.0
            )
            if time.monotonic() + repeats * one_s > until_s:
                return
            before_ns = self.alone(len(programs))
            for repeat in range(repeats):
                found, delivered, others, steal, wall_s = self.carry_out(programs, latest_s)
                after_ns = self.alone(len(programs))
                pairs = list(zip(before_ns, after_ns, strict=True))
                drift = sum(abs(after / before - 1.0) for before, after in pairs) / len(pairs)
                yield SetOutcome(
                    number=number,
                    repeat=repeat,
                    programs=programs,
                    found=tuple(found),
                    unit_ns=tuple((one + other) / 2 for one, other in pairs),
                    drift=drift,
                    delivered_share=delivered,
                    others_share=others,
                    steal_share=steal,
                    wall_s=wall_s,
                )
                before_ns = after_ns
                # What sets take where others have the CPU: of the last ones more than of the first.
                stretch += 0.3 * (max(1.0, 1.2 * wall_s / undisturbed_s) - stretch)

    def slice_ms(self, seconds: float, deadline_s: float) -> float | None:
        """CPU time over involuntary switches of three busy processes on the first core [ms]; None if none was switched.

        Raises DeadlinePassed: they did not end in time.
        """
        workers: list[WorkerProcess] = self._workers[:3]
        for worker in workers:
            worker.bind(self._cores[:1])
        before = [self._switches(worker) for worker in workers]
        units = max(1, round(seconds * 1000.0 / UNIT_MS / len(workers)))
        start_ns = time.monotonic_ns() + LEAD_MS * 1_000_000
        for worker in workers:
            worker.tell("run", start_ns, [[units, 0, 0]], -1)
        for worker in workers:
            worker.answer(deadline_s)
        switches = sum(self._switches(worker) for worker in workers) - sum(before)
        cpu_ns = sum(int(log[-1, 2] - log[0, 2]) for log in (worker.log() for worker in workers))
        for worker in workers:
            worker.bind(self._cores)
        return cpu_ns / 1e6 / switches if switches else None

    @staticmethod
    def _switches(worker: WorkerProcess) -> int:
        try:
            return parse_switches(text_of(f"/proc/{worker.pid}/status") or "")
        except ValueError as problem:
            raise DeadlinePassed("a process of the validation has ended") from problem


def _share(part: float, total: int) -> float:
    return part / max(1, total)


@contextmanager
def shared_instant() -> Iterator[int]:
    """A descriptor of shared memory that holds the instant at which the virtual disk is free."""
    file = os.memfd_create("cluster-abm-disk")
    try:
        os.write(file, bytes(8))
        yield file
    finally:
        os.close(file)
