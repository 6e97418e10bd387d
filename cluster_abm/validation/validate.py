"""A validation: this machine is measured, in a time that is kept, and held against what the simulator says of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from cluster_abm.validation.bench import UNIT_MS, Bench, SetOutcome, shared_instant
from cluster_abm.validation.blocks import Block, Part, block_of, concluded, nothing_concluded
from cluster_abm.validation.crew import Crew, DeadlinePassed
from cluster_abm.validation.disk import DiskFit, measure_disk, not_possible
from cluster_abm.validation.judging import idle_reasons
from cluster_abm.validation.machine import MeasuredMachine, machine, missing_features, quiet_look
from cluster_abm.validation.memory import fault_shares, judged, limited_group
from cluster_abm.validation.plans import Disk, Set, busy_sets, reading_sets
from cluster_abm.validation.prediction import PredictedProcess, predict

PARTS = ("cpu", "mixed", "disk", "memory")
LONGEST_S = 300.0
# Of the time for sets: processes that compute on one core, on all, and processes that also read.
SHARES = {("cpu", "one"): 0.38, ("cpu", "all"): 0.24, ("mixed", "one"): 0.38}
# For the end: the look afterwards, predictions, intervals, the picture [s, and share of the time at most].
RESERVE_S, RESERVE_SHARE = 15.0, 0.3
LOOK_S, SLICE_S, DISK_S, MEMORY_S = 2.0, 1.5, 10.0, 90.0
USUAL_SLICE_MS = 3.0
FEWEST, MOST, MOST_READING = 2, 6, 5

Say = Callable[[str], None]


@dataclass
class Validation:
    """What was found."""

    machine: MeasuredMachine  # what it is
    parts: tuple[str, ...]  # that were asked for
    seed: int  # of the sets
    seconds: float  # time that it was given [s]
    # shares of the cores used by others and stolen while the validation slept, before and after
    idle: dict[str, tuple[float, float]] = field(default_factory=dict)
    # CPU of a unit of computing while all cores are busy, over that of one alone; None: one core
    slower_together: float | None = None
    slices_ms: list[float] = field(default_factory=list)  # effective slices, measured before and after the sets [ms]
    quantum_ms: float = USUAL_SLICE_MS  # what the simulator was given [ms]
    blocks: list[Block] = field(default_factory=list)  # of the parts cpu and mixed
    # disk, memory: of these parts, if they were possible
    disk: DiskFit | None = None
    memory: dict[str, Any] | None = None
    warnings: list[str] = field(default_factory=list)  # what could not be done, and why
    took_s: float = 0.0  # how long it took [s]

    def document(self) -> dict[str, Any]:
        """As JSON. A part that is not in `parts` is null. A part that could not be measured is null too if it is `disk`
        or `memory`, and inconclusive if it is `cpu` or `mixed`."""
        idle = self._idle_reasons()
        return {
            "machine": self.machine.as_json()
            | {
                "idle": {when: {"others": others, "steal": steal} for when, (others, steal) in self.idle.items()},
                "slower_together": self.slower_together,
                "slices_ms": self.slices_ms,
                "quantum_ms": self.quantum_ms,
            },
            "parts": list(self.parts),
            "seed": self.seed,
            "seconds": self.seconds,
            "took_s": round(self.took_s, 1),
            "cpu": self._of_part("cpu", idle),
            "mixed": self._of_part("mixed", idle),
            "disk": None if self.disk is None else self.disk.as_json(),
            "memory": self.memory,
            "warnings": self.warnings,
        }

    def table(self) -> pd.DataFrame:
        """Every response, measured and predicted (blocks.Block.table)."""
        return pd.concat([block.table for block in self.blocks], ignore_index=True) if self.blocks else pd.DataFrame()

    def _of_part(self, part: Part, idle: Sequence[str]) -> dict[str, Any] | None:
        blocks = [block for block in self.blocks if block.part == part]
        if not blocks:
            return nothing_concluded(part) if part in self.parts else None
        found = concluded(blocks, idle)
        return found | {"by_cores": [concluded([block], idle) for block in blocks]} if len(blocks) > 1 else found

    def _idle_reasons(self) -> list[str]:
        found = []
        if self.machine.quota is not None:
            found.append(
                f"a control group limits this process to {self.machine.quota:g} cores, which stops it at times"
            )
        if len(self.idle) == 2:
            found += idle_reasons(self.idle["before"], self.idle["after"])
        return found


def validate(parts: Sequence[str], seconds: float, seed: int, folder: Path, say: Say = lambda _: None) -> Validation:
    """Measure this machine and predict what was measured.

    Args:
        parts: of PARTS.
        seconds: after which it is over; only what the simulator's first compilation takes can be longer.
        seed: of the sets; the same one gives the same work.
        folder: in which the disk is read: of one file without a name, gone at the end.
        say: called with a line of text at each step.
    """
    begun_s = time.monotonic()
    end_s = begun_s + seconds
    found = Validation(machine(), tuple(parts), seed, seconds)
    lacking = missing_features()
    if lacking:
        for part in ("cpu", "mixed", "memory"):
            if part in parts:
                found.warnings.append(f"{part}: not possible here: this system has no {', '.join(lacking)}")
        parts = [part for part in parts if part == "disk"]
    if any(part in parts for part in ("cpu", "mixed", "memory")):
        say("getting the simulator ready (compiling it on its first use takes up to a minute)")
        _get_ready()
    if not lacking:
        found.idle["before"] = quiet_look(found.machine.cores, min(LOOK_S, 0.05 * seconds))
    if "disk" in parts:
        say("reading the disk")
        _disk(found, folder, min(DISK_S, 0.15 * seconds, 0.5 * (end_s - time.monotonic())))
    if "memory" in parts:
        say("memory under a limit")
        _memory(found, folder, min(time.monotonic() + MEMORY_S, end_s - 0.5 * (end_s - time.monotonic())))
    reserve_s = min(RESERVE_S, RESERVE_SHARE * seconds)
    if "cpu" in parts or "mixed" in parts:
        _blocks(found, parts, end_s - reserve_s, reserve_s, min(SLICE_S, 0.04 * seconds), say)
    found.took_s = time.monotonic() - begun_s
    return found


def _get_ready() -> None:
    """Import and compile what predictions need, before anything is measured."""
    for cores in (1, 2):
        predict(
            [PredictedProcess(0, 0.0, ((1.0, True),)), PredictedProcess(0, 0.0, ((1.0, True),))], cores, 1.0, Disk()
        )


def _disk(found: Validation, folder: Path, seconds: float) -> None:
    why = not_possible(folder)
    if why is None:
        try:
            found.disk = measure_disk(folder, found.seed, seconds)
        except OSError as problem:
            why = str(problem.strerror or problem)
        else:
            why = None if found.disk is not None else "the time was not enough; give it more --seconds"
    if why is not None:
        found.warnings.append(f"disk: not measured: {why}")


def _memory(found: Validation, folder: Path, deadline_s: float) -> None:
    why = not_possible(folder)
    if why is None:
        with limited_group() as group:
            if isinstance(group, str):
                why = group
            else:
                try:
                    found.memory = judged(fault_shares(*group, folder, found.seed, deadline_s))
                except OSError as problem:
                    why = str(problem)
                except DeadlinePassed:
                    why = "the time was not enough; give it more --seconds"
    if why is not None:
        found.warnings.append(f"memory: not measured: {why}")


def _blocks(
    found: Validation, parts: Sequence[str], until_s: float, reserve_s: float, slice_s: float, say: Say
) -> None:
    cores, disk = found.machine.cores, Disk()
    wanted: list[tuple[Part, Sequence[int], float]] = []
    for (part, kind), share in SHARES.items():
        if part in parts and not (kind == "all" and len(cores) < 2):
            wanted.append(("cpu" if part == "cpu" else "mixed", cores[:1] if kind == "one" else cores, share))
    if "cpu" in parts and len(cores) < 2:
        found.warnings.append("cpu: one physical core may be used here: nothing was measured on several")
    measured: list[tuple[Part, int, list[SetOutcome]]] = []
    with shared_instant() as file, Crew(max(MOST, 2 * len(cores) + 2), [file]) as crew:
        try:
            found.slower_together = Bench(crew, cores).slower_together()
            _measure_slice(found, crew, cores, slice_s)
            for position, (part, bound, share) in enumerate(wanted):
                left_s = until_s - 2 * slice_s - time.monotonic()
                goes_on_until_s = time.monotonic() + left_s * share / sum(one[2] for one in wanted[position:])
                bench = Bench(crew, bound, disk, file)
                say(f"{part} on {_cores(len(bound))}: up to {goes_on_until_s - time.monotonic():.0f} s")
                outcomes: list[SetOutcome] = []
                measured.append((part, len(bound), outcomes))
                for outcome in bench.outcomes(
                    _sets(part, found.seed, len(bound)), goes_on_until_s, until_s + 0.3 * reserve_s
                ):
                    outcomes.append(outcome)
                say(f"{part} on {_cores(len(bound))}: {len(outcomes)} sets carried out")
            _measure_slice(found, crew, cores, slice_s)
        except DeadlinePassed as problem:
            found.warnings.append(f"ended early: {problem}: other load on this machine, or a core that was taken away")
        except OSError as problem:
            found.warnings.append(f"ended early: {problem}")
    found.idle["after"] = quiet_look(cores, min(LOOK_S, 0.05 * found.seconds))
    if found.slices_ms:
        found.quantum_ms = sum(found.slices_ms) / len(found.slices_ms)
    else:
        found.warnings.append(f"the effective slice could not be measured: {USUAL_SLICE_MS:g} ms are assumed")
    say("predicting the same by the simulator")
    for part, count, outcomes in measured:
        if outcomes:
            found.blocks.append(block_of(part, count, outcomes, found.quantum_ms, disk))
        else:
            found.warnings.append(f"{part} on {_cores(count)}: no time was left for a set; give it more --seconds")


def _cores(count: int) -> str:
    return f"{count} core{'s' * (count > 1)}"


def _measure_slice(found: Validation, crew: Crew, cores: Sequence[int], seconds: float) -> None:
    slice_ms = Bench(crew, cores[:1]).slice_ms(seconds, time.monotonic() + 5 * seconds + 1.0)
    if slice_ms is not None:
        found.slices_ms.append(slice_ms)


def _sets(part: Part, seed: int, cores: int) -> Iterator[Set]:
    if part == "mixed":
        return reading_sets(seed, UNIT_MS, FEWEST, MOST_READING)
    if cores == 1:
        return busy_sets(seed, UNIT_MS, FEWEST, MOST)
    return busy_sets(seed + 1, UNIT_MS, cores + 1, 2 * cores + 2)
