"""One rule for sizes without end: what would not fit into memory is refused before any of it is taken."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from pathlib import Path

from cluster_abm.errors import InputError

# The share of the memory that tables may take: the interpreter and the kernels need some too.
SHARE = 0.8
UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB", "EB", "ZB")
# Where Linux keeps the limits of groups of processes, by version, and which groups this process is in.
GROUPS, OWN_GROUPS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
LIMIT_FILES = ("memory.max", "memory.limit_in_bytes")

# Memory of each, in bytes, rounded up. Rows of many jobs and tasks lie in files (large_tables): in memory are the few
# columns that a summary sums over at the moment. A job of closed users takes more.
BYTES_A_JOB, BYTES_A_TASK, BYTES_A_RUN, BYTES_A_CELL, BYTES_A_WORKER = 40, 40, 3_000, 3_000, 150e6
BYTES_A_USERS_JOB = 250
BYTES_A_BURST = 200
BYTES_A_FRAME_ROW = 600


def check_memory(what: str, needed: float, number: float, things: str) -> None:
    """Refuse what takes more memory than there is.

    Raises InputError: says how many they are, what they take, what there is, and about how many fit.

    Args:
        what: the keys or options that ask for it, with their values.
        needed: memory that it takes [bytes].
        number: how many `things` that are.
        things: of what kind, e.g. "jobs".
    """
    allowed = SHARE * memory_bytes()
    if needed <= allowed:
        return
    raise InputError(
        f"{what}: {counted(number)} {things} take about {in_words(needed)} of memory; here there are "
        f"{in_words(memory_bytes())}, in which about {counted(number * allowed / needed)} fit"
    )


def check_jobs(what: str, jobs: float, mean_tasks: float, bytes_a_job: float = BYTES_A_JOB) -> None:
    """Refuse more jobs, with their mean number of tasks, than fit into memory, as `check_memory`."""
    things = "jobs" if mean_tasks == 1.0 else f"jobs of {mean_tasks:,.4g} tasks in the mean"
    check_memory(what, jobs * (bytes_a_job + mean_tasks * BYTES_A_TASK), jobs, things)


def check_runs(what: str, runs: float, cells: float = 0.0) -> None:
    """Refuse more runs and cells (points under a policy) than fit into memory, as `check_memory`."""
    runs, cells = at_most(runs), at_most(cells)
    check_memory(what, runs * BYTES_A_RUN + cells * BYTES_A_CELL, runs, "runs")


def checked_workers(given: int | None, processors: int, runs: int) -> int:
    """How many processes carry out runs at once.

    Raises InputError: more are given than fit into memory, as `check_memory`.

    Args:
        given: as many as this; None: one per processor, or fewer where memory is short.
        processors: how many there are for this process.
        runs: no more than there are runs.
    """
    if given is None:
        return max(1, min(processors, runs, int(SHARE * memory_bytes() / BYTES_A_WORKER)))
    count = min(given, runs)
    check_memory(f"workers = {counted(given)}", count * BYTES_A_WORKER, count, "processes")
    return count


def available_processors() -> int:
    """Processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def memory_bytes() -> float:
    """Memory that this process may take: the machine's, or less if a limit of its group or its own says so [bytes]."""
    limits: list[float] = []
    with suppress(AttributeError, ValueError, OSError):
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    limits += _limits_of_groups(GROUPS, OWN_GROUPS)
    with suppress(ImportError, OSError, ValueError):
        import resource

        for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
            limit, _ = resource.getrlimit(kind)
            if limit != resource.RLIM_INFINITY:
                limits.append(float(limit))
    # Where no limit is known, as much as a small machine has.
    return min((size for size in limits if size > 0), default=8e9)


def _limits_of_groups(root: Path, own: Path) -> list[float]:
    """The limits of the groups that this process is in, and of those that they are in [bytes]."""
    lines: list[str] = []
    with suppress(OSError, ValueError):
        lines = own.read_text(encoding="utf-8").splitlines()
    # A line is number:controllers:path; version 2 has one hierarchy, without controllers.
    folders = {root, root / "memory"}
    for _, controllers, path in (line.split(":", 2) for line in lines if line.count(":") >= 2):
        if not controllers or "memory" in controllers.split(","):
            top = root / "memory" if controllers else root
            inside = top / path.lstrip("/")
            folders |= {inside, *(parent for parent in inside.parents if parent.is_relative_to(top))}
    limits: list[float] = []
    for folder in folders:
        for name in LIMIT_FILES:
            # "max" where there is none.
            with suppress(OSError, ValueError):
                limits.append(float((folder / name).read_text(encoding="ascii")))
    return limits


def counted(number: float) -> str:
    """A number of things: whole, unless it is astronomical.

    >>> counted(4e7), counted(0.03), counted(3e18)
    ('40,000,000', '0', '3e+18')
    """
    return f"{number:,.0f}" if number < 1e15 else f"{at_most(number):.3g}"


def at_most(number: float, most: float = 1e30) -> float:
    """A number that is too large to fit anywhere, as one that can be multiplied; a whole one may have any length."""
    return float(min(number, most))


def in_words(size: float) -> str:
    """A number of bytes with its unit.

    >>> in_words(60e9), in_words(1.5e15)
    ('60 GB', '1.5 PB')
    """
    power = 0
    while size >= 1000.0 and power < len(UNITS) - 1:
        size, power = size / 1000.0, power + 1
    return f"{size:,.3g} {UNITS[power]}"
