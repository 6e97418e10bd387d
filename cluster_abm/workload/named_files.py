"""The files that jobs name themselves, in a trace's column `files`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Integers
from cluster_abm.scenario import nearest
from cluster_abm.scenario.data import Data, names_of_files
from cluster_abm.workload.text.problems import Problems


class NamedFiles(NamedTuple):
    """Files by number (`Data.names`). Those of job j are file[first[j] : first[j + 1]]; none where it names none."""

    first: Integers  # where each job's files begin, shape (jobs + 1,)
    file: Integers  # numbers of files, ascending within a job, shape (needs,)


def named_files(cells: Sequence[str], rows: Integers, data: Data, where: str) -> NamedFiles | None:
    """What the cells of a trace's column `files` name; None: no job names any.

    Raises InputError: names that no `[[data.file]]` has, with the row of the first ones.

    Args:
        cells: as `names_of_files` reads them, shape (jobs,).
        rows: of the trace, in which each cell stands, from 1, shape (jobs,).
        data: the scenario's section.
        where: names the trace in messages.
    """
    numbers = {one.name: data.files + number for number, one in enumerate(data.file)}
    problems = Problems(where, "row")
    known: dict[str, list[int]] = {"": []}
    counts = np.zeros(len(cells), np.int64)
    found: list[int] = []
    for place, cell in enumerate(cells):
        if cell not in known:
            unknown = [name for name in names_of_files(cell) if name not in numbers]
            if unknown:
                hint = nearest(unknown[0][:100], list(numbers)) if numbers else "the scenario has none"
                problems.add(
                    [(int(rows[place]), f"files = {cell[:100]!r}: no [[data.file]] {unknown[0][:60]!r}; {hint}")]
                )
                continue
            known[cell] = sorted(numbers[name] for name in names_of_files(cell))
        counts[place] = len(known[cell])
        found += known[cell]
    problems.refuse()
    if not found:
        return None
    return NamedFiles(np.concatenate([[0], np.cumsum(counts)]), np.array(found, np.int64))
