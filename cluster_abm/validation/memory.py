"""A memory limit by a control group: the share of touches that fault, against 1 - limit / demand."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cluster_abm.interrupts import interrupt_held_back
from cluster_abm.validation.crew import Crew
from cluster_abm.validation.disk import filled_file
from cluster_abm.validation.judging import INCONCLUSIVE, MEMORY_GOAL, OUTSIDE, WITHIN, repeat_noise
from cluster_abm.validation.machine import text_of
from cluster_abm.validation.proc_files import parse_groups

GROUPS = Path("/sys/fs/cgroup")
DEMAND_MB = 96
LIMITS = (0.75, 0.6, 0.5)
REPEATS = 2
# Touches of each page on average, before faults are counted and while they are.
WARM, COUNTED = 2, 2
MB, PAGE = 1 << 20, 4096


@dataclass(frozen=True)
class FaultShare:
    """One limit: the share of touches that fault, measured in each repeat, and as the simulator predicts it."""

    limit_mb: float
    measured: tuple[float, ...]
    predicted: float

    @property
    def error(self) -> float:
        """The relative error of the mean of the repeats."""
        return abs(float(np.mean(self.measured)) / self.predicted - 1.0)


def candidates(groups: str, root: Path = GROUPS) -> list[tuple[Path, str]]:
    """Folders in which a group with a memory limit may be made, and the name of its limit, the likeliest first.

    Args:
        groups: the text of /proc/self/cgroup.
        root: of the control groups' file systems.
    """
    own = parse_groups(groups)
    found = []
    if "memory" in own:
        found += [(root / "memory" / own["memory"].strip("/"), "memory.limit_in_bytes"),
                  (root / "memory", "memory.limit_in_bytes")]  # fmt: skip
    if "" in own:
        # In version 2 a group with processes may have no groups with controllers in it, but that above it may.
        for base in (root, root / "unified"):
            path = base / own[""].strip("/")
            found += [(path.parent if path != base else base, "memory.max"), (base, "memory.max")]
    return list(dict.fromkeys(found))


@contextmanager
def limited_group() -> Iterator[tuple[Path, str] | str]:
    """A control group with a memory limit that can be set, and the name of that; else why there is none."""
    why = "no control group with a memory limit was found"
    for parent, name in candidates(text_of("/proc/self/cgroup") or ""):
        group, is_made = parent / f"cluster-abm-{os.getpid()}", False
        try:
            try:
                # A signal in between would leave it behind.
                with interrupt_held_back():
                    group.mkdir()
                    is_made = True
            except OSError as problem:
                why = f"no control group can be made in {parent} ({problem.strerror}); root may be needed"
                continue
            if not (group / name).exists():
                why = f"control groups in {parent} have no {name}"
                continue
            yield group, name
            return
        finally:
            if is_made:
                _remove(group)
    yield why


def _remove(group: Path) -> None:
    """Remove a group; the kernel takes a moment to let go of processes that have ended."""
    for _ in range(50):
        try:
            group.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.02)
        else:
            return


def fault_shares(group: Path, name: str, folder: Path, seed: int, deadline_s: float) -> list[FaultShare]:
    """Let a process touch random pages of a file that does not fit its limit.

    Args:
        group, name: as `limited_group` gives them.
        folder: on a disk.
        seed: of the pages.
        deadline_s: when it has to be over, by the monotonic clock [s].

    Raises:
        DeadlinePassed: it was not.
        OSError: the kernel refuses the limit.
    """
    found = []
    size, pages = DEMAND_MB * MB, DEMAND_MB * MB // PAGE
    for position, share in enumerate(LIMITS):
        measured = []
        for repeat in range(REPEATS):
            # A new file each time: pages of the last one may still be in memory, and charged elsewhere.
            with filled_file(folder, DEMAND_MB) as file, Crew(1, [file]) as crew:
                worker = crew.workers[0]
                # Started outside: its own pages are not charged to the group, only those of the file.
                worker.ask("unit", 1)
                (group / name).write_text(str(int(share * size)))
                with suppress(OSError):
                    (group / "memory.swap.max").write_text("0")
                (group / "cgroup.procs").write_text(str(worker.pid))
                faults = int(worker.ask(
                    "walk", file, size, 1000 * seed + 10 * position + repeat, (WARM + COUNTED) * pages,
                    WARM * pages, deadline_s=deadline_s,
                ))  # fmt: skip
            measured.append(faults / (COUNTED * pages))
        found.append(FaultShare(share * DEMAND_MB, tuple(measured), predicted_share(share * DEMAND_MB)))
    return found


def predicted_share(limit_mb: float) -> float:
    """Faults per touch of one task whose pages do not fit, by the simulator with page_fault_law = "overflow"."""
    from cluster_abm.validation.prediction import predict_faults

    return predict_faults(DEMAND_MB, limit_mb)


def judged(shares: list[FaultShare]) -> dict[str, Any]:
    """The part of the document: the largest and the median error, the noise floor, the verdict."""
    errors = [one.error for one in shares]
    floor = float(
        np.median([repeat_noise(np.array([one.measured[0]]), np.array([one.measured[-1]])) for one in shares])
    )
    is_noisy = floor > MEMORY_GOAL
    verdict = INCONCLUSIVE if is_noisy else WITHIN if max(errors) <= MEMORY_GOAL else OUTSIDE
    return {
        "demand_mb": DEMAND_MB,
        "median_error": float(np.median(errors)),
        "largest_error": max(errors),
        "noise_floor": floor,
        "goal": MEMORY_GOAL,
        "verdict": verdict,
        "reasons": [f"repeats differ by as much as errors of {floor:.1%} would"] if is_noisy else [],
        "limits": [asdict(one) | {"error": one.error} for one in shares],
    }
