"""MCLS without load sharing: every job runs on its home machine."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from cluster_abm.policies.references import NoBalancing
from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.kinds import Holding
from cluster_abm.policy.view import ArrivingTask, View
from cluster_abm.scenario.distributions import NonNegative, Positive, Real


class NoLoadSharing(NoBalancing):
    """Every job starts at home at once.

    A machine on which the demand exceeds RAM and swap (`cluster.swap_mb`) kills the newest task: that belongs to the
    machine, and happens under every policy; this one does nothing to prevent it.
    """

    name = "no-ls"
    source = "MCLS, section 6.1 (no-LS)"
    summary = "every job starts at home at once, and arriving tasks that exceed RAM and swap are killed"


class NoLoadSharingBlocking(Holding):
    """Every job starts at home, when its machine does not thrash.

    A machine thrashes while its oversized memory demand Q_o is at least `thrashing`. Submissions wait in its queue,
    first come, first served, and are looked at once a period; no job moves.
    """

    class Parameters(Policy.Parameters):
        """When a machine thrashes, and its poll interval; MCLS gives neither (docs/concepts/model.md)."""

        thrashing: Annotated[Real, Field(gt=-1.0)] = 0.5
        """oversized memory demand Q_o from which submissions wait, as a fraction"""
        settling_ms: NonNegative = 10_000.0
        """after a start the next submission waits so long: a job's memory shows only once it runs [ms]"""
        period_ms: Annotated[Positive, Field(ge=1.0, le=1e9)] = 1000.0
        """poll interval of a machine [ms]"""

    parameters: Parameters
    name = "no-ls-blocking"
    source = "MCLS, section 6.1 (no-LS-blocking)"
    summary = "every job starts at home, but waits while its machine thrashes"
    rules = (("does not thrash", "", "MCLS, section 6.1"),)
    holds_for_events = True
    uses_reports = False

    @property
    def acts_every_ms(self) -> float | None:
        """The poll interval [ms]."""
        return self.parameters.period_ms

    def holds(self, task: ArrivingTask, tasks: int, view: View) -> bool:
        """While its home thrashes, or the job before it has only just started."""
        thrashes = view.load("oversize", view.me) >= self.parameters.thrashing
        return thrashes or view.load("newest_ms", view.me) < self.parameters.settling_ms

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """At home."""
        return Decision(view.me, "does not thrash", "oversize", reason="starts at its home")
