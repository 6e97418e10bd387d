"""Which columns may be which fields of a job, by their names, as far as their values allow it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cluster_abm.scenario.columns.map import DURATIONS, INSTANTS
from cluster_abm.workload.traces.guessing.cells import ColumnContent
from cluster_abm.workload.traces.guessing.names import MAYBE, NameMeaning, meanings

BYTES_FROM = 1e7  # a memory or an amount of data without a unit that is larger is one of bytes
MOST_CORES = 1e7


@dataclass(frozen=True)
class FieldCandidate:
    """One column that may be one field."""

    field: str  # of a map, or "state"
    at: int  # the column
    sure: float  # 0..1
    why: str  # by what, in words
    unit: str = ""  # as a map writes it; "" if its own default holds, or, of times, if `time_units` is to tell it
    per: str = "job"
    form: str = ""  # of dates

    def doubted(self, share: float, why: str) -> FieldCandidate:
        """The same, less sure."""
        return replace(self, sure=self.sure * share, why=f"{self.why}, {why}")


def named_candidates(names: Sequence[str], contents: Sequence[ColumnContent]) -> list[FieldCandidate]:
    """What the names say, checked by the values, the surest first."""
    found = []
    for at, (name, content) in enumerate(zip(names, contents, strict=True)):
        for meaning in meanings(name):
            candidate = _checked(
                FieldCandidate(meaning.field, at, meaning.sure, "name", per=meaning.per), meaning, content
            )
            if candidate is not None:
                found.append(candidate)
    return sorted(found, key=lambda one: (-one.sure, one.at))


def _checked(candidate: FieldCandidate, meaning: NameMeaning, content: ColumnContent) -> FieldCandidate | None:
    """A candidate with its unit, as sure as the values allow; None if they cannot be this."""
    # -1 throughout, or numbers too large to be amounts, say as little as empty cells.
    if content.kind == "nothing" or (content.kind == "number" and not len(content.values)):
        return candidate.doubted(0.4, "no value in the rows looked at")
    if candidate.field in INSTANTS:
        return _instant(candidate, meaning, content)
    if candidate.field in DURATIONS:
        return _duration(candidate, meaning, content)
    if candidate.field in ("cores", "tasks", "resources.gpu"):
        return _count(candidate, meaning, content)
    if candidate.field in ("memory", "disk_read", "disk_written"):
        return _size(candidate, meaning, content)
    return _word(candidate, content)


def _instant(candidate: FieldCandidate, meaning: NameMeaning, content: ColumnContent) -> FieldCandidate | None:
    if content.kind == "date":
        return dated(candidate, content)
    if content.kind == "iso":
        return replace(candidate, unit="iso")
    if content.kind != "number" or (content.values < 0).mean() > 0.01:
        return None
    if content.unit_since_1970:
        return replace(candidate, unit=content.unit_since_1970)
    doubtful = content.is_steady or (candidate.sure <= MAYBE and not _rises(content))
    return replace(candidate.doubted(0.6, "values unlike times") if doubtful else candidate, unit=meaning.unit)


def dated(candidate: FieldCandidate, content: ColumnContent) -> FieldCandidate:
    """A candidate that is a date as text, with its form, as sure as day and month can be distinguished."""
    found = content.dates
    if found is None or not found.form:
        return candidate.doubted(0.4, "dates in several forms, or in one that is not known")
    one = replace(candidate, unit="date", form=found.form)
    return one.doubted(found.share, found.doubt) if found.doubt else one


def _rises(content: ColumnContent) -> bool:
    """Whether values mostly do not go back from row to row."""
    return len(content.values) < 2 or float((np.diff(content.values) >= 0).mean()) >= 0.7


def _duration(candidate: FieldCandidate, meaning: NameMeaning, content: ColumnContent) -> FieldCandidate | None:
    if content.kind == "clock":
        return replace(candidate, unit="clock")
    if content.kind != "number" or content.unit_since_1970 or (content.values < 0).mean() > 0.05:
        return None
    found = replace(candidate, unit=meaning.unit)
    if candidate.field == "run" and len(content.values) >= 20 and content.distinct <= 3:
        return found.doubted(0.5, "hardly any different values")
    return found if meaning.unit else found.doubted(0.9, "no unit is named")


def _count(candidate: FieldCandidate, meaning: NameMeaning, content: ColumnContent) -> FieldCandidate | None:
    values = content.values
    if content.kind != "number" or content.unit_since_1970 or not len(values):
        return None
    if (values < 0).mean() > 0.01 or values.max() > MOST_CORES:
        return None
    unit = meaning.unit or (parts_of_a_core(values) if candidate.field == "cores" else "")
    if candidate.field == "tasks" and not content.whole:
        return None
    found = replace(candidate, unit=unit)
    if candidate.field != "resources.gpu" and values.max() <= 0:
        return found.doubted(0.4, "all are 0")
    if not unit and candidate.field == "cores" and values.max() < 1.0:
        return found.doubted(0.4, "all are below 1: shares of a machine of unknown size?")
    return found


def parts_of_a_core(values: np.ndarray) -> str:
    """milli or percent if numbers of cores come in thousands or in fifties, else ""."""
    known = values[values > 0]
    if not len(known):
        return ""
    if np.median(known) >= 500 and (known % 100 == 0).mean() >= 0.5:
        return "milli"
    return "percent" if np.median(known) >= 50 and (known % 50 == 0).mean() >= 0.8 else ""


def _size(candidate: FieldCandidate, meaning: NameMeaning, content: ColumnContent) -> FieldCandidate | None:
    if content.kind == "size":
        return replace(candidate, unit="size")
    if content.kind != "number" or (content.values < 0).mean() > 0.01:
        return None
    if meaning.unit:
        return replace(candidate, unit=meaning.unit)
    positive = content.values[content.values > 0]
    if len(positive) and np.median(positive) >= BYTES_FROM:
        return replace(candidate, unit="B").doubted(0.9, "large as bytes are")
    return replace(candidate, unit="MB").doubted(0.4, "no unit is named")


def _word(candidate: FieldCandidate, content: ColumnContent) -> FieldCandidate | None:
    distinct = content.distinct / len(content.known)
    if content.is_instant:
        return None
    if candidate.field == "job":
        return candidate if distinct == 1.0 else candidate.doubted(0.5, "not all differ")
    if candidate.field in ("parents", "workflow"):
        return candidate
    if candidate.field == "state":
        return candidate if content.kind == "text" else None
    if content.kind == "number" and not content.whole:
        return None
    if content.kind not in ("text", "number"):
        return None
    few = len(content.known) < 20 or distinct < 0.8
    if candidate.field == "partition" and content.kind == "number":
        few = content.distinct <= min(50, 0.2 * len(content.known))
    if candidate.field == "name" and content.kind == "number":
        return candidate.doubted(0.7, "numbers") if few else None
    return candidate if few else candidate.doubted(0.5, "nearly all differ")
