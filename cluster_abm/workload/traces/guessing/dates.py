"""Dates as texts, and their form, which the columns of a table share."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

NEARLY_ALL = 0.95
_DAYS = ("%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%d.%m.%Y", "%Y.%m.%d", "%m-%d-%Y", "%d-%m-%Y")
_TIMES = (" %H:%M:%S", " %H:%M", "")
FORMS = tuple(f"{day}{time}" for day in _DAYS for time in _TIMES)
DATED = re.compile(
    r"(?:\d{1,2}([/.-])\d{1,2}\1\d{4}|\d{4}([/.])\d{1,2}\2\d{1,2})(?: \d{1,2}:\d\d(?::\d\d)?)?", re.ASCII
)
SHORTER = 0.5  # of the span that the other order of day and month gives


@dataclass(frozen=True)
class DateForm:
    """The form of the dates of one column."""

    form: str  # as %d.%m.%Y %H:%M:%S; "" if none reads them
    share: float = 1.0  # how much of the sureness is left
    doubt: str = ""  # why, in words


def able_forms(cells: Sequence[str]) -> tuple[str, ...]:
    """The forms by which nearly all cells, and as many as by any form, are dates: two if day and month may be swapped.

    With points the day or the year comes first, never the month.
    """
    first = next((cell for cell in cells if DATED.fullmatch(cell)), "")
    marks = re.sub(r"\d", "", first)
    shares = {
        form: float((~np.isnan(instants_s(cells, form))).mean())
        for form in FORMS
        if re.sub(r"%\w", "", form) == marks and first[4:5].isdigit() != form.startswith("%Y")
    }
    best = max(shares.values(), default=0.0)
    return tuple(form for form, share in shares.items() if share == best >= NEARLY_ALL)


def table_forms(columns: Mapping[int, Sequence[str]]) -> dict[int, DateForm]:
    """The form of each column of dates.

    Where day and month may be swapped in all rows of a column, it has the form of another column in which they cannot.
    If there is none, the order that makes the log the shorter one is taken, as swapping scatters days over months, but
    less surely. If both make it about as long, the month is taken to come first, with still more doubt; with little
    doubt if all times only move by as much, as those of a single day do, because differences are then the same.

    Args:
        columns: column -> its cells that say something.
    """
    able = {at: able_forms(cells) for at, cells in columns.items()}
    known = {forms[0] for forms in able.values() if len(forms) == 1}
    result = {at: DateForm(forms[0]) if len(forms) == 1 else DateForm("") for at, forms in able.items()}
    unclear = defaultdict(list)
    for at, forms in able.items():
        shared = [form for form in forms if form in known]
        if len(forms) > 1 and len(shared) == 1:
            result[at] = DateForm(shared[0])
        elif len(forms) > 1:
            unclear[forms].append(at)
    for forms, group in unclear.items():
        result |= dict.fromkeys(group, _likelier(forms, [cell for at in group for cell in columns[at]]))
    return result


def _likelier(forms: Sequence[str], cells: Sequence[str]) -> DateForm:
    """Of two orders of day and month the likelier one."""
    month_first, day_first = (instants_s(cells, form) for form in forms[:2])
    if float(np.nanstd(month_first - day_first)) == 0.0:
        return DateForm(forms[0], 0.9, "day and month may be swapped, which changes no difference of times")
    spans = [float(np.nanmax(one) - np.nanmin(one)) for one in (month_first, day_first)]
    if min(spans) < SHORTER * max(spans):
        found = "month" if spans[0] < spans[1] else "day"
        form = forms[int(np.argmin(spans))]
        return DateForm(form, 0.8, f"{found} first, as the log is then shorter, but day and month may be swapped")
    return DateForm(forms[0], 0.6, "day and month may be swapped in every row, month first is assumed")


def instants_s(cells: Sequence[str], form: str) -> npt.NDArray[np.float64]:
    """Seconds since 1970 of texts, taken as UTC where they name no zone, NaN where there is none, shape (cells,)."""
    import pandas as pd

    texts = pd.Series(cells, dtype=object).str.replace(r"\s?UTC$", "Z", regex=True)
    times = pd.to_datetime(texts, format=form, errors="coerce", utc=True)
    seconds = times.to_numpy("datetime64[ns]").astype(np.int64) / 1e9
    return np.where(times.isna().to_numpy(), np.nan, seconds)
