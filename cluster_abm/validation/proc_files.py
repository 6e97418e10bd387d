"""What Linux says of itself in its files, as numbers: parsers of text, so that they can be tested anywhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Ticks:
    """Time of one processor, or of several, since the machine was started, in clock ticks."""

    busy: int  # it computed for processes of this system or for the kernel
    idle: int  # it had nothing to compute; waiting for a disk is idle
    steal: int  # the hypervisor gave it to others

    def __sub__(self, earlier: Ticks) -> Ticks:
        return Ticks(self.busy - earlier.busy, self.idle - earlier.idle, self.steal - earlier.steal)

    def __add__(self, other: Ticks) -> Ticks:
        return Ticks(self.busy + other.busy, self.idle + other.idle, self.steal + other.steal)

    @property
    def total(self) -> int:
        """All of it."""
        return self.busy + self.idle + self.steal


def parse_stat(text: str) -> dict[int, Ticks]:
    """The processors of /proc/stat, by number."""
    found = {}
    for line in text.splitlines():
        name, *numbers = line.split()
        if not name.startswith("cpu") or not name[3:].isdigit():
            continue
        # user nice system idle iowait irq softirq steal; guest time is in user's already.
        user, nice, system, idle, waiting, interrupts, soft, steal = [*map(int, numbers), *[0] * 8][:8]
        found[int(name[3:])] = Ticks(user + nice + system + interrupts + soft, idle + waiting, steal)
    return found


def over(ticks: dict[int, Ticks], cores: Iterable[int]) -> Ticks:
    """The sum over these processors; those that are not there count nothing."""
    return sum((ticks[core] for core in cores if core in ticks), Ticks(0, 0, 0))


def parse_switches(status: str) -> int:
    """Involuntary context switches of /proc/PID/status. Raises ValueError if it does not say them."""
    for line in status.splitlines():
        name, _, value = line.partition(":")
        if name == "nonvoluntary_ctxt_switches":
            return int(value)
    raise ValueError("no nonvoluntary_ctxt_switches")


def parse_cpuinfo(text: str) -> tuple[str, bool]:
    """The CPU's model, "" if /proc/cpuinfo does not say it, and whether the machine is virtual."""
    lines = [(name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in text.splitlines())]
    model = next((value for name, value in lines if name in ("model name", "Model", "cpu model") and value), "")
    return model, any(name == "flags" and "hypervisor" in value.split() for name, value in lines)


def parse_list(text: str) -> tuple[int, ...]:
    """A list of numbers as the kernel writes it.

    >>> parse_list("0-2,5")
    (0, 1, 2, 5)
    """
    found: list[int] = []
    for part in text.strip().split(","):
        low, dash, high = part.partition("-")
        if low.strip().isdigit():
            found += range(int(low), int(high if dash else low) + 1)
    return tuple(found)


def parse_quota(cpu_max: str | None, quota_us: str | None, period_us: str | None) -> float | None:
    """Cores' worth of CPU that a control group allows; None: no limit.

    Args:
        cpu_max: `cpu.max` of version 2; None: there is no such file.
        quota_us, period_us: `cpu.cfs_quota_us` and `cpu.cfs_period_us` of version 1.
    """
    if cpu_max is not None:
        quota, _, period = cpu_max.strip().partition(" ")
        return None if quota == "max" else float(quota) / float(period or 100_000)
    if quota_us is None or period_us is None or int(quota_us) < 0:
        return None
    return int(quota_us) / int(period_us)


def parse_groups(text: str) -> dict[str, str]:
    """Paths of a process's control groups in /proc/PID/cgroup, by controller; "" is that of version 2."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number.isdigit() and path:
            found |= dict.fromkeys(controllers.split(","), path)
    return found


def parse_mount(mounts: str, path: str) -> tuple[str, str]:
    """The kind of file system, and the device, of /proc/mounts that an absolute path is on; ("", "") if none."""
    best, found = "", ("", "")
    for line in mounts.splitlines():
        device, _, rest = line.partition(" ")
        folder, _, rest = rest.partition(" ")
        folder = folder.replace("\\040", " ")
        inside = path == folder or path.startswith(folder.rstrip("/") + "/")
        # The later of two mounts at one place hides the earlier one.
        if inside and len(folder) >= len(best):
            best, found = folder, (rest.partition(" ")[0], device)
    return found
