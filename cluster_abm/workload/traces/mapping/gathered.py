"""The jobs of a table as they are found, block by block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from cluster_abm.arrays import Flags, Floats, Words
from cluster_abm.bounded_files import MEGABYTE, Limit, shown
from cluster_abm.errors import InputError
from cluster_abm.scenario.columns import ColumnMap
from cluster_abm.workload.traces.gathering import NumberColumn, WordColumn
from cluster_abm.workload.traces.mapping.rows import (
    COUNTED,
    LONG_REQUEST,
    LONG_WAIT,
    ROW,
    SUBMIT,
    TIMES,
    Derived,
    FieldRows,
)
from cluster_abm.workload.traces.mapping.suspects import MOST_ABSURD, MOST_OFTEN, Suspects
from cluster_abm.workload.traces.parts.fields import MOST
from cluster_abm.workload.traces.parts.resources import resources_text
from cluster_abm.workload.traces.table import (
    AFTER,
    GROUP,
    JOB,
    LARGEST_WHOLE,
    NAME,
    PARTITION,
    RESOURCES,
    USER,
    sorted_out,
    tally,
)

BYTES_A_WORD = 60
# Our columns of texts, and the fields of a map that they come from.
TEXTS = {JOB: "job", AFTER: "parents", USER: "user", GROUP: "group", PARTITION: "partition", NAME: "name"}
LATEST_MS = 1e14  # the year 5138
# Reasons that, in many rows, are the map's fault: what to say, and which fields show it.
OFTEN = {
    "ends before it starts": ("it ends before it starts (are start and end swapped?)", ("start", "end")),
    "negative run time": ("its run time is negative (is the expression the wrong way round?)", ("run",)),
}
ABSURD = {
    "run time beyond 32 years": ("its run time is beyond 32 years (a wrong unit?)", ("run", "start", "end")),
    "bytes beyond 2^63": ("its bytes are beyond 2^63 (a wrong unit?)", ("memory", "disk_read", "disk_written")),
    "more than 2^31 tasks": ("it has more than 2^31 tasks (a wrong unit?)", ("cores", "tasks")),
}


class Gathered:
    """The jobs found so far, the rows left out by reason, and what was remarkable."""

    def __init__(self, found: ColumnMap, where: str, limit: Limit) -> None:
        self.skipped: Counter[str] = Counter()
        self.noted: Counter[str] = Counter()
        self.assumed = 0
        self.jobs = 0
        self._map, self._where, self._limit = found, where, limit
        self._numbers: dict[str, NumberColumn] = {}
        self._words = {column: WordColumn() for column, name in TEXTS.items() if name in found.fields}
        self._resources = [name for name in found.fields if name.startswith(COUNTED)]
        if self._resources:
            self._words[RESOURCES] = WordColumn()
        self._suspects = Suspects()

    def add(self, rows: FieldRows, jobs: Derived) -> None:
        """Put the jobs of some rows behind. Raises InputError: more of them than the limit allows."""
        self._suspect(rows, jobs)
        reasons, usable = sorted_out(jobs.reasons, rows.count)
        self.skipped.update(tally(reasons))
        self.noted.update({name: int((flags & usable).sum()) for name, flags in jobs.noted.items()})
        self.assumed += int((jobs.assumed & usable).sum())
        self.jobs += int(usable.sum())
        for name, values in (jobs.columns | {ROW: rows.numbers}).items():
            column = self._numbers.setdefault(name, NumberColumn())
            column.extend(np.clip(values[usable], -MOST, MOST))
        for column_name, words in self._words.items():
            words.extend(
                self._amounts(rows, usable) if column_name == RESOURCES else rows.words(TEXTS[column_name], usable)
            )
        held = self.jobs * (8 * len(self._numbers) + BYTES_A_WORD * len(self._words))
        if held > self._limit.mb * MEGABYTE:
            raise InputError(
                f"{shown(self._where)}: its jobs take more than {self._limit.mb:,} MB: allowed up to "
                f"{self._limit.mb:,} MB ({self._limit.raised_by}); --sample 1/100 (workload.trace.sample) reads a "
                "part of them"
            )

    def numbers(self) -> dict[str, Floats]:
        """Ours of the jobs, with SUBMIT and ROW. Raises InputError: so much is wrong that the map must be."""
        self._suspects.refuse(self._where)
        return {name: column.column() for name, column in self._numbers.items()}

    def words(self) -> dict[str, Words]:
        """The texts of the jobs."""
        return {name: column.column() for name, column in self._words.items()}

    def _amounts(self, rows: FieldRows, usable: Flags) -> Iterator[str]:
        """Counted resources, a text for each of these rows."""
        names = [name.removeprefix(COUNTED) for name in self._resources]
        amounts = (np.nan_to_num(rows.value(name)[usable]) for name in self._resources)
        values = [np.where(one <= LARGEST_WHOLE, one, 0.0).tolist() for one in amounts]
        return (resources_text(dict(zip(names, amounts, strict=True))) for amounts in zip(*values, strict=True))

    def _suspect(self, rows: FieldRows, jobs: Derived) -> None:
        for name, unread in rows.unread.items():
            there = int((unread | ~np.isnan(rows.value(name))).sum())
            self._see(f"{name} cannot be read as {self._unit(name)}", unread, there, rows, (name,), MOST_OFTEN)
        known = int((~np.isnan(jobs.columns.get("cpu_ms", rows.value("run")))).sum())
        for reasons, most in ((OFTEN, MOST_OFTEN), (ABSURD, MOST_ABSURD)):
            for reason, (says, fields) in reasons.items():
                if reason in jobs.reasons:
                    self._see(says, jobs.reasons[reason], known, rows, fields, most)
        submit = jobs.columns[SUBMIT]
        there = int((~np.isnan(submit)).sum())
        early = jobs.noted["starts before it is submitted"]
        says = "it starts before it is submitted (are submit and start swapped?)"
        self._see(says, early, there, rows, ("submit", "start"), MOST_OFTEN)
        says = "it waits for more than 32 years (a wrong unit?)"
        self._see(says, jobs.noted[LONG_WAIT], there, rows, ("submit", "start"), MOST_ABSURD)
        says = "its requested time is beyond 32 years (a wrong unit?)"
        asked = int((~np.isnan(rows.value("requested"))).sum())
        self._see(says, jobs.noted[LONG_REQUEST], asked, rows, ("requested",), MOST_ABSURD)
        late = np.abs(np.nan_to_num(submit)) > LATEST_MS
        self._see("it is submitted after the year 5138 (a wrong unit?)", late, there, rows, TIMES[:2], MOST_ABSURD)

    def _see(self, says: str, wrong: Flags, count: int, rows: FieldRows, fields: tuple[str, ...], most: float) -> None:
        there = [name for name in fields if name in self._map.fields] or [
            name for name in TIMES if name in self._map.fields
        ][:2]
        self._suspects.see(
            says, wrong, count, lambda row: int(rows.numbers[row]),
            lambda row: ", ".join(f"{name} = {rows.shown(name, row)}" for name in there), most,
        )  # fmt: skip

    def _unit(self, name: str) -> str:
        field = self._map.fields.get(name)
        unit = None if field is None else field.unit
        if unit == "iso":
            return "a date and time as 2023-05-01T10:00:00, with a time zone in all rows or in none"
        if unit in ("date", "clock", "size"):
            return f'"{unit}"'
        if unit is not None:
            return f'a number of "{unit}"'
        return "a number of s, or a date and time (with a zone in all rows or in none)" if name in TIMES else "a number"
