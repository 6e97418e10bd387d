"""One job from several rows, each of which is an event of it: submitted, started, ended."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from cluster_abm.arrays import Floats
from cluster_abm.scenario.columns import WORDS, ColumnMap
from cluster_abm.workload.traces.gathering import NumberColumn, WordColumn
from cluster_abm.workload.traces.mapping.rows import FieldRows
from cluster_abm.workload.traces.table import tally

SUBMITTED, STARTED, ENDED, OTHER = 0.0, 1.0, 2.0, 3.0
MERGED = "event of a job, counted with it"


class EventRows:
    """The rows of events as they come, and the jobs that they are in the end.

    A job is submitted at its first submission, waits until its first start, and runs from each start to the end that
    follows it: a job that was stopped and started again has the sum of its runs. What else a row says counts from the
    first of its rows that says it.

    Args:
        numbers: the fields of the map that are numbers.
        found: the map.
    """

    def __init__(self, numbers: Sequence[str], found: ColumnMap) -> None:
        self._numbers = {name: NumberColumn() for name in (*numbers, "kind", "time", "row")}
        self._words = {name: WordColumn() for name in WORDS if name in found.fields}

    def add(self, rows: FieldRows, kinds: Floats, times: Floats) -> None:
        """Put these rows behind.

        Args:
            rows: of the sample, those that the filter lets pass.
            kinds: SUBMITTED, STARTED, ENDED or OTHER, shape (rows,).
            times: of the events [ms], NaN where not known.
        """
        here = {"kind": kinds, "time": times, "row": rows.numbers}
        for name, column in self._numbers.items():
            column.extend(here[name] if name in here else rows.value(name))
        for name, words in self._words.items():
            words.extend(rows.words(name, np.ones(rows.count, bool)))

    def jobs(self) -> tuple[FieldRows, dict[str, int]]:
        """A row for each job, and the rows that are none, by reason."""
        import pandas as pd

        frame = pd.DataFrame(
            {name: column.column() for name, column in self._numbers.items()}
            | {name: column.column() for name, column in self._words.items()}
        )
        other, untimed = frame["kind"] == OTHER, frame["time"].isna()
        unnamed = frame["job"] == ""
        left_out = {
            "no job id": int(unnamed.sum()),
            "another event": int((other & ~unnamed).sum()),
            "no time of the event": int((untimed & ~other & ~unnamed).sum()),
        }
        frame = frame[~(other | untimed | unnamed)]
        number, _ = pd.factorize(frame["job"])
        frame = frame.assign(number=number).sort_values(["number", "time"], kind="stable", ignore_index=True)
        merged = _of_jobs(frame, [name for name in self._words if name != "job"])
        return merged, tally(left_out | {MERGED: len(frame) - merged.count})


def _of_jobs(frame: Any, words: list[str]) -> FieldRows:
    """A row for each job of a table of events, sorted by job and time."""
    import pandas as pd

    jobs = frame["number"].nunique()
    number, time = frame["number"].to_numpy(), frame["time"].to_numpy(float)
    kind = frame["kind"].to_numpy(float)
    values: dict[str, Floats] = {}
    for name, event, first in (("submit", SUBMITTED, True), ("start", STARTED, True), ("end", ENDED, False)):
        of_event = kind == event
        found = np.full(jobs, math.inf if first else -math.inf)
        (np.minimum if first else np.maximum).at(found, number[of_event], time[of_event])
        values[name] = np.where(np.isinf(found), math.nan, found)
    runs = np.flatnonzero(kind != SUBMITTED)
    begins = (kind[runs[:-1]] == STARTED) & (kind[runs[1:]] == ENDED) & (number[runs[:-1]] == number[runs[1:]])
    lengths = (time[runs[1:]] - time[runs[:-1]])[begins]
    of_jobs = number[runs[:-1]][begins]
    total = np.bincount(of_jobs, lengths, jobs)
    values["run"] = np.where(np.bincount(of_jobs, minlength=jobs) > 0, total, math.nan)
    # An end before the first start, or after a start that nothing ended, would be a run of its own.
    values["end"] = values["start"] + values["run"]
    known = frame.drop(columns=["kind", "time", "number"])
    known[["job", *words]] = known[["job", *words]].mask(known[["job", *words]] == "")
    first_known = known.groupby(number, sort=True).first()
    texts = {name: first_known[name].fillna("").to_numpy(object) for name in ("job", *words)}
    for name in first_known.columns.difference(["row", "job", *words]):
        values[str(name)] = first_known[name].to_numpy(float)
    never = np.zeros(jobs, bool)
    unread = dict.fromkeys(values, never)
    rows = pd.Series(frame["row"].to_numpy(float)).groupby(number, sort=True).min().to_numpy()
    return FieldRows(
        jobs, values, unread, lambda name, kept: texts[name][kept].tolist(), rows,
        lambda name, row: f"{values[name][row]:g} ms",
    )  # fmt: skip
