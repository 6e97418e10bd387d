"""The real disk: reads of a file past the page cache, fitted as latency + size / bandwidth. For information only."""

from __future__ import annotations

import mmap
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

from cluster_abm.arrays import Floats
from cluster_abm.validation.machine import text_of
from cluster_abm.validation.proc_files import parse_mount

SIZES_KB = (4, 16, 64, 256, 1024)
READS = 80
FILE_MB, LEAST_MB = 256, 32
BLOCK = 1 << 20
# A second pass over the same places that is faster by this factor comes out of a cache.
CACHED_RATIO = 2.0
# Below this no device answers, above that no flash does [ms].
FASTEST_DEVICE_MS, SLOWEST_FLASH_MS = 0.03, 2.0
# 90th over 10th percentile of equal reads, beyond which their mean says little.
UNSTABLE_RATIO = 3.0


@dataclass(frozen=True)
class DiskFit:
    """What the reads say; times in ms."""

    # latency_ms, mb_per_s: of latency + size / bandwidth; a MB is 10^6 bytes; None: no bandwidth can be told
    latency_ms: float
    mb_per_s: float | None
    # median_error, p90_error: of that formula, on reads that it was not fitted to
    median_error: float
    p90_error: float
    second_pass: float  # how many times faster the same places are read again
    spread: float  # 90th over 10th percentile of reads of one size, the largest
    kind: str  # what it looks like
    unstable: bool  # whether equal reads take so unequally long that a fit says little
    reads: int  # how many
    direct: bool  # whether the page cache was gone around (O_DIRECT), rather than emptied

    def as_json(self) -> dict[str, Any]:
        """For a document."""
        return asdict(self)


def fit(times_ms: Mapping[float, Floats]) -> tuple[float, float | None]:
    """Latency [ms] and bandwidth [MB/s] that fit the median time of each size best, by relative errors.

    Args:
        times_ms: of each size [KB of 1024 bytes], the times of its reads.
    """
    sizes_mb = np.array([size * 1024 / 1e6 for size in times_ms])
    medians = np.array([float(np.median(times)) for times in times_ms.values()])
    design = np.column_stack([np.ones(len(sizes_mb)), sizes_mb]) / medians[:, None]
    (latency_ms, ms_per_mb), _ = nnls(design, np.ones(len(medians)))
    return float(latency_ms), float(1000.0 / ms_per_mb) if ms_per_mb > 0 else None


def describe(first: Mapping[float, Floats], second: Mapping[float, Floats], is_direct: bool) -> DiskFit:
    """What two passes over the same places of a file say.

    Args:
        first, second: of each size [KB], the times of its reads [ms] in the order in which they were made.
        is_direct: whether they went around the page cache.
    """
    latency_ms, mb_per_s = fit({size: times[::2] for size, times in first.items()})
    errors = []
    for size, times in first.items():
        predicted_ms = latency_ms + (size * 1024 / 1e6 / mb_per_s * 1000.0 if mb_per_s else 0.0)
        errors.append(np.abs(times[1::2] / predicted_ms - 1.0))
    found = np.concatenate(errors)
    ratios = [float(np.median(first[size]) / np.median(second[size])) for size in first]
    spreads = [float(np.quantile(times, 0.9) / np.quantile(times, 0.1)) for times in first.values()]
    second_pass, spread = float(np.median(ratios)), max(spreads)
    if second_pass > CACHED_RATIO or latency_ms < FASTEST_DEVICE_MS:
        kind = "cached: a second pass is faster, or the answer comes faster than from any device"
    elif latency_ms > SLOWEST_FLASH_MS:
        kind = "rotating, or far away: milliseconds of latency"
    else:
        kind = "flash, or a cache of the host: less than 2 ms of latency"
    return DiskFit(
        latency_ms=latency_ms,
        mb_per_s=mb_per_s,
        median_error=float(np.median(found)),
        p90_error=float(np.quantile(found, 0.9)),
        second_pass=second_pass,
        spread=spread,
        kind=kind,
        unstable=spread > UNSTABLE_RATIO,
        reads=sum(len(times) for one in (first, second) for times in one.values()),
        direct=is_direct,
    )


def not_possible(folder: Path) -> str | None:
    """Why the disk under a folder cannot be measured; None if it can."""
    if not hasattr(os, "posix_fadvise") or not hasattr(os, "preadv"):
        return "this system has no posix_fadvise"
    kind, _ = parse_mount(text_of("/proc/mounts") or "", str(folder.resolve()))
    if kind in ("tmpfs", "ramfs"):
        return f"{folder} is in memory ({kind}); give --out a folder on a disk"
    if file_mb(folder) < LEAST_MB:
        return f"{folder} has too little room: a tenth of what is free has to be {LEAST_MB} MB"
    return None


def file_mb(folder: Path) -> int:
    """How large a file is read: a tenth of the free room at most [MB of 2^20 bytes]."""
    return min(FILE_MB, shutil.disk_usage(folder).free // 10 >> 20)


@contextmanager
def filled_file(folder: Path, size_mb: int) -> Iterator[int]:
    """A descriptor of a file of random bytes, without a name, written to the disk and out of the page cache."""
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        for _ in range(size_mb):
            file.write(os.urandom(BLOCK))
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        yield file.fileno()


def measure_disk(folder: Path, seed: int, seconds: float) -> DiskFit | None:
    """Read a file in random places, in several sizes, twice; None if the time was not enough for that.

    Args:
        folder: where the file is made; it has no name, and is gone with its descriptor.
        seed: of the places.
        seconds: after which no further read is begun.
    """
    deadline_s = time.monotonic() + seconds
    size_mb = file_mb(folder)
    with filled_file(folder, size_mb) as file:
        is_direct = False
        with suppress(OSError, AttributeError, ImportError):
            import fcntl

            fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_DIRECT)
            is_direct = True
        rng = np.random.default_rng([seed, 3])
        places = [(size, int(rng.integers(0, (size_mb * 1024 - size) // 4 + 1)) * 4096) for size in SIZES_KB * READS]
        # Of each size alternately, so that what changes in time does not look like an effect of size.
        first = _pass(file, places, is_direct, (time.monotonic() + deadline_s) / 2)
        done = min(len(times) for times in first.values())
        second = _pass(file, places[: done * len(SIZES_KB)], is_direct, deadline_s)
    if done < 10 or min(len(times) for times in second.values()) < 5:
        return None
    return describe(first, second, is_direct)


def _pass(file: int, places: list[tuple[int, int]], is_direct: bool, deadline_s: float) -> dict[float, Floats]:
    found: dict[float, list[float]] = {float(size): [] for size in SIZES_KB}
    # A map is aligned to pages, as direct reads have to be.
    with mmap.mmap(-1, max(SIZES_KB) * 1024) as memory, memoryview(memory) as room:
        for size_kb, offset in places:
            if time.monotonic() > deadline_s:
                break
            if not is_direct:
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            with room[: size_kb * 1024] as buffer:
                begun = time.perf_counter()
                os.preadv(file, [buffer], offset)
                found[float(size_kb)].append((time.perf_counter() - begun) * 1000.0)
    return {size: np.array(times) for size, times in found.items()}
