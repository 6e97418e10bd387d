"""GWA-T-12 (Bitbrains; Shen, van Beek and Iosup 2015): what virtual machines used, a sample every five minutes.

A file is a VM, and a VM is one job that runs a program of its own. What becomes of it:

* A task a core. A sample is an interval of the profile, up to the next one: CPU = use x interval on each core, then
  accesses for its KB/s of disk, then a pause for the rest. Memory used is shared by the tasks. 1 KB is 1024 bytes.
* An access moves ACCESS_KB: the file says KB/s and no accesses. Fractions are carried from sample to sample.
* "Timestamp [ms]" is seconds since 1970 in the published files; numbers that can only be ms are read as such.
* A sample counts for no longer than 1.5 of the VM's usual intervals; the rest of a gap is a pause.
* Samples without cores (the VM is off), not later than the one above, or with negative or empty fields are skipped. So
  is a VM that used no CPU in any sample.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from cluster_abm.errors import InputError
from cluster_abm.workload.text.csv_cells import CsvCells
from cluster_abm.workload.traces.parts.fields import CellRule, beyond_counting, read_fields
from cluster_abm.workload.traces.parts.finishing import finished, no_job, on_own_clock
from cluster_abm.workload.traces.parts.units import plain
from cluster_abm.workload.traces.table import Flags, Floats, Trace, sorted_out, tally

TIME, CORES, USE, MEMORY = "timestamp [ms]", "cpu cores", "cpu usage [%]", "memory usage [kb]"
READ, WRITTEN = "disk read throughput [kb/s]", "disk write throughput [kb/s]"
NAMES = (TIME, CORES, USE, MEMORY, READ, WRITTEN)
ACCESS_KB = 64.0
KB = 1024.0 / 1000.0  # of theirs in ours
MS_BEGIN = 1e11  # timestamps from here on are ms: as seconds they would lie in the year 5138
USUAL_MS = 300_000.0  # of a VM with one sample
LONGEST_USUAL = 1.5
LEAST_CPU_MS = 0.001  # of an interval of a profile
MOST_ACCESSES, LONGEST_PAUSE_MS = 1e6, 1e9  # of an interval of a profile


@dataclass(frozen=True, eq=False)
class VirtualMachine:
    """A virtual machine."""

    name: str  # of its program
    rows: int  # of its file; always samples used + skipped
    start_ms: float  # its first sample's instant, since 1970
    tasks: float  # its cores
    write_share: float  # share of its bytes that are written; NaN if there are none
    profile: pd.DataFrame  # columns of `read_profiles` of one task; empty if no sample can be used
    skipped: dict[str, int]  # reason -> samples left out
    noted: dict[str, int]  # remark -> samples kept although remarkable


def looks_like_gwa(names: list[str]) -> bool:
    """Whether a header is that of GWA-T-12."""
    lower = {name.strip().lower() for name in names}
    return TIME in lower and len(lower & set(NAMES)) >= 3


def machine(cells: CsvCells, name: str) -> VirtualMachine:
    """The virtual machine in an open file.

    Raises InputError: columns that are missing, cells that cannot be read (the first ten).
    """
    present = {column.lower() for column in cells.names}
    missing = [column for column in NAMES if column not in present]
    if missing:
        raise InputError(f"{cells.where}: column {missing[0]!r} is missing; found: {', '.join(cells.names)[:300]}")
    fields = read_fields(cells, dict.fromkeys(NAMES, CellRule(plain, "a number")), ())
    time, cores, use, memory, read, written = (fields.number(column) for column in NAMES)
    time_ms = np.where(time >= MS_BEGIN, time, time * 1000.0)
    fine = ~np.isnan(time) & (time > 0)
    numbers = (cores, use, memory, read, written)
    reasons: dict[str, Flags] = {
        "no time": ~fine,
        "not later than the row above": ~_later(np.where(fine, time_ms, math.nan)),
        "a field is empty": np.any([np.isnan(values) for values in numbers], axis=0),
        "negative value": np.any([values < 0 for values in numbers], axis=0),
        "no cores (the VM was off)": cores < 1,
        "bytes beyond 2^63": beyond_counting(memory * 1024.0, read * 1024.0, written * 1024.0),
    }
    skipped, usable = sorted_out(reasons, len(time))
    if not (use[usable] > 0).any():
        skipped["of a VM that used no CPU"] = int(usable.sum())
        usable = np.zeros(len(time), bool)
    noted = {"blank lines": cells.blank_lines}
    if not usable.any():
        return VirtualMachine(
            name=name,
            rows=len(time),
            start_ms=math.nan,
            tasks=math.nan,
            write_share=math.nan,
            profile=pd.DataFrame(),
            skipped=tally(skipped),
            noted=tally(noted),
        )
    tasks = float(np.floor(cores[usable].max()))
    bytes_kb = read[usable] + written[usable]
    profile, remarks = _profile(
        time_ms[usable],
        np.minimum(use[usable], 100.0) / 100.0 * np.floor(cores[usable]) / tasks,
        memory[usable] * KB / 1000.0 / tasks,
        bytes_kb * KB / tasks,
    )
    noted |= remarks | {
        "CPU use above 100 %, cut to it": int((use[usable] > 100.0).sum()),
        "timestamps in ms, not in s": int((time[usable] >= MS_BEGIN).sum()),
    }
    total = float(bytes_kb.sum())
    share = float(written[usable].sum()) / total if total > 0 else math.nan
    start_ms = float(time_ms[usable][0])
    return VirtualMachine(
        name=name,
        rows=len(time),
        start_ms=start_ms,
        tasks=tasks,
        write_share=share,
        profile=profile,
        skipped=tally(skipped),
        noted=tally(noted),
    )


def gwa_trace(machines: Iterable[VirtualMachine], where: str) -> Trace:
    """The trace of virtual machines, a job each. Raises InputError: none of them used any CPU."""
    skipped, noted = Counter[str](), Counter[str]()
    rows, used = 0, []
    for vm in machines:
        rows += vm.rows
        skipped.update(vm.skipped)
        noted.update(vm.noted)
        if len(vm.profile):
            used.append(vm)
    if not used:
        raise no_job(where, rows, skipped)
    samples = rows - sum(skipped.values())
    columns: dict[str, Floats] = {
        "arrival_ms": on_own_clock(np.array([vm.start_ms for vm in used]), where),
        "cpu_ms": _of(used, "cpu_ms", "sum"),
        "memory_mb": _of(used, "memory_mb", "max"),
        "tasks": np.array([vm.tasks for vm in used]),
        "request_kb": np.full(len(used), ACCESS_KB),
        "write_share": np.array([vm.write_share for vm in used]),
    }
    filled = {
        "name": f"a VM is one job: {samples:,} samples are intervals of {len(used):,} programs, one each",
        "io_per_ms": f"by the profiles: an access of {ACCESS_KB:g} KB is assumed, the file says KB/s",
        "request_kb": f"{ACCESS_KB:g} KB assumed",
    }
    words = {"name": np.array([vm.name for vm in used], object)}
    trace = finished(where, "gwa", rows, columns, words, skipped, noted, filled)
    profiles = pd.concat([vm.profile.assign(program=vm.name) for vm in used], ignore_index=True)
    order = ["program", "cpu_ms", "memory_mb", "accesses", "turnover_mb_per_s", "pause_ms"]
    return replace(trace, profiles=profiles[order], samples=samples)


def _later(time_ms: Floats) -> Flags:
    """Which rows are later than all above them; rows without a time are not."""
    before = np.fmax.accumulate(np.concatenate([[-np.inf], time_ms[:-1]])) if len(time_ms) else time_ms
    return time_ms > before


def _profile(
    time_ms: Floats, use: Floats, memory_mb: Floats, disk_kb_per_s: Floats
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Intervals of one task's profile, and what is remarkable about how many of them.

    Args:
        time_ms: of samples, increasing, shape (samples,).
        use: share of a core that the task uses.
    """
    given = np.diff(time_ms)
    usual = float(np.median(given)) if len(given) else USUAL_MS
    interval = np.append(given, usual)
    counted = np.where(interval > LONGEST_USUAL * usual, usual, interval)
    cpu_ms = np.maximum(np.round(use * counted, 6), LEAST_CPU_MS)
    # Whole accesses, of which the fractions are carried on: none is lost over the day.
    wanted = np.cumsum(disk_kb_per_s * counted / 1000.0 / ACCESS_KB)
    accesses = np.diff(np.floor(wanted + 1e-9), prepend=0.0)
    pause_ms = np.maximum(interval - cpu_ms, 0.0)
    pause_ms[-1] = 0.0  # a job has ended when its last sample's work is done
    frame = pd.DataFrame(
        {
            "cpu_ms": cpu_ms,
            "memory_mb": memory_mb,
            "accesses": np.minimum(accesses, MOST_ACCESSES),
            "turnover_mb_per_s": np.zeros(len(cpu_ms)),
            "pause_ms": np.round(np.minimum(pause_ms, LONGEST_PAUSE_MS), 6),
        }
    )
    return frame, {
        "no CPU use, 1 us taken": int((use == 0).sum()),
        "gap behind it, taken as a pause": int((interval > LONGEST_USUAL * usual).sum()),
        "more than a million accesses, cut to it": int((accesses > MOST_ACCESSES).sum()),
        "pause longer than 1e9 ms, cut to it": int((pause_ms > LONGEST_PAUSE_MS).sum()),
    }


def _of(machines: Sequence[VirtualMachine], column: str, how: str) -> Floats:
    return np.array([float(vm.profile[column].agg(how)) for vm in machines])
