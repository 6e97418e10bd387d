"""The summary of a run: what `cluster-abm run --json` prints."""

from __future__ import annotations

from typing import Any

from cluster_abm.results.metrics import RunData, known


def program_metrics(programs: tuple[str, ...], run: RunData) -> dict[str, Any]:
    """The metrics of each program, under the key "programs"; nothing where no program has a profile."""
    if not programs:
        return {}
    of_programs = run.outcomes.by_program(programs)
    return {
        "programs": {program: {name: known(value) for name, value in of.items()} for program, of in of_programs.items()}
    }
