"""What a column of texts holds: numbers, times, durations, sizes or words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from cluster_abm.scenario.columns.units import TIMES_MS
from cluster_abm.workload.traces.guessing.dates import DATED, NEARLY_ALL, DateForm, able_forms, instants_s, table_forms
from cluster_abm.workload.traces.parts.units import MISSING

Floats = npt.NDArray[np.float64]
Kind = Literal["number", "iso", "date", "clock", "size", "text", "nothing"]
LARGEST = 1e25
# Seconds since 1970 from 2000 to 2050: what lies there is taken to be a date.
FIRST_S, LAST_S = 946_684_800.0, 2_524_608_000.0
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?\s?(?:Z|UTC|[+-]\d\d:?\d\d)?)?", re.ASCII)
_CLOCK = re.compile(r"(?:(?:(\d+)-)?(\d+):)?(\d{1,2}):(\d\d(?:\.\d+)?)", re.ASCII)
_SIZE = re.compile(r"\d+(?:\.\d+)?\s?(?:[kmgtKMGT](?:i?[bB])?|[bB])", re.ASCII)


def is_known(cell: str) -> bool:
    """Whether a cell says something."""
    return cell.strip().lower() not in MISSING


def looks_like_number(cell: str) -> bool:
    """Whether a cell is a number."""
    return _NUMBER.fullmatch(cell.strip()) is not None


def looks_like_time(cell: str) -> bool:
    """Whether a cell is a date with a time of day, or a duration with colons."""
    text = cell.strip()
    return any(form.fullmatch(text) for form in (_ISO, DATED, _CLOCK))


@dataclass(frozen=True)
class ColumnContent:
    """What a column of a sample holds."""

    cells: tuple[str, ...]
    dates: DateForm | None = None  # as the whole table tells it

    @cached_property
    def known(self) -> list[str]:
        """The cells that say something."""
        return [cell for cell in self.cells if is_known(cell)]

    @cached_property
    def kind(self) -> Kind:
        """What nearly all of them are."""
        looked_at = self.known[:1000]
        if not looked_at:
            return "nothing"
        forms = {"number": _NUMBER, "iso": _ISO, "date": DATED, "clock": _CLOCK, "size": _SIZE}
        for kind, form in forms.items():
            if sum(form.fullmatch(cell) is not None for cell in looked_at) >= NEARLY_ALL * len(looked_at):
                return kind  # type: ignore[return-value]
        return "text"

    @cached_property
    def numbers(self) -> Floats:
        """Numbers, or seconds of times and durations, shape (rows,); NaN where there is none."""
        if self.kind == "number":
            values = _to_numbers(self.cells)
            return np.where(values == -1.0, np.nan, values) if self.lacks_by_minus_one else values
        if self.kind == "clock":
            return np.array([_clock_s(cell) for cell in self.cells], float)
        if self.kind == "iso":
            return instants_s(self.cells, "ISO8601")
        if self.kind == "date" and self.form:
            return instants_s(self.cells, self.form)
        return np.full(len(self.cells), np.nan)

    @cached_property
    def lacks_by_minus_one(self) -> bool:
        """Whether -1 stands for "not known": no other number lies below 0."""
        return (
            self.kind == "number"
            and "-1" in self.cells
            and not any(cell.startswith("-") and cell != "-1" for cell in self.known)
        )

    @cached_property
    def form(self) -> str:
        """The form of dates; "" if none reads them, or if several do and no other column tells which."""
        if self.dates is not None:
            return self.dates.form
        able = able_forms(self.known)
        return able[0] if len(able) == 1 else ""

    @cached_property
    def values(self) -> Floats:
        """The numbers that are there."""
        return self.numbers[~np.isnan(self.numbers)]

    @cached_property
    def known_share(self) -> float:
        """Share of the rows that have a number."""
        return len(self.values) / max(len(self.cells), 1)

    @cached_property
    def distinct(self) -> int:
        """How many different words there are."""
        return len(set(self.known))

    @cached_property
    def whole(self) -> bool:
        """Whether all numbers are whole."""
        return bool(len(self.values)) and bool((self.values == np.round(self.values)).all())

    @cached_property
    def unit_since_1970(self) -> str:
        """The unit in which numbers count from 1970; "" if they do not look like dates."""
        if self.kind != "number" or not len(self.values):
            return ""
        low, high = np.quantile(self.values, [0.05, 0.95])
        for unit in ("s", "ms", "us", "ns"):
            if low * TIMES_MS[unit] / 1000.0 >= FIRST_S and high * TIMES_MS[unit] / 1000.0 <= LAST_S:
                return unit
        return ""

    @cached_property
    def is_instant(self) -> bool:
        """Whether these are dates, beyond doubt."""
        return self.kind in ("iso", "date") or bool(self.unit_since_1970)

    @cached_property
    def is_steady(self) -> bool:
        """Whether there is one value only, or next to none."""
        return len(self.values) == 0 or float(np.ptp(self.values)) == 0.0

    @cached_property
    def seconds(self) -> Floats:
        """Instants and durations in seconds, as far as they say so themselves, shape (rows,)."""
        scale = TIMES_MS[self.unit_since_1970] / 1000.0 if self.unit_since_1970 else 1.0
        return self.numbers * scale


def contents_of(columns: Sequence[tuple[str, ...]]) -> list[ColumnContent]:
    """What the columns of a table hold, and the form of their dates, which they share."""
    contents = [ColumnContent(cells) for cells in columns]
    forms = table_forms({at: one.known for at, one in enumerate(contents) if one.kind == "date"})
    return [ColumnContent(one.cells, forms[at]) if at in forms else one for at, one in enumerate(contents)]


def _to_numbers(cells: Sequence[str]) -> Floats:
    import pandas as pd

    values = pd.to_numeric(pd.Series(cells, dtype=object), errors="coerce").to_numpy(float)
    # What overflows in sums and squares is no amount of anything.
    return np.where(np.abs(values) < LARGEST, values, np.nan)


def _clock_s(cell: str) -> float:
    match = _CLOCK.fullmatch(cell.strip())
    if match is None:
        return float("nan")
    days, hours, minutes, seconds = (float(part or 0.0) for part in match.groups())
    return days * 86_400.0 + hours * 3600.0 + minutes * 60.0 + seconds
