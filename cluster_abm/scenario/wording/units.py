"""Values that are given with a unit: what to write in its place. A key's own unit is in its name or meaning."""

from __future__ import annotations

import re
from typing import NamedTuple


class Unit(NamedTuple):
    """A unit."""

    of: str  # what it measures
    size: float  # how many of the smallest unit of that it is
    name: str  # what it is called in messages


_TIMES = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9, "d": 86_400e9}
# 1 GB = 1,024 MB, as everywhere here.
_SIZES = {prefix + "B": 1024.0**power for power, prefix in enumerate(("", "K", "M", "G", "T"))}
_BITS = {prefix + "bps": 1024.0**power for power, prefix in enumerate(("", "K", "M", "G", "T"))}
_WATTS = {"W": 1.0, "kW": 1000.0}

UNITS: dict[str, Unit] = {
    **{name: Unit("time", size, name) for name, size in _TIMES.items()},
    **{name: Unit("data", size, name) for name, size in _SIZES.items()},
    **{f"{name}/s": Unit("bytes per second", size, f"{name}/s") for name, size in _SIZES.items()},
    **{name: Unit("bits per second", size, name) for name, size in _BITS.items()},
    **{name: Unit("power", size, name) for name, size in _WATTS.items()},
    "%": Unit("share", 0.01, "%"),
}
_ALIKE = {
    "µs": "us", "sec": "s", "secs": "s", "second": "s", "seconds": "s", "mins": "min", "minute": "min",
    "minutes": "min", "hr": "h", "hour": "h", "hours": "h", "day": "d", "days": "d", "percent": "%",
    "kib": "KB", "mib": "MB", "gib": "GB", "tib": "TB", "kbit/s": "Kbps", "mbit/s": "Mbps", "gbit/s": "Gbps",
    "Kb/s": "Kbps", "kb/s": "KB/s", "Mb/s": "Mbps", "Gb/s": "Gbps", "Mbps": "Mbps", "MBps": "MB/s", "GBps": "GB/s",
    "k": "KB", "m": "MB", "g": "GB", "t": "TB",
}  # fmt: skip
# By the ends of names, the longer ones first.
_ENDINGS = {
    "_mb_per_s": "MB/s", "_per_ms": "1/ms", "_per_s": "1/s", "_mbps": "Mbps", "_mb": "MB", "_kb": "KB", "_ms": "ms",
    "_s": "s", "_h": "h", "_watts": "W",
}  # fmt: skip
# Those whose names do not say it.
_OTHERS = {"run.until": "ms"}
_SHARES = ("share", "utilisation", "percentage")
_QUANTITY = re.compile(r"\s*([+-]?(?:\d[\d,_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([^\d\s.,_+-][^\d]*?)?\s*")


def hint(key: str, text: str) -> str | None:
    """What to write in place of a text where a key takes a number; None if the text is nothing like one.

    >>> hint("cluster.memory_mb", "0.5GB")
    'is in MB: write 512'
    >>> hint("workload.utilisation", "70%")
    'is a share of 1: write 0.7'
    >>> hint("workload.cpu_ms.mean", "1 h")
    'is in ms: write 3600000'
    """
    match = _QUANTITY.fullmatch(text)
    if match is None:
        return None
    number = float(match[1].replace(",", "").replace("_", ""))
    own, given = unit_of(key), _unit(match[2])
    is_share = any(key.rpartition(".")[2].endswith(word) for word in _SHARES)
    takes = f"is in {own}" if own else "is a share of 1" if is_share else "is a number without a unit"
    if match[2] is None or (own and given and given.name == own):
        return f"{takes}: write {_plain(number)}" + ("" if match[2] else ", without quotes or commas")
    if given is None:
        return f"{takes}: write a number alone, e.g. {_plain(number)}"
    if given.of == "share" and own is None:
        return f"{takes}: write {_plain(number * given.size)}"
    target = UNITS.get(own or "")
    bits = {"bits per second": 1.0, "bytes per second": 8.0}
    if target is not None and (target.of == given.of or {target.of, given.of} <= set(bits)):
        factor = bits.get(given.of, 1.0) / bits.get(target.of, 1.0)
        return f"{takes}: write {_plain(number * given.size * factor / target.size)}"
    return f"{takes}, which {match[2]} is not: write a number alone"


def unit_of(key: str) -> str | None:
    """The unit of a key, by its name; of a distribution's parameter, that of the distribution. None: it has none."""
    if key in _OTHERS:
        return _OTHERS[key]
    names = key.split(".")
    of_distribution = ("mean", "sd", "minimum", "maximum", "values")
    name = names[-2] if len(names) > 1 and names[-1] in of_distribution else names[-1]
    return next((unit for ending, unit in _ENDINGS.items() if f"_{name}".endswith(ending)), None)


def _unit(word: str | None) -> Unit | None:
    if word is None:
        return None
    word = word.strip()
    for name in (word, _ALIKE.get(word, ""), _ALIKE.get(word.lower(), "")):
        if name in UNITS:
            return UNITS[name]
    # `mb` and `Gb` are hardly bits where nothing says "per second".
    return next((unit for name, unit in UNITS.items() if name.lower() == word.lower()), None)


def _plain(number: float) -> str:
    return f"{number:.12g}"
