"""Cells with units in them, as Nextflow and Slurm write sizes, times and shares: each as one number.

A cell that says that nothing is known gives NaN; one that cannot be read raises ValueError.
"""

from __future__ import annotations

import math
import re

MISSING = frozenset(
    ("", "-", "--", "unknown", "none", "null", "n/a", "na", "nan", "invalid", "unlimited", "partition_limit")
)
# Powers of 1024 under the names of powers of 1000: what both programs mean by them.
POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5, "e": 6}
DAY, HOUR, MINUTE, SECOND = 86_400_000.0, 3_600_000.0, 60_000.0, 1000.0  # ms
UNITS_MS = {"d": DAY, "h": HOUR, "m": MINUTE, "s": SECOND, "ms": 1.0}

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?"
_PLAIN = re.compile(_NUMBER, re.ASCII)
_SIZE = re.compile(rf"({_NUMBER})\s*([kmgtpe]?)(?:i?b)?", re.ASCII | re.IGNORECASE)
_SHARE = re.compile(rf"({_NUMBER})\s*%?", re.ASCII)
_PART = re.compile(r"(\d+\.?\d*|\.\d+)\s*(ms|[dhms])", re.ASCII)
_WORDED = re.compile(rf"-?{_PART.pattern}(?:\s*{_PART.pattern}){{0,4}}", re.ASCII)
_CLOCK = re.compile(r"(-?)(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+(?:\.\d*)?)", re.ASCII)
_DAYS_HOURS = re.compile(r"(-?)(\d+)-(\d+)(?::(\d+))?", re.ASCII)


def is_missing(cell: str) -> bool:
    """Whether a cell says that nothing is known."""
    return cell.strip().lower() in MISSING


def plain(cell: str) -> float:
    """A number without a unit."""
    return math.nan if is_missing(cell) else float(_matched(_PLAIN, cell)[0])


def size_bytes(cell: str) -> float:
    """Bytes: `1.2 GB`, `105.5K`, `4096`; a thousand of them is 1024 (Nextflow's MemoryUnit, Slurm's sacct)."""
    if is_missing(cell):
        return math.nan
    number, unit = _matched(_SIZE, cell).groups()
    return float(number) * 1024.0 ** POWERS[unit.lower()]


def percent(cell: str) -> float:
    """Per cent: `75.2%` or `75.2`."""
    return math.nan if is_missing(cell) else float(_matched(_SHARE, cell)[1])


def duration_ms(cell: str) -> float:
    """Milliseconds of a time as Nextflow writes it: `3h 2m 1s`, `1.2s`, `345ms`; a number alone is ms."""
    text = cell.strip()
    if is_missing(text):
        return math.nan
    if _PLAIN.fullmatch(text):
        return float(text)
    _matched(_WORDED, text)
    total = sum(float(number) * UNITS_MS[unit] for number, unit in _PART.findall(text))
    return -total if text.startswith("-") else total


def clock_ms(cell: str) -> float:
    """Milliseconds of a time as Slurm writes it: `[DD-[HH:]]MM:SS[.mmm]`, also `DD-HH` and `DD-HH:MM`."""
    text = cell.strip()
    if is_missing(text):
        return math.nan
    match = _CLOCK.fullmatch(text)
    if match:
        sign, days, hours, minutes, seconds = match.groups()
    else:
        sign, days, hours, minutes = _matched(_DAYS_HOURS, text).groups()
        seconds = "0"
    total = float(days or 0) * DAY + float(hours or 0) * HOUR + float(minutes or 0) * MINUTE + float(seconds) * SECOND
    # To the microsecond, so that 0.001 s is 1 ms and no rounding error more.
    return math.copysign(round(total, 3), -1.0 if sign else 1.0)


def _matched(pattern: re.Pattern[str], cell: str) -> re.Match[str]:
    match = pattern.fullmatch(cell.strip())
    if match is None:
        raise ValueError(f"not read: {cell[:40]!r}")
    return match
