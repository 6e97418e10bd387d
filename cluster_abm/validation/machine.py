"""The machine on which a validation runs: what it is, and what others do on it."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cluster_abm.validation.proc_files import (
    Ticks,
    over,
    parse_cpuinfo,
    parse_groups,
    parse_list,
    parse_quota,
    parse_stat,
)

MOST_CORES = 4


@dataclass(frozen=True)
class MeasuredMachine:
    """What the machine is."""

    system: str  # of the kernel, with its release
    cpu: str  # model of the processor, "" if it is not said
    virtual: bool | None  # whether a hypervisor says so
    processors: int  # of the machine
    usable: tuple[int, ...]  # those that this process may use
    cores: tuple[int, ...]  # those that the processes of a validation run on: at most MOST_CORES, one a physical core
    quota: float | None  # cores' worth of CPU that a control group allows; None: no limit
    autogroup: bool | None  # whether the kernel shares the CPU by session; None: it does not say
    load: float | None  # the load average of the last minute, at the beginning; None: not said
    python: str  # version of Python

    def as_json(self) -> dict[str, Any]:
        """For a document."""
        return asdict(self) | {"usable": len(self.usable), "cores": list(self.cores)}


def text_of(path: str | Path) -> str | None:
    """The text of a small file of the system; None if it cannot be read."""
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return None


def machine() -> MeasuredMachine:
    """This machine."""
    model, virtual = parse_cpuinfo(text_of("/proc/cpuinfo") or "")
    usable = tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else ()
    autogroup = text_of("/proc/sys/kernel/sched_autogroup_enabled")
    load = None
    with suppress(OSError, AttributeError):
        load = round(os.getloadavg()[0], 2)
    return MeasuredMachine(
        system=f"{platform.system()} {platform.release()}",
        cpu=model or platform.processor(),
        virtual=virtual if Path("/proc/cpuinfo").exists() else None,
        processors=os.cpu_count() or 1,
        usable=usable,
        cores=chosen_cores(usable),
        quota=_quota(),
        autogroup=None if autogroup is None else autogroup.strip() == "1",
        load=load,
        python=platform.python_version(),
    )


def missing_features() -> list[str]:
    """What the parts about the CPU need and this system lacks; [] on Linux."""
    needed = {
        "sched_setaffinity": hasattr(os, "sched_setaffinity"),
        "memfd_create": hasattr(os, "memfd_create"),
        "/proc/stat": bool(parse_stat(text_of("/proc/stat") or "")),
    }
    return [name for name, there in needed.items() if not there]


def chosen_cores(usable: Sequence[int]) -> tuple[int, ...]:
    """One processor for each physical core, as far as the system says which belong together; at most MOST_CORES.

    The last ones: the first processor has more of the machine's interrupts.
    """
    found: list[int] = []
    seen: set[int] = set()
    for core in sorted(usable, reverse=True):
        siblings = text_of(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
        if core not in seen:
            found.append(core)
        seen.update(parse_list(siblings) if siblings else (core,))
    return tuple(found[:MOST_CORES])


def ticks_of(cores: Sequence[int]) -> Ticks:
    """What these processors have done so far."""
    return over(parse_stat(text_of("/proc/stat") or ""), cores)


def quiet_look(cores: Sequence[int], seconds: float) -> tuple[float, float]:
    """While this process sleeps: the shares of these processors' time that others used, and that was stolen."""
    before = ticks_of(cores)
    time.sleep(seconds)
    passed = ticks_of(cores) - before
    return passed.busy / max(1, passed.total), passed.steal / max(1, passed.total)


def _quota() -> float | None:
    """The smallest limit of the groups that this process is in, and of those above them."""
    groups = parse_groups(text_of("/proc/self/cgroup") or "")
    found = []
    for controller, path in groups.items():
        for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"):
            if controller not in ("", "cpu"):
                continue
            for folder in (Path(root + path), *Path(root + path).parents):
                if not str(folder).startswith("/sys/fs/cgroup"):
                    break
                with suppress(ValueError, ZeroDivisionError):
                    found.append(
                        parse_quota(
                            text_of(folder / "cpu.max"), text_of(folder / "cpu.cfs_quota_us"),
                            text_of(folder / "cpu.cfs_period_us"),
                        )
                    )  # fmt: skip
    limits = [quota for quota in found if quota is not None]
    return min(limits) if limits else None
