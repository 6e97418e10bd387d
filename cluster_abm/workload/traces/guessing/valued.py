"""Which columns may be which fields of a job, by their values alone."""

from __future__ import annotations

from collections.abc import Sequence

from cluster_abm.scenario.columns.units import TIMES_MS
from cluster_abm.workload.traces.guessing.candidates import FieldCandidate
from cluster_abm.workload.traces.guessing.cells import ColumnContent
from cluster_abm.workload.traces.guessing.cores import may_be_cores, telling_cores
from cluster_abm.workload.traces.guessing.durations import telling_durations
from cluster_abm.workload.traces.guessing.instants import TellingInstants, telling_instants

FEWEST_ROWS = 20  # from which values tell anything


def valued_candidates(contents: Sequence[ColumnContent]) -> list[FieldCandidate]:
    """What the values say of a table without names."""
    if not contents or len(contents[0].cells) < FEWEST_ROWS:
        return []
    all_of = dict(enumerate(contents))
    found: list[FieldCandidate] = []
    times = telling_instants(all_of)
    found += [
        _timed(field, at, times, contents[at])
        for field, at in (("submit", times.submit), ("start", times.start), ("end", times.end))
        if at is not None
    ]
    claimed = {one.at for one in found}
    rest = {at: one for at, one in all_of.items() if at not in claimed and not one.is_instant}
    counts = {at: one for at, one in rest.items() if may_be_cores(one)}
    numbers = {at: one for at, one in rest.items() if one.kind in ("number", "clock") and at not in counts}
    if times.run is not None:
        unit = (contents[times.run].kind == "clock" and "clock") or unit_of_scale(times.scale)
        found.append(FieldCandidate("run", times.run, times.sure, f"values: {times.why}", unit))
    elif times.end is None:
        durations = telling_durations(numbers, counts)
        why = f"values: {durations.why}"
        for field, at, less in (
            ("run", durations.run, 0.0),
            ("requested", durations.requested, 0.05),
            ("cpu", durations.cpu, 0.15),
            ("cores", durations.cores, 0.05),
        ):
            if at is not None:
                unit = "clock" if contents[at].kind == "clock" else "" if field == "cores" else "s"
                # It was told by never being more than the run time, which only one core's is in jobs that are wide.
                per = "core" if field == "cpu" else "job"
                found.append(FieldCandidate(field, at, durations.sure - less, why, unit, per))
    claimed = {one.at for one in found}
    if not any(one.field == "cores" for one in found):
        cores = telling_cores({at: one for at, one in all_of.items() if at not in claimed and not one.is_instant})
        if cores.at is not None:
            found.append(FieldCandidate("cores", cores.at, cores.sure, f"values: {cores.why}", cores.unit))
            claimed.add(cores.at)
    ids = [at for at, one in all_of.items() if at not in claimed and _all_differ(one)]
    if ids:
        found.append(FieldCandidate("job", ids[0], 0.5, "values: no two are the same"))
    return found


def unit_of_scale(scale: float) -> str:
    """The unit of a duration of which one is so many seconds."""
    return next(unit for unit in ("s", "ms", "us", "min", "h") if TIMES_MS[unit] / 1000.0 == scale)


def _timed(field: str, at: int, times: TellingInstants, content: ColumnContent) -> FieldCandidate:
    unit = content.kind if content.kind in ("iso", "date") else content.unit_since_1970 or "s"
    sure = times.sure if content.kind != "date" or content.form else 0.3
    return FieldCandidate(field, at, sure, f"values: {times.why}", unit, form=content.form if unit == "date" else "")


def _all_differ(content: ColumnContent) -> bool:
    if content.kind not in ("text", "number") or content.is_instant or content.distinct < len(content.cells):
        return False
    return content.kind == "text" or content.whole
