"""A validation whose measurements are stand-ins: each uses all of its time, and its call is recorded."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

from ideal_machine import Clock

from cluster_abm.validation import validate as module
from cluster_abm.validation.machine import MeasuredMachine

BEGUN_S = 1000.0
FOLDER = Path("/somewhere")


def machine_of(*cores, quota=None):
    return MeasuredMachine("Linux 1.2", "Some CPU", True, 8, tuple(range(8)), cores, quota, True, 0.5, "3.11.0")


class Stubbed:
    """The stand-ins of one validation.

    Attributes:
        calls: calls of the stand-ins, in order: (name, arguments).
        disk, memory: results of these measurements, or the exception that they raise.
        impossible: why no file can be made; None: files can be made.
        group: the group with a limit, or why there is none.
        slices: the effective slices, in the order of their measurements [ms].
        sets: number of sets in each block, and an exception that ends the block after these sets.
        at_once: whether a block takes no time.
    """

    def __init__(self, monkeypatch, *cores):
        self.clock, self.calls, self.said = Clock(BEGUN_S), [], []
        self.cores, self.lacking, self.ready_s = cores or (7, 3), [], 0.0
        self.impossible, self.disk, self.memory, self.group = None, "a fit", "shares", ("a group", "its limit")
        self.slices, self.sets, self.at_once, self.is_left = [2.0, 5.0], [[4], [2], [3]], False, False
        for name, stand_in in {
            "time": self.clock, "machine": lambda: machine_of(*self.cores), "missing_features": lambda: self.lacking,
            "quiet_look": self.look, "predict": self.predict, "not_possible": lambda folder: self.impossible,
            "measure_disk": self.reads, "limited_group": self.limited, "fault_shares": self.faults,
            "judged": lambda shares: f"judged {shares}", "shared_instant": self.shared, "Crew": self.crew,
            "Bench": self.bench, "block_of": self.block_of,
        }.items():  # fmt: skip
            monkeypatch.setattr(module, name, stand_in)

    def validate(self, *parts, seconds=300.0, seed=6):
        return module.validate(parts, seconds, seed, FOLDER, self.said.append)

    def of(self, name):
        """The arguments of each call of this stand-in."""
        return [given for called, *given in self.calls if called == name]

    def _note(self, *call, takes_s=0.0):
        self.calls.append(call)
        self.clock.now_s += takes_s

    def look(self, cores, seconds):
        self._note("look", cores, seconds, takes_s=seconds)
        return 0.01 * len(self.of("look")), 0.0

    def predict(self, tasks, cores, quantum_ms, disk):
        self._note("predict", tasks, cores, disk, takes_s=self.ready_s / 2)

    def reads(self, folder, seed, seconds):
        self._note("disk", folder, seed, seconds, takes_s=seconds)
        return _given(self.disk)

    @contextmanager
    def limited(self):
        yield self.group

    def faults(self, group, name, folder, seed, deadline_s):
        self._note("memory", group, name, folder, seed, deadline_s, takes_s=deadline_s - self.clock.now_s)
        return _given(self.memory)

    @contextmanager
    def shared(self):
        yield 55

    @contextmanager
    def crew(self, count, files):
        self._note("crew", count, files)
        try:
            yield "the crew"
        finally:
            self.is_left = True

    def bench(self, crew, cores, disk=None, file=-1):
        self._note("bench", crew, cores, disk, file)
        return SimpleNamespace(slower_together=lambda: 1.25, slice_ms=self.slice_ms, outcomes=self.outcomes)

    def slice_ms(self, seconds, deadline_s):
        self._note("slice", seconds, deadline_s - self.clock.now_s, takes_s=seconds)
        return self.slices.pop(0)

    def outcomes(self, sets, until_s, latest_s):
        self._note("block", sets, until_s, latest_s)
        count, *problem = self.sets.pop(0)
        yield from range(count)
        _given(*problem or [None])
        self.clock.now_s = self.clock.now_s if self.at_once else until_s

    def block_of(self, part, cores, outcomes, quantum_ms, disk):
        self._note("predicted", part, cores, outcomes, quantum_ms, disk)
        return f"{part} on {cores}"


def _given(value):
    if isinstance(value, Exception):
        raise value
    return value
