"""The jobs that the metrics of a run are about: those that arrive from an instant on, given or found by MSER."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cluster_abm.clock import whole_ns
from cluster_abm.engine.state import EngineState
from cluster_abm.errors import InputError
from cluster_abm.large_tables import column
from cluster_abm.model.observing.warmup import mser
from cluster_abm.model.waiting.submission_times import SubmissionTimes
from cluster_abm.results.outcomes import Outcomes
from cluster_abm.scenario.measures import Measure


class MeasuredWindow(NamedTuple):
    """From when on jobs count in the metrics.

    Attributes:
        from_ns: jobs that arrive before it are left out [ns].
        is_settled: whether MSER found a steady state; None: it was not asked for.
    """

    from_ns: int = 0
    is_settled: bool | None = None

    @property
    def from_s(self) -> float:
        """Jobs that arrive before it are left out [s]."""
        return self.from_ns / 1e9

    @property
    def is_cut(self) -> bool:
        """Whether jobs at the beginning may be left out."""
        return self.from_ns > 0 or self.is_settled is not None


def measured_window(measure: Measure, engine: EngineState, schedule: SubmissionTimes) -> MeasuredWindow:
    """The window of `measure.from_s` and `measure.warmup`; of both the later beginning.

    Without a steady state MSER leaves out the first half of the jobs (`mser`).

    Args:
        measure: the section of the scenario.
        engine: its tables.
        schedule: of the submissions.
    """
    given_ns = whole_ns(measure.from_s * 1000.0)
    if measure.warmup == "none":
        return MeasuredWindow(given_ns)
    found = mser(tasks_met(engine, schedule))
    begin_ns = 0
    if found.cut:
        first = schedule.taken(0, schedule.submitted)[found.cut]
        begin_ns = int(column(engine.jobs, "arrival_ns")[first])
    return MeasuredWindow(max(given_ns, begin_ns), found.settled)


def counts_of(window: MeasuredWindow, outcomes: Outcomes, measured: Outcomes) -> dict[str, float]:
    """What a run says of its window: its beginning [s], the ended jobs that are left out, whether MSER settled.

    Args:
        window: of the run.
        outcomes, measured: of all jobs, and of those of the window.
    """
    counts: dict[str, float] = {"from_s": window.from_s, "warmup_jobs": sum(outcomes.ended) - sum(measured.ended)}
    if window.is_settled is not None:
        counts["warmup_settled"] = int(window.is_settled)
    return counts


def tasks_met(engine: EngineState, schedule: SubmissionTimes) -> npt.NDArray[np.int64]:
    """How many tasks each job found in the cluster when it was submitted, in order of submission.

    The start is judged by this and not by slowdowns or responses: a job of a millisecond behind a long one has a
    slowdown of hundreds, and one such value makes MSER cut beside it, wherever it stands.
    """
    jobs = np.asarray(schedule.taken(0, schedule.submitted), np.int64)
    widths = engine.widths[jobs]
    came = np.cumsum(widths) - widths
    ends_ns = np.sort(engine.ordered_records()["finish_ns"])
    return np.asarray(came - np.searchsorted(ends_ns, column(engine.jobs, "arrival_ns")[jobs], side="right"))


def check_from_s(from_s: float, last_arrival_ns: int) -> None:
    """Raise InputError if no job arrives from `measure.from_s` on.

    Args:
        from_s: the key [s].
        last_arrival_ns: when the last job arrives [ns].
    """
    if from_s > 0.0 and whole_ns(from_s * 1000.0) > last_arrival_ns:
        raise InputError(
            f"measure.from_s {from_s:g}: the last job arrives at {last_arrival_ns / 1e9:g} s: no job would be left; "
            "allowed are smaller numbers"
        )
