"""Numbers with units, as SimGrid's platforms have them (the head of simgrid.dtd lists all)."""

from __future__ import annotations

import math
import re

from cluster_abm.errors import InputError
from cluster_abm.graphs.checks import brief

_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-z]*)", re.ASCII)
_DECIMAL = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18, "Z": 1e21, "Y": 1e24}
_BINARY = {f"{prefix}i": 2.0 ** (10 * power) for power, prefix in enumerate("KMGTPEZY", 1)}
_WORDS = ("", "kilo", "mega", "giga", "tera", "peta", "exa", "zetta", "yotta")
SPEEDS = (
    {"": 1.0}
    | {f"{prefix}f": value for prefix, value in _DECIMAL.items()}
    | {f"{word}flops": value for word, value in zip(_WORDS, _DECIMAL.values(), strict=True)}
)
# Bytes and bits; the DTD's text has KBps beside kBps.
BANDWIDTHS = {"": 1.0} | {
    f"{prefix}{unit}ps": value * size
    for prefix, value in (_DECIMAL | {"K": 1e3} | _BINARY).items()
    for unit, size in (("B", 1.0), ("b", 0.125))
}
LATENCIES = {
    "": 1.0, "ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0,
    "w": 604800.0,
}  # fmt: skip


def gflops_of(text: str, what: str) -> float:
    """A speed [Gflop/s]. Raises InputError, which begins with `what`: no positive number with a unit of speeds."""
    value = _number(text, SPEEDS, what, "a speed above 0 as 1Gf, 98.095Mf or 2e9f")
    if value <= 0.0:
        raise InputError(f"{what} = {brief(text)}: allowed: a speed above 0")
    return value / 1e9


def mbps_of(text: str, what: str) -> float:
    """A bandwidth [Mbps]; in the file a number without a unit is in bytes per second. Raises InputError as above."""
    value = _number(text, BANDWIDTHS, what, "a bandwidth above 0 as 125MBps, 1Gbps or 2.5MiBps")
    if value <= 0.0:
        raise InputError(f"{what} = {brief(text)}: allowed: a bandwidth above 0")
    return value * 8.0 / 1e6


def ms_of(text: str, what: str) -> float:
    """A latency [ms]. Raises InputError: negative, or no number with a unit of times."""
    value = _number(text, LATENCIES, what, "a latency as 50us, 1.5ms or 0")
    if value < 0.0:
        raise InputError(f"{what} = {brief(text)}: allowed: a latency of 0 or more")
    return value * 1e3


def _number(text: str, units: dict[str, float], what: str, allowed: str) -> float:
    match = _NUMBER.fullmatch(text.strip())
    value = float(match[1]) * units[match[2]] if match and match[2] in units else math.nan
    if not math.isfinite(value):
        known = ", ".join(unit for unit in list(units)[1:12])
        raise InputError(f"{what} = {brief(text)}: allowed: {allowed} (units: {known} ...)")
    return value
