"""A map of columns proposed for a table of which nothing is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cluster_abm.scenario.columns.map import DURATIONS, INSTANTS
from cluster_abm.scenario.columns.units import CLOCK, ISO, TIMES_MS
from cluster_abm.workload.traces.guessing.candidates import FieldCandidate, named_candidates
from cluster_abm.workload.traces.guessing.cells import ColumnContent, Floats, contents_of
from cluster_abm.workload.traces.guessing.names import meanings, says_nothing
from cluster_abm.workload.traces.guessing.relations import ALWAYS, ANY_FACTORS, Difference, differences, share_in_order
from cluster_abm.workload.traces.guessing.sample import SampledTable, sample_of
from cluster_abm.workload.traces.guessing.states import left_out
from cluster_abm.workload.traces.guessing.time_units import scaled_unit, unit_of_seconds, with_time_units
from cluster_abm.workload.traces.guessing.valued import valued_candidates

THRESHOLD = 0.5  # a field of which the guess is less sure is left empty
WIDE, FEWEST_WIDE = 4, 20  # cores of a job whose CPU time is more than its run time; such jobs
RESERVED = ("and", "or", "not", "in")
_ORDER = (
    *INSTANTS,
    *DURATIONS,
    "cores",
    "tasks",
    "memory",
    "disk_read",
    "disk_written",
    "job",
    "workflow",
    "parents",
    "user",
    "group",
    "partition",
    "name",
    "resources.gpu",
)


@dataclass(frozen=True)
class Guess:
    """A map that is proposed for a table.

    Attributes:
        map: what `ColumnMap` accepts, as data for TOML. Without submit, start, or end and run it does not: `missing`.
        sure: field -> 0 to 1, of the fields in `map`. From 0.9 on the name says it and the values agree, or two times
            differ by it; from 0.7 on one of both; below, the values make it likely. Fields of which the guess is less
            sure than THRESHOLD are in `unsure`, and not in `map`.
        why: field -> by what: the name, the values, what in them.
        unsure: field -> what may be it and why it was left empty.
        missing: what a map needs that was not found; "" if nothing is.
    """

    map: dict[str, Any]
    sure: dict[str, float]
    why: dict[str, str] = field(default_factory=dict)
    unsure: dict[str, str] = field(default_factory=dict)
    missing: str = ""


def guess(blocks: Iterator[bytes], where: str, path: Path | None = None) -> Guess:
    """Propose a map for a table, by its first megabytes.

    Raises InputError: empty, no text, or no table recognised.

    Args:
        blocks: the file's bytes, unpacked; they are read as far as needed.
        where: its name, for messages.
        path: where it lies, if it is not packed.
    """
    return guess_of(sample_of(blocks, where, path))


def guess_of(table: SampledTable) -> Guess:
    """Propose a map for a table of which some rows are known."""
    contents = contents_of(table.columns)
    chosen, refused = _chosen(table.names, contents)
    result: dict[str, Any] = {"file": dict(table.layout)}
    sure, why = {}, {}
    for name in _ORDER:
        if name in chosen:
            one = chosen[name]
            _put(result, name, _entry(one, table))
            sure[name], why[name] = round(one.sure, 2), one.why
        elif name == "run" and (between := _between(chosen, table)) is not None:
            result["run"], why["run"] = between, "from start to end"
            sure["run"] = min(sure["start"], sure["end"])
    if any(contents[one.at].lacks_by_minus_one for one in chosen.values()):
        result["missing"] = ["-1"]
    state = chosen.get("state")
    never_ran = left_out(contents[state.at].known) if state is not None else ()
    if state is not None and never_ran:
        listed = ", ".join(f'"{word}"' for word in never_ran)
        result["filter"] = f"{_in_expression(state.at, table)} not in [{listed}]"
        sure["filter"], why["filter"] = round(state.sure, 2), "states of jobs that have not run"
    unsure = {
        one.field: f"column {table.column(one.at)!r}? {one.why} ({one.sure:.2f})"
        for one in refused
        if one.field not in chosen and one.field != "state"
    }
    return Guess(result, sure, why, unsure, _missing(chosen, table))


def _chosen(
    names: Sequence[str], contents: Sequence[ColumnContent]
) -> tuple[dict[str, FieldCandidate], list[FieldCandidate]]:
    """Field -> the column that it is taken from; and what was too unsure, the surest first."""
    candidates = named_candidates(names, contents)
    speaking = [name for name in names if not says_nothing(name)]
    if not candidates or not speaking:
        candidates = valued_candidates(contents)
    elif not any(one.field in INSTANTS for one in candidates):
        # The words are of another language, or of none.
        said = {at for at, name in enumerate(names) if meanings(name)}
        candidates += [one.doubted(0.95, "name not known") for one in valued_candidates(contents, said)]
    chosen, refused = _assigned(candidates)
    chosen = with_time_units(chosen, contents, names)
    if speaking:
        chosen = _checked_together(chosen, contents, names)
    refused += [one for one in chosen.values() if one.sure < THRESHOLD]
    chosen = {name: one for name, one in chosen.items() if one.sure >= THRESHOLD}
    return chosen, sorted(refused, key=lambda one: one.sure)


def _assigned(candidates: Sequence[FieldCandidate]) -> tuple[dict[str, FieldCandidate], list[FieldCandidate]]:
    """Each field at most one column, each column at most one field, the surest first."""
    chosen: dict[str, FieldCandidate] = {}
    refused = []
    for one in sorted(candidates, key=lambda one: (-one.sure, one.at)):
        if one.field in chosen or any(other.at == one.at for other in chosen.values()):
            continue
        if one.sure < THRESHOLD:
            refused.append(one)
        else:
            chosen[one.field] = one
    return chosen, refused


def _checked_together(
    chosen: dict[str, FieldCandidate], contents: Sequence[ColumnContent], names: Sequence[str]
) -> dict[str, FieldCandidate]:
    """What the names say, surer or less sure by how the columns go together."""
    chosen = dict(chosen)
    _check_order(chosen, contents)
    _check_run(chosen, contents, names)
    _check_cpu(chosen, contents)
    if "end" in chosen and not {"start", "run", "cpu"} & chosen.keys() and "submit" in chosen:
        why = "name; there is no column of starts, so run times count from it"
        chosen["start"] = replace(chosen.pop("submit"), field="start", sure=0.6, why=why)
    return chosen


def _check_order(chosen: dict[str, FieldCandidate], contents: Sequence[ColumnContent]) -> None:
    """Times in their order are surer; of two in the wrong order the one that was less sure is doubted."""
    swapped = set()
    pairs = [pair for pair in (("submit", "start"), ("start", "end"), ("submit", "end")) if set(pair) <= chosen.keys()]
    shares = {pair: _shares_in_order(*(contents[chosen[name].at].seconds for name in pair)) for pair in pairs}
    for (first, then), (forward, back) in shares.items():
        if forward < ALWAYS and back > forward:
            less = min((then, first), key=lambda name: chosen[name].sure)
            swapped.add(less)
            chosen[less] = chosen[less].doubted(0.5, f"in most rows {then} lies before {first}")
    for pair, (forward, _) in shares.items():
        if forward >= ALWAYS and not swapped & set(pair):
            for name in pair:
                one = chosen[name]
                chosen[name] = replace(one, sure=max(one.sure, min(0.95, one.sure + 0.05)), why=_why_in_order(one.why))


def _why_in_order(why: str) -> str:
    return why if "order of the times" in why else why.replace("name", "name and order of the times", 1)


def _shares_in_order(first: Floats, then: Floats) -> tuple[float, float]:
    return share_in_order(first, then), share_in_order(then, first)


def _check_run(chosen: dict[str, FieldCandidate], contents: Sequence[ColumnContent], names: Sequence[str]) -> None:
    """Hold the run time against start and end: its unit, whether it is one, and which column it is if no name says."""
    start, end, submit = (chosen.get(name) for name in ("start", "end", "submit"))
    if end is None or (start or submit) is None:
        return
    times = {one.at: contents[one.at].seconds for one in (submit, start, end) if one is not None}
    taken = {one.at for name, one in chosen.items() if name not in ("run", "requested", "cpu")}
    durations = {
        at: one.numbers
        for at, one in enumerate(contents)
        if at not in taken and one.kind in ("number", "clock") and not one.is_instant and not one.is_steady
    }
    found = differences(times, durations, ANY_FACTORS)
    first = start or submit
    assert first is not None
    times_unit = unit_of_seconds(end, contents)
    runs = [
        one for one in found if (one.later, one.earlier) == (end.at, first.at) and scaled_unit(times_unit, one.scale)
    ]
    given = chosen.get("run")
    by_name = next((one for one in runs if given is not None and one.duration == given.at), None)
    if by_name is not None or (runs and given is None and start is not None):
        _take_run(chosen, by_name or runs[0], contents)
    elif given is not None and start is not None and contents[given.at].kind == "number":
        turnaround = submit is not None and any(
            (one.later, one.earlier, one.duration) == (end.at, submit.at, given.at) for one in found
        )
        if turnaround:
            chosen["run"] = given.doubted(0.3, "the time from submission to end")
        else:
            length_s = TIMES_MS[times_unit] / 1000.0
            ran_s = (contents[end.at].seconds - contents[start.at].seconds) * length_s
            _doubt_run(chosen, given, ran_s, contents, names)


def _doubt_run(
    chosen: dict[str, FieldCandidate],
    given: FieldCandidate,
    ran_s: Floats,
    contents: Sequence[ColumnContent],
    names: Sequence[str],
) -> None:
    """A column called a run time that is not the time from start to end: it may be a limit, as walltime often is."""
    asked = next((one for one in meanings(names[given.at]) if one.field == "requested"), None)
    limits_s = contents[given.at].numbers * TIMES_MS[given.unit] / 1000.0
    if asked is not None and "requested" not in chosen and share_in_order(ran_s, limits_s) >= 0.9:
        del chosen["run"]
        why = "name, and no less than the time from start to end"
        chosen["requested"] = replace(given, field="requested", sure=0.85, why=why)
    else:
        chosen["run"] = given.doubted(0.6, "not the time from start to end")


def _take_run(chosen: dict[str, FieldCandidate], one: Difference, contents: Sequence[ColumnContent]) -> None:
    for name in ("requested", "cpu"):
        if name in chosen and chosen[name].at == one.duration:
            del chosen[name]
    named = "run" in chosen
    why = "name, and the time from start to end" if named else "values: the time from start to end"
    clock = contents[one.duration].kind == "clock"
    unit = CLOCK if clock else scaled_unit(unit_of_seconds(chosen["end"], contents), one.scale)
    chosen["run"] = FieldCandidate("run", one.duration, 0.98 if named else 0.9, why, unit)


def _check_cpu(chosen: dict[str, FieldCandidate], contents: Sequence[ColumnContent]) -> None:
    """CPU time that is no more than the run time even of wide jobs is that of one core."""
    if not {"cpu", "run", "cores"} <= chosen.keys() or chosen["run"].unit != chosen["cpu"].unit:
        return
    cpu, run, cores = (contents[chosen[name].at].numbers for name in ("cpu", "run", "cores"))
    wide = cores >= WIDE
    if wide.sum() >= FEWEST_WIDE and share_in_order(cpu[wide], 1.01 * run[wide] + 1.0) >= ALWAYS:
        chosen["cpu"] = replace(
            chosen["cpu"].doubted(0.8, "no more than the run time of wide jobs, so that of one core"), per="core"
        )


def _entry(one: FieldCandidate, table: SampledTable) -> dict[str, Any]:
    """A field as a map has it."""
    entry: dict[str, Any] = {"column": table.column(one.at)}
    if one.unit:
        entry["unit"] = one.unit
    if one.form:
        entry["format"] = one.form
    if one.per != "job":
        entry["per"] = one.per
    if one.field in ("disk_read", "disk_written") and table.names[one.at].lower() in ("rchar", "wchar"):
        entry["by"] = "calls"
    return entry


def _between(chosen: Mapping[str, FieldCandidate], table: SampledTable) -> dict[str, Any] | None:
    """The run time as an expression; None where start or end is not known, or is a text that no expression reads."""
    start, end = chosen.get("start"), chosen.get("end")
    if start is None or end is None or start.unit != end.unit or start.unit not in (*TIMES_MS, ISO):
        return None
    unit = "s" if start.unit == ISO else start.unit
    return {"expr": f"{_in_expression(end.at, table)} - {_in_expression(start.at, table)}", "unit": unit}


def _put(result: dict[str, Any], name: str, entry: dict[str, Any]) -> None:
    if name.startswith("resources."):
        result.setdefault("resources", {})[name.removeprefix("resources.")] = entry
    else:
        result[name] = entry


def _in_expression(at: int, table: SampledTable) -> str:
    """A column as an expression names it."""
    column = table.column(at)
    if isinstance(column, int) or "`" in column:
        return f"${at + 1}"
    return column if column.isidentifier() and column.isascii() and column not in RESERVED else f"`{column}`"


def _missing(chosen: dict[str, FieldCandidate], table: SampledTable) -> str:
    """In words, what a map needs that was not found."""
    if "submit" in chosen or "start" in chosen or ("end" in chosen and "run" in chosen):
        return ""
    told = [f"{name} (column {table.column(chosen[name].at)!r})" for name in _ORDER if name in chosen]
    found = f"found: {', '.join(told)}" if told else "no field was found"
    listed = ", ".join(name for name in table.names if name)[:200]
    columns = f"; columns: {listed}" if listed else f"; {len(table.names)} columns without names"
    return f"no column of times of submission or start was found ({found}{columns})"
