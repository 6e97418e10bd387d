"""What went wrong in the runs of a command, on stderr: each problem once, with the runs that it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cluster_abm.cli.output import tell

if TYPE_CHECKING:
    from cluster_abm.study.runner.tasks import Outcome


def tell_problems(outcome: Outcome) -> None:
    """Name what ended runs before their end: input that was wrong, policies, faults of this program."""
    for line, runs in outcome.policy_faults.items():
        tell(f"error: {line}" + (f" (ended {runs} runs)" if runs > 1 else ""))
    for error in outcome.errors:
        tell(f"error: {error}")
    for run in outcome.under_way:
        tell(f"under way when it was interrupted: {run}")
