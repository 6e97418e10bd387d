"""What lists and times that batch systems write are as numbers: each reads one text, and raises ValueError if it
cannot."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from cluster_abm.workload.traces.parts.units import SECOND, clock_ms

_SECONDS = re.compile(r"\d{1,15}(?:\.\d*)?", re.ASCII)
_CPUS = re.compile(r"\d+(?:\*(?P<count>\d{1,9})|-(?P<last>\d{1,9}))?", re.ASCII)
_HOST = re.compile(r"(?:(?P<count>\d{1,9})\*)?[^\s*]+", re.ASCII)
_NODES = re.compile(r"(?P<count>\d{1,9})|[A-Za-z]", re.ASCII)


def clock_or_seconds_ms(text: str) -> float:
    """Milliseconds of [DD-]HH:MM:SS, or of a number of seconds."""
    return float(text) * SECOND if _SECONDS.fullmatch(text) else clock_ms(text)


def slots(text: str) -> float:
    """The slots in PBS's exec_host: n1/0+n1/1 are 2 (Torque), n1/0-3 are 4, n1/0*8 are 8 (PBS Professional); NaN if
    there is none."""
    total = 0
    for host in text.split("+"):
        for cpus in host.partition("/")[2].split(","):
            match = _CPUS.fullmatch(cpus)
            if match is None:
                raise ValueError(f"not read: {text[:40]!r}")
            if match["count"] is not None:
                total += int(match["count"])
            elif match["last"] is not None:
                total += int(match["last"]) - int(cpus.partition("-")[0]) + 1
            else:
                total += 1
    return float(total) if total > 0 else math.nan


def slots_by_host(text: str) -> float:
    """The slots in LSF's execHosts: 16*n1 are 16, a host without a number is 1 each time that it stands there; NaN if
    there is none."""
    total = 0
    for host in text.split():
        match = _HOST.fullmatch(host)
        if match is None:
            raise ValueError(f"not read: {text[:40]!r}")
        total += int(match["count"] or 1)
    return float(total) if total > 0 else math.nan


def asked_cores(text: str) -> float:
    """The cores in PBS's list of nodes: 2:ppn=8+n7:ppn=4 are 20; a node without ppn counts as one."""
    return _asked(text, r"ppn=(\d{1,9})", 1)


def asked_gpus(text: str) -> float:
    """The GPUs in PBS's list of nodes: 2:ppn=8:gpus=1 are 2; NaN if none is asked for."""
    return _asked(text, r"gpus?=(\d{1,9})", 0) or math.nan


def entries(text: str) -> float:
    """How many entries a list has that stands as one text with blanks between."""
    return float(len(text.split()))


def largest(text: str) -> float:
    """The largest number of a list that stands as one text with blanks between."""
    return max(float(entry) for entry in text.split())


def _asked(text: str, pattern: str, default: int) -> float:
    total = 0
    for part in text.partition("#")[0].split("+"):
        first, *properties = part.split(":")
        match = _NODES.match(first)
        if match is None:
            raise ValueError(f"not read: {text[:40]!r}")
        each = next((int(found[1]) for one in properties if (found := re.fullmatch(pattern, one))), default)
        total += each * (int(match["count"]) if match[0] == first else 1)
    return float(total)


AS_COUNT: dict[str | None, Callable[[str], float]] = {
    "count": entries,
    "largest": largest,
    "lsf-slots": slots_by_host,
    "pbs-slots": slots,
    "pbs-cores": asked_cores,
    "pbs-gpus": asked_gpus,
}
