"""Which columns may be which fields of a job, by their values alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from cluster_abm.workload.traces.guessing.candidates import FieldCandidate, dated
from cluster_abm.workload.traces.guessing.cells import ColumnContent
from cluster_abm.workload.traces.guessing.cores import guessed_cores, may_be_cores
from cluster_abm.workload.traces.guessing.durations import guessed_durations, is_counter
from cluster_abm.workload.traces.guessing.instants import GuessedInstants, guessed_instants
from cluster_abm.workload.traces.guessing.relations import ALWAYS, share_in_order

FEWEST_ROWS = 20  # from which values tell anything
COUNTING = 0.5  # share of equal steps between numbers that count


def valued_candidates(contents: Sequence[ColumnContent], taken: Collection[int] = ()) -> list[FieldCandidate]:
    """What the values say of a table without names.

    Args:
        contents: what its columns hold.
        taken: columns that are left out, because their names say something.
    """
    if not contents or len(contents[0].cells) < FEWEST_ROWS:
        return []
    all_of = {at: one for at, one in enumerate(contents) if at not in taken}
    found: list[FieldCandidate] = []
    times = guessed_instants(all_of)
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
        found.append(FieldCandidate("run", times.run, times.sure, f"values: {times.run_why or times.why}"))
    elif times.end is None:
        able = {at: one for at, one in numbers.items() if at not in times.waits}
        if times.submit is not None and not contents[times.submit].is_instant:
            # What never lies before the submission may be a time as well.
            submits = contents[times.submit].numbers
            able = {at: one for at, one in able.items() if share_in_order(submits, one.numbers) < ALWAYS}
        durations = guessed_durations(able, counts)
        why = f"values: {durations.why}"
        for field, at, less in (
            ("run", durations.run, 0.0),
            ("requested", durations.requested, 0.05),
            ("cpu", durations.cpu, 0.15),
            ("cores", durations.cores, 0.05),
        ):
            if at is not None:
                # It was found because it never exceeds the run time, which only one core's is in jobs that are wide.
                per = "core" if field == "cpu" else "job"
                found.append(FieldCandidate(field, at, durations.sure - less, why, per=per))
    claimed = {one.at for one in found}
    if not any(one.field == "cores" for one in found):
        cores = guessed_cores({at: one for at, one in all_of.items() if at not in claimed and not one.is_instant})
        if cores.at is not None:
            found.append(FieldCandidate("cores", cores.at, cores.sure, f"values: {cores.why}", cores.unit))
            claimed.add(cores.at)
    ids = [at for at, one in all_of.items() if at not in claimed and _is_id(one)]
    if ids:
        texts = contents[ids[0]].kind == "text"
        why = "values: no two are the same" if texts else "values: numbers that count the rows"
        found.append(FieldCandidate("job", ids[0], 0.5, why))
    return found


def _timed(field: str, at: int, times: GuessedInstants, content: ColumnContent) -> FieldCandidate:
    unit = "iso" if content.kind == "iso" else content.unit_since_1970
    found = FieldCandidate(field, at, times.sure, f"values: {times.why}", unit)
    return dated(found, content) if content.kind == "date" else found


def _is_id(content: ColumnContent) -> bool:
    """Whether these are ids: texts that all differ, or whole numbers that all differ and count the rows in any order.

    Amounts may all differ as well, but in their order they do not come in equal steps.
    """
    if content.kind not in ("text", "number") or content.is_instant or content.distinct < len(content.cells):
        return False
    if content.kind == "text":
        return True
    if not content.whole or len(content.values) < len(content.cells):
        return False
    steps = np.diff(np.sort(content.values))
    return is_counter(content) or float((steps == np.median(steps)).mean()) >= COUNTING
