"""Units of times that count from anything but 1970, and of durations, as names and values tell them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from cluster_abm.scenario.columns.map import DURATIONS, INSTANTS
from cluster_abm.scenario.columns.units import CLOCK, TIMES_MS
from cluster_abm.workload.traces.guessing.candidates import FieldCandidate
from cluster_abm.workload.traces.guessing.cells import ColumnContent, Floats
from cluster_abm.workload.traces.guessing.names import named_duration_unit, says_nothing
from cluster_abm.workload.traces.guessing.relations import ANY_FACTORS, COARSER, differences, sums_of_pairs

DAY_S, YEAR_S = 86_400.0, 365.25 * 86_400.0
LONGEST_SPAN_S = 40 * YEAR_S  # no log covers more
# Of a log of jobs, half of which run for longer than this, and that covers more than this, the unit is a finer one.
LONG_RUN_S, LONG_SPAN_S = DAY_S, 3 * YEAR_S
FINE = ("ns", "us", "ms", "s")  # limits come in minutes and hours, whatever times come in
MOST_PAIRS = 50  # of durations that are looked at together


@dataclass(frozen=True)
class GuessedUnit:
    """The unit of times, and how it is known."""

    unit: str = "s"
    share: float = 1.0  # how much of the sureness is left
    why: str = ""


def with_time_units(
    chosen: Mapping[str, FieldCandidate], contents: Sequence[ColumnContent], names: Sequence[str]
) -> dict[str, FieldCandidate]:
    """Fields with the units of times and durations that nothing named yet.

    Dates say their unit: numbers since 1970 by their size. Other times share one unit. It is that of a name; else that
    by which durations whose unit is named (or that are written with colons), one or two together, are the difference of
    two times; else, of whole numbers, that which names of durations beside them say, less surely, unless half of the
    jobs would then run for longer than the whole log; else seconds, or the largest unit in which the log covers no
    decades, and in which not both half of its jobs run for days and it covers years. Durations without a named unit
    come in that of another such column that is a difference of times, if there is one; else in that of the times;
    beside dates they are seconds.
    """
    chosen = dict(chosen)
    times = {name: chosen[name] for name in INSTANTS if name in chosen}
    relative = {name: one for name, one in times.items() if _is_relative(contents[one.at])}
    of_times = GuessedUnit()
    if relative:
        of_times = _guessed_unit(chosen, relative, contents, names)
        for name, one in relative.items():
            if not one.unit:
                found = one.doubted(of_times.share, of_times.why) if of_times.why else one
                chosen[name] = replace(found, unit=of_times.unit)
    unit_beside = _unit_of_unnamed(chosen, times, contents, names, of_times.unit) or of_times.unit
    for name in DURATIONS:
        if name in chosen and not chosen[name].unit:
            one = chosen[name]
            unit = _unit_of_difference(one, times, contents, of_times.unit) or unit_beside
            chosen[name] = replace(one, unit=unit, why=one.why.replace("unit is named", f"unit is named: {unit}"))
    return chosen


def unit_of_seconds(time: FieldCandidate, contents: Sequence[ColumnContent]) -> str:
    """The unit of `ColumnContent.seconds` of a time: seconds of dates, of other numbers that in which they count."""
    return time.unit if _is_relative(contents[time.at]) else "s"


def scaled_unit(unit: str, scale: float) -> str:
    """The unit that is `scale` times as long as `unit`; "" if there is none."""
    length = TIMES_MS[unit] * scale
    return next((name for name, one in TIMES_MS.items() if abs(one - length) <= 1e-6 * length), "")


def _is_relative(content: ColumnContent) -> bool:
    return content.kind == "number" and not content.unit_since_1970


def _guessed_unit(
    chosen: Mapping[str, FieldCandidate],
    relative: Mapping[str, FieldCandidate],
    contents: Sequence[ColumnContent],
    names: Sequence[str],
) -> GuessedUnit:
    named = [one.unit for one in relative.values() if one.unit]
    if named:
        return GuessedUnit(named[0])
    times = [one.at for one in relative.values()]
    units = _duration_units(chosen, times, contents, names)
    run = chosen["run"].at if "run" in chosen else None
    by_difference = _by_difference(times, units, contents, names)
    if by_difference is not None:
        return by_difference
    fine = {at: unit for at, unit in units.items() if unit in FINE and contents[at].kind == "number"}
    beside = {fine[run]} if run in fine else set(fine.values())
    whole = all(contents[at].whole for at in times) or not all(contents[at].whole for at in fine)
    span = max(float(np.ptp(contents[at].values)) for at in times)
    longer = run in fine and float(np.median(contents[run].values)) > span
    if len(beside) == 1 and beside != {"s"} and whole and not longer:
        shown = next(at for at in fine if run not in fine or at == run)
        return GuessedUnit(beside.pop(), 0.9, f"unit as of {names[shown]!r}")
    lengths = np.array([])
    if {"start", "end"} <= relative.keys():
        lengths = contents[relative["end"].at].numbers - contents[relative["start"].at].numbers
    elif run is not None and not units.get(run):
        lengths = contents[run].values
    found = _by_size([contents[at] for at in times], lengths[~np.isnan(lengths)])
    unnamed = found.unit == "s" and all(says_nothing(names[at]) for at in times)
    return replace(found, share=0.9, why="no unit is named: s") if unnamed else found


def _duration_units(
    chosen: Mapping[str, FieldCandidate], times: Sequence[int], contents: Sequence[ColumnContent], names: Sequence[str]
) -> dict[int, str]:
    """Columns that may be durations, with the unit that is known of them, or ""."""
    taken = {one.at: one for one in chosen.values()}
    found = {}
    for at, content in enumerate(contents):
        one = taken.get(at)
        if at in times or content.is_instant or (one is not None and one.field not in DURATIONS):
            continue
        if content.kind == "clock":
            found[at] = "s"
        elif content.kind == "number":
            found[at] = (one.unit if one is not None else "") or named_duration_unit(names[at])
    return found


def _by_difference(
    times: Sequence[int], units: Mapping[int, str], contents: Sequence[ColumnContent], names: Sequence[str]
) -> GuessedUnit | None:
    """The unit in which a duration is the difference of two times; of an unnamed one only that times are finer."""
    durations = {at: contents[at].numbers for at in units if not contents[at].is_steady}
    pairs = [(a, b) for a, b in combinations(durations, 2) if units[a] and units[a] == units[b]][:MOST_PAIRS]
    found = differences(
        {at: contents[at].numbers for at in times}, durations | sums_of_pairs(durations, pairs), ANY_FACTORS
    )
    parts = [pairs[-1 - one.duration] if one.duration < 0 else (one.duration,) for one in found]
    for which, one in sorted(zip(parts, found, strict=True), key=lambda pair: not units[pair[0][0]]):
        known = units[which[0]] or ("s" if one.scale in COARSER else "")
        unit = scaled_unit(known, 1.0 / one.scale) if known else ""
        if unit:
            shown = " and ".join(repr(names[at] or f"column {at + 1}") for at in which)
            return GuessedUnit(unit, 1.0, f"unit by {shown}, the time between two of them" if unit != "s" else "")
    return None


def _by_size(times: Sequence[ColumnContent], runs: Floats) -> GuessedUnit:
    """Seconds, unless log and jobs would be too long.

    Args:
        times: columns of times.
        runs: run times in the same unit, as far as they are known, shape (jobs,).
    """
    span = max((float(np.ptp(one.values)) for one in times if len(one.values)), default=0.0)
    middle = float(np.median(runs)) if len(runs) else 0.0
    found = FINE[0]
    for unit in reversed(FINE):
        second = TIMES_MS[unit] / 1000.0
        if span * second < LONGEST_SPAN_S and not (middle * second > LONG_RUN_S and span * second > LONG_SPAN_S):
            found = unit
            break
    return GuessedUnit() if found == "s" else GuessedUnit(found, 0.9, "in a larger unit the log would cover years")


def _unit_of_unnamed(
    chosen: Mapping[str, FieldCandidate],
    times: Mapping[str, FieldCandidate],
    contents: Sequence[ColumnContent],
    names: Sequence[str],
    unit: str,
) -> str:
    """The unit of durations without a named one, one or two together, that are a difference of times; "" for none."""
    columns = [one.at for one in times.values()]
    known = _duration_units(chosen, columns, contents, names)
    unnamed = {at: contents[at].numbers for at, name in known.items() if not name and not contents[at].is_steady}
    pairs = list(combinations(unnamed, 2))[:MOST_PAIRS]
    durations = unnamed | sums_of_pairs(unnamed, pairs)
    found = differences({at: contents[at].seconds for at in columns}, durations, ANY_FACTORS)
    return scaled_unit(unit, found[0].scale) if found else ""


def _unit_of_difference(
    duration: FieldCandidate, times: Mapping[str, FieldCandidate], contents: Sequence[ColumnContent], unit: str
) -> str:
    """The unit in which a run time is the time from start to end; "" if it is not, or nothing tells."""
    if contents[duration.at].kind == "clock":
        return CLOCK
    if duration.field != "run" or not {"start", "end"} <= times.keys():
        return ""
    pair = {times[name].at: contents[times[name].at].seconds for name in ("start", "end")}
    found = differences(pair, {duration.at: contents[duration.at].numbers}, ANY_FACTORS)
    return scaled_unit(unit, found[0].scale) if found else ""
