"""Dates with a time of day as milliseconds, and the time zones among them."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime

from cluster_abm.workload.traces.parts.units import DAY, is_missing

ALLOWED = "a date and time as 2023-05-01T10:00:00, with a time zone (+02:00) in all or in none, or s or ms since 1970"
SECONDS_END = 1e11  # numbers from here on are ms since 1970: as seconds they would lie in the year 5138
_STAMP = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)([.,]\d{1,9})?\s?(Z|UTC|[+-]\d\d:?\d\d)?", re.ASCII | re.IGNORECASE
)
_COUNT = re.compile(r"\d+(?:\.\d+)?", re.ASCII)


class Stamps:
    """Reads the timestamps of a file; its columns share one.

    Stamps with a zone are compared as instants, stamps without as they stand (where clocks are put back an hour
    comes twice, which no reader can mend). A file must not mix both.

    Args:
        zoned: whether stamps have a zone; None: as the first has.
    """

    def __init__(self, zoned: bool | None = None) -> None:
        self._zoned = zoned
        self._first = ""
        self.zones: set[float] = set()  # offsets from UTC that occur [min]

    def read(self, cell: str) -> float:
        """Milliseconds since 1970; NaN where nothing is known, or where the stamp is 1970 itself.

        Raises ValueError: no date and time; a zone where the first stamp has none, or none where it has one.
        """
        text = cell.strip()
        if is_missing(text):
            return math.nan
        if _COUNT.fullmatch(text):
            value = float(text)
            if value < DAY / 1000.0:
                return math.nan
            self._see(True, text)
            return value if value >= SECONDS_END else value * 1000.0
        match = _STAMP.fullmatch(text)
        if match is None:
            raise ValueError(ALLOWED)
        day, time, part, zone = match.groups()
        zone = "+00:00" if zone and zone.upper() in ("Z", "UTC") else zone or ""
        try:
            at = datetime.fromisoformat(f"{day}T{time}{zone}")
        except ValueError as problem:
            raise ValueError(f"{ALLOWED} ({problem})") from None
        offset = at.utcoffset()
        milliseconds = (at if offset is not None else at.replace(tzinfo=UTC)).timestamp() * 1000.0
        if abs(milliseconds) < DAY:
            return math.nan  # a time of 0, as some programs write "never"
        self._see(offset is not None, text)
        if offset is not None:
            self.zones.add(offset.total_seconds() / 60.0)
        return milliseconds + (round(float(f"0.{part[1:]}") * 1000.0, 6) if part else 0.0)

    def see_zone(self, zoned: bool) -> None:
        """Note that a stamp which was read elsewhere has a zone, or has none."""
        if self._zoned is None:
            self._zoned = zoned

    def _see(self, zoned: bool, text: str) -> None:
        if self._zoned is None:
            self._zoned, self._first = zoned, text
        elif zoned is not self._zoned:
            said = "a time zone where" if zoned else "no time zone where"
            has = "has none" if zoned else "has one"
            raise ValueError(f"{ALLOWED}; it has {said} {self._first[:40]!r} {has}")
