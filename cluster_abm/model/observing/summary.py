"""The summary of a run: what `cluster-abm run --json` prints."""

from __future__ import annotations

from typing import Any

from cluster_abm.engine.tables import KILLED, LOST
from cluster_abm.results.metrics import RunData, known
from cluster_abm.results.summary import by_program, ended_jobs, finished_jobs


def counted_jobs(run: RunData) -> tuple[int, int, int]:
    """How many jobs have finished, were killed, and were lost."""
    killed, lost = (len(ended_jobs(run.records, outcome)) for outcome in (KILLED, LOST))
    return len(finished_jobs(run.records, run.widths)), killed, lost


def program_metrics(programs: tuple[str, ...], run: RunData) -> dict[str, Any]:
    """The metrics of each program, under the key "programs"; nothing where no program has a profile."""
    if not programs:
        return {}
    of_programs = by_program(run.finished, run.jobs, programs)
    return {
        "programs": {program: {name: known(value) for name, value in of.items()} for program, of in of_programs.items()}
    }
